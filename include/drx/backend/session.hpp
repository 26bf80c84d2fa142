// drx/backend/session.hpp: the lifetime of MPI and Kokkos, and the way into running programs.
#pragma once

#include <drx/backend/environment.hpp>
#include <drx/backend/kokkos.hpp>
#include <drx/run/call/compiled.hpp>
#if defined(DRX_HAS_MPI)
#include <drx/backend/mpi.hpp>
#include <drx/backend/mpi_library.hpp>
#endif

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <sched.h>
#include <strings.h>

namespace drx {

/// Starts MPI and Kokkos if the application has not, and ends, in the right order, what it started. Make one in main
/// and keep it until all compiled programs are gone. An exception that nobody catches ends the whole job with this
/// rank's message and a non-zero code. An exception that is caught outside the session tells the other ranks, which
/// then throw where they wait for this one.
class session {
 public:
#if defined(DRX_HAS_MPI)
  /// A session of all ranks of the job.
  session(int& argc, char** argv)
      : mpi_(argc, argv), kokkos_(argc, argv), communicator_(std::make_unique<mpi_communicator>(MPI_COMM_WORLD)) {
    warn();
  }
  /// A session of the ranks of `ranks`, all of which make one. The application has started MPI, and finalizes it.
  session(int& argc, char** argv, MPI_Comm ranks)
      : mpi_(argc, argv), kokkos_(argc, argv), communicator_(std::make_unique<mpi_communicator>(ranks)) {
    warn();
  }
#else
  session(int& argc, char** argv) : kokkos_(argc, argv), communicator_(std::make_unique<single_rank>()) {
    (void)environment::read();
    warn_of_other_ranks();
    warn();
  }
#endif
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() = default;

  /// This process's number among the ranks, from 0.
  [[nodiscard]] int rank() const { return communicator_->rank(); }
  /// The number of processes that run the program together.
  [[nodiscard]] int ranks() const { return communicator_->size(); }
  /// The number of threads of this rank.
  [[nodiscard]] int threads() const { return executor_.concurrency(); }
  /// Whether this is the rank that prints and writes files.
  [[nodiscard]] bool root() const { return rank() == 0; }
  /// The communicator that drx::place and drx::compiled take.
  [[nodiscard]] drx::communicator& communicator() { return *communicator_; }
  /// The executor that drx::compiled takes.
  [[nodiscard]] drx::executor& executor() { return executor_; }

  /// Places members 0 .. n-1 of P; load(i) is called for this rank's members only. See drx::place.
  template <class P, class Load>
  auto place(std::int64_t n, Load&& load) {
    return drx::place<P>(*communicator_, n, std::forward<Load>(load));
  }
  /// Places members of P that have members of Q of their own: load(i) returns a range. See drx::place_nested.
  template <class P, class Q, class Load>
  auto place(std::int64_t n, Load&& load) {
    return drx::place_nested<P, Q>(*communicator_, n, std::forward<Load>(load));
  }
  /// Places members in shards, for a program with layouts; leaf i is split along axes[i]. See drx::place_sharded.
  template <class P, class Load>
  auto place_sharded(std::int64_t n, std::int64_t shards, Load&& load, std::vector<int> axes = {}) {
    return drx::place_sharded<P>(*communicator_, n, shards, std::forward<Load>(load), std::move(axes));
  }

  /// Lays out the workspaces of a program; all ranks call it with the same program.
  template <Program P>
  compiled<P> compile(compile_options options = {}) {
    return {executor_, *communicator_, std::move(options)};
  }
  template <class P, class Why = detail::no_program_t<P>>
    requires(!Program<P>)
  Why compile(compile_options options = {}) = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

  /// The name and version of the MPI library; "none" without one.
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
  /// Kokkos' version and execution space.
  [[nodiscard]] static std::string kokkos_version() {
    return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
           std::to_string(KOKKOS_VERSION % 100) + " " + kokkos_executor::space::name();
  }

