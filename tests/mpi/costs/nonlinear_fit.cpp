// What the programs of examples/nonlinear_fit cost is what is counted when they run.
#include <examples/nonlinear_fit/nonlinear_fit.hpp>

#include "harness/counted_calls.hpp"

TEST_CASE("nonlinear_fit") { harness::compare_cost<nonlinear_fit::step_program>(); }
