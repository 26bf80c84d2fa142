// bench/pendulums/main.cpp: the sides of many small simulations.
#include <harness.hpp>

#include <array>
#include <memory>
#include <span>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif
#include "hand_side.hpp"
#include "inputs.hpp"

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
  const std::string row = "gradient";
  const pendulums::inputs in = pendulums::make_inputs();
  suite.reference(row, pendulums::reference(in));

  const auto add = [&](const char* name, auto call, double temp_bytes) {
    auto out = std::make_shared<std::array<float, 2>>();
    suite.add({.row = row,
               .name = name,
               .call = [call, out] { call(out->data()); },
               .result = [out] { return bench::numbers(std::span<const float>(*out)); },
               .counters = {{"temp_bytes", temp_bytes}}});
  };
  add("by hand, tangents", [&](float* out) { pendulums::hand_side{}.call(in, out); }, 0);
#ifdef DRX_BENCH_DRX
  namespace drx_side = pendulums::program;
  int none = 0;
  drx::session session(none, nullptr);
  const auto data = session.place<drx_side::runs>(pendulums::runs, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    drx_side::run r;
    r.angle.data()[0] = in.angle[at], r.speed.data()[0] = in.speed[at], r.seen.data()[0] = in.seen[at];
    return r;
  });
  drx_side::constants constants, slopes;
  constants.pull.data()[0] = pendulums::pull, constants.damping.data()[0] = pendulums::damping;
  auto program = session.compile<drx_side::Gradient>();
  add(
      "drx",
      [&](float* out) {
        program.call(slopes, constants, data);
        out[0] = slopes.pull.data()[0], out[1] = slopes.damping.data()[0];
      },
      static_cast<double>(program.server_bytes() + session.threads() * program.thread_bytes()));
#endif
  return suite.run();
}
