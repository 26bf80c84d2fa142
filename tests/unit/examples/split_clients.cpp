// Clients whose hidden layer is split train as whole ones do, and keep their velocities split.
#include <doctest/doctest.h>

#include <cmath>
#include <examples/split_clients/split_clients.hpp>

namespace {

using namespace examples;

constexpr shape small{.features = 6, .hidden = 4, .classes = 3};
using network = mlp<small>;
using batch = labelled_batch<small, 5>;
template <class Layout>
using small_round = drx::program<split_clients::round<Layout>, network, drx::placed<network, clients>, float,
                                 drx::placed<batch, clients>>;

float number(std::int64_t i) { return static_cast<float>(std::sin(1.7 * static_cast<double>(i))); }
network network_of(std::int64_t seed) {
  network n;
  std::int64_t k = 100 * seed;
  for (float& v : n.w1) v = number(++k);
  for (float& v : n.b1) v = number(++k);
  for (float& v : n.w2) v = number(++k);
  for (float& v : n.b2) v = number(++k);
  return n;
}
batch batch_of(std::int64_t client) {
  batch b;
  std::int64_t k = 1000 * (client + 1);
  for (float& v : b.x) v = number(++k);
  for (std::int32_t& v : b.y) v = static_cast<std::int32_t>(++k % small.classes);
  return b;
}

/// Two rounds; the second begins with the velocities that the first left.
template <class Layout>
std::pair<network, drx::partitions<network, clients>> two_rounds() {
  drx::serial_executor executor;
  drx::single_rank one;
  drx::compiled<small_round<Layout>> round(executor, one);
  const auto place = [&](auto load, const std::vector<int>& axes) {
    return drx::place_sharded<clients>(one, 3, Layout::shards, load, axes);
  };
  const auto batches = place(batch_of, {});
  const auto [first, moved] =
      round(network_of(7), place(network_of, split_clients::axes_of_leaves<Layout>()), 0.1f, batches);
  const auto kept = moved.copy();
  const auto [second, last] = round(first, kept, 0.1f, batches);
  return {second, last.copy()};
}

}  // namespace

TEST_CASE("split_clients: networks in halves come to the same weights as whole ones") {
  const auto [whole, its_velocities] = two_rounds<split_clients::whole>();
  const auto [halves, velocities] = two_rounds<split_clients::in_halves>();
  for (std::int64_t i = 0; i < whole.w1.size; ++i) CHECK(halves.w1[i] == doctest::Approx(whole.w1[i]).epsilon(1e-5));
  for (std::int64_t i = 0; i < whole.w2.size; ++i) CHECK(halves.w2[i] == doctest::Approx(whole.w2[i]).epsilon(1e-5));
  CHECK(velocities.total() == 3);
  CHECK(velocities.local() == 6);
  for (int leaf = 0; leaf < 4; ++leaf)
    CHECK(velocities.split_axis(leaf) ==
          split_clients::axes_of_leaves<split_clients::in_halves>()[static_cast<std::size_t>(leaf)]);
  const auto* half =
      reinterpret_cast<const float*>(velocities.leaf(1));  // first bias: four numbers of a client, two at a shard
  for (std::int64_t client = 0; client < 3; ++client)
    for (std::int64_t i = 0; i < 4; ++i)
      CHECK(half[4 * client + i] == doctest::Approx(its_velocities[client].b1[i]).epsilon(1e-5));
}
