#pragma once
#include <drx/drx.hpp>

namespace principal_components {
struct rows : drx::placement<rows> {};
using basis = drx::array<double, 32, 4>;

inline constexpr auto components = [](auto start, auto x) {  // by eight steps of subspace iteration
  // The rows' second moments, once: the steps read this matrix instead of all rows.
  auto moments = drx::reduce_mean(drx::map([](auto own) { return drx::outer(own, own); }, x));
  auto times = [=](auto v) { return drx::matmul(moments, v); };
  auto v = drx::fori_loop<8>(start, [=](auto w) { return std::get<0>(drx::qr(times(w))); });
  return std::pair{v, drx::sum<0>(v * times(v))};  // and the variances along them
};
using Program = drx::program<components, basis, drx::placed<drx::array<double, 32>, rows>>;
}  // namespace principal_components
