// common/batches.hpp: some rows of each client as one array. Programs of batches compile faster than programs of placed
// rows, and all clients have the same weight.
#pragma once

#include <algorithm>
#include <drx/run.hpp>

#include "classifier.hpp"
#include "data.hpp"
#include "partition.hpp"
#include "random.hpp"

namespace examples {

template <shape S, int Rows>
struct labelled_batch {
  static constexpr int rows = Rows;
  using features = drx::array<float, Rows, S.features>;
  using labels = drx::array<std::int32_t, Rows>;
  BOOST_HANA_DEFINE_STRUCT(labelled_batch, (features, x), (labels, y));
};

inline constexpr auto batch_loss = [](auto model, auto batch) {
  return drx::mean(drx::softmax_cross_entropy(logits(model, batch.x), batch.y));
};
/// Gradient steps on a batch.
template <int Steps>
inline constexpr auto train_on_batch = [](auto model, auto rate, auto batch) {
  return drx::fori_loop<Steps>(model, [=](auto now) { return now - rate * drx::grad(batch_loss)(now, batch); });
};

/// Puts a row of the data into row k of a batch.
template <class Batch>
void set_row(Batch& batch, int k, const dataset& data, std::size_t row, int label) {
  std::ranges::copy(data.row(row), batch.x.data() + static_cast<std::ptrdiff_t>(k) * std::ssize(data.row(row)));
  batch.y.data()[k] = label;
}

/// A client's batch for one round: as many of its rows as fit, drawn anew in each round; if it has too few, again from
/// the first.
template <class Batch>
Batch draw_batch(const dataset& data, const partition& owners, std::uint64_t seed, int round, std::int64_t client) {
  const auto held = owners.rows_of(static_cast<std::size_t>(client));
  std::vector<std::size_t> order(held.begin(), held.end());
  random_stream(seed, purpose::batches, {static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(client)})
      .shuffle(std::span(order));
  Batch batch;
  for (int k = 0; k < Batch::rows; ++k) {
    const std::size_t row = order[static_cast<std::size_t>(k) % order.size()];
    set_row(batch, k, data, row, data.y[row]);
  }
  return batch;
}
template <class Batch>
drx::partitions<Batch, clients> place_batches(drx::session& session, const dataset& data, const partition& owners,
                                              std::uint64_t seed, int round) {
  return session.place<clients>(static_cast<std::int64_t>(owners.clients()), [&](std::int64_t client) {
    return draw_batch<Batch>(data, owners, seed, round, client);
  });
}

}  // namespace examples
