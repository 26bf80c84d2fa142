// drx/functions/axes.hpp: adding and removing axes of extent 1, and repeating arrays along their axes.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
template <class A, int... Axes>
struct expanded {  // Axes of the result
  static constexpr int rank = A::rank + static_cast<int>(sizeof...(Axes));
  static constexpr bool adds([[maybe_unused]] int axis) { return ((normal_axis(Axes, rank) == axis) || ...); }
  static constexpr bool fits() {
    if (rank > shape::max_rank) return false;
    int added = 0;  // equal ones are counted once, those out of range never
    for (int i = 0; i < rank; ++i) added += adds(i);
    return added == static_cast<int>(sizeof...(Axes));
  }
  static constexpr shape value = [] {
    shape s;
    if (fits())
      for (int i = 0, k = 0; i < rank; ++i) s.push_back(adds(i) ? 1 : A::shape[k++]);
    return s;
  }();
};
template <class A, int... Axes>
concept Expandable = Array<A> && expanded<A, Axes...>::fits();
template <class A>
using not_expandable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>;

template <class A, int... Axes>
struct squeezed {  // without Axes: all of extent 1
  static constexpr bool in_range = ((Axes >= -A::rank && Axes < A::rank) && ...);
  static constexpr bool drops(int axis) {
    return sizeof...(Axes) == 0 ? A::shape[axis] == 1 : ((normal_axis(Axes, A::rank) == axis) || ...);
  }
  static constexpr bool fits() {
    if (!in_range) return false;
    for (int i = 0; i < A::rank; ++i)
      if (drops(i) && A::shape[i] != 1) return false;
    return true;
  }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i)
      if (!drops(i)) s.push_back(A::shape[i]);
    return s;
  }();
};
template <class A, int... Axes>
concept Squeezable = Array<A> && squeezed<A, Axes...>::fits();
template <class A, int... Axes>
constexpr auto squeeze_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!squeezed<A, Axes...>::in_range) {
    return error::axis_out_of_range{};
  } else {
    return error::axis_has_more_than_one_element{};
  }
}

