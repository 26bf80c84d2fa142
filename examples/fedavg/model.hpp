// fedavg/model.hpp: the drx programs that train and test.
#pragma once

#include "../common/classifier.hpp"
#include "shapes.hpp"

namespace fedavg {

/// A round of federated averaging: every client trains on its own rows; the mean of their models, weighted by rows.
template <int Steps>
inline constexpr auto federated_round = [](auto model, auto rate, auto data) {
  auto trained = drx::map(train_locally<Steps>, drx::broadcast<clients>(model), drx::broadcast<clients>(rate), data);
  return drx::reduce_weighted_mean(trained, drx::map(count_rows, data));
};

template <shape S>
struct programs {
  using model = mlp<S>;
  using row = labelled_row<S>;
  using data_of_clients = drx::placed<drx::placed<row, rows>, clients>;
  using pooled_data = drx::placed<row, rows>;

  template <int Steps>
  using round = drx::program<federated_round<Steps>, model, float, data_of_clients>;
  using evaluation = drx::program<evaluate, model, pooled_data>;
};

}  // namespace fedavg
