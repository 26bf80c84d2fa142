#pragma once
#include <drx/drx.hpp>

#include <tuple>
#include <utility>

namespace beams {
struct structures : drx::placement<structures> {};
using vec2 = drx::array<double, 2>;
using mat2 = drx::array<double, 2, 2>;
using elements = drx::array<double, 32>;
using all_elements = drx::placed<elements, structures>;
inline constexpr mat2 nearer{{12, 6}, {6, 4}}, further{{12, -6}, {-6, 4}}, between{{-12, 6}, {-6, 2}};

inline constexpr auto deflections = [](auto thickness, auto load) {  // of a clamped beam, by blocks from its tip
  auto stiffness = drx::pow(thickness, 3) / 12;
  auto condense = [](auto behind, auto element) {
    auto [block, force] = behind;  // what the beam behind this element's further end leaves there
    auto [s, own] = element;
    auto total = block + s * further;
    auto rhs = force + drx::stack(own, 0 * own);
    auto to = drx::solve(total, s * drx::transpose(between)), from = drx::solve(total, rhs);
    return std::pair{std::pair{s * nearer - drx::matmul(s * between, to), -drx::matmul(s * between, from)},
                     std::pair{to, from}};
  };
  auto start = std::pair{drx::zeros<mat2>(), drx::zeros<vec2>()};
  auto kept = drx::scan(condense, start, std::tuple{drx::flip(stiffness), drx::flip(load)}).second;
  auto bend = [](auto at, auto element) {
    auto [t, f] = element;
    auto next = f - drx::matmul(t, at);
    return std::pair{next, drx::index<0>(next)};
  };
  return drx::scan(bend, drx::zeros<vec2>(), std::pair{drx::flip<0>(kept.first), drx::flip<0>(kept.second)}).second;
};
inline constexpr auto error = [](auto t, auto load, auto seen) {
  return drx::mean(drx::square(deflections(t, load) - seen));
};
inline constexpr auto fit = [](auto... x) { return drx::map(drx::value_and_grad(error), x...); };
using Program = drx::program<fit, all_elements, all_elements, all_elements>;
}  // namespace beams
