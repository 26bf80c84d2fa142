// A sum of structures of two types.
// expect: error::structures_differ
// expect: structures of one type
#include <drx/drx.hpp>

#include <tuple>

constexpr auto f = [](auto x, auto y) {
  auto z = x + std::tuple{y};
  // correct: auto z = x + std::tuple{y, drx::sum(y)};
  return z * 2;
};
using F = drx::program<f, std::tuple<drx::array<float, 3>, float>, drx::array<float, 3>>;
const auto& tape = F::tape();
