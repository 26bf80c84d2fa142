// drx/backend/session.hpp: the lifetime of MPI and Kokkos, and the way into running programs.
#pragma once

#include <drx/backend/kokkos.hpp>
#include <drx/run/compiled.hpp>
#if defined(DRX_HAS_MPI)
#include <drx/backend/mpi.hpp>
#endif

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <sched.h>

namespace drx {

/// Starts MPI and Kokkos where the application has not, and ends, in the right order, what it started. Make one in main
/// and keep it until all compiled programs are gone. An exception that nobody catches ends the whole job with this
/// rank's message and a non-zero code.
class session {
 public:
  session(int& argc, char** argv) {
#if defined(DRX_HAS_MPI)
    int running = 0, ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (ended) throw std::logic_error("drx::session: MPI has been finalized already");
    if (!running) {
      int provided = 0;
      MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
      owns_mpi_ = true;
    }
    start_kokkos(argc, argv);
    auto mpi = std::make_unique<mpi_communicator>(MPI_COMM_WORLD);
    mpi_ = mpi.get();
    communicator_ = std::move(mpi);
#else
    start_kokkos(argc, argv);
    communicator_ = std::make_unique<single_rank>();
    warn_of_other_ranks();
#endif
    rank_for_terminate() = communicator_->rank();
    previous_ = std::set_terminate(end_job);
    warn_of_binding();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() {
    if (std::uncaught_exceptions() > 0) end_job();  // another rank may wait for this one
#if defined(DRX_HAS_MPI)
    mpi_->leave();
#endif
    std::set_terminate(previous_);
    communicator_.reset();
    if (owns_kokkos_) Kokkos::finalize();
#if defined(DRX_HAS_MPI)
    if (owns_mpi_) MPI_Finalize();
#endif
  }

  [[nodiscard]] int rank() const { return communicator_->rank(); }
  [[nodiscard]] int ranks() const { return communicator_->size(); }
  [[nodiscard]] int threads() const { return executor_.concurrency(); }
  /// Whether this is the rank that prints and writes files.
  [[nodiscard]] bool root() const { return rank() == 0; }
  [[nodiscard]] drx::communicator& communicator() { return *communicator_; }
  [[nodiscard]] drx::executor& executor() { return executor_; }

  /// See drx::place: members 0 .. n-1, of which load(i) is called for this rank's only.
  template <class P, class Load>
  auto place(std::int64_t n, Load&& load) { return drx::place<P>(*communicator_, n, std::forward<Load>(load)); }
  /// The same with Q nested in P: load(i) returns a range.
  template <class P, class Q, class Load>
  auto place(std::int64_t n, Load&& load) { return drx::place_nested<P, Q>(*communicator_, n, std::forward<Load>(load)); }
  /// Members in shards, which a program with layouts takes; leaf i is split along axes[i]. See drx::place_sharded.
  template <class P, class Load>
  auto place_sharded(std::int64_t n, std::int64_t shards, Load&& load, std::vector<int> axes = {}) {
    return drx::place_sharded<P>(*communicator_, n, shards, std::forward<Load>(load), std::move(axes));
  }

  /// Lays out the workspaces of a program; all ranks call it with the same program.
  template <Program P>
  compiled<P> compile(compile_options options = {}) { return {executor_, *communicator_, std::move(options)}; }
  template <class P, class Why = detail::no_program_t<P>>
    requires(!Program<P>)
  Why compile(compile_options options = {}) = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

  /// What this runs on: MPI library, Kokkos version and execution space.
  [[nodiscard]] static std::string mpi_version() {
#if defined(DRX_HAS_MPI)
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;
    MPI_Get_library_version(text, &n);
    const std::string version(text, static_cast<std::size_t>(n));
    return version.substr(0, version.find(','));
#else
    return "none";
#endif
  }
  [[nodiscard]] static std::string kokkos_version() {
    return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
           std::to_string(KOKKOS_VERSION % 100) + " " + kokkos_executor::space::name();
  }

 private:
  void start_kokkos(int& argc, char** argv) {
    if (Kokkos::is_finalized()) throw std::logic_error("drx::session: Kokkos has been finalized already");
    if (Kokkos::is_initialized()) return;
    Kokkos::initialize(argc, argv);
    owns_kokkos_ = true;
  }
#if !defined(DRX_HAS_MPI)
  /// A launcher started several processes, and each takes itself for the only one.
  static void warn_of_other_ranks() {
    constexpr const char* of_launchers[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"},
                                               {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    for (const auto& names : of_launchers) {
      const char *ranks = std::getenv(names[0]), *rank = std::getenv(names[1]);
      if (!ranks || std::atoi(ranks) < 2) continue;
      if (!rank || std::atoi(rank) == 0)
        std::fprintf(stderr, "drx: launched as %s processes, but compiled without MPI: each computes everything by itself; "
                     "link drx::run of an installation that found MPI, or compile with -DDRX_HAS_MPI\n", ranks);
      return;
    }
  }
#endif
  /// Open MPI binds a rank to one core even where it runs several threads, which then share it.
  void warn_of_binding() {
#if defined(__linux__)
    std::vector<cpu_set_t> cores(static_cast<std::size_t>(threads()));
    executor_.run(threads(), [](void* sets, int i) { sched_getaffinity(0, sizeof(cpu_set_t), static_cast<cpu_set_t*>(sets) + i); },
                  cores.data());
    for (const cpu_set_t& c : cores) CPU_OR(&cores[0], &cores[0], &c);  // each thread may be bound to a core of its own
    if (CPU_COUNT(&cores[0]) < threads() && root())
      std::fprintf(stderr, "drx: %d threads share %d core(s); launch with mpirun --bind-to none or --map-by slot:PE=%d\n", threads(),
                   CPU_COUNT(&cores[0]), threads());
#endif
  }
  static int& rank_for_terminate() {
    static int rank = 0;
    return rank;
  }
  [[noreturn]] static void end_job() {
    std::string what = "terminated";
    if (const std::exception_ptr e = std::current_exception()) {
      try {
        std::rethrow_exception(e);
      } catch (const std::exception& x) {
        what = x.what();
      } catch (...) {
        what = "an exception that is no std::exception";
      }
    }
    std::fprintf(stderr, "drx: rank %d: %s\n", rank_for_terminate(), what.c_str());
    std::fflush(nullptr);
#if defined(DRX_HAS_MPI)
    int running = 0, ended = 0;
    MPI_Initialized(&running);
    MPI_Finalized(&ended);
    if (running && !ended) MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    std::_Exit(1);
  }

  [[maybe_unused]] bool owns_mpi_ = false;
  bool owns_kokkos_ = false;
  std::terminate_handler previous_ = nullptr;
  kokkos_executor executor_;
  std::unique_ptr<drx::communicator> communicator_;
#if defined(DRX_HAS_MPI)
  mpi_communicator* mpi_ = nullptr;
#endif
};

}  // namespace drx
