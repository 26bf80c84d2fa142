// bench/mlp/main.cpp: the sides of value and gradient of a small network's loss.
#include <harness.hpp>

#include <algorithm>
#include <memory>
#include <span>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "hand_side.hpp"
#include "inputs.hpp"
#include "reference.hpp"
#ifdef DRX_BENCH_EIGEN
#include "eigen_side.hpp"
#endif

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const mlp::inputs in = mlp::make_inputs();
  const std::string row = "value and gradient";
  const auto numbers = [](const mlp::answer& answer) {
    return bench::numbers(std::span(reinterpret_cast<const double*>(&answer), sizeof answer / sizeof(double)));
  };
  suite.reference(row, numbers(mlp::reference(in)));

  const auto add = [&]<class Side>(const char* name, std::type_identity<Side>) {
    auto side = std::make_shared<Side>();
    auto out = std::make_shared<mlp::answer>();
    suite.add({.row = row,
               .name = name,
               .call = [&in, side, out] { side->call(in, *out); },
               .result = [numbers, out] { return numbers(*out); },
               .counters = {{"temp_bytes", static_cast<double>(Side::temp_bytes())}}});
  };
  add("fused by hand", std::type_identity<mlp::hand_side>{});
#ifdef DRX_BENCH_EIGEN
  add("Eigen", std::type_identity<mlp::eigen_side>{});
#endif
#ifdef DRX_BENCH_DRX
  int none = 0;
  drx::session session(none, nullptr);
  const auto model = mlp::program::as_model(in.model);
  const auto add_program = [&]<class Program>(const char* name, std::type_identity<Program>, const auto&... data) {
    using compiled = drx::compiled<Program>;
    auto gradient = std::make_shared<compiled>(session.compile<Program>());
    auto answer = std::make_shared<typename compiled::result>();
    suite.add(
        {.row = row,
         .name = name,
         .call = [&model, gradient, answer, &data...] { gradient->call(*answer, model, data...); },
         .result = [numbers, answer] { return numbers({answer->first, mlp::program::as_params(answer->second)}); },
         .counters = {{"temp_bytes", static_cast<double>(compiled::server_bytes() + compiled::thread_bytes())}}});
  };
  add_program("drx", std::type_identity<mlp::program::Gradient>{}, in.x, in.y);
  const auto rows = session.place<mlp::program::rows>(mlp::batch, [&](std::int64_t i) {
    mlp::program::row r;
    const auto at = static_cast<std::size_t>(i);
    std::copy_n(in.x.data() + at * mlp::features, mlp::features, r.x.data());
    r.y.data()[0] = in.y[at];
    return r;
  });
  add_program("drx, mapped over rows", std::type_identity<mlp::program::MappedGradient>{}, rows);
#endif
#ifdef DRX_BENCH_STAN
  mlp::add_stan(suite, in);
#endif
  return suite.run();
}
