// diloco/diloco.hpp: DiLoCo (Douillard et al. 2023): many AdamW steps at each worker, Nesterov steps between them.
#pragma once

#include <drx/algorithms/optimizers.hpp>

#include "../common/digits.hpp"

namespace diloco {

using namespace examples;

inline constexpr drx::adamw inner{.decay = 1e-3};
using worker_state = drx::optimizer_state<drx::adamw, classifier>;  // a worker's own, kept from round to round

// cut-begin diloco
/// Twenty AdamW steps on a worker's own rows.
inline constexpr auto train_adamw = [](auto model, auto state, auto rate, auto data) {
  auto step = [=](auto now) {
    return drx::step(inner, now.first, now.second, drx::grad(mean_loss)(now.first, data), rate);
  };
  return drx::fori_loop<20>(std::pair{model, state}, step);
};

/// The workers' mean change is a gradient for the outer Nesterov step.
inline constexpr auto round = [](auto model, auto momentum, auto states, auto rates, auto data) {
  auto [inner_rate, outer_rate, decay] = rates;
  auto [trained, kept] =
      drx::map(train_adamw, drx::broadcast<clients>(model), states, drx::broadcast<clients>(inner_rate), data);
  auto change = model - drx::reduce_mean(trained);
  auto [next, moved] = drx::step(drx::nesterov{decay}, model, momentum, change, outer_rate);
  return std::tuple{next, moved, kept};
};
// cut-end diloco

using round_rates = std::tuple<float, float, float>;
using round_program = drx::program<round, classifier, classifier, drx::placed<worker_state, clients>, round_rates,
                                   drx::placed<drx::placed<row, rows>, clients>>;

}  // namespace diloco
