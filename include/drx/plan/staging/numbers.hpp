// drx/plan/staging/numbers.hpp: arrays of a few numbers in the loops of a member fall apart into their numbers. In
// lanes each number is a vector, and each elementwise entry on numbers a part of one fused loop: a matrix that is put
// together of numbers is registers, not copies of rows; and what is known of single numbers, as the zeros of a unit
// vector that a Jacobian multiplies with, is no work. Entries that need a whole array (a system of equations) get one
// that is joined for them.
// Tested by tests/unit/run/lanes_of_numbers.cpp.
#pragma once

#include <drx/core/tensor.hpp>
#include <drx/plan/machine.hpp>
#include <drx/plan/staging/outer_products.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// The index of the number at this row-major position.
constexpr vec<std::int64_t> places_of(const shape& s, std::int64_t index) {
  vec<std::int64_t> at(s.rank, 0);
  for (int axis = s.rank - 1; axis >= 0; --axis) {
    at[axis] = index % s[axis];
    index /= s[axis];
  }
  return at;
}

/// Writes a body whose loops compute with single numbers.
class number_writer {
 public:
  static constexpr tape write(const tape& body) {
    builder b;
    number_writer w(b, body);
    for (const int i : body.inputs) w.value[i].whole = b.input(body.values[i]);
    for (const entry& e : body.entries) {
      if (suits(body, e))
        w.write_loop(e);
      else
        w.copy(e);
    }
    for (const int o : body.outputs) b.output(w.whole(o));
    return without_dead_entries(b.take());
  }
  /// Whether a loop computes with arrays of a few numbers only, by entries that can be written on numbers.
  static constexpr bool suits(const tape& t, const entry& e) {
    if (e.prim != &prim::scan || prim::rules::scan::view(e).guard) return false;
    for (const int o : e.operands)
      if (t.values[o].depth > 0) return false;
    return has_arrays(e.regions[0]) && can_be_written(e.regions[0]);
  }

 private:
  builder& b;
  const tape& t;
  /// A value as one array, or as its numbers; those of what a loop stacks are arrays themselves, along `stacked` axes.
  struct parts {
    int whole = -1;
    vec<int> numbers;
    int stacked = 0;
  };
  vec<parts> value;  // by value of t

  constexpr number_writer(builder& on, const tape& source) : b(on), t(source), value(source.values.size()) {}

  static constexpr bool is_small(const abstract_value& v) {
    return v.depth == 0 && v.shape.rank > 0 && v.shape.size() > 0 && v.shape.size() <= machine::few_numbers;
  }
  static constexpr bool is_system(const entry& e) {
    return e.prim == &prim::lu_factors || e.prim == &prim::lu_solve || e.prim == &prim::cholesky ||
           e.prim == &prim::triangular_solve;
  }
  static constexpr bool is_moved(const entry& e) {
    return e.prim == &prim::reshape || e.prim == &prim::transpose || e.prim == &prim::broadcast_to ||
           e.prim == &prim::slice || e.prim == &prim::pad || e.prim == &prim::concatenate || e.prim == &prim::roll ||
           e.prim == &prim::flip;
  }
  static constexpr bool is_made(const entry& e) { return e.prim == &prim::constant || e.prim == &prim::iota; }
  static constexpr bool has_arrays(const tape& body) {
    for (const abstract_value& v : body.values)
      if (v.shape.size() > 1) return true;
    return false;
  }
  static constexpr bool can_be_written(const tape& body) {
    for (const entry& e : body.entries) {
      if (e.prim == &prim::scan) {
        if (prim::rules::scan::view(e).guard || !can_be_written(e.regions[0])) return false;
        continue;
      }
      if (!(e.prim->pointwise || is_moved(e) || is_made(e) || is_system(e) || e.prim == &prim::sum ||
            is_outer_product(body, e)))
        return false;
      vec<int> all = e.operands;
      all.append(e.results);
      for (const int v : all)
        if (body.values[v].shape.rank > 0 && !is_small(body.values[v])) return false;
    }
    return true;
  }

  [[nodiscard]] constexpr abstract_value type(int v) const { return t.values[v]; }
  /// The first n axes of s.
  static constexpr shape first_axes(const shape& s, int n) {
    shape r;
    for (int axis = 0; axis < n; ++axis) r.push_back(s[axis]);
    return r;
  }
  /// The value as one array.
  constexpr int whole(int v) {
    parts& p = value[v];
    if (p.whole >= 0) return p.whole;
    const shape s = type(v).shape, stack = first_axes(s, p.stacked);
    vec<int> columns;
    for (const int x : p.numbers) columns.push_back(emit::reshape(b, x, with_last(stack, 1)));
    p.whole = emit::reshape(b, emit::concatenate(b, columns, p.stacked), s);
    return p.whole;
  }
  /// The value's numbers, along so many stacked axes.
  constexpr vec<int> numbers(int v, int stacked = 0) {
    if (!value[v].numbers.empty() && value[v].stacked == stacked) return value[v].numbers;
    const shape s = type(v).shape, stack = first_axes(s, stacked);
    std::int64_t n = 1;  // (a stack may have no rows)
    for (int axis = stacked; axis < s.rank; ++axis) n *= s[axis];
    const int columns = emit::reshape(b, whole(v), with_last(stack, n));
    vec<int> r;
    for (int i = 0; i < n; ++i) r.push_back(emit::reshape(b, emit::part_of_axis(b, columns, stacked, i, 1), stack));
    if (value[v].numbers.empty()) set_numbers(v, r, stacked);  // (each entry asks for them once for each number)
    return r;
  }
  constexpr void set_numbers(int v, const vec<int>& n, int stacked = 0) {
    value[v].numbers = n;
    value[v].stacked = stacked;
  }
  constexpr void copy(const entry& e) {
    vec<int> operands;
    for (const int o : e.operands) operands.push_back(whole(o));
    const vec<int> r = b.add(*e.prim, operands, e.attrs, e.regions);
    for (int i = 0; i < e.results.size(); ++i) value[e.results[i]].whole = r[i];
  }

