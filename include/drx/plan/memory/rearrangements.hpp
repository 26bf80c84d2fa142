// drx/plan/memory/rearrangements.hpp: rearrangements: entries that move elements (slice, pad, concatenate, roll, flip), told
// axis by axis as pieces of their operands. One that nothing but fused loops reads is not stored: the loops read each
// of its rows where its operand has it. Nor is one that is only read at positions which are known at run time: those
// parts are copied piece by piece.
// Tested by tests/unit/run/rearrangements.cpp, tests/unit/run/sliced_pieces.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/pipeline.hpp>

namespace drx::plan {

/// Positions [begin, end) along one axis of a rearrangement's result, and where they come from.
struct rearranged_piece {
  static constexpr int zeros = -1, each = -2;  // for `operand`: none; the one that another axis chooses
  int operand = each;
  std::int64_t begin = 0, end = 0;
  std::int64_t start = 0, step = 1;  // position i is the operand's at start + (i - begin) / every * step,
  std::int64_t every = 1;            // or zero if `every` does not divide i - begin
};

/// The elements at one position of an axis.
constexpr std::int64_t elements_below(const shape& s, int axis) {
  std::int64_t n = 1;
  for (int i = axis + 1; i < s.rank; ++i) n *= s[i];
  return n;
}

/// An entry of role::rearranged, as pieces.
class rearrangement {
 public:
  constexpr rearrangement(const frozen_view& t, const frozen_entry& x) : t_(t), x_(x) {}

  [[nodiscard]] constexpr const shape& to() const { return t_.values[result()].shape; }
  [[nodiscard]] constexpr int result() const { return static_cast<int>(t_.pool[x_.results.first]); }
  [[nodiscard]] constexpr int operand(int i) const { return static_cast<int>(t_.pool[x_.operands.first + i]); }
  [[nodiscard]] constexpr int operands() const { return x_.operands.count; }
  [[nodiscard]] constexpr const shape& from(int i) const { return t_.values[operand(i)].shape; }

