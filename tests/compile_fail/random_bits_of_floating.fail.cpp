// Bits of a floating type.
// expect: error::needs_integer_values
// expect: uniform<T, extents...>\(key\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::random_bits<float, 3>(x);
  // correct: auto y = drx::random_bits<std::int32_t, 3>(x);
  return drx::sum(y * 2);
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
