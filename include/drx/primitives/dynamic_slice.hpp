// drx/primitives/dynamic_slice.hpp: the part of an array at a traced position, and the replacement of that part.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/indexing.hpp>
#include <drx/primitives/lane_places.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/slice.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
/// x [batch..., extents...], starts [batch..., one for each size]. Axes behind those with a size
/// are taken whole.
struct dynamic_slice {
  struct view {  // ints: {batch, sizes...}
    int batch;
    int_list sizes;
    constexpr explicit view(int_list a) : batch(a.number(0)), sizes(a.from(1)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, starts = t.operands[1].shape;
    const int_list sizes = view(t.attrs).sizes;
    const int batch = view(t.attrs).batch, sized = sizes.size();
    typing::require(is_integer(t.operands[1].type), "dynamic_slice: the starts are no integers");
    typing::require(starts.rank == batch + 1 && starts[batch] == sized && batch + sized <= x.rank,
                    "dynamic_slice: not a start for each size");
    shape to = indexing::common_batch(x, starts, batch);
    for (int i = batch; i < x.rank; ++i) {
      const auto size = i < batch + sized ? sizes[i - batch] : x[i];
      typing::require(0 <= size && size <= x[i], "dynamic_slice: larger than the array");
      to.push_back(size);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[0]) return {zero_tangent, zero_tangent};
    const int batch = view(s.e).batch;
    const shape from = s.b.shape(s.operands[0]);
    shape all = s.b.shape(s.results[0]);
    for (int i = batch; i < from.rank; ++i) all[i] = from[i];
    const int zeros = emit::constant(s.b, s.b.type(ct[0]).with_shape(all), 0);
    return {indexing::summed_to(s.b, emit::update_slice(s.b, zeros, ct[0], s.operands[1], batch), from), zero_tangent};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t) {
    attributes a = s.e.attrs;
    ++a.ints[0];
    return {s.b.add1(*s.e.prim, indexing::on_batch(s, batched), a)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[0]) return o[0];
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, to, x);
    if (view(a).batch != 0 || !emit::is_constant(b, o[1], x)) return -1;
    vec<std::int64_t> start, stop;
    for (int i = 0; i < to.shape.rank; ++i) {
      const bool sized = i < view(a).sizes.size();
      start.push_back(sized ? indexing::position(static_cast<std::int64_t>(x), from[0].shape[i], to.shape[i]) : 0);
      stop.push_back(start[i] + to.shape[i]);
    }
    return emit::slice(b, o[0], start, stop, vec<std::int64_t>(to.shape.rank, 1));
  }
  static std::string print(const attributes& a) {
    const view s(a);
    return list_of(s.sizes) + (s.batch > 0 ? "; batch=" + std::to_string(s.batch) : "");
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!s.in_lanes[1]) return rules::lanes::same_places<1>(s);
    const view v(s.e);
    const int x = s.operands[0];
    const shape whole = s.b.shape(x);
    if (!s.in_lanes[0] || v.batch != 0) return {};
    shape to = whole, numbers = whole;
    for (int i = 0; i < to.rank; ++i) {
      if (i < v.sizes.size()) to[i] = v.sizes[i];
      if (i < to.rank - 1) numbers[i] = 1;
    }
    if (to.size() == 0 || !rules::lanes::pays_to_gather(s, x, to.size())) return {};
    rules::lanes::own_places places(s.b, whole, to);
    for (int i = 0; i < to.rank; ++i) {
      if (to[i] != whole[i]) {
        const int start = emit::slice(s.b, s.operands[1], {i, 0}, {i + 1, s.n}, {1, 1});
        places.at(emit::reshape(s.b, indexing::positions(s.b, start, whole[i], to[i]), numbers), i);
      }
      places.along(i, i);
    }
    return {emit::take(s.b, rules::lanes::flat(s.b, x), places.written(), 0, 0)};
  }
  /// The position of the part of the batch element in `at`.
  static void start_of(const tensor& starts, int batch, int sized, const shape& from, const shape& part,
                       const std::int64_t* at, std::int64_t* start) {
    for (int i = 0; i < from.rank; ++i) start[i] = 0;
    for (int i = 0; i < sized; ++i) {
      std::int64_t own[shape::max_rank] = {};
      indexing::own_index(starts.type.shape, batch, at, own);
      own[batch] = i;
      start[batch + i] = indexing::position(indexing::integer_at(starts, own), from[batch + i], part[batch + i]);
    }
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const int batch = view(v.e).batch, sized = view(v.e).sizes.size();
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(to, [&](const std::int64_t* at) {
      std::int64_t start[shape::max_rank], source[shape::max_rank];
      start_of(*v.in[1], batch, sized, from, to, at, start);
      indexing::own_index(from, batch, at, source);
      for (int k = batch; k < from.rank; ++k) source[k] += start[k];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
/// x [batch..., extents...], piece [batch..., no larger extents...], starts [batch..., one for each of the
/// first axes]; in the axes behind those the piece is whole.
struct update_slice {
  struct view {  // ints: {batch}
    int batch;
    constexpr explicit view(int_list a) : batch(a.number(0)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, piece = t.operands[1].shape, starts = t.operands[2].shape;
    const int batch = view(t.attrs).batch;
    typing::require(is_integer(t.operands[2].type), "update_slice: the starts are no integers");
    typing::require(t.operands[0].type == t.operands[1].type, "update_slice: element types differ");
    typing::require(x.rank == piece.rank && starts.rank == batch + 1 && batch + starts[batch] <= x.rank,
                    "update_slice: ranks");
    shape to = indexing::common_batch(indexing::common_batch(x, piece, batch), starts, batch);
    for (int i = batch; i < x.rank; ++i) {
      typing::require(i < batch + starts[batch] ? piece[i] <= x[i] : piece[i] == x[i],
                      "update_slice: the piece does not fit");
      to.push_back(x[i]);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent && t[1] == zero_tangent) return {zero_tangent};
    vec<int> moved = s.operands;
    for (int i = 0; i < 2; ++i) moved[i] = emit::instantiate_zeros(s.b, t[i], s.operands[i]);
    return {s.b.add1(*s.e.prim, moved, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(3, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const int batch = view(s.e).batch, starts = s.operands[2];
    const shape x = s.b.shape(s.operands[0]), piece = s.b.shape(s.operands[1]);
    if (wanted[0]) {
      const int none = emit::zeros_like(s.b, s.operands[1]);
      r[0] = indexing::summed_to(s.b, emit::update_slice(s.b, ct[0], none, starts, batch), x);
    }
    if (wanted[1]) {
      vec<std::int64_t> sizes;
      for (int i = 0; i < s.b.shape(starts)[batch]; ++i) sizes.push_back(piece[batch + i]);
      r[1] = indexing::summed_to(s.b, emit::dynamic_slice(s.b, ct[0], starts, sizes, batch), piece);
    }
    return r;
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1]), b.type(o[2])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[1]) return o[1];
    if (from[1].shape.size() == 0 && to == from[0]) return o[0];
    double x = 0, piece = 0;
    return emit::is_constant(b, o[0], x) && emit::is_constant(b, o[1], piece) && x == piece ? emit::constant(b, to, x)
                                                                                            : -1;
  }
  static std::string print(const attributes& a) {
    return view(a).batch > 0 ? "batch=" + std::to_string(view(a).batch) : "";
  }
  static constexpr known_values known(const known_site& s) { return {either(s.operands[0], s.operands[1])}; }
  /// Where each lane replaces one row at a place of its own, a row is chosen where its number is that place: numbers
  /// stay in their lanes, and what reads them computes them. To batch the entry would move the whole array twice, in a
  /// loop at each step. But the sum of such arrays over the lanes, a gradient of a table, is made of the rows alone
  /// (emit::sum_of_scattered).
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!s.in_lanes[2]) return rules::lanes::same_places<2>(s);
    const int x = s.operand(0), row = s.operand(1), axis = axis_of_row(s.b.shape(x), s.b.shape(row));
    if (s.is_added_up || view(s.e).batch != 0 || axis < 0 || byte_size(s.b.type(x).type) < 4) return {};
    const shape all = s.b.shape(x);
    shape places = all, numbers = all;  // along the lanes, and along the rows
    for (int i = 0; i < all.rank; ++i) {
      if (i != all.rank - 1) places[i] = 1;
      if (i != axis) numbers[i] = 1;
    }
    // Places are as wide as the numbers that they choose, so that as many of them fill a vector.
    const dtype counted = byte_size(s.b.type(x).type) == 4 ? dtype::int32 : dtype::int64;
    const int start = emit::slice(s.b, s.operands[2], {axis, 0}, {axis + 1, s.n}, {1, 1});
    const int at = indexing::positions(s.b, emit::reshape(s.b, start, places), all[axis]);
    const int here = emit::equal(s.b, emit::broadcast_to(s.b, emit::cast(s.b, at, counted), all),
                                 emit::broadcast_to(s.b, emit::iota(s.b, {counted, numbers}, axis), all));
    return {emit::where(s.b, here, emit::broadcast_to(s.b, row, all), x)};
  }
  /// The only axis in which a piece of one row is smaller than the whole; -1 if it is no such piece.
  static constexpr int axis_of_row(const shape& whole, const shape& piece) {
    int axis = -1;
    for (int i = 0; i < whole.rank; ++i) {
      if (piece[i] == whole[i]) continue;
      if (axis >= 0 || piece[i] != 1) return -1;
      axis = i;
    }
    return axis;
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape, piece = v.in[1]->type.shape;
    const int batch = view(v.e).batch;
    const int sized = static_cast<int>(v.in[2]->type.shape[batch]);
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    auto copy = [&](const tensor& x, const std::int64_t* source, const std::int64_t* target) {
      std::memcpy(&v.out[0].bytes[width * static_cast<std::size_t>(flat_index(to, target))],
                  &x.bytes[width * static_cast<std::size_t>(flat_index(x.type.shape, source))], width);
    };
    std::int64_t source[shape::max_rank], target[shape::max_rank];
    for_each_index(to, [&](const std::int64_t* at) {
      indexing::own_index(from, batch, at, source);
      copy(*v.in[0], source, at);
    });
    shape each = piece;  // the piece of each batch element
    for (int i = 0; i < batch; ++i) each[i] = to[i];
    for_each_index(each, [&](const std::int64_t* at) {
      dynamic_slice::start_of(*v.in[2], batch, sized, to, piece, at, target);
      for (int i = 0; i < to.rank; ++i) target[i] += at[i];
      indexing::own_index(piece, batch, at, source);
      copy(*v.in[1], source, target);
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive dynamic_slice{.name = "dynamic_slice",
                                         .type = rules::dynamic_slice::type,
                                         .jvp = rules::dynamic_slice::jvp,
                                         .vjp = rules::dynamic_slice::vjp,
                                         .batch = rules::dynamic_slice::batch,
                                         .simplify = rules::dynamic_slice::simplify,
                                         .print = rules::dynamic_slice::print,
                                         .evaluate = rules::dynamic_slice::evaluate,
                                         .known = rules::known::handed_on,
                                         .lanes = rules::dynamic_slice::lanes,
                                         .split = rules::split::along_batch<rules::dynamic_slice>,
                                         .takes_halves = true};
inline constexpr primitive update_slice{.name = "update_slice",
                                        .type = rules::update_slice::type,
                                        .jvp = rules::update_slice::jvp,
                                        .vjp = rules::update_slice::vjp,
                                        .batch = rules::dynamic_slice::batch,
                                        .simplify = rules::update_slice::simplify,
                                        .print = rules::update_slice::print,
                                        .evaluate = rules::update_slice::evaluate,
                                        .known = rules::update_slice::known,
                                        .lanes = rules::update_slice::lanes,
                                        .split = rules::split::along_batch<rules::update_slice>,
                                        .in_place = true,
                                        .takes_halves = true};
}  // namespace prim
namespace emit {
constexpr int dynamic_slice(builder& b, int x, int starts, const vec<std::int64_t>& sizes, int batch) {
  attributes a;
  a.ints = {batch};
  a.ints.append(sizes);
  return b.add1(prim::dynamic_slice, {x, starts}, a);
}
constexpr int update_slice(builder& b, int x, int piece, int starts, int batch) {
  attributes a;
  a.ints = {batch};
  return b.add1(prim::update_slice, {x, piece, starts}, a);
}
}  // namespace emit

namespace detail {
template <std::int64_t... Sizes>
struct sizes {};

/// The checks and the result of a part of A with the given sizes in the first axes, at positions I...
template <class A, class Sizes, class... I>
struct dynamic_part : not_arrays<A, I...> {};
template <Array A, std::int64_t... Size, class... I>
  requires(!(Placed<I> || ...))
struct dynamic_part<A, sizes<Size...>, I...> {
  static constexpr int given = static_cast<int>(sizeof...(Size));
  static constexpr std::int64_t size(int i) {
    const std::int64_t list[] = {Size..., 0};
    return list[i];
  }
  static constexpr auto misuse() {
    if constexpr (!(Position<I> && ...)) {
      return error::needs_integer_values{};
    } else if constexpr (given == 0 || given > A::rank || given != static_cast<int>(sizeof...(I))) {
      return error::wrong_rank{};
    } else if constexpr (!fits()) {
      return error::slice_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr bool fits() {
    for (int i = 0; i < given; ++i)
      if (size(i) < 0 || size(i) > A::shape[i]) return false;
    return true;
  }
  static constexpr shape value = [] {
    shape s = A::shape;
    for (int i = 0; i < given && i < s.rank; ++i) s[i] = size(i);
    return s;
  }();
};
template <class A, class Sizes, class... I>
concept DynamicallySliceable = std::is_same_v<decltype(dynamic_part<A, Sizes, I...>::misuse()), no_misuse>;

template <class A, class B, class... I>
struct replaced_part : not_arrays<A, B, I...> {};
template <Array A, Array B, class... I>
  requires(!(Placed<I> || ...))
struct replaced_part<A, B, I...> {
  static constexpr int given = static_cast<int>(sizeof...(I));
  static constexpr auto misuse() {
    if constexpr (!(Position<I> && ...)) {
      return error::needs_integer_values{};
    } else if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
      return error::element_types_differ{};
    } else if constexpr (A::rank != B::rank || given == 0 || given > A::rank) {
      return error::wrong_rank{};
    } else if constexpr (!fits()) {
      return error::slice_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr bool fits() {
    for (int i = 0; i < A::rank; ++i)
      if (i < given ? B::shape[i] > A::shape[i] : B::shape[i] != A::shape[i]) return false;
    return true;
  }
};
template <class A, class B, class... I>
concept Replaceable = std::is_same_v<decltype(replaced_part<A, B, I...>::misuse()), no_misuse>;

template <class>
inline constexpr std::int64_t one_for = 1;
template <class A, class... I>
concept DynamicallyIndexable = DynamicallySliceable<A, sizes<one_for<I>...>, I...>;
}  // namespace detail

/// The part of x with extents Sizes in its first axes that begins at position (i...), integers that may be traced. A
/// negative position counts from the end; then it is clamped, so that the part lies inside x.  dynamic_slice<2, 3>(x,
/// i, j)
template <std::int64_t... Sizes, class A, class... I>
  requires(sizeof...(I) > 0 && detail::DynamicallySliceable<A, detail::sizes<Sizes...>, I...>)
constexpr auto dynamic_slice(const A& x, const I&... i) {
  using R = array_of<typename A::value_type, detail::dynamic_part<A, detail::sizes<Sizes...>, I...>>;
  tracing_builder& b = detail::tape_among(x, i...);
  return R(detail::at(b, emit::dynamic_slice(b, detail::id_on(b, x), detail::positions_on(b, i...), {Sizes...}, 0)));
}
template <std::int64_t... Sizes, class A, class... I,
          class Why = decltype(detail::dynamic_part<A, detail::sizes<Sizes...>, I...>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I...> && sizeof...(I) > 0 &&
           !detail::DynamicallySliceable<A, detail::sizes<Sizes...>, I...>)
Why dynamic_slice(const A&, const I&...) = delete;  // drx: dynamic_slice<sizes...>(x, i, j): as many ints as sizes, none larger than the axis; of a placed value in a map

/// x with `piece` in it at position (i...), which is read as by dynamic_slice: clamped, so that the piece lies inside
/// x. In axes without a position, the piece has the full extent.  update_slice(x, piece, i, j)
template <class A, class B, class... I>
  requires(sizeof...(I) > 0 && detail::Replaceable<A, B, I...>)
constexpr A update_slice(const A& x, const B& piece, const I&... i) {
  tracing_builder& b = detail::tape_among(x, piece, i...);
  return A(detail::at(
      b, emit::update_slice(b, detail::id_on(b, x), detail::id_on(b, piece), detail::positions_on(b, i...), 0)));
}
template <class A, class B, class... I, class Why = decltype(detail::replaced_part<A, B, I...>::misuse())>
  requires((Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !error::AnyReported<I...> && sizeof...(I) > 0 &&
           !detail::Replaceable<A, B, I...>)
Why update_slice(const A&, const B&, const I&...) = delete;  // drx: update_slice(x, piece, i, j): piece of x's rank and element type, no larger than x; of placed values in a map

/// The part at a traced position of each of the first axes, which are dropped. Positions are read as by dynamic_slice.
/// index(x, i, j)
template <class A, class... I>
  requires(sizeof...(I) > 0 && detail::DynamicallyIndexable<A, I...>)
constexpr auto index(const A& x, const I&... i) {
  using S = detail::without_first_axes<A, static_cast<int>(sizeof...(I))>;
  const auto part = drx::dynamic_slice<detail::one_for<I>...>(x, i...);
  return detail::unary<array_of<typename A::value_type, S>>(
      part, [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}
template <class A, class... I,
          class Why = decltype(detail::dynamic_part<A, detail::sizes<detail::one_for<I>...>, I...>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I...> && sizeof...(I) > 0 &&
           !detail::DynamicallyIndexable<A, I...>)
Why index(const A&, const I&...) = delete;  // drx: index(x, i, j): ints, not more of them than x has axes, no axis empty; of a placed value in a map

DRX_SILENT(dynamic_slice)
DRX_SILENT(update_slice)

}  // namespace drx
