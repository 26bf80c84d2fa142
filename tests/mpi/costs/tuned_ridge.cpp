// What the programs of examples/tuned_ridge cost is what is counted when they run.
#include <examples/tuned_ridge/tuned_ridge.hpp>

#include "harness/counted_calls.hpp"

// Conjugate gradients take as many steps as the data need, so nobody knows the messages of a call before it ends.
static_assert(!drx::cost<tuned_ridge::slope_program>().collectives(2));

TEST_CASE("tuned_ridge") { harness::compare_cost<tuned_ridge::measure_program>(); }
