// drx/functions/linspace.hpp: numbers at equal distances.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
template <class X, class A>
concept EndOfRange = (Literal<X> || ScalarArray<X>) && Parameter<X, A>;
template <class A>
concept RangeOfNumbers = FloatingArray<A> && A::rank == 1;
template <class A, class X, class Y>
concept RangeWith = RangeOfNumbers<A> && EndOfRange<X, A> && EndOfRange<Y, A>;
template <class X>
concept AnyEnd = Literal<X> || Array<X> || Placed<X>;
template <class A, class X, class Y>
constexpr auto linspace_misuse() {
  if constexpr (Placed<X> || Placed<Y>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (A::rank != 1 || (Array<X> && !ScalarArray<X>) || (Array<Y> && !ScalarArray<Y>)) {
    return error::wrong_rank{};
  } else {
    return error::element_types_differ{};
  }
}
}  // namespace detail

/// n numbers from start to stop, both included, at equal distances, where A is array<T, n> of float or double; for n =
/// 1, start. start and stop are numbers or, in a traced function, arrays of rank 0 and A's element type.
/// linspace<array<double, 5>>(0, 1)
template <class A, class X, class Y>
  requires detail::RangeWith<A, X, Y>
constexpr A linspace(const X& start, const Y& stop) {
  using T = typename A::value_type;
  constexpr T last = A::size > 1 ? static_cast<T>(A::size - 1) : T(1);
  if constexpr (detail::Literal<X> && detail::Literal<Y>) {
    if (!detail::is_tracing()) {
      return detail::array_of_elements<A>([&](const std::int64_t* at) {
        const T part = static_cast<T>(at[0]) / last;
        return static_cast<T>(start) * (1 - part) + static_cast<T>(stop) * part;
      });
    }
  }
  const A part = iota<A>() / last;
  return start * (1 - part) + stop * part;  // exact at both ends
}
template <class A, class X, class Y, class Why = decltype(detail::linspace_misuse<A, X, Y>())>
  requires(Array<A> && detail::AnyEnd<X> && detail::AnyEnd<Y> && !detail::RangeWith<A, X, Y>)
Why linspace(const X&, const Y&) = delete;  // drx: linspace<array<float, n>>(start, stop): numbers, or arrays of rank 0 of the element type; of placed values in a map

DRX_SILENT_OF_TYPE(linspace)

}  // namespace drx
