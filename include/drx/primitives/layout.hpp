// drx/primitives/layout.hpp: reshape and transpose.
#pragma once

#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
inline std::string list_of(int_list ints) {
  std::string text;
  for (int i = 0; i < ints.size(); ++i) text += (i ? "," : "") + std::to_string(ints[i]);
  return text;
}
struct reshape {  // ints: the extents of the result
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape s = broadcast_to::target(t.attrs);
    typing::require(s.size() == t.operands[0].shape.size(), "reshape: the number of elements differs");
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::reshape(s.b, ct[0], s.b.shape(s.operands[0]))};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    return {emit::reshape(s.b, s.operands[0], with_front(broadcast_to::target(s.e.attrs), n))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const shape to = broadcast_to::target(a);
    if (b.shape(o[0]) == to) return o[0];
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr()) return emit::reshape(b, e->operands[0], to);
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_shape(to), x);
    return -1;
  }
  static constexpr const primitive* prim_ptr();
  static constexpr vec<int> lanes(const lane_site& s) {
    return {emit::reshape(s.b, s.operands[0], with_last(broadcast_to::target(s.e.attrs), s.n))};
  }
  /// Which axis of `to` is split if axis k of `from` is: one that begins at the same place.
  static constexpr int split_axis(const split_site& s, const shape& from, const shape& to, int k) {
    if (k == split_site::whole) return k;
    std::int64_t before = 1, at_axis = 1;
    for (int i = 0; i < k; ++i) before *= from[i];
    for (int i = 0; i < to.rank; at_axis *= to[i++])
      if (at_axis == before && to[i] > 1 && s.divides(to, i)) return i;
    return split_site::whole;
  }
  static constexpr vec<split_result> split(split_site& s) {
    const shape& to = s.whole_result().shape;
    const int k = split_axis(s, s.whole_shape(0), to, s.axis(0));
    const int x = k == split_site::whole ? s.at(0, k) : s.operand(0);
    return {{emit::reshape(s.b, x, s.part_of(to, k)), k}};
  }
  static void evaluate(evaluation& v) { v.out[0].bytes = v.in[0]->bytes; }
};
struct transpose {
  struct view {
    int_list permutation;  // axis i of the result is axis permutation[i] of the operand
    constexpr explicit view(int_list a) : permutation(a) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape from = t.operands[0].shape;
    typing::require(t.attrs.ints.size() == from.rank, "transpose: the permutation's length is not the rank");
    shape s;
    for (auto axis : t.attrs.ints) s.push_back(from[static_cast<int>(axis)]);
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    vec<std::int64_t> inverse(s.e.attrs.ints.size(), 0);
    for (int i = 0; i < inverse.size(); ++i) inverse[static_cast<int>(s.e.attrs.ints[i])] = i;
    return {emit::transpose(s.b, ct[0], inverse)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    vec<std::int64_t> p{0};
    for (auto axis : s.e.attrs.ints) p.push_back(axis + 1);
    return {emit::transpose(s.b, s.operands[0], p)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    bool identity = true;
    for (int i = 0; i < a.ints.size(); ++i) identity = identity && a.ints[i] == i;
    if (identity) return o[0];
    const shape from = b.shape(o[0]);
    shape to;
    for (auto axis : a.ints) to.push_back(from[static_cast<int>(axis)]);
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_shape(to), x);
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr()) {  // two transposes are one
      const int inner = e->operands[0];
      vec<std::int64_t> both;
      for (auto axis : a.ints) both.push_back(view(*e).permutation[static_cast<int>(axis)]);
      return emit::transpose(b, inner, both);
    }
    return keeps_order(from, a.ints) ? emit::reshape(b, o[0], to) : -1;
  }
  /// Whether the elements stay where they are: only axes of extent 1 move past others.
  static constexpr bool keeps_order(const shape& from, const vec<std::int64_t>& permutation) {
    std::int64_t last = -1;
    for (auto axis : permutation) {
      if (from[static_cast<int>(axis)] == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }
  static constexpr const primitive* prim_ptr();
  static std::string print(const attributes& a) { return list_of(a.ints); }
  static constexpr vec<int> lanes(const lane_site& s) {
    vec<std::int64_t> order = view(s.e).permutation;
    order.push_back(order.size());
    return {emit::transpose(s.b, s.operands[0], order)};
  }
  static constexpr vec<split_result> split(split_site& s) {
    const vec<std::int64_t> permutation = view(s.e).permutation;
    const int from = s.axis(0), k = from == split_site::whole ? from : permutation.find(from);
    return {{emit::transpose(s.b, s.operand(0), permutation), k}};
  }
  static void evaluate(evaluation& v) {
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(v.out[0].type.shape, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < v.e.attrs.ints.size(); ++k) source[v.e.attrs.ints[k]] = at[k];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(v.in[0]->type.shape, source))], width);
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive reshape{.name = "reshape",
                                   .type = rules::reshape::type,
                                   .jvp = rules::broadcast_to::jvp,
                                   .vjp = rules::reshape::vjp,
                                   .batch = rules::reshape::batch,
                                   .simplify = rules::reshape::simplify,
                                   .evaluate = rules::reshape::evaluate,
                                   .known = rules::known::handed_on,
                                   .lanes = rules::reshape::lanes,
                                   .split = rules::reshape::split,
                                   .role = role::alias,
                                   .takes_halves = true};
inline constexpr primitive transpose{.name = "transpose",
                                     .type = rules::transpose::type,
                                     .jvp = rules::broadcast_to::jvp,
                                     .vjp = rules::transpose::vjp,
                                     .batch = rules::transpose::batch,
                                     .simplify = rules::transpose::simplify,
                                     .print = rules::transpose::print,
                                     .evaluate = rules::transpose::evaluate,
                                     .known = rules::known::handed_on,
                                     .lanes = rules::transpose::lanes,
                                     .split = rules::transpose::split,
                                     .takes_halves = true};
constexpr const primitive* rules::reshape::prim_ptr() { return &prim::reshape; }
constexpr const primitive* rules::transpose::prim_ptr() { return &prim::transpose; }
}  // namespace prim

