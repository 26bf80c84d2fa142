#include <drx/drx.hpp>

inline constexpr struct clients final : drx::placement<clients> {
} clients;
constexpr auto f = [](auto x) {
  const auto g = [](const auto& v) { return v * 2; };
  return drx::reduce_sum(drx::map([g](auto y) { return drx::call(g, y); }, x));
};
using F = drx::program<f, drx::placed<double, struct clients>>;
const auto& tape = F::tape();
