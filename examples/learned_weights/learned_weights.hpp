// learned_weights/learned_weights.hpp: federated averaging that learns the weight of each client.
#pragma once

#include "../common/digits.hpp"

namespace learned_weights {

using namespace examples;

struct own_rows : drx::placement<own_rows> {};  // the server's: clean, and few

// cut-begin learned_weights
/// The mean of the clients' models, weighted by the softmax of their scores.
inline constexpr auto aggregate = [](auto scores, auto models) {
  auto highest = drx::stop_gradient(drx::reduce_max(scores));
  auto weights = drx::map([=](auto s) { return drx::exp(s - highest); }, scores);
  return drx::reduce_weighted_mean(models, weights);
};

/// One round. A score goes up if the client's model lowers the loss on the server's own rows.
inline constexpr auto round = [](auto model, auto scores, auto rate, auto score_rate, auto data, auto validation) {
  auto trained = drx::map(train_locally<8>, drx::broadcast<clients>(model), drx::broadcast<clients>(rate), data);
  auto loss = [=](auto s) {
    return drx::reduce_mean(drx::map(row_loss, drx::broadcast<own_rows>(aggregate(s, trained)), validation));
  };
  auto better = drx::map([=](auto s, auto slope) { return s - score_rate * slope; }, scores, drx::grad(loss)(scores));
  return std::tuple{aggregate(better, trained), better};
};
// cut-end learned_weights

using round_program = drx::program<round, classifier, drx::placed<float, clients>, float, float,
                                   drx::placed<drx::placed<row, rows>, clients>, drx::placed<row, own_rows>>;

}  // namespace learned_weights
