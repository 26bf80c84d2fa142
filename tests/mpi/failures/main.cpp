// One program, many ways to go wrong: main WAY. tests/mpi/failures/check.py knows what must come of each.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string_view>

namespace {
struct clients : drx::placement<clients> {};
constexpr auto sum = [](auto x) { return drx::reduce_sum(x); };
constexpr auto mean = [](auto x) { return drx::reduce_mean(x); };
constexpr auto both = [](auto x, auto y) { return std::pair{drx::reduce_sum(x), drx::reduce_sum(y)}; };
using numbers = drx::placed<double, clients>;
using Sum = drx::program<sum, numbers>;
using Mean = drx::program<mean, numbers>;
using Both = drx::program<both, numbers, numbers>;

double number(std::int64_t i) { return static_cast<double>(i); }
}  // namespace

int main(int argc, char** argv) {
  const std::string_view way = argc > 1 ? argv[1] : "";
  const bool own_mpi = way == "mpi-initialised" || way == "both-initialised";
  const bool own_kokkos = way == "kokkos-initialised" || way == "both-initialised" || way == "kokkos-finalized";
  if (own_mpi) MPI_Init(&argc, &argv);
  if (own_kokkos) Kokkos::initialize(argc, argv);
  if (way == "kokkos-finalized") Kokkos::finalize();
  {
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
    auto p = session.compile<Sum>();
    if (way == "main-throws" && last) throw std::runtime_error("out of luck");
    if (way == "no-exception" && last) throw 3;
    if (way == "killed" && last) std::raise(SIGKILL);
    if (way == "aborts" && last) std::terminate();
    if (way == "leaves" && last) return 0;
    if (way == "other-members") {
      auto q = session.compile<Both>();
      auto y = session.place<clients>(n + 2, number);
      (void)q(x, y);
    }
    double total = p(x);
    for (int i = 0; i < 3; ++i) total = p(x);
    if (session.root()) std::printf("total %g\n", total);
  }
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (own_mpi) {
    if (finalized) return 7;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  } else if (!finalized) {
    return 8;
  }
  if (own_kokkos) {
    if (!Kokkos::is_initialized()) return 9;
    Kokkos::finalize();
  } else if (Kokkos::is_initialized()) {
    return 10;
  }
  return 0;
}
