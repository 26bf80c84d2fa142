// drx/plan/staging/invariants_of_members.hpp: what members compute in a loop of values that the loop does not change is
// computed in front of the loop, and kept for each member: the curvatures of a loss at one point, by which conjugate
// gradients multiply step after step. (What costs less than to write it down and read it is computed again; so is what
// takes more memory than the members' arguments from which it comes.)
// Tested by tests/unit/plan/invariants_of_members.cpp.
#pragma once

#include <drx/plan/loops/invariants.hpp>
#include <drx/plan/machine.hpp>
#include <drx/plan/staging/operations.hpp>

#include <utility>

namespace drx::plan {

/// Writes a loop whose maps read what is the same at each step.
struct invariants_of_members : loop_writer {
  using loop_writer::loop_writer;

  /// The results, on `outside`; none if nothing is the same.
  constexpr vec<int> run() {
    vec<int> inputs;
    for (int v : body.inputs) inputs.push_back(inner.names[v] = inside.input(body.values[v]));
    inner.write([&](const entry& e) {
      vec<int> results;
      if (e.prim == &prim::map) results = map_of_kept(e);
      if (results.empty()) results = inner.copied(e);
      return results;
    });
    vec<int> results;
    if (!added.empty()) results = write(inputs, inner.outputs());
    return results;
  }

 private:
  definitions made_by{body};
  std::int64_t kept_before = 0;  // bytes of a member that earlier maps of the loop keep

  /// The input of the body, a constant of the loop, that the members have as value v of the body, or whose broadcast
  /// it is; else -1.
  [[nodiscard]] constexpr int constant_behind(int v) const {
    if (const entry* e = made_by.of(v)) {
      if (e->prim != &prim::broadcast) return -1;
      v = e->operands[0];
    }
    const int input = body.inputs.find(v);
    return input > 0 && is_constant(input) ? input : -1;
  }
  /// By value of a map's body: whether it is the same at each step.
  [[nodiscard]] constexpr vec<bool> same_at_each_step(const entry& e) const {
    const tape& member = e.regions[0];
    vec<bool> same(member.values.size(), false);
    for (int i = 0; i < e.operands.size(); ++i) same[member.inputs[i]] = constant_behind(e.operands[i]) >= 0;
    for (const entry& x : member.entries) {
      bool all = x.prim == &prim::constant || x.prim == &prim::iota || !x.operands.empty();
      for (int o : x.operands) all = all && same[o];
      for (int r : x.results) all = all && member.values[r].depth == 0;
      for (int r : x.results) same[r] = all;
    }
    return same;
  }
  /// The values that are the same and that the rest of the body needs, seen through what costs nothing.
  static constexpr vec<int> needed(const tape& member, const vec<bool>& same) {
    const definitions in_member(member);
    vec<int> open, all;
    for (const entry& x : member.entries)
      if (x.results.size() > 0 && !same[x.results[0]]) open.append(x.operands);
    open.append(member.outputs);
    for (int k = 0; k < open.size(); ++k) {
      const int v = open[k];
      const entry* x = in_member.of(v);
      if (!same[v] || !x) continue;
      if (x->operands.empty() || invariants::is_free(*x)) {
        for (int o : x->operands)
          if (open.find(o) < 0) open.push_back(o);
      } else if (all.find(v) < 0) {
        all.push_back(v);
      }
    }
    return all;
  }
  /// The work of a member's body, in elementwise operations, with the longer functions and numbers at positions.
  static constexpr double work(const tape& t) {
    double n = operations(t);
    for (const entry& x : t.entries) {
      if (x.results.empty() || !is_floating(t.values[x.results[0]].type)) continue;
      const auto numbers = static_cast<double>(t.values[x.results[0]].shape.size());
      if (x.prim == &prim::dynamic_slice || x.prim == &prim::take)
        n += static_cast<double>(machine::of_number_at_position) * numbers;
      if (x.prim == &prim::exp || x.prim == &prim::log || x.prim == &prim::sigmoid || x.prim == &prim::softplus ||
          x.prim == &prim::tanh || x.prim == &prim::sin || x.prim == &prim::cos || x.prim == &prim::pow)
        n += static_cast<double>(machine::of_long_function) * numbers;
    }
    return n;
  }
  static constexpr std::int64_t bytes(const abstract_value& t) { return t.shape.size() * byte_size(t.type); }