  /// The number of pieces along an axis; some may be empty.
  [[nodiscard]] constexpr int pieces(int axis) const {
    if (x_.prim == &prim::pad) return 3;
    if (x_.prim == &prim::concatenate && axis == joined()) return operands();
    return x_.prim == &prim::roll && axis == rolled().axis ? 2 : 1;
  }
  [[nodiscard]] constexpr rearranged_piece piece(int axis, int k) const {
    const std::int64_t n = to()[axis];
    rearranged_piece p{.end = n};
    if (x_.prim == &prim::slice) {
      const prim::rules::slice::view range(t_.attributes(x_));
      p.start = range.start(axis), p.step = range.stride(axis);
    } else if (x_.prim == &prim::pad) {
      const prim::rules::pad::view around(t_.attributes(x_));
      const std::int64_t first = around.low(axis), last = n - around.high(axis);
      p.begin = k == 0 ? 0 : k == 1 ? first : last;
      p.end = k == 0 ? first : k == 1 ? last : n;
      p.every = around.interior(axis) + 1;
      p.operand = k == 1 ? rearranged_piece::each : rearranged_piece::zeros;
    } else if (x_.prim == &prim::concatenate && axis == joined()) {
      p.operand = k;
      for (int i = 0; i < k; ++i) p.begin += from(i)[axis];
      p.end = p.begin + from(k)[axis];
    } else if (x_.prim == &prim::roll && axis == rolled().axis) {
      p.begin = k == 0 ? 0 : rolled().places;
      p.end = k == 0 ? rolled().places : n;
      p.start = k == 0 ? n - rolled().places : 0;
    } else if (x_.prim == &prim::flip && prim::rules::flip::view(t_.attributes(x_)).axes.contains(axis)) {
      p.start = n - 1, p.step = -1;
    }
    return p;
  }
  /// The piece with position i of an axis.
  [[nodiscard]] constexpr int piece_at(int axis, std::int64_t i) const {
    int k = 0;
    while (i >= piece(axis, k).end) ++k;
    return k;
  }
  /// Whether the result has all positions of the operand along an axis, in their order.
  [[nodiscard]] constexpr bool is_whole(int axis) const {
    for (int k = 0; k < pieces(axis); ++k) {
      const rearranged_piece p = piece(axis, k);
      if (p.begin == p.end) continue;
      if (p.operand != rearranged_piece::each || p.start != 0 || p.step != 1 || p.every != 1) return false;
    }
    return from(0)[axis] == to()[axis];
  }
  /// Whether each piece along an axis has neighbours of its operand.
  [[nodiscard]] constexpr bool in_order(int axis) const {
    for (int k = 0; k < pieces(axis); ++k)
      if (piece(axis, k).operand != rearranged_piece::zeros && (piece(axis, k).step != 1 || piece(axis, k).every != 1))
        return false;
    return true;
  }
  /// The last axis that is not whole, or -1.
  [[nodiscard]] constexpr int last_cut() const {
    int axis = to().rank - 1;
    while (axis >= 0 && is_whole(axis)) --axis;
    return axis;
  }
  /// The first axis from which on each piece lies side by side in its operand.
  [[nodiscard]] constexpr int first_contiguous() const {
    const int cut = last_cut();
    return cut < 0 || in_order(cut) ? (cut < 0 ? 0 : cut) : cut + 1;
  }
  /// The only axis that is not whole, if each piece along it has neighbours of its operand; else -1.
  [[nodiscard]] constexpr int only_cut() const {
    const int cut = last_cut();
    if (cut < 0 || !in_order(cut)) return -1;
    for (int axis = 0; axis < cut; ++axis)
      if (!is_whole(axis)) return -1;
    return cut;
  }
  /// The number of pieces along the axis that has most.
  [[nodiscard]] constexpr int most_pieces() const {
    int most = 1;
    for (int axis = 0; axis < to().rank; ++axis) most = pieces(axis) > most ? pieces(axis) : most;
    return most;
  }
  /// Whether rows can be read where the operands have them.
  [[nodiscard]] constexpr bool has_rows() const {
    return t_.values[result()].depth == 0 && to().rank > 0 && to().size() > 0 && first_contiguous() < to().rank &&
           most_pieces() <= machine::most_pieces;
  }

 private:
  [[nodiscard]] constexpr int joined() const { return prim::rules::concatenate::view(t_.attributes(x_)).axis; }
  [[nodiscard]] constexpr prim::rules::roll::view rolled() const { return prim::rules::roll::view(t_.attributes(x_)); }

  frozen_view t_;
  const frozen_entry& x_;
};

/// Whether entry x is a rearrangement that can be read where its operands lie.
constexpr bool is_rearrangement(const frozen_view& t, const frozen_entry& x) {
  return x.prim->role == role::rearranged && rearrangement(t, x).has_rows();
}
/// Whether entry x takes a part, at positions that are known at run time, out of `from`, its operand, and can copy it
/// piece by piece: rows of several numbers which lie side by side in `from`'s operands. (It never copies more than
/// storing `from` would.)
constexpr bool slices_pieces(const frozen_view& t, const frozen_entry& x, const rearrangement& from,
                             std::int64_t least_row) {
  if (x.prim != &prim::dynamic_slice || static_cast<int>(t.pool[x.operands.first]) != from.result()) return false;
  const int cut = from.only_cut();
  if (cut < prim::rules::dynamic_slice::view(t.attributes(x)).batch) return false;
  const shape& part = t.values[t.pool[x.results.first]].shape;
  for (int axis = cut + 1; axis < part.rank; ++axis)
    if (part[axis] != from.to()[axis]) return false;
  return part[cut] * elements_below(part, cut) >= least_row && part.size() <= from.to().size();
}

}  // namespace drx::plan
