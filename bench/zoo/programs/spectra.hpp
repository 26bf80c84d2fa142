#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace spectra {
struct tasks : drx::placement<tasks> {};
using samples = drx::array<float, 100, 40>;

inline constexpr auto disorder = [](auto x) {  // the entropy of the shares of variance along the principal axes
  auto w = drx::eigh(drx::matmul(drx::transpose(x), x)).first;
  auto shares = w / drx::sum(w);
  return -drx::sum(shares * drx::log(shares + 1e-6f));
};
inline constexpr auto all = [](auto x) {
  auto one = [](auto own) { return drx::value_and_grad(disorder)(own); };
  auto [values, slopes] = drx::map(one, x);
  return std::pair{drx::reduce_mean(values), slopes};
};
using Program = drx::program<all, drx::placed<samples, tasks>>;
}  // namespace spectra