 private:
  /// Kokkos, started if the application has not, and finalized in that case.
  struct kokkos_library {
    kokkos_library(int& argc, char** argv) {
      if (Kokkos::is_finalized()) throw std::logic_error("drx::session: Kokkos has been finalized already");
      if (Kokkos::is_initialized()) return;
      Kokkos::initialize(argc, argv);
      owned = true;
    }
    kokkos_library(const kokkos_library&) = delete;
    kokkos_library& operator=(const kokkos_library&) = delete;
    ~kokkos_library() {
      if (owned) Kokkos::finalize();
    }
    bool owned = false;
  };
  /// Handles an exception that nobody catches. It stays installed after an exception has unwound the session, since
  /// other ranks may wait for this one.
  struct terminate_handler {
    terminate_handler() = default;
    terminate_handler(const terminate_handler&) = delete;
    terminate_handler& operator=(const terminate_handler&) = delete;
    ~terminate_handler() {
      if (std::uncaught_exceptions() == exceptions) std::set_terminate(previous);
    }
    std::terminate_handler previous = std::set_terminate(end_job);
    int exceptions = std::uncaught_exceptions();
  };
#if !defined(DRX_HAS_MPI)
  /// Warns if a launcher started several processes and each takes itself for the only one.
  static void warn_of_other_ranks() {
    constexpr const char* of_launchers[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                               {"PMI_SIZE", "PMI_RANK"},
                                               {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    for (const auto& names : of_launchers) {
      const char *ranks = std::getenv(names[0]), *rank = std::getenv(names[1]);
      if (!ranks || std::atoi(ranks) < 2) continue;
      if (!rank || std::atoi(rank) == 0)
        std::fprintf(stderr,
                     "drx: launched as %s processes, but compiled without MPI: each computes everything by itself; "
                     "link drx::run of an installation that found MPI, or compile with -DDRX_HAS_MPI\n",
                     ranks);
      return;
    }
  }
#endif
#if defined(__linux__)
  /// The cores that this rank's threads may run on.
  cpu_set_t own_cores() {
    std::vector<cpu_set_t> cores(static_cast<std::size_t>(threads()));
    executor_.run(
        threads(),
        [](void* sets, int i) { sched_getaffinity(0, sizeof(cpu_set_t), static_cast<cpu_set_t*>(sets) + i); },
        cores.data());
    for (const cpu_set_t& c : cores) CPU_OR(&cores[0], &cores[0], &c);  // each thread may be bound to a core of its own
    return cores[0];
  }
  void warn() {
    const cpu_set_t cores = own_cores();
    warn_of_binding(cores);
#if defined(DRX_HAS_MPI)
    warn_of_spinning(cores);
#endif
  }
  /// Warns if Open MPI has bound the rank to one core although it runs several threads, which then share that core.
  void warn_of_binding(const cpu_set_t& cores) {
    if (CPU_COUNT(&cores) < threads() && root())
      std::fprintf(stderr,
                   "drx: %d threads share %d core(s); launch with mpirun --bind-to none or --map-by slot:PE=%d\n",
                   threads(), CPU_COUNT(&cores), threads());
  }
#if defined(DRX_HAS_MPI)
  /// Warns if a node has more threads than cores: OpenMP's threads spin while they wait, and take cores from working
  /// threads.
  void warn_of_spinning(cpu_set_t cores) {
    if (ranks() == 1) return;
    const MPI_Comm everybody = static_cast<mpi_communicator&>(*communicator_).comm();
    MPI_Comm node = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(everybody, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    int ranks_here = 0, threads_here = threads();
    MPI_Comm_size(node, &ranks_here);
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof(cores), MPI_BYTE, MPI_BOR, node), "MPI_Allreduce");
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &threads_here, 1, MPI_INT, MPI_SUM, node), "MPI_Allreduce");
    MPI_Comm_free(&node);
    const char* policy = std::getenv("OMP_WAIT_POLICY");
    const bool passive = policy && strcasecmp(policy, "passive") == 0;
    const bool spins = threads_here > ranks_here && threads_here > CPU_COUNT(&cores) && !passive;
    int of_node[] = {spins ? threads_here : 0, spins ? ranks_here : 0, spins ? CPU_COUNT(&cores) : 0};
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, of_node, 3, MPI_INT, MPI_MAX, everybody), "MPI_Allreduce");
    if (of_node[0] > 0 && root())
      std::fprintf(stderr,
                   "drx: %d threads of %d ranks share %d core(s) of a node, and spin while they wait; set "
                   "OMP_WAIT_POLICY=passive, or OMP_NUM_THREADS so that ranks times threads is the number of cores\n",
                   of_node[0], of_node[1], of_node[2]);
  }
#endif
#else
  void warn() {}
#endif
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
    int rank = 0;
#if defined(DRX_HAS_MPI)
    if (mpi_runs()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    std::fprintf(stderr, "drx: rank %d: %s\n", rank, what.c_str());
    std::fflush(nullptr);
#if defined(DRX_HAS_MPI)
    if (mpi_runs()) MPI_Abort(MPI_COMM_WORLD, 1);
#endif
    std::_Exit(1);
  }

  // Members are made in this order and end in the reverse one.
  terminate_handler terminate_;
#if defined(DRX_HAS_MPI)
  mpi_library mpi_;
#endif
  kokkos_library kokkos_;
  kokkos_executor executor_;
  std::unique_ptr<drx::communicator> communicator_;
};

}  // namespace drx
