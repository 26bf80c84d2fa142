// drx/primitives/cummax.hpp: the largest or smallest of all elements up to each one along an axis.
#pragma once

#include <drx/primitives/cumulative.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/take.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim {
/// Whether x takes the place of the best so far: it is better, or the first NaN. Of numbers, or of packs lane by lane.
template <bool Max, class T>
constexpr auto beats(T x, T best) {
  if constexpr (std::is_integral_v<T>) {
    return Max ? x > best : x < best;
  } else {
    return (Max ? x > best : x < best) | ((x != x) & (best == best));
  }
}
namespace rules {
/// The position of the best of the elements up to each one, an int32; the first of equal ones.
template <bool Max>
struct best_so_far : along_axis {
  static constexpr auto known = rules::known::nothing;
  static constexpr vec<abstract_value> type(const typing& t) {
    return {along_axis::type(t)[0].with_type(dtype::int32)};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? emit::constant(b, b.type(o[0]).with_type(dtype::int32), 0) : -1;
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const int axis = view(v.e).axis;
    const bool backwards = view(v.e).backwards;
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      for_each_index(s, [&, i = 0](const std::int64_t* at) mutable {
        std::int64_t here[shape::max_rank] = {};
        for (int k = 0; k < s.rank; ++k) here[k] = at[k];
        std::int64_t best = backwards ? s[axis] - 1 : 0;
        const auto element = [&](std::int64_t k) {
          here[axis] = k;
          return v.in[0]->data<T>()[flat_index(s, here)];
        };
        for (std::int64_t k = best; k != at[axis] + (backwards ? -1 : 1); k += backwards ? -1 : 1)
          if (beats<Max>(element(k), element(best))) best = k;
        v.out[0].data<std::int32_t>()[i++] = static_cast<std::int32_t>(best);
      });
    });
  }
};
template <class Rules>
constexpr primitive best_so_far_primitive(const char* name) {
  return {.name = name,
          .type = Rules::type,
          .jvp = rules::constant::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .simplify = Rules::simplify,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .known = Rules::known,
          .split = rules::split::whole};
}
}  // namespace rules
inline constexpr primitive largest_so_far = rules::best_so_far_primitive<rules::best_so_far<true>>("largest_so_far");
inline constexpr primitive smallest_so_far = rules::best_so_far_primitive<rules::best_so_far<false>>("smallest_so_far");
namespace rules {
/// The best of the elements up to each one. The first of equal ones gets the derivative.
template <bool Max>
struct cumulative_extremum : along_axis {
  static constexpr int positions(const rule_site& s) {
    return s.b.add1(Max ? largest_so_far : smallest_so_far, {s.operands[0]}, s.e.attrs);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::take_along(s.b, t[0], positions(s), axis(s))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::scatter_along(s.b, positions(s), ct[0], axis(s))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? o[0] : -1;
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      const T x = v.in[0]->data<T>()[i];
      return before && !beats<Max>(x, *before) ? *before : x;
    });
  }
};
template <class Rules>
constexpr primitive cumulative_extremum_primitive(const char* name) {
  return {.name = name,
          .type = Rules::type,
          .jvp = Rules::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .simplify = Rules::simplify,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .known = rules::known::handed_on,
          .lanes = rules::lanes::same,
          .split = rules::split::but_along<Rules>};
}
}  // namespace rules
inline constexpr primitive cummax = rules::cumulative_extremum_primitive<rules::cumulative_extremum<true>>("cummax");
inline constexpr primitive cummin = rules::cumulative_extremum_primitive<rules::cumulative_extremum<false>>("cummin");
}  // namespace prim

namespace detail {
template <int Axis, direction To, class A>
constexpr A so_far(const primitive& p, const A& x) {
  return unary<A>(x, [&](builder& b, int id) {
    return b.add1(p, {id}, prim::rules::along_axis::view(normal_axis(Axis, A::rank), To == direction::backward).make());
  });
}
}  // namespace detail

// clang-format off
/// At each element the largest of those up to it along Axis, or of those from it on; a NaN counts as largest. The first
/// of equal ones gets the derivative.  cummax(x), cummax<0, drx::direction::backward>(x)
template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cummax(const A& x) { return detail::so_far<Axis, To>(prim::cummax, x); }
/// At each element the smallest of those up to it along Axis, or of those from it on; a NaN counts as smallest.
template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cummin(const A& x) { return detail::so_far<Axis, To>(prim::cummin, x); }
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cummax(const A&) = delete;  // drx: cummax<axis>(array of numbers); of a placed value in a map
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cummin(const A&) = delete;  // drx: cummin<axis>(array of numbers); of a placed value in a map
// clang-format on

DRX_SILENT(cummax)
DRX_SILENT(cummin)

}  // namespace drx
