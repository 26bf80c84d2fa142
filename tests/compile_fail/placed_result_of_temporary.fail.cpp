// The placed result lies in the program, which ends with the statement.
// needs: run
// expect: error::placed_results_would_outlive_their_program
// expect: auto p = session.compile<P>\(\)
#include <drx/run/call/compiled.hpp>
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) { return std::pair{drx::reduce_sum(x), drx::map([](auto v) { return v * v; }, x)}; };
using P = drx::program<f, drx::placed<double, clients>>;

void of(drx::executor& e, drx::communicator& c, const drx::partitions<drx::scalar<double>, clients>& x) {
  auto r = drx::compiled<P>(e, c)(x);
  (void)r;
}
