#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto g = [](auto x) -> drx::array<float> {
  return drx::reduce_sum(x * 2);
};

constexpr auto f = [](auto x) {
  return g(x) + 1;
};
using F = drx::program<f, drx::placed<float, clients>>;
const auto& tape = F::tape();
