// drx/functions/structure_reductions.hpp: reductions over all leaves of structures together: sum, mean, dot, norm; and
// over the values of a batched<S, n>, which give one S: sum<0>, mean<0>, max<0>, min<0>, index. They are compositions
// of the arrays' own operations.
#pragma once

#include <drx/functions/structure_arithmetic.hpp>
#include <drx/functions/tree_map.hpp>
#include <drx/primitives/catalogue.hpp>

namespace drx {
namespace detail {

/// Why the elements of X are not numbers of one element type; `no_misuse` if they are.
template <class X>
constexpr auto elements_misuse() {
  constexpr bool of_one_type = [] {
    for (int i = 1; i < leaf_count<X>; ++i)
      if (leaf_types<X>()[i].type != leaf_types<X>()[0].type) return false;
    return true;
  }();
  if constexpr (!all_unplaced<X>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (leaf_count<X> == 0 || !all_numbers<X>) {
    return error::needs_numbers{};
  } else {
    return std::conditional_t<of_one_type, no_misuse, error::element_types_differ>{};
  }
}
template <class X>
inline constexpr std::int64_t element_count = [] {
  std::int64_t n = 0;
  for (int i = 0; i < leaf_count<X>; ++i) n += leaf_types<X>()[i].shape.size();
  return n;
}();
/// f of all leaves of x, as arrays.
template <class F, class X>
constexpr auto of_leaves(const F& f, const X& x) {
  const leaf_refs<X> refs(x);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return f(leaf_t<X, I>(refs.ref[I])...);
  }(std::make_integer_sequence<int, leaf_count<X>>{});
}

template <class X>
inline constexpr bool is_batched = false;
template <class S, std::int64_t N>
inline constexpr bool is_batched<batched<S, N>> = true;
/// Whether Axes are the batch's one axis.
template <int... Axes>
inline constexpr bool only_axis_0 = sizeof...(Axes) == 1 && ((Axes == 0) && ...);

/// Why structure X has no sum<Axes...>; `no_misuse` if it has: of all elements, or over a batch's axis.
template <class X, int... Axes>
constexpr auto structure_sum_misuse() {
  if constexpr (!Compound<X>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (sizeof...(Axes) == 0) {
    return elements_misuse<X>();
  } else if constexpr (!is_batched<X>) {
    return error::array_operation_on_a_structure{};
  } else if constexpr (!only_axis_0<Axes...>) {
    return error::axis_out_of_range{};
  } else {
    return std::conditional_t<all_numbers<X>, no_misuse, error::needs_numbers>{};
  }
}
/// The mean of a batch is an S, so that its elements must be floating.
template <class X, int... Axes>
constexpr auto structure_mean_misuse() {
  using Why = decltype(structure_sum_misuse<X, Axes...>());
  if constexpr (std::is_same_v<Why, no_misuse> && sizeof...(Axes) > 0) {
    return std::conditional_t<all_floating<X>, no_misuse, error::needs_floating_values>{};
  } else {
    return Why{};
  }
}
template <class X, int... Axes>
constexpr auto batch_extremum_misuse() {
  if constexpr (sizeof...(Axes) == 0) {
    return error::array_operation_on_a_structure{};
  } else {
    return structure_sum_misuse<X, Axes...>();
  }
}
template <class X, class Y>
constexpr auto structure_dot_misuse() {
  if constexpr (!Compound<X> || !Compound<Y>) {
    return error::array_operation_on_a_structure{};
  } else if constexpr (!std::is_same_v<canonical_t<X>, canonical_t<Y>>) {
    return error::structures_differ{};
  } else {
    return elements_misuse<X>();
  }
}
template <class X>
constexpr auto structure_norm_misuse() {
  using Why = decltype(structure_dot_misuse<X, X>());
  if constexpr (std::is_same_v<Why, no_misuse>) {
    return std::conditional_t<all_floating<X>, no_misuse, error::needs_floating_values>{};
  } else {
    return Why{};
  }
}
template <class Why>
concept IsNoMisuse = std::is_same_v<Why, no_misuse>;
/// Structures of several arrays, in any argument: calls that the array operations do not take.
template <class... X>
concept AnyCompound =
    ((Compound<X> && NoArray<X>) || ...) && (Structured<X> && ...) && !(Placed<X> || ...) && !error::AnyReported<X...>;

/// f of each leaf of a batch; f removes the batch's axis.
template <class F, class S, std::int64_t N>
constexpr traced_t<S> over_batch(const F& f, const batched<S, N>& x) {
  const leaf_refs<batched<S, N>> refs(x);
  traced_ref results[leaf_count<S> + 1] = {};
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((results[I] = f(leaf_t<batched<S, N>, I>(refs.ref[I])).ref()), ...);
  }(std::make_integer_sequence<int, leaf_count<S>>{});
  return structure<S>::bind(results);
}
}  // namespace detail

// clang-format off
/// The sum of all elements of all leaves, which have one element type: one number. sum<0>(x) of a batched<S, n> is the
/// sum of its values, an S.
template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::structure_sum_misuse<X, Axes...>())>)
constexpr auto sum(const X& x) {
  if constexpr (sizeof...(Axes) > 0) {
    return detail::over_batch([](const auto& leaf) { return drx::sum<0>(leaf); }, x);
  } else {
    return detail::of_leaves([](const auto&... leaf) { return (drx::sum(leaf) + ...); }, x);
  }
}
/// The mean of all elements of all leaves; integers give double. mean<0>(x) of a batched<S, n> is the mean of its
/// values, an S.
template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::structure_mean_misuse<X, Axes...>())>)
constexpr auto mean(const X& x) {
  if constexpr (sizeof...(Axes) > 0) {
    return detail::over_batch([](const auto& leaf) { return drx::mean<0>(leaf); }, x);
  } else {
    using T = mean_element<typename detail::leaf_t<X, 0>::value_type>;
    using C = detail::computed_element<T>;
    constexpr auto n = static_cast<double>(detail::element_count<X>);
    return drx::cast<T>(detail::of_leaves([](const auto&... leaf) { return (drx::sum(drx::cast<C>(leaf)) + ...); }, x) * static_cast<C>(1 / n));
  }
}
/// max<0>(x) of a batched<S, n>: for each element the largest of the n values, an S.
template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::batch_extremum_misuse<X, Axes...>())>)
constexpr auto max(const X& x) { return detail::over_batch([](const auto& leaf) { return drx::max<0>(leaf); }, x); }
/// min<0>(x) of a batched<S, n>: for each element the smallest of the n values, an S.
template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::batch_extremum_misuse<X, Axes...>())>)
constexpr auto min(const X& x) { return detail::over_batch([](const auto& leaf) { return drx::min<0>(leaf); }, x); }
/// The sum of products of corresponding elements, over all leaves of two structures of one type and one element type.
template <class X, class Y> requires(detail::AnyCompound<X, Y> && detail::IsNoMisuse<decltype(detail::structure_dot_misuse<X, Y>())>)
constexpr auto dot(const X& x, const Y& y) { return drx::sum(x * y); }
/// The Euclidean norm of all elements of a structure together, sqrt(dot(x, x)); its derivative is 0 if all are 0.
template <class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::structure_norm_misuse<X>())>)
constexpr auto norm(const X& x) { return drx::sqrt(drx::dot(x, x)); }

