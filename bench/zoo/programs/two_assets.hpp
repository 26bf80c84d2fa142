#pragma once
#include <drx/drx.hpp>

namespace two_assets {
struct options : drx::placement<options> {};
using grid = drx::array<double, 64, 64>;
using line = drx::array<double, 64>;
inline constexpr auto doubled = [](auto x) { return std::pair{x, x}; };
inline constexpr auto rates = [](auto vol, auto rate) {  // half a step of 1/40 along axis 0: a tridiagonal matrix
  auto s = drx::iota<line>(), inside = 0.0125 * drx::cast<double>(s > 0 && s < 63);
  auto spread = 0.5 * inside * drx::square(vol * s), drift = 0.5 * inside * rate * s;
  return std::tuple{spread - drift, -2 * spread - 0.00625 * rate, spread + drift};
};
inline constexpr auto explicitly = [](auto m, auto u) {
  auto [below, on, above] = drx::tree_map([](auto x) { return drx::expand_dims<1>(x); }, m);
  return u + below * drx::roll<1>(u) + on * u + above * drx::roll<-1>(u);
};
inline constexpr auto implicitly = [](auto m, auto u) {  // Thomas's algorithm, all columns at once
  auto eliminate = [](auto before, auto now) {
    auto [below, on, above, row] = now;
    auto scale = 1 / (1 - on + below * before.first);
    return doubled(std::pair{-above * scale, (row + below * before.second) * scale});
  };
  auto back = [](auto behind, auto now) { return doubled(now.second - now.first * behind); };
  auto none = std::pair{drx::zeros<drx::scalar<double>>(), drx::zeros<line>()};
  auto [ratios, rests] = drx::scan(eliminate, none, std::tuple_cat(m, std::tuple{u})).second;
  return drx::flip<0>(drx::scan(back, drx::zeros<line>(), std::pair{drx::flip<0>(ratios), drx::flip<0>(rests)}).second);
};
inline constexpr auto price = [](auto vols, auto rate, auto strike) {  // an American put on two assets' mean
  auto first = rates(drx::index<0>(vols), rate), second = rates(drx::index<1>(vols), rate);
  auto payoff = drx::relu(strike - 0.5 * (drx::iota<grid>() + drx::iota<grid, 1>()));
  auto half = [](auto here, auto there, auto u) { return implicitly(there, drx::transpose(explicitly(here, u))); };
  auto step = [=](auto u) { return drx::max(payoff, half(first, second, half(second, first, u))); };
  return drx::index<32, 32>(drx::fori_loop<20>(payoff, step));
};
inline constexpr auto prices = [](auto... x) { return drx::map(drx::value_and_grad(price), x...); };
using number = drx::placed<double, options>;
using Program = drx::program<prices, drx::placed<drx::array<double, 2>, options>, number, number>;
}  // namespace two_assets
