// drx/primitives/prod.hpp: the product over axes of an array.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/cumulative.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace prim::rules {
/// The derivative by a factor is the product of all others, itself made of products: right where factors are zero.
struct prod : over_axes {
  static constexpr auto known = rules::known::products;
  static constexpr int others(builder& b, int x, const vec<std::int64_t>& axes) {
    const shape from = b.shape(x);
    shape merged;  // the axes of the product, which are neighbours, as one
    const int axis = static_cast<int>(axes[0]);
    for (int i = 0; i < from.rank; ++i) {
      if (i > axis && i < axis + axes.size())
        merged[axis] *= from[i];
      else
        merged.push_back(from[i]);
    }
    const int factors = emit::reshape(b, x, merged);
    const int before = up_to_previous(b, factors, axis, false), behind = up_to_previous(b, factors, axis, true);
    return emit::reshape(b, emit::times(b, before, behind), from);
  }
  /// At each element the product of those before it in the given direction.
  static constexpr int up_to_previous(builder& b, int x, int axis, bool backwards) {
    const std::int64_t n = b.shape(x)[axis];
    if (n == 0) return x;
    const int but_last = emit::part_of_axis(b, x, axis, backwards ? 1 : 0, n - 1);
    return along_axis::with_first(b, emit::cumprod(b, but_last, axis, backwards), axis, backwards, 1);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const vec<std::int64_t> axes = view(s.e).axes;
    return {emit::sum(s.b, emit::times(s.b, t[0], others(s.b, s.operands[0], axes)), axes)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const vec<std::int64_t> axes = view(s.e).axes;
    const int factor = others(s.b, s.operands[0], axes);
    return {emit::times(s.b, spread(s.b, ct[0], s.b.shape(s.operands[0]), axes), factor)};
  }
  /// Axes that are not neighbours: one run of neighbours after the other.
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const int n = view(a).axes.size();
    if (n == 0) return o[0];
    int first = n - 1;
    while (first > 0 && view(a).axes[first - 1] + 1 == view(a).axes[first]) --first;
    if (first == 0) return -1;
    const int_list axes = view(a).axes;
    return emit::over_axes(b, *prim_ptr(), emit::over_axes(b, *prim_ptr(), o[0], axes.from(first)),
                           axes.part(0, first));
  }
  static constexpr const primitive* prim_ptr();
  static void evaluate(evaluation& v) {
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] = static_cast<T>(1);
    });
    fold(v, [](auto a, auto b) { return wrapping_product(a, b); }, true);
  }
};
}  // namespace prim::rules
namespace prim {
inline constexpr primitive prod = reduction_primitive<rules::prod>("prod");
constexpr const primitive* rules::prod::prim_ptr() { return &prim::prod; }
}  // namespace prim

// clang-format off
/// The product over the given axes, or all of them; 1 without factors. Its derivative is right where factors are zero.
/// prod(x), prod<0>(x), prod<0, -1>(x)
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto prod(const A& x) { return detail::reduce_axes<A, Axes...>(prim::prod, x); }
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why prod(const A&) = delete;  // drx: prod<axes...>(array of numbers); of a placed value in a map
// clang-format on

DRX_SILENT(prod)

}  // namespace drx
