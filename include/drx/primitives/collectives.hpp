// drx/primitives/collectives.hpp: communication inside the function of one member: psum, pmax, ... over a named axis.
// In a map (or pmap) the body is cut there (member_function.hpp); under vmap an axis of arrays is reduced.
#pragma once

#include <drx/primitives/broadcast.hpp>
#include <drx/primitives/comparison.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/map.hpp>
#include <drx/primitives/reduce.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
/// placement: over whose members, whether they are of a placement or the elements of an axis that bears its name.
struct collective {
  static constexpr auto known = rules::known::sums;
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 0, "a collective of a placed value");
    return {t.operands[0]};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&,
                                  std::int64_t) {  // over another axis than this one
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static void evaluate(evaluation&) {
    throw std::logic_error("drx: a collective outside of a map, pmap or vmap over its axis");
  }
};
/// The sum, at each member: the derivative of all members' results by one member's x is the sum of their cotangents.
struct psum : collective {
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    const int x = s.operands[0];
    return {have_axis ? emit::sum(s.b, x, {0}) : emit::mul(s.b, x, emit::constant_like(s.b, x, static_cast<double>(n))),
            false};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) { return jvp(s, ct); }
};
/// For each element the number of the first member that attains the extremum, an int64.
struct first_member : collective {
  struct view {  // ints: {largest}
    bool largest;
    constexpr explicit view(int_list a) : largest(a.flag(0)) {}
  };
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t) {
    const int x = s.operands[0];
    if (!have_axis) return {emit::constant(s.b, s.b.type(x).with_type(dtype::int64), 0), false};
    const shape all = s.b.shape(x);
    const int best = emit::over_axes(s.b, view(s.e).largest ? prim::max_over : prim::min_over, x, {0});
    const int number = emit::iota(s.b, abstract_value(dtype::int64, all), 0),
              none = emit::constant_like(s.b, number, static_cast<double>(all[0]));
    const int attains = emit::equal(s.b, x, emit::broadcast_to(s.b, best, all));
    return {emit::over_axes(s.b, prim::min_over, emit::where(s.b, attains, number, none), {0}), false};
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    return {collective::type(t)[0].with_type(dtype::int64)};
  }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
};
/// The members that attain the extremum share the derivative.
template <bool Max>
struct pextremum : collective {
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t) {
    if (!have_axis) return {s.operands[0], false};
    return {emit::over_axes(s.b, Max ? prim::max_over : prim::min_over, s.operands[0], {0}), false};
  }
  static constexpr auto known = rules::known::handed_on;
  static constexpr int share(const rule_site& s) {
    const placement_info* axis = s.e.attrs.placement;
    const int x = s.operands[0], y = s.results[0];
    // A member may be computed again for this comparison, and then differ in its last bits: a recorded winner remains
    // one.
    const int first = emit::first_member(s.b, x, axis, Max),
              mine = emit::cast(s.b, emit::axis_index(s.b, axis), dtype::int64);
    const int same = emit::equal(s.b, emit::broadcast_to(s.b, mine, s.b.shape(x)), first),
              no_nan = emit::equal(s.b, y, y);
    const int won = s.b.add1(prim::logical_or, {emit::equal(s.b, x, y), s.b.add1(prim::logical_and, {same, no_nan})});
    const int hit = emit::cast(s.b, won, s.b.type(x).type);
    return emit::div(s.b, hit, emit::psum(s.b, hit, axis));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    return {emit::psum(s.b, emit::times(s.b, t[0], share(s)), s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::times(s.b, emit::psum(s.b, ct[0], s.e.attrs.placement), share(s))};
  }
};
struct all_gather : collective {
  struct view {  // ints: {how many members}
    std::int64_t members;
    constexpr explicit view(int_list a) : members(a[0]) {}
  };
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    if (view(s.e).members != n) throw "drx: all_gather of another number of members than the axis has";
    return {have_axis ? s.operands[0] : emit::repeated(s.b, s.operands[0], n), false};
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    return {t.operands[0].with_shape(with_front(t.operands[0].shape, view(t.attrs).members))};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  /// My share of the sum of all members' cotangents.
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::at_axis_index(s.b, emit::psum(s.b, ct[0], s.e.attrs.placement), s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(s.b, s.b.add1(*s.e.prim, s.operands, s.e.attrs))};
  }
  static std::string print(const attributes& a) {
    return std::string(a.placement->name) + ": " + std::to_string(a.ints[0]);
  }
};
/// The common part of ppermute and member_permute: each member receives the value of another, or zeros from `nobody`.
struct permute {
  static constexpr std::int64_t nobody = -1;
  struct view {
    int_list sources;  // by member: the one whose value it receives
    constexpr explicit view(int_list a) : sources(a) {}
    [[nodiscard]] constexpr std::int64_t members() const { return sources.size(); }
  };
  /// The same between members that are in n parts each: part by part.
  static constexpr attributes of_parts(int_list sources, std::int64_t n, const placement_info* p) {
    attributes a;
    a.placement = p;
    for (auto source : sources)
      for (std::int64_t part = 0; part < n; ++part) a.ints.push_back(source == nobody ? nobody : source * n + part);
    return a;
  }
  /// Accumulates the cotangents that come back to each member.
  static constexpr int transposed(const rule_site& s, int ct) {
    const int_list source = view(s.e).sources;
    vec<bool> done(source.size(), false);
    int total = zero_tangent;
    for (int left = 1; left > 0;) {  // each pass brings at most one value back to a member
      attributes back = s.e.attrs;
      back.ints = vec<std::int64_t>(source.size(), nobody);
      left = 0;
      int moved = 0;
      for (int i = 0; i < source.size(); ++i) {
        if (source[i] == nobody || done[i]) continue;
        std::int64_t& to = back.ints[source.number(i)];
        if (to != nobody) {
          ++left;
        } else {
          to = i;
          done[i] = true;
          ++moved;
        }
      }
      if (moved > 0) total = emit::accumulate(s.b, total, s.b.add1(*s.e.prim, {ct}, back));
    }
    return total;
  }
};
struct ppermute : psum {
  using view = permute::view;
  /// Rows in another order; nobody's are zeros.
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    if (view(s.e).members() != n) throw "drx: ppermute of another number of members than the axis has";
    const int x = have_axis ? s.operands[0] : emit::repeated(s.b, s.operands[0], n);
    vec<int> rows;
    for (auto source : view(s.e).sources) {
      const bool zeros = source == permute::nobody;
      const int row = emit::part_of_axis(s.b, x, 0, zeros ? 0 : source, 1);
      rows.push_back(zeros ? emit::constant_like(s.b, row, 0) : row);
    }
    return {emit::concatenate(s.b, rows, 0), true};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : permute::transposed(s, ct[0])};
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name) + ": " + list_of(a.ints); }
};
struct all_to_all : psum {
  static constexpr bool takes_halves = true;
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    return {emit::first_axes_exchanged(s.b, have_axis ? s.operands[0] : emit::repeated(s.b, s.operands[0], n)), true};
  }
  static constexpr auto known = rules::known::handed_on;
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(
        s.b, s.b.add1(*s.e.prim, {emit::first_axes_exchanged(s.b, s.operands[0])}, s.e.attrs))};
  }
};
struct axis_index {
  static constexpr along_axis_result along_axis(const rule_site& s, bool, std::int64_t n) {
    return {emit::iota(s.b, abstract_value(dtype::int32, make_shape(n)), 0), true};
  }
  static constexpr vec<abstract_value> type(const typing&) { return {abstract_value(dtype::int32, {})}; }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive psum = over_members<rules::psum>("psum");
inline constexpr primitive pmax = over_members<rules::pextremum<true>>("pmax");
inline constexpr primitive pmin = over_members<rules::pextremum<false>>("pmin");
inline constexpr primitive first_member{.name = "first_member",
                                        .type = rules::first_member::type,
                                        .jvp = rules::first_member::jvp,
                                        .vjp = rules::first_member::vjp,
                                        .batch = rules::first_member::batch,
                                        .along_axis = rules::first_member::along_axis,
                                        .print = rules::all_gather::print,
                                        .evaluate = rules::collective::evaluate,
                                        .known = rules::known::nothing};
inline constexpr primitive all_gather{.name = "all_gather",
                                      .type = rules::all_gather::type,
                                      .jvp = rules::all_gather::jvp,
                                      .vjp = rules::all_gather::vjp,
                                      .batch = rules::all_gather::batch,
                                      .along_axis = rules::all_gather::along_axis,
                                      .print = rules::all_gather::print,
                                      .evaluate = rules::all_gather::evaluate,
                                      .known = rules::known::handed_on,
                                      .takes_halves = true};
inline constexpr primitive ppermute{.name = "ppermute",
                                    .type = rules::ppermute::type,
                                    .jvp = rules::ppermute::jvp,
                                    .vjp = rules::ppermute::vjp,
                                    .batch = rules::ppermute::batch,
                                    .along_axis = rules::ppermute::along_axis,
                                    .print = rules::ppermute::print,
                                    .evaluate = rules::ppermute::evaluate,
                                    .known = rules::known::sums,
                                    .takes_halves = true};
inline constexpr primitive all_to_all = over_members<rules::all_to_all>("all_to_all");
inline constexpr primitive axis_index{.name = "axis_index",
                                      .type = rules::axis_index::type,
                                      .jvp = rules::constant::jvp,
                                      .vjp = rules::constant::vjp,
                                      .batch = rules::constant::batch,
                                      .along_axis = rules::axis_index::along_axis,
                                      .print = rules::broadcast::print,
                                      .evaluate = rules::collective::evaluate,
                                      .known = rules::known::counts};

/// Whether the collective's result differs from member to member.
constexpr bool is_apart(const primitive* p) { return p == &ppermute || p == &all_to_all; }
constexpr bool is_collective(const primitive* p) {
  return p == &psum || p == &pmax || p == &pmin || p == &first_member || p == &all_gather || is_apart(p);
}
}  // namespace prim

