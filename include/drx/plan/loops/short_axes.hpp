// drx/plan/loops/short_axes.hpp: arrays of three and more axes whose last one is short (coordinates of pairs of points) lie
// with the last two axes exchanged, if that spares more than it costs where a use needs a transpose: vectors then run
// along the longer one, and sums over the coordinates, and values that are the same for all of them, cost no shuffle.
// Tested by tests/unit/run/short_axes.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

#include <utility>

namespace drx::plan {

/// Which arrays are meant, and what a transpose costs: tests have smaller limits.
struct axes_limits {
  std::int64_t longer = machine::widest_vector;         // the least extent of the axis before the short one
  std::int64_t of_transposed = machine::of_transposed;  // in elements that are spared a shuffle
};

/// Writes a tape in which such values lie exchanged.
class short_axes {
 public:
  constexpr short_axes(const tape& t, const axes_limits& limits)
      : t_(t), limits_(limits), w_(b_, t, inputs_like(b_, t)), exchanged_(t.values.size(), -1) {
    for (const entry& e : t.entries) write(e);
    for (int o : t.outputs) b_.output(as_is(o));
  }
  /// Whether the last of a value's axes is short, and the one before it fills vectors.
  static constexpr bool is_short(const abstract_value& v, const axes_limits& limits) {
    const shape& s = v.shape;
    return v.depth == 0 && s.rank >= 3 && s.last() > 1 && s.last() <= machine::short_coordinates &&
           s[s.rank - 2] >= limits.longer;
  }
  /// Whether shuffles of more elements are spared than transposes move.
  [[nodiscard]] constexpr bool pays() const { return spared_ > limits_.of_transposed * moved_; }
  [[nodiscard]] constexpr tape written() { return without_dead_entries(b_.take()); }

 private:
  [[nodiscard]] constexpr bool is_short(int v) const { return is_short(t_.values[v], limits_); }
  static constexpr shape exchanged(shape s) {
    if (s.rank == 0) return s;
    if (s.rank == 1) s = with_front(s, 1);
    const std::int64_t last = s.last();
    s[s.rank - 1] = s[s.rank - 2];
    s[s.rank - 2] = last;
    return s;
  }
  /// x with its last two axes exchanged; one axis becomes two.
  constexpr int exchange(int x) {
    shape s = b_.shape(x);
    if (s.rank == 0) return x;
    if (s.rank == 1) return emit::reshape(b_, x, exchanged(s));
    vec<std::int64_t> order;
    for (int i = 0; i < s.rank; ++i) order.push_back(i);
    std::swap(order[s.rank - 2], order[s.rank - 1]);
    if (s.last() > 1 && s[s.rank - 2] > 1) moved_ += s.size();
    return emit::transpose(b_, x, order);
  }
  constexpr int as_is(int v) {
    if (w_.names[v] < 0) w_.names[v] = exchange(exchanged_[v]);
    return w_.names[v];
  }
  constexpr int as_exchanged(int v) {
    if (exchanged_[v] < 0) exchanged_[v] = exchange(w_.names[v]);
    return exchanged_[v];
  }

