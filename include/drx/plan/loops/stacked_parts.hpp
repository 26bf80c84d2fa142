// drx/plan/loops/stacked_parts.hpp: a loop stacks the parts of a value that a later loop reads, not the whole value.
// The loop of a backward pass is given what the forward one carries at each step. Of a table it reads a few rows;
// stacking the table would copy it at each step.
// Tested by tests/unit/plan/stacked_parts.cpp.
#pragma once

#include <drx/plan/loops/loop_writer.hpp>

#include <utility>

namespace drx::plan {

/// A stack of whole values that a loop writes, and one later loop reads in parts.
struct stack_in_parts {
  int writer, output;   // the entry, and which result of the loop
  int reader, operand;  // the entry, and which operand of that loop
  vec<int> reads;       // entries of its body: each takes a part of the value
};

/// Finds such stacks in a tape, and writes their parts instead.
class stacked_parts {
 public:
  constexpr explicit stacked_parts(const tape& t) : t_(t) {
    for (int w = 0; w < t.entries.size(); ++w) {
      if (!is_counted(t.entries[w])) continue;
      const entry& loop = t.entries[w];
      for (int y = prim::rules::scan::view(loop).carries; y < loop.results.size(); ++y) find(w, y);
    }
  }
  [[nodiscard]] constexpr bool any() const { return !stacks_.empty(); }
  [[nodiscard]] constexpr tape written() const {
    vec<vec<int>> parts(stacks_.size());  // by stack: the new stacks
    int at = -1;
    return rewritten(t_, [&](rewriter& w, const entry& e) {
      ++at;
      bool writes = false, reads = false;
      for (const stack_in_parts& s : stacks_) {
        writes = writes || s.writer == at;
        reads = reads || s.reader == at;
      }
      if (reads) return write_reader(w, at, parts);
      if (writes) return write_writer(w, at, parts);
      return w.copied(e);
    });
  }

 private:
  const tape& t_;
  vec<stack_in_parts> stacks_;

