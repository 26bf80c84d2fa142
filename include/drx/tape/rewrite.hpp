// drx/tape/rewrite.hpp: the parts of all transformations: copying a tape onto another, dropping dead entries.
#pragma once

#include <drx/tape/builder.hpp>

namespace drx {

constexpr tape without_dead_entries(tape t);

/// ids under their new names in `names`; -1 stays -1.
constexpr vec<int> renamed(const vec<int>& ids, const vec<int>& names) {
  vec<int> r;
  r.reserve(ids.size());
  for (int id : ids) r.push_back(id < 0 ? -1 : names[id]);
  return r;
}

/// New inputs in b of the types of t's inputs.
constexpr vec<int> inputs_like(builder& b, const tape& t) {
  vec<int> r;
  for (int i : t.inputs) r.push_back(b.input(t.values[i]));
  return r;
}

/// Writes the entries of a tape on a builder, and keeps how its values are called there. What stands there for an entry
/// is said by a pass, for which an entry as it is, under these names, is `copied`.
struct rewriter {
  builder& b;
  const tape& t;
  vec<int> names;  // by value of t: its name on b; -1: it has none

  constexpr rewriter(builder& on, const tape& source, const vec<int>& inputs)
      : b(on), t(source), names(t.values.size(), -1) {
    b.expect(t);
    for (int i = 0; i < inputs.size(); ++i) names[t.inputs[i]] = inputs[i];
  }
  [[nodiscard]] constexpr vec<int> operands(const entry& e) const { return renamed(e.operands, names); }
  [[nodiscard]] constexpr vec<int> outputs() const { return renamed(t.outputs, names); }

  /// The results of e as it is, with its own regions or these.
  constexpr vec<int> copied(const entry& e) { return copied(e, e.regions); }
  constexpr vec<int> copied(const entry& e, tapes regions) {
    return b.add(*e.prim, operands(e), e.attrs, static_cast<tapes&&>(regions));
  }
  /// A copy of the entry whose regions the function `pass` has rewritten.
  template <class Pass>
  constexpr vec<int> copied_with(const Pass& pass, const entry& e) {
    tapes regions;
    for (const tape& r : e.regions) regions.push_back(pass(r));
    return copied(e, static_cast<tapes&&>(regions));
  }
  /// Names e's results: they are the first of `results`, which may be more, or none.
  constexpr void name(const entry& e, const vec<int>& results) {
    for (int i = 0; i < e.results.size() && i < results.size(); ++i) names[e.results[i]] = results[i];
  }
  /// Goes through t's entries; written(e) writes the replacement of e, and returns its results.
  template <class Written>
  constexpr void write(const Written& written) {
    for (const entry& e : t.entries) name(e, written(e));
  }
};

/// t with each entry rewritten by pass(rewriter, entry), which returns the entry's results; then without dead entries.
template <class Pass>
constexpr tape rewritten(const tape& t, const Pass& pass) {
  builder b;
  rewriter w(b, t, inputs_like(b, t));
  for (const entry& e : t.entries) w.name(e, pass(w, e));
  for (int o : w.outputs()) b.output(o);
  return without_dead_entries(b.take());
}

/// Writes t to b with t's inputs standing for `inputs`. Returns its outputs there.
constexpr vec<int> inline_tape(builder& b, const tape& t, const vec<int>& inputs) {
  rewriter w(b, t, inputs);
  for (const entry& e : t.entries) w.name(e, w.copied(e));
  return w.outputs();
}

/// Whether the outputs depend on all results of t's entries, and on all inputs if `inputs_too` (except a leading
/// index), in regions too: then there is nothing to drop, which is much quicker to see than to do. For branches it may
/// say no wrongly.
constexpr bool is_all_used(const tape& t, bool inputs_too, bool has_index) {
  vec<bool> used(t.values.size(), false);
  for (int o : t.outputs) used[o] = true;
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    for (int r : e.results)
      if (!used[r]) return false;
    for (const tape& r : e.regions)
      if (!is_all_used(r, true, r.inputs.size() == e.operands.size() + 1)) return false;
    for (int o : e.operands) used[o] = true;
  }
  for (int i = has_index; inputs_too && i < t.inputs.size(); ++i)
    if (!used[t.inputs[i]]) return false;
  return true;
}

