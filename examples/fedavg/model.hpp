// fedavg/model.hpp: the model, its loss, and the programs that train and test it: all that drx is asked to compute.
#pragma once

#include <boost/hana/define_struct.hpp>
#include <cstdint>
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>
#include <tuple>

#include "shapes.hpp"

namespace fedavg {

struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};

/// One hidden layer.
template <shape S> struct mlp {
  using first_weights = drx::array<float, S.features, S.hidden>;
  using first_bias = drx::array<float, S.hidden>;
  using second_weights = drx::array<float, S.hidden, S.classes>;
  using second_bias = drx::array<float, S.classes>;
  BOOST_HANA_DEFINE_STRUCT(mlp, (first_weights, w1), (first_bias, b1), (second_weights, w2), (second_bias, b2));
};

template <shape S> struct labelled_row {
  using features = drx::array<float, S.features>;
  using label = drx::scalar<std::int32_t>;
  BOOST_HANA_DEFINE_STRUCT(labelled_row, (features, x), (label, y));
};

inline constexpr auto logits = [](auto model, auto x) {
  return drx::matmul(drx::tanh(drx::matmul(x, model.w1) + model.b1), model.w2) + model.b2;
};
inline constexpr auto row_loss = [](auto model, auto row) {
  return drx::softmax_cross_entropy(logits(model, row.x), row.y);
};
inline constexpr auto mean_loss = [](auto model, auto data) {
  return drx::reduce_mean(drx::map(row_loss, drx::broadcast<rows>(model), data));
};

/// Gradient steps on the mean loss over a client's rows, however many it has.
template <int Steps>
inline constexpr auto train_locally = [](auto model, auto rate, auto data) {
  return drx::fori_loop<Steps>(model, [=](auto now) { return now - rate * drx::grad(mean_loss)(now, data); });
};
inline constexpr auto count_rows = [](auto data) { return drx::count<float>(data); };

/// A round of federated averaging: every client trains on its own rows; the mean of their models, weighted by rows.
template <int Steps>
inline constexpr auto federated_round = [](auto model, auto rate, auto data) {
  auto trained = drx::map(train_locally<Steps>, drx::broadcast<clients>(model), drx::broadcast<clients>(rate), data);
  return drx::reduce_weighted_mean(trained, drx::map(count_rows, data));
};

inline constexpr auto row_hit = [](auto model, auto row) {
  return drx::cast<float>(drx::argmax(logits(model, row.x)) == row.y);
};
/// Mean loss and accuracy.
inline constexpr auto evaluate = [](auto model, auto data) {
  return std::tuple{mean_loss(model, data), drx::reduce_mean(drx::map(row_hit, drx::broadcast<rows>(model), data))};
};

template <shape S> struct programs {
  using model = mlp<S>;
  using row = labelled_row<S>;
  using data_of_clients = drx::placed<drx::placed<row, rows>, clients>;
  using pooled_data = drx::placed<row, rows>;

  template <int Steps> using round = drx::program<federated_round<Steps>, model, float, data_of_clients>;
  using evaluation = drx::program<evaluate, model, pooled_data>;
};

}  // namespace fedavg
