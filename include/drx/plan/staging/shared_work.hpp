// drx/plan/staging/shared_work.hpp: what is the same for all members of a stage is computed once, in front of it, where
// it is a good part of a member's work: a filter's covariances, the factors of a matrix with which all members solve.
// A loop that carries both kinds of values falls apart into two: the first stacks what the other reads at each step.
// Tested by tests/unit/plan/shared_work.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/staging/blocks.hpp>
#include <drx/plan/staging/operations.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// Whether an entry, or one inside it, stays with the members: one that has a placement (how many members a nested map
/// sees may differ between the members around it), a loop with a guard and a call of the user's code (which need not
/// end, or return, where there are no members).
constexpr bool stays_with_members(const entry& e) {
  if (e.attrs.placement || e.prim->native) return true;
  if (e.prim == &prim::scan && (prim::rules::scan::view(e).guard || !prim::rules::scan::view(e).length)) return true;
  for (const tape& region : e.regions)
    for (const entry& inner : region.entries)
      if (stays_with_members(inner)) return true;
  return false;
}

/// Which values of a tape differ between members; the others are shared. `own_inputs` says it of its inputs.
constexpr vec<bool> own_values(const tape& t, const vec<bool>& own_inputs) {
  vec<bool> own(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) own[t.inputs[i]] = own_inputs[i];
  for (const entry& e : t.entries) {
    bool differs = stays_with_members(e);
    for (const int o : e.operands) differs = differs || own[o] || t.values[o].depth > 0;
    for (const int r : e.results) own[r] = differs;
  }
  return own;
}

/// Whether an entry costs nothing where it is read, so that both parts of a tape may have it.
constexpr bool is_light(const entry& e) {
  return e.regions.empty() && (e.operands.empty() || e.prim->role == role::virtual_ || e.prim->role == role::alias);
}

/// A tape in two parts: its shared entries, and the rest.
class shared_part {
 public:
  const tape& t;
  vec<bool> own;    // by value
  vec<int> handed;  // the shared values that the rest reads

  /// `outside` says which values the rest has anyway.
  constexpr shared_part(const tape& of, const vec<bool>& own_of, const vec<bool>& outside)
      : t(of), own(own_of), in_rest_(outside), light_(of.values.size(), -1) {
    for (int i = 0; i < t.entries.size(); ++i) {
      const entry& e = t.entries[i];
      if (is_own(e) || !is_light(e)) continue;
      light_[e.results[0]] = i;
      bool all = true;
      for (const int o : e.operands) all = all && in_rest_[o];
      in_rest_[e.results[0]] = all;
    }
    for (const entry& e : t.entries)
      if (is_own(e))
        for (const int o : e.operands) hand(o);
  }
  /// Lets the rest have v: what it is repeated from, if that is one value.
  constexpr void hand(int v) {
    if (own[v] || in_rest_[v]) return;
    if (light_[v] >= 0 && t.entries[light_[v]].operands.size() == 1) {
      hand(t.entries[light_[v]].operands[0]);
      in_rest_[v] = true;
    } else if (handed.find(v) < 0) {
      handed.push_back(v);
    }
  }
  /// The operations of shared entries, in all their steps.
  [[nodiscard]] constexpr double operations() const {
    tape shared;
    shared.values = t.values;
    for (const entry& e : t.entries)
      if (!is_own(e) && !is_light(e)) shared.entries.push_back(e);
    return plan::operations(shared);
  }
  constexpr void write_shared(rewriter& w) const {
    for (const entry& e : t.entries)
      if (!is_own(e)) w.name(e, w.copied(e));
  }
  /// Writes the rest, to which the values that are handed to it have names.
  constexpr void write_rest(rewriter& w) const {
    for (const entry& e : t.entries)
      if (is_own(e) || (is_light(e) && in_rest_[e.results[0]])) w.name(e, w.copied(e));
  }

 private:
  vec<bool> in_rest_;  // by value: whether the rest has it without being handed it
  vec<int> light_;     // by value: the shared entry that makes it, if it is light

  [[nodiscard]] constexpr bool is_own(const entry& e) const { return e.results.empty() || own[e.results[0]]; }
};

