// drx/plan/shards/partition_of_member.hpp: the layout rules of operations on one member's values (class partitioner).
// Tested by tests/unit/plan/partitioner.cpp.
#pragma once

#include <drx/plan/shards/partitioner.hpp>

namespace drx::plan {

constexpr void partitioner::write_of_member(const entry& e) {
  if (e.prim == &prim::with_layout) {
    const int k = is_of_mesh(e, mesh) ? prim::rules::with_layout::view(e).axis.value_or(whole) : axis[e.operands[0]];
    set(e.results[0], at(e.operands[0], k), k);
  } else if (is_elementwise(e)) {
    elementwise(e);
  } else if (e.prim == &prim::broadcast_to) {
    const int from = axis[e.operands[0]], k = from == whole ? whole : from + t.values[e.results[0]].shape.rank - t.values[e.operands[0]].shape.rank;
    set(e.results[0], emit::broadcast_to(b, name[e.operands[0]], local(t.values[e.results[0]].shape, k)), k);
  } else if (e.prim == &prim::reshape) {
    const int k = reshaped_axis(t.values[e.operands[0]].shape, t.values[e.results[0]].shape, axis[e.operands[0]]);
    const int x = k == whole ? at(e.operands[0], whole) : name[e.operands[0]];
    set(e.results[0], emit::reshape(b, x, local(t.values[e.results[0]].shape, k)), k);
  } else if (e.prim == &prim::transpose) {
    const int from = axis[e.operands[0]];
    const vec<std::int64_t> permutation = prim::rules::transpose::view(e).permutation;
    set(e.results[0], emit::transpose(b, name[e.operands[0]], permutation), from == whole ? whole : permutation.find(from));
  } else if (e.prim == &prim::sum || e.prim == &prim::max_over || e.prim == &prim::min_over || e.prim == &prim::prod) {
    over_axes(e);
  } else if (e.prim == &prim::matmul) {
    product(e);
  } else if (e.prim == &prim::scan && !prim::rules::scan::view(e).guard) {
    loop(e);
  } else if (e.prim == &prim::members && e.attrs.placement == mesh.members) {
    set(e.results[0], members(prim::rules::members::view(e).type), whole);
  } else if (!stays_split(e)) {
    add_whole(e);
  }
}
/// Whether an operation keeps the elements along an axis apart, so that its result stays split along it.
constexpr bool partitioner::stays_split(const entry& e) {
  int k = whole, first = -1;
  for (int o : e.operands)
    if (first < 0 && axis[o] != whole) {
      first = o;
      k = axis[o];
    }
  if (k == whole) return false;
  attributes a = e.attrs;
  const shape& s = t.values[first].shape;
  const int r = s.rank;
  if (e.prim == &prim::slice) {
    const prim::rules::slice::view range(e);
    if (!range.takes_all(k, s[k])) return false;
    vec<std::int64_t> stops = range.stops;
    stops[k] /= mesh.count;
    a = prim::rules::slice::make(range.starts, stops, range.strides);
  } else if (e.prim == &prim::pad) {
    if (prim::rules::pad::view(e).pads(k)) return false;
  } else if (e.prim == &prim::flip) {
    if (prim::rules::flip::view(e).axes.contains(k)) return false;
  } else if (e.prim == &prim::concatenate) {
    if (prim::rules::concatenate::view(e).axis == k) return false;
  } else if (e.prim == &prim::cumsum || e.prim == &prim::cumprod || e.prim == &prim::recurrence) {
    if (prim::rules::along_axis::view(e).axis == k) return false;
  } else if (e.prim == &prim::dynamic_slice) {
    if (k >= prim::rules::dynamic_slice::view(e).batch) return false;
  } else if (e.prim == &prim::update_slice) {
    if (k >= prim::rules::update_slice::view(e).batch) return false;
  } else if (e.prim == &prim::take) {
    if (k >= prim::rules::take::view(e).batch) return false;
  } else if (e.prim == &prim::scatter) {
    if (k >= prim::rules::scatter::view(e).batch) return false;
  } else if (e.prim == &prim::cholesky || e.prim == &prim::triangular_solve || e.prim == &prim::lu_factors || e.prim == &prim::lu_solve ||
             e.prim == &prim::determinant || e.prim == &prim::cofactors || e.prim == &prim::qr || e.prim == &prim::eigh || e.prim == &prim::svd) {
    if (k >= r - 2) return false;
  } else {
    return false;
  }
  vec<int> operands;
  for (int o : e.operands) {
    const shape& other = t.values[o].shape;
    const bool along = k < other.rank && other[k] == s[k];
    if (!along && k < other.rank && other[k] != 1) return false;
    operands.push_back(at(o, along ? k : whole));
  }
  const vec<int> results = b.add(*e.prim, operands, a);
  for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], k);
  return true;
}
constexpr void partitioner::add_whole(const entry& e) {
  vec<int> operands;
  for (int o : e.operands) operands.push_back(at(o, whole));
  const vec<int> results = b.add(*e.prim, operands, e.attrs, e.regions);
  for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], whole);
}
constexpr void partitioner::elementwise(const entry& e) {
  int k = whole;
  for (int o : e.operands) k = k == whole ? axis[o] : k;
  vec<int> operands;
  for (int o : e.operands) operands.push_back(at(o, k));
  set(e.results[0], b.add1(*e.prim, operands, e.attrs), k);
}
/// The axis of `to` that is split if axis k of `from` is: one that begins at the same place.
constexpr int partitioner::reshaped_axis(const shape& from, const shape& to, int k) const {
  if (k == whole) return whole;
  std::int64_t before = 1, at_axis = 1;
  for (int i = 0; i < k; ++i) before *= from[i];
  for (int i = 0; i < to.rank; at_axis *= to[i++])
    if (at_axis == before && to[i] > 1 && divides(to, i)) return i;
  return whole;
}
constexpr void partitioner::over_axes(const entry& e) {
  const int x = e.operands[0], k = axis[x];
  const int part = b.add1(*e.prim, {name[x]}, e.attrs);
  const int_list over = prim::rules::over_axes::view(e).axes;
  if (k == whole || !over.contains(k)) {
    int left = k;  // the axes before it are gone
    for (auto a : over) left -= k != whole && a < k;
    set(e.results[0], part, left);
    return;
  }
  set(e.results[0], emit::over_axes(b, *e.prim, from_shards(b, part), {0}), whole);
}
constexpr void partitioner::product(const entry& e) {
  const bool tx = prim::rules::matmul::view(e).transposes_first, ty = prim::rules::matmul::view(e).transposes_second;
  const int x = e.operands[0], y = e.operands[1], r = t.values[x].shape.rank;
  const int rows = tx ? r - 1 : r - 2, inner_x = tx ? r - 2 : r - 1, inner_y = ty ? r - 1 : r - 2, columns = ty ? r - 2 : r - 1;
  const auto multiply = [&](int ax, int ay) { return emit::matmul(b, at(x, ax), at(y, ay), tx, ty); };
  if (axis[x] == inner_x || axis[y] == inner_y) {  // a sum over shards
    set(e.results[0], emit::sum(b, from_shards(b, multiply(inner_x, inner_y)), {0}), whole);
  } else if ((axis[x] != whole && axis[x] < r - 2) || (axis[y] != whole && axis[y] < r - 2)) {
    const int k = axis[x] != whole && axis[x] < r - 2 ? axis[x] : axis[y];
    set(e.results[0], multiply(k, k), k);
  } else if (axis[x] == rows) {
    set(e.results[0], multiply(rows, whole), r - 2);
  } else if (axis[y] == columns) {
    set(e.results[0], multiply(whole, columns), r - 1);
  } else {
    set(e.results[0], multiply(whole, whole), whole);
  }
}

}  // namespace drx::plan
