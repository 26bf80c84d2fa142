// self_tuning/self_tuning.hpp: federated averaging that learns its own learning rates.
#pragma once

#include "../common/batches.hpp"
#include "../common/digits.hpp"

namespace self_tuning {

using namespace examples;

// cut-begin self_tuning
/// One round: clients take four steps at their rate; the server goes a part of the way to their mean, given by its
/// rate, or beyond.
inline constexpr auto round = [](auto log_rates, auto model, auto data) {
  auto client_rate = drx::exp(drx::index<0>(log_rates)), server_rate = drx::exp(drx::index<1>(log_rates));
  auto trained =
      drx::map(train_on_batch<4>, drx::broadcast<clients>(model), drx::broadcast<clients>(client_rate), data);
  return model + server_rate * (drx::reduce_mean(trained) - model);
};
/// The loss after the round, and the model.
inline constexpr auto loss_after = [](auto log_rates, auto model, auto data) {
  auto next = round(log_rates, model, data);
  return std::pair{drx::reduce_mean(drx::map(batch_loss, drx::broadcast<clients>(next), data)), next};
};

/// A round that also tunes the rates for the next one: a step along the derivative of that loss, through all local
/// steps, but at most by half.
inline constexpr auto tuned_round = [](auto log_rates, auto model, auto tuning_rate, auto data) {
  auto [result, slope] = drx::value_and_grad(loss_after)(log_rates, model, data);
  auto [loss, next] = result;
  return std::tuple{log_rates - drx::clamp(tuning_rate * slope, -0.5, 0.5), next};
};
// cut-end self_tuning

using rate_logarithms = drx::array<float, 2>;
using batch = labelled_batch<digits_shape, 32>;
using round_program = drx::program<tuned_round, rate_logarithms, classifier, float, drx::placed<batch, clients>>;

}  // namespace self_tuning
