// What the programs of examples/diloco cost is what is counted when they run.
#include <examples/diloco/diloco.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("diloco") { harness::compare_cost<diloco::round_program>(); }
