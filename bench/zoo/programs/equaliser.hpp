#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace equaliser {
struct sounds : drx::placement<sounds> {};
using drx::array;
using filters = array<float, 6, 5>;

inline constexpr auto heard = [](auto f, auto sound) {  // six filters of second order, one after the other
  auto sample = [=](auto states, auto in) {
    auto pass = [](auto x, auto filter) {
      auto [of, kept] = filter;
      auto out = drx::index(of, 0) * x + drx::index(kept, 0);
      auto first = drx::index(of, 1) * x - drx::index(of, 3) * out + drx::index(kept, 1);
      return std::pair{out, drx::stack(first, drx::index(of, 2) * x - drx::index(of, 4) * out)};
    };
    auto [out, next] = drx::scan(pass, in, std::tuple{f, states});
    return std::pair{next, out};
  };
  return drx::scan(sample, drx::zeros<array<float, 6, 2>>(), sound).second;
};
inline constexpr auto error = [](auto f, auto sounds_in, auto wanted) {
  auto of = [](auto a, auto x, auto y) { return drx::mean(drx::square(heard(a, x) - y)); };
  return drx::reduce_mean(drx::map(of, drx::broadcast<sounds>(f), sounds_in, wanted));
};
using signal = drx::placed<array<float, 1024>, sounds>;
using Program = drx::program<drx::value_and_grad(error), filters, signal, signal>;
}  // namespace equaliser
