// common/classifier.hpp: a small neural network that classifies rows, and its loss on placed rows.
#pragma once

#include <boost/hana/define_struct.hpp>
#include <cstdint>
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>
#include <tuple>

#include "shape.hpp"

namespace examples {

struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};

/// One hidden layer.
template <shape S>
struct mlp {
  using first_weights = drx::array<float, S.features, S.hidden>;
  using first_bias = drx::array<float, S.hidden>;
  using second_weights = drx::array<float, S.hidden, S.classes>;
  using second_bias = drx::array<float, S.classes>;
  BOOST_HANA_DEFINE_STRUCT(mlp, (first_weights, w1), (first_bias, b1), (second_weights, w2), (second_bias, b2));
};

template <shape S>
struct labelled_row {
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

/// Gradient steps on the mean loss over a client's rows, however many there are.
template <int Steps>
inline constexpr auto train_locally = [](auto model, auto rate, auto data) {
  return drx::fori_loop<Steps>(model, [=](auto now) { return now - rate * drx::grad(mean_loss)(now, data); });
};
inline constexpr auto count_rows = [](auto data) { return drx::count<float>(data); };

inline constexpr auto row_hit = [](auto model, auto row) {
  return drx::cast<float>(drx::argmax(logits(model, row.x)) == row.y);
};
/// Mean loss and accuracy.
inline constexpr auto evaluate = [](auto model, auto data) {
  return std::tuple{mean_loss(model, data), drx::reduce_mean(drx::map(row_hit, drx::broadcast<rows>(model), data))};
};

}  // namespace examples
