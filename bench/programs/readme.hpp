// The README's program, as a header.
#pragma once

#include <drx/drx.hpp>

#include <tuple>

namespace readme {
struct rows : drx::placement<rows> {};
using row = std::tuple<drx::array<double, 2>, double>;

inline constexpr auto error = [](auto w, auto r) { return drx::square(drx::dot(w, std::get<0>(r)) - std::get<1>(r)); };
inline constexpr auto loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(w), data));
};
inline constexpr auto fit = [](auto w, auto data) {
  return drx::fori_loop<100>(w, [=](auto v) { return v - 0.2 * drx::grad(loss)(v, data); });
};
using Fit = drx::program<fit, drx::array<double, 2>, drx::placed<row, rows>>;
}  // namespace readme
