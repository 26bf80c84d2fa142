#pragma once
#include <drx/drx.hpp>

#include <tuple>

namespace comparisons {
struct games : drx::placement<games> {};
using strengths = drx::array<double, 300>;

inline constexpr auto loss = [](auto s, auto winners, auto losers) {
  auto wrong = [](auto all, auto winner, auto loser) {
    return drx::softplus(drx::index(all, loser) - drx::index(all, winner));
  };
  return drx::reduce_mean(drx::map(wrong, drx::broadcast<games>(s), winners, losers)) + 1e-4 * drx::dot(s, s);
};
inline constexpr auto step = [](auto s, auto winners, auto losers) {  // of Newton's, by ten of conjugate gradients
  auto of = [=](auto x) { return loss(x, winners, losers); };
  auto slope = drx::grad(of)(s);
  auto solve = [=](auto carry) {
    auto [x, r, p] = carry;
    auto ap = drx::hvp(of, s, p);
    auto a = drx::dot(r, r) / drx::dot(p, ap);
    auto next = r - a * ap;
    return std::tuple{x + a * p, next, next + p * (drx::dot(next, next) / drx::dot(r, r))};
  };
  return s - std::get<0>(drx::fori_loop<10>(std::tuple{drx::zeros<strengths>(), slope, slope}, solve));
};
using Program = drx::program<step, strengths, drx::placed<std::int32_t, games>, drx::placed<std::int32_t, games>>;
}  // namespace comparisons
