#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace automaton {
struct grids : drx::placement<grids> {};
using drx::array;
using grid = array<float, 32, 32, 8>;
using rules = std::tuple<array<float, 24, 32>, array<float, 32>, array<float, 32, 8>>;

inline constexpr auto seen = [](auto x) {  // each channel, and its slopes along both axes
  auto across = drx::roll<-1, 1>(x) - drx::roll<1, 1>(x), down = drx::roll<-1>(x) - drx::roll<1>(x);
  return drx::concatenate<2>(x, across, down);
};
inline constexpr auto error = [](auto rule, auto start, auto target) {  // after 12 steps
  auto [w1, b, w2] = rule;
  auto end = drx::fori_loop<12>(start, [=](auto x) {
    auto h = drx::relu(drx::matmul(drx::reshape<1024, 24>(seen(x)), w1) + b);
    return x + drx::reshape<32, 32, 8>(drx::matmul(h, w2));
  });
  return drx::mean(drx::square(drx::slice<drx::all, drx::all, drx::range<0, 4>>(end) - target));
};
inline constexpr auto loss = [](auto rule, auto starts, auto targets) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<grids>(rule), starts, targets));
};
using Program = drx::program<drx::value_and_grad(loss), rules, drx::placed<grid, grids>,
                             drx::placed<array<float, 32, 32, 4>, grids>>;
}  // namespace automaton