/// t without the entries on which no output depends; unused parts of regions are dropped too (by each primitive's
/// `prune`).
constexpr tape without_dead_entries(tape t) {
  if (is_all_used(t, false, false)) return t;
  vec<bool> used(t.values.size(), false);
  for (int o : t.outputs) used[o] = true;
  vec<entry> kept;
  kept.reserve(t.entries.size());
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    entry& e = t.entries[i];
    bool any = false;
    for (int r : e.results) any = any || used[r];
    if (!any) continue;
    if (e.prim->prune) {
      vec<bool> wanted;
      for (int r : e.results) wanted.push_back(used[r]);
      e.prim->prune(e, wanted);
    }
    for (int o : e.operands) used[o] = true;
    kept.push_back(static_cast<entry&&>(e));
  }
  tape r;
  r.values.reserve(t.values.size());
  r.entries.reserve(kept.size());
  vec<int> names(t.values.size(), -1);
  auto declare = [&](int id) {
    names[id] = r.values.size();
    r.values.push_back(t.values[id]);
    return names[id];
  };
  for (int i : t.inputs) r.inputs.push_back(declare(i));
  for (int i = kept.size() - 1; i >= 0; --i) {
    entry& e = kept[i];
    e.operands = renamed(e.operands, names);
    for (int& result : e.results) result = declare(result);
    r.entries.push_back(static_cast<entry&&>(e));
  }
  r.outputs = renamed(t.outputs, names);
  return r;
}

/// Whether `holds` is true for an entry of t, or for one in its regions.
template <class F>
constexpr bool any_entry(const tape& t, F holds) {
  for (const entry& e : t.entries) {
    if (holds(e)) return true;
    for (const tape& r : e.regions)
      if (any_entry(r, holds)) return true;
  }
  return false;
}

/// t with each transparent entry replaced by its first region, in regions too.
constexpr tape without_transparent_entries(tape t) {
  if (!any_entry(t, [](const entry& e) { return e.prim->transparent; })) return t;
  return rewritten(t, [](rewriter& w, const entry& e) {
    if (e.prim->transparent) return inline_tape(w.b, without_transparent_entries(e.regions[0]), w.operands(e));
    return w.copied_with(without_transparent_entries, e);
  });
}

/// The inputs that the wanted outputs need, by entries without regions; those with regions may need more.
constexpr vec<bool> needed_inputs(const tape& t, const vec<bool>& wanted_outputs) {
  vec<bool> used(t.values.size(), false), inputs;
  for (int i = 0; i < t.outputs.size(); ++i)
    if (wanted_outputs[i]) used[t.outputs[i]] = true;
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    if (!e.regions.empty()) continue;
    bool any = false;
    for (int r : e.results) any = any || used[r];
    if (any)
      for (int o : e.operands) used[o] = true;
  }
  for (int i : t.inputs) inputs.push_back(used[i]);
  return inputs;
}

/// A region without the outputs that are not wanted; then without its unused inputs, which used_inputs reports.
constexpr tape pruned_region(tape region, const vec<bool>& wanted_outputs, const vec<bool>& keep_inputs,
                             vec<bool>& used_inputs) {
  vec<int> outputs;
  for (int i = 0; i < region.outputs.size(); ++i)
    if (wanted_outputs[i]) outputs.push_back(region.outputs[i]);
  region.outputs = outputs;
  region = without_dead_entries(static_cast<tape&&>(region));
  vec<bool> used(region.values.size(), false);
  for (const entry& e : region.entries)
    for (int o : e.operands) used[o] = true;
  for (int o : region.outputs) used[o] = true;
  used_inputs = vec<bool>();
  vec<int> inputs;
  for (int i = 0; i < region.inputs.size(); ++i) {
    used_inputs.push_back(keep_inputs[i] || used[region.inputs[i]]);
    if (used_inputs.back()) inputs.push_back(region.inputs[i]);
  }
  region.inputs = inputs;
  return region;
}

template <class T>
constexpr vec<T> filtered(const vec<T>& all, const vec<bool>& keep) {
  vec<T> r;
  for (int i = 0; i < all.size(); ++i)
    if (keep[i]) r.push_back(all[i]);
  return r;
}

}  // namespace drx
