// One program, many ways to go wrong: main WAY. tests/mpi/failures/check.py knows what must come of each.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace {
struct clients : drx::placement<clients> {};
constexpr auto sum = [](auto x) { return drx::reduce_sum(x); };
constexpr auto mean = [](auto x) { return drx::reduce_mean(x); };
constexpr auto both = [](auto x, auto y) { return std::pair{drx::reduce_sum(x), drx::reduce_sum(y)}; };
constexpr auto scaled_sum = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto a, auto b) { return drx::sum(a * b); }, drx::broadcast<clients>(w), x));
};
constexpr auto sum_of_numbers = [](auto scale) { return scale * drx::reduce_sum(drx::partition_index<clients>()); };
using numbers = drx::placed<double, clients>;
using Sum = drx::program<sum, numbers>;
using Mean = drx::program<mean, numbers>;
using Both = drx::program<both, numbers, numbers>;
using ScaledSum = drx::program<scaled_sum, drx::array<double, 2>, numbers>;
using SumOfNumbers = drx::program<sum_of_numbers, std::int64_t>;

double number(std::int64_t i) { return static_cast<double>(i); }

/// All ranks have a session; one of them, or all, go wrong.
void work(std::string_view way, int argc, char** argv) {
  drx::session session(argc, argv);
  const bool last = session.rank() == session.ranks() - 1;
  const std::int64_t n = 10;
  if (way == "load-throws") {
    (void)session.place<clients>(n, [](std::int64_t i) {
      if (i == n - 1) throw std::runtime_error("no file for client 9");
      return number(i);
    });
  }
  auto x = session.place<clients>(way == "other-n" && last ? n + 1 : n, number);
  if (way == "other-program" && last) {
    auto p = session.compile<Mean>();
    (void)p(x);
  }
  if (way == "other-order")
    (void)session.compile<Sum>({.order = last ? drx::reduction_order::fast : drx::reduction_order::tree});
  if (way == "other-option") (void)session.compile<SumOfNumbers>({.members = {drx::members<clients>(last ? 7 : 8)}});
  auto p = session.compile<Sum>();
  if (way == "all-throw" || way == "all-throw-caught" || way == "caught-everywhere")
    throw std::runtime_error("the same everywhere");
  if ((way == "main-throws" || way == "caught" || way == "rethrown" || way == "caught-while-others-compute") && last)
    throw std::runtime_error("out of luck");
  if (way == "no-exception" && last) throw 3;
  if (way == "killed" && last) std::raise(SIGKILL);
  if (way == "aborts" && last) std::terminate();
  if (way == "leaves" && last) return;
  if (way == "caught-while-others-compute") {  // and end without a word to the rank that is gone
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return;
  }
  if (way == "other-members") {
    auto q = session.compile<Both>();
    auto y = session.place<clients>(n + 2, number);
    (void)q(x, y);
  }
  if (way == "other-subset")
    (void)p(x.subset(last ? std::vector<std::int64_t>{1, 4, 6} : std::vector<std::int64_t>{1, 5, 6}, session.rank()));
  if (way == "other-blocks") {
    std::vector<double> own(10);
    const std::vector<std::int64_t> here{0, 4, last ? 7 : 8, 10};
    (void)p(drx::partitions<drx::scalar<double>, clients>(here, session.rank(), {},
                                                          {reinterpret_cast<std::byte*>(own.data())}, nullptr));
  }
  if (way == "subsets-of-another-rank") {  // on rank 0 they are the same
    auto q = session.compile<Both>();
    (void)q(x.subset({0, 8}, session.rank()), x.subset({0, 9}, session.rank()));
  }
  if (way == "other-argument" || way == "other-argument-later") {
    auto q = session.compile<ScaledSum>();
    for (int call = 1; call <= 3; ++call)
      (void)q(drx::array<double, 2>{1., last && (call == 3 || way == "other-argument") ? 2. : 3.}, x);
  }
  if (way == "other-thread") {
    std::exception_ptr thrown;
    std::thread([&] {
      try {
        (void)p(x);
      } catch (...) {
        thrown = std::current_exception();
      }
    }).join();
    if (thrown) std::rethrow_exception(thrown);
  }
  if (way == "mpi-finalized-in-session") MPI_Finalize();
  if (way == "mpi-finalized-then-call") {
    MPI_Finalize();
    (void)p(x);
  }
  if (way == "mpi-finalized-in-session") return;
  double total = p(x);
  for (int i = 0; i < 3; ++i) total = p(x);
  if (session.root()) std::printf("total %g\n", total);
}

/// Ranks 0 and 1 work; the others do not take part. `own`: without a session.
void work_on_part(std::string_view way, int argc, char** argv, bool own) {
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world < 2 ? 0 : MPI_UNDEFINED, 0, &part);
  if (world >= 2) {
    if (way == "part-without-me") drx::session(argc, argv, part);
    return;
  }
  {
    const auto add = [&](drx::executor& e, drx::communicator& c) {
      auto x = drx::place<clients>(c, std::int64_t{10}, number);
      drx::compiled<Sum> p(e, c);
      if (way.ends_with("leaves") && c.rank() == 1) return;
      const double total = p(x);
      if (c.rank() == 0) std::printf("total %g\n", total);
    };
    if (own) {
      drx::mpi_communicator c(part);
      drx::serial_executor e;
      add(e, c);
    } else {
      drx::session session(argc, argv, part);
      add(session.executor(), session.communicator());
    }
  }
  MPI_Comm_free(&part);
}
}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "";
  const bool part = way.starts_with("part"), own = way.starts_with("own-communicator");
  const bool own_mpi =
      way == "mpi-initialised" || way == "both-initialised" || way == "all-throw-caught" || part || own;
  const bool own_kokkos = way == "kokkos-initialised" || way == "both-initialised" || way == "kokkos-finalized";
  if (own_mpi) MPI_Init(&argc, &argv);
  if (own_kokkos) Kokkos::initialize(argc, argv);
  if (way == "kokkos-finalized") Kokkos::finalize();
  int code = 0;
  if (way.starts_with("caught") || way == "all-throw-caught" || way == "rethrown") {
    try {
      work(way, argc, argv);
    } catch (const std::exception& e) {
      std::printf("caught: %s\n", e.what());
      if (way == "rethrown") throw;
      code = way == "all-throw-caught" || way == "caught-everywhere" ? 0 : 3;
    }
  } else if (part || own) {
    work_on_part(way, argc, argv, own);
  } else {
    work(way, argc, argv);
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (own_mpi) {
    if (finalized) return 7;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  } else if (!finalized && !way.starts_with("caught")) {
    return 8;
  }
  if (own_kokkos) {
    if (!Kokkos::is_initialized()) return 9;
    Kokkos::finalize();
  } else if (Kokkos::is_initialized()) {
    return 10;
  }
  return code;
}
