// drx/plan/shards/map_joiner.hpp: maps over one placement, joined where nothing stands between them.
#pragma once

#include <drx/transform/program.hpp>

namespace drx::plan {

/// Joins maps over p if the later one needs only the earlier one's results and values from before it. A value that both
/// compute (itself, and again for its gradient) is then computed, and gathered, once.
class map_joiner {
 public:
  constexpr map_joiner(const tape& source, const placement_info* placement)
      : t(source), p(placement), maker(t.values.size(), -1), after(t.values.size(), -1) {}

  constexpr tape run() {
    for (const entry& e : t.entries) {
      int last = -1;  // the last entry that this one must wait for
      for (int o : e.operands) last = after[o] > last ? after[o] : last;
      int into = -1;
      if (is_map(e))
        for (int i = last < 0 ? 0 : last; i < kept.size() && into < 0; ++i)
          if (is_map(kept[i])) into = i;
      if (into >= 0) {
        join(kept[into], e);
      } else {
        into = kept.size();
        kept.push_back(e);
      }
      const bool moves = e.prim == &prim::broadcast || e.operands.empty();  // it moves to its first use
      for (int r : e.results) {
        maker[r] = into;
        after[r] = moves ? last : into;
      }
    }
    written = vec<bool>(kept.size(), false);
    tape r = t;
    r.entries = vec<entry>();
    for (int i = 0; i < kept.size(); ++i) write(i, r.entries);
    return r;
  }

 private:
  const tape& t;
  const placement_info* p;
  vec<entry> kept;
  vec<int> maker, after;  // by value: the entry of `kept` that makes it; the one that must come before
  vec<bool> written;

  constexpr bool is_map(const entry& e) const { return e.prim == &prim::map && e.attrs.placement == p; }
  static constexpr void join(entry& first, const entry& e) {
    builder region;
    const tapes before = first.regions;
    vec<int> in = inputs_like(region, before[0]);
    vec<int> out = inline_tape(region, before[0], in), arguments;
    for (int i = 0; i < e.operands.size(); ++i) {
      const int own = first.results.find(e.operands[i]);
      int at = first.operands.find(e.operands[i]);
      if (own < 0 && at < 0) {
        at = in.size();
        in.push_back(region.input(e.regions[0].values[e.regions[0].inputs[i]]));
        first.operands.push_back(e.operands[i]);
      }
      arguments.push_back(own >= 0 ? out[own] : in[at]);
    }
    out.append(inline_tape(region, e.regions[0], arguments));
    for (int o : out) region.output(o);
    first.results.append(e.results);
    first.regions = one_region(region.take());
  }
  constexpr void write(int i, vec<entry>& to) {
    if (written[i]) return;
    written[i] = true;
    for (int o : kept[i].operands)
      if (maker[o] >= 0) write(maker[o], to);
    to.push_back(kept[i]);
    if (kept[i].prim == &prim::map) return;
    for (tape& region : to.back().regions) region = map_joiner(region, p).run();
  }
};

}  // namespace drx::plan
