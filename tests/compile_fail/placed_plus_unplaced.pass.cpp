#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x, auto m) {
  auto y = x - drx::broadcast<clients>(m);
  return drx::reduce_mean(y * 2);
};
using F = drx::program<f, drx::placed<drx::array<float, 3>, clients>, drx::array<float, 3>>;
const auto& tape = F::tape();
