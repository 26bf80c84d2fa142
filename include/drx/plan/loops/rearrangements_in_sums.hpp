// drx/plan/loops/rearrangements_in_sums.hpp: lighter rearrangements around elementwise entries, which are what the way back
// through a stencil consists of:
//
// - A sum of two arrays that are padded beside each other, pad(x) + pad(y), is their concatenation, also in a longer
//   sum. Each element is the same, since zeros were added; only the sign of a zero may differ.
// - A slice of an elementwise entry that nothing else reads is that entry of slices: it runs in the loop that reads the
//   slice, and is not stored. So is a square, or a multiple, of an array in memory that only slices and rolls read: it
//   takes no more memory than they, where it is read.
// Tested by tests/unit/plan/rearrangements_in_sums.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

#include <utility>

namespace drx::plan {

constexpr tape rearranged_in_sums(const tape& t, std::int64_t least_row);

/// Rewrites the entries of a tape.
class rearrangements_in_sums {
 public:
  /// Slices are taken early whose rows have at least so many elements.
  constexpr rearrangements_in_sums(const tape& t, std::int64_t least_row)
      : t_(t), least_row_(least_row), uses_(t.values.size(), 0), definition_(t.values.size(), -1) {
    for (int i = 0; i < t.entries.size(); ++i) {
      for (int o : t.entries[i].operands) ++uses_[o];
      for (int r : t.entries[i].results) definition_[r] = i;
    }
    for (int o : t.outputs) ++uses_[o];
    moved_uses_ = vec<int>(t.values.size(), 0);
    for (const entry& e : t.entries)
      if (is_shift(e)) ++moved_uses_[e.operands[0]];
  }
  /// Whether there may be anything to rewrite, in regions too: that is much quicker to see than to do.
  [[nodiscard]] constexpr bool may_change() const {
    for (const entry& e : t_.entries) {
      if (e.prim == &prim::add && (is_pad(e.operands[0]) || is_pad(e.operands[1]))) return true;
      if (moves_slice(e) || moves_before(e)) return true;
      for (const tape& r : e.regions)
        if (rearrangements_in_sums(r, least_row_).may_change()) return true;
    }
    return false;
  }
  constexpr vec<int> written(rewriter& w, const entry& e) const {
    if (e.prim == &prim::add) {
      const vec<int> terms = w.operands(e);
      if (const int sum = joined_sum(w.b, terms[0], terms[1]); sum >= 0) return {sum};
    }
    if (moves_slice(e)) return {sliced(w, e.operands[0], e)};
    if (moves_before(e)) return {moved_before(w, e)};
    return w.copied_with([&](const tape& r) { return rearranged_in_sums(r, least_row_); }, e);
  }

 private:
  // ---- pads ----

  /// An array with zeros before or after it along one axis.
  struct padded_array {
    int x = -1, axis = -1;
    std::int64_t low = 0, high = 0;
  };
  static constexpr padded_array padded(const builder& b, int v) {
    const entry* e = b.definition(v);
    padded_array p;
    if (!e || e->prim != &prim::pad) return p;
    const prim::rules::pad::view around(*e);
    for (int axis = 0; axis < around.rank(); ++axis) {
      if (!around.pads(axis)) continue;
      if (p.axis >= 0 || around.interior(axis) != 0) return {};
      p = {.x = e->operands[0], .axis = axis, .low = around.low(axis), .high = around.high(axis)};
    }
    return p;
  }
  /// The concatenation that is the sum of values v and u, or -1.
  static constexpr int joined(builder& b, int v, int u) {
    padded_array first = padded(b, v), second = padded(b, u);
    if (first.axis < 0 || first.axis != second.axis) return -1;
    if (first.low != 0) {
      const padded_array other = first;
      first = second, second = other;
    }
    const bool beside = first.low == 0 && second.high == 0 && first.high == b.shape(second.x)[first.axis] &&
                        second.low == b.shape(first.x)[first.axis];
    return beside ? emit::concatenate(b, {first.x, second.x}, first.axis) : -1;
  }
  /// The sum of v and u, of which one may be a sum with an array that the other is padded beside; -1 if there is none.
  static constexpr int joined_sum(builder& b, int v, int u) {
    if (const int whole = joined(b, v, u); whole >= 0) return whole;
    for (const vec<int>& both : {vec<int>{v, u}, vec<int>{u, v}}) {
      const entry* sum = b.definition(both[0]);
      if (padded(b, both[1]).axis < 0 || !sum || sum->prim != &prim::add) continue;
      const vec<int> terms = sum->operands;
      for (int i = 0; i < 2; ++i)
        if (const int whole = joined(b, terms[i], both[1]); whole >= 0) return emit::add(b, terms[1 - i], whole);
    }
    return -1;
  }

  // ---- slices ----

