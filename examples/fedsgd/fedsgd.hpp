// fedsgd/fedsgd.hpp: parallel SGD as the gradient of a loss that is spread over clients.
#pragma once

#include "../common/digits.hpp"

namespace fedsgd {

using namespace examples;

// cut-begin fedsgd
/// The mean loss over the rows of all clients, wherever they are.
inline constexpr auto loss = [](auto model, auto data) {
  auto of_clients = drx::map(mean_loss, drx::broadcast<clients>(model), data);
  return drx::reduce_weighted_mean(of_clients, drx::map(count_rows, data));
};

/// One step: each client computes the gradient on its rows. It takes two messages: the number of rows, and the mean of
/// the gradients.
inline constexpr auto round = [](auto model, auto rate, auto data) {
  return model - rate * drx::grad(loss)(model, data);
};
// cut-end fedsgd

using round_program = drx::program<round, classifier, float, drx::placed<drx::placed<row, rows>, clients>>;

}  // namespace fedsgd
