// What the view of a stage says of each fold's number, and that the number of members is or is not said.
#include <doctest/doctest.h>

#include <drx/plan/staging/stage.hpp>

using namespace drx;
using stage = drx::prim::rules::stage;

namespace {
struct ring : placement<ring> {};
}  // namespace

TEST_CASE("a fold's number is what its name says") {
  stage::writer s;
  s.members = 6;
  s.block_sizes = {32, 8};
  s.add(fold::sum);
  s.add(fold::gather, 6);
  s.add(fold::shards, 3);
  const vec<std::int64_t> first{1, prim::rules::permute::nobody, 0}, second{2, 2, 2, 1};
  s.add_permuted(first);
  s.add(fold::transpose, 6);
  s.add(fold::shard_sum, 2);
  s.add(fold::monoid, 0);
  s.add(fold::monoid, 0);
  s.add_permuted(second);
  s.add(fold::monoid, 1);
  const attributes a = s.make(&placement_of<ring>, 4);
  const stage::view v(a);
  CHECK(v.placed == 4);
  CHECK(v.results == 10);
  CHECK(v.members == 6);
  CHECK(v.block_bodies() == 2);
  CHECK(v.members_of_body(0) == 1);
  CHECK(v.members_of_body(1) == 32);
  CHECK(v.members_of_body(2) == 8);
  CHECK(v.fold_of(0) == fold::sum);
  CHECK(v.gathered_members(1) == 6);
  CHECK(v.shard_count(2) == 3);
  CHECK(vec<std::int64_t>(v.sources(3)) == first);
  CHECK(v.exchanged_members(4) == 6);
  CHECK(v.shards(5) == 2);
  CHECK(v.monoid(7) == 0);
  CHECK(vec<std::int64_t>(v.sources(8)) == second);
  CHECK(v.monoid(9) == 1);
  CHECK(v.begins_monoid(6));
  CHECK(!v.begins_monoid(7));
  CHECK(v.begins_monoid(9));
  CHECK(!v.begins_monoid(0));
  CHECK(v.combine_region(9) == 5);
  CHECK(v.identity_region(9) == 6);
  CHECK(!v.members_of_fold(0));
  CHECK(v.members_of_fold(1) == 6);
  CHECK(!v.members_of_fold(2));
  CHECK(v.members_of_fold(3) == 3);
  CHECK(v.members_of_fold(8) == 4);
  CHECK(stage::print(a) ==
        "ring: sum gather shards permute transpose shard_sum monoid monoid permute monoid; blocks of 32, 8; 6 members");
}
TEST_CASE("nobody says how many members there are") {
  stage::writer s;
  s.add(fold::collect);
  const attributes a = s.make(&placement_of<ring>, 0);
  CHECK(!stage::view(a).members);
  CHECK(stage::view(a).block_bodies() == 0);
  CHECK(stage::view(a).members_of_body(1) == 0);
  CHECK(stage::print(a) == "ring: collect");
  s.members = 0;
  CHECK(stage::view(s.make(&placement_of<ring>, 0)).members == 0);
}