namespace emit {
constexpr int reshape(builder& b, int x, const shape& s) {
  attributes a;
  for (int i = 0; i < s.rank; ++i) a.ints.push_back(s[i]);
  return b.add1(prim::reshape, {x}, a);
}
constexpr int transpose(builder& b, int x, const vec<std::int64_t>& permutation) {
  attributes a;
  a.ints = permutation;
  return b.add1(prim::transpose, {x}, a);
}
}  // namespace emit

/// The same elements, row-major, in another shape.
template <std::int64_t... Extents, class A>
  requires(Array<A> && (Extents * ... * 1) == A::size)
constexpr auto reshape(const A& x) {
  using R = array<typename A::value_type, Extents...>;
  return detail::unary<R>(x, [](builder& b, int id) { return emit::reshape(b, id, R::shape); });
}
template <std::int64_t... Extents, class A, class Why = error::number_of_elements_differs>
  requires(Array<A> && (Extents * ... * 1) != A::size)
Why reshape(const A&) = delete;  // drx: the product of the new extents must be the number of elements
template <class A, class... I, class Why = error::axes_and_extents_are_template_arguments>
  requires detail::AxesAsArguments<A, I...>
Why reshape(const A&, const I&...) = delete;  // drx: reshape<3, 4>(x)
template <auto..., class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why reshape(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::reshape<extents...>(x); }, placed); of a structure leaf by leaf: tree_map

namespace detail {
template <int Rank, int... P>
constexpr bool is_permutation() {
  if (sizeof...(P) != Rank) return false;
  [[maybe_unused]] int times[Rank + 1] = {};
  return ((P >= 0 && P < Rank && ++times[P >= 0 && P < Rank ? P : 0] == 1) && ...);
}
}  // namespace detail

namespace detail {
template <class A, int... P>
struct transposed {
  static constexpr int axis(int i) {
    if constexpr (sizeof...(P) == 0) {
      return A::rank - 1 - i;
    } else {
      constexpr int p[] = {P...};
      return p[i];
    }
  }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i) s.push_back(A::shape[axis(i)]);
    return s;
  }();
};
}  // namespace detail

/// Axes in another order: axis i of the result is axis P[i] of x. Without P the order is reversed, which transposes a
/// matrix.
/// transpose(x), transpose<2, 0, 1>(x)
template <int... P, class A>
  requires(Array<A> && (sizeof...(P) == 0 || detail::is_permutation<A::rank, P...>()))
constexpr auto transpose(const A& x) {
  using S = detail::transposed<A, P...>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    vec<std::int64_t> p;
    for (int i = 0; i < A::rank; ++i) p.push_back(S::axis(i));
    return emit::transpose(b, id, p);
  });
}
template <int... P, class A, class Why = error::axis_out_of_range>
  requires(Array<A> && sizeof...(P) != 0 && !detail::is_permutation<A::rank, P...>())
Why transpose(const A&) = delete;  // drx: transpose<P...>(x): P is a permutation of 0 .. rank-1
template <auto..., class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why transpose(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::transpose(x); }, placed); of a structure leaf by leaf: tree_map

DRX_SILENT(reshape)
DRX_SILENT(transpose)

}  // namespace drx