  static constexpr bool is_counted(const entry& e) {
    return e.prim == &prim::scan && prim::rules::scan::view(e).is_counted();
  }
  constexpr void find(int w, int y) {
    const int v = t_.entries[w].results[y];
    if (t_.outputs.find(v) >= 0) return;
    stack_in_parts s{w, y, -1, -1, {}};
    for (int i = w + 1; i < t_.entries.size(); ++i)
      for (int o = 0; o < t_.entries[i].operands.size(); ++o) {
        if (t_.entries[i].operands[o] != v) continue;
        if (s.reader >= 0) return;
        s.reader = i;
        s.operand = o;
      }
    if (s.reader < 0) return;
    const entry &from = t_.entries[w], &to = t_.entries[s.reader];
    if (!is_counted(to) || s.operand < prim::rules::scan::view(to).first_x()) return;
    // (A loop that is a reader and a writer would have to be written twice.)
    for (const stack_in_parts& other : stacks_)
      if (other.writer == s.reader || other.reader == w) return;
    const tape& body = to.regions[0];
    const int slice = body.inputs[1 + s.operand];
    if (body.outputs.find(slice) >= 0) return;
    std::int64_t whole = body.values[slice].shape.size(), in_parts = 0;
    for (int i = 0; i < body.entries.size(); ++i) {
      const entry& e = body.entries[i];
      if (e.operands.find(slice) < 0) continue;
      if (e.prim != &prim::take && e.prim != &prim::dynamic_slice && e.prim != &prim::slice) return;
      in_parts += body.values[e.results[0]].shape.size();
      s.reads.push_back(i);
    }
    if (s.reads.empty() || 2 * in_parts > whole) return;
    const vec<bool> known = known_to_writer(from, to);
    for (const int i : s.reads)
      for (int o = 1; o < body.entries[i].operands.size(); ++o)
        if (!known[body.entries[i].operands[o]]) return;
    stacks_.push_back(s);
  }
  /// Which values of the reader's body the writer has too, or can compute from what it has: places.
  [[nodiscard]] static constexpr vec<bool> known_to_writer(const entry& from, const entry& to) {
    const tape& body = to.regions[0];
    vec<bool> known(body.values.size(), false);
    known[body.inputs[0]] = true;
    for (int i = 0; i < to.operands.size(); ++i) known[body.inputs[1 + i]] = input_of_same(from, to, i) >= 0;
    for (const entry& e : body.entries) {
      if (e.results.size() != 1 || !e.regions.empty() || e.attrs.placement || e.prim->native) continue;
      bool all = !is_floating(body.values[e.results[0]].type);
      for (const int o : e.operands) all = all && known[o];
      known[e.results[0]] = all;
    }
    return known;
  }
  /// The input of the writer's body that is the reader's operand i: a constant or a slice of both; -1 if there is none.
  static constexpr int input_of_same(const entry& from, const entry& to, int i) {
    const prim::rules::scan::parts writer(from.attrs, from.operands.size(), from.results.size()),
        reader(to.attrs, to.operands.size(), to.results.size());
    if (reader.is_carry(i)) return -1;
    for (int k = 0; k < from.operands.size(); ++k)
      if (from.operands[k] == to.operands[i] && !writer.is_carry(k) && writer.is_constant(k) == reader.is_constant(i))
        return from.regions[0].inputs[1 + k];
    return -1;
  }
  /// The loop that writes parts, in place of entry `at`. Returns names for its results; those in parts have none.
  constexpr vec<int> write_writer(rewriter& w, int at, vec<vec<int>>& parts) const {
    const entry& e = t_.entries[at];
    loop_writer loop(w.b, e, e.regions[0], w.operands(e));
    vec<int> inputs, outputs, of;
    for (const int v : loop.body.inputs) inputs.push_back(loop.inner.names[v] = loop.inside.input(loop.body.values[v]));
    loop.inner.write([&](const entry& i) { return loop.inner.copied(i); });
    for (int y = 0; y < loop.body.outputs.size(); ++y) {
      bool whole = true;
      for (const stack_in_parts& s : stacks_) whole = whole && !(s.writer == at && s.output == y);
      if (!whole) continue;
      of.push_back(y);
      outputs.push_back(loop.inner.names[loop.body.outputs[y]]);
    }
    const int kept = outputs.size();
    for (const stack_in_parts& s : stacks_) {
      if (s.writer != at) continue;
      const entry& to = t_.entries[s.reader];
      const tape& body = to.regions[0];
      rewriter there(loop.inside, body, {});
      there.names[body.inputs[0]] = inputs[0];
      for (int i = 0; i < to.operands.size(); ++i)
        if (const int v = input_of_same(e, to, i); v >= 0) there.names[body.inputs[1 + i]] = loop.inner.names[v];
      there.names[body.inputs[1 + s.operand]] = loop.inner.names[loop.body.outputs[s.output]];
      const vec<bool> known = known_to_writer(e, to);
      for (int i = 0; i < body.entries.size(); ++i) {
        const entry& step = body.entries[i];
        if (step.results.empty() || (!known[step.results[0]] && s.reads.find(i) < 0)) continue;
        there.name(step, there.copied(step));
        if (s.reads.find(i) >= 0) outputs.push_back(there.names[step.results[0]]);
      }
    }
    const vec<int> made = loop.write(inputs, outputs);
    vec<int> results(e.results.size(), -1);
    for (int i = 0; i < kept; ++i) results[of[i]] = made[i];
    int next = kept;
    for (int k = 0; k < stacks_.size(); ++k)
      for (int i = 0; stacks_[k].writer == at && i < stacks_[k].reads.size(); ++i) parts[k].push_back(made[next++]);
    return results;
  }
  /// The loop that reads parts, in place of entry `at`.
  constexpr vec<int> write_reader(rewriter& w, int at, const vec<vec<int>>& parts) const {
    const entry& e = t_.entries[at];
    loop_writer loop(w.b, e, e.regions[0], {});
    const int number = loop.body.inputs[0];
    vec<int> inputs;
    inputs.push_back(loop.inner.names[number] = loop.inside.input(loop.body.values[number]));
    vec<int> part(loop.body.entries.size(), -1);  // by entry of the body: its result's name
    for (int i = 0; i < e.operands.size(); ++i) {
      const int v = loop.body.inputs[1 + i];
      int k = -1;
      for (int s = 0; s < stacks_.size(); ++s)
        if (stacks_[s].reader == at && stacks_[s].operand == i) k = s;
      if (k < 0) {
        loop.operands.push_back(w.names[e.operands[i]]);
        inputs.push_back(loop.inner.names[v] = loop.inside.input(loop.body.values[v]));
        continue;
      }
      for (int r = 0; r < parts[k].size(); ++r) {
        const int read = stacks_[k].reads[r];
        loop.operands.push_back(parts[k][r]);
        inputs.push_back(part[read] = loop.inside.input(loop.body.values[loop.body.entries[read].results[0]]));
      }
    }
    for (int i = 0; i < loop.body.entries.size(); ++i) {
      const entry& step = loop.body.entries[i];
      if (part[i] >= 0)
        loop.inner.names[step.results[0]] = part[i];
      else
        loop.inner.name(step, loop.inner.copied(step));
    }
    return loop.write(inputs, loop.inner.outputs());
  }
};

/// t with loops that stack parts where only these are read, in regions too.
constexpr tape with_stacked_parts(tape t) {
  const auto is_loop = [](const entry& e) { return e.prim == &prim::scan; };
  int loops = 0;
  for (entry& e : t.entries) {
    loops += is_loop(e);
    bool inside = false;
    for (const tape& r : std::as_const(e).regions) inside = inside || any_entry(r, is_loop);
    if (inside)
      for (tape& r : e.regions) r = with_stacked_parts(std::move(r));
  }
  if (loops < 2) return t;
  const stacked_parts s(t);
  if (s.any()) return s.written();
  return t;
}

}  // namespace drx::plan
