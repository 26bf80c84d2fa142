// What the programs of examples/self_tuning cost is what is counted when they run.
#include <examples/self_tuning/self_tuning.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("self_tuning") { harness::compare_cost<self_tuning::round_program>(); }
