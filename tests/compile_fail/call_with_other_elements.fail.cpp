// Memory of doubles where the program takes an array of floats.
// needs: run
// expect: error::argument_is_not_the_input_of_the_program
// expect: memory of its element type
#include <drx/run.hpp>

constexpr auto f = [](auto x, auto n) { return x * drx::cast<float>(n); };
using F = drx::program<f, drx::array<float, 3>, int>;
void fit(drx::session& session) {
  auto run = session.compile<F>();
  auto y = run(std::vector<double>(3), 2);
  // correct: auto y = run(std::vector<float>(3), 2);
}
