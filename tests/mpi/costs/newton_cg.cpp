// What the programs of examples/newton_cg cost is what is counted when they run.
#include <examples/newton_cg/newton_cg.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("newton_cg") {
  harness::compare_cost<newton_cg::newton_program>();
  harness::compare_cost<newton_cg::gradient_program>();
  harness::compare_cost<newton_cg::measure_program>();
}
