// fedopt/fedopt.hpp: federated averaging with Adam at the server (Reddi et al. 2021, FedAdam).
#pragma once

#include <drx/algorithms/optimizers.hpp>

#include "../common/digits.hpp"

namespace fedopt {

using namespace examples;

inline constexpr drx::fedadam optimizer;
using server_state = std::pair<classifier, drx::optimizer_state<drx::fedadam, classifier>>;

// cut-begin fedopt
/// The change of the model in eight steps on a client's rows.
inline constexpr auto difference = [](auto model, auto rate, auto data) {
  return train_locally<8>(model, rate, data) - model;
};

/// One round: the mean of the clients' differences, turned round, takes the place of a gradient.
inline constexpr auto round = [](auto server, auto client_rate, auto server_rate, auto data) {
  auto [model, state] = server;
  auto differences = drx::map(difference, drx::broadcast<clients>(model), drx::broadcast<clients>(client_rate), data);
  auto change = drx::reduce_weighted_mean(differences, drx::map(count_rows, data));
  return drx::step(optimizer, model, state, -change, server_rate);
};
// cut-end fedopt

using round_program = drx::program<round, server_state, float, float, drx::placed<drx::placed<row, rows>, clients>>;

}  // namespace fedopt
