#pragma once
#include <drx/drx.hpp>

#include <utility>

namespace gray_scott {
struct dishes : drx::placement<dishes> {};
using field = drx::array<float, 64, 64>;

inline constexpr auto spread = [](auto x) {
  return drx::roll<1>(x) + drx::roll<-1>(x) + drx::roll<1, 1>(x) + drx::roll<-1, 1>(x) - 4 * x;
};
inline constexpr auto error = [](auto rates, auto start, auto seen) {  // after 40 steps
  auto [feed, kill] = rates;
  auto step = [=](auto c) {
    auto [food, cells] = c;
    auto eaten = food * drx::square(cells);
    return std::pair{food + 0.16f * spread(food) - eaten + feed * (1 - food),
                     cells + 0.08f * spread(cells) + eaten - (feed + kill) * cells};
  };
  return drx::mean(drx::square(drx::fori_loop<40>(start, step).second - seen));
};
inline constexpr auto loss = [](auto rates, auto starts, auto seen) {
  return drx::reduce_mean(drx::map(error, drx::broadcast<dishes>(rates), starts, seen));
};
using Program = drx::program<drx::value_and_grad(loss), std::pair<float, float>,
                             drx::placed<std::pair<field, field>, dishes>, drx::placed<field, dishes>>;
}  // namespace gray_scott