  /// What members compute in front of the loop; `inputs` tells which inputs of the map's body it has.
  struct front {
    tape member;
    vec<int> inputs;
  };
  static constexpr front in_front(const tape& member, const vec<bool>& same, const vec<int>& kept) {
    front f;
    builder b;
    vec<int> inputs;
    for (int v : member.inputs) inputs.push_back(same[v] ? b.input(member.values[v]) : -1);
    rewriter w(b, member, inputs);
    w.write([&](const entry& x) {
      vec<int> results;
      if (!x.results.empty() && same[x.results[0]]) results = w.copied(x);
      return results;
    });
    for (int v : kept) b.output(w.names[v]);
    f.member = without_dead_entries(b.take());
    vec<int> used;
    int next = 0;  // input of f.member
    for (int i = 0; i < member.inputs.size(); ++i) {
      if (!same[member.inputs[i]]) continue;
      const int v = f.member.inputs[next++];
      bool read = false;
      for (const entry& x : f.member.entries) read = read || x.operands.find(v) >= 0;
      if (read || f.member.outputs.find(v) >= 0) used.push_back(v), f.inputs.push_back(i);
    }
    f.member.inputs = used;
    return f;
  }
  /// Bytes of a member's arguments that the loop has as constants.
  [[nodiscard]] constexpr std::int64_t bytes_of_constants() const {
    std::int64_t all = 0;
    for (int i = 1; is_constant(i); ++i)
      if (const abstract_value& t = body.values[body.inputs[i]]; t.depth > 0) all += bytes(t);
    return all;
  }
  /// Whether to keep costs less than to compute at each step.
  [[nodiscard]] constexpr bool is_worth_keeping(const entry& e, const front& f) const {
    std::int64_t numbers = 0, kept = 0, read = 0;
    for (int v : f.member.outputs) {
      numbers += f.member.values[v].shape.size();
      kept += bytes(f.member.values[v]);
    }
    for (int i : f.inputs)
      if (!made_by.of(e.operands[i])) read += bytes(e.regions[0].values[e.regions[0].inputs[i]]);
    return numbers > 0 && kept <= read && kept + kept_before <= bytes_of_constants() &&
           work(f.member) >= static_cast<double>(machine::operations_of_kept_number * numbers);
  }
  /// The results in the loop of map e, which reads what another map, in front of the loop, has computed; none if there
  /// is nothing to keep.
  constexpr vec<int> map_of_kept(const entry& e) {
    const tape& member = e.regions[0];
    const vec<bool> same = same_at_each_step(e);
    const vec<int> kept = needed(member, same);
    if (kept.empty()) return {};
    front f = in_front(member, same, kept);
    if (!is_worth_keeping(e, f)) return {};
    vec<int> arguments;
    for (int i : f.inputs) {
      const int v = operands[constant_behind(e.operands[i]) - 1];
      const entry* from = made_by.of(e.operands[i]);  // a broadcast, or none
      arguments.push_back(from ? outside.add1(prim::broadcast, {v}, from->attrs) : v);
    }
    const vec<int> results = outside.add(prim::map, arguments, e.attrs, one_region(static_cast<tape&&>(f.member)));
    for (int v : kept) kept_before += bytes(member.values[v]);
    vec<int> all = inner.operands(e);
    builder b;
    vec<int> inputs;
    for (int v : member.inputs) inputs.push_back(b.input(member.values[v]));
    vec<int> kept_inputs;
    for (int k = 0; k < kept.size(); ++k) {
      all.push_back(constant(results[k]));
      kept_inputs.push_back(b.input(member.values[kept[k]]));
    }
    rewriter w(b, member, inputs);
    w.write([&](const entry& x) {
      vec<int> r = w.copied(x);
      for (int i = 0; i < r.size(); ++i)
        if (const int k = kept.find(x.results[i]); k >= 0) r[i] = kept_inputs[k];
      return r;
    });
    for (int v : w.outputs()) b.output(v);
    return inside.add(prim::map, all, e.attrs, one_region(without_dead_entries(b.take())));
  }
};

/// Whether a loop takes enough steps, and has maps.
constexpr bool may_have_invariants_of_members(const entry& loop) {
  if (prim::rules::scan::view(loop).length.value_or(machine::least_steps_of_kept) < machine::least_steps_of_kept)
    return false;
  for (const entry& e : loop.regions[0].entries)
    if (e.prim == &prim::map) return true;
  return false;
}
/// t with what is the same at each step of a loop for a member in front of the loop, in regions too.
constexpr tape with_invariants_of_members(tape t) {
  return with_loops(std::move(t), may_have_invariants_of_members,
                    [](builder& b, const entry& e, const tape& body, const vec<int>& operands) {
                      return invariants_of_members(b, e, body, operands).run();
                    });
}

}  // namespace drx::plan
