// ranks: 1 2 3 5
// threads: 2
// Arrays over members and back, on any number of ranks: the same bits as on one.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct parts : drx::placement<parts> {};

constexpr auto squares = [](auto x, auto w) {
  const auto y = drx::map([=](auto v, auto i) { return drx::sin(v * w) + drx::cast<double>(i); },
                          drx::distribute<parts>(x), drx::partition_index<parts>());
  return std::tuple{drx::gather<7>(y), drx::reduce_sum(y),
                    drx::gather<7>(drx::map([](auto v) { return drx::max(v) > 2; }, y))};
};
using Squares = program<squares, array<double, 7, 2>, array<double, 2>>;
constexpr auto slope =
    drx::grad<0, 1>([](auto x, auto w) { return drx::sum(drx::square(std::get<0>(squares(x, w)))); });
using Slope = program<slope, array<double, 7, 2>, array<double, 2>>;
}  // namespace

TEST_CASE_TEMPLATE("distribute and gather", P, Squares, Slope) {
  const auto in = harness::random_inputs<P>({});
  const auto one = harness::run_serial<P>(in);
  drx::compiled<P> run(harness::session().executor(), harness::session().communicator());
  const auto got = harness::call(run, harness::session().communicator(), in);
  CHECK(harness::same_bits(got, one));
  CHECK(harness::same_bits(harness::call(run, harness::session().communicator(), in), one));
  harness::check_near(one, harness::run_plain<P>(in));
}
