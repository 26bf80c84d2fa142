// drx/plan/loops/row_chunks.hpp: values that outgrow the second cache, and are only read to be added up or repeated (pairs
// of bodies, distances to points), are computed some rows at a time, by a loop whose body's values the first cache
// holds.
// Tested by tests/unit/run/row_chunks.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

#include <utility>

namespace drx::plan {

/// What is large, and which loops are worth their while: tests have smaller limits.
struct chunk_limits {
  std::int64_t value = machine::least_chunked;           // bytes of a large value, and of all that are spared
  std::int64_t numbers = machine::least_chunk;           // of the largest value in a step
  std::int64_t steps = machine::least_chunks;            // of a loop
  std::int64_t stacked_sums = machine::first_cache / 2;  // bytes up to which the sums of all steps are stacked
};

/// The entries of a tape that one loop over their values' first axis computes, some rows in a step. A row of each
/// depends on the same row of others, and on values that are there before the loop.
class row_chunks {
 public:
  /// Those around entry number `seed`, whose result is large.
  constexpr row_chunks(const tape& t, int seed, const chunk_limits& limits)
      : t_(t), limits_(limits), rows_(t.values[t.entries[seed].results[0]].shape[0]) {
    place_all();
    if (reads_taken_rows_behind()) {
      takes_rows_ = false;
      place_all();
    }
    choose_chunk();
  }
  static constexpr std::int64_t bytes(const abstract_value& v) { return v.shape.size() * byte_size(v.type); }
  /// Whether e may be a seed.
  static constexpr bool is_large(const tape& t, const entry& e, const chunk_limits& limits) {
    if (e.results.size() != 1 || e.prim->role == role::virtual_ || e.prim->role == role::alias) return false;
    const abstract_value& v = t.values[e.results[0]];
    return v.depth == 0 && v.shape.rank > 0 && bytes(v) >= limits.value && e.prim->pointwise;
  }
  /// Whether the loop spares enough memory.
  [[nodiscard]] constexpr bool pays() const { return chunk_ > 0 && !follows_product() && spared() >= limits_.value; }
  /// The tape with the loop.
  [[nodiscard]] constexpr tape written() const {
    builder b;
    rewriter w(b, t_, inputs_like(b, t_));
    for (int i = 0; i < t_.entries.size(); ++i)
      if (at_[i] == place::before) w.name(t_.entries[i], w.copied(t_.entries[i]));
    writer(*this, w).write();
    for (int i = 0; i < t_.entries.size(); ++i)
      if (at_[i] == place::after) w.name(t_.entries[i], w.copied(t_.entries[i]));
    for (int o : w.outputs()) b.output(o);
    return without_dead_entries(b.take());
  }

 private:
  /// Where an entry, or a value, is: `sums` is an entry in the loop whose result, a sum over the rows, is there after
  /// it.
  enum class place : std::int8_t { before, inside, sums, after };

