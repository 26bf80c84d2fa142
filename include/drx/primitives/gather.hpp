// drx/primitives/gather.hpp: between an array and the members of a placement: distribute gives each member its slice
// along axis 0, gather stacks the members' values. Each is the other's transpose.
#pragma once

#include <drx/primitives/broadcast.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/map.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct distribute {  // placement: to whom; it has as many members as axis 0 of the operand is long
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 0 && t.operands[0].shape.rank > 0,
                    "distribute: not an unplaced array with an axis");
    return {t.operands[0].with_shape(without_axis(t.operands[0].shape, 0)).placed_at(t.attrs.placement)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::distribute(s.b, t[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::gather(s.b, ct[0], s.b.shape(s.operands[0])[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::distribute(s.b, emit::first_axes_exchanged(s.b, s.operands[0]), s.e.attrs.placement)};
  }
  static constexpr std::optional<std::int64_t> members(const tape& t, const entry& e) {
    return t.values[e.operands[0]].shape[0];
  }
  static constexpr vec<int> share(share_site& s) {  // the member's slice along axis 0
    const int x = s.common(0);
    const shape slice = without_axis(s.b.shape(x), 0);
    if (s.b.shape(x)[0] == 0) return {emit::constant(s.b, s.b.type(x).with_shape(slice), 0)};  // of no member
    const int at = emit::reshape(s.b, s.index, make_shape(1));
    return {emit::reshape(s.b, emit::dynamic_slice(s.b, x, at, {1}, 0), slice)};
  }
  static void evaluate(evaluation& v) {
    const abstract_value one = v.out[0].type.of_member();
    for (std::int64_t m = 0; m < v.in[0]->type.shape[0]; ++m) {
      tensor x(one);
      if (!x.bytes.empty())
        std::memcpy(x.bytes.data(), v.in[0]->bytes.data() + static_cast<std::size_t>(m) * x.bytes.size(),
                    x.bytes.size());
      v.out[0].members.push_back(std::move(x));
    }
  }
};
struct gather {  // placement: from whom
  struct view {  // ints: {how many members it has}
    std::int64_t members;
    constexpr explicit view(int_list a) : members(a[0]) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "gather: the operand is not placed there");
    const abstract_value one = t.operands[0].of_member();
    return {one.with_shape(with_front(one.shape, view(t.attrs).members))};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::distribute(s.b, ct[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(s.b, s.b.add1(*s.e.prim, s.operands, s.e.attrs))};
  }
  static std::string print(const attributes& a) {
    return std::string(a.placement->name) + ": " + std::to_string(a.ints[0]);
  }
  static constexpr std::optional<std::int64_t> members(const tape&, const entry& e) { return view(e).members; }
  static void evaluate(evaluation& v) { join(*v.in[0], v.out[0]); }
  static void join(const tensor& placed, tensor& to) {
    if (static_cast<std::int64_t>(placed.members.size()) != to.type.shape[0])
      throw std::invalid_argument("drx: gather of " + std::to_string(to.type.shape[0]) + " members, but " +
                                  std::string(placed.type.placements[0]->name) + " has " +
                                  std::to_string(placed.members.size()));
    std::size_t at = 0;
    for (const tensor& m : placed.members) {
      if (!m.bytes.empty()) std::memcpy(to.bytes.data() + at, m.bytes.data(), m.bytes.size());
      at += m.bytes.size();
    }
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive distribute{.name = "distribute",
                                      .type = rules::distribute::type,
                                      .jvp = rules::distribute::jvp,
                                      .vjp = rules::distribute::vjp,
                                      .batch = rules::distribute::batch,
                                      .print = rules::broadcast::print,
                                      .evaluate = rules::distribute::evaluate,
                                      .share = rules::distribute::share,
                                      .members = rules::distribute::members,
                                      .known = rules::known::handed_on,
                                      .takes_halves = true};
inline constexpr primitive gather{.name = "gather",
                                  .type = rules::gather::type,
                                  .jvp = rules::gather::jvp,
                                  .vjp = rules::gather::vjp,
                                  .batch = rules::gather::batch,
                                  .print = rules::gather::print,
                                  .evaluate = rules::gather::evaluate,
                                  .fold = fold::gather,
                                  .members = rules::gather::members,
                                  .known = rules::known::handed_on,
                                  .takes_halves = true};
}  // namespace prim

namespace emit {
constexpr int distribute(builder& b, int x, const placement_info* p) {
  attributes a;
  a.placement = p;
  return b.add1(prim::distribute, {x}, a);
}
constexpr int gather(builder& b, int x, std::int64_t members, const placement_info* p) {
  attributes a;
  a.placement = p;
  a.ints = {members};
  return b.add1(prim::gather, {x}, a);
}
}  // namespace emit

namespace detail {
template <class X, class P>
constexpr auto distribute_misuse() {
  if constexpr (!Unplaced<X>) {
    return error::broadcast_needs_an_unplaced_value{};
  } else {
    constexpr bool ok = [] {
      leaf_types<X> types;
      for (int i = 0; i < leaf_count<X>; ++i)
        if (types[i].shape.rank == 0) return false;
      return true;
    }();
    constexpr bool equal = [] {
      leaf_types<X> types;
      for (int i = 1; i < leaf_count<X>; ++i)
        if (types[i].shape[0] != types[0].shape[0]) return false;
      return true;
    }();
    if constexpr (!ok || !requires { typename drop_axis<canonical_t<X>, 0>::type; }) {
      return error::axis_out_of_range{};
    } else if constexpr (!equal) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
}
template <class X, class P>
concept Distributable = Structured<X> && std::is_same_v<decltype(distribute_misuse<X, P>()), no_misuse>;
template <class X>
concept Gatherable = Placed<X> && !error::Reported<X> && all_unplaced<typename X::member>;
}  // namespace detail

/// Gives slice i along axis 0 of x, an array or a structure of arrays, to member i of P, which then has as many members
/// as axis 0 is long. Derivative: gather.
template <class P, class X>
  requires(Placement<P> && detail::Distributable<X, P>)
constexpr auto distribute(const X& x) {
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::distribute(b, id, &placement_of<P>);
  return detail::bound<placed<typename detail::drop_axis<canonical_t<X>, 0>::type, P>>(b, ids);
}
/// The values of all N members as one value: an array gets an axis of extent N in front, a struct becomes a batched<S,
/// N>. Throws if there are not N members. Derivative: distribute.
template <std::int64_t N, class X>
  requires detail::Gatherable<X>
constexpr auto gather(const X& x) {
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::gather(b, id, N, &placement_of<typename X::placement>);
  return detail::bound<stacked_t<typename X::member, N>>(b, ids);
}
template <class P, class X, class Why = decltype(detail::distribute_misuse<X, P>())>
  requires(Placement<P> && Structured<X> && !error::Reported<X> && !detail::Distributable<X, P>)
Why distribute(const X&) = delete;  // drx: distribute<P>(x): x is an unplaced array, or a structure of arrays with equal extents of axis 0
template <std::int64_t N, class X,
          class Why = std::conditional_t<Placed<X>, error::reduce_the_inner_placement_first,
                                         error::reduce_needs_a_placed_value>>
  requires(Structured<X> && !error::Reported<X> && !detail::Gatherable<X>)
Why gather(const X&) = delete;  // drx: gather<N>(x): x is placed, and its members are not placed themselves

DRX_SILENT(gather)
DRX_SILENT_OF_TYPE(distribute)

}  // namespace drx
