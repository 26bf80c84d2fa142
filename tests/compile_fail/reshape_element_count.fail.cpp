// 12 elements as 5.
// expect: error::number_of_elements_differs
// expect: product of the new extents
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::reshape<5>(x);
  // correct: auto y = drx::reshape<2, 6>(x);
  return drx::sum<0>(y);
};
using F = drx::program<f, drx::array<float, 3, 4>>;
const auto& tape = F::tape();