namespace emit {
constexpr int collective(builder& b, const primitive& p, int x, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  return b.add1(p, {x}, a);
}
constexpr int psum(builder& b, int x, const placement_info* axis) { return collective(b, prim::psum, x, axis); }
constexpr int axis_index(builder& b, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  return b.add1(prim::axis_index, {}, a);
}
constexpr int first_member(builder& b, int x, const placement_info* axis, bool largest) {
  attributes a;
  a.placement = axis;
  a.ints = {largest};
  return b.add1(prim::first_member, {x}, a);
}
constexpr int all_gather(builder& b, int x, std::int64_t members, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  a.ints = {members};
  return b.add1(prim::all_gather, {x}, a);
}
/// x[axis_index], along axis 0.
constexpr int at_axis_index(builder& b, int x, const placement_info* axis) {
  const int at = reshape(b, axis_index(b, axis), make_shape(1));
  return reshape(b, dynamic_slice(b, x, at, {1}, 0), without_axis(b.shape(x), 0));
}
}  // namespace emit

namespace detail {

/// The tape of x, or the function of one member if x comes from outside it; P must be the name of a map around it.
template <class P, class X>
constexpr tracing_builder& tape_in_axis(const X& x) {
  tracing_builder* const traced = leaf_refs<X>(x).innermost();
  if (!traced || traced->of_constants())
    throw "drx: a collective of constants only; the number of members is axis_size<P>(x)";
  tracing_builder& b = at_work(*traced);
  tracing_builder* const member = b.context().member_of_axis(&placement_of<P>);
  if (!member && !b.context().constants()) error::no_map_pmap_or_vmap_around_this_has_the_axis<P>();  // drx: psum<P> and others are for the body of a map over P, of pmap<P>, of vmap<P>; those around this are in the lines beside
  return *inner_of(&b, member);
}
/// The builder for the member's number and the number of members: outside the member's loops and branches, which
/// capture them like other values from outside.
template <class P, class X>
constexpr tracing_builder& member_in_axis(const X& x) {
  tracing_builder& b = tape_in_axis<P>(x);
  tracing_builder* member = b.context().member_of_axis(&placement_of<P>);
  return member ? *member : b;
}
template <class X>
concept Communicable = Structured<X> && !error::Reported<X> && all_unplaced<X>;
template <class P, class X, class Write>
constexpr auto communicate(const X& x, Write write) {
  tracing_builder& b = tape_in_axis<P>(x);
  vec<int> ids = leaf_refs<X>(x).on(b);
  for (int& id : ids) id = write(b, id);
  return ids;
}
template <class P, class X>
constexpr auto communicate_same(const primitive& p, const X& x) {
  tracing_builder& b = tape_in_axis<P>(x);
  vec<int> ids = leaf_refs<X>(x).on(b);
  for (int& id : ids) id = emit::collective(b, p, id, &placement_of<P>);
  return bound<canonical_t<X>>(b, ids);
}
}  // namespace detail

