// drx/primitives/reduce.hpp: reductions from the members of a placement to one unplaced value.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/broadcast.hpp>
#include <drx/primitives/comparison.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/map.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct reduce {  // placement: over whom; one operand, placed there
  static constexpr auto known = rules::known::sums;
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth > 0 && t.operands[0].placements[0] == t.attrs.placement,
                    "reduce: the operand is not placed there");
    typing::require(t.operands[0].depth == 1, "reduce: the operand's members are placed themselves");
    return {t.operands[0].of_member()};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  template <class F>
  static void fold(evaluation& v, F f) {  // from the first member on, floats in double
    const auto& members = v.in[0]->members;
    if (members.empty()) return;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      using wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) {
        wide total = members[0].data<T>()[i];
        for (std::size_t m = 1; m < members.size(); ++m)
          total = static_cast<wide>(f(total, static_cast<wide>(members[m].data<T>()[i])));
        v.out[0].data<T>()[i] = static_cast<T>(total);
      }
    });
  }
};
struct reduce_sum : reduce {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].type != dtype::boolean, "reduce_sum: of bool");
    return reduce::type(t);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::broadcast(s.b, ct[0], s.e.attrs.placement)};
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return wrapping_sum(a, b); });
  }
};
/// A sum whose nodes have 16 bits. (That of `reduce_sum` over such members has floats.)
struct sum_of_halves : reduce_sum {
  static constexpr known_values known(const known_site& s) {
    known_value sum = rules::known::sums(s)[0];
    if (s.type(s.e.results[0]).type == dtype::f16) sum.finite = false;
    return {sum};
  }
  static constexpr bool takes_halves = true;
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(is_half_type(t.operands[0].type), "sum_of_halves: not of 16 bits");
    return reduce::type(t);
  }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) {
        double total = 0;
        for (const tensor& m : v.in[0]->members) total += static_cast<double>(m.data<T>()[i]);
        v.out[0].data<T>()[i] = static_cast<T>(total);
      }
    });
  }
};
struct reduce_mean : reduce_sum {  // 0 without members
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(is_floating(t.operands[0].type), "reduce_mean: not floating");
    return reduce::type(t);
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const abstract_value t = s.b.type(ct[0]);
    const int count = emit::members(s.b, s.e.attrs.placement, t.type);
    const int at_least_one =
        s.b.add1(prim::maximum, {count, emit::constant_like(s.b, count, 1)});  // no 0/0 without members
    const int n = emit::broadcast_to(s.b, at_least_one, t.shape);
    return {emit::broadcast(s.b, emit::div(s.b, ct[0], n), s.e.attrs.placement)};
  }
  static void evaluate(evaluation& v) {
    reduce_sum::evaluate(v);
    const auto n = v.in[0]->members.size();
    if (n == 0) return;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] /= static_cast<T>(n);
    });
  }
};
/// max and min over members: the members that attain it share the derivative equally. Without members: 0.
template <bool Max>
struct reduce_extremum : reduce_sum {
  static constexpr int winners(const rule_site& s) {  // placed: 1 where the member attains the extremum
    const placement_info* p = s.e.attrs.placement;
    attributes a;
    a.placement = p;
    const int number = s.b.add1(prim::member_index, {}, a), best = emit::broadcast(s.b, s.results[0], p);
    // A member is computed again for this comparison, and may then differ in its last bits: a recorded winner remains
    // one.
    const int first = emit::broadcast(s.b, emit::first_to_attain(s.b, s.operands[0], number, p, Max), p);
    return emit::map(s.b, p, {s.operands[0], best, number, first}, [](builder& b, const vec<int>& in) {
      const int same = emit::equal(b, emit::broadcast_to(b, in[2], b.shape(in[3])), in[3]),
                no_nan = emit::equal(b, in[1], in[1]);
      const int hit =
          b.add1(prim::logical_or, {emit::equal(b, in[0], in[1]), b.add1(prim::logical_and, {same, no_nan})});
      return vec<int>{emit::cast(b, hit, b.type(in[0]).type)};
    })[0];
  }
  static constexpr int number_of(builder& b, int hit, const placement_info* p) {  // of winners; 1 of no members: 0/1
    const int n = emit::reduce_sum(b, hit, p), all = emit::members(b, p, b.type(n).type);
    const int none = emit::cast(b, emit::equal(b, all, emit::constant_like(b, all, 0)), b.type(n).type);
    return emit::add(b, n, emit::broadcast_to(b, none, b.shape(n)));
  }
  static constexpr int shared(const rule_site& s, int moved) {  // what moves each member, times its share
    const placement_info* p = s.e.attrs.placement;
    const int hit = winners(s), number = emit::broadcast(s.b, number_of(s.b, hit, p), p);
    return emit::map(s.b, p, {moved, hit, number}, [](builder& b, const vec<int>& in) {
      return vec<int>{emit::times(b, in[0], emit::div(b, in[1], in[2]))};
    })[0];
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    return {emit::reduce_sum(s.b, shared(s, t[0]), s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {shared(s, emit::broadcast(s.b, ct[0], s.e.attrs.placement))};
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return (Max ? b > a : b < a) || b != b ? b : a; });
  }
};
}  // namespace prim::rules

