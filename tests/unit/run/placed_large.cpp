// Large values of members: a stage computes them where they belong, and a loop's carries change places instead of being
// copied.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include "harness/run.hpp"

#include <algorithm>

namespace {
struct strips : drx::placement<strips> {};
using grid = drx::array<double, 64, 192>;  // 96 KiB
using data = drx::placed<grid, strips>;

constexpr auto relaxed = [](auto at) {
  auto mean = drx::reduce_mean(drx::map([](auto v) { return drx::mean(v); }, at));
  auto step = [](auto v, auto c) { return 0.5 * (drx::roll<1, 1>(v) + c); };
  return drx::map(step, at, drx::broadcast<strips>(mean));
};
template <int Steps>
constexpr auto carried = [](auto x) { return drx::fori_loop<Steps>(x, relaxed); };
/// In a loop around the loop: the inner one's result is the outer one's carry.
constexpr auto around = [](auto x) {
  return drx::reduce_sum(drx::map([](auto v) { return drx::sum<0>(v); },
                                  drx::fori_loop<3>(x, [](auto at) { return drx::fori_loop<3>(at, relaxed); })));
};
/// The outer loop's carry is read behind the inner loop, whose result is the next one.
constexpr auto around_twice = [](auto x) {
  return drx::fori_loop<3>(std::pair{x, x}, [](auto now) {
    auto inner = drx::fori_loop<3>(now.first, relaxed);
    return std::pair{inner, drx::map([](auto a, auto b) { return a - 0.5 * drx::roll<1, 1>(b); }, inner, now.first)};
  });
};
/// One carry is the other one's old value, and both are what a stage makes; the steps are stacked.
constexpr auto waves = [](auto x) {
  auto step = [](auto now, auto) {
    auto [before, at] = now;
    auto next = drx::map([](auto a, auto b) { return 0.25 * a - drx::roll<1, 0>(b); }, before, relaxed(at));
    return std::pair{std::pair{at, next}, drx::reduce_sum(drx::map([](auto v) { return drx::mean(v); }, next))};
  };
  auto [end, sums] = drx::scan(step, std::pair{x, relaxed(x)}, drx::array<double, 3>{});
  return std::tuple{end, sums};
};
/// Two results of a stage that are one value, and one that is computed from another.
constexpr auto twice = [](auto x) {
  auto [a, b, c] = drx::fori_loop<3>(std::tuple{x, x, x}, [](auto now) {
    auto [u, v, w] = now;
    auto next = relaxed(u);
    return std::tuple{next, next, drx::map([](auto p, auto q) { return p - 0.5 * drx::roll<3, 1>(q); }, next, w)};
  });
  return std::tuple{a, b, c};
};
}  // namespace

TEST_CASE("large carries of members, after even and odd numbers of steps") {
  harness::check_run<drx::program<carried<1>, data>>({}, {3});
  harness::check_run<drx::program<carried<2>, data>>({}, {3, 0});
  harness::check_run<drx::program<carried<3>, data>>({}, {5, 1});
}
TEST_CASE("large carries of a loop in a loop") {
  harness::check_run<drx::program<around, data>>({}, {4});
  harness::check_run<drx::program<around_twice, data>>({}, {3});
}
TEST_CASE("large carries that are each other's values") {
  harness::check_run<drx::program<waves, data>>({}, {3});
  harness::check_run<drx::program<twice, data>>({}, {3});
}
TEST_CASE("a member's large result takes no workspace") {
  using P = drx::plan::lowered<drx::program<carried<3>, data>>;
  CHECK(P::plan.thread_bytes < 4096);
}
TEST_CASE("large carries of some of the members") {
  drx::serial_executor e;
  drx::single_rank c;
  const auto value = [](std::int64_t i) {
    grid g;
    for (int k = 0; double& v : g) v = .01 * static_cast<double>((i + 1) * (k++ % 17));
    return g;
  };
  const std::vector<std::int64_t> chosen{1, 4, 6};
  const auto x = drx::place<strips>(c, 8, value);
  const auto few = drx::place<strips>(c, 3, [&](std::int64_t i) { return value(chosen[static_cast<std::size_t>(i)]); });
  drx::compiled<drx::program<carried<3>, data>> p(e, c), q(e, c);
  const auto got = p(x.subset(chosen, 0)), expected = q(few);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(std::ranges::equal(got[i], expected[i]));
}

namespace {
using odd = drx::array<double, 9001>;  // rows of no whole cache lines
using odd_data = drx::placed<odd, strips>;
constexpr auto settled = [](auto at) {
  auto mean = drx::reduce_mean(drx::map([](auto v) { return drx::mean(v); }, at));
  auto step = [](auto v, auto c) { return 0.5 * (drx::sin(v) + c); };
  return drx::map(step, at, drx::broadcast<strips>(mean));
};
constexpr auto while_below = [](auto x, auto limit) {
  auto below = [=](auto carry) { return std::get<1>(carry) < limit; };
  auto step = [](auto carry) { return std::tuple{settled(std::get<0>(carry)), std::get<1>(carry) + 1.0}; };
  return std::get<0>(drx::while_loop<3>(below, step, std::tuple{x, 0.0 * limit}));
};
/// A loop in a branch in a loop, whose old carry is read behind it and is another carry's next value.
constexpr auto loop_in_a_branch = [](auto x, auto w) {
  return drx::fori_loop<3>(std::tuple{x, x, w}, [](auto carry) {
    auto a = std::get<0>(carry), b = std::get<1>(carry);  // clang 14 captures no structured bindings
    auto u = std::get<2>(carry);
    auto z = drx::cond(drx::sum(u) > 0.1, [=] { return drx::fori_loop<3>(a, settled); }, [=] { return settled(b); });
    auto next = drx::map([](auto p, auto q, auto r) { return p - 0.5 * q + 0.1 * r; }, z, a, b);
    auto mean = drx::reduce_mean(drx::map([](auto v) { return drx::mean(v); }, next));
    return std::tuple{next, a, 0.01 * mean - u};
  });
};
}  // namespace

TEST_CASE("large carries of a loop that ends by a condition, after no step and after some") {
  using P = drx::program<while_below, odd_data, double>;
  for (const double limit : {-1.5, 0.5, 1.5, 2.5, 3.5})
    harness::check_run<P>({.low = limit, .high = limit + 0.1}, {3, 0, 1});
}
TEST_CASE("large carries of a loop in a branch in a loop") {
  harness::check_run<drx::program<loop_in_a_branch, odd_data, double>>({}, {3, 0, 1});
}
