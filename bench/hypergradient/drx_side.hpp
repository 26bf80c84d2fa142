// bench/hypergradient/drx_side.hpp: the loss after a round and its derivative by the rate, as a user writes it.
#pragma once

#include "../fedavg_round/drx_side.hpp"

namespace fedavg::program {

/// The round's steps, with their residuals kept for the backward pass: eight steps need little memory.
inline constexpr auto kept_sgd = [](auto m, auto r, auto d) {
  return drx::fori_loop<steps>(m, [=](auto now) { return now - r * drx::grad(loss)(now, d); }, drx::keep_all);
};
inline constexpr auto loss_after = [](auto r, auto m, auto data) {
  const auto after = drx::reduce_mean(drx::map(kept_sgd, drx::broadcast<clients>(m), drx::broadcast<clients>(r), data));
  return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(after), data));
};
inline constexpr auto slope = [](auto r, auto m, auto data) { return drx::value_and_grad(loss_after)(r, m, data); };
using Slope = drx::program<slope, float, model, drx::placed<rows, clients>>;

/// The same in forward mode, which is cheaper for the derivative by one number.
inline constexpr auto forward_slope = [](auto r, auto m, auto data) {
  return drx::jvp([=](auto at) { return loss_after(at, m, data); }, r, 0 * r + 1);
};
using ForwardSlope = drx::program<forward_slope, float, model, drx::placed<rows, clients>>;

}  // namespace fedavg::program
