// drx/primitives/cumulative.hpp: sums and products of all elements up to each one along an axis, and the linear
// recurrence that is their derivative.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct along_axis {
  struct view {  // ints: {axis, whether from the last element to the first}
    int axis;
    bool backwards;
    constexpr view(int along, bool from_last) : axis(along), backwards(from_last) {}
    constexpr explicit view(int_list a) : view(a.number(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, backwards};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const auto& x = t.operands[0];
    for (const auto& other : t.operands) typing::require(other == x, "cumulative: the operands differ");
    typing::require(view(t.attrs).axis >= 0 && view(t.attrs).axis < x.shape.rank, "cumulative: no such axis");
    typing::require(x.type != dtype::boolean, "cumulative: of bool");
    return {x};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    view a(s.e);
    ++a.axis;
    return {s.b.add1(*s.e.prim, operands, a.make())};
  }
  static constexpr bool single(builder& b, const vec<int>& o, const attributes& a) {
    return b.shape(o[0])[view(a).axis] <= 1;
  }
  static std::string print(const attributes& a) {
    return "axis=" + std::to_string(view(a).axis) + (view(a).backwards ? "; backwards" : "");
  }
  static constexpr int axis(const rule_site& s) { return view(s.e).axis; }
  static constexpr bool backwards(const rule_site& s) { return view(s.e).backwards; }
  /// At each element the one before it in the given direction; `first` at the first.
  static constexpr int previous(builder& b, int x, int axis, bool backwards, double first) {
    const abstract_value from = b.type(x);
    const int rank = from.shape.rank;
    if (from.shape[axis] == 0) return x;
    vec<std::int64_t> low(rank, 0), high(rank, 0);
    (backwards ? high : low)[axis] = 1;
    const int rest = emit::part_of_axis(b, x, axis, high[axis], from.shape[axis] - 1);
    if (first == 0) return emit::pad(b, rest, low, high, vec<std::int64_t>(rank, 0));
    return with_first(b, rest, axis, backwards, first);
  }
  /// x with one more element along the axis, before all others in the given direction.
  static constexpr int with_first(builder& b, int x, int axis, bool backwards, double first) {
    const abstract_value from = b.type(x);
    shape one = from.shape;
    one[axis] = 1;
    const int edge = emit::constant(b, from.with_shape(one), first);
    if (backwards) return emit::concatenate(b, {x, edge}, axis);
    return emit::concatenate(b, {edge, x}, axis);
  }
  /// y = f(y before it or nothing, position) at each element.
  template <class F>
  static void walk(evaluation& v, F f) {
    const shape s = v.out[0].type.shape;
    const int axis = view(v.e).axis;
    const bool backwards = view(v.e).backwards;
    shape rows = s;
    rows[axis] = 1;
    if (s.size() == 0) return;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each_index(rows, [&](const std::int64_t* at) {
        std::int64_t here[shape::max_rank] = {};
        for (int i = 0; i < s.rank; ++i) here[i] = at[i];
        const T* before = nullptr;
        for (std::int64_t k = 0; k < s[axis]; ++k) {
          here[axis] = backwards ? s[axis] - 1 - k : k;
          T& y = v.out[0].data<T>()[flat_index(s, here)];
          y = static_cast<T>(f(before, flat_index(s, here)));
          before = &y;
        }
      });
    });
  }
};
struct cumsum : along_axis {
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::cumsum(s.b, ct[0], axis(s), !backwards(s))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? o[0] : -1;
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      return before ? wrapping_sum(*before, v.in[0]->data<T>()[i]) : v.in[0]->data<T>()[i];
    });
  }
};
/// h = a * (h before it) + b along the axis, and b at the first element.
struct recurrence : along_axis {
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    int moved = t[1];
    if (t[0] != zero_tangent)
      moved =
          emit::accumulate(s.b, moved, emit::times(s.b, t[0], previous(s.b, s.results[0], axis(s), backwards(s), 0)));
    return {moved == zero_tangent ? zero_tangent : emit::recurrence(s.b, s.operands[0], moved, axis(s), backwards(s))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const int next = previous(s.b, s.operands[0], axis(s), !backwards(s), 0);
    vec<int> r{zero_tangent, emit::recurrence(s.b, next, ct[0], axis(s), !backwards(s))};
    if (wanted[0]) r[0] = emit::times(s.b, r[1], previous(s.b, s.results[0], axis(s), backwards(s), 0));
    return r;
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    return single(b, o, a) || (emit::is_constant(b, o[1], x) && x == 0) ? o[1] : -1;
  }
  static constexpr known_values known(const known_site& s) {
    const known_value &factor = s.operands[0], &x = s.operands[1];
    return {{factor.finite && x.finite, factor.not_negative && x.not_negative, factor.not_negative && x.not_positive,
             false}};
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      const T* b = v.in[1]->data<T>();
      return before ? wrapping_product_sum(v.in[0]->data<T>()[i], *before, b[i]) : b[i];
    });
  }
};
/// Its derivative is right where factors are zero: nothing is divided by a factor.
struct cumprod : along_axis {
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const int before = previous(s.b, s.results[0], axis(s), backwards(s), 1);
    return {emit::recurrence(s.b, s.operands[0], emit::times(s.b, t[0], before), axis(s), backwards(s))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const int before = previous(s.b, s.results[0], axis(s), backwards(s), 1),
              next = previous(s.b, s.operands[0], axis(s), !backwards(s), 0);
    return {emit::times(s.b, before, emit::recurrence(s.b, next, ct[0], axis(s), !backwards(s)))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? o[0] : -1;
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      return before ? wrapping_product(*before, v.in[0]->data<T>()[i]) : v.in[0]->data<T>()[i];
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive cumsum{.name = "cumsum",
                                  .type = rules::cumsum::type,
                                  .jvp = rules::broadcast_to::jvp,
                                  .vjp = rules::cumsum::vjp,
                                  .batch = rules::cumsum::batch,
                                  .simplify = rules::cumsum::simplify,
                                  .print = rules::cumsum::print,
                                  .evaluate = rules::cumsum::evaluate,
                                  .known = rules::known::sums,
                                  .lanes = rules::lanes::same,
                                  .split = rules::split::but_along<rules::cumsum>};
inline constexpr primitive cumprod{.name = "cumprod",
                                   .type = rules::cumprod::type,
                                   .jvp = rules::cumprod::jvp,
                                   .vjp = rules::cumprod::vjp,
                                   .batch = rules::cumprod::batch,
                                   .simplify = rules::cumprod::simplify,
                                   .print = rules::cumprod::print,
                                   .evaluate = rules::cumprod::evaluate,
                                   .known = rules::known::products,
                                   .lanes = rules::lanes::same,
                                   .split = rules::split::but_along<rules::cumprod>};
inline constexpr primitive recurrence{.name = "recurrence",
                                      .type = rules::recurrence::type,
                                      .jvp = rules::recurrence::jvp,
                                      .vjp = rules::recurrence::vjp,
                                      .batch = rules::recurrence::batch,
                                      .simplify = rules::recurrence::simplify,
                                      .print = rules::recurrence::print,
                                      .evaluate = rules::recurrence::evaluate,
                                      .known = rules::recurrence::known,
                                      .lanes = rules::lanes::same,
                                      .split = rules::split::but_along<rules::recurrence>};
}  // namespace prim
namespace emit {
constexpr int cumsum(builder& b, int x, int axis, bool backwards) {
  return b.add1(prim::cumsum, {x}, prim::rules::along_axis::view(axis, backwards).make());
}
constexpr int cumprod(builder& b, int x, int axis, bool backwards) {
  return b.add1(prim::cumprod, {x}, prim::rules::along_axis::view(axis, backwards).make());
}
constexpr int recurrence(builder& b, int factor, int x, int axis, bool backwards) {
  return b.add1(prim::recurrence, {factor, x}, prim::rules::along_axis::view(axis, backwards).make());
}
}  // namespace emit

/// The direction of cumsum and cumprod.
enum class direction : bool { forward, backward };

namespace detail {
template <class A, int Axis>
struct axis_of : std::false_type {};
template <Array A, int Axis>
struct axis_of<A, Axis> : std::bool_constant<(Axis >= -A::rank && Axis < A::rank)> {
  static constexpr int axis = normal_axis(Axis, A::rank);
};
template <class A, int Axis>
concept HasAxis = axis_of<A, Axis>::value;
/// Why A has no cumulative operation along an axis.
template <class A, int Axis>
constexpr auto axis_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!NumberArray<A>) {
    return error::needs_numbers{};
  } else {
    return error::axis_out_of_range{};
  }
}
template <class A, int Axis>
concept Cumulative = NumberArray<A> && HasAxis<A, Axis>;
}  // namespace detail

// clang-format off
/// At each element the sum of those up to it along Axis; drx::direction::backward: of those from it on.
/// cumsum(x), cumsum<0>(x), cumsum<1, drx::direction::backward>(x)
template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cumsum(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return emit::cumsum(b, id, normal_axis(Axis, A::rank), To == direction::backward); });
}
/// At each element the product of those up to it along Axis, or of those from it on. Its derivative is right where elements are zero.
template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cumprod(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return emit::cumprod(b, id, normal_axis(Axis, A::rank), To == direction::backward); });
}
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cumsum(const A&) = delete;  // drx: cumsum<axis>(array of numbers); of a placed value in a map
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cumprod(const A&) = delete;  // drx: cumprod<axis>(array of numbers); of a placed value in a map
// clang-format on

DRX_SILENT(cumprod)
DRX_SILENT(cumsum)

}  // namespace drx
