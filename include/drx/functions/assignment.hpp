// drx/functions/assignment.hpp: compound assignment: x += y is x = x + y, and so on, for arrays, structures and placed
// values.
#pragma once

#include <drx/primitives/catalogue.hpp>

namespace drx {
namespace detail {
template <class A, class B>
concept Assigned = (Array<A> || Placed<A> || Compound<A>) && Structured<B> && !error::AnyReported<A, B>;
template <class R, class A>
concept SameStructure = std::is_same_v<canonical_t<R>, canonical_t<A>>;
template <class A, class B>
concept Adds = Assigned<A, B> && requires(A& a, const B& b) {
  { a + b } -> SameStructure<A>;
  a = a + b;
};
template <class A, class B>
concept Subtracts = Assigned<A, B> && requires(A& a, const B& b) {
  { a - b } -> SameStructure<A>;
  a = a - b;
};
template <class A, class B>
concept Multiplies = Assigned<A, B> && requires(A& a, const B& b) {
  { a* b } -> SameStructure<A>;
  a = a * b;
};
template <class A, class B>
concept Divides = Assigned<A, B> && requires(A& a, const B& b) {
  { a / b } -> SameStructure<A>;
  a = a / b;
};
}  // namespace detail

// (There are no deleted twins: a statement has no type that could show that the compiler has complained.)
// clang-format off
/// a = a + b, for arrays, structures and placed values; the result must have a's type.
template <class A, class B> requires detail::Adds<A, B>
constexpr A& operator+=(A& a, const B& b) { return a = a + b; }
/// a = a - b, for arrays, structures and placed values; the result must have a's type.
template <class A, class B> requires detail::Subtracts<A, B>
constexpr A& operator-=(A& a, const B& b) { return a = a - b; }
/// a = a * b, for arrays, structures and placed values; the result must have a's type.
template <class A, class B> requires detail::Multiplies<A, B>
constexpr A& operator*=(A& a, const B& b) { return a = a * b; }
/// a = a / b, for arrays, structures and placed values; the result must have a's type.
template <class A, class B> requires detail::Divides<A, B>
constexpr A& operator/=(A& a, const B& b) { return a = a / b; }
// clang-format on

}  // namespace drx
