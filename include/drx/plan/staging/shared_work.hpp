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
  if (e.prim == &prim::scan && !prim::rules::scan::view(e).is_counted()) return true;
  for (const tape& region : e.regions)
    for (const entry& inner : region.entries)
      if (stays_with_members(inner)) return true;
  return false;
}

/// Which values of a tape differ between members; the others are shared. `own_inputs` says it of its inputs. (Unlike
/// `depending`, it says the same of all results of an entry, which is written as a whole.)
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
    double n = 0;
    for (const entry& e : t.entries)
      if (!is_own(e) && !is_light(e)) n += operations_in(t, e);
    return n;
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
    if (!n_.is_counted() || part_.handed.empty()) return false;
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
    vec<int> results(loop_.results.size(), -1);
    const vec<int> stacks = write_part(w, false, {}, results);
    write_part(w, true, stacks, results);
    return results;
  }

 private:
  const entry& loop_;
  const tape& region_;
  prim::rules::scan::parts n_;
  vec<bool> own_inputs_;  // of the region
  shared_part part_;

  /// Which inputs of the region differ between members.
  [[nodiscard]] constexpr vec<bool> inputs_of(const vec<bool>& own) const {
    vec<bool> in(region_.inputs.size(), false);
    for (int i = 0; i < loop_.operands.size(); ++i) in[1 + i] = own[loop_.operands[i]];
    return with_own_carries(loop_, in, own_values);
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
  /// Writes the loop of the shared part, whose stacks it returns, or that of the rest, which reads them. Both have
  /// names in `results` for their results of this loop.
  constexpr vec<int> write_part(rewriter& w, bool rest, const vec<int>& stacks, vec<int>& results) const {
    builder b;
    rewriter inside(b, region_, {});
    vec<int> operands, of;  // `of`, by result of the new loop: which one of this loop
    prim::rules::scan::view loop(n_);
    loop.constants = loop.carries = 0;
    const auto input = [&](int v) { inside.names[v] = b.input(region_.values[v]); };
    input(region_.inputs[0]);
    for (int i = 0; i < loop_.operands.size(); ++i) {
      const bool own = own_inputs_[1 + i];
      if (rest ? n_.is_carry(i) && !own : own) continue;
      input(region_.inputs[1 + i]);
      operands.push_back(w.names[loop_.operands[i]]);
      loop.constants += n_.is_constant(i);
      loop.carries += n_.is_carry(i);
    }
    for (int i = 0; i < stacks.size(); ++i) {
      input(part_.handed[i]);
      operands.push_back(stacks[i]);
    }
    if (rest)
      part_.write_rest(inside);
    else
      part_.write_shared(inside);
    for (int i = 0; i < loop_.results.size(); ++i) {
      if (is_own_result(i) != rest) continue;
      b.output(inside.names[region_.outputs[i]]);
      of.push_back(i);
    }
    for (int i = 0; !rest && i < part_.handed.size(); ++i) b.output(inside.names[part_.handed[i]]);
    const vec<int> made = w.b.add(*loop_.prim, operands, loop.make(), tapes{b.take()});
    vec<int> stacked;
    for (int i = 0; i < made.size(); ++i) {
      if (i < of.size())
        results[of[i]] = made[i];
      else
        stacked.push_back(made[i]);
    }
    return stacked;
  }
};

/// Writes the shared work of a stage's body on b, in front of the stage, if there is enough of it, and returns the rest
/// of the body. Its first `own` inputs differ between members; `unplaced` are the values of the others, which change.
constexpr tape with_shared_work_in_front(builder& b, tape body, int own, vec<int>& unplaced) {
  vec<bool> own_inputs(body.inputs.size(), false);
  for (int i = 0; i < own; ++i) own_inputs[i] = true;
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
  vec<bool> outside(split.values.size(), false);
  for (int i = own; i < split.inputs.size(); ++i) outside[split.inputs[i]] = true;
  shared_part part(split, own_values(split, own_inputs), outside);
  for (const int o : split.outputs) part.hand(o);
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
  tape r = rest.take();
  vec<bool> keep(r.inputs.size(), false), used;  // what only the shared work read is no input of the rest
  for (int i = 0; i < own; ++i) keep[i] = true;
  r = pruned_region(r, vec<bool>(r.outputs.size(), true), keep, used);
  if (suits_lanes(body, own - 1) && !suits_lanes(r, own - 1)) return body;  // (a block computes shared work once, too)
  rewriter in_front(b, split, {});
  for (int i = own; i < split.inputs.size(); ++i) in_front.names[split.inputs[i]] = unplaced[i - own];
  part.write_shared(in_front);
  for (const int v : part.handed) unplaced.push_back(in_front.names[v]);
  vec<int> operands;
  for (int i = 0; i < unplaced.size(); ++i)
    if (used[own + i]) operands.push_back(unplaced[i]);
  unplaced = operands;
  return r;
}

}  // namespace drx::plan
