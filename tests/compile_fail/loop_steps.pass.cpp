#include <drx/drx.hpp>

constexpr auto f = [](auto x) {
  auto y =
      drx::fori_loop<3>(x, [](auto c) { return drx::fori_loop<1'000'000'000>(c, [](auto d) { return d * 0.5; }); });
  return drx::sum(y);
};
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