  constexpr void write_entry(const entry& e) {
    if (e.prim == &prim::scan) return write_loop(e);
    if (is_system(e)) return copy(e);
    const int to = e.results[0];
    const shape s = type(to).shape;
    vec<int> r;
    if (e.prim == &prim::sum) {
      r = sums(e);
    } else if (e.prim == &prim::concatenate) {
      r = joined(e);
    } else if (prim::is_matrix_product(e.prim)) {
      r = outer_product(e);
    } else {
      for (std::int64_t i = 0; i < s.size(); ++i) {
        if (e.prim->pointwise)
          r.push_back(elementwise(e, static_cast<int>(i)));
        else
          r.push_back(moved(e, places_of(s, i)));
      }
    }
    set_numbers(to, r);
  }
  /// A comparison of known integers is known, and so is a choice by it.
  constexpr int elementwise(const entry& e, int i) {
    vec<int> o;
    for (const int x : e.operands) o.push_back(numbers(x)[i]);
    double x = 0, y = 0;
    if (e.prim == &prim::where && emit::is_constant(b, o[0], x)) return o[x != 0 ? 1 : 2];
    if (o.size() == 2 && !is_floating(b.type(o[0]).type) && emit::is_constant(b, o[0], x) &&
        emit::is_constant(b, o[1], y)) {
      const abstract_value truth(dtype::boolean, {});
      if (e.prim == &prim::equal) return emit::constant(b, truth, x == y);
      if (e.prim == &prim::less) return emit::constant(b, truth, x < y);
      if (e.prim == &prim::less_equal) return emit::constant(b, truth, x <= y);
    }
    return b.add1(*e.prim, o, e.attrs);
  }
  /// The number that an entry has at a place.
  constexpr int moved(const entry& e, vec<std::int64_t> at) {
    const dtype element = type(e.results[0]).type;
    const abstract_value number(element, {});
    if (e.prim == &prim::constant) return emit::constant(b, number, e.attrs.number);
    if (e.prim == &prim::iota)
      return emit::constant(b, number, static_cast<double>(at[prim::rules::iota::view(e).axis]));
    const shape to = type(e.results[0]).shape, from = type(e.operands[0]).shape;
    if (e.prim == &prim::reshape) {
      at = places_of(from, flat_index(to, at.begin()));
    } else if (e.prim == &prim::transpose) {
      vec<std::int64_t> source(at.size(), 0);
      for (int axis = 0; axis < to.rank; ++axis)
        source[static_cast<int>(prim::rules::transpose::view(e).permutation[axis])] = at[axis];
      at = source;
    } else if (e.prim == &prim::broadcast_to) {
      vec<std::int64_t> source(from.rank, 0);
      for (int axis = 0; axis < from.rank; ++axis) source[axis] = from[axis] == 1 ? 0 : at[to.rank - from.rank + axis];
      at = source;
    } else if (e.prim == &prim::slice) {
      const prim::rules::slice::view v(e);
      for (int axis = 0; axis < to.rank; ++axis) at[axis] = v.start(axis) + at[axis] * v.stride(axis);
    } else if (e.prim == &prim::pad) {
      const prim::rules::pad::view v(e);
      for (int axis = 0; axis < to.rank; ++axis) {
        const std::int64_t behind = at[axis] - v.low(axis), step = 1 + v.interior(axis);
        if (behind < 0 || behind % step != 0 || behind / step >= from[axis]) return emit::constant(b, number, 0);
        at[axis] = behind / step;
      }
    } else if (e.prim == &prim::roll) {
      const prim::rules::roll::view v(int_list(e.attrs));
      at[v.axis] = (at[v.axis] + to[v.axis] - v.places) % to[v.axis];
    } else {  // flip
      for (const std::int64_t axis : prim::rules::flip::view(int_list(e.attrs)).axes)
        at[static_cast<int>(axis)] = to[static_cast<int>(axis)] - 1 - at[static_cast<int>(axis)];
    }
    return numbers(e.operands[0])[static_cast<int>(flat_index(from, at.begin()))];
  }
  constexpr vec<int> joined(const entry& e) {
    const shape to = type(e.results[0]).shape;
    const int axis = prim::rules::concatenate::view(int_list(e.attrs)).axis;
    vec<int> r;
    for (std::int64_t i = 0; i < to.size(); ++i) {
      vec<std::int64_t> at = places_of(to, i);
      int k = 0;
      for (; at[axis] >= type(e.operands[k]).shape[axis]; ++k) at[axis] -= type(e.operands[k]).shape[axis];
      r.push_back(numbers(e.operands[k])[static_cast<int>(flat_index(type(e.operands[k]).shape, at.begin()))]);
    }
    return r;
  }
  constexpr vec<int> outer_product(const entry& e) {
    const vec<int> x = numbers(e.operands[0]), y = numbers(e.operands[1]);
    const shape to = type(e.results[0]).shape;
    const std::int64_t rows = to[to.rank - 2], columns = to.last();
    vec<int> r;
    for (std::int64_t i = 0; i < to.size(); ++i) {
      const std::int64_t matrix = i / (rows * columns);
      const int left = x[static_cast<int>(i / columns)], right = y[static_cast<int>(matrix * columns + i % columns)];
      r.push_back(prim::rules::matmul::elementwise(b, *e.prim, left, right));
    }
    return r;
  }
  /// Sums in the order of memory, as the kernels have few numbers.
  constexpr vec<int> sums(const entry& e) {
    const vec<int> x = numbers(e.operands[0]);
    const shape from = type(e.operands[0]).shape, to = type(e.results[0]).shape;
    const prim::rules::over_axes::view over(e);
    vec<int> r(static_cast<int>(to.size()), -1);
    for (std::int64_t i = 0; i < from.size(); ++i) {
      const vec<std::int64_t> at = places_of(from, i);
      vec<std::int64_t> left;
      for (int axis = 0; axis < from.rank; ++axis) {
        bool summed = false;
        for (const std::int64_t a : over.axes) summed = summed || a == axis;
        if (!summed) left.push_back(at[axis]);
      }
      int& sum = r[static_cast<int>(flat_index(to, left.begin()))];
      const int term = x[static_cast<int>(i)];
      sum = sum < 0 ? term : emit::add(b, sum, term);
    }
    return r;
  }