  constexpr void write(const entry& e) {
    if (e.results.size() == 1 && e.regions.empty()) {
      const int r = e.results[0];
      if (is_short(r)) {
        exchanged_[r] = short_result(e);
        if (exchanged_[r] >= 0) return;
      } else if (prim::is_fold(e.prim) && is_short(e.operands[0])) {
        const shape from = t_.values[e.operands[0]].shape;
        if (prim::rules::over_axes::view(e).axes.contains(from.rank - 1)) spared_ += from.size();
        vec<int>& names = keeps_last_axes(e, t_.values[r].shape) ? exchanged_ : w_.names;
        names[r] = emit::over_axes(b_, *e.prim, as_exchanged(e.operands[0]), axes_of(e, from.rank));
        return;
      }
    }
    for (int o : e.operands) as_is(o);
    w_.name(e, w_.copied(e));
  }
  /// The axes of a fold of a value that lies exchanged; `rank` is its rank.
  static constexpr vec<std::int64_t> axes_of(const entry& e, int rank) {
    vec<std::int64_t> axes, r;
    for (auto axis : prim::rules::over_axes::view(e).axes)
      axes.push_back(axis == rank - 1 ? rank - 2 : axis == rank - 2 ? rank - 1 : axis);
    for (std::int64_t i = 0; i < rank; ++i)
      if (axes.find(i) >= 0) r.push_back(i);
    return r;
  }
  /// The result of an entry, which is short, exchanged; -1 if it can be had only as it is.
  constexpr int short_result(const entry& e) {
    const abstract_value& to = t_.values[e.results[0]];
    const int rank = to.shape.rank;
    if (e.prim->pointwise) {
      vec<int> from;
      for (int o : e.operands) from.push_back(as_exchanged(o));
      return b_.add1(*e.prim, from, e.attrs);
    }
    if (e.prim == &prim::constant) return emit::constant(b_, to.with_shape(exchanged(to.shape)), e.attrs.number);
    if (e.prim == &prim::iota) {
      const int axis = prim::rules::iota::view(e).axis;
      return emit::iota(b_, to.with_shape(exchanged(to.shape)),
                        axis == rank - 1   ? rank - 2
                        : axis == rank - 2 ? rank - 1
                                           : axis);
    }
    if (e.prim == &prim::broadcast_to) {
      const shape from = t_.values[e.operands[0]].shape;
      if (from.rank > 0) spared_ += to.shape.size() / 2;
      return emit::broadcast_to(b_, as_exchanged(e.operands[0]), exchanged(to.shape));
    }
    const bool keeps = !e.operands.empty() && is_short(e.operands[0]) && keeps_last_axes(e, to.shape);
    if (keeps && e.prim == &prim::reshape) return emit::reshape(b_, as_exchanged(e.operands[0]), exchanged(to.shape));
    if (keeps && prim::is_fold(e.prim))
      return emit::over_axes(b_, *e.prim, as_exchanged(e.operands[0]), prim::rules::over_axes::view(e).axes);
    return -1;
  }
  /// Whether the last two axes of e's operand are those of its result.
  [[nodiscard]] constexpr bool keeps_last_axes(const entry& e, const shape& to) const {
    const shape from = t_.values[e.operands[0]].shape;
    if (prim::is_fold(e.prim)) {
      const int_list axes = prim::rules::over_axes::view(e).axes;
      return !axes.contains(from.rank - 1) && !axes.contains(from.rank - 2);
    }
    return from.last() == to.last() && from[from.rank - 2] == to[to.rank - 2];
  }

  const tape& t_;
  axes_limits limits_;
  builder b_;
  rewriter w_;
  vec<int> exchanged_;  // by value of t_: its name exchanged; -1: it has none
  std::int64_t spared_ = 0, moved_ = 0;
};

/// Whether t has such a value, or a region in it.
constexpr bool holds_short_axes(const tape& t, const axes_limits& limits) {
  for (const abstract_value& v : t.values)
    if (short_axes::is_short(v, limits)) return true;
  return any_entry(t, [&](const entry& e) {
    for (const tape& r : e.regions)
      if (holds_short_axes(r, limits)) return true;
    return false;
  });
}

/// t with short last axes exchanged where that pays, in regions too.
constexpr tape with_short_axes_inside(tape t, const axes_limits& limits) {
  if (!holds_short_axes(t, limits)) return t;
  t = rewritten(t, [&](rewriter& w, const entry& e) {
    return w.copied_with([&](const tape& r) { return with_short_axes_inside(r, limits); }, e);
  });
  short_axes exchanged(t, limits);
  if (exchanged.pays()) return exchanged.written();
  return t;
}
constexpr tape with_short_axes_exchanged(tape t) { return with_short_axes_inside(std::move(t), {}); }

}  // namespace drx::plan