/// A loop of which some is shared.
class loop_in_parts {
 public:
  /// `own` says which values of the tape around the loop differ between members.
  constexpr loop_in_parts(const entry& loop, const vec<bool>& own)
      : loop_(loop),
        region_(loop.regions[0]),
        n_(loop.attrs, loop.operands.size(), loop.results.size()),
        own_inputs_(inputs_of(own)),
        part_(region_, own_values(region_, own_inputs_), outside()) {
    for (int i = 0; i < region_.outputs.size(); ++i)
      if (is_own_result(i)) part_.hand(region_.outputs[i]);
  }
  /// Whether two loops are better than one: the first has work to do, and what it stacks stays in a cache.
  [[nodiscard]] constexpr bool is_worth_it() const {
    if (n_.guard || !n_.length || part_.handed.empty()) return false;
    const double shared = part_.operations();
    if (shared * machine::shared_part_of_work < operations(region_)) return false;
    bool rest = false;
    for (int i = 0; i < loop_.results.size(); ++i) rest = rest || is_own_result(i);
    std::int64_t numbers = 0, bytes = 0;
    for (const int v : part_.handed) {
      numbers += region_.values[v].shape.size();
      bytes += region_.values[v].shape.size() * byte_size(region_.values[v].type);
    }
    return rest && shared >= static_cast<double>(machine::work_of_stacked * numbers) &&
           bytes * *n_.length <= machine::kept_by_block;
  }
  /// Writes the two loops on the builder of w, which has names for the loop's operands. Returns the loop's results.
  constexpr vec<int> write(rewriter& w) const {
    vec<int> results(loop_.results.size(), -1), stacks;
    {
      builder b;
      rewriter inside(b, region_, {});
      vec<int> operands;
      prim::rules::scan::view first(n_);
      first.constants = first.carries = 0;
      inside.names[region_.inputs[0]] = b.input(region_.values[region_.inputs[0]]);
      for (int i = 0; i < loop_.operands.size(); ++i) {
        if (own_inputs_[1 + i]) continue;
        take(inside, w, i, operands);
        (n_.is_constant(i) ? first.constants : first.carries) += n_.is_constant(i) || n_.is_carry(i);
      }
      part_.write_shared(inside);
      vec<int> of;  // by result of the first loop: that of the loop, then what is handed
      for (int i = 0; i < loop_.results.size(); ++i)
        if (!is_own_result(i)) {
          b.output(inside.names[region_.outputs[i]]);
          of.push_back(i);
        }
      for (const int v : part_.handed) b.output(inside.names[v]);
      const vec<int> made = w.b.add(*loop_.prim, operands, first.make(), tapes{b.take()});
      for (int i = 0; i < of.size(); ++i) results[of[i]] = made[i];
      for (int i = of.size(); i < made.size(); ++i) stacks.push_back(made[i]);
    }
    builder b;
    rewriter inside(b, region_, {});
    vec<int> operands;
    prim::rules::scan::view second(n_);
    second.carries = 0;
    inside.names[region_.inputs[0]] = b.input(region_.values[region_.inputs[0]]);
    for (int i = 0; i < loop_.operands.size(); ++i) {
      if (n_.is_carry(i) && !own_inputs_[1 + i]) continue;
      take(inside, w, i, operands);
      second.carries += n_.is_carry(i);
    }
    for (int i = 0; i < part_.handed.size(); ++i) {
      inside.names[part_.handed[i]] = b.input(region_.values[part_.handed[i]]);
      operands.push_back(stacks[i]);
    }
    part_.write_rest(inside);
    vec<int> of;
    for (int i = 0; i < loop_.results.size(); ++i)
      if (is_own_result(i)) {
        b.output(inside.names[region_.outputs[i]]);
        of.push_back(i);
      }
    const vec<int> made = w.b.add(*loop_.prim, operands, second.make(), tapes{b.take()});
    for (int i = 0; i < of.size(); ++i) results[of[i]] = made[i];
    return results;
  }

 private:
  const entry& loop_;
  const tape& region_;
  prim::rules::scan::parts n_;
  vec<bool> own_inputs_;  // of the region
  shared_part part_;

