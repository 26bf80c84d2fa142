// drx/backend/mpi_departures.hpp: the ranks of a communicator tell each other when they leave, that is, take part in no
// more messages.
#pragma once

#include <drx/backend/patience.hpp>

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx {

inline void check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int n = 0;
  MPI_Error_string(code, text, &n);
  throw std::runtime_error(std::string(call) + ": " + std::string(text, static_cast<std::size_t>(n)));
}
/// Whether MPI is running: started, and not finalized.
inline bool mpi_runs() {
  int running = 0, ended = 0;
  MPI_Initialized(&running);
  MPI_Finalized(&ended);
  return running && !ended;
}

/// Each rank says once that it leaves. A rank that leaves in good order waits for the others to do so too. A rank that
/// leaves because of an exception does not: it waits in MPI_Finalize, after its exception has been caught and reported.
class mpi_departures : public std::enable_shared_from_this<mpi_departures> {
 public:
  /// All ranks of `parent` call this.
  static std::shared_ptr<mpi_departures> among(MPI_Comm parent) {
    const std::shared_ptr<mpi_departures> d(new mpi_departures);
    check_mpi(MPI_Comm_dup(parent, &d->comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(d->comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(d->comm_, &d->rank_);
    MPI_Comm_size(d->comm_, &d->size_);
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end_of_mpi, &d->key_, nullptr),
              "MPI_Comm_create_keyval");
    check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, d->key_, d.get()), "MPI_Comm_set_attr");
    return d;
  }
  mpi_departures(const mpi_departures&) = delete;
  mpi_departures& operator=(const mpi_departures&) = delete;
  ~mpi_departures() {
    if (ended_ || !mpi_runs()) return;
    ended_ = true;
    MPI_Comm_delete_attr(MPI_COMM_SELF, key_);
    MPI_Comm_free_keyval(&key_);
    MPI_Comm_free(&comm_);
  }

  void warn_after(double seconds) { warn_after_ = seconds; }

  /// A rank that has left, or -1.
  [[nodiscard]] int gone() {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, comm_, &there, &status);
    return there ? status.MPI_SOURCE : -1;
  }
  /// Records that this rank abandons a message that it was in the middle of: MPI cannot be finalized.
  void give_up(std::string why) { given_up_ = std::move(why); }
  [[nodiscard]] const std::string& given_up() const { return given_up_; }
  /// Whether MPI was finalized before this rank left.
  [[nodiscard]] bool too_late() const { return too_late_; }

  /// Tells the others, and waits until all have left.
  void leave() {
    say();
    wait_for_all();
    left_ = true;
  }
  /// Tells the others, and leaves the waiting to MPI_Finalize. A rank that has given up tells nobody, so that the
  /// others wait: it will end the job, and Open MPI's mpirun may hang or crash where a rank is past that in
  /// MPI_Finalize.
  void leave_now() {
    if (given_up_.empty()) {
      say();
      patience p;
      for (int sent = 0; !sent && p.pause() < told_within;)
        MPI_Testall(size_, byes_.data(), &sent, MPI_STATUSES_IGNORE);
    }
    ++open_ends();
    self_ = shared_from_this();
  }
  /// The number of communicators that were left without waiting, which MPI_Finalize will do.
  static int& open_ends() {
    static int count = 0;
    return count;
  }

 private:
  static constexpr double told_within =
      1;  // seconds for messages on their way: MPI may have to make a connection first

  mpi_departures() = default;

  void say() {
    byes_.assign(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
    for (int r = 0; r < size_; ++r)
      if (r != rank_) MPI_Isend(&bye_, 1, MPI_CHAR, r, 0, comm_, &byes_[static_cast<std::size_t>(r)]);
  }
  void wait_for_all() {
    double warn = warn_after_;
    patience p;
    for (int missing = size_ - 1, sent = size_ == 1; missing > 0 || !sent;) {
      if (!sent) MPI_Testall(size_, byes_.data(), &sent, MPI_STATUSES_IGNORE);
      if (const int r = missing > 0 ? gone() : -1; r >= 0) {
        char bye = 0;
        MPI_Recv(&bye, 1, MPI_CHAR, r, 0, comm_, MPI_STATUS_IGNORE);
        --missing;
      } else if (const double waited = p.pause(); waited > warn) {
        std::fprintf(stderr, "drx: rank %d has ended, and has waited %.0f s for the end of %d other ranks of %d\n",
                     rank_, waited, missing, size_);
        warn *= 2;
      }
    }
  }
  /// MPI calls this where MPI_Finalize begins, and where the destructor removes the attribute.
  static int at_end_of_mpi(MPI_Comm, int, void* departures, void*) {
    auto& d = *static_cast<mpi_departures*>(departures);
    if (!d.ended_) d.end();
    return MPI_SUCCESS;
  }
  void end() {
    ended_ = true;
    if (left_) return;
    if (!given_up_.empty()) {
      std::fprintf(stderr, "drx: rank %d ends the job, since %s\n", rank_, given_up_.c_str());
      std::fflush(nullptr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!self_) {  // a communicator still uses this object
      std::fprintf(stderr,
                   "drx: rank %d: MPI_Finalize is called while a drx::session, or drx::mpi_communicator, is "
                   "there: end that before\n",
                   rank_);
      too_late_ = true;
      say();
    }
    wait_for_all();
    self_ = nullptr;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int key_ = MPI_KEYVAL_INVALID, rank_ = 0, size_ = 1;
  double warn_after_ = 60;  // seconds
  char bye_ = 0;
  std::vector<MPI_Request> byes_;
  bool left_ = false, too_late_ = false, ended_ = false;
  std::string given_up_;
  std::shared_ptr<mpi_departures> self_;  // of an object that was left without waiting
};

}  // namespace drx