// Over all members of the axis P, in the function of one member: the body of a map over P, or the argument of pmap<P>
// or vmap<P>. For structures, leaf by leaf. A derivative inside such a function is that of all members' results
// together (as in JAX): the transpose of psum is psum.
// clang-format off
/// The sum over all members of the axis P, at each of them; x is an array or a structure.
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto psum(const X& x) { return detail::communicate_same<P>(prim::psum, x); }
/// For each element the largest over all members of the axis P, at each of them. On a tie the winners share the
/// derivative.
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto pmax(const X& x) { return detail::communicate_same<P>(prim::pmax, x); }
/// For each element the smallest over all members of the axis P, at each of them. On a tie the winners share the
/// derivative.
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto pmin(const X& x) { return detail::communicate_same<P>(prim::pmin, x); }
// clang-format on

/// The member's number on the axis P, an int32 from 0. `beside` is any traced value of the function, beside which it
/// is written.
template <class P, class X>
  requires(Placement<P> && detail::Communicable<X>)
constexpr array<std::int32_t> axis_index(const X& beside) {
  tracing_builder& b = detail::member_in_axis<P>(beside);
  return array<std::int32_t>(detail::at(b, emit::axis_index(b, &placement_of<P>)));
}
/// The number of members of the axis P, as a T. `beside` is any traced value of the function.
template <class P, class T = double, class X>
  requires(Placement<P> && detail::Communicable<X>)
