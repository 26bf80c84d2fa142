// A compiled program of two inputs, called with one argument.
// needs: run
// expect: error::wrong_number_of_arguments
// expect: one argument for each input
#include <drx/run.hpp>

constexpr auto f = [](auto x, auto n) { return x * drx::cast<float>(n); };
using F = drx::program<f, drx::array<float, 3>, int>;
void fit(drx::session& session) {
  auto run = session.compile<F>();
  auto y = run(drx::array<float, 3>{});
  // correct: auto y = run(drx::array<float, 3>{}, 2);
}
