#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto x) {
  auto y = drx::map([](auto v) { return 2 * v; }, drx::broadcast<clients>(x));
  return drx::reduce_sum(y) * 0.5;
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
