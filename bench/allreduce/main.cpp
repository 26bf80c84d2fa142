// bench/allreduce/main.cpp: the sum of one large member per rank, beside MPI_Allreduce of the same buffers in the same
// processes.
#include <cstdio>

#if defined(DRX_BENCH_DRX) && defined(DRX_HAS_MPI)
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include <harness.hpp>
#include <ranks.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

struct workers : drx::placement<workers> {};
constexpr auto sum = [](auto x) { return drx::reduce_sum(x); };

/// Some of the numbers: with all of them, files would have 200 MB.
std::vector<double> some(const float* of, std::int64_t n) {
  std::vector<double> found;
  for (std::int64_t i = 0; i < n; i += 997) found.push_back(static_cast<double>(of[i]));
  return found;
}

template <std::int64_t N>
struct member_of {
  using member = drx::array<float, N>;
  using total = drx::program<sum, drx::placed<member, workers>>;

  std::vector<float> data, of_mpi;
  drx::partitions<member, workers> x;
  drx::compiled<total> tree, fast;
  std::unique_ptr<member> of_tree = std::make_unique<member>(), of_fast = std::make_unique<member>();

  explicit member_of(drx::session& s)
      : data(static_cast<std::size_t>(N)),
        of_mpi(data.size()),
        tree(s.compile<total>()),
        fast(s.compile<total>({.order = drx::reduction_order::fast})) {
    const auto rank = static_cast<std::uint32_t>(s.rank());
    for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = bench::uniform(rank, i);
    x = drx::place_memory<workers, member>(s.communicator(), drx::even_blocks(s.ranks(), s.ranks()), data);
  }
  void add_to(bench::suite& suite, const std::string& row, int ranks, int iterations) {
    std::vector<double> reference(some(data.data(), N).size());
    for (int r = 0; r < ranks; ++r)
      for (std::size_t k = 0; k < reference.size(); ++k)
        reference[k] +=
            static_cast<double>(bench::uniform(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(997 * k)));
    suite.reference(row, reference);
    suite.add({.row = row,
               .name = "drx",
               .call = [this] { tree.call(*of_tree, x); },
               .result = [this] { return some(of_tree->data(), N); },
               .iterations = iterations});
    suite.add({.row = row,
               .name = "drx, fast order",
               .call = [this] { fast.call(*of_fast, x); },
               .result = [this] { return some(of_fast->data(), N); },
               .iterations = iterations});
    suite.add({.row = row,
               .name = "MPI_Allreduce",
               .call =
                   [this] {
                     MPI_Allreduce(data.data(), of_mpi.data(), static_cast<int>(N), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                   },
               .result = [this] { return some(of_mpi.data(), N); },
               .iterations = iterations});
  }
};

}  // namespace

int main(int argc, char** argv) {
  drx::session s(argc, argv);
  bench::arguments_of_rank arguments(argc, argv, s.rank());
  bench::suite suite(arguments.count, arguments.values());
  member_of<250'000> small(s);
  small.add_to(suite, "1 MB", s.ranks(), 50);
  member_of<25'000'000> large(s);
  large.add_to(suite, "100 MB", s.ranks(), 1);
  return suite.run();
}

#else
int main() { std::puts("bench_allreduce needs drx::run with MPI"); }
#endif
