// Newton's steps by conjugate gradients, whose products with the Hessian are all taken at one point.
#pragma once

#include <drx/drx.hpp>

#include <tuple>

namespace harness {

/// One step from w for the function `loss`, by Steps steps of conjugate gradients.
template <int Steps>
constexpr auto newton_step = [](auto loss, auto w) {
  auto slope = drx::grad(loss)(w);
  auto solve = [=](auto carry) {
    auto [x, r, p] = carry;
    auto ap = drx::hvp(loss, w, p);
    auto a = drx::dot(r, r) / drx::dot(p, ap);
    auto next = r - a * ap;
    return std::tuple{x + a * p, next, next + p * (drx::dot(next, next) / drx::dot(r, r))};
  };
  return w - std::get<0>(drx::fori_loop<Steps>(std::tuple{0.0 * w, slope, slope}, solve));
};

}  // namespace harness
