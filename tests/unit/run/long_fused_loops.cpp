// Loops over more elementwise entries than one loop holds.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
constexpr auto chain = [](auto x, auto w) {
  auto y = x;
  for (int k = 0; k < 30; ++k) y = drx::sin(y * w) + x * (1 + 0.01 * k);
  return std::pair{y, drx::sum(y)};
};
using Chain = drx::program<chain, drx::array<double, 3, 5>, drx::array<double, 5>>;
}  // namespace

TEST_CASE("a chain longer than a group") {
  static_assert(drx::run::code_of<Chain>::plan.steps[0].members == drx::machine::longest_loop);
  harness::check_run<Chain>({}, {1});
}
