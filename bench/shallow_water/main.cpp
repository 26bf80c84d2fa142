// bench/shallow_water/main.cpp: the sides of a forecast and its adjoint.
#include <harness.hpp>

#ifdef DRX_BENCH_DRX
#include "drx_side.hpp"
#endif

#include <memory>
#include <vector>

int main(int argc, char** argv) {
  bench::suite suite(argc, argv);
#ifdef DRX_BENCH_DRX
  namespace side = shallow_water::program;
  namespace inputs = shallow_water::bench_inputs;
  using shallow_water::strips;
  int none = 0;
  drx::session session(none, nullptr);
  const auto water = session.place<strips>(side::grid.strips, inputs::water_of);
  const auto places = session.place<strips>(side::grid.strips, inputs::places_of);
  const auto add = [&](const char* row, const char* name, auto& program, auto numbers) {
    suite.add({.row = row,
               .name = name,
               .call = [&program, &water, &places] { program(water, places); },
               .result = [&program, &water, &places, numbers] { return numbers(program(water, places)); },
               .counters = {{"temp_bytes", static_cast<double>(program.server_bytes() +
                                                               session.threads() * program.thread_bytes())}}});
  };
  const auto with = [](const auto& placed, double number) {
    std::vector<double> all{number};
    for (std::int64_t strip = 0; strip < placed.local(); ++strip)
      for (double x : placed[strip]) all.push_back(x);
    return all;
  };
  auto forecast = session.compile<side::Forecast>();
  add("forecast", "drx", forecast, [&](const auto& result) { return with(result.first, result.second); });
  const auto slopes = [&](const auto& result) { return with(result.second, result.first); };
  auto slope = session.compile<side::Slope>();
  add("gradient", "drx", slope, slopes);
  auto slope_of_tenth = session.compile<side::SlopeOfTenth>();
  add("gradient", "drx, every tenth step kept", slope_of_tenth, slopes);
  return suite.run();
#else
  return suite.run();
#endif
}
