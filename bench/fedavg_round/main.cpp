// bench/fedavg_round/main.cpp: the sides of the FedAvg round, checked against plain double loops.
#include <harness.hpp>

#include <omp.h>

#include <memory>
#include <span>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "carried_twin.hpp"
#include "hand_twin.hpp"
#include "inputs.hpp"
#include "reference.hpp"
#ifdef DRX_BENCH_EIGEN
#include "eigen_twin.hpp"
#endif

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const fedavg::inputs in = fedavg::make_inputs(fedavg::clients * fedavg::steps);
  const std::string one_batch = "64 clients", own_batches = "64 clients, a batch for each step";
  const auto add = [&](const std::string& row, const char* name, auto& twin, auto round) {
    auto out = std::make_shared<fedavg::params>();
    suite.add({.row = row,
               .name = name,
               .call = [out, round] { round(*out); },
               .result =
                   [out] {
                     return bench::numbers(std::span(reinterpret_cast<const float*>(out.get()), fedavg::params::size));
                   },
               .counters = {{"temp_bytes", static_cast<double>(twin.temp_bytes())}}});
  };
  const auto add_twin = [&](const char* name, auto& twin) {
    for (const int batches : {1, fedavg::steps})
      add(batches == 1 ? one_batch : own_batches, name, twin, [&in, &twin, batches](auto& out) {
        twin.round(in.model, in.x.data(), in.y.data(), fedavg::clients, batches, out);
      });
  };
  if (suite.checking()) {
    suite.reference(one_batch, fedavg::reference_round(in, 1));
    suite.reference(own_batches, fedavg::reference_round(in, fedavg::steps));
  }

  const int threads = omp_get_max_threads();
#ifdef DRX_BENCH_EIGEN
  fedavg::eigen_twin eigen(threads);
  add_twin("Eigen + OpenMP", eigen);
#endif
#ifdef DRX_BENCH_DRX
  int none = 0;
  drx::session session(none, nullptr);
  fedavg::drx_side<fedavg::program::Round, fedavg::program::rows> library(session, in);
  add(one_batch, "drx", library, [&](auto& out) { library.round(in.model, out); });
  fedavg::drx_side<fedavg::program::RoundOverBatches, fedavg::program::batches> over_batches(session, in);
  add(own_batches, "drx", over_batches, [&](auto& out) { over_batches.round(in.model, out); });
#endif
  fedavg::hand_twin hand(threads);
  add_twin("fused by hand", hand);
  fedavg::carried_twin carried(threads);
  add(one_batch, "fused by hand, products carried", carried,
      [&](auto& out) { carried.round(in.model, in.x.data(), in.y.data(), fedavg::clients, out); });
  return suite.run();
}
