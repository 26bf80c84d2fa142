// drx/primitives/where.hpp: elementwise choice, by which a traced program branches on values.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/scalar/math.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim {
namespace rows {
struct where : same_type {
  static constexpr const char* name = "where";
  static constexpr int arity = 3;
  static constexpr known_value known(const known_site& s) { return either(s.operands[1], s.operands[2]); }
  static constexpr bool accepts(dtype t, int i) { return i > 0 || t == dtype::boolean; }
  template <class T>
  DRX_INLINE static constexpr T apply(bool c, T x, T y) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
    // On bits, since g++ 12 moves comparisons with a ?: into its arms, and then finds no vectors for them.
    if constexpr (std::is_floating_point_v<T>) return math::detail::select(c, x, y);
#endif
    return c ? x : y;
  }
  template <class T>
  static T reference(bool c, T x, T y) {
    return c ? x : y;
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {  // chosen, never multiplied by 0
    if (i == 0) return zero_tangent;
    const int zero = emit::constant_like(b, t, 0);
    return i == 1 ? emit::where(b, s.operands[0], t, zero) : emit::where(b, s.operands[0], zero, t);
  }
  static constexpr int simplify(builder&, const vec<int>& o, const attributes&) { return o[1] == o[2] ? o[1] : -1; }
};
}  // namespace rows
inline constexpr primitive where = elementwise_primitive<rows::where>();
template <>
struct row_of<&where> : rows::where {};
}  // namespace prim

namespace emit {
constexpr int where(builder& b, int condition, int x, int y) { return b.add1(prim::where, {condition, x, y}); }
}  // namespace emit

namespace detail {
template <class C, class A, class B>
concept WhereOperands = Array<C> && Compatible<A, B> && std::is_same_v<typename C::value_type, bool> &&
                        broadcastable(C::shape, common_shape<A, B>());
template <class C, class A, class B>
struct where_shape {
  static constexpr shape value = broadcast_shapes(C::shape, common_shape<A, B>());
};
template <class C, class A, class B>
constexpr auto where_mismatch() {
  if constexpr (!Array<C> || !ArrayPair<A, B>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!std::is_same_v<typename C::value_type, bool>) {
    return error::needs_boolean_values{};
  } else if constexpr (Incompatible<A, B>) {
    return mismatch<A, B>();
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
}  // namespace detail

/// a where the condition holds, else b; the three broadcast. The side not chosen gets the derivative 0, even where its
/// own derivative is infinite (docs/sharp_bits.md).
template <class C, class A, class B>
  requires detail::WhereOperands<C, A, B>
constexpr auto where(const C& condition, const A& a, const B& b) {
  using T = detail::common_element<A, B>;
  using R = array_of<T, detail::where_shape<C, A, B>>;
  auto ref = [](const auto& x) {
    if constexpr (detail::Literal<std::remove_cvref_t<decltype(x)>>) {
      traced_ref r;
      r.what = traced_ref::kind::splat;
      r.from.number = static_cast<double>(x);
      return r;
    } else {
      return detail::ref_of(x);
    }
  };
  auto stored = [](const auto& x) -> shape {
    if constexpr (detail::Literal<std::remove_cvref_t<decltype(x)>>) {
      return {};
    } else {
      return std::remove_cvref_t<decltype(x)>::shape;
    }
  };
  tracing_builder& t = detail::tape_of(detail::ref_of(condition), ref(a), ref(b));
  const int c =
      emit::broadcast_to(t, emit::resolve(t, detail::ref_of(condition), {dtype::boolean, C::shape}), R::shape);
  const int x = emit::broadcast_to(t, emit::resolve(t, ref(a), {dtype_of<T>, stored(a)}), R::shape);
  const int y = emit::broadcast_to(t, emit::resolve(t, ref(b), {dtype_of<T>, stored(b)}), R::shape);
  return R(detail::at(t, emit::where(t, c, x, y)));
}
template <class C, class A, class B, class Why = decltype(detail::where_mismatch<C, A, B>())>
  requires(Array<C> && detail::ArrayPair<A, B> && !detail::WhereOperands<C, A, B>)
Why where(const C&, const A&, const B&) = delete;  // drx: where(array of bool, a, b): a and b of one element type, all three broadcast
template <class C, class A, class B, class Why = error::numbers_alone_have_no_element_type>
  requires(Array<C> && detail::Literal<A> && detail::Literal<B>)
Why where(const C&, const A&, const B&) = delete;  // drx: of two plain numbers one is to be an array: drx::full<drx::scalar<double>>(1); or cast<double>(condition)
template <class C, class A, class B, class Why = detail::no_array_t<C, A, B>>
  requires detail::NoArrays<C, A, B>
Why where(const C&, const A&, const B&) = delete;  // drx: do it in a map: map([](auto c, auto a, auto b) { return drx::where(c, a, b); }, x, y, z); of a structure leaf by leaf: tree_map

DRX_SILENT(where)

}  // namespace drx
