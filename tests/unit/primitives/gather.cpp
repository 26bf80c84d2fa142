// distribute and gather: arrays over members and back; each is the other's derivative.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct parts : drx::placement<parts> {};
struct clients : drx::placement<clients> {};

constexpr auto squares = [](auto x, auto w) {  // x: [5, 2]
  const auto mine = drx::distribute<parts>(x);
  const auto y = drx::map([=](auto v, auto i) { return drx::sin(v * w) + drx::cast<double>(i); }, mine,
                          drx::partition_index<parts>());
  return std::tuple{drx::gather<5>(y), drx::reduce_sum(y), y};
};
using Squares = program<squares, array<double, 5, 2>, array<double, 2>>;
static_assert(std::is_same_v<Squares::result,
                             std::tuple<array<double, 5, 2>, array<double, 2>, placed<array<double, 2>, parts>>>);

constexpr auto loss = [](auto x, auto data) {
  return drx::sum(drx::square(drx::gather<3>(drx::map([=](auto v) { return drx::tanh(drx::sum(v * x)); }, data))));
};
constexpr auto slope = drx::grad<0, 1>(loss);
using Slope = program<slope, array<double, 2>, placed<array<double, 2>, clients>>;

constexpr auto in_a_map = [](auto data) {  // each member's array over members of its own
  return drx::map(
      [](auto v) {
        const auto y = drx::map([](auto e) { return drx::exp(e); }, drx::distribute<parts>(v));
        return drx::gather<4>(y) * drx::reduce_sum(y);
      },
      data);
};
using InAMap = program<in_a_map, placed<array<double, 4>, clients>>;
}  // namespace

TEST_CASE("values, derivatives, batches") {
  harness::check_program<Squares>({.members = 5});
  harness::check_program<program<loss, array<double, 2>, placed<array<double, 2>, clients>>>();
  harness::check_program<InAMap>();
  constexpr auto there_and_back = [](auto x) {
    const auto [y, pullback] = drx::vjp([](auto v) { return drx::gather<5>(drx::distribute<parts>(v)); }, x);
    return std::pair{y - x, pullback(x) - x};
  };
  harness::check_zero<program<there_and_back, array<double, 5, 2>>>();
}
TEST_CASE("compiled") {
  harness::check_run<Squares>();
  harness::check_run<Slope>({}, {3});
  harness::check_run<InAMap>();
}
TEST_CASE("not as many members as are gathered") {
  harness::sample s;
  s.members = 4;
  const auto in = harness::random_inputs<Slope>(s);
  CHECK_THROWS_WITH(
      harness::run_serial<Slope>(in),
      "drx: the program, which distributes or gathers an array, has 3 members of clients; an earlier argument has 4");
  CHECK_THROWS_WITH(harness::run_plain<Slope>(in),
                    "drx: placement clients: an input has 4 members, the program or the caller says 3");
}
