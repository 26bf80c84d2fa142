#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto y = drx::map([](auto a, auto b) { return a + b; }, x, x);
  return drx::reduce_sum(y);
};
using F = drx::program<f, drx::placed<float, clients>>;
const auto& tape = F::tape();
