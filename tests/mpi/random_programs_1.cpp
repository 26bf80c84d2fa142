// ranks: 1 3
// options: -O0
#include "harness/random_on_ranks.hpp"

TEST_CASE("random programs with their gradients, seeds from 100") { harness::check_seeds_on_ranks<100, 8>(); }