namespace prim {
/// Reductions and collectives, which print the placement that they are over.
template <class Rules>
constexpr primitive over_members(const char* name, drx::fold how = drx::fold::none) {
  primitive p{.name = name,
              .type = Rules::type,
              .jvp = Rules::jvp,
              .vjp = Rules::vjp,
              .batch = Rules::batch,
              .print = rules::broadcast::print,
              .evaluate = Rules::evaluate,
              .fold = how,
              .known = Rules::known};
  if constexpr (requires { Rules::takes_halves; }) p.takes_halves = Rules::takes_halves;
  if constexpr (requires { Rules::along_axis; }) p.along_axis = Rules::along_axis;
  return p;
}
inline constexpr primitive reduce_sum = over_members<rules::reduce_sum>("reduce_sum", fold::sum);
inline constexpr primitive sum_of_halves = over_members<rules::sum_of_halves>("sum_of_halves", fold::sum);
inline constexpr primitive reduce_mean = over_members<rules::reduce_mean>("reduce_mean", fold::mean);
inline constexpr primitive reduce_max = over_members<rules::reduce_extremum<true>>("reduce_max", fold::max);
inline constexpr primitive reduce_min = over_members<rules::reduce_extremum<false>>("reduce_min", fold::min);
}  // namespace prim

namespace emit {
constexpr int reduce_sum(builder& b, int x, const placement_info* p) {
  attributes a;
  a.placement = p;
  return b.add1(prim::reduce_sum, {x}, a);
}
}  // namespace emit

namespace detail {
template <class S>
inline constexpr bool all_unplaced_numbers = [] {
  leaf_types<S> t;
  for (int i = 0; i < leaf_count<S>; ++i)
    if (t[i].depth > 0 || t[i].type == dtype::boolean) return false;
  return true;
}();
template <class S>
inline constexpr bool any_placed = [] {
  leaf_types<S> t;
  for (int i = 0; i < leaf_count<S>; ++i)
    if (t[i].depth > 0) return true;
  return false;
}();
template <class X>
concept ReducibleMembers = Placed<X> && !error::Reported<X> && all_unplaced_numbers<typename X::member>;
template <class X>
concept MeanableMembers = ReducibleMembers<X> && (all_floating<typename X::member> || Array<typename X::member>);
template <class X>
constexpr auto members_misuse() {
  if constexpr (!Placed<X>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (any_placed<typename X::member>) {
    return error::reduce_the_inner_placement_first{};
  } else if constexpr (!all_unplaced_numbers<typename X::member>) {
    return error::needs_numbers{};
  } else {
    return error::needs_floating_values{};
  }
}
template <class X>
concept Irreducible = Placed<X> && !error::Reported<X> && !ReducibleMembers<X>;
template <class X>
concept Meanless = Placed<X> && !error::Reported<X> && !MeanableMembers<X>;
template <class X>
constexpr auto reduce(const primitive& p, const X& x) {
  const leaf_refs<X> refs(x);
  tracing_builder& b = common_tape(refs);
  attributes a;
  a.placement = &placement_of<typename X::placement>;
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = b.add1(p, {id}, a);
  return bound<typename X::member>(b, ids);
}
}  // namespace detail

// Leaf by leaf, over the members of x's placement.
// clang-format off
/// The sum over the members of x's placement, leaf by leaf; 0 without members. Derivative: broadcast.
template <class X> requires detail::ReducibleMembers<X>
constexpr auto reduce_sum(const X& x) { return detail::reduce(prim::reduce_sum, x); }
/// The sum divided by the number of members; integers give double; 0 without members.
template <class X> requires detail::MeanableMembers<X>
constexpr auto reduce_mean(const X& x) {
  if constexpr (all_floating<typename X::member>) {
    return detail::reduce(prim::reduce_mean, x);
  } else {
    return detail::reduce(prim::reduce_mean, map([](const auto& v) { return cast<double>(v); }, x));
  }
}
/// For each element the largest over the members; 0 without members. On a tie the winners share the derivative.
template <class X> requires detail::ReducibleMembers<X>
constexpr auto reduce_max(const X& x) { return detail::reduce(prim::reduce_max, x); }
/// For each element the smallest over the members; 0 without members. On a tie the winners share the derivative.
template <class X> requires detail::ReducibleMembers<X>
constexpr auto reduce_min(const X& x) { return detail::reduce(prim::reduce_min, x); }

template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_sum(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::sum
template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_mean(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::mean
template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_max(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::max
template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_min(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::min
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Irreducible<X>
Why reduce_sum(const X&) = delete;  // drx: members must be numbers; of members that are placed themselves, reduce inside of a map first
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Meanless<X>
Why reduce_mean(const X&) = delete;  // drx: members must be numbers, floating in a structure; of members that are placed themselves, reduce inside of a map first
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Irreducible<X>
Why reduce_max(const X&) = delete;  // drx: members must be numbers; of members that are placed themselves, reduce inside of a map first
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Irreducible<X>
Why reduce_min(const X&) = delete;  // drx: members must be numbers; of members that are placed themselves, reduce inside of a map first
// clang-format on

DRX_SILENT(reduce_max)
DRX_SILENT(reduce_mean)
DRX_SILENT(reduce_min)
DRX_SILENT(reduce_sum)

}  // namespace drx
