// drx/primitives/fma.hpp: a b + c.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementary.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace prim {
namespace rows {

struct fma : same_type, on_floating {
  static constexpr const char* name = "fma";
  static constexpr int arity = 3;
  static constexpr known_value known(const known_site& s) { return s.operands[0] * s.operands[1] + s.operands[2]; }
  template <class T>
  DRX_INLINE static T apply(T x, T y, T z) {
    return math::fma(x, y, z);
  }
  template <class T>
  static T reference(T x, T y, T z) {
    return std::fma(x, y, z);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return i == 2 ? t : emit::times(b, t, s.operands[1 - i]);
  }
};

}  // namespace rows
inline constexpr primitive fma = elementwise_primitive<rows::fma>();
template <>
struct row_of<&fma> : rows::fma {};
}  // namespace prim

namespace detail {
template <class A, class B, class C>
concept FloatingTriple = FloatingArray<A> && Compatible<A, B> && Compatible<A, C> && Compatible<binary_result<A, B>, C>;
template <class A, class B, class C>
constexpr auto fma_misuse() {
  if constexpr (NoArray<A> || Placed<B> || Placed<C>) {
    return no_array_t<A, B, C>{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (Incompatible<A, B>) {
    return mismatch<A, B>();
  } else if constexpr (Incompatible<A, C>) {
    return mismatch<A, C>();
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
}  // namespace detail

/// x y + z, elementwise; rounded once where the processor has an instruction for it, else twice.
template <class A, class B, class C>
  requires detail::FloatingTriple<A, B, C>
constexpr auto fma(const A& x, const B& y, const C& z) {
  using R = detail::binary_result<detail::binary_result<A, B>, C>;
  return detail::elementwise<R, typename R::value_type>(prim::fma, x, y, z);
}
template <class A, class B, class C, class Why = decltype(detail::fma_misuse<A, B, C>())>
  requires((Array<A> || detail::NoArray<A>) && !detail::FloatingTriple<A, B, C>)
Why fma(const A&, const B&, const C&) = delete;  // drx: fma(floating array, y, z), y and z arrays of its element type or numbers; of placed values in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(fma)

}  // namespace drx
