// bench/shallow_water/main.cpp: the sides of a forecast of shallow water and of its adjoint. Over ranks, each has some
// of the strips, and the root's are compared.
#include <cstdio>

#if defined(DRX_BENCH_DRX)
#include <drx/backend/session.hpp>
#include <drx/run.hpp>

#include <harness.hpp>
#include <map>
#include <memory>
#include <ranks.hpp>
#include <tuple>
#include <vector>

#include "drx_side.hpp"
#include "hand_side.hpp"

namespace shallow_water::bench {

strip_of_water start_of(std::int64_t strip) {
  strip_of_water water;
  for (int f = 0; f < 3; ++f)
    for (int i = 0; i < in_strips.rows; ++i)
      for (int j = 0; j < columns; ++j) water(f, i, j) = water_at(f, static_cast<int>(strip) * in_strips.rows + i, j);
  return water;
}
depths goal_of(std::int64_t strip) {
  depths goal;
  for (int i = 0; i < in_strips.rows; ++i)
    for (int j = 0; j < columns; ++j) goal(i, j) = water_at(3, static_cast<int>(strip) * in_strips.rows + i, j);
  return goal;
}
/// All numbers of this rank's strips.
template <class Placed>
std::vector<double> numbers(const Placed& x) {
  std::vector<double> all;
  for (std::int64_t m = 0; m < x.local(); ++m) {
    const auto strip = std::make_unique<strip_of_water>(x[m]);
    all.insert(all.end(), strip->begin(), strip->end());
  }
  return all;
}

template <class Compiled>
std::map<std::string, double> temporaries(const drx::session& s, const Compiled& program) {
  return {{"temp_bytes", static_cast<double>(program.server_bytes() + s.threads() * program.thread_bytes())}};
}

}  // namespace shallow_water::bench

int main(int argc, char** argv) {
  namespace bench_of = shallow_water::bench;
  drx::session s(argc, argv);
  bench::arguments_of_rank arguments(argc, argv, s.rank());
  bench::suite suite(arguments.count, arguments.values());
  const auto water = s.place<shallow_water::strips>(bench_of::strips, bench_of::start_of);
  const auto goals = s.place<shallow_water::strips>(bench_of::strips, bench_of::goal_of);

  auto forecast = s.compile<bench_of::Forecast>();
  auto end = forecast(water);
  suite.add({.row = "forecast",
             .name = "drx",
             .call = [&] { forecast.call(end, water); },
             .result = [&] { return bench_of::numbers(end); },
             .counters = bench_of::temporaries(s, forecast),
             .iterations = 1});
#ifdef __OPTIMIZE__  // (where tests only see that it compiles, the forecast will do)
  auto slope = s.compile<bench_of::Slope>();
  auto found = slope(water, goals);
  suite.add({.row = "slope",
             .name = "drx",
             .call = [&] { slope.call(found, water, goals); },
             .result = [&] { return bench_of::numbers(std::get<1>(found)); },
             .counters = bench_of::temporaries(s, slope),
             .iterations = 1});
#endif
  bench_of::hand_side hand;
  if (s.ranks() == 1)
    suite.add({.row = "forecast",
               .name = "by hand",
               .call = [&] { hand.call(); },
               .result =
                   [&] {
                     std::vector<double> all;
                     constexpr int each = bench_of::in_strips.rows;
                     for (int strip = 0; strip < bench_of::strips; ++strip)
                       for (int f = 0; f < 3; ++f)
                         for (int i = 0; i < each; ++i)
                           for (int j = 0; j < bench_of::columns; ++j) all.push_back(hand.at(f, strip * each + i, j));
                     return all;
                   },
               .counters = {{"temp_bytes", bench_of::hand_side::temp_bytes}},
               .iterations = 1});
  return suite.run();
}

#else
int main() { std::puts("bench_shallow_water needs drx::run"); }
#endif
