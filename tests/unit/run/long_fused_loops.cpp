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

namespace {
constexpr auto rotations = [](auto x, auto w) {
  return std::tuple{drx::sin(x) * w, drx::cos(x) * w, drx::where(w > 0, x, -x)};
};
using Rotations = drx::program<rotations, drx::array<float, 3, 40>, drx::array<float, 40>>;
}  // namespace

TEST_CASE("what several entries read has one pointer") {
  using loop = drx::run::fused_loop<drx::run::code_of<Rotations>, 0>;
  constexpr int pointers = []<int... Q>(std::integer_sequence<int, Q...>) {
    return ((loop::pointers.own[Q] && loop::operand(Q / 3, Q % 3).kind == drx::run::detail::source_kind::memory) + ...);
  }(std::make_integer_sequence<int, 3 * loop::count>{});
  static_assert(pointers == 2);
  harness::check_run<Rotations>({}, {1});
}
