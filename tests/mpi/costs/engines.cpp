// What the programs of examples/engines cost is what is counted when they run.
#include <examples/engines/engines.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("engines") {
  harness::compare_cost<engines_example::fedavg>();
  harness::compare_cost<engines_example::hypergradient>();
  harness::compare_cost<engines_example::k_means>();
}
