#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto z = drx::map([](auto v) { return drx::fma(v, v, v); }, x);
  return drx::reduce_sum(z);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
