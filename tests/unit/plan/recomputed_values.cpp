// Large values of one operation on small arrays are computed again for loops that come after a step.
#include <drx/drx.hpp>

#include "harness/passes.hpp"
#include "harness/run.hpp"

namespace {
using drx::array;

/// The differences that are computed again.
template <class P>
int added_differences() {
  return harness::added_by_pass<P>("recomputed values", drx::prim::sub);
}

// The differences of all pairs of points, from which come their distances, and which these then scale.
constexpr auto in_rows = [](auto x) {
  auto apart = drx::expand_dims<2>(x) - drx::expand_dims<0>(drx::transpose(x));
  auto kernel = drx::exp(-drx::sum<1>(drx::square(apart)));
  return 2.0f * drx::sum<2>(drx::expand_dims<1>(kernel) * apart);
};
using InRows = drx::program<in_rows, array<float, 64, 2>>;
using Few = drx::program<in_rows, array<float, 16, 2>>;

// After one sum, and after two.
constexpr auto twice = [](auto x) {
  auto apart = drx::expand_dims<2>(x) - drx::expand_dims<0>(drx::transpose(x));
  auto near = drx::expand_dims<1>(drx::sum<1>(drx::square(apart)));
  auto again = drx::expand_dims<1>(drx::sum<1>(apart * near));
  return std::pair{drx::sum<2>(apart * again), drx::sum<2>(drx::square(apart))};
};
using Twice = drx::program<twice, array<double, 48, 2>>;

// Stored in any case: it is a result; and it is the factor of a product.
constexpr auto result = [](auto x, auto y) {
  auto apart = drx::expand_dims<1>(x) - drx::expand_dims<0>(y);
  return std::pair{apart, apart * drx::sum(drx::square(apart))};
};
constexpr auto factor = [](auto x, auto y) {
  auto apart = drx::expand_dims<1>(x) - drx::expand_dims<0>(y);
  return std::pair{drx::matmul(apart, apart), apart * drx::sum(drx::square(apart))};
};
using Result = drx::program<result, array<float, 64>, array<float, 64>>;
using Factor = drx::program<factor, array<float, 64>, array<float, 64>>;

// In members, in a loop.
struct sets : drx::placement<sets> {};
constexpr auto moved = [](auto x) { return drx::fori_loop<3>(x, [](auto y) { return y + 0.01f * in_rows(y); }); };
constexpr auto of_members = [](auto x) { return drx::reduce_mean(drx::map(moved, x)); };
using OfMembers = drx::program<of_members, drx::placed<array<float, 64, 2>, sets>>;
}  // namespace

TEST_CASE("the differences of all pairs are computed again, not stored") {
  CHECK(added_differences<InRows>() == 1);
  CHECK(added_differences<Few>() == 0);
  harness::check_run<InRows>({}, {1});
  CHECK(added_differences<Twice>() == 2);
  harness::check_run<Twice>({}, {1});
  CHECK(added_differences<OfMembers>() > 0);
  harness::check_run<OfMembers>({}, {1, 5});
  constexpr std::int64_t differences = 64 * 2 * 64 * sizeof(float);
  static_assert(drx::run::code_of<InRows>::plan.server_bytes < differences);
}
TEST_CASE("values that are stored in any case are read") {
  CHECK(added_differences<Result>() == 0);
  CHECK(added_differences<Factor>() == 0);
  harness::check_run<Result>({}, {1});
  harness::check_run<Factor>({}, {1});
}