  [[nodiscard]] constexpr const entry* made_by(int v) const {
    return definition_[v] < 0 ? nullptr : &t_.entries[definition_[v]];
  }
  [[nodiscard]] constexpr bool is_pad(int v) const { return made_by(v) && made_by(v)->prim == &prim::pad; }
  /// Whether a slice of v is its entry of slices, which nothing else reads. (A product is finished in tiles; a
  /// broadcast stays one.)
  [[nodiscard]] constexpr bool moves(int v) const {
    const entry* e = made_by(v);
    if (!e || e->prim->role != role::fused || uses_[v] != 1) return false;
    for (int o : e->operands) {
      const entry* from = made_by(o);
      if (t_.values[o].shape != t_.values[v].shape) return false;
      if (from && from->prim != &prim::constant && (from->prim == &prim::matmul || from->prim->role == role::virtual_))
        return false;
    }
    return true;
  }
  /// Whether the slice's elements lie side by side in whole vectors.
  [[nodiscard]] constexpr bool has_whole_vectors(const entry& e) const {
    const prim::rules::slice::view range(e);
    const shape from = t_.values[e.operands[0]].shape, to = t_.values[e.results[0]].shape;
    std::int64_t row = 1;
    for (int axis = to.rank - 1; axis >= 0; --axis) {
      if (range.stride(axis) != 1) break;
      row *= to[axis];
      if (!range.takes_all(axis, from[axis])) break;
    }
    return row % least_row_ == 0 || row >= machine::long_row;
  }
  [[nodiscard]] constexpr bool moves_slice(const entry& e) const {
    return e.prim == &prim::slice && moves(e.operands[0]) && has_whole_vectors(e);
  }
  /// The part of v that the slice e takes.
  constexpr int sliced(rewriter& w, int v, const entry& e) const {
    if (!moves(v)) return w.b.add1(prim::slice, {w.names[v]}, e.attrs);
    vec<int> operands;
    for (int o : made_by(v)->operands) operands.push_back(sliced(w, o, e));
    return w.b.add1(*made_by(v)->prim, operands, made_by(v)->attrs);
  }

  // ---- squares and multiples ----

  /// Whether e reads an array at other places: a slice of whole vectors, or a roll.
  [[nodiscard]] constexpr bool is_shift(const entry& e) const {
    return (e.prim == &prim::slice && has_whole_vectors(e)) || e.prim == &prim::roll;
  }
  /// Whether v is plain arithmetic on one array in memory, and all that reads it are slices and rolls.
  [[nodiscard]] constexpr bool is_of_one_array(int v) const {
    const entry* e = made_by(v);
    if (!e || moved_uses_[v] != uses_[v]) return false;
    if (e->prim != &prim::add && e->prim != &prim::sub && e->prim != &prim::mul && e->prim != &prim::neg) return false;
    int array = -1;
    for (int o : e->operands) {
      const entry* from = made_by(o);
      if (t_.values[o].shape != t_.values[v].shape) return false;
      if (from && from->prim == &prim::constant) continue;
      if (from && from->prim->role != role::rearranged && from->prim->role != role::alias) return false;
      if (array >= 0 && array != o) return false;
      array = o;
    }
    return array >= 0;
  }
  [[nodiscard]] constexpr bool moves_before(const entry& e) const {
    return is_shift(e) && is_of_one_array(e.operands[0]);
  }
  /// e, a slice or a roll, of the operands of what it is of.
  constexpr int moved_before(rewriter& w, const entry& e) const {
    const entry& of = *made_by(e.operands[0]);
    vec<int> operands;
    for (int o : of.operands) operands.push_back(w.b.add1(*e.prim, {w.names[o]}, e.attrs));
    return w.b.add1(*of.prim, operands, of.attrs);
  }

  const tape& t_;
  std::int64_t least_row_;
  vec<int> uses_, definition_, moved_uses_;  // by value; moved_uses_: by slices and rolls
};

/// Whether t has what such rearrangements begin with.
constexpr bool has_rearrangements(const tape& t) {
  return any_entry(
      t, [](const entry& e) { return e.prim == &prim::pad || e.prim == &prim::slice || e.prim == &prim::roll; });
}
/// t with lighter rearrangements, in its regions too.
constexpr tape rearranged_in_sums(const tape& t, std::int64_t least_row) {
  if (!has_rearrangements(t)) return t;
  const rearrangements_in_sums pass(t, least_row);
  if (!pass.may_change()) return t;
  return rewritten(t, [&](rewriter& w, const entry& e) { return pass.written(w, e); });
}
constexpr tape with_rearrangements_in_sums(tape t) {
  for (int turn = 0; turn < 2; ++turn)  // (a slice of a roll is taken before an entry the second time)
    t = rearranged_in_sums(t, machine::least_rearranged_row);
  return t;
}

}  // namespace drx::plan
