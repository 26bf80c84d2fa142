#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace independent {
struct blocks : drx::placement<blocks> {};
using drx::array;
using matrix = array<float, 8, 8>;
using signals = array<float, 256, 8>;

inline constexpr auto symmetric_root = [](auto m, auto power) {  // m to the power by its eigenvectors
  auto [values, vectors] = drx::eigh(m);
  return drx::matmul(vectors * drx::expand_dims<0>(drx::pow(values, power)), drx::transpose(vectors));
};
inline constexpr auto unmixed = [](auto start, auto data) {  // FastICA: white signals, then 20 steps with tanh
  auto second = drx::reduce_mean(drx::map([](auto x) { return drx::matmul(drx::transpose(x), x) / 256; }, data));
  auto white = drx::map([](auto w, auto x) { return drx::matmul(x, w); },
                        drx::broadcast<blocks>(symmetric_root(second, -0.5f)), data);
  auto step = [=](auto w) {
    auto part = [](auto v, auto x) {
      auto g = drx::tanh(drx::matmul(x, v));
      return drx::matmul(drx::transpose(x), g) / 256 - v * drx::expand_dims<0>(drx::mean<0>(1 - drx::square(g)));
    };
    auto next = drx::reduce_mean(drx::map(part, drx::broadcast<blocks>(w), white));
    return drx::matmul(next, symmetric_root(drx::matmul(drx::transpose(next), next), -0.5f));
  };
  return drx::fori_loop<20>(start, step);
};
using Program = drx::program<unmixed, matrix, drx::placed<signals, blocks>>;
}  // namespace independent
