// drx/backend/mpi.hpp: the collectives on MPI. Waiting ranks look for ranks that have left, and report long waits, so
// that ranks that disagree end with a message and not in silence.
#pragma once

#include <drx/backend/environment.hpp>
#include <drx/backend/mpi_departures.hpp>
#include <drx/meta/hash.hpp>
#include <drx/run/data/executor.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace drx {

/// The collectives by MPI. Ranks wait by polling, so that a rank that has left is noticed and a long wait is reported.
/// The communicator ends when those of the other ranks do; when an exception unwinds it, it does not wait for them, but
/// tells them.
class mpi_communicator final : public communicator {
 public:
  /// Uses duplicates of `parent`, so that its messages never meet the application's. All ranks of `parent` make one, on
  /// the thread that started MPI.
  explicit mpi_communicator(MPI_Comm parent) {
    if (parent == MPI_COMM_NULL) throw std::invalid_argument("drx::session: this rank is not in the communicator");
    int main = 0, level = MPI_THREAD_SINGLE;
    MPI_Is_thread_main(&main);
    MPI_Query_thread(&level);
    any_thread_ = level >= MPI_THREAD_SERIALIZED;
    if (!main && !any_thread_)
      throw std::logic_error("drx::session: made on another thread than the one that started MPI");
    departures_ = mpi_departures::among(parent);
    take(MPI_Comm_dup(parent, &data_), "MPI_Comm_dup");
    read_environment();
    departures_->warn_after(environment_.warn_after);
  }
  /// A communicator of those of `parent`'s ranks that give the same color. Its messages count as the parent's, and its
  /// ranks leave with the parent.
  mpi_communicator(mpi_communicator& parent, int color)
      : departures_(parent.departures_), parent_(&parent), environment_(parent.environment_), chunk_(parent.chunk_) {
    take(MPI_Comm_split(parent.data_, color, parent.rank_, &data_), "MPI_Comm_split");
  }
  mpi_communicator(const mpi_communicator&) = delete;
  mpi_communicator& operator=(const mpi_communicator&) = delete;
  ~mpi_communicator() override {
    if (!mpi_runs()) return;
    const bool at_once = size_ > 1 && (std::uncaught_exceptions() > exceptions_ || !departures_->given_up().empty());
    if (!parent_) at_once ? departures_->leave_now() : departures_->leave();
    if (!at_once) MPI_Comm_free(&data_);  // (others may be in the middle of a message)
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::int64_t bytes_sent() const override { return bytes_sent_; }
  [[nodiscard]] std::int64_t collectives() const override { return collectives_; }
  [[nodiscard]] bool checks_calls() const override { return environment_.compares_calls; }
  [[nodiscard]] bool checks_arguments() const override { return environment_.compares_messages; }
  [[nodiscard]] MPI_Comm comm() const { return data_; }

  void all_gather(std::byte* data, std::span<const std::int64_t> bytes, std::span<const std::int64_t> offset) override {
    if (size_ == 1) return;
    const turn mine(*this);
    const std::int64_t total = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
    announce("all_gather", bytes);
    count(bytes[static_cast<std::size_t>(rank_)]);
    counts_.resize(static_cast<std::size_t>(size_));
    starts_.resize(static_cast<std::size_t>(size_));
    // Counts are in the largest unit that divides all blocks, since a count is an int.
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
      check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, counts_.data(), starts_.data(), type, data_,
                                &request),
                "MPI_Iallgatherv");
      wait(request, "all_gather", total);
      return;
    }
    for (int r = 0; r < size_; ++r) {  // too large for an int: block by block, piece by piece
      const std::int64_t units = bytes[static_cast<std::size_t>(r)] / unit;
      for (std::int64_t at = 0; at < units; at += chunk_) {
        MPI_Request request;
        check_mpi(MPI_Ibcast(data + offset[static_cast<std::size_t>(r)] + at * unit,
                             static_cast<int>(std::min(chunk_, units - at)), type, r, data_, &request),
                  "MPI_Ibcast");
        wait(request, "all_gather", total);
      }
    }
  }
  [[nodiscard]] std::unique_ptr<communicator> split(int color) override {
    const turn mine(*this);
    return std::make_unique<mpi_communicator>(*this, color);
  }
  void all_sum(float* data, std::int64_t n) override { sum(data, n, MPI_FLOAT); }
  void all_sum(double* data, std::int64_t n) override { sum(data, n, MPI_DOUBLE); }

  void exchange(std::span<const message> sent, std::span<const message> received) override {
    if (size_ == 1) return;
    const turn mine(*this);
    std::int64_t total = 0;
    for (const message& m : sent) total += m.bytes;
    announce("exchange", {});
    if (environment_.compares_messages) compare_messages(sent, received);
    count(total);
    requests_.clear();
    const auto start = [&](const message& m, auto begin) {
      for (std::int64_t at = 0; at < m.bytes; at += chunk_) {
        requests_.push_back(MPI_REQUEST_NULL);
        begin(m.data + at, static_cast<int>(std::min(chunk_, m.bytes - at)), m.rank, &requests_.back());
      }
    };
    for (const message& m : received)
      start(m, [&](std::byte* data, int n, int from, MPI_Request* r) {
        check_mpi(MPI_Irecv(data, n, MPI_BYTE, from, 0, data_, r), "MPI_Irecv");
      });
    for (const message& m : sent)
      start(m, [&](std::byte* data, int n, int to, MPI_Request* r) {
        check_mpi(MPI_Isend(data, n, MPI_BYTE, to, 0, data_, r), "MPI_Isend");
      });
    wait(requests_, "exchange", total);
  }

  void require_equal(std::int64_t value, const char* what) override {
    if (size_ == 1) return;
    const turn mine(*this);
    if (!compare(value, what)) disagree(std::string(what) + " is " + std::to_string(value));
  }
  void require_same(std::string_view text) override {
    if (size_ == 1) return;
    const turn mine(*this);
    if (!compare(static_cast<std::int64_t>(meta::hash(text)), "what the ranks do")) disagree(text);
  }
  [[nodiscard]] bool all_equal(std::int64_t value, const char* what) override {
    if (size_ == 1) return true;
    const turn mine(*this);
    return compare(value, what);
  }

  /// The largest count that goes into one MPI call; smaller in tests.
  void set_chunk(std::int64_t elements) { chunk_ = elements; }

 private:
  /// One thread at a time talks to other ranks, and only the one that started MPI, unless MPI allows others.
  class turn {
   public:
    explicit turn(mpi_communicator& c) : busy_(c.root().busy_) {
      const auto refuse = [&](const char* why) {
        throw std::logic_error("drx: rank " + std::to_string(c.rank_) + why);
      };
      if (!c.root().any_thread_ && std::this_thread::get_id() != c.root().thread_)
        refuse(
            " communicates from another thread than the one that made its session; "
            "MPI was started with MPI_THREAD_FUNNELED or less");
      if (busy_.exchange(true, std::memory_order_acquire)) refuse(" communicates from two threads at once");
      try {
        if (c.departures_->too_late()) refuse(" communicates where MPI has been finalized");
        if (!c.departures_->given_up().empty()) throw std::runtime_error(c.departures_->given_up());
      } catch (...) {
        busy_.store(false, std::memory_order_release);
        throw;
      }
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() { busy_.store(false, std::memory_order_release); }

   private:
    std::atomic<bool>& busy_;
  };
  template <class T>
  void sum(T* data, std::int64_t n, MPI_Datatype type) {
    if (size_ == 1) return;
    const turn mine(*this);
    const auto bytes = n * static_cast<std::int64_t>(sizeof(T));
    announce("all_sum", {&bytes, 1});
    count(bytes);
    for (std::int64_t at = 0; at < n; at += chunk_) {
      MPI_Request request;
      check_mpi(MPI_Iallreduce(MPI_IN_PLACE, data + at, static_cast<int>(std::min(chunk_, n - at)), type, MPI_SUM,
                               data_, &request),
                "MPI_Iallreduce");
      wait(request, "all_sum", bytes);
    }
  }
  void count(std::int64_t bytes) {
    ++collectives_;
    bytes_sent_ += bytes;
    if (parent_) parent_->count(bytes);
  }
  [[nodiscard]] mpi_communicator& root() { return parent_ ? parent_->root() : *this; }
  /// Sets up data_, which was just made by a call that returned `code`.
  void take(int code, const char* call) {
    check_mpi(code, call);
    MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(data_, &rank_);
    MPI_Comm_size(data_, &size_);
  }
  /// If the variables make no sense on one rank, or differ between ranks, all ranks throw.
  void read_environment() {
    std::string text;
    bool refused = false;
    try {
      environment_ = environment::read();
      text = std::string("DRX_CHECK is ") + (environment_.compares_messages ? "1"
                                             : environment_.compares_calls  ? "not set"
                                                                            : "0");
    } catch (const std::invalid_argument& e) {
      refused = true;
      text = e.what();
    }
    if (!compare(static_cast<std::int64_t>(meta::hash(text)), "DRX_CHECK")) disagree(text);
    if (refused) throw std::invalid_argument(text);
  }

  /// Whether `value` is the same on all ranks. Throws on all ranks if they do not compare the same thing.
  bool compare(std::int64_t value, const char* what) {
    const auto id = static_cast<std::int64_t>(meta::hash(what));
    std::int64_t most[4] = {value, ~value, id, ~id};  // (the minimum is the complement of the maximum of complements)
    MPI_Request request;
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, most, 4, MPI_INT64_T, MPI_MAX, data_, &request), "MPI_Iallreduce");
    wait(request, what, sizeof(most));
    if (most[2] != ~most[3]) disagree(std::string(what) + " (" + std::to_string(value) + ")");
    return most[0] == ~most[1];
  }
  /// All ranks throw a sentence with each rank's text.
  [[noreturn]] void disagree(std::string_view text) {
    const auto ranks = static_cast<std::size_t>(size_);
    int mine = static_cast<int>(text.size());
    std::vector<int> sizes(ranks), starts(ranks);
    check_mpi(MPI_Allgather(&mine, 1, MPI_INT, sizes.data(), 1, MPI_INT, data_), "MPI_Allgather");
    std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
    std::string texts(static_cast<std::size_t>(starts.back() + sizes.back()), ' ');
    check_mpi(MPI_Allgatherv(text.data(), mine, MPI_CHAR, texts.data(), sizes.data(), starts.data(), MPI_CHAR, data_),
              "MPI_Allgatherv");
    std::string message = "the ranks disagree:";
    for (std::size_t r = 0; r < ranks; ++r)
      message += (r ? "; rank " : " rank ") + std::to_string(r) + ": " +
                 texts.substr(static_cast<std::size_t>(starts[r]), static_cast<std::size_t>(sizes[r]));
    throw std::runtime_error(message);
  }

  /// With DRX_CHECK=1 the ranks compare each collective before it begins: its number, and each rank's bytes.
  void announce(const char* what, std::span<const std::int64_t> bytes) {
    ++sequence_;
    if (!environment_.compares_messages) return;
    meta::digest d;
    d.add(sequence_);
    for (auto b : bytes) d.add(b);
    if (compare(d.value(), what)) return;
    std::string text = "collective " + std::to_string(sequence_) + " is " + what + " of";
    for (auto b : bytes) text += (&b == bytes.data() ? " " : " + ") + std::to_string(b);
    disagree(text + " bytes");
  }
  /// Whether each rank is about to receive what the others send to it.
  void compare_messages(std::span<const message> sent, std::span<const message> received) {
    const auto sums = [&](std::span<const message> messages) {
      std::vector<std::int64_t> bytes(static_cast<std::size_t>(size_));
      for (const message& m : messages) bytes[static_cast<std::size_t>(m.rank)] += m.bytes;
      return bytes;
    };
    const std::vector<std::int64_t> to = sums(sent), expected = sums(received);
    std::vector<std::int64_t> from(to.size());
    check_mpi(MPI_Alltoall(to.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, data_), "MPI_Alltoall");
    std::string text;
    for (std::size_t r = 0; r < from.size(); ++r)
      if (from[r] != expected[r])
        text += " gets " + std::to_string(from[r]) + " bytes of rank " + std::to_string(r) + ", which should be " +
                std::to_string(expected[r]);
    int wrong = !text.empty();
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, data_), "MPI_Allreduce");
    if (wrong) disagree(text.empty() ? "gets what it should" : text.substr(1));
  }
  void wait(MPI_Request& request, const char* what, std::int64_t bytes) { wait(std::span(&request, 1), what, bytes); }
  void wait(std::span<MPI_Request> requests, const char* what, std::int64_t bytes) {
    double warn = environment_.warn_after;
    for (patience p;;) {
      int done = 0;
      check_mpi(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE),
                "MPI_Testall");
      if (done) return;
      const double waited = p.pause();
      if (waited < 1) continue;  // a rank that has left may have sent everything before
      if (const int r = departures_->gone(); r >= 0) {
        departures_->give_up("rank " + std::to_string(r) + " has ended while rank " + std::to_string(rank_) +
                             " waits for it in " + what + " of " + std::to_string(bytes) + " bytes");
        throw std::runtime_error(departures_->given_up());
      }
      if (waited > warn) {
        std::fprintf(stderr, "drx: rank %d has waited %.0f s in %s of %lld bytes (collective %lld)\n", rank_, waited,
                     what, static_cast<long long>(bytes), static_cast<long long>(collectives_));
        warn *= 2;
      }
    }
  }

  MPI_Comm data_ = MPI_COMM_NULL;
  std::shared_ptr<mpi_departures> departures_;
  mpi_communicator* parent_ = nullptr;
  int rank_ = 0, size_ = 1;
  environment environment_;
  std::int64_t chunk_ = std::int64_t{1} << 28;
  std::int64_t sequence_ = 0, collectives_ = 0, bytes_sent_ = 0;
  bool any_thread_ = false;
  std::thread::id thread_ = std::this_thread::get_id();
  std::atomic<bool> busy_ = false;
  int exceptions_ = std::uncaught_exceptions();
  std::vector<int> counts_, starts_;
  std::vector<MPI_Request> requests_;
};

}  // namespace drx
