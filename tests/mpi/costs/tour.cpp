// What the programs of examples/tour cost is what is counted when they run.
#include <examples/tour/tour.hpp>

#include "harness/counted_calls.hpp"

#include <algorithm>

// Sums over one axis of the mesh are exchanges of those ranks only that have its members.
static_assert(!drx::cost<tour::Shares>().collectives(2) && drx::cost<tour::Shares>().collectives(1) == 0);

TEST_CASE("tour") {
  const int devices = std::min(harness::size(), 2);  // each on a rank of its own, and none on the others
  harness::compare_cost<tour::Convolutions>();
  harness::compare_cost<tour::Complex>();
  harness::compare_cost<tour::Update>(devices);
  harness::compare_cost<tour::Measure>();
  harness::compare_cost<tour::Train>(devices);
  harness::compare_cost<tour::Batches>();
}
