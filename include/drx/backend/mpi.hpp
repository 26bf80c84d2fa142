// drx/backend/mpi.hpp: the collectives on MPI. Waiting ranks look out for ranks that have left, and say when they wait
// for long, so that ranks that disagree end in a message and not in silence.
#pragma once

#include <drx/meta/hash.hpp>
#include <drx/run/executor.hpp>

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace drx {

/// The collectives by MPI. Waiting is by polling, so that a rank that has left is noticed, and a long wait reported.
class mpi_communicator final : public communicator {
 public:
  /// Talks on duplicates of `parent`, so that its messages never meet the application's.
  explicit mpi_communicator(MPI_Comm parent) {
    check(MPI_Comm_dup(parent, &data_), "MPI_Comm_dup");
    check(MPI_Comm_dup(parent, &control_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(control_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(data_, &rank_);
    MPI_Comm_size(data_, &size_);
    if (const char* s = std::getenv("DRX_CHECK")) {
      checked_ = std::string_view(s) != "0";
      checks_calls_ = checked_;
    }
    if (const char* s = std::getenv("DRX_STALL_WARN_S")) warn_after_ = std::max(0.1, std::atof(s));
  }
  /// Those of `parent`'s ranks that give the same color. Their messages count as the parent's, whose ranks leave it.
  mpi_communicator(mpi_communicator& parent, int color) : control_(parent.control_), parent_(&parent), checked_(parent.checked_), warn_after_(parent.warn_after_), chunk_(parent.chunk_) {
    check(MPI_Comm_split(parent.data_, color, parent.rank_, &data_), "MPI_Comm_split");
    MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(data_, &rank_);
    MPI_Comm_size(data_, &size_);
  }
  mpi_communicator(const mpi_communicator&) = delete;
  mpi_communicator& operator=(const mpi_communicator&) = delete;
  ~mpi_communicator() override {
    MPI_Comm_free(&data_);
    if (!parent_) MPI_Comm_free(&control_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::int64_t bytes_sent() const override { return bytes_sent_; }
  [[nodiscard]] std::int64_t collectives() const override { return collectives_; }
  [[nodiscard]] bool checks_calls() const override { return checks_calls_; }
  [[nodiscard]] MPI_Comm comm() const { return data_; }

  void all_gather(std::byte* data, std::span<const std::int64_t> bytes, std::span<const std::int64_t> offset) override {
    if (size_ == 1) return;
    std::int64_t total = 0;
    for (auto b : bytes) total += b;
    announce("all_gather", total);
    count(bytes[static_cast<std::size_t>(rank_)]);
    counts_.resize(static_cast<std::size_t>(size_));
    starts_.resize(static_cast<std::size_t>(size_));
    // In the largest units in which all blocks are whole, since a count is an int.
    std::int64_t odd = 0;
    for (std::size_t r = 0; r < bytes.size(); ++r) odd |= bytes[r] | offset[r];
    const std::int64_t unit = odd % 8 == 0 ? 8 : odd % 4 == 0 ? 4 : 1;
    const MPI_Datatype type = unit == 8 ? MPI_INT64_T : unit == 4 ? MPI_INT32_T : MPI_BYTE;
    if (total / unit <= chunk_) {
      for (int r = 0; r < size_; ++r) {
        counts_[static_cast<std::size_t>(r)] = static_cast<int>(bytes[static_cast<std::size_t>(r)] / unit);
        starts_[static_cast<std::size_t>(r)] = static_cast<int>(offset[static_cast<std::size_t>(r)] / unit);
      }
      MPI_Request request;
      check(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts_.data(), starts_.data(), type, data_, &request), "MPI_Iallgatherv");
      wait(request, "all_gather", total);
      return;
    }
    for (int r = 0; r < size_; ++r) {  // more than an int counts: block by block, piece by piece
      const std::int64_t units = bytes[static_cast<std::size_t>(r)] / unit;
      for (std::int64_t at = 0; at < units; at += chunk_) {
        MPI_Request request;
        check(MPI_Ibcast(data + offset[static_cast<std::size_t>(r)] + at * unit, static_cast<int>(std::min(chunk_, units - at)), type, r, data_, &request),
              "MPI_Ibcast");
        wait(request, "all_gather", total);
      }
    }
  }
  [[nodiscard]] std::unique_ptr<communicator> split(int color) override { return std::make_unique<mpi_communicator>(*this, color); }
  void all_sum(float* data, std::int64_t n) override { sum(data, n, MPI_FLOAT); }
  void all_sum(double* data, std::int64_t n) override { sum(data, n, MPI_DOUBLE); }

  void exchange(std::span<const message> sent, std::span<const message> received) override {
    std::int64_t total = 0;
    for (const message& m : sent) total += m.bytes;
    announce("exchange", 0);
    count(total);
    requests_.clear();
    const auto start = [&](const message& m, auto begin) {
      for (std::int64_t at = 0; at < m.bytes; at += chunk_) {
        requests_.push_back(MPI_REQUEST_NULL);
        begin(m.data + at, static_cast<int>(std::min(chunk_, m.bytes - at)), m.rank, &requests_.back());
      }
    };
    for (const message& m : received)
      start(m, [&](std::byte* data, int n, int from, MPI_Request* r) { check(MPI_Irecv(data, n, MPI_BYTE, from, 0, data_, r), "MPI_Irecv"); });
    for (const message& m : sent)
      start(m, [&](std::byte* data, int n, int to, MPI_Request* r) { check(MPI_Isend(data, n, MPI_BYTE, to, 0, data_, r), "MPI_Isend"); });
    wait(requests_, "exchange", total);
  }

  void require_equal(std::int64_t value, const char* what) override {
    if (size_ == 1) return;
    const auto id = static_cast<std::int64_t>(meta::hash(what) >> 2);
    std::int64_t both[4] = {value, -value, id, -id};
    MPI_Request request;
    check(MPI_Iallreduce(MPI_IN_PLACE, both, 4, MPI_INT64_T, MPI_MAX, data_, &request), "MPI_Iallreduce");
    wait(request, what, 32);
    if (both[0] == -both[1] && both[2] == -both[3]) return;
    std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
    std::vector<char> text(static_cast<std::size_t>(size_) * label), mine(label, '\0');
    std::string_view(what).copy(mine.data(), label - 1);
    check(MPI_Allgather(&value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, data_), "MPI_Allgather");
    check(MPI_Allgather(mine.data(), label, MPI_CHAR, text.data(), label, MPI_CHAR, data_), "MPI_Allgather");
    std::string message = "the ranks disagree:";
    for (int r = 0; r < size_; ++r)
      message += (r ? "; rank " : " rank ") + std::to_string(r) + ": " + &text[static_cast<std::size_t>(r) * label] + " is " +
                 std::to_string(values[static_cast<std::size_t>(r)]);
    throw std::runtime_error(message);
  }

  /// Tells the other ranks that this one will take part in nothing any more.
  void leave() {
    if (size_ == 1) return;
    std::vector<MPI_Request> requests(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
    char bye = 0;
    for (int r = 0; r < size_; ++r)
      if (r != rank_) MPI_Isend(&bye, 1, MPI_CHAR, r, 0, control_, &requests[static_cast<std::size_t>(r)]);
    for (int r = 0; r < size_; ++r)
      if (r != rank_) MPI_Recv(&bye, 1, MPI_CHAR, r, 0, control_, MPI_STATUS_IGNORE);
    MPI_Waitall(size_, requests.data(), MPI_STATUSES_IGNORE);
  }

  /// The largest count that goes into one MPI call; smaller in tests.
  void set_chunk(std::int64_t elements) { chunk_ = elements; }

 private:
  static constexpr int label = 96;

  template <class T>
  void sum(T* data, std::int64_t n, MPI_Datatype type) {
    if (size_ == 1) return;
    const auto bytes = n * static_cast<std::int64_t>(sizeof(T));
    announce("all_sum", bytes);
    count(bytes);
    for (std::int64_t at = 0; at < n; at += chunk_) {
      MPI_Request request;
      check(MPI_Iallreduce(MPI_IN_PLACE, data + at, static_cast<int>(std::min(chunk_, n - at)), type, MPI_SUM, data_, &request),
            "MPI_Iallreduce");
      wait(request, "all_sum", bytes);
    }
  }
  void count(std::int64_t bytes) {
    ++collectives_;
    bytes_sent_ += bytes;
    if (parent_) parent_->count(bytes);
  }
  /// With DRX_CHECK=1 the ranks compare what they are about to do before each collective; with DRX_CHECK=0 not even the
  /// numbers of members at each call.
  void announce(const char* what, std::int64_t bytes) {
    ++sequence_;
    if (checked_) require_equal(bytes ^ (sequence_ << 40), what);
  }
  void wait(MPI_Request& request, const char* what, std::int64_t bytes) { wait(std::span(&request, 1), what, bytes); }
  void wait(std::span<MPI_Request> requests, const char* what, std::int64_t bytes) {
    const double start = MPI_Wtime();
    double warn = warn_after_;
    for (int done = 0, spins = 0;; ++spins) {
      check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
      if (done) return;
      if (spins % 1024 != 1023) continue;
      const double waited = MPI_Wtime() - start;
      if (waited < 1) continue;
      int gone = 0;
      MPI_Status status;
      MPI_Iprobe(MPI_ANY_SOURCE, 0, control_, &gone, &status);
      if (gone)
        throw std::runtime_error("rank " + std::to_string(status.MPI_SOURCE) + " has ended while rank " + std::to_string(rank_) +
                                 " waits for it in " + what + " of " + std::to_string(bytes) + " bytes");
      if (waited > warn) {
        std::fprintf(stderr, "drx: rank %d has waited %.0f s in %s of %lld bytes (collective %lld)\n", rank_, waited, what,
                     static_cast<long long>(bytes), static_cast<long long>(collectives_));
        warn *= 2;
      }
    }
  }
  static void check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int n = 0;
    MPI_Error_string(code, text, &n);
    throw std::runtime_error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(n)));
  }

  MPI_Comm data_ = MPI_COMM_NULL, control_ = MPI_COMM_NULL;
  mpi_communicator* parent_ = nullptr;
  int rank_ = 0, size_ = 1;
  bool checked_ = false, checks_calls_ = true;
  double warn_after_ = 60;
  std::int64_t chunk_ = std::int64_t{1} << 28;
  std::int64_t sequence_ = 0, collectives_ = 0, bytes_sent_ = 0;
  std::vector<int> counts_, starts_;
  std::vector<MPI_Request> requests_;
};

}  // namespace drx
