// drx/functions/structure_arithmetic.hpp: + - * / for whole structures (a model minus a rate times a gradient), leaf by
// leaf. They are compositions of the arrays' own operations.
#pragma once

#include <drx/primitives/catalogue.hpp>

namespace drx {
namespace detail {

/// Why compound X and A, a compound or a number, do not go together; `no_misuse` if they do.
template <class X, class A>
constexpr auto compound_mismatch() {
  if constexpr (!Compound<X>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!all_unplaced<X>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!all_numbers<X>) {
    return error::needs_numbers{};
  } else if constexpr (Compound<A>) {
    return std::conditional_t<std::is_same_v<canonical_t<A>, canonical_t<X>>, no_misuse, error::structures_differ>{};
  } else if constexpr (Literal<A>) {
    return std::conditional_t<number_fits<X, A, true>, no_misuse, error::a_literal_does_not_fit_the_element_type>{};
  } else if constexpr (ScalarArray<A>) {
    return std::conditional_t<number_fits<X, typename A::value_type, false>, no_misuse, error::element_types_differ>{};
  } else {
    return error::structures_differ{};
  }
}
template <class A, class B>
constexpr auto structure_mismatch() {
  if constexpr (Compound<A>) {
    return compound_mismatch<A, B>();
  } else {
    return compound_mismatch<B, A>();
  }
}
template <class A, class B>
concept CompoundPair =
    (Compound<A> && (Compound<B> || Array<B> || Literal<B>)) || ((Array<A> || Literal<A>) && Compound<B>);
template <class A, class B>
concept LeafByLeaf = CompoundPair<A, B> && std::is_same_v<decltype(structure_mismatch<A, B>()), no_misuse>;
template <class A, class B>
concept NotLeafByLeaf = CompoundPair<A, B> && !LeafByLeaf<A, B>;
template <class A, class B>
using structure_mismatch_t = decltype(structure_mismatch<A, B>());

template <class A, class B>
constexpr auto leaf_by_leaf(const primitive& p, const A& a, const B& b) {
  using R = canonical_t<std::conditional_t<Compound<A>, A, B>>;
  const leaf_refs<A> left(a);
  const leaf_refs<B> right(b);
  tracing_builder& t = common_tape(left, right);
  constexpr leaf_types<R> types;
  vec<int> ids;
  for (int i = 0; i < leaf_count<R>; ++i) {
    auto operand = [&]<class X>(const leaf_refs<X>& x) {
      if constexpr (Compound<X>) {
        return emit::resolve(t, x.ref[i], types[i]);
      } else {
        return emit::broadcast_to(t, emit::resolve(t, x.ref[0], types[i].with_shape({})), types[i].shape);
      }
    };
    ids.push_back(t.add1(p, {operand(left), operand(right)}));
  }
  return bound<R>(t, ids);
}
}  // namespace detail

// Leaf by leaf, for two structures of one type, or a structure and a number. The result has the structure's type.
// clang-format off
/// The sums leaf by leaf of two structures of one type, or of a structure and a number, as a structure of that type.
template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator+(const A& a, const B& b) { return detail::leaf_by_leaf(prim::add, a, b); }
/// The differences leaf by leaf of two structures of one type, or of a structure and a number, as a structure of that
/// type.
template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator-(const A& a, const B& b) { return detail::leaf_by_leaf(prim::sub, a, b); }
/// The products leaf by leaf of two structures of one type, or of a structure and a number, as a structure of that
/// type.
template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator*(const A& a, const B& b) { return detail::leaf_by_leaf(prim::mul, a, b); }
/// The quotients leaf by leaf of two structures of one type, or of a structure and a number, as a structure of that
/// type.
template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator/(const A& a, const B& b) { return detail::leaf_by_leaf(prim::div, a, b); }
/// Every leaf negated.
template <class A> requires(detail::Compound<A> && detail::all_unplaced<A> && detail::all_numbers<A>)
constexpr auto operator-(const A& a) {
  const detail::leaf_refs<A> refs(a);
  tracing_builder& b = detail::common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::neg(b, id);
  return detail::bound<canonical_t<A>>(b, ids);
}

template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator+(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type
template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator-(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type
template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator*(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type
template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator/(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type
// clang-format on

}  // namespace drx
