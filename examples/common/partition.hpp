// common/partition.hpp: the rows of each client, and the clients of each round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace examples {

/// The rows of each client; every row belongs to exactly one client, and no client is without rows.
struct partition {
  std::vector<std::size_t> first{0};  ///< client c holds rows[first[c] .. first[c + 1])
  std::vector<std::size_t> rows;

  [[nodiscard]] std::size_t clients() const { return first.size() - 1; }
  [[nodiscard]] std::span<const std::size_t> rows_of(std::size_t client) const {
    return std::span(rows).subspan(first[client], first[client + 1] - first[client]);
  }
};

/// Label skew: each label's rows are dealt to the clients in proportions drawn from a symmetric Dirichlet
/// distribution (Hsu, Qi and Brown 2019). Small alpha: few labels per client; large alpha: all clients alike.
/// A client left with nothing gets one row of the largest client.
[[nodiscard]] partition partition_dirichlet(std::span<const int> labels, std::size_t clients, double alpha,
                                            std::uint64_t seed);

/// One client per owner with rows, by ascending owner number.
[[nodiscard]] partition partition_by_client(std::span<const int> owner);

/// The clients of one round, ascending: the nearest whole number to participation x clients, at least one.
[[nodiscard]] std::vector<std::size_t> participants(std::size_t clients, double participation, std::uint64_t seed,
                                                    std::uint64_t round);

}  // namespace examples
