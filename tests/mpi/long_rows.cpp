// ranks: 1 2 3 5
// threads: 2
// Long rows go in blocks of 16, two to a leaf of the tree: the same bits on any number of ranks and threads.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

namespace {
struct rows : drx::placement<rows> {};
using row = drx::array<float, 70>;

constexpr auto loss = [](auto w, auto x, auto y) {
  auto z = drx::dot(x, w);
  return drx::log1p(drx::exp(-drx::abs(z))) - y * z;
};
constexpr auto slope = [](auto w, auto x, auto y) {
  return drx::value_and_grad([=](auto v) { return drx::reduce_mean(drx::map(loss, drx::broadcast<rows>(v), x, y)); })(
      w);
};
using Slope = drx::program<slope, row, drx::placed<row, rows>, drx::placed<float, rows>>;
}  // namespace

TEST_CASE("a regression over long rows has the same bits on any number of ranks") {
  auto& c = harness::session().communicator();
  drx::compiled<Slope> p(harness::session().executor(), c);
  for (std::int64_t n : {0, 1, 7, 8, 9, 31, 32, 33, 1024, 1100, 20'011}) {
    CAPTURE(n);
    const auto in = harness::random_inputs<Slope>({.members = n});
    CHECK(harness::same_bits(harness::call(p, c, in), harness::run_serial<Slope>(in)));
  }
}
