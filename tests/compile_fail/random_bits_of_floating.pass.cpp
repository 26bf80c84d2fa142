#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y = drx::random_bits<std::int32_t, 3>(x);
  return drx::sum(y * 2);
};
using F = drx::program<f, drx::prng_key>;
const auto& tape = F::tape();
