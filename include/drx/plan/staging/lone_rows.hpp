// drx/plan/staging/lone_rows.hpp: an array of zeros but for one row, whose place is known at run time, is the cotangent
// of what `index` reads. A derivative multiplies and divides it by whole arrays, and adds it up: all of that is done to
// the row alone.
// Tested by tests/unit/plan/lone_rows.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// Writes a tape with arithmetic of rows in the place of arithmetic of arrays that are 0 elsewhere. The numbers are the
/// same, but for the sign of a zero: guarded products and quotients of 0 are 0, whatever the other operand is, and a
/// sum of one number and zeros is that number.
class lone_row_writer {
 public:
  static constexpr tape write(const tape& t) {
    lone_row_writer lone(t);
    return rewritten(t, [&](rewriter& w, const entry& e) -> vec<int> {
      const int r = lone.written(w, e);
      if (r >= 0) return {r};
      return w.copied(e);
    });
  }

 private:
  /// What is 0 but for the elements `row` at place `at` of an axis.
  struct lone_row {
    int row = -1, at = -1, axis = -1;  // the first two are values on the builder
  };
  const tape& t_;
  vec<lone_row> rows_;      // by value of t
  vec<const entry*> read_;  // the entries so far that read one row

  constexpr explicit lone_row_writer(const tape& t) : t_(t), rows_(t.values.size(), lone_row{}) {}

  /// What stands for e's result; -1 if that is e.
  constexpr int written(rewriter& w, const entry& e) {
    builder& b = w.b;
    if (e.prim == &prim::update_slice) {
      if (is_lone(w, e)) rows_[e.results[0]] = {w.names[e.operands[1]], w.names[e.operands[2]], 0};
      return -1;
    }
    if (e.prim == &prim::dynamic_slice) {
      const prim::rules::dynamic_slice::view part(e);
      if (part.batch == 0 && part.sizes.size() == 1 && part.sizes[0] == 1) read_.push_back(&e);
      return -1;
    }
    if (e.prim == &prim::azmul || e.prim == &prim::azdiv) {
      for (int i = 0; i < (e.prim == &prim::azmul ? 2 : 1); ++i) {
        lone_row x = rows_[e.operands[i]];
        if (x.row < 0) continue;
        const int other = row_of(w, w.names[e.operands[1 - i]], x);
        if (other < 0) continue;
        x.row = e.prim == &prim::azmul ? emit::azmul(b, x.row, other) : emit::azdiv(b, x.row, other);
        return among_zeros(w, e, x);
      }
      return -1;
    }
    if (e.operands.empty()) return -1;
    lone_row x = rows_[e.operands[0]];
    if (x.row < 0) return -1;
    if (e.prim == &prim::neg) {
      x.row = emit::neg(b, x.row);
      return among_zeros(w, e, x);
    }
    if (e.prim == &prim::transpose) {
      const prim::rules::transpose::view to(e);
      vec<std::int64_t> permutation = to.permutation;
      x.row = emit::transpose(b, x.row, permutation);
      x.axis = permutation.find(x.axis);
      rows_[e.results[0]] = x;
      return -1;
    }
    if (e.prim == &prim::sum && prim::rules::over_axes::view(e).is_only(x.axis))
      return emit::reshape(b, x.row, t_.values[e.results[0]].shape);
    return -1;
  }
  /// Whether e writes one row into zeros.
  [[nodiscard]] constexpr bool is_lone(const rewriter& w, const entry& e) const {
    double x = 1;
    const shape row = t_.values[e.operands[1]].shape;
    return is_floating(t_.values[e.results[0]].type) && emit::is_constant(w.b, w.names[e.operands[0]], x) && x == 0 &&
           prim::rules::update_slice::view(e).batch == 0 && t_.values[e.operands[2]].shape[0] == 1 && row[0] == 1;
  }
  /// The row of y that lies where x has its own, if it costs nothing: y is the same along the axis, or the program
  /// reads that row anyway. Else -1.
  constexpr int row_of(rewriter& w, int y, const lone_row& x) const {
    builder& b = w.b;
    shape row = b.shape(y);
    row[x.axis] = 1;
    double number = 0;
    if (emit::is_constant(b, y, number)) return emit::constant(b, b.type(y).with_shape(row), number);
    const entry* repeated = b.definition(y);
    if (repeated && repeated->prim == &prim::broadcast_to) {
      const int from = repeated->operands[0];
      const int axis = x.axis - (row.rank - b.shape(from).rank);  // the last axes are those of `from`
      if (axis < 0 || b.shape(from)[axis] == 1) return emit::broadcast_to(b, from, row);
    }
    bool reads = false;
    for (const entry* e : read_) reads = reads || w.names[e->operands[1]] == x.at;
    if (!reads) return -1;
    const int rank = row.rank;
    vec<std::int64_t> to_front{x.axis}, back;
    for (int i = 0; i < rank; ++i)
      if (i != x.axis) to_front.push_back(i);
    for (int i = 0; i < rank; ++i) back.push_back(to_front.find(i));
    const int turned = emit::transpose(b, y, to_front);
    for (const entry* e : read_)
      if (w.names[e->operands[0]] == turned && w.names[e->operands[1]] == x.at)
        return emit::transpose(b, w.names[e->results[0]], back);
    return -1;
  }
  /// The array for which x stands, as e's result.
  constexpr int among_zeros(rewriter& w, const entry& e, const lone_row& x) {
    builder& b = w.b;
    rows_[e.results[0]] = x;
    int at = x.at;
    if (x.axis > 0) {
      const int before = emit::constant(b, b.type(at).with_shape(make_shape(x.axis)), 0);
      at = emit::concatenate(b, {before, at}, 0);
    }
    return emit::update_slice(b, emit::constant(b, t_.values[e.results[0]], 0), x.row, at, 0);
  }
};

/// A stage's body in which arrays of zeros with one row are computed by their rows.
constexpr tape with_lone_rows(tape body) {
  for (const entry& e : body.entries)
    if (e.prim == &prim::update_slice) return lone_row_writer::write(body);
  return body;
}

}  // namespace drx::plan
