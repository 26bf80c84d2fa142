#pragma once
#include <drx/drx.hpp>

#include <cstdint>

namespace elastic_net {
struct genes : drx::placement<genes> {};
using table = drx::array<float, 200, 40>;
using weights = drx::array<float, 40>;

inline constexpr auto fit = [](auto gram, auto x, auto y, auto penalty) {  // by coordinate descent
  auto pull = drx::matmul(y, x) / 200;
  auto coordinate = [=](auto j, auto w) {
    auto own = drx::index(gram, j, j);
    auto rest = drx::index(pull, j) - drx::dot(drx::index(gram, j), w) + own * drx::index(w, j);
    auto next = drx::sign(rest) * drx::relu(drx::abs(rest) - penalty) / (own + 0.1f * penalty);
    return drx::update_slice(w, drx::expand_dims<0>(next), j);
  };
  return drx::fori_loop<15>(drx::zeros<weights>(), [=](auto w) { return drx::fori_loop<40>(w, coordinate); });
};
inline constexpr auto all = [](auto x, auto y, auto penalty) {
  auto gram = drx::matmul(drx::transpose(x), x) / 200;
  return drx::map(fit, drx::broadcast<genes>(gram), drx::broadcast<genes>(x), y, penalty);
};
using Program = drx::program<all, table, drx::placed<drx::array<float, 200>, genes>, drx::placed<float, genes>>;
}  // namespace elastic_net
