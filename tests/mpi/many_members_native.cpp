// ranks: 1 2 3 5
// threads: 2
// options: -O3 -march=native
#include "harness/many_members_on_ranks.hpp"

TEST_CASE("random programs of many members, for this processor") { harness::check_seeds_of_many<8, 3>(); }
