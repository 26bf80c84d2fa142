// ranks: 1 2 3 5
// threads: 2
// What all members share is computed by each rank, also by one without members: the same bits on any number of ranks
// and threads.
#include <drx/backend/session.hpp>

#include "harness/filters.hpp"
#include "harness/ranks.hpp"
#include "harness/run.hpp"

namespace {
template <class P>
void check_bits() {
  auto& c = harness::session().communicator();
  drx::compiled<P> p(harness::session().executor(), c);
  for (const std::int64_t n : {0, 1, 2, 9, 63, 64, 100, 300}) {
    CAPTURE(n);
    const auto in = harness::random_inputs<P>({.low = 0.5, .high = 2, .members = n});
    const auto serial = harness::run_serial<P>(in);
    CHECK(harness::same_bits(harness::call(p, c, in),
                             harness::own_block(serial, drx::even_blocks(n, c.size()), c.rank())));
  }
}
}  // namespace

TEST_CASE("gradients") { check_bits<filters::Likelihood>(); }
TEST_CASE("results that do not differ between members, too") { check_bits<filters::AllResults>(); }
