// Federated averaging, its hypergradient and k-means: a program of MPI, and the worker of Beam, Spark and Hadoop
// Streaming. README.md shows both.
#include "engines.hpp"

#include <drx/engines/worker.hpp>
#include <drx/run.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace engines_example;

static_assert(drx::FederatedRound<fedavg> && !drx::FederatedRound<hypergradient> && !drx::FederatedRound<k_means>);
// cut-begin cost
static_assert(drx::cost<fedavg>().collectives(8) == 1 && drx::cost<fedavg>().bytes_up() == sizeof(model));
static_assert(drx::cost<hypergradient>().reductions() == 3);  // the round, the loss after it, and the way back
static_assert(drx::cost<k_means>().reductions() == 6 && drx::cost<k_means>().bytes_up() == 6 * 8 * (12 + 3));
// cut-end cost

/// Calls program P on the members in two .npy files, and writes its results, one after the other, to a file.
template <class P, class... Argument>
void run(drx::session& session, const std::string& folder, std::int64_t members, const std::string& out,
         const Argument&... arguments) {
  const drx::engines::mapped_file x(folder + "/x.npy"), y(folder + "/y.npy");
  const auto boundaries = drx::even_blocks(members, session.ranks());
  const auto begin = boundaries[static_cast<std::size_t>(session.rank())],
             count = boundaries[static_cast<std::size_t>(session.rank()) + 1] - begin;
  constexpr drx::leaf_types<batch> leaves;
  const auto values_of = [&](const drx::engines::mapped_file& file, int leaf) {
    const std::span<const std::byte> bytes = file.members(leaves[leaf], begin, count);
    return std::span(reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double));
  };
  const auto xs = values_of(x, 0), ys = values_of(y, 1);
  const auto placed = drx::place_memory<clients, batch>(session.communicator(), boundaries, xs, ys);
  auto program = session.compile<P>();
  std::ignore = program(arguments..., placed);  // (the first call allocates)
  const auto begin_of_call = std::chrono::steady_clock::now();
  const auto result = program(arguments..., placed);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_of_call;
  if (!session.root()) return;
  std::cout << "a call on " << session.ranks() << " ranks: " << took.count() << " s\n";
  std::ofstream file(out, std::ios::binary);
  drx::structure<std::remove_const_t<decltype(result)>>::visit(result, [&](const auto* p, const drx::shape& s) {
    file.write(reinterpret_cast<const char*>(p), static_cast<std::streamsize>(sizeof(*p)) * s.size());
  });
  if (!file.flush()) throw std::runtime_error("cannot write " + out);
}

}  // namespace

int main(int argc, char** argv) {
  if (drx::is_worker(argc, argv)) return drx::worker_main<fedavg, hypergradient, k_means>(argc, argv);
  drx::session session(argc, argv);
  CLI::App app("The same programs on MPI as on Beam, Spark and Hadoop Streaming.");
  std::string program, folder, out;
  std::int64_t members = 0;
  app.add_option("program", program)->required()->check(CLI::IsMember({"fedavg", "hypergradient", "k_means"}));
  app.add_option("folder", folder, "of x.npy and y.npy")->required()->check(CLI::ExistingDirectory);
  app.add_option("members", members, "how many clients there are")->required()->check(CLI::PositiveNumber);
  app.add_option("out", out, "the file for the results' bytes")->required();
  CLI11_PARSE(app, argc, argv);
  const model start{0.5, -0.5, 0.25, 0};
  if (program == "fedavg") run<fedavg>(session, folder, members, out, start, 0.5);
  if (program == "hypergradient") run<hypergradient>(session, folder, members, out, start, 0.5);
  if (program == "k_means")
    run<k_means>(session, folder, members, out, drx::array<double, 3, 4>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
}
