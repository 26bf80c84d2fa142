// bench/scaling/timed.hpp: the CPU time of a call outside of messages, its messages and bytes, as lines of JSON. Ranks
// may share cores: nobody waits in what is counted.
#pragma once

#include <drx/run.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <memory>
#include <span>
#include <string>

namespace scaling {

inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A communicator that passes everything on, and adds up its CPU time, messages and bytes.
class timed final : public drx::communicator {
 public:
  explicit timed(drx::communicator& to) : to_(to) {}
  double cpu = 0;
  [[nodiscard]] int rank() const override { return to_.rank(); }
  [[nodiscard]] int size() const override { return to_.size(); }
  void all_gather(std::byte* data, std::span<const std::int64_t> bytes, std::span<const std::int64_t> offset) override {
    time([&] { to_.all_gather(data, bytes, offset); });
  }
  void all_sum(float* data, std::int64_t n) override {
    time([&] { to_.all_sum(data, n); });
  }
  void all_sum(double* data, std::int64_t n) override {
    time([&] { to_.all_sum(data, n); });
  }
  void exchange(std::span<const drx::message> sent, std::span<const drx::message> received) override {
    time([&] { to_.exchange(sent, received); });
  }
  void require_equal(std::int64_t value, const char* what) override {
    time([&] { to_.require_equal(value, what); });
  }
  [[nodiscard]] std::unique_ptr<drx::communicator> split(int color) override { return to_.split(color); }
  [[nodiscard]] bool checks_calls() const override { return to_.checks_calls(); }
  [[nodiscard]] std::int64_t bytes_sent() const override { return to_.bytes_sent(); }
  [[nodiscard]] std::int64_t collectives() const override { return to_.collectives(); }

 private:
  template <class F>
  void time(F f) {
    const double start = cpu_seconds();
    f();
    cpu += cpu_seconds() - start;
  }
  drx::communicator& to_;
};

inline double largest(double x) {
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return x;
}

/// The cost of a call: the least CPU milliseconds of the busiest rank outside the communicator, wall milliseconds, and
/// counts.
template <class F>
void report(drx::session& s, timed& c, const std::string& what, std::int64_t each, int reps, F&& call,
            std::int64_t temporaries = 0) {
  call();
  double cpu = 1e30, wall = 1e30;
  const auto messages = c.collectives(), bytes = c.bytes_sent();
  for (int k = 0; k < reps; ++k) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double inside = c.cpu, start = cpu_seconds(), began = MPI_Wtime();
    call();
    cpu = std::min(cpu, largest(cpu_seconds() - start - (c.cpu - inside)));
    wall = std::min(wall, largest(MPI_Wtime() - began));
  }
  const auto sent = static_cast<std::int64_t>(largest(static_cast<double>((c.bytes_sent() - bytes) / reps)));
  if (s.root())
    std::printf(
        "{\"what\": \"%s\", \"ranks\": %d, \"each\": %lld, \"cpu_ms\": %.4f, \"wall_ms\": %.4f, \"collectives\": %lld, \"bytes\": %lld, \"temporaries\": %lld}\n",
        what.c_str(), s.ranks(), static_cast<long long>(each), 1e3 * cpu, 1e3 * wall,
        static_cast<long long>((c.collectives() - messages) / reps), static_cast<long long>(sent),
        static_cast<long long>(temporaries));
}

}  // namespace scaling