  /// Which inputs of the region differ between members: carries do as well if a step makes them so.
  [[nodiscard]] constexpr vec<bool> inputs_of(const vec<bool>& own) const {
    vec<bool> in(region_.inputs.size(), false);
    for (int i = 0; i < loop_.operands.size(); ++i) in[1 + i] = own[loop_.operands[i]];
    for (bool grown = true; grown;) {
      grown = false;
      const vec<bool> after = own_values(region_, in);
      for (int k = 0; k < n_.carries; ++k)
        if (after[region_.outputs[k]] && !in[1 + n_.constants + k]) in[1 + n_.constants + k] = grown = true;
    }
    return in;
  }
  /// The rest has the step's number, and the constants and slices that it was given.
  [[nodiscard]] constexpr vec<bool> outside() const {
    vec<bool> has(region_.values.size(), false);
    for (int i = 0; i < region_.inputs.size(); ++i) has[region_.inputs[i]] = !own_inputs_[i] && !n_.is_carry(i - 1);
    return has;
  }
  [[nodiscard]] constexpr bool is_own_result(int i) const {
    return i < n_.carries ? own_inputs_[1 + n_.constants + i] : part_.own[region_.outputs[i]];
  }
  /// Gives a new loop the operand i of this one.
  constexpr void take(rewriter& inside, const rewriter& around, int i, vec<int>& operands) const {
    const int input = region_.inputs[1 + i];
    inside.names[input] = inside.b.input(region_.values[input]);
    operands.push_back(around.names[loop_.operands[i]]);
  }
};

/// Writes the shared work of a stage's body on b, in front of the stage, if there is enough of it, and returns the rest
/// of the body. Its first `own` inputs differ between members; `unplaced` are the values of the others, which change.
constexpr tape with_shared_work_in_front(builder& b, tape body, int own, vec<int>& unplaced) {
  vec<bool> own_inputs(body.inputs.size(), false);
  for (int i = 0; i < own; ++i) own_inputs[i] = true;
  const auto part_of = [&](const tape& t) {
    vec<bool> outside(t.values.size(), false);
    for (int i = own; i < t.inputs.size(); ++i) outside[t.inputs[i]] = true;
    shared_part part(t, own_values(t, own_inputs), outside);
    for (const int o : t.outputs) part.hand(o);
    return part;
  };
  const vec<bool> differs = own_values(body, own_inputs);
  bool any = false;
  for (const entry& e : body.entries)
    any = any || e.prim == &prim::scan || (!e.results.empty() && !differs[e.results[0]] && !is_light(e));
  if (!any) return body;
  const tape split = rewritten(body, [&](rewriter& w, const entry& e) {
    if (e.prim == &prim::scan && differs[e.results[0]])
      if (const loop_in_parts parts(e, differs); parts.is_worth_it()) return parts.write(w);
    return w.copied(e);
  });
  const shared_part part = part_of(split);
  const double shared = part.operations();
  if (shared < machine::least_shared_work || shared * machine::shared_part_of_work < operations(body)) return body;
  // What members read should not be more than what it is made of, unless it stays in a cache.
  const auto bytes_of = [](const abstract_value& v) { return v.shape.size() * byte_size(v.type); };
  std::int64_t read = 0, made_of = 0;
  for (const int v : part.handed) read += bytes_of(split.values[v]);
  for (int i = own; i < split.inputs.size(); ++i) made_of += bytes_of(split.values[split.inputs[i]]);
  if (read > std::max(machine::kept_by_block, made_of)) return body;
  builder rest;
  rewriter w(rest, split, inputs_like(rest, split));
  for (const int v : part.handed) w.names[v] = rest.input(split.values[v]);
  part.write_rest(w);
  for (const int o : w.outputs()) rest.output(o);
  tape r = without_dead_entries(rest.take());
  if (suits_lanes(body, own - 1) && !suits_lanes(r, own - 1)) return body;  // (a block computes shared work once, too)
  rewriter in_front(b, split, {});
  for (int i = own; i < split.inputs.size(); ++i) in_front.names[split.inputs[i]] = unplaced[i - own];
  part.write_shared(in_front);
  for (const int v : part.handed) unplaced.push_back(in_front.names[v]);
  // Values that only the shared work read are no inputs any more.
  vec<bool> used(r.values.size(), false);
  for (const entry& e : r.entries)
    for (const int o : e.operands) used[o] = true;
  for (const int o : r.outputs) used[o] = true;
  vec<int> inputs, operands;
  for (int i = 0; i < r.inputs.size(); ++i) {
    if (i >= own && !used[r.inputs[i]]) continue;
    inputs.push_back(r.inputs[i]);
    if (i >= own) operands.push_back(unplaced[i - own]);
  }
  r.inputs = inputs;
  unplaced = operands;
  return r;
}

}  // namespace drx::plan
