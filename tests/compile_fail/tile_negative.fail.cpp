// Minus one copy.
// expect: error::wrong_number_of_repetitions
// expect: of at least 0
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto z = drx::tile<-1>(x);
  // correct: auto z = drx::tile<1>(x);
  return drx::sum(z + 1);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
