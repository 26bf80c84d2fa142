// drx/primitives/broadcast.hpp: broadcast, which gives an unplaced value to every member of a placement, and count, the
// number of members.
#pragma once

#include <drx/primitives/constant.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct broadcast {  // placement: to whom
  static constexpr vec<abstract_value> type(const typing& t) { return {t.operands[0].placed_at(t.attrs.placement)}; }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::broadcast(s.b, t[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::reduce_sum(s.b, ct[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::broadcast(s.b, s.operands[0], s.e.attrs.placement)};
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name); }
  static constexpr vec<int> share(share_site& s) { return {s.common(0)}; }
  static void evaluate(evaluation& v) {
    v.out[0].members.assign(static_cast<std::size_t>(v.members(v.e.attrs.placement)), *v.in[0]);
  }
};
struct members {  // placement
  struct view {   // ints: {dtype}
    dtype type;
    constexpr explicit view(int_list a) : type(static_cast<dtype>(a[0])) {}
  };
  static constexpr along_axis_result along_axis(const rule_site& s, bool, std::int64_t n) {
    return {emit::constant(s.b, abstract_value(view(s.e).type, {}), static_cast<double>(n)), false};
  }
  static constexpr vec<abstract_value> type(const typing& t) { return {abstract_value(view(t.attrs).type, {})}; }
  static constexpr vec<split_result> split(split_site& s) {  // there are as many shards of each member as the mesh has
    if (s.e.attrs.placement != s.mesh.members) return {};
    return {{of_whole_members(s.b, s.mesh, view(s.e).type), split_site::whole}};
  }
  static constexpr int of_whole_members(builder& b, const mesh_axes& mesh, dtype type) {
    const int shards = emit::members(b, mesh.members, dtype::int64);
    return emit::cast(b, emit::div(b, shards, emit::constant_like(b, shards, static_cast<double>(mesh.count))), type);
  }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type,
                  [&]<class T>(T) { v.out[0].data<T>()[0] = static_cast<T>(v.members(v.e.attrs.placement)); });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive broadcast{.name = "broadcast",
                                     .type = rules::broadcast::type,
                                     .jvp = rules::broadcast::jvp,
                                     .vjp = rules::broadcast::vjp,
                                     .batch = rules::broadcast::batch,
                                     .print = rules::broadcast::print,
                                     .evaluate = rules::broadcast::evaluate,
                                     .share = rules::broadcast::share,
                                     .known = rules::known::handed_on,
                                     .takes_halves = true};
/// The number of members of a placement.
inline constexpr primitive members{.name = "members",
                                   .type = rules::members::type,
                                   .jvp = rules::constant::jvp,
                                   .vjp = rules::constant::vjp,
                                   .batch = rules::constant::batch,
                                   .along_axis = rules::members::along_axis,
                                   .print = rules::broadcast::print,
                                   .evaluate = rules::members::evaluate,
                                   .known = rules::known::counts,
                                   .split = rules::members::split};
}  // namespace prim

namespace emit {
constexpr int broadcast(builder& b, int x, const placement_info* p) {
  attributes a;
  a.placement = p;
  return b.add1(prim::broadcast, {x}, a);
}
constexpr int members(builder& b, const placement_info* p, dtype type) {
  attributes a;
  a.placement = p;
  a.ints = {static_cast<std::int64_t>(type)};
  return b.add1(prim::members, {}, a);
}
}  // namespace emit

namespace detail {

template <class X>
concept Unplaced = Structured<X> && !Placed<X> && !error::Reported<X>;

}  // namespace detail

/// x, a value or a structure of values, at every member of placement P.  Derivative: reduce_sum.
template <class P, class X>
  requires(Placement<P> && detail::Unplaced<X>)
constexpr auto broadcast(const X& x) {
  using R = placed<canonical_t<X>, P>;
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::in_member(detail::common_tape(refs));
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::broadcast(b, id, &placement_of<P>);
  return detail::bound<R>(b, ids);
}
/// The number of members of x's placement (for a nested one, in this member), as a T; no member's value is read.
template <Element T = std::int64_t, class X>
  requires(Placed<X>)
constexpr array<T> count(const X& x) {
  tracing_builder& b = detail::common_tape(detail::leaf_refs<X>(x));
  return array<T>(detail::at(b, emit::members(b, &placement_of<typename X::placement>, dtype_of<T>)));
}

template <class P, class X, class Why = error::broadcast_needs_an_unplaced_value>
  requires(Placed<X> && !error::Reported<X>)
Why broadcast(const X&) = delete;  // drx: it is placed already; reduce it first, or broadcast inside of the map

DRX_SILENT_OF_TYPE(broadcast)

}  // namespace drx