  [[nodiscard]] constexpr const shape& shape_of(int v) const { return t_.values[v].shape; }
  [[nodiscard]] constexpr bool has_rows(int v) const {
    return t_.values[v].depth == 0 && shape_of(v).rank > 0 && shape_of(v)[0] == rows_;
  }
  static constexpr bool over_rows(const entry& e) { return prim::rules::over_axes::view(e).axes.contains(0); }
  /// Whether the operand of e, a broadcast, has the rows that the result has.
  [[nodiscard]] constexpr bool broadcasts_rows(const entry& e) const {
    return has_rows(e.operands[0]) && shape_of(e.operands[0]).rank == shape_of(e.results[0]).rank;
  }
  /// Whether e takes rows out of an array that is there before, at positions of which it has as many rows.
  [[nodiscard]] constexpr bool takes_rows(const entry& e) const {
    if (e.prim != &prim::take || !takes_rows_) return false;
    const prim::rules::take::view rows(e);
    return rows.axis == 0 && rows.batch == 0 && has_rows(e.operands[1]) && value_[e.operands[0]] == place::before;
  }
  /// Whether rows that the loop takes out of an array are read behind it: then they would be stored all the same.
  [[nodiscard]] constexpr bool reads_taken_rows_behind() const {
    for (int i = 0; i < t_.entries.size(); ++i) {
      if (at_[i] != place::inside || t_.entries[i].prim != &prim::take) continue;
      const int v = t_.entries[i].results[0];
      if (t_.outputs.find(v) >= 0) return true;
      for (int k = i + 1; k < t_.entries.size(); ++k)
        if (!in_loop(k) && t_.entries[k].operands.find(v) >= 0) return true;
    }
    return false;
  }
  /// Whether some rows of e's result depend on the same rows of operands, or on operands as a whole that are before.
  [[nodiscard]] constexpr bool is_by_rows(const entry& e) const {
    if (e.results.size() != 1 || !e.regions.empty() || e.attrs.placement) return false;
    if (e.prim == &prim::sum && has_rows(e.operands[0]) && over_rows(e)) return true;
    if (!has_rows(e.results[0])) return false;
    if (e.prim == &prim::constant || e.prim == &prim::iota || e.prim->pointwise || takes_rows(e)) return true;
    if (e.prim == &prim::broadcast_to) return broadcasts_rows(e) || value_[e.operands[0]] == place::before;
    if (e.prim == &prim::reshape) return has_rows(e.operands[0]);
    if (e.prim == &prim::transpose) return prim::rules::transpose::view(e).permutation[0] == 0;
    return prim::is_fold(e.prim) && has_rows(e.operands[0]) && !over_rows(e);
  }
  constexpr void place_all() {
    value_ = vec<place>(t_.values.size(), place::before);
    at_ = {};
    for (const entry& e : t_.entries) at_.push_back(placed(e));
  }
  constexpr place placed(const entry& e) {
    bool inside = false, after = false;
    for (int o : e.operands) {
      inside = inside || value_[o] == place::inside;
      after = after || value_[o] == place::after;
    }
    const bool by_rows = is_by_rows(e);
    place at = place::before;
    if (after)
      at = place::after;
    else if (inside)
      at = by_rows ? place::inside : place::after;
    else if (by_rows && (e.prim->pointwise || takes_rows(e)) && shape_of(e.results[0]).size() * 8 >= limits_.value)
      at = place::inside;  // conditions too, whose elements are bytes
    if (at == place::inside && !has_rows_of_result(e)) at = place::sums;
    for (int r : e.results) value_[r] = at == place::sums ? place::after : at;
    return at;
  }
  [[nodiscard]] constexpr bool has_rows_of_result(const entry& e) const {
    return !(e.prim == &prim::sum && over_rows(e));
  }
  [[nodiscard]] constexpr bool in_loop(int i) const { return at_[i] == place::inside || at_[i] == place::sums; }

  /// How many rows a step computes: as many as the first cache holds of the largest value, and so many that no chain of
  /// additions becomes longer than in a sum that is computed at once. 0: no number suits.
  constexpr void choose_chunk() {
    std::int64_t row = 1, elements = 1;
    bool sums = false;
    for (int i = 0; i < t_.entries.size(); ++i) {
      sums = sums || (at_[i] == place::sums && !is_small_sum(t_.entries[i]));
      if (at_[i] != place::inside) continue;
      const abstract_value& v = t_.values[t_.entries[i].results[0]];
      if (bytes(v) / rows_ > row) row = bytes(v) / rows_, elements = v.shape.size() / rows_;
    }
    for (std::int64_t c = 1; c <= rows_ / limits_.steps && c * row <= machine::value_of_lanes / 2; ++c) {
      if (rows_ % c != 0 || c * elements < limits_.numbers || (sums && rows_ / c > machine::most_chunks)) continue;
      if (chunk_ > 0 && c * row > machine::first_cache / 2) break;
      chunk_ = c;
    }
  }
  /// Whether the sums of all steps take little memory: they are stacked, and added up behind the loop, as exactly as
  /// the sum that is computed at once. A larger one is a carry.
  [[nodiscard]] constexpr bool is_small_sum(const entry& e) const {
    return bytes(t_.values[e.results[0]]) * rows_ <= limits_.stacked_sums;
  }
  /// Whether the loop reads a large matrix product, whose register tiles go through a fused loop as it is.
  [[nodiscard]] constexpr bool follows_product() const {
    vec<bool> product(t_.values.size(), false);
    for (int i = 0; i < t_.entries.size(); ++i) {
      const entry& e = t_.entries[i];
      for (int o : e.operands)
        if (in_loop(i) && product[o]) return true;
      if (e.prim == &prim::matmul || ((e.prim->role == role::alias || e.prim->role == role::virtual_) &&
                                      !e.operands.empty() && product[e.operands[0]]))
        product[e.results[0]] = bytes(t_.values[e.results[0]]) >= limits_.value;
    }
    return false;
  }
  /// The bytes of large values that the plan stores without the loop and that nothing reads behind it, less twice those
  /// that are read there: around these a loop was seen to gain nothing.
  [[nodiscard]] constexpr std::int64_t spared() const {
    vec<bool> stored(t_.values.size(), false), left(t_.values.size(), false);
    vec<int> named(t_.values.size(), -1);  // by value: what it is another name of
    const auto root = [&](int v) {
      while (named[v] >= 0) v = named[v];
      return v;
    };
    for (int i = 0; i < t_.entries.size(); ++i) {
      const entry& e = t_.entries[i];
      if (at_[i] == place::after)
        for (int o : e.operands) left[root(o)] = true;
      if (!in_loop(i)) continue;
      if (e.prim->role == role::alias) named[e.results[0]] = e.operands[0];
      // A sum over the rows of a matrix may be part of the fused loop that computes it.
      const bool fused_sum =
          at_[i] == place::sums && shape_of(e.operands[0]).rank == 2 && prim::rules::over_axes::view(e).is_only(0);
      const bool step = e.prim->role == role::step || e.prim->role == role::rearranged;
      if (!fused_sum && (step || e.prim == &prim::broadcast_to)) stored[root(e.operands[0])] = true;
      if (e.prim == &prim::take) stored[e.results[0]] = true;
    }
    for (int o : t_.outputs) left[root(o)] = true;
    std::int64_t n = 0;
    for (int i = 0; i < t_.entries.size(); ++i) {
      if (at_[i] != place::inside) continue;
      const int v = t_.entries[i].results[0];
      if (bytes(t_.values[v]) < limits_.value || t_.entries[i].prim->role == role::virtual_) continue;
      if (left[v])
        n -= 2 * bytes(t_.values[v]);
      else if (stored[v])
        n += bytes(t_.values[v]);
    }
    return n;
  }

