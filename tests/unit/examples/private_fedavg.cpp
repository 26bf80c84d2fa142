// What private_fedavg promises before any accountant: one client changes the sum by at most the limit, the noise has
// the deviation that the accountant is told, and clients are drawn one by one.
#include <doctest/doctest.h>

#include <cmath>
#include <drx/run/check/interpreter.hpp>
#include <examples/private_fedavg/private_fedavg.hpp>
#include <limits>
#include <vector>

namespace {

using namespace examples;
namespace interpreter = drx::interpreter;

constexpr shape small{.features = 5, .hidden = 3, .classes = 3};
using network = mlp<small>;
using small_row = labelled_row<small>;
using rows_of_clients = std::vector<std::vector<small_row>>;
template <int Noise>
using small_round = drx::program<private_fedavg::numbered_round<Noise>, network, private_fedavg::round_rates,
                                 private_fedavg::round_sampling, std::int64_t, std::int32_t,
                                 drx::placed<drx::placed<small_row, rows>, clients>>;

std::vector<double> numbers(const network& n) {
  std::vector<double> all;
  const auto add = [&](const auto& leaf) { all.insert(all.end(), leaf.data(), leaf.data() + leaf.size); };
  add(n.w1), add(n.b1), add(n.w2), add(n.b2);
  return all;
}
double norm_of_difference(const network& a, const network& b) {
  const auto x = numbers(a), y = numbers(b);
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
  return std::sqrt(squares);
}
rows_of_clients data_of(std::size_t members, float last = 1) {
  rows_of_clients all(members);
  for (std::size_t c = 0; c < members; ++c)
    for (int r = 0; r < 2; ++r) {
      small_row row;
      for (int i = 0; i < small.features; ++i)
        row.x.data()[i] =
            static_cast<float>(std::sin(static_cast<double>(c) + 2 * r + i)) * (c + 1 == members ? last : 1.f);
      *row.y.data() = static_cast<std::int32_t>((c + static_cast<std::size_t>(r)) % small.classes);
      all[c].push_back(row);
    }
  return all;
}
/// A round from the network of zeros, with server rate 1 and one expected client: the sum of the changes.
template <int Noise>
network sum_of_changes(const rows_of_clients& data, float rate, double probability, std::int64_t seed, int number) {
  return interpreter::call<small_round<Noise>>(network{}, private_fedavg::round_rates{rate, 1.f},
                                               private_fedavg::round_sampling{probability, 1.f}, seed, number, data);
}
constexpr double limit = private_fedavg::limit;

}  // namespace

TEST_CASE("private_fedavg: one client more or less changes the sum by at most the limit") {
  for (const float rate : {0.01f, 1.f, 30.f}) {
    const auto all = sum_of_changes<0>(data_of(3), rate, 1, 7, 1);
    auto data = data_of(3);
    data.pop_back();
    const double moved = norm_of_difference(all, sum_of_changes<0>(data, rate, 1, 7, 1));
    CHECK(moved <= limit * (1 + 1e-5));
    CHECK(moved > 0);
    if (rate > 1) CHECK(moved == doctest::Approx(limit).epsilon(1e-4));  // a large change is clipped, not left out
  }
}

TEST_CASE("private_fedavg: a client whose change is not finite counts as none") {
  auto two = data_of(3);
  two.pop_back();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    CHECK(norm_of_difference(sum_of_changes<0>(data_of(3, bad), 1, 1, 7, 1), sum_of_changes<0>(two, 1, 1, 7, 1)) == 0);
}

TEST_CASE("private_fedavg: the noise in the sum has the multiplier's deviation, and is new in each round") {
  const auto data = data_of(2);
  const auto deviation = [&]<int Noise>(std::integral_constant<int, Noise>) {
    double sum = 0, squares = 0, count = 0;
    for (int round = 1; round <= 200; ++round)
      for (const double v : numbers(sum_of_changes<Noise>(data, 0, 1, 11, round))) sum += v, squares += v * v, ++count;
    CHECK(count == 200 * 30);
    CHECK(std::abs(sum / count) < 5 * Noise * limit / std::sqrt(count));
    return std::sqrt(squares / count);
  };
  // the deviation of 6000 numbers is right to 1 / sqrt(12000): five such errors
  CHECK(deviation(std::integral_constant<int, 1>{}) == doctest::Approx(1 * limit).epsilon(0.045));
  CHECK(deviation(std::integral_constant<int, 2>{}) == doctest::Approx(2 * limit).epsilon(0.045));
  const auto of = [&](std::int64_t seed, int round) { return numbers(sum_of_changes<1>(data, 0, 1, seed, round)); };
  CHECK(of(11, 1) == of(11, 1));
  CHECK(of(11, 1) != of(11, 2));
  CHECK(of(11, 1) != of(12, 1));
}

TEST_CASE("private_fedavg: clients are drawn each for itself, with the probability given") {
  constexpr auto draw = [](auto seed, auto number, auto p, auto zeros) {
    auto drawn = private_fedavg::draw_clients(drx::fold_in(drx::random_key(seed), number), p);
    return drx::map([](auto d, auto zero) { return drx::where(d, 1, zero); }, drawn, zeros);
  };
  using program = drx::program<draw, std::int64_t, std::int32_t, double, drx::placed<double, clients>>;
  double drawn = 0, both = 0, again = 0, before = 0;
  constexpr int members = 20, rounds = 500;
  for (std::int32_t round = 0; round < rounds; ++round) {
    const auto who = interpreter::call<program>(std::int64_t{3}, round, 0.25, std::vector<double>(members));
    for (const double d : who) drawn += d;
    both += who[0] * who[1];
    again += who[0] * before;
    before = who[0];
  }
  constexpr double n = members * rounds;
  CHECK(std::abs(drawn / n - 0.25) < 5 * std::sqrt(0.25 * 0.75 / n));
  for (const double pairs : {both, again})
    CHECK(std::abs(pairs / rounds - 0.0625) < 5 * std::sqrt(0.0625 * 0.9375 / rounds));
}
