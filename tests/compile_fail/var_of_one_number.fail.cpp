// The variance of one number, divided by n - 1.
// expect: error::not_more_elements_than_ddof
// expect: of more than ddof elements
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::var<0>(x, drx::ddof<1>);
  // correct: auto z = drx::var<0>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 1, 3>>;
const auto& tape = F::tape();
