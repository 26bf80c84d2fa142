// What the programs of examples/learned_weights cost is what is counted when they run.
#include <examples/learned_weights/learned_weights.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("learned_weights") { harness::compare_cost<learned_weights::round_program>(); }
