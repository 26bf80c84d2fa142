#include "partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <stdexcept>

#include "random.hpp"

namespace examples {
namespace {

using row_lists = std::vector<std::vector<std::size_t>>;

row_lists group(std::span<const int> keys) {
  row_lists groups(keys.empty() ? 0 : static_cast<std::size_t>(std::ranges::max(keys)) + 1);
  for (std::size_t i = 0; i < keys.size(); ++i) groups[static_cast<std::size_t>(keys[i])].push_back(i);
  return groups;
}

std::vector<double> dirichlet(random_stream& random, std::size_t n, double alpha) {
  std::vector<double> weights(n);
  for (auto& w : weights) w = random.log_gamma_variate(alpha);
  const double largest = std::ranges::max(weights);
  for (auto& w : weights) w = std::exp(w - largest);
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (auto& w : weights) w /= sum;
  return weights;
}

/// Cuts `rows` into consecutive stretches of the given weights; each row goes to exactly one client.
void deal(std::span<const std::size_t> rows, std::span<const double> weights, row_lists& clients) {
  double share = 0;
  std::size_t begin = 0;
  for (std::size_t c = 0; c < clients.size(); ++c) {
    share += weights[c];
    const auto cut = static_cast<std::size_t>(std::llround(share * static_cast<double>(rows.size())));
    const std::size_t end = c + 1 == clients.size() ? rows.size() : std::clamp(cut, begin, rows.size());
    const auto dealt = rows.subspan(begin, end - begin);
    clients[c].insert(clients[c].end(), dealt.begin(), dealt.end());
    begin = end;
  }
}

void give_each_client_a_row(row_lists& clients) {
  std::priority_queue<std::pair<std::size_t, std::size_t>> by_size;
  for (std::size_t c = 0; c < clients.size(); ++c) by_size.emplace(clients[c].size(), c);
  for (auto& client : clients) {
    if (!client.empty()) continue;
    const std::size_t donor = by_size.top().second;
    by_size.pop();
    client.push_back(clients[donor].back());
    clients[donor].pop_back();
    by_size.emplace(clients[donor].size(), donor);
  }
}

partition flatten(row_lists&& clients) {
  partition result;
  for (auto& rows : clients) {
    if (rows.empty()) continue;
    std::ranges::sort(rows);
    result.rows.insert(result.rows.end(), rows.begin(), rows.end());
    result.first.push_back(result.rows.size());
  }
  return result;
}

}  // namespace

partition partition_dirichlet(std::span<const int> labels, std::size_t clients, double alpha, std::uint64_t seed) {
  if (clients == 0 || clients > labels.size())
    throw std::invalid_argument(fmt::format("{} training rows cannot be split over {} clients: each needs at least one",
                                            labels.size(), clients));
  random_stream random(seed, purpose::partition);
  row_lists lists(clients);
  for (auto& rows : group(labels)) {
    random.shuffle(std::span(rows));
    deal(rows, dirichlet(random, clients, alpha), lists);
  }
  give_each_client_a_row(lists);
  return flatten(std::move(lists));
}

partition partition_by_client(std::span<const int> owner) { return flatten(group(owner)); }

std::vector<std::size_t> participants(std::size_t clients, double participation, std::uint64_t seed,
                                      std::uint64_t round) {
  std::vector<std::size_t> chosen(clients);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  const auto wanted = static_cast<std::size_t>(std::llround(participation * static_cast<double>(clients)));
  const std::size_t count = std::clamp<std::size_t>(wanted, 1, clients);
  if (count == clients) return chosen;
  random_stream random(seed, purpose::participants, {round});
  for (std::size_t i = 0; i < count; ++i) std::swap(chosen[i], chosen[i + random.below(clients - i)]);
  chosen.resize(count);
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace examples
