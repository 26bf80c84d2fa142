#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) {
  auto z = drx::reduce_sum(drx::map([](auto v) { return v % v; }, x));
  return drx::sum(z);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