constexpr array<T> axis_size(const X& beside) {
  tracing_builder& b = detail::member_in_axis<P>(beside);
  return array<T>(detail::at(b, emit::members(b, &placement_of<P>, dtype_of<T>)));
}
/// All members' x as one array, [N, ...], at each member; N is the number of members.
template <class P, std::int64_t N, class A>
  requires(Placement<P> && Array<A>)
constexpr auto all_gather(const A& x) {
  const vec<int> ids =
      detail::communicate<P>(x, [](builder& b, int id) { return emit::all_gather(b, id, N, &placement_of<P>); });
  return stacked_t<A, N>(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}
/// The product over all members of the axis P, at each of them; N is their number.
template <class P, std::int64_t N, class A>
  requires(Placement<P> && Array<A>)
constexpr auto pprod(const A& x) {
  return prod<0>(all_gather<P, N>(x));
}
/// Exchanges slices between all members: x is [N, ...], with slice j for member j; slice j of the result comes from
/// member j.
template <class P, class A>
  requires(Placement<P> && Array<A> && (A::rank > 0))
constexpr A all_to_all(const A& x) {
  const vec<int> ids = detail::communicate<P>(
      x, [](builder& b, int id) { return emit::collective(b, prim::all_to_all, id, &placement_of<P>); });
  return A(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}
/// My slice along axis 0 of the sum over all members of x, [N, ...].
template <class P, class A>
  requires(Placement<P> && Array<A> && (A::rank > 0))
constexpr auto psum_scatter(const A& x) {
  return sum<0>(all_to_all<P>(x));
}
/// x of another member: `from[i]` is the member whose value member i receives, or -1 for zeros.
///     ppermute<ring>(x, std::array{3, 0, 1, 2})   each member receives its left neighbour's x
template <class P, class A, std::size_t N>
  requires(Placement<P> && Array<A>)
constexpr A ppermute(const A& x, const std::array<int, N>& from) {
  attributes a;
  a.placement = &placement_of<P>;
  for (int source : from) {
    if (source < -1 || source >= static_cast<int>(N)) throw "drx: ppermute: a source is not a member's number";
    a.ints.push_back(source);
  }
  const vec<int> ids = detail::communicate<P>(x, [&](builder& b, int id) { return b.add1(prim::ppermute, {id}, a); });
  return A(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}

// clang-format off
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why psum(const X&) = delete;  // drx: psum<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_sum
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why pmax(const X&) = delete;  // drx: pmax<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_max
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why pmin(const X&) = delete;  // drx: pmin<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_min
// clang-format on

DRX_SILENT_OF_TYPE(psum)
DRX_SILENT_OF_TYPE(pmax)
DRX_SILENT_OF_TYPE(pmin)

}  // namespace drx
