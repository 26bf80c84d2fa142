// ranks: 1 2 3
// threads: 2
// A member's random numbers depend on the key and its number, not on where it is.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/ranks.hpp"
#include "harness/run.hpp"

namespace {
struct clients : drx::placement<clients> {};

constexpr auto noise = [](auto seed, auto x) {
  const auto key = drx::random_key(seed);
  auto noisy = drx::map([=](auto i, auto y) { return y + drx::normal<double, 3>(drx::fold_in(key, i)); },
                        drx::partition_index<clients>(), x);
  return std::tuple{drx::reduce_sum(noisy), noisy};
};
using Noise = drx::program<noise, std::int64_t, drx::placed<drx::array<double, 3>, clients>>;
}  // namespace

TEST_CASE("the same numbers on any number of ranks and threads") {
  auto& c = harness::session().communicator();
  drx::compiled<Noise> p(harness::session().executor(), c);
  for (std::int64_t n : {1, 5, 40}) {
    CAPTURE(n);
    const auto in = harness::random_inputs<Noise>({.members = n});
    const auto expected = harness::run_serial<Noise>(in), plain = harness::run_plain<Noise>(in);
    harness::check_near(expected, plain);
    CHECK(harness::same_bits(harness::call(p, c, in),
                             harness::own_block(expected, drx::even_blocks(n, c.size()), c.rank())));
  }
}
