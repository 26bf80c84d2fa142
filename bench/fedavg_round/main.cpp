// bench/fedavg_round/main.cpp: runs the sides of the FedAvg round on the same inputs, checks each against plain double
// loops, times them in turns and prints a line of JSON per side.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <omp.h>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "hand_twin.hpp"
#include "inputs.hpp"
#include "reference.hpp"
#ifdef DRX_BENCH_EIGEN
#include "eigen_twin.hpp"
#endif

namespace {

struct side {
  std::string name;
  std::function<void(fedavg::params& out)> round;
  std::size_t temp_bytes = 0;
  fedavg::params result{};
  std::vector<double> ms{};
  double max_abs_diff = 0;
};

constexpr double tolerance = 2e-6;  // float arithmetic over eight steps; the parameters change by up to 1e-2

double distance(const fedavg::params& got, const std::vector<double>& want) {
  const auto* values = reinterpret_cast<const float*>(&got);
  double most = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double diff = std::abs(static_cast<double>(values[i]) - want[i]);
    if (!(diff <= most)) most = diff;  // keeps a NaN
  }
  return most;
}

[[noreturn]] void usage(int code) {
  std::fputs(
      "usage: bench_fedavg_round [--reps N] [--side NAME] [--write FILE]\n"
      "  --reps N      timed repetitions of each side (default 200)\n"
      "  --side NAME   only this side\n"
      "  --write FILE  the reference result as 9610 raw floats: w1, b1, w2, b2\n"
      "Threads: OMP_NUM_THREADS.\n",
      code == 0 ? stdout : stderr);
  std::exit(code);
}

}  // namespace

int main(int argc, char** argv) {
  int reps = 200;
  std::string only, write;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--help") usage(0);
    if (i + 1 == argc) usage(2);
    if (option == "--reps") reps = std::max(1, std::atoi(argv[++i]));
    else if (option == "--side") only = argv[++i];
    else if (option == "--write") write = argv[++i];
    else usage(2);
  }

  const fedavg::inputs in = fedavg::make_inputs();
  const int threads = omp_get_max_threads();
  std::vector<side> sides;

#ifdef DRX_BENCH_EIGEN
  fedavg::eigen_twin eigen(threads);
  sides.push_back({.name = "Eigen + OpenMP",
                   .round = [&](fedavg::params& out) { eigen.round(in.model, in.x.data(), in.y.data(), fedavg::clients, out); },
                   .temp_bytes = eigen.temp_bytes()});
#endif
#ifdef DRX_BENCH_DRX
  fedavg::drx_side library(in);
  sides.push_back({.name = "drx", .round = [&](fedavg::params& out) { library.round(in.model, out); }, .temp_bytes = library.temp_bytes()});
#endif

  fedavg::hand_twin hand(threads);
  sides.push_back({.name = "fused by hand",
                   .round = [&](fedavg::params& out) { hand.round(in.model, in.x.data(), in.y.data(), fedavg::clients, out); },
                   .temp_bytes = hand.temp_bytes()});

  if (!only.empty()) std::erase_if(sides, [&](const side& s) { return s.name != only; });
  if (sides.empty()) usage(2);

  const std::vector<double> reference = fedavg::reference_round(in);
  if (!write.empty()) {
    const std::vector<float> rounded(reference.begin(), reference.end());
    std::FILE* file = std::fopen(write.c_str(), "wb");
    if (file == nullptr || std::fwrite(rounded.data(), sizeof(float), rounded.size(), file) != rounded.size() ||
        std::fclose(file) != 0) {
      std::fprintf(stderr, "cannot write %s\n", write.c_str());
      return 1;
    }
  }

  for (side& s : sides) {
    s.round(s.result);
    s.max_abs_diff = distance(s.result, reference);
    if (!(s.max_abs_diff <= tolerance)) {
      std::fprintf(stderr, "%s: wrong result: off by %g, allowed %g\n", s.name.c_str(), s.max_abs_diff, tolerance);
      return 1;
    }
  }

  // In turns, so that whatever else the machine does falls on every side alike.
  constexpr int warm_up = 10;
  for (int rep = -warm_up; rep < reps; ++rep)
    for (side& s : sides) {
      const auto begin = std::chrono::steady_clock::now();
      s.round(s.result);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
      if (rep >= 0) s.ms.push_back(took.count());
    }

  for (side& s : sides) {
    std::ranges::sort(s.ms);
    std::printf(
        "{\"bench\": \"fedavg_round\", \"side\": \"%s\", \"threads\": %d, \"reps\": %d, \"min_ms\": %.4f, "
        "\"median_ms\": %.4f, \"temp_bytes\": %zu, \"max_abs_diff\": %.3g}\n",
        s.name.c_str(), threads, reps, s.ms.front(), s.ms[s.ms.size() / 2], s.temp_bytes, s.max_abs_diff);
  }
}
