// std::pow of a traced number.
// expect: error::function_of_numbers_on_an_array
// expect: drx::pow\(x, y\)
#include <drx/drx.hpp>
#include <cmath>

constexpr auto f = [](auto x) {
  auto y = std::pow(x, 2);
  // correct: auto y = drx::pow(x, 2);
  return y + x;
};
using F = drx::program<f, double>;
const auto& tape = F::tape();
