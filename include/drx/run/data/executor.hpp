// drx/run/data/executor.hpp: the interfaces to the threads of a rank and to other ranks. Both are small on purpose;
// drx/backend/ has them on Kokkos and MPI.
#pragma once

#include <drx/config.hpp>
#include <drx/meta/hash.hpp>
#include <drx/plan/machine.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace drx {

/// The size of the blocks in which `members` members are computed if they are small. None straddles ranks.
constexpr std::int64_t members_in_block(std::int64_t members) {
  return members >= machine::least_members_in_large_blocks   ? 128
         : members >= machine::least_members_in_blocks       ? 32
         : members >= machine::least_members_in_blocks_of_16 ? 16
         : members >= machine::least_members_in_small_blocks ? 8
                                                             : 1;
}

/// The boundaries of the ranks' ranges: rank r has the members in [boundaries[r], boundaries[r+1]).
inline std::vector<std::int64_t> even_blocks(std::int64_t members, int ranks) {
  std::vector<std::int64_t> b(static_cast<std::size_t>(ranks) + 1);
  const std::int64_t unit = members_in_block(members);
  for (int r = 0; r < ranks; ++r) b[static_cast<std::size_t>(r)] = members / unit * r / ranks * unit;
  b.back() = members;
  return b;
}

/// Runs tasks on the threads of this rank.
class executor {
 public:
  virtual ~executor() = default;
  /// The number of tasks that run at once.
  [[nodiscard]] virtual int concurrency() const = 0;
  /// Calls task(context, i) for i in [0, tasks), in any order, and returns when all are done.
  virtual void run(int tasks, void (*task)(void* context, int i), void* context) = 0;
};

/// Runs tasks one after the other, on the caller's thread.
class serial_executor final : public executor {
 public:
  [[nodiscard]] int concurrency() const override { return 1; }
  void run(int tasks, void (*task)(void*, int), void* context) override {
    for (int i = 0; i < tasks; ++i) task(context, i);
  }
};

/// Memory that goes to another rank, or is filled by it.
struct message {
  int rank;
  std::byte* data;
  std::int64_t bytes;
};

/// The collectives that a program needs. Each rank calls them in the order of the program.
class communicator {
 public:
  virtual ~communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// Gathers blocks of bytes in place: block r lies at offset[r] and is filled by rank r.
  virtual void all_gather(std::byte* data, std::span<const std::int64_t> bytes,
                          std::span<const std::int64_t> offset) = 0;
  /// Sums n numbers over ranks in place, in any order.
  virtual void all_sum(float* data, std::int64_t n) = 0;
  virtual void all_sum(double* data, std::int64_t n) = 0;
  /// Sends messages to other ranks and receives theirs; those between two ranks are matched in the order of the lists,
  /// and have equal sizes.
  virtual void exchange(std::span<const message> sent, std::span<const message> received) = 0;
  /// Fails on all ranks, with a sentence that names them, if `value` differs between them.
  virtual void require_equal(std::int64_t value, const char* what) = 0;
  /// The same for a text.
  virtual void require_same(std::string_view text) {
    require_equal(static_cast<std::int64_t>(meta::hash(text)), "a hash of what the ranks do");
  }
  /// Whether `value` is the same everywhere. May fail on all ranks instead, as require_equal does; it does if `what`
  /// differs.
  [[nodiscard]] virtual bool all_equal(std::int64_t value, const char* what) {
    require_equal(value, what);
    return true;
  }
  /// A communicator of the ranks that give the same color, in their order here. All ranks call this.
  [[nodiscard]] virtual std::unique_ptr<communicator> split(int color) = 0;
  /// Whether ranks compare the members at each call of a program.
  [[nodiscard]] virtual bool checks_calls() const { return true; }
  /// Whether ranks compare the unplaced arguments at each call, and not only at a few calls.
  [[nodiscard]] virtual bool checks_arguments() const { return false; }
  /// The bytes that this rank has sent so far.
  [[nodiscard]] virtual std::int64_t bytes_sent() const = 0;
  /// The number of collectives and exchanges that this rank has taken part in so far.
  [[nodiscard]] virtual std::int64_t collectives() const = 0;
};

/// The communicator of a process alone.
class single_rank final : public communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void all_gather(std::byte*, std::span<const std::int64_t>, std::span<const std::int64_t>) override {}
  void all_sum(float*, std::int64_t) override {}
  void all_sum(double*, std::int64_t) override {}
  void exchange(std::span<const message>, std::span<const message>) override {}
  void require_equal(std::int64_t, const char*) override {}
  [[nodiscard]] std::unique_ptr<communicator> split(int) override { return std::make_unique<single_rank>(); }
  [[nodiscard]] std::int64_t bytes_sent() const override { return 0; }
  [[nodiscard]] std::int64_t collectives() const override { return 0; }
};

}  // namespace drx
