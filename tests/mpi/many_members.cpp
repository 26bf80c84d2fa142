// ranks: 1 2 3 5
// threads: 2
// options: -O3
#include "harness/many_members_on_ranks.hpp"

TEST_CASE("random programs of many members, for any processor") { harness::check_seeds_of_many<10, 3>(); }
