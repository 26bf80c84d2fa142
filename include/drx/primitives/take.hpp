// drx/primitives/take.hpp: elements gathered along an axis by an array of positions, and their transpose, which adds.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/dynamic_slice.hpp>
#include <drx/primitives/indexing.hpp>
#include <drx/primitives/lane_places.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
/// x [batch..., before..., n, behind...] with n at the axis, indices [batch..., any...]; the result is
/// [batch..., before..., any..., behind...].
struct take {
  struct view {  // ints: {axis, batch}
    int axis, batch;
    constexpr view(int at, int batch_axes) : axis(at), batch(batch_axes) {}
    constexpr explicit view(int_list a) : view(a.number(0), a.number(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, batch};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, indices = t.operands[1].shape;
    const auto [axis, batch] = view(t.attrs);
    typing::require(is_integer(t.operands[1].type), "take: the indices are no integers");
    typing::require(batch <= axis && axis < x.rank, "take: no such axis");
    typing::require(x.rank - 1 + indices.rank - batch <= shape::max_rank, "take: too many axes");
    shape to = indexing::common_batch(x, indices, batch);
    for (int i = batch; i < axis; ++i) to.push_back(x[i]);
    for (int i = batch; i < indices.rank; ++i) to.push_back(indices[i]);
    for (int i = axis + 1; i < x.rank; ++i) to.push_back(x[i]);
    typing::require(x[axis] > 0 || to.size() == 0, "take: from an axis without elements");
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[0]) return {zero_tangent, zero_tangent};
    const auto [axis, batch] = view(s.e);
    const shape from = s.b.shape(s.operands[0]);
    return {indexing::summed_to(s.b, emit::scatter(s.b, s.operands[1], ct[0], axis, batch, from[axis]), from),
            zero_tangent};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t) {
    view a(s.e);
    ++a.axis;
    if (!batched[1] && a.batch == 0) return {s.b.add1(*s.e.prim, s.operands, a.make())};  // one more axis before it
    if (!batched[0] && a.batch == 0 && a.axis == 1)
      return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};  // more indices
    ++a.batch;
    return {s.b.add1(*s.e.prim, indexing::on_batch(s, batched), a.make())};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (!emit::is_constant(b, o[0], x)) return -1;
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1])};
    return emit::constant(b, type({from, a, {}})[0], x);
  }
  static std::string print(const attributes& a) {
    const auto [axis, batch] = view(a);
    return "axis=" + std::to_string(axis) + (batch > 0 ? "; batch=" + std::to_string(batch) : "");
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!s.in_lanes[1]) return rules::lanes::same_places<1>(s);
    const auto [axis, batch] = view(s.e);
    const int x = s.operands[0], indices = s.operands[1];
    const shape from = s.b.shape(x);
    if (!s.in_lanes[0] || batch != 0 || from.size() == 0) return {};
    if (!rules::lanes::pays_to_gather(s, x, from.size() / from[axis] / s.n * s.b.shape(indices).size())) return {};
    const int places = rules::lanes::taken_places(s.b, from, indices, axis);
    return {emit::take(s.b, rules::lanes::flat(s.b, x), places, 0, 0)};
  }
  /// For an index `at` of the gathered side [batch..., before..., any..., behind...], the index of its element in [...,
  /// n, ...].
  static void element_of(const tensor& indices, int axis, int batch, std::int64_t n, int rank, const std::int64_t* at,
                         std::int64_t* element) {
    const int any = indices.type.shape.rank - batch;
    std::int64_t which[shape::max_rank] = {};
    indexing::own_index(indices.type.shape, batch, at, which);
    for (int i = 0; i < any; ++i) which[batch + i] = at[axis + i];
    for (int i = 0; i < axis; ++i) element[i] = at[i];
    element[axis] = indexing::position(indexing::integer_at(indices, which), n);
    for (int i = axis + 1; i < rank; ++i) element[i] = at[i - 1 + any];
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape;
    const int axis = view(v.e).axis, batch = view(v.e).batch;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(v.out[0].type.shape, [&](const std::int64_t* at) {
      std::int64_t element[shape::max_rank], source[shape::max_rank];
      element_of(*v.in[1], axis, batch, from[axis], from.rank, at, element);
      indexing::own_index(from, batch, element, source);
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
/// The transpose of take: zeros to which each update is added where it was taken from;
/// indices [batch..., any...], updates [batch..., before..., any..., behind...]; the result is [batch..., before..., n,
/// behind...].
struct scatter {
  struct view {  // ints: {axis, batch, extent of the result's axis}
    int axis, batch;
    std::int64_t extent;
    constexpr view(int at, int batch_axes, std::int64_t n) : axis(at), batch(batch_axes), extent(n) {}
    constexpr explicit view(int_list a) : view(a.number(0), a.number(1), a[2]) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, batch, extent};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape indices = t.operands[0].shape, updates = t.operands[1].shape;
    const auto [axis, batch, extent] = view(t.attrs);
    const int any = indices.rank - batch;
    typing::require(is_integer(t.operands[0].type), "scatter: the indices are no integers");
    typing::require(t.operands[1].type != dtype::boolean, "scatter: of bool");
    typing::require(batch <= axis && axis + any <= updates.rank, "scatter: no such axis");
    shape to = indexing::common_batch(indices, updates, batch);
    for (int i = 0; i < any; ++i)
      typing::require(updates[axis + i] == indices[batch + i], "scatter: not an update for each index");
    for (int i = batch; i < axis; ++i) to.push_back(updates[i]);
    to.push_back(extent);
    for (int i = axis + any; i < updates.rank; ++i) to.push_back(updates[i]);
    typing::require(extent > 0 || updates.size() == 0, "scatter: into an axis without elements");
    return {t.operands[1].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[1] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {s.operands[0], t[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[1]) return {zero_tangent, zero_tangent};
    const int taken = emit::take(s.b, ct[0], s.operands[0], view(s.e).axis, view(s.e).batch);
    return {zero_tangent, indexing::summed_to(s.b, taken, s.b.shape(s.operands[1]))};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t) {
    view a(s.e);
    ++a.axis;
    if (!batched[0] && a.batch == 0) return {s.b.add1(*s.e.prim, s.operands, a.make())};
    ++a.batch;
    return {s.b.add1(*s.e.prim, indexing::on_batch(s, batched), a.make())};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (!emit::is_constant(b, o[1], x) || x != 0) return -1;
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1])};
    return emit::constant(b, type({from, a, {}})[0], 0);
  }
  static constexpr known_values known(const known_site& s) { return {s.operands[1].but_zero()}; }
  /// (The sum over the lanes, a gradient of a table, is made of the updates alone: emit::sum_of_scattered.)
  static constexpr vec<int> lanes(const lane_site& s) {
    const auto [axis, batch, extent] = view(s.e);
    if (s.is_added_up || !s.in_lanes[0] || batch != 0) return {};
    const int updates = s.operand(1), any = s.b.shape(s.operands[0]).rank - 1;
    const shape from = s.b.shape(updates);
    shape to;
    for (int i = 0; i < axis; ++i) to.push_back(from[i]);
    to.push_back(extent);
    for (int i = axis + any; i < from.rank; ++i) to.push_back(from[i]);
    if (from.size() == 0 || 2 * from.size() > to.size()) return {};  // (many numbers are turned faster)
    const int places = rules::lanes::taken_places(s.b, to, s.operands[0], axis);
    const int sums =
        emit::scatter(s.b, rules::lanes::flat(s.b, places), rules::lanes::flat(s.b, updates), 0, 0, to.size());
    return {emit::reshape(s.b, sums, to)};
  }
  static void evaluate(evaluation& v) {
    const shape to = v.out[0].type.shape, updates = v.in[1]->type.shape;
    const int axis = view(v.e).axis, batch = view(v.e).batch;
    shape each = updates;  // the updates of each batch element
    for (int i = 0; i < batch; ++i) each[i] = to[i];
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each_index(each, [&](const std::int64_t* at) {
        std::int64_t element[shape::max_rank], source[shape::max_rank];
        take::element_of(*v.in[0], axis, batch, to[axis], to.rank, at, element);
        indexing::own_index(updates, batch, at, source);
        T& y = v.out[0].data<T>()[flat_index(to, element)];
        y = wrapping_sum(y, v.in[1]->data<T>()[flat_index(updates, source)]);
      });
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive take{.name = "take",
                                .type = rules::take::type,
                                .jvp = rules::take::jvp,
                                .vjp = rules::take::vjp,
                                .batch = rules::take::batch,
                                .simplify = rules::take::simplify,
                                .print = rules::take::print,
                                .evaluate = rules::take::evaluate,
                                .known = rules::known::handed_on,
                                .lanes = rules::take::lanes,
                                .split = rules::split::along_batch<rules::take>,
                                .takes_halves = true};
inline constexpr primitive scatter{.name = "scatter",
                                   .type = rules::scatter::type,
                                   .jvp = rules::scatter::jvp,
                                   .vjp = rules::scatter::vjp,
                                   .batch = rules::scatter::batch,
                                   .simplify = rules::scatter::simplify,
                                   .print = rules::take::print,
                                   .evaluate = rules::scatter::evaluate,
                                   .known = rules::scatter::known,
                                   .lanes = rules::scatter::lanes,
                                   .split = rules::split::along_batch<rules::scatter>};
}  // namespace prim
namespace emit {
constexpr int take(builder& b, int x, int indices, int axis, int batch) {
  return b.add1(prim::take, {x, indices}, prim::rules::take::view(axis, batch).make());
}
constexpr int scatter(builder& b, int indices, int updates, int axis, int batch, std::int64_t n) {
  return b.add1(prim::scatter, {indices, updates}, prim::rules::scatter::view(axis, batch, n).make());
}
/// The sum over the first axis of a batch that was scattered, or in which one row of zeros each was replaced: all go
/// into one array, and the batch of arrays is never made. The same for a sum of such sums (from the left, as cotangents
/// add up). -1 if x is none.
constexpr int sum_of_scattered(builder& b, int x) {
  const entry* e = b.definition(x);
  if (!e) return -1;
  if (e->prim == &prim::add) {
    const int left = e->operands[0], right = e->operands[1];
    const entry* last = b.definition(right);
    const int second = last && last->prim != &prim::add ? sum_of_scattered(b, right) : -1;
    const int first = sum_of_scattered(b, left);
    if (first < 0 && second < 0) return -1;
    const int rest = first < 0 ? sum(b, left, {0}) : second < 0 ? sum(b, right, {0}) : second;
    return first < 0 ? add(b, rest, second) : add(b, first, rest);
  }
  if (e->prim == &prim::scatter) {
    const int indices = e->operands[0], updates = e->operands[1];
    const auto [axis, batch, n] = prim::rules::scatter::view(*e);
    if (axis > 0 && batch == 0) return scatter(b, indices, sum(b, updates, {0}), axis - 1, 0, n);
    if (axis != 1 || batch != 1 || b.shape(indices)[0] != b.shape(updates)[0]) return -1;
    return scatter(b, indices, updates, 0, 0, n);
  }
  if (e->prim == &prim::update_slice && prim::rules::update_slice::view(*e).batch == 1) {
    const int piece = e->operands[1], starts = e->operands[2];
    const shape rows = b.shape(piece), at = b.shape(starts);
    double zero = 1;
    if (!is_constant(b, e->operands[0], zero) || zero != 0 || at[1] != 1 || rows[1] != 1 || at[0] != rows[0] ||
        rows[0] != b.shape(x)[0])
      return -1;
    const int flat_starts = reshape(b, starts, make_shape(at[0]));
    return scatter(b, flat_starts, reshape(b, piece, without_axis(rows, 1)), 0, 0, b.shape(x)[1]);
  }
  return -1;
}
/// The permutation that exchanges an axis with the last one.
constexpr vec<std::int64_t> exchanged_with_last(int axis, int last) {
  vec<std::int64_t> swapped;
  for (int i = 0; i <= last; ++i) swapped.push_back(i == axis ? last : i == last ? axis : i);
  return swapped;
}
/// take with one index for each element of the result; the other axes of x and indices agree.
constexpr int take_along(builder& b, int x, int indices, int axis) {
  const int last = b.shape(x).rank - 1;
  const vec<std::int64_t> swapped = exchanged_with_last(axis, last);
  const int swapped_x = transpose(b, x, swapped);
  return transpose(b, take(b, swapped_x, transpose(b, indices, swapped), last, last), swapped);
}
/// Its transpose, where x has the indices' shape: updates added up at their positions along an axis.
constexpr int scatter_along(builder& b, int indices, int updates, int axis) {
  const shape s = b.shape(updates);
  const int last = s.rank - 1;
  const vec<std::int64_t> swapped = exchanged_with_last(axis, last);
  const int at = transpose(b, indices, swapped), moved = transpose(b, updates, swapped);
  return transpose(b, scatter(b, at, moved, last, last, s[axis]), swapped);
}
}  // namespace emit

namespace detail {
template <class X>
concept Indices = IntegerArray<X> || IntegerLiteral<X>;

/// The checks and the result of taking elements of A along an axis by indices I; Along: one index for each element of
/// the result.
template <class A, int Axis, class I, bool Along = false>
struct taken : not_arrays<A, I> {};
template <Array A, int Axis, class I, bool Along>
  requires(!Placed<I>)
struct taken<A, Axis, I, Along> {
  static constexpr int axis = normal_axis(Axis, A::rank);
  static constexpr shape indices = [] {
    if constexpr (Array<I>) {
      return I::shape;
    } else {
      return shape{};
    }
  }();
  static constexpr auto misuse() {
    if constexpr (!Indices<I>) {
      return error::needs_integer_values{};
    } else if constexpr (axis < 0 || axis >= A::rank) {
      return error::axis_out_of_range{};
    } else if constexpr (Along ? A::rank != indices.rank : A::rank - 1 + indices.rank > shape::max_rank) {
      return error::wrong_rank{};
    } else if constexpr (Along && !alike()) {
      return error::extents_differ{};
    } else if constexpr (A::shape[axis] == 0 && indices.size() != 0) {
      return error::slice_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr bool alike() {
    for (int i = 0; i < A::rank; ++i)
      if (i != axis && A::shape[i] != indices[i]) return false;
    return true;
  }
  static constexpr bool fits = std::is_same_v<decltype(misuse()), no_misuse>;
  static constexpr shape value = [] {
    if (!fits) return shape{};
    if (Along) return indices;
    shape s;
    for (int i = 0; i < axis; ++i) s.push_back(A::shape[i]);
    for (int i = 0; i < indices.rank; ++i) s.push_back(indices[i]);
    for (int i = axis + 1; i < A::rank; ++i) s.push_back(A::shape[i]);
    return s;
  }();
};
template <class A, int Axis, class I, bool Along = false>
concept Takeable = std::is_same_v<decltype(taken<A, Axis, I, Along>::misuse()), no_misuse>;

template <class I>
constexpr int indices_on(tracing_builder& b, const I& i) {
  if constexpr (IntegerLiteral<I>) {
    return emit::constant(b, {dtype_of<typename position_element<I>::type>, {}}, static_cast<double>(i));
  } else {
    return id_on(b, i);
  }
}

/// Why updates U cannot be added to A where taken<A, Axis, I> was taken from; `no_misuse` if they can.
template <class A, int Axis, class I, class U>
constexpr auto scatter_misuse() {
  if constexpr (!Takeable<A, Axis, I>) {
    return taken<A, Axis, I>::misuse();
  } else if constexpr (Placed<U>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<U>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!NumberArray<A>) {
    return error::needs_numbers{};
  } else if constexpr (!std::is_same_v<typename A::value_type, typename U::value_type>) {
    return error::element_types_differ{};
  } else if constexpr (!(taken<A, Axis, I>::value == U::shape)) {
    return error::extents_differ{};
  } else {
    return no_misuse{};
  }
}
template <class A, int Axis, class I, class U>
concept Scatterable = std::is_same_v<decltype(scatter_misuse<A, Axis, I, U>()), no_misuse>;
}  // namespace detail

/// The parts of x at the positions `indices` of an axis. The axes of `indices`, an array of integers of any shape, take
/// that axis's place. Negative positions count from the end; then they are clamped into the axis.  take(table, words),
/// take<1>(x, i)
template <int Axis = 0, class A, class I>
  requires detail::Takeable<A, Axis, I>
constexpr auto take(const A& x, const I& indices) {
  using S = detail::taken<A, Axis, I>;
  tracing_builder& b = detail::tape_among(x, indices);
  return array_of<typename A::value_type, S>(
      detail::at(b, emit::take(b, detail::id_on(b, x), detail::indices_on(b, indices), S::axis, 0)));
}
template <int Axis = 0, class A, class I, class Why = decltype(detail::taken<A, Axis, I>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I> && !detail::Takeable<A, Axis, I>)
Why take(const A&, const I&) = delete;  // drx: take<axis>(x, array of ints), the axis one of x's and with elements; of a placed value in a map

/// One element for each index: y[.., k, ..] = x[.., indices[.., k, ..], ..]; only that axis may have another extent in
/// indices. Positions are read as by take.  take_along<1>(x, argsort<1>(x))
template <int Axis = -1, class A, class I>
  requires detail::Takeable<A, Axis, I, true>
constexpr auto take_along(const A& x, const I& indices) {
  using S = detail::taken<A, Axis, I, true>;
  tracing_builder& b = detail::tape_among(x, indices);
  return array_of<typename A::value_type, S>(
      detail::at(b, emit::take_along(b, detail::id_on(b, x), detail::id_on(b, indices), S::axis)));
}
template <int Axis = -1, class A, class I, class Why = decltype(detail::taken<A, Axis, I, true>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I> && !detail::Takeable<A, Axis, I, true>)
Why take_along(const A&, const I&) = delete;  // drx: take_along<axis>(x, array of ints), of one shape but for the axis; of a placed value in a map

/// x with updates added at positions of an axis. The updates have the shape of take<Axis>(x, indices); updates of one
/// position add up.
template <int Axis = 0, class A, class I, class U>
  requires detail::Scatterable<A, Axis, I, U>
constexpr A scatter_add(const A& x, const I& indices, const U& updates) {
  using S = detail::taken<A, Axis, I>;
  tracing_builder& b = detail::tape_among(x, indices, updates);
  const int added =
      emit::scatter(b, detail::indices_on(b, indices), detail::id_on(b, updates), S::axis, 0, A::shape[S::axis]);
  return A(detail::at(b, emit::add(b, detail::id_on(b, x), added)));
}
template <int Axis = 0, class A, class I, class U, class Why = decltype(detail::scatter_misuse<A, Axis, I, U>())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I, U> && !detail::Scatterable<A, Axis, I, U>)
Why scatter_add(const A&, const I&, const U&) = delete;  // drx: scatter_add<axis>(x, array of ints, updates): updates of the type of take<axis>(x, ints); of placed values in a map

DRX_SILENT(scatter_add)
DRX_SILENT(take)
DRX_SILENT(take_along)

}  // namespace drx
