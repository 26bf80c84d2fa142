// What the programs of examples/fedopt cost is what is counted when they run.
#include <examples/fedopt/fedopt.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("fedopt") { harness::compare_cost<fedopt::round_program>(); }
