// bench/cnn_clipped/main.cpp: the sides of a small network's clipped gradients.
#include <harness.hpp>

#include <algorithm>
#include <memory>
#include <span>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "hand_side.hpp"
#include "inputs.hpp"

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const std::string row = "mean of clipped gradients";
  const cnn::inputs in = cnn::make_inputs();
  suite.reference(row, cnn::reference(in));

  const auto add = [&](const char* name, auto call, double temp_bytes) {
    auto out = std::make_shared<cnn::params>();
    suite.add(
        {.row = row,
         .name = name,
         .call = [call, out] { call(*out); },
         .result =
             [out] { return bench::numbers(std::span(reinterpret_cast<const float*>(out.get()), cnn::params::size)); },
         .counters = {{"temp_bytes", temp_bytes}}});
  };
  add(
      "by hand", [&, side = std::make_shared<cnn::hand_side>()](cnn::params& out) { side->call(in, out); },
      static_cast<double>(cnn::hand_side::temp_bytes()));
#ifdef DRX_BENCH_DRX
  namespace drx_side = cnn::program;
  int none = 0;
  drx::session session(none, nullptr);
  const auto data = session.place<drx_side::examples>(cnn::batch, [&](std::int64_t i) {
    drx_side::example e;
    std::copy_n(in.x.data() + i * cnn::pixels, cnn::pixels, e.x.data());
    e.y.data()[0] = in.y[static_cast<std::size_t>(i)];
    return e;
  });
  auto program = session.compile<drx_side::MeanOfClipped>();
  const drx_side::model model = drx_side::as_model(in.model);
  drx_side::model mean;
  add(
      "drx",
      [&](cnn::params& out) {
        program.call(mean, model, data);
        drx_side::copy_to(out, mean);
      },
      static_cast<double>(program.server_bytes() + session.threads() * program.thread_bytes()));
  auto by_vmap = session.compile<drx_side::MeanByVmap>();
  add(
      "drx, vmap",
      [&](cnn::params& out) {
        by_vmap.call(mean, model, in.x, in.y);
        drx_side::copy_to(out, mean);
      },
      static_cast<double>(by_vmap.server_bytes() + session.threads() * by_vmap.thread_bytes()));
#endif
  return suite.run();
}