template <int... Axes, class X, class Why = decltype(detail::structure_sum_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why sum(const X&) = delete;  // drx: sum(structure of numbers of one element type), sum<0>(batched<S, n>); leaf by leaf with tree_map; of placed values in a map
template <int... Axes, class X, class Why = decltype(detail::structure_mean_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why mean(const X&) = delete;  // drx: mean(structure of numbers of one element type), mean<0>(batched<S, n> of floating numbers); leaf by leaf with tree_map; of placed values in a map
template <int... Axes, class X, class Why = decltype(detail::batch_extremum_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why max(const X&) = delete;  // drx: max<0>(batched<S, n>); of other structures leaf by leaf with tree_map; of placed values in a map
template <int... Axes, class X, class Why = decltype(detail::batch_extremum_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why min(const X&) = delete;  // drx: min<0>(batched<S, n>); of other structures leaf by leaf with tree_map; of placed values in a map
template <class X, class Y, class Why = decltype(detail::structure_dot_misuse<X, Y>())> requires(detail::AnyCompound<X, Y> && !detail::IsNoMisuse<Why>)
Why dot(const X&, const Y&) = delete;  // drx: dot(x, y) of two structures of one type, all of one element type; of placed values in a map
template <class X, class Why = decltype(detail::structure_norm_misuse<X>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why norm(const X&) = delete;  // drx: norm(structure of numbers of one floating type); of placed values in a map
// clang-format on

/// Value i of a batched<S, n>, which may be traced; read as index(x, i) reads an array.
template <class S, std::int64_t N, class I>
  requires detail::Position<I>
constexpr traced_t<S> index(const batched<S, N>& x, const I& i) {
  return detail::over_batch([&](const auto& leaf) { return drx::index(leaf, i); }, x);
}

}  // namespace drx
