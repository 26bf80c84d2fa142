// What the programs of examples/fedsgd cost is what is counted when they run.
#include <examples/fedsgd/fedsgd.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("fedsgd") { harness::compare_cost<fedsgd::round_program>(); }
