// engines/engines.hpp: three programs that run on MPI, Beam, Spark and Hadoop Streaming from one executable.
#pragma once

#include <drx/drx.hpp>

namespace engines_example {

struct clients : drx::placement<clients> {};
using model = drx::array<double, 4>;
using batch = std::tuple<drx::array<double, 16, 4>, drx::array<double, 16>>;  // points x, and y, which is 0 or 1
using data = drx::placed<batch, clients>;

// cut-begin engines
/// Logistic loss of one client's rows.
inline constexpr auto loss = [](auto w, auto rows) {
  auto scores = drx::matmul(std::get<0>(rows), w);
  return drx::mean(drx::softplus(scores) - std::get<1>(rows) * scores);
};
inline constexpr auto train_locally = [](auto w, auto rate, auto rows) {
  return drx::fori_loop<8>(w, [=](auto v) { return v - rate * drx::grad(loss)(v, rows); });
};
/// Federated averaging: one round.
inline constexpr auto round = [](auto w, auto rate, auto rows) {
  return drx::reduce_mean(drx::map(train_locally, drx::broadcast<clients>(w), drx::broadcast<clients>(rate), rows));
};
/// The loss after a round, whose derivative by the rate is a MapReduce program again.
inline constexpr auto loss_after = [](auto w, auto rate, auto rows) {
  return drx::reduce_mean(drx::map(loss, drx::broadcast<clients>(round(w, rate, rows)), rows));
};
inline constexpr auto tuned = [](auto w, auto rate, auto rows) {
  return drx::value_and_grad<1>(loss_after)(w, rate, rows);
};
/// k-means: six times, each client sends the sums and numbers of its points by their nearest centre.
inline constexpr auto nearest = [](auto centres, auto rows) {
  auto x = std::get<0>(rows);
  auto distances = drx::sum<1>(drx::square(centres)) - 2.0 * drx::matmul(x, drx::transpose(centres));
  auto chosen = drx::one_hot<double, 3>(drx::argmin<1>(distances));
  return std::tuple{drx::matmul(drx::transpose(chosen), x), drx::sum<0>(chosen)};
};
inline constexpr auto kmeans = [](auto centres, auto rows) {
  return drx::fori_loop<6>(centres, [=](auto c) {
    auto [sums, counts] = drx::reduce_sum(drx::map(nearest, drx::broadcast<clients>(c), rows));
    return sums / drx::reshape<3, 1>(drx::max(counts, 1.0));
  });
};

struct fedavg : drx::program<round, model, double, data> {};
struct hypergradient : drx::program<tuned, model, double, data> {};
struct k_means : drx::program<kmeans, drx::array<double, 3, 4>, data> {};
// cut-end engines

static_assert(drx::Program<fedavg> && drx::Program<hypergradient> && drx::Program<k_means>);

}  // namespace engines_example
