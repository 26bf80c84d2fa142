#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace non_local {
struct images : drx::placement<images> {};
using image = drx::array<float, 64, 64>;

inline constexpr auto patch_sum = [](auto x) {  // over 3 x 3 places, on a torus
  auto rows = x + drx::roll<1>(x) + drx::roll<-1>(x);
  return rows + drx::roll<1, 1>(rows) + drx::roll<-1, 1>(rows);
};
template <int Down, int Across>
inline constexpr auto moved = [](auto x) { return drx::roll<Across, 1>(drx::roll<Down>(x)); };

inline constexpr auto cleaned = [](auto strength, auto x) {  // means of 7 x 7 places, by how like their patches are
  auto sum = 0 * x, weights = 0 * x;
  auto add = [&]<int Shift>() {
    auto other = moved<Shift / 7 - 3, Shift % 7 - 3>(x);
    auto weight = drx::exp(-strength * patch_sum(drx::square(other - x)));
    sum = sum + weight * other;
    weights = weights + weight;
  };
  [&]<int... Shift>(std::integer_sequence<int, Shift...>) {
    (add.template operator()<Shift>(), ...);
  }(std::make_integer_sequence<int, 49>{});
  return sum / weights;
};
inline constexpr auto error = [](auto strength, auto noisy, auto clean) {
  return drx::mean(drx::square(cleaned(strength, noisy) - clean));
};
inline constexpr auto loss = [](auto strength, auto noisy, auto clean) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<images>(strength), noisy, clean));
};
using Program = drx::program<drx::value_and_grad(loss), float, drx::placed<image, images>, drx::placed<image, images>>;
}  // namespace non_local
