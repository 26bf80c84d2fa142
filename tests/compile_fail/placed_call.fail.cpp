// A call of placed values, outside of a map.
// expect: error::array_operation_on_a_placed_value
// expect: of placed values in a map
#include <drx/drx.hpp>

inline constexpr struct clients final : drx::placement<clients> {
} clients;
constexpr auto f = [](auto x) {
  const auto g = [](const auto& v) { return v * 2; };
  return drx::reduce_sum(drx::call(g, x));
  // correct: return drx::reduce_sum(drx::map([g](auto y) { return drx::call(g, y); }, x));
};
using F = drx::program<f, drx::placed<double, struct clients>>;
const auto& tape = F::tape();