  /// Writes the loop.
  class writer {
   public:
    constexpr writer(const row_chunks& g, rewriter& w) : g_(g), w_(w), names_(g.t_.values.size(), -1) {}

    constexpr void write() {
      index_ = body_.input(abstract_value(dtype::int32, {}));
      vec<int> carried, stacked;  // entries of g_.t_
      vec<int> sums, rows;        // their values in the body
      for (int i = 0; i < g_.t_.entries.size(); ++i) {
        const entry& e = g_.t_.entries[i];
        if (!g_.in_loop(i)) continue;
        const int v = chunk_of(e);
        const bool sum = g_.at_[i] == place::sums;
        if (sum && !g_.is_small_sum(e)) {
          carried.push_back(i);
          sums.push_back(v);
          continue;
        }
        if (!sum) names_[e.results[0]] = v;
        if (is_read_after(e.results[0])) {
          stacked.push_back(i);
          rows.push_back(v);
        }
      }
      tape region;
      vec<int> inputs{index_}, operands;
      const auto add_inputs = [&](const vec<int>& of_body, const vec<int>& outside) {
        inputs.append(of_body);
        operands.append(outside);
      };
      vec<int> carries, zeros;
      for (int& s : sums) {
        const abstract_value type = body_.type(s);
        carries.push_back(body_.input(type));
        zeros.push_back(emit::constant(w_.b, type, 0));
        s = emit::add(body_, carries.back(), s);
      }
      add_inputs(whole_inputs_, whole_);
      add_inputs(carries, zeros);
      add_inputs(chunk_inputs_, chunks_);
      region = body_.take();
      region.inputs = inputs;
      region.outputs = sums;
      region.outputs.append(rows);
      prim::rules::scan::view loop(g_.rows_ / g_.chunk_, whole_.size(), sums.size());
      tapes regions;
      regions.push_back(without_dead_entries(static_cast<tape&&>(region)));
      const vec<int> results = w_.b.add(prim::scan, operands, loop.make(), static_cast<tapes&&>(regions));
      for (int i = 0; i < carried.size(); ++i) w_.names[g_.t_.entries[carried[i]].results[0]] = results[i];
      for (int i = 0; i < stacked.size(); ++i) {
        const int v = g_.t_.entries[stacked[i]].results[0], stack = results[carried.size() + i];
        w_.names[v] = g_.at_[stacked[i]] == place::sums ? emit::sum(w_.b, stack, {0})
                                                        : emit::reshape(w_.b, stack, g_.shape_of(v));
      }
    }

