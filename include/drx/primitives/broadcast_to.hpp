// drx/primitives/broadcast_to.hpp: repeats an array along new or unit axes, by NumPy's rule (axes are compared from the
// last).
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct broadcast_to {
  struct view {  // ints: the extents of the result
    shape target;
    constexpr explicit view(int_list a) {
      for (auto n : a) target.push_back(n);
    }
  };
  static constexpr shape target(const attributes& a) { return view(a).target; }
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape to = target(t.attrs), from = t.operands[0].shape;
    typing::require(from.rank <= to.rank && broadcastable(from, to) && broadcast_shapes(from, to) == to,
                    "broadcast_to: the shapes do not fit");
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct,
                                const vec<bool>&) {  // sums over the repeated axes
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]), to = s.b.shape(s.results[0]);
    vec<std::int64_t> axes;
    for (int i = 0; i < to.rank; ++i) {
      const int j = i - (to.rank - from.rank);
      if (j < 0 || (from[j] == 1 && to[i] != 1)) axes.push_back(i);
    }
    return {emit::reshape(s.b, emit::sum(s.b, ct[0], axes), from)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    const shape from = s.b.shape(s.operands[0]), to = target(s.e.attrs);
    shape aligned = make_shape(n);  // the batch axis goes in front of the new axes
    for (int i = 0; i < to.rank - (from.rank - 1); ++i) aligned.push_back(1);
    for (int i = 1; i < from.rank; ++i) aligned.push_back(from[i]);
    return {emit::broadcast_to(s.b, emit::reshape(s.b, s.operands[0], aligned), with_front(to, n))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const shape to = target(a);
    if (b.shape(o[0]) == to) return o[0];
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_shape(to), x);
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr()) return emit::broadcast_to(b, e->operands[0], to);
    return -1;
  }
  static constexpr const primitive* prim_ptr();
  static constexpr vec<int> lanes(const lane_site& s) {
    const shape from = s.b.shape(s.operands[0]), to = target(s.e.attrs);
    shape aligned;  // the axes that are new stand in front
    for (int i = 0; i < to.rank - (from.rank - 1); ++i) aligned.push_back(1);
    for (int i = 0; i < from.rank; ++i) aligned.push_back(from[i]);
    return {emit::broadcast_to(s.b, emit::reshape(s.b, s.operands[0], aligned), with_last(to, s.n))};
  }
  static constexpr vec<split_result> split(split_site& s) {
    const int from = s.axis(0),
              k = from == split_site::whole ? from : from + s.whole_result().shape.rank - s.whole_shape(0).rank;
    return {{emit::broadcast_to(s.b, s.operand(0), s.part_of(s.whole_result().shape, k)), k}};
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(to, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int j = 0; j < from.rank; ++j) source[j] = from[j] == 1 ? 0 : at[j + to.rank - from.rank];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive broadcast_to{.name = "broadcast_to",
                                        .type = rules::broadcast_to::type,
                                        .jvp = rules::broadcast_to::jvp,
                                        .vjp = rules::broadcast_to::vjp,
                                        .batch = rules::broadcast_to::batch,
                                        .simplify = rules::broadcast_to::simplify,
                                        .evaluate = rules::broadcast_to::evaluate,
                                        .known = rules::known::handed_on,
                                        .lanes = rules::broadcast_to::lanes,
                                        .split = rules::broadcast_to::split,
                                        .role = role::virtual_,
                                        .takes_halves = true};
constexpr const primitive* rules::broadcast_to::prim_ptr() { return &prim::broadcast_to; }
}  // namespace prim
namespace emit {
constexpr int broadcast_to(builder& b, int x, const shape& s) {
  attributes a;
  for (int i = 0; i < s.rank; ++i) a.ints.push_back(s[i]);
  return b.add1(prim::broadcast_to, {x}, a);
}
}  // namespace emit

namespace detail {
template <class A, std::int64_t... Extents>
inline constexpr bool repeats_to = false;
template <Array A, std::int64_t... Extents>
inline constexpr bool repeats_to<A, Extents...> =
    A::rank <= static_cast<int>(sizeof...(Extents)) && broadcastable(A::shape, make_shape(Extents...)) &&
    broadcast_shapes(A::shape, make_shape(Extents...)) == make_shape(Extents...);
}  // namespace detail

/// x repeated to the shape (Extents...): axes are compared from the last, each equal or 1 in x.
template <std::int64_t... Extents, class A>
  requires detail::repeats_to<A, Extents...>
constexpr auto broadcast_to(const A& x) {
  using R = array<typename A::value_type, Extents...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x));
  const int id = emit::resolve(b, detail::ref_of(x), {dtype_of<typename A::value_type>, A::shape});
  return R(detail::at(b, emit::broadcast_to(b, id, R::shape)));
}
template <std::int64_t... Extents, class A, class Why = error::shapes_do_not_broadcast>
  requires(Array<A> && !detail::repeats_to<A, Extents...>)
Why broadcast_to(const A&) = delete;  // drx: from the last axis on, each extent of x must be 1 or the one asked for
template <std::int64_t... Extents, class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why broadcast_to(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::broadcast_to<extents...>(x); }, placed); of a structure leaf by leaf: tree_map

DRX_SILENT(broadcast_to)

}  // namespace drx
