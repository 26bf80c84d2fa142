// A program for an engine whose reductions stand in a loop that ends by a condition.
// expect: a_reduction_depends_on_a_condition<[0-9]+>
// expect: outside of branches and loops that end by a condition
// needs: run
#include <drx/drx.hpp>
#include <drx/engines/worker.hpp>

struct rows : drx::placement<rows> {};
constexpr auto total = [](auto w, auto x) {
  return drx::reduce_mean(drx::map([](auto v, auto row) { return v * row; }, drx::broadcast<rows>(w), x));
};
constexpr auto loop = [](auto w, auto x) {
  return drx::while_loop([](auto v) { return v > 1.0; }, [=](auto v) { return total(v, x); }, w);
};
using Loop = drx::program<loop, double, drx::placed<double, rows>>;
using Round = drx::program<total, double, drx::placed<double, rows>>;

int run(int argc, char** argv) {
  return drx::worker_main<Round, Loop>(argc, argv);
  // correct: return drx::worker_main<Round>(argc, argv);
}
