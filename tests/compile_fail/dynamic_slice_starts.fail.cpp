// Two sizes and one position.
// expect: error::wrong_rank
// expect: as many ints as sizes
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto i) {
  auto y = drx::dynamic_slice<1, 2>(x, i);
  // correct: auto y = drx::dynamic_slice<1, 2>(x, i, 0);
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 2, 4>, int>;
const auto& tape = F::tape();
