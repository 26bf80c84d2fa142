// A function of numbers on numbers of 16 bits.
// expect: error::a_function_of_numbers_has_no_numbers_of_16_bits
// expect: cast bfloat16 and float16
#include <drx/drx.hpp>

constexpr auto square = [](const auto& v) { return v * v; };
constexpr auto f = [](auto x) {
  auto y = drx::call(square, x);
  // correct: auto y = drx::call(square, drx::cast<float>(x));
  return y * 2;
};
using F = drx::program<f, drx::array<drx::bfloat16>>;
const auto& tape = F::tape();
