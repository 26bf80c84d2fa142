#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <examples/common/partition.hpp>
#include <examples/common/random.hpp>
#include <numeric>
#include <set>
#include <stdexcept>

namespace {

std::vector<int> cyclic_labels(std::size_t rows, int classes) {
  std::vector<int> labels(rows);
  for (std::size_t i = 0; i < rows; ++i) labels[i] = static_cast<int>(i % static_cast<std::size_t>(classes));
  return labels;
}

bool each_row_once(const examples::partition& parts, std::size_t rows) {
  std::vector<std::size_t> sorted = parts.rows, expected(rows);
  std::ranges::sort(sorted);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  return sorted == expected;
}

bool no_client_empty(const examples::partition& parts) {
  for (std::size_t c = 0; c < parts.clients(); ++c)
    if (parts.rows_of(c).empty()) return false;
  return true;
}

/// The mean number of different labels that a client holds.
double labels_per_client(const examples::partition& parts, const std::vector<int>& labels) {
  std::size_t sum = 0;
  for (std::size_t c = 0; c < parts.clients(); ++c) {
    std::set<int> held;
    for (const auto row : parts.rows_of(c)) held.insert(labels[row]);
    sum += held.size();
  }
  return static_cast<double>(sum) / static_cast<double>(parts.clients());
}

}  // namespace

TEST_CASE("examples: the Dirichlet split deals every row once and leaves no client empty") {
  const auto labels = cyclic_labels(1437, 10);
  for (const double alpha : {1e-3, 0.1, 1.0, 1e6})
    for (const std::size_t clients : {1u, 2u, 100u, 1437u}) {
      const auto parts = examples::partition_dirichlet(labels, clients, alpha, 3);
      CHECK(parts.clients() == clients);
      CHECK(each_row_once(parts, labels.size()));
      CHECK(no_client_empty(parts));
    }
}

TEST_CASE("examples: alpha decides how many labels a client sees") {
  const auto labels = cyclic_labels(10'000, 10);
  CHECK(labels_per_client(examples::partition_dirichlet(labels, 100, 0.01, 1), labels) < 2);
  CHECK(labels_per_client(examples::partition_dirichlet(labels, 100, 1000, 1), labels) > 9.9);
}

TEST_CASE("examples: splits follow the seed") {
  const auto labels = cyclic_labels(500, 5);
  const auto rows = [&](std::uint64_t seed) { return examples::partition_dirichlet(labels, 20, 0.5, seed).first; };
  CHECK(rows(1) == rows(1));
  CHECK(rows(1) != rows(2));
}

TEST_CASE("examples: too many clients are refused") {
  CHECK_THROWS_WITH_AS(static_cast<void>(examples::partition_dirichlet(std::vector{0, 1}, 3, 1, 1)),
                       "2 training rows cannot be split over 3 clients: each needs at least one",
                       std::invalid_argument);
}

TEST_CASE("examples: owners without rows are no clients") {
  const auto parts = examples::partition_by_client(std::vector{2, 0, 2, 5});
  CHECK(parts.first == std::vector<std::size_t>{0, 1, 3, 4});
  CHECK(parts.rows == std::vector<std::size_t>{1, 0, 2, 3});
}

TEST_CASE("examples: participants are distinct, change with the round, and are at least one") {
  const auto chosen = examples::participants(100, 0.2, 1, 1);
  CHECK(chosen.size() == 20);
  CHECK(std::ranges::is_sorted(chosen));
  CHECK(std::ranges::adjacent_find(chosen) == chosen.end());
  CHECK(chosen.back() < 100);
  CHECK(chosen == examples::participants(100, 0.2, 1, 1));
  CHECK(chosen != examples::participants(100, 0.2, 1, 2));
  CHECK(examples::participants(100, 1e-6, 1, 1).size() == 1);
  CHECK(examples::participants(3, 1, 1, 1) == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("examples: the portable distributions have the right moments") {
  examples::random_stream random(1, examples::purpose::weights);
  const int n = 100'000;
  double normal = 0, square = 0, gamma = 0, small_gamma = 0;
  std::vector<int> dice(6);
  for (int i = 0; i < n; ++i) {
    const double z = random.normal();
    normal += z / n;
    square += z * z / n;
    gamma += std::exp(random.log_gamma_variate(2.5)) / n;
    small_gamma += std::exp(random.log_gamma_variate(0.3)) / n;
    ++dice[random.below(6)];
  }
  CHECK(std::abs(normal) < 0.02);
  CHECK(std::abs(square - 1) < 0.02);
  CHECK(std::abs(gamma - 2.5) < 0.03);
  CHECK(std::abs(small_gamma - 0.3) < 0.01);
  for (const int count : dice) CHECK(std::abs(count - n / 6) < 500);
}

TEST_CASE("examples: draws are the same with every compiler and standard library") {
  using list = std::vector<std::size_t>;
  CHECK(examples::participants(1000, 0.005, 1, 2) == list{29, 151, 307, 389, 428});
  CHECK(examples::partition_dirichlet(std::vector<int>(1000), 8, 0.3, 1).first ==
        list{0, 11, 804, 826, 829, 876, 877, 885, 1000});
}
