// A program for a shared object whose reductions stand in a branch.
// expect: a_reduction_depends_on_a_condition<[0-9]+>
// expect: outside of branches and loops that end by a condition
// needs: run
#include <drx/drx.hpp>
#include <drx/engines/shared_object.hpp>

struct rows : drx::placement<rows> {};
constexpr auto total = [](auto w, auto x) {
  return drx::reduce_mean(drx::map([](auto v, auto row) { return v * row; }, drx::broadcast<rows>(w), x));
};
constexpr auto branch = [](auto w, auto x) {
  return drx::cond(w > 1.0, [=](auto v) { return total(v, x); }, [](auto v) { return v; }, w);
};
using Branch = drx::program<branch, double, drx::placed<double, rows>>;
using Round = drx::program<total, double, drx::placed<double, rows>>;

extern "C" const drx_engine* drx_engine_of() {
  return drx::engine_table<Round, Branch>();
  // correct: return drx::engine_table<Round>();
}
