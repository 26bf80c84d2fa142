#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  drx::array<float> y = drx::reduce_sum(x * 2);
  return y + 1;
};
using F = drx::program<f, drx::placed<float, clients>>;
const auto& tape = F::tape();
