// drx/transform/split.hpp: a tape in two parts: the values known before some inputs are, and the rest.
#pragma once

#include <drx/tape/check.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::transform {

struct split_tape {
  tape known;  // the inputs not marked -> residuals
  tape rest;   // residuals, the inputs marked -> the outputs
};

/// The part that does not depend on the inputs marked `late`, and the rest. Entries with regions stay whole. Constants
/// are in both.
constexpr split_tape split(const tape& t, const vec<bool>& late) {
  vec<bool> is_late(t.values.size(), false), is_free(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) is_late[t.inputs[i]] = late[i];
  builder known, rest;
  rewriter in_known(known, t, {}), in_rest(rest, t, {});
  for (int i = 0; i < t.inputs.size(); ++i)
    if (!late[i]) in_known.names[t.inputs[i]] = known.input(t.values[t.inputs[i]]);
  for (const entry& e : t.entries) {  // the early entries
    bool any = false;
    for (int o : e.operands) any = any || is_late[o];
    for (int r : e.results) {
      is_late[r] = any;
      is_free[r] = e.operands.empty();
    }
    if (!any) in_known.name(e, in_known.copied(e));
  }
  auto need = [&](int v) {  // as an input of the rest
    if (is_late[v] || is_free[v] || in_rest.names[v] >= 0) return;
    known.output(in_known.names[v]);
    in_rest.names[v] = rest.input(t.values[v]);
  };
  for (const entry& e : t.entries) {
    bool any = false;
    for (int o : e.operands) any = any || is_late[o];
    if (any)
      for (int o : e.operands) need(o);
  }
  for (int o : t.outputs) need(o);
  for (int i = 0; i < t.inputs.size(); ++i)
    if (late[i]) in_rest.names[t.inputs[i]] = rest.input(t.values[t.inputs[i]]);
  in_rest.write([&](const entry& e) {
    if (e.results.size() > 0 && (is_late[e.results[0]] || is_free[e.results[0]])) return in_rest.copied(e);
    return vec<int>();
  });
  for (int o : in_rest.outputs()) rest.output(o);
  split_tape r{without_dead_entries(known.take()), without_dead_entries(rest.take())};
  check(r.known);
  check(r.rest);
  return r;
}

}  // namespace drx::transform