template <class A, class S>
constexpr auto reshaped(const A& x) {
  return unary<array_of<typename A::value_type, S>>(x,
                                                    [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}
template <class A, std::int64_t... Times>
struct tiled {  // Times of the last axes, or of more axes than there are
  static constexpr int given = static_cast<int>(sizeof...(Times)), rank = given > A::rank ? given : A::rank;
  static constexpr bool fits = sizeof...(Times) > 0 && ((Times >= 0) && ...) && rank <= shape::max_rank;
  static constexpr std::int64_t times(int axis) {
    constexpr std::int64_t all[] = {Times...};
    return axis < rank - given ? 1 : all[axis - (rank - given)];
  }
  static constexpr std::int64_t extent(int axis) {
    return axis < rank - A::rank ? 1 : A::shape[axis - (rank - A::rank)];
  }
  static constexpr shape value = [] {
    shape s;
    if constexpr (fits)
      for (int i = 0; i < rank; ++i) s.push_back(times(i) * extent(i));
    return s;
  }();
};
template <class A, std::int64_t... Times>
concept Tileable = Array<A> && tiled<A, Times...>::fits;
template <std::int64_t N, class A, int Axis>
concept Repeatable = HasAxis<A, Axis> && (N >= 0);
template <class A>
using not_tileable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_number_of_repetitions>;
template <std::int64_t N, class A>
using not_repeatable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value,
                       std::conditional_t<(N < 0), error::wrong_number_of_repetitions, error::axis_out_of_range>>;
template <std::int64_t N, class A, int Axis>
struct repeated_along {
  static constexpr shape value = [] {
    shape s = A::shape;
    s[axis_of<A, Axis>::axis] *= N;
    return s;
  }();
};
}  // namespace detail

namespace emit {
/// x seen as {before, n, behind}, with n copies of the whole middle axis, or of each of its elements.
constexpr int copies_along(builder& b, int x, std::int64_t before, std::int64_t n, std::int64_t behind,
                           std::int64_t times, bool whole) {
  if (times == 1) return x;
  const int apart = reshape(b, x, whole ? make_shape(before, 1, n, behind) : make_shape(before, n, 1, behind));
  return broadcast_to(b, apart, whole ? make_shape(before, times, n, behind) : make_shape(before, n, times, behind));
}
}  // namespace emit

// clang-format off
/// x with axes of extent 1 at the places Axes of the result; negative ones count from the end.  expand_dims<0, -1>(x)
template <int... Axes, class A> requires(sizeof...(Axes) > 0 && detail::Expandable<A, Axes...>)
constexpr auto expand_dims(const A& x) { return detail::reshaped<A, detail::expanded<A, Axes...>>(x); }
/// x without Axes, which have extent 1; by default, without all axes of extent 1.  squeeze<0>(x), squeeze(x)
template <int... Axes, class A> requires detail::Squeezable<A, Axes...>
constexpr auto squeeze(const A& x) { return detail::reshaped<A, detail::squeezed<A, Axes...>>(x); }
// clang-format on

/// Copies of x one after the other: Times along each of the last axes, or along new axes in front.
/// tile<2>(x), tile<2, 1>(x)
template <std::int64_t... Times, class A>
  requires detail::Tileable<A, Times...>
constexpr auto tile(const A& x) {
  using S = detail::tiled<A, Times...>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    std::int64_t before = 1, behind = A::size;
    for (int i = 0; i < S::rank; ++i) {
      const std::int64_t n = S::extent(i);
      behind = 1;
      for (int k = i + 1; k < S::rank; ++k) behind *= S::extent(k);
      id = emit::copies_along(b, id, before, n, behind, S::times(i), true);
      before *= n * S::times(i);
    }
    return emit::reshape(b, id, S::value);
  });
}
/// Each element along Axis repeated N times, by default along axis 0.  repeat<2>(x): x0, x0, x1, x1, ...
template <std::int64_t N, int Axis = 0, class A>
  requires detail::Repeatable<N, A, Axis>
constexpr auto repeat(const A& x) {
  using S = detail::repeated_along<N, A, Axis>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    constexpr int axis = detail::axis_of<A, Axis>::axis;
    std::int64_t before = 1, behind = 1;
    for (int i = 0; i < A::rank; ++i) (i < axis ? before : behind) *= i == axis ? 1 : A::shape[i];
    return emit::reshape(b, emit::copies_along(b, id, before, A::shape[axis], behind, N, false), S::value);
  });
}

// clang-format off
template <int... Axes, class A, class Why = detail::not_expandable_t<A>> requires((Array<A> || Placed<A>) && !(sizeof...(Axes) > 0 && detail::Expandable<A, Axes...>))
Why expand_dims(const A&) = delete;  // drx: expand_dims<axes...>(x): different axes of the result, which has at most eight; of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::squeeze_misuse<A, Axes...>())> requires((Array<A> || Placed<A>) && !detail::Squeezable<A, Axes...>)
Why squeeze(const A&) = delete;  // drx: squeeze<axes...>(x): axes of extent 1; of a placed value in a map
template <std::int64_t... Times, class A, class Why = detail::not_tileable_t<A>> requires((Array<A> || Placed<A>) && !detail::Tileable<A, Times...>)
Why tile(const A&) = delete;  // drx: tile<times...>(x): a number of at least 0 for each of up to eight axes; of a placed value in a map
template <std::int64_t N, int Axis = 0, class A, class Why = detail::not_repeatable_t<N, A>> requires((Array<A> || Placed<A>) && !detail::Repeatable<N, A, Axis>)
Why repeat(const A&) = delete;  // drx: repeat<times, axis>(x): times at least 0; of a placed value in a map
// clang-format on

DRX_SILENT(expand_dims)
DRX_SILENT(repeat)
DRX_SILENT(squeeze)
DRX_SILENT(tile)

}  // namespace drx
