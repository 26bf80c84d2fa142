// drx/core/batched.hpp: several values of one structure as one: each leaf with one more axis.
#pragma once

#include <drx/core/structure.hpp>

namespace drx {
namespace detail {

template <class S, int I, std::int64_t N>
struct batched_leaf_shape {
  static constexpr leaf_types<S> types{};
  static_assert(types[I].depth == 0, "drx: placed values in a struct that is batched");
  static constexpr shape value = with_front(types[I].shape, N);
  using type = array_of<element_t<types[I].type>, batched_leaf_shape>;
};
template <class S, std::int64_t N, class = std::make_integer_sequence<int, leaf_count<S>>>
struct batched_leaves;
template <class S, std::int64_t N, int... I>
struct batched_leaves<S, N, std::integer_sequence<int, I...>> {
  using type = std::tuple<typename batched_leaf_shape<S, I, N>::type...>;
};

}  // namespace detail

/// N values of a user's struct S, leaf by leaf: leaf I is an array with an axis of extent N in front, get<I>(x.leaf). What vmap
/// returns for a struct. (Arrays, and tuples of them, take the axis themselves: see stacked_t.)
template <class S, std::int64_t N>
struct batched {
  using element = S;
  static constexpr std::int64_t size = N;
  typename detail::batched_leaves<S, N>::type leaf;

  /// Value i, of a result.
  [[nodiscard]] S operator[](std::int64_t i) const {
    S one{};
    int at = 0;
    structure<S>::visit(one, [&](auto* p, const shape& s) {
      copy_leaf(at++, p, i, s.size(), std::make_index_sequence<static_cast<std::size_t>(leaf_count<S>)>{});
    });
    return one;
  }

 private:
  template <class T, std::size_t... I>
  void copy_leaf(int which, T* to, std::int64_t i, std::int64_t count, std::index_sequence<I...>) const {
    const auto copy = [&](const auto& from) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(from[0])>, T>)
        for (std::int64_t k = 0; k < count; ++k) to[k] = from[i * count + k];
    };
    ((static_cast<int>(I) == which ? copy(std::get<I>(leaf)) : void()), ...);
  }
};

template <class S, std::int64_t N>
struct structure<batched<S, N>> {
  using parts = structure<typename detail::batched_leaves<S, N>::type>;
  static constexpr int leaves = parts::leaves;
  using canonical = batched<S, N>;
  using traced = batched<S, N>;
  using host = batched<S, N>;
  static constexpr void types(abstract_value* out) { parts::types(out); }
  static constexpr void refs(const batched<S, N>& x, traced_ref* out) { parts::refs(x.leaf, out); }
  static constexpr traced bind(const traced_ref* in) { return {parts::bind(in)}; }
  template <class X, class F>
  static constexpr void visit(X& x, F&& f) { parts::visit(x.leaf, f); }
};

namespace detail {

/// X, N times, with the new axis at place Axis of each leaf; X without that axis, the reverse.
template <class X, std::int64_t N, int Axis>
struct add_axis {
  static_assert(Axis == 0, "drx: the batch axis of a struct is axis 0");
  using type = batched<X, N>;
};
template <Element T, std::int64_t N, int Axis>
struct add_axis<T, N, Axis> : add_axis<array<T>, N, Axis> {};
template <class T, std::int64_t... E, std::int64_t N, int Axis>
struct add_axis<array<T, E...>, N, Axis> {
  static constexpr shape value = with_axis(make_shape(E...), normal_axis(Axis, sizeof...(E) + 1), N);
  using type = array_of<T, add_axis>;
};
template <class S, class P, std::int64_t N, int Axis>
struct add_axis<placed<S, P>, N, Axis> {
  using type = placed<typename add_axis<S, N, Axis>::type, P>;
};
template <class... X, std::int64_t N, int Axis>
struct add_axis<std::tuple<X...>, N, Axis> {
  using type = std::tuple<typename add_axis<X, N, Axis>::type...>;
};
template <class X, class Y, std::int64_t N, int Axis>
struct add_axis<std::pair<X, Y>, N, Axis> {
  using type = std::pair<typename add_axis<X, N, Axis>::type, typename add_axis<Y, N, Axis>::type>;
};
template <class X, std::size_t M, std::int64_t N, int Axis>
struct add_axis<std::array<X, M>, N, Axis> {
  using type = std::array<typename add_axis<X, N, Axis>::type, M>;
};

template <class X, int Axis>
struct drop_axis;
template <class T, std::int64_t... E, int Axis>
struct drop_axis<array<T, E...>, Axis> {
  static constexpr int axis = normal_axis(Axis, sizeof...(E));
  static constexpr shape value = without_axis(make_shape(E...), axis);
  using type = array_of<T, drop_axis>;
};
template <class S, std::int64_t N>
struct drop_axis<batched<S, N>, 0> {
  using type = S;
};
template <class S, class P, int Axis>
struct drop_axis<placed<S, P>, Axis> {
  using type = placed<typename drop_axis<S, Axis>::type, P>;
};
template <class... X, int Axis>
struct drop_axis<std::tuple<X...>, Axis> {
  using type = std::tuple<typename drop_axis<X, Axis>::type...>;
};
template <class X, class Y, int Axis>
struct drop_axis<std::pair<X, Y>, Axis> {
  using type = std::pair<typename drop_axis<X, Axis>::type, typename drop_axis<Y, Axis>::type>;
};
template <class X, std::size_t M, int Axis>
struct drop_axis<std::array<X, M>, Axis> {
  using type = std::array<typename drop_axis<X, Axis>::type, M>;
};

}  // namespace detail

/// N values of X as one: arrays and tuples of them with one more axis, structs as batched<X, N>.
template <class X, std::int64_t N, int Axis = 0>
using stacked_t = typename detail::add_axis<canonical_t<X>, N, Axis>::type;

}  // namespace drx
