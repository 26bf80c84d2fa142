// fedopt/fedopt.hpp: federated averaging with Adam at the server (Reddi et al. 2021, FedAdam).
#pragma once

#include "../common/digits.hpp"

namespace fedopt {

using namespace examples;

using server_state =
    std::tuple<classifier, classifier, classifier>;  // the model, first and second moments of its changes

// cut-begin fedopt
/// The change of the model in eight steps on a client's rows.
inline constexpr auto difference = [](auto model, auto rate, auto data) {
  return train_locally<8>(model, rate, data) - model;
};

/// One round: the mean of the clients' differences takes the place of a gradient.
inline constexpr auto round = [](auto state, auto client_rate, auto server_rate, auto data) {
  auto [model, first, second] = state;
  auto differences = drx::map(difference, drx::broadcast<clients>(model), drx::broadcast<clients>(client_rate), data);
  auto change = drx::reduce_weighted_mean(differences, drx::map(count_rows, data));
  first = 0.9 * first + 0.1 * change;
  second = 0.99 * second + 0.01 * change * change;
  auto step = drx::tree_map([](auto m, auto v) { return m / (drx::sqrt(v) + 1e-3); }, first, second);
  return std::tuple{model + server_rate * step, first, second};
};
// cut-end fedopt

using round_program = drx::program<round, server_state, float, float, drx::placed<drx::placed<row, rows>, clients>>;

}  // namespace fedopt
