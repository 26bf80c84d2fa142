// bench/fedavg_round/main.cpp: the sides of the FedAvg round, checked against plain double loops.
#include <harness.hpp>

#include <omp.h>

#include <memory>
#include <span>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "hand_twin.hpp"
#include "inputs.hpp"
#include "reference.hpp"
#ifdef DRX_BENCH_EIGEN
#include "eigen_twin.hpp"
#endif

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const fedavg::inputs in = fedavg::make_inputs();
  const std::string row = "64 clients";
  const auto add = [&](const char* name, auto& twin, auto round) {
    auto out = std::make_shared<fedavg::params>();
    suite.add({.row = row,
               .name = name,
               .call = [out, round] { round(*out); },
               .result = [out] { return bench::numbers(std::span(reinterpret_cast<const float*>(out.get()), fedavg::params::size)); },
               .counters = {{"temp_bytes", static_cast<double>(twin.temp_bytes())}}});
  };
  if (suite.checking()) suite.reference(row, fedavg::reference_round(in));

  const int threads = omp_get_max_threads();
#ifdef DRX_BENCH_EIGEN
  fedavg::eigen_twin eigen(threads);
  add("Eigen + OpenMP", eigen, [&](auto& out) { eigen.round(in.model, in.x.data(), in.y.data(), fedavg::clients, out); });
#endif
#ifdef DRX_BENCH_DRX
  fedavg::drx_side library(in);
  add("drx", library, [&](auto& out) { library.round(in.model, out); });
#endif
  fedavg::hand_twin hand(threads);
  add("fused by hand", hand, [&](auto& out) { hand.round(in.model, in.x.data(), in.y.data(), fedavg::clients, out); });
  return suite.run();
}
