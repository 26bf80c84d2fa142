// Programs whose plans are compared as documents. (Each statement has one operation: of the operands of one expression,
// either may be recorded first.)
#pragma once

#include <drx/drx.hpp>

namespace native_plans {
struct clients : drx::placement<clients> {};
using weights = drx::array<double, 3>;
using batch = drx::placed<drx::array<double, 5, 3>, clients>;
inline constexpr auto loss = [](auto w, auto x) {
  auto scores = drx::matmul(x, w);
  auto squares = drx::square(scores);
  return drx::mean(squares);
};
inline constexpr auto train_locally = [](auto w, auto x) {
  return drx::fori_loop<3>(w, [=](auto v) {
    auto slope = drx::grad(loss)(v, x);
    auto step = 0.1 * slope;
    return v - step;
  });
};
inline constexpr auto round_of = [](auto w, auto x) {
  auto everywhere = drx::broadcast<clients>(w);
  return drx::reduce_mean(drx::map(train_locally, everywhere, x));
};
inline constexpr auto rounds = [](auto w, auto x) {
  return drx::fori_loop<4>(w, [=](auto v) { return round_of(v, x); });
};
inline constexpr auto total = [](auto w, auto x) { return drx::sum(round_of(w, x)); };
inline constexpr auto slope_of = [](auto w, auto x) { return drx::grad(total)(w, x); };

using Round = drx::program<round_of, weights, batch>;
using Rounds = drx::program<rounds, weights, batch>;
using Slope = drx::program<slope_of, weights, batch>;
}  // namespace native_plans
