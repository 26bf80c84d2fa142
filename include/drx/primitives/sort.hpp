// drx/primitives/sort.hpp: the order of the elements along an axis.
#pragma once

#include <drx/primitives/cumulative.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/take.hpp>
#include <drx/tracing/values.hpp>

#include <algorithm>

namespace drx {
namespace prim {
/// Whether x comes before y in ascending order; a NaN comes after all numbers.
template <class T>
constexpr bool comes_before(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return x < y || (y != y && x == x);
  } else {
    return x < y;
  }
}
/// Whether element i of x comes before element j in a stable order. (std::stable_sort would allocate.)
template <class T>
constexpr bool comes_before(const T* x, std::int32_t i, std::int32_t j) {
  return comes_before(x[i], x[j]) || (!comes_before(x[j], x[i]) && i < j);
}
namespace rules {
struct argsort {  // along the last axis
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].shape.rank > 0, "argsort: of a number");
    return {t.operands[0].with_type(dtype::int32)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    const abstract_value x = b.type(o[0]);
    double all = 0;
    if (x.shape.last() > 1 && !emit::is_constant(b, o[0], all)) return -1;
    return emit::iota(b, x.with_type(dtype::int32), x.shape.rank - 1);
  }
  static void evaluate(evaluation& v) {
    const std::int64_t n = v.out[0].type.shape.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      for (std::int64_t row = 0; row < v.out[0].size(); row += n) {
        const T* x = v.in[0]->data<T>() + row;
        std::int32_t* order = v.out[0].data<std::int32_t>() + row;
        for (std::int64_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i);
        std::sort(order, order + n, [x](std::int32_t i, std::int32_t j) { return comes_before(x, i, j); });
      }
    });
  }
};
}  // namespace rules
inline constexpr primitive argsort{.name = "argsort",
                                   .type = rules::argsort::type,
                                   .jvp = rules::constant::jvp,
                                   .vjp = rules::argsort::vjp,
                                   .batch = rules::argsort::batch,
                                   .simplify = rules::argsort::simplify,
                                   .evaluate = rules::argsort::evaluate,
                                   .known = rules::known::nothing,
                                   .split = rules::split::whole};
}  // namespace prim

namespace emit {
/// The order along an axis; that axis is exchanged with the last one meanwhile.
constexpr int argsort(builder& b, int x, int axis) {
  const int last = b.shape(x).rank - 1;
  vec<std::int64_t> swapped;
  for (int i = 0; i <= last; ++i) swapped.push_back(i == axis ? last : i == last ? axis : i);
  return transpose(b, b.add1(prim::argsort, {transpose(b, x, swapped)}), swapped);
}
}  // namespace emit

namespace detail {
template <class A, int Axis>
concept Sortable = Array<A> && HasAxis<A, Axis>;
template <class A>
using not_sortable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>;
}  // namespace detail

/// The positions, int32, of the elements along Axis in ascending order. It is stable: of equal elements the first comes
/// first; NaNs come last.  argsort(x), argsort<0>(x)
template <int Axis = -1, class A>
  requires detail::Sortable<A, Axis>
constexpr auto argsort(const A& x) {
  return detail::unary<array_of<std::int32_t, shape_of<A>>>(
      x, [](builder& b, int id) { return emit::argsort(b, id, normal_axis(Axis, A::rank)); });
}
/// The elements along Axis in ascending order, NaNs last. The derivative moves with the elements.
template <int Axis = -1, class A>
  requires detail::Sortable<A, Axis>
constexpr A sort(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) {
    const int axis = normal_axis(Axis, A::rank);
    return A::size == 0 ? id : emit::take_along(b, id, emit::argsort(b, id, axis), axis);
  });
}
template <int Axis = -1, class A, class Why = detail::not_sortable_t<A>>
  requires((Array<A> || Placed<A>) && !detail::Sortable<A, Axis>)
Why argsort(const A&) = delete;  // drx: argsort<axis>(array), the axis one of its own; of a placed value in a map
template <int Axis = -1, class A, class Why = detail::not_sortable_t<A>>
  requires((Array<A> || Placed<A>) && !detail::Sortable<A, Axis>)
Why sort(const A&) = delete;  // drx: sort<axis>(array), the axis one of its own; of a placed value in a map

DRX_SILENT(argsort)
DRX_SILENT(sort)

}  // namespace drx
