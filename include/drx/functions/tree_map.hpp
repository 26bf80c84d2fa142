// drx/functions/tree_map.hpp: applies a function of arrays to the leaves of structures.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {

/// Leaf I of structure X as an array type.
template <class X, int I>
struct leaf_of {
  static constexpr abstract_value type = leaf_types<X>()[I];
  static constexpr shape value = type.shape;
  using array_type = array_of<element_t<type.type>, leaf_of>;
};
template <class X, int I>
using leaf_t = typename leaf_of<X, I>::array_type;

template <class X, class... Y>
concept Alike = Structured<X> && !Placed<X> && !error::Reported<X> && (Structured<Y> && ...) &&
                (std::is_same_v<canonical_t<X>, canonical_t<Y>> && ...) && all_unplaced<X>;

template <class X, int First>
struct rebuilt_from_parts;

/// X with results of a function in place of its leaves, from result First on. A type whose leaves keep their types
/// stays, and so does a tuple, pair or std::array. A struct with other leaves becomes a tuple of its members; a
/// batched<S, n> is treated as an S.
template <class X, int First, class Results>
constexpr auto rebuilt(const Results& r) {
  constexpr bool same = []<int... I>(std::integer_sequence<int, I...>) {
    return (std::is_same_v<leaf_t<X, I>, std::tuple_element_t<static_cast<std::size_t>(First + I), Results>> && ...);
  }(std::make_integer_sequence<int, leaf_count<X>>{});
  if constexpr (same) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      const traced_ref refs[leaf_count<X> + 1] = {std::get<static_cast<std::size_t>(First + I)>(r).ref()..., {}};
      return structure<X>::bind(refs);
    }(std::make_integer_sequence<int, leaf_count<X>>{});
  } else if constexpr (Array<X>) {
    return std::get<static_cast<std::size_t>(First)>(r);
  } else {
    return rebuilt_from_parts<X, First>::from(r);
  }
}
template <class Parts, int First, class = std::make_index_sequence<std::tuple_size_v<Parts>>>
struct rebuilt_parts;
template <class... X, int First, std::size_t... I>
struct rebuilt_parts<std::tuple<X...>, First, std::index_sequence<I...>> {
  static constexpr int at(std::size_t part) {  // the first leaf of that part
    const int counts[] = {leaf_count<X>..., 0};
    int n = First;
    for (std::size_t i = 0; i < part; ++i) n += counts[i];
    return n;
  }
  template <class Results>
  static constexpr auto from(const Results& r) {
    return std::tuple<decltype(rebuilt<canonical_t<X>, at(I)>(r))...>{rebuilt<canonical_t<X>, at(I)>(r)...};
  }
};
template <class X, int First>
struct rebuilt_from_parts : rebuilt_parts<typename structure<X>::parts, First> {};
template <class X, class Y, int First>
struct rebuilt_from_parts<std::pair<X, Y>, First> {
  template <class Results>
  static constexpr auto from(const Results& r) {
    return std::pair<decltype(rebuilt<X, First>(r)), decltype(rebuilt<Y, First + leaf_count<X>>(r))>{
        rebuilt<X, First>(r), rebuilt<Y, First + leaf_count<X>>(r)};
  }
};
template <class X, std::size_t N, int First>
struct rebuilt_from_parts<std::array<X, N>, First> {
  template <class Results>
  static constexpr auto from(const Results& r) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return std::array<decltype(rebuilt<X, First>(r)), N>{rebuilt<X, First + I * leaf_count<X>>(r)...};
    }(std::make_integer_sequence<int, static_cast<int>(N)>{});
  }
};
template <class S, std::int64_t N, int First>
struct rebuilt_from_parts<batched<S, N>, First> {
  template <class Results>
  static constexpr auto from(const Results& r) {
    return rebuilt<S, First>(r);
  }
};

/// The types that F returns for each leaf of X and the corresponding leaves of Y....
template <class F, class X, class... Y>
struct leaf_results {
  template <int I>
  using of_leaf = call_result_t<F, leaf_t<X, I>, leaf_t<Y, I>...>;
  template <class Check>
  static constexpr bool all(Check check) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return (check(std::type_identity<of_leaf<I>>{}) && ...);
    }(std::make_integer_sequence<int, leaf_count<X>>{});
  }
  static constexpr bool values = all([]<class R>(std::type_identity<R>) { return TracedResult<R>; });
  static constexpr bool complained = !all([]<class R>(std::type_identity<R>) { return !error::Reported<R>; });
  template <int I = 0>
  static constexpr auto misuse() {  // of the first leaf that has one
    if constexpr (I == leaf_count<X>) {
      return no_misuse{};
    } else if constexpr (!TracedResult<of_leaf<I>>) {
      return result_misuse<of_leaf<I>>();
    } else {
      return misuse<I + 1>();
    }
  }
};
template <class F, class X, class... Y>
constexpr auto tree_map_misuse() {
  if constexpr ((Placed<X> || ... || Placed<Y>)) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!(std::is_same_v<canonical_t<X>, canonical_t<Y>> && ...)) {
    return error::structures_differ{};
  } else if constexpr (!Alike<X, Y...>) {
    return error::array_operation_on_a_placed_value{};
  } else {
    return leaf_results<F, X, Y...>::misuse();
  }
}
template <class... X>
concept Trees = (Structured<X> && ...) && !error::AnyReported<X...>;
template <class F, class... X>
concept LeafFunction = Trees<X...> && std::is_same_v<decltype(tree_map_misuse<F, X...>()), no_misuse>;
}  // namespace detail

/// f of each leaf of x, or of the corresponding leaves of several structures of one type:
///     tree_map([](auto w) { return drx::clamp(w, -1, 1); }, model)
/// The result has the structure's type if f returns arrays of the leaves' types. If f changes these, tuples, pairs and
/// std::arrays stay, a struct becomes a tuple of its new members, and a batched<S, n> becomes an S if f removes the
/// batch's axis.
template <class F, class X, class... Y>
  requires detail::LeafFunction<F, X, Y...>
constexpr auto tree_map(const F& f, const X& x, const Y&... y) {
  using canonical = canonical_t<X>;
  if constexpr (detail::leaf_results<F, X, Y...>::complained) {
    return error::reported{};
  } else {
    const std::tuple refs{detail::leaf_refs<X>(x), detail::leaf_refs<Y>(y)...};
    auto of_leaf = [&]<int I>(std::integral_constant<int, I>) {
      return std::apply([&](const auto&... r) { return f(detail::leaf_t<X, I>(r.ref[I])...); }, refs);
    };
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      const std::tuple<decltype(of_leaf(std::integral_constant<int, I>{}))...> results{
          of_leaf(std::integral_constant<int, I>{})...};
      return detail::rebuilt<canonical, 0>(results);
    }(std::make_integer_sequence<int, leaf_count<X>>{});
  }
}
template <class F, class X, class... Y, class Why = decltype(detail::tree_map_misuse<F, X, Y...>())>
  requires(detail::Trees<X, Y...> && !detail::LeafFunction<F, X, Y...>)
error::reported tree_map(const F&, const X&, const Y&...) = delete;  // drx: tree_map(f, structures of one type): f takes the leaves beside each other and returns a value of drx; of placed values in a map

DRX_SILENT(tree_map)

}  // namespace drx
