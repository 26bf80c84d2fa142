// bench/hypergradient/drx_side.hpp: the loss after a round and its derivative by the rate, as a user writes them.
#pragma once

#include "../fedavg_round/drx_side.hpp"

namespace fedavg::program {

inline constexpr auto loss_after = [](auto r, auto m, auto data) {
  return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(round(m, r, data)), data));
};
inline constexpr auto slope = [](auto r, auto m, auto data) { return drx::value_and_grad(loss_after)(r, m, data); };
using Slope = drx::program<slope, float, model, drx::placed<rows, clients>>;

}  // namespace fedavg::program
