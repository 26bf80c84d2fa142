// What the programs of examples/split_clients cost is what is counted when they run.
#include <examples/split_clients/split_clients.hpp>

#include "harness/counted_calls.hpp"

using namespace split_clients;

// Which shards share a rank decides what is sent; only on one rank it is nothing.
static_assert(!drx::cost<round_program<in_halves>>().collectives(2));
static_assert(drx::cost<round_program<in_halves>>().collectives(1) == 0);

TEST_CASE("split_clients") { harness::compare_cost<round_program<whole>>(); }
