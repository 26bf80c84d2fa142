// drx/plan/memory/joined_values.hpp: finds the parts of stored concatenations that fused loops can write in their places.
// Rows that are joined to a matrix, which a step reads, are then not copied.
// Tested by tests/unit/run/joined_values.cpp.
#pragma once

#include <drx/plan/memory/steps.hpp>

namespace drx::plan {

/// Where a value is written that is a part of another: `whole` is -1 if it is none.
struct part_of_joined {
  int whole = -1;
  std::int64_t offset = 0;
};

/// Whether entry x joins its operands one behind the other in memory.
constexpr bool joins_in_memory(const plan_in_progress& w, const frozen_entry& x) {
  if (x.prim != &prim::concatenate || !is_rearrangement(w.t, x)) return false;
  const int axis = prim::rules::concatenate::view(w.t.attributes(x)).axis;
  for (int i = 0; i < axis; ++i)
    if (w.t.values[w.id(x.results, 0)].shape[i] != 1) return false;
  return true;
}

/// By value: of which stored concatenation it is a part.
using parts_by_value = few_by_value<part_of_joined>;

/// By value: of which stored concatenation of region r it is a part. Only results of the region's fused loops are, of
/// whole cache lines, for one concatenation each; `elsewhere` says what has its place outside the frame.
constexpr parts_by_value parts_of_joined(const plan_in_progress& w, int r, const by_value<bool>& elsewhere) {
  parts_by_value parts;
  const int step0 = w.p.first_step[r], steps = w.p.step_count[r];
  for (int s = step0; s < step0 + steps; ++s) {
    if (w.p.steps[s].is_loop) continue;
    const auto& x = w.t.entries[w.p.steps[s].entry];
    if (!joins_in_memory(w, x)) continue;
    const int whole = w.id(x.results, 0);
    if (!w.p.stored[whole] || w.root(whole) != whole || elsewhere[whole]) continue;
    std::int64_t offset = 0;
    for (int i = 0; i < x.operands.count; ++i) {
      const int o = w.id(x.operands, i), v = w.root(o);
      const std::int64_t bytes = w.t.values[o].shape.size() * byte_size(w.t.values[o].type);
      const int made = w.p.loop_of[v];
      if (made >= step0 && made < s && w.p.stored[v] && !elsewhere[v] && parts[v].whole < 0 && bytes == w.bytes(v) &&
          offset % machine::cache_line == 0)
        parts.set(v, w.values_of[r], {whole, offset});
      offset += bytes;
    }
  }
  return parts;
}

}  // namespace drx::plan
