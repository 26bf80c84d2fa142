// split_clients/split_clients.hpp: federated averaging with momentum; each client's hidden layer may lie on two ranks.
#pragma once

#include "../common/batches.hpp"
#include "../common/digits.hpp"

namespace split_clients {

using namespace examples;

using batch_of_client = labelled_batch<digits_shape, 64>;

// cut-begin split_clients
struct parts : drx::placement<parts> {};  // of a client's network: the second axis of a mesh

struct whole {
  static constexpr int shards = 1;
  constexpr auto operator()(auto network) const { return network; }
};
/// Half of the hidden units at each shard, with all of their weights. Both shards have the second bias.
struct in_halves {
  static constexpr int shards = 2;
  constexpr auto operator()(auto network) const {
    network.w1 = drx::with_layout<parts, shards>(network.w1, drx::split_along<1>);
    network.b1 = drx::with_layout<parts, shards>(network.b1, drx::split_along<0>);
    network.w2 = drx::with_layout<parts, shards>(network.w2, drx::split_along<0>);
    return network;
  }
};

/// Eight steps with momentum on a client's batch. Only the layout says where a number is computed.
template <class Layout>
inline constexpr auto train_locally = [](auto network, auto velocity, auto rate, auto batch) {
  const Layout laid_out;
  return drx::fori_loop<8>(std::pair{laid_out(network), laid_out(velocity)}, [=](auto carry) {
    auto [now, v] = carry;
    v = 0.9 * v + drx::grad(batch_loss)(now, batch);
    return std::pair{now - rate * v, v};
  });
};

/// One round: the mean of the clients' networks, and each client's velocity, which stays with it and stays split.
template <class Layout>
inline constexpr auto round = [](auto network, auto velocities, auto rate, auto batches) {
  auto trained = drx::map(train_locally<Layout>, drx::broadcast<clients>(network), velocities,
                          drx::broadcast<clients>(rate), batches);
  auto mean = drx::reduce_mean(drx::map([](auto t) { return t.first; }, trained));
  return std::pair{mean, drx::map([](auto t) { return t.second; }, trained)};
};
// cut-end split_clients

/// The axis along which each leaf of a client's velocity is split (drx::place_sharded).
template <class Layout>
std::vector<int> axes_of_leaves() {
  return Layout::shards == 1 ? std::vector<int>{} : std::vector<int>{1, 0, 0, -1};
}

template <class Layout>
using round_program = drx::program<round<Layout>, classifier, drx::placed<classifier, clients>, float,
                                   drx::placed<batch_of_client, clients>>;

}  // namespace split_clients
