// Programs for the tests of workers and shared objects: with one reduction, with two, and with one of a large array.
#pragma once

#include <drx/drx.hpp>

namespace two_programs {
struct rows : drx::placement<rows> {};
inline constexpr auto total = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto v, auto row) { return drx::sin(v * row); }, drx::broadcast<rows>(w), x));
};
inline constexpr auto twice = [](auto w, auto x) { return total(total(w, x), x); };
using Total = drx::program<total, double, drx::placed<double, rows>>;
using Twice = drx::program<twice, double, drx::placed<double, rows>>;
/// What a call of this program keeps and sends takes tens of kilobytes.
inline constexpr auto wide = [](auto w, auto x) {
  return w + drx::reduce_sum(drx::map([](auto v, auto row) { return v * row; }, drx::broadcast<rows>(w), x));
};
using Wide = drx::program<wide, drx::array<double, 4096>, drx::placed<double, rows>>;
}  // namespace two_programs
