// Steps of a member by teams of lanes: each kind of kernel, on devices of several teams and lanes.
#include <drx/drx.hpp>

#include "harness/on_device.hpp"

using drx::array;

namespace {
using m35 = array<float, 3, 5>;
using m31 = array<float, 3, 1>;
using v5 = array<float, 5>;

template <auto F, class... X>
void check(const harness::sample& s = {}) {
  harness::check_member_on_device<F, X...>(s);
}
}  // namespace

TEST_CASE("chains of elementwise operations, with every way to broadcast") {
  static constexpr auto f = [](auto a, auto row, auto column, auto s) {
    auto x = drx::tanh(a * row + column) - s;
    auto y = drx::max(x, row) / (2 + drx::abs(column)) + drx::exp(-a);
    auto outer = row * column;  // [5] * [3, 1]
    auto z = drx::where(x < y, x * s, outer) + drx::sin(30 * a);
    auto deep = drx::broadcast_to<2, 3, 5>(x) * drx::reshape<1, 5>(row);
    return std::tuple{x, z, outer, s * row, s * s, drx::sqrt(drx::abs(z + 1)), -column, deep};
  };
  check<f, m35, v5, m31, float>();
}
