// private_fedavg/private_fedavg.hpp: federated averaging with differential privacy for clients (McMahan et al. 2018).
#pragma once

#include <drx/algorithms/policies.hpp>

#include "../common/digits.hpp"

namespace private_fedavg {

using namespace examples;

inline constexpr double limit = 0.5;  // the largest norm of a client's change: what one client can add to the sum

// cut-begin private_fedavg
/// Who takes part in a round: each client with this probability, whatever the others do (Poisson sampling).
inline constexpr auto draw_clients = [](auto key, auto probability) {
  auto draw = [](auto k, auto p, auto i) { return drx::bernoulli<>(drx::fold_in(k, i), p); };
  return drx::map(draw, drx::broadcast<clients>(key), drx::broadcast<clients>(probability),
                  drx::partition_index<clients>());
};

/// The change of the model in eight steps on a client's rows; 0 if the client is not drawn, or its change not finite.
inline constexpr auto change_if_drawn = [](auto model, auto rate, auto drawn, auto data) {
  auto change = train_locally<8>(model, rate, data) - model;
  auto counts = drx::where(drawn, drx::cast<float>(drx::isfinite(drx::norm(change))), 0.f);
  return drx::tree_map([=](auto a) { return drx::where(counts > 0, a, 0); }, change);
};

/// One round. The sum of the clipped changes gets noise of deviation Noise * limit, and is divided by the number of
/// clients that is expected: the number drawn is not to be known.
template <int Noise>
inline constexpr auto round = [](auto model, auto rates, auto sampling, auto key, auto data) {
  auto [client_rate, server_rate] = rates;
  auto [probability, expected] = sampling;
  auto keys = drx::split<2>(key);
  auto drawn = draw_clients(drx::index<0>(keys), probability);
  auto changes =
      drx::map(change_if_drawn, drx::broadcast<clients>(model), drx::broadcast<clients>(client_rate), drawn, data);
  auto sum = drx::reduce_sum_private(changes, drx::index<1>(keys), limit, Noise);
  return model + server_rate / expected * sum;
};
// cut-end private_fedavg

/// The same with a key that the seed and the number of the round name.
template <int Noise>
inline constexpr auto numbered_round = [](auto model, auto rates, auto sampling, auto seed, auto number, auto data) {
  return round<Noise>(model, rates, sampling, drx::fold_in(drx::random_key(seed), number), data);
};

using round_rates = std::tuple<float, float>;      // of the clients, of the server
using round_sampling = std::tuple<double, float>;  // the probability of each client, the number of clients expected
template <int Noise>
using round_program = drx::program<numbered_round<Noise>, classifier, round_rates, round_sampling, std::int64_t,
                                   std::int32_t, drx::placed<drx::placed<row, rows>, clients>>;
using without_noise = round_program<0>;
using with_noise_1 = round_program<1>;
using with_noise_2 = round_program<2>;

}  // namespace private_fedavg
