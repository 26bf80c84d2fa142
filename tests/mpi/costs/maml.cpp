// What the programs of examples/maml cost is what is counted when they run.
#include <examples/maml/maml.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("maml") {
  harness::compare_cost<maml::step_program>();
  harness::compare_cost<maml::score_program>();
}
