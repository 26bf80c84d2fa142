// Slices, padded, joined, rolled and flipped arrays, which fused loops and other such entries read where they lie.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include "harness/run.hpp"

#include <tuple>

namespace {
using drx::all;
using drx::array;
using drx::range;

/// The entries that move elements and are stored.
template <class P>
int copies() {
  using lowered = drx::plan::lowered<P>;
  int n = 0;
  for (const auto& e : lowered::tape.entries)
    n += e.prim && e.prim->role == drx::role::rearranged && lowered::plan.stored[lowered::tape.pool[e.results.first]];
  return n;
}

// A stencil on a grid that goes round, along each axis, by two places, too; its transposes.
constexpr auto around = []<class A>(const A& x) {
  constexpr std::int64_t n = A::shape[0], m = A::shape[1];
  auto up = drx::concatenate(drx::slice<1, n>(x), drx::slice<0, 1>(x));
  auto far = drx::concatenate(drx::slice<n - 2, n>(x), drx::slice<0, n - 2>(x));
  auto left = drx::concatenate<1>(drx::slice<all, range<1, m>>(x), drx::slice<all, range<0, 1>>(x));
  return drx::tanh(x + 2 * up - far * left) * drx::roll<3, 1>(x) + drx::roll<-1, 0>(left) * x;
};
template <class A>
using Around = drx::program<[](auto x) {
  return std::pair{around(x), drx::grad([](auto y) { return drx::sum(drx::square(around(y))); })(x)};
},
                            A>;

// Zeros around and between, strides, and both again.
constexpr auto padded = []<class A>(const A& x) {
  constexpr std::int64_t n = A::shape[0];
  auto wide = drx::pad<2, 3>(x);
  auto apart = drx::pad<drx::padding<1, 0, 2>>(x);  // 3 n - 1 rows
  auto thin = drx::slice<0, 3 * n - 1, 3>(apart) * 2 + x;
  auto again = drx::pad<1, 1>(drx::slice<1, n + 3>(wide));
  auto mirrored = drx::flip<0>(again) * again - drx::slice<0, n + 4>(wide);
  return std::tuple{drx::exp(mirrored), thin, drx::sum<0>(drx::slice<0, 3 * n - 3>(apart) * 3)};
};
template <class A>
using Padded = drx::program<[](auto x) {
  return std::pair{padded(x), drx::grad([](auto y) {
                     auto [a, b, c] = padded(y);
                     return drx::sum(a) + drx::sum(b * b) + drx::sum(c);
                   })(x)};
},
                            A>;

// Beside broadcast operands, positions, integers and conditions.
constexpr auto beside = []<class A>(const A& x, auto row, auto column, auto number) {
  constexpr std::int64_t n = A::shape[0];
  auto down = drx::pad<1, 0>(drx::slice<0, n - 1>(x));
  auto at = drx::iota<array<std::int32_t, A::shape[0], A::shape[1]>, 1>();
  auto later = drx::concatenate(drx::slice<1, n>(at), drx::slice<0, 1>(at)) + at;
  auto positive = drx::concatenate(drx::slice<1, n>(x > 0), drx::slice<0, 1>(x > 0));
  return std::tuple{down * row + drx::reshape<n, 1>(column) - number, down + drx::cast<double>(later) * x,
                    drx::where(positive, down, x * row)};
};
template <std::int64_t N, std::int64_t M>
using Beside = drx::program<beside, array<double, N, M>, array<double, M>, array<double, N>, double>;

// Positions along the axis whose rows are read in segments.
constexpr auto counted = []<class A>(const A& x) {
  constexpr int axis = A::rank - 1;
  auto at = drx::iota<A, axis>();
  auto rolled = drx::roll<5, axis>(x);
  return std::pair{drx::where(at < 8, rolled, x * at), rolled * x - at};
};
template <int... N>
using Counted = drx::program<counted, array<double, N...>>;

// In loops, whose carries are read at their neighbours and must not be overwritten before.
struct rods : drx::placement<rods> {};
template <class A>
constexpr auto heated = [](auto k, auto x) {
  return drx::fori_loop<4>(std::pair{x, x * 2}, [=](auto state) {
    auto [t, s] = state;
    auto wide = drx::pad<1, 1>(t);
    auto flow = k * (drx::slice<1, A::shape[0] + 2>(wide) - drx::slice<0, A::shape[0] + 1>(wide));
    auto next = t + 0.2 * (drx::slice<1, A::shape[0] + 1>(flow) - drx::slice<0, A::shape[0]>(flow));
    return std::pair{next, s + drx::roll<1, 0>(t) * next};
  });
};
template <class A>
constexpr auto mean_heat = [](auto k, auto x) {
  return drx::reduce_mean(drx::map(
      [](auto c, auto y) {
        auto [t, s] = heated<A>(c, y);
        return drx::sum(drx::square(t) + s);
      },
      drx::broadcast<rods>(k), x));
};
template <class K, class A>
using Heated = drx::program<drx::value_and_grad(mean_heat<A>), K, drx::placed<A, rods>>;

// More pieces than one rearrangement may have.
constexpr auto many = [](auto x) {
  auto twice = [](auto y) { return drx::concatenate(y, drx::slice<0, 3>(y), drx::slice<1, 5>(y)); };
  auto a = twice(twice(twice(twice(x))));
  return a * a + drx::roll<5, 0>(a);
};
using Many = drx::program<many, array<double, 6, 9>>;
}  // namespace

TEST_CASE("what moves elements for a loop is not stored") {
  CHECK(copies<Around<array<float, 8, 128>>>() == 0);
  CHECK(copies<Heated<array<double, 65>, array<double, 64>>>() == 0);
  CHECK(copies<Many>() > 0);
}
TEST_CASE("stencils read neighbours where they lie") {
  harness::check_run<Around<array<float, 8, 128>>>({}, {1});
  harness::check_run<Around<array<float, 8, 32>>>({}, {1});
  harness::check_run<Around<array<double, 5, 7>>>({}, {1});
  harness::check_run<Around<array<double, 3, 600>>>({}, {1});
  harness::check_run<Around<array<double, 4, 6, 16>>>({}, {1});
  harness::check_run<Around<array<float, 4, 6, 5>>>({}, {1});
}
TEST_CASE("zeros beside arrays are nowhere") {
  harness::check_run<Padded<array<double, 40>>>({}, {1});
  harness::check_run<Padded<array<double, 5, 16>>>({}, {1});
  harness::check_run<Padded<array<float, 4, 3, 20>>>({}, {1});
  harness::check_run<Padded<array<double, 6, 700>>>({}, {1});
}
TEST_CASE("rearrangements stand beside other operands") {
  harness::check_run<Beside<6, 16>>({}, {1});
  harness::check_run<Beside<30, 10>>({}, {1});
  harness::check_run<Beside<3, 40>>({}, {1});
  harness::check_run<Counted<41>>({}, {1});
  harness::check_run<Counted<64>>({}, {1});
  harness::check_run<Counted<3, 64>>({}, {1});
}
TEST_CASE("carries are read at their neighbours") {
  harness::check_run<Heated<array<double, 65>, array<double, 64>>>({}, {1, 5, 41, 300});
  harness::check_run<Heated<array<double, 7, 16>, array<double, 6, 16>>>({}, {1, 300});
  harness::check_run<Heated<array<double, 6, 1>, array<double, 5, 8>>>({}, {1, 300});
}
TEST_CASE("rearrangements of many pieces") { harness::check_run<Many>({}, {1}); }
