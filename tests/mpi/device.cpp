// ranks: 1 2 3
// threads: 2
// Programs whose stages run on a device by Kokkos, here the host's threads as teams: the same bits on any number of
// ranks, teams and lanes, and close to the host's executor.
#include <drx/device.hpp>

#include "harness/call.hpp"
#include "harness/difference.hpp"
#include "harness/random_tensor.hpp"
#include "harness/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace {
struct clients : drx::placement<clients> {};
using model = std::pair<drx::array<float, 6, 4>, drx::array<float, 4>>;
using data = std::pair<drx::array<float, 8, 6>, drx::array<float, 8, 4>>;

constexpr auto loss = [](auto m, auto d) {
  const auto h = drx::tanh(drx::matmul(d.first, m.first) + m.second);
  return drx::mean(drx::square(h - d.second));
};
constexpr auto step = [](auto m, auto d) {  // three local steps, and the loss before them
  const auto last = drx::fori_loop<3>(m, [=](auto w) { return w - 0.1 * drx::grad(loss)(w, d); });
  return std::pair{last, loss(m, d)};
};
constexpr auto round = [](auto m, auto d) {
  auto [models, losses] = drx::map(step, drx::broadcast<clients>(m), d);
  return std::tuple{drx::reduce_mean(models), drx::reduce_mean(losses), losses};
};
using Round = drx::program<round, model, drx::placed<data, clients>>;
using device = drx::kokkos_device<Kokkos::DefaultHostExecutionSpace>;

harness::tensors inputs(std::int64_t members) {
  std::mt19937_64 r(7);
  const drx::tape t = Round::tape().thaw();
  harness::tensors in;
  for (int i : t.inputs) in.push_back(harness::random_tensor(t.values[i], {.members = members}, r));
  return in;
}
}  // namespace

TEST_CASE("a round of federated averaging on a device") {
  drx::communicator& c = harness::session().communicator();
  drx::single_rank alone;
  device d, pairs(std::min(2, Kokkos::DefaultHostExecutionSpace().concurrency())), few(1, 3);
  auto p = drx::compile_on<Round>(d, harness::session());
  auto q = drx::compile_on<Round>(pairs, harness::session());
  auto one = drx::compile_on<Round>(few, harness::session().executor(), alone);
  drx::compiled<Round> host(harness::session().executor(), alone);
  for (const std::int64_t n : {0, 1, 2, 7, 40, 300}) {
    CAPTURE(n);
    const harness::tensors in = inputs(n);
    const harness::tensors whole = harness::call(one, alone, in), expected = harness::call(host, alone, in);
    for (std::size_t i = 0; i < whole.size(); ++i)
      CHECK(harness::largest_difference(whole[i], expected[i], harness::relative_to::largest) <= 1e-5);
    const auto check = [&](const harness::tensors& got) {
      for (std::size_t i = 0; i + 1 < whole.size(); ++i) CHECK(harness::same_bits(got[i], whole[i]));
    };
    check(harness::call(p, c, in));
    check(harness::call(q, c, in));
    check(harness::call(q, c, in));
  }
}

TEST_CASE("members that the device keeps are read there") {
  device d;
  auto p = drx::compile_on<Round>(d, harness::session());
  auto clients_here = harness::session().place<clients>(9, [](std::int64_t member) {
    const auto i = static_cast<float>(member);
    data x;
    for (int k = 0; k < 8 * 6; ++k) x.first.data()[k] = std::sin(i + static_cast<float>(k));
    for (int k = 0; k < 8 * 4; ++k) x.second.data()[k] = std::cos(i * static_cast<float>(k));
    return x;
  });
  model m{};
  const auto mean_of = [&] { return std::get<1>(p(m, clients_here)); };
  const float before = mean_of();
  {
    const auto kept = d.keep(clients_here);
    CHECK(mean_of() == before);
    std::byte* const leaf = clients_here.leaf(1);  // the host's copy changes, the device's does not
    std::vector<std::byte> saved(leaf, leaf + clients_here.elements() * static_cast<std::int64_t>(sizeof(float)) * 32);
    std::fill(leaf, leaf + saved.size(), std::byte{});
    CHECK(mean_of() == before);
    std::copy(saved.begin(), saved.end(), leaf);
  }
  CHECK(mean_of() == before);
}

TEST_CASE("a device refuses teams that are too large") {
  CHECK_THROWS_WITH_AS(device(100000), doctest::Contains("100000 lanes"), std::invalid_argument);
}
