// drx/run/data/rows_of_ranks.hpp: unplaced work that ranks divide among each other, by rows of its result. All ranks
// reach it in the same order, as they reach stages.
// Tested by tests/mpi/divided_products.cpp.
#pragma once

#include <drx/run/data/frame.hpp>
#include <drx/run/data/runtime.hpp>

#include <cstddef>
#include <cstdint>

namespace drx::run {

/// The ranks that may divide unplaced work: one where an engine takes their place.
inline int ranks_of(const frame& f) {
  const runtime& rt = *static_cast<const runtime*>(f.runtime);
  return rt.engine ? 1 : rt.communicator->size();
}

/// Even shares of rows for the first `parts` ranks; none for others. One part is every rank's: each computes all rows.
class rows_of_ranks {
 public:
  rows_of_ranks(const frame& f, std::int64_t rows, std::int64_t parts)
      : rt_(*static_cast<runtime*>(f.runtime)),
        rows_(rows),
        parts_(parts),
        rank_(parts > 1 ? rt_.communicator->rank() : 0) {}

  /// The first row of this rank, and the one after its last.
  [[nodiscard]] std::int64_t first() const { return begin_of(rank_); }
  [[nodiscard]] std::int64_t end() const { return begin_of(rank_ + 1); }

  /// Gathers the rows at `data` in place.
  void gather(std::byte* data, std::int64_t bytes_of_row) const {
    if (parts_ == 1) return;
    for (std::size_t r = 0; r < rt_.bytes.size(); ++r) {
      const std::int64_t begin = begin_of(static_cast<std::int64_t>(r));
      rt_.offsets[r] = begin * bytes_of_row;
      rt_.bytes[r] = (begin_of(static_cast<std::int64_t>(r) + 1) - begin) * bytes_of_row;
    }
    rt_.communicator->all_gather(data, rt_.bytes, rt_.offsets);
  }

 private:
  [[nodiscard]] std::int64_t begin_of(std::int64_t rank) const {
    return rows_ * (rank < parts_ ? rank : parts_) / parts_;
  }

  runtime& rt_;
  std::int64_t rows_, parts_, rank_;
};

}  // namespace drx::run