   private:
    [[nodiscard]] constexpr bool is_read_after(int v) const {
      for (int i = 0; i < g_.t_.entries.size(); ++i)
        if (g_.at_[i] == place::after && g_.t_.entries[i].operands.find(v) >= 0) return true;
      return g_.t_.outputs.find(v) >= 0;
    }
    /// The shape of a step's rows. A single row has no axis for it, so that it can be in a fused loop with a sum of
    /// rows.
    [[nodiscard]] constexpr shape part_of(shape s) const {
      if (g_.chunk_ == 1) return without_axis(s, 0);
      s[0] = g_.chunk_;
      return s;
    }
    /// Axes of what has rows, as axes of a step's rows.
    [[nodiscard]] constexpr vec<std::int64_t> axes_of(int_list axes) const {
      vec<std::int64_t> r;
      for (auto axis : axes)
        if (g_.chunk_ > 1 || axis > 0) r.push_back(axis - (g_.chunk_ == 1));
      return r;
    }
    /// What the body calls a step's rows of v, which has rows.
    constexpr int chunk(int v) {
      if (names_[v] >= 0) return names_[v];
      // What costs nothing is made from where it is read.
      for (const entry& e : g_.t_.entries)
        if (e.prim->role == role::virtual_ && e.results[0] == v && g_.is_by_rows(e)) return names_[v] = chunk_of(e);
      const shape s = g_.shape_of(v), part = part_of(s);
      chunks_.push_back(emit::reshape(w_.b, w_.names[v], with_front(part, g_.rows_ / g_.chunk_)));
      chunk_inputs_.push_back(body_.input(g_.t_.values[v].with_shape(part)));
      return names_[v] = chunk_inputs_.back();
    }
    /// What the body calls v, which is there before the loop.
    constexpr int whole(int v) {
      const int known = whole_.find(w_.names[v]);
      if (known >= 0) return whole_inputs_[known];
      whole_.push_back(w_.names[v]);
      whole_inputs_.push_back(body_.input(g_.t_.values[v]));
      return whole_inputs_.back();
    }
    /// A step's rows of e's result, or their sum.
    constexpr int chunk_of(const entry& e) {
      const abstract_value& to = g_.t_.values[e.results[0]];
      if (e.prim == &prim::constant) return emit::constant(body_, to.with_shape(part_of(to.shape)), e.attrs.number);
      if (e.prim == &prim::iota) return iota(to, prim::rules::iota::view(e).axis);
      if (e.prim == &prim::broadcast_to) {
        const bool rows = g_.broadcasts_rows(e);
        int x = rows ? chunk(e.operands[0]) : whole(e.operands[0]);
        const shape from = body_.shape(x), part = part_of(to.shape);
        if (!rows && from.rank > part.rank) x = emit::reshape(body_, x, without_axis(from, 0));
        return emit::broadcast_to(body_, x, part);
      }
      if (e.prim == &prim::reshape) return emit::reshape(body_, chunk(e.operands[0]), part_of(to.shape));
      if (prim::is_fold(e.prim))
        return emit::over_axes(body_, *e.prim, chunk(e.operands[0]), axes_of(prim::rules::over_axes::view(e).axes));
      if (e.prim == &prim::transpose)
        return emit::transpose(body_, chunk(e.operands[0]), axes_of(prim::rules::transpose::view(e).permutation));
      if (e.prim == &prim::take) return body_.add1(prim::take, {whole(e.operands[0]), chunk(e.operands[1])}, e.attrs);
      vec<int> operands;
      for (int o : e.operands) operands.push_back(chunk(o));
      return body_.add1(*e.prim, operands, e.attrs);
    }
    constexpr int iota(const abstract_value& to, int axis) {
      const shape part = part_of(to.shape);
      if (axis > 0) return emit::iota(body_, to.with_shape(part), axis - (g_.chunk_ == 1));
      const abstract_value one(dtype::int32, {}), numbers(dtype::int32, part);
      const int first = emit::mul(body_, index_, emit::constant(body_, one, static_cast<double>(g_.chunk_)));
      int rows = emit::broadcast_to(body_, first, part);
      if (g_.chunk_ > 1) rows = emit::add(body_, rows, emit::iota(body_, numbers, 0));
      return emit::cast(body_, rows, to.type);
    }

    const row_chunks& g_;
    rewriter& w_;
    builder body_;
    vec<int> names_;  // by value of g_.t_: a step's rows in the body
    int index_ = -1;
    vec<int> whole_, whole_inputs_, chunks_, chunk_inputs_;  // operands outside, and their inputs of the body
  };

  const tape& t_;
  chunk_limits limits_;
  std::int64_t rows_, chunk_ = 0;
  bool takes_rows_ = true;  // whether rows that are taken out of arrays may be in the loop
  vec<place> value_, at_;
};

/// Whether t, or a region in it, has a value that may be computed by rows.
constexpr bool holds_large_values(const tape& t, const chunk_limits& limits) {
  for (const entry& e : t.entries) {
    if (row_chunks::is_large(t, e, limits)) return true;
    for (const tape& r : e.regions)
      if (holds_large_values(r, limits)) return true;
  }
  return false;
}

/// t with its large values computed by rows where that pays, in regions too.
constexpr tape in_row_chunks(tape t, const chunk_limits& limits) {
  if (!holds_large_values(t, limits)) return t;
  t = rewritten(t, [&](rewriter& w, const entry& e) {
    return w.copied_with([&](const tape& r) { return in_row_chunks(r, limits); }, e);
  });
  for (int i = 0; i < t.entries.size(); ++i) {
    if (!row_chunks::is_large(t, t.entries[i], limits)) continue;
    const row_chunks chunks(t, i, limits);
    if (!chunks.pays()) continue;
    t = chunks.written();
    i = -1;
  }
  return t;
}
constexpr tape with_row_chunks(tape t) { return in_row_chunks(std::move(t), {}); }

}  // namespace drx::plan
