// diloco/diloco.hpp: DiLoCo (Douillard et al. 2023): many AdamW steps at each worker, Nesterov steps between them.
#pragma once

#include "../common/digits.hpp"

namespace diloco {

using namespace examples;

using worker_moments = std::tuple<classifier, classifier>;  // a worker's own AdamW state, kept from round to round

// cut-begin diloco
/// Twenty AdamW steps on a worker's own rows. `done`: steps that it took before.
inline constexpr auto train_adamw = [](auto model, auto moments, auto rate, auto done, auto data) {
  auto step = [=](auto i, auto carry) {
    auto [now, first, second] = carry;
    auto slope = drx::grad(mean_loss)(now, data);
    auto t = done + drx::cast<float>(i) + 1;
    first = 0.9 * first + 0.1 * slope;
    second = 0.999 * second + 0.001 * slope * slope;
    auto a = rate / (1 - drx::exp(t * std::log(0.9))), b = 1 / (1 - drx::exp(t * std::log(0.999)));
    auto adamw = [=](auto w, auto m, auto v) { return w - a * m / (drx::sqrt(b * v) + 1e-8) - 1e-3 * rate * w; };
    return std::tuple{drx::tree_map(adamw, now, first, second), first, second};
  };
  auto [first, second] = moments;
  return drx::fori_loop<20>(std::tuple{model, first, second}, step);
};

/// The workers' mean change is a gradient for the outer Nesterov step.
inline constexpr auto round = [](auto model, auto momentum, auto moments, auto rates, auto done, auto data) {
  auto [inner_rate, outer_rate, decay] = rates;
  auto at_workers = [](auto x) { return drx::broadcast<clients>(x); };
  auto trained = drx::map(train_adamw, at_workers(model), moments, at_workers(inner_rate), at_workers(done), data);
  auto change = model - drx::reduce_mean(drx::map([](auto t) { return std::get<0>(t); }, trained));
  momentum = decay * momentum + change;
  auto kept = drx::map([](auto t) { return std::tuple{std::get<1>(t), std::get<2>(t)}; }, trained);
  return std::tuple{model - outer_rate * (change + decay * momentum), momentum, kept};
};
// cut-end diloco

using round_rates = std::tuple<float, float, float>;
using round_program = drx::program<round, classifier, classifier, drx::placed<worker_moments, clients>, round_rates,
                                   float, drx::placed<drx::placed<row, rows>, clients>>;

}  // namespace diloco
