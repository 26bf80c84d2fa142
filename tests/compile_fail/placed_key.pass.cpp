#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) {
  auto y = drx::map([](auto k) { return drx::normal<float, 3>(k); }, x);
  return drx::reduce_sum(y);
};
using F = drx::program<f, drx::placed<drx::prng_key, clients>>;
const auto& tape = F::tape();