  /// A loop whose small operands, carries and results are numbers, inside and outside.
  constexpr void write_loop(const entry& e) {
    const tape& body = e.regions[0];
    const prim::rules::scan::parts n(int_list(e.attrs), e.operands.size(), e.results.size());
    prim::rules::scan::view changed = n;
    changed.constants = changed.carries = 0;
    builder region;
    number_writer inner(region, body);
    inner.value[body.inputs[0]].whole = region.input(body.values[body.inputs[0]]);
    vec<int> operands;
    for (int i = 0; i < e.operands.size(); ++i) {
      const int in = body.inputs[1 + i], o = e.operands[i];
      const bool apart = is_small(body.values[in]);
      vec<int> own{-1}, inputs;
      if (apart)
        own = numbers(o, i >= n.first_x());
      else
        own[0] = whole(o);
      for (int j = 0; j < own.size(); ++j)
        inputs.push_back(region.input(apart ? abstract_value(body.values[in].type, {}) : body.values[in]));
      if (apart)
        inner.set_numbers(in, inputs);
      else
        inner.value[in].whole = inputs[0];
      operands.append(own);
      if (n.is_constant(i)) changed.constants += own.size();
      if (n.is_carry(i)) changed.carries += own.size();
    }
    for (const entry& inside : body.entries) inner.write_entry(inside);
    vec<int> counts;  // of numbers; 0: a whole array
    for (const int o : body.outputs) {
      const bool apart = is_small(body.values[o]);
      vec<int> own;
      if (apart) own = inner.numbers(o);
      counts.push_back(own.size());
      if (!apart) own.push_back(inner.whole(o));
      for (const int x : own) region.output(x);
    }
    const vec<int> r = b.add(prim::scan, operands, changed.make(), one_region(without_dead_entries(region.take())));
    int at = 0;
    for (int i = 0; i < e.results.size(); ++i) {
      if (counts[i] == 0) {
        value[e.results[i]].whole = r[at++];
        continue;
      }
      vec<int> own;
      for (int j = 0; j < counts[i]; ++j) own.push_back(r[at++]);
      set_numbers(e.results[i], own, i >= n.carries);
    }
  }
};

/// The entries of a body, in its regions too.
constexpr int entries_in_all(const tape& body) {
  int n = body.entries.size();
  for (const entry& e : body.entries)
    for (const tape& region : e.regions) n += entries_in_all(region);
  return n;
}

/// A member's body whose loops compute with single numbers; as it was, if it gets much longer, since each entry is
/// compiled.
constexpr tape with_numbers_in_loops(const tape& body) {
  bool any = false;
  for (const entry& e : body.entries) any = any || number_writer::suits(body, e);
  if (!any) return body;
  tape r = number_writer::write(body);
  if (entries_in_all(r) > machine::growth_by_numbers * entries_in_all(body)) r = body;
  return r;
}

}  // namespace drx::plan
