// drx/plan/shards/partition_of_member.hpp: the operations of one member go with layouts as each primitive's rule `split` says
// (class partitioner).
// Tested by tests/unit/plan/partitioner.cpp and tests/unit/transform/rules.cpp.
#pragma once

#include <drx/plan/shards/partitioner.hpp>

namespace drx::plan {

/// An entry of one member, as its primitive's rule sees it.
struct partitioner::member_site final : split_site {
  partitioner& p;
  constexpr member_site(partitioner& all, const entry& of) : split_site(all.b, all.t, of, all.mesh), p(all) {}
  [[nodiscard]] constexpr int axis(int i) const override { return p.axis[e.operands[i]]; }
  constexpr int at(int i, int k) override { return p.at(e.operands[i], k); }
  constexpr int from_shards(int x) override { return p.from_shards(p.b, x); }
};

constexpr void partitioner::write_of_member(const entry& e) {
  if (e.prim == &prim::scan && !prim::rules::scan::view(e).guard) return loop(e);
  if (e.prim->split) {
    member_site site(*this, e);
    const vec<split_result> results = e.prim->split(site);
    for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i].id, results[i].axis);
    if (!results.empty()) return;
  }
  add_whole(e);
}
constexpr void partitioner::add_whole(const entry& e) {
  vec<int> operands;
  for (int o : e.operands) operands.push_back(at(o, whole));
  const vec<int> results = b.add(*e.prim, operands, e.attrs, e.regions);
  for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], whole);
}

}  // namespace drx::plan
