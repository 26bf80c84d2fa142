// bench/hypergradient/main.cpp: the sides of the derivative of the loss after a round, for more and more clients.
#include <harness.hpp>

#include <omp.h>

#include <memory>
#include <type_traits>
#include <optional>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "../fedavg_round/inputs.hpp"
#include "hand_twin.hpp"
#ifdef DRX_BENCH_EIGEN
#include "eigen_twin.hpp"
#endif

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  constexpr int most = 256;
  const fedavg::inputs in = fedavg::make_inputs(most);
#ifdef DRX_BENCH_DRX
  int none = 0;
  drx::session session(none, nullptr);
#endif
  hypergradient::by_hand<false> hand(omp_get_max_threads());
  hypergradient::by_hand<true> carried(omp_get_max_threads());
#ifdef DRX_BENCH_EIGEN
  hypergradient::eigen_twin eigen(omp_get_max_threads());
#endif
  for (const int n : {16, 64, most}) {
    const std::string row = std::to_string(n) + " clients";
#ifdef DRX_BENCH_DRX
    auto data = std::make_shared<drx::partitions<fedavg::program::rows, fedavg::program::clients>>(
        fedavg::place(session, in, n));
    const auto& model = fedavg::as_model(in.model);
    const auto add = [&]<class Program>(const char* name, std::type_identity<Program>) {
      using compiled = drx::compiled<Program>;
      const std::size_t before = bench::heap_bytes();
      auto slope = std::make_shared<compiled>(session.compile<Program>());
      auto answer = std::make_shared<typename compiled::result>((*slope)(fedavg::rate, model, *data));
      suite.add({.row = row,
                 .name = name,
                 .call = [&model, slope, answer, data] { slope->call(*answer, fedavg::rate, model, *data); },
                 .result = [answer] { return std::vector<double>{answer->first, answer->second}; },
                 .counters = {{"temp_bytes", static_cast<double>(bench::heap_bytes() - before)}}});
    };
    add("drx", std::type_identity<fedavg::program::Slope>{});
    add("drx, forward mode", std::type_identity<fedavg::program::ForwardSlope>{});
#endif
    const auto add_twin = [&](const char* name, auto& twin) {
      auto answer = std::make_shared<typename std::remove_reference_t<decltype(twin)>::answer>();
      suite.add({.row = row,
                 .name = name,
                 .call = [&in, &twin, answer, n] { *answer = twin.call(in.model, in.x.data(), in.y.data(), n); },
                 .result = [answer] { return std::vector<double>{answer->value, answer->slope}; },
                 .counters = {{"temp_bytes", static_cast<double>(twin.temp_bytes())}}});
    };
    add_twin("fused by hand", hand);
    add_twin("fused by hand, products carried", carried);
#ifdef DRX_BENCH_EIGEN
    add_twin("Eigen + OpenMP", eigen);
#endif
  }
  return suite.run();
}
