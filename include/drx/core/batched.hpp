// drx/core/batched.hpp: several values of one structure as one value: each leaf has one more axis.
#pragma once

#include <drx/core/structure.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

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

/// Calls f(integral_constant of the number of its first leaf, member) for each member of a struct.
template <class S, class F>
constexpr void for_each_member(const F& f, const S& s) {
  using members = typename structure<S>::members;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    constexpr auto first = [](int member) {
      const int counts[] = {leaf_count<typename members::template type<I>>..., 0};
      int n = 0;
      for (int i = 0; i < member; ++i) n += counts[i];
      return n;
    };
    (f(std::integral_constant<int, first(I)>{}, members::template at<I>(s)), ...);
  }(std::make_integer_sequence<int, members::count>{});
}

template <class X, std::int64_t N, int Axis>
struct add_axis;

}  // namespace detail

/// N values of a user's struct S, leaf by leaf: leaf I is an array with an axis of extent N in front, get<I>(x.leaf).
/// vmap returns it for a struct. x[i] is one of the values, x[&S::w] the member w of all. (Arrays, and tuples of them,
/// take the axis themselves: see stacked_t.)
template <class S, std::int64_t N>
struct batched {
  using element = S;
  static constexpr std::int64_t size = N;
  typename detail::batched_leaves<S, N>::type leaf;

  /// Value i, an S; throws std::out_of_range where there is none. In a traced function i may be traced: index(x, i).
  [[nodiscard]] constexpr traced_t<S> operator[](std::int64_t i) const {
    require_value(i);
    if (detail::is_tracing()) return index(*this, i);
    traced_t<S> one{};
    const leaf_addresses<const void> from(*this);
    structure<S>::visit(one, [&, k = 0](auto* to, const shape& s) mutable {
      const auto* p = static_cast<const std::remove_pointer_t<decltype(to)>*>(from.at[k++]);
      std::copy_n(p + i * s.size(), s.size(), to);
    });
    return one;
  }
  template <class I>
    requires Array<I>
  constexpr auto operator[](const I& i) const {
    return index(*this, i);
  }
  /// The member of all n values by that name: x[&model::w] is an array with the batch's axis in front, or, if the
  /// member is a struct M, a batched<M, n>.
  template <class M>
    requires requires { structure<S>::members::count; }
  [[nodiscard]] constexpr auto operator[](M S::* member) const {
    typename detail::add_axis<M, N, 0>::type all{};
    const S names{};
    detail::for_each_member<S>(
        [&]<int First, class Of>(std::integral_constant<int, First>, const Of& one) {
          if constexpr (std::is_same_v<Of, M>)
            if (&one == &(names.*member)) take<First>(all);
        },
        names);
    return all;
  }
  /// Writes value i, outside programs; throws std::out_of_range where there is none.
  void set(std::int64_t i, const S& value) {
    require_value(i);
    const leaf_addresses<void> to(*this);
    structure<S>::visit(value, [&, k = 0](const auto* from, const shape& s) mutable {
      auto* p = static_cast<std::remove_const_t<std::remove_pointer_t<decltype(from)>>*>(to.at[k++]);
      std::copy_n(from, s.size(), p + i * s.size());
    });
  }

 private:
  static constexpr void require_value(std::int64_t i) {
    if (i >= 0 && i < N) return;
    if (detail::is_tracing()) throw "drx: a batch of n has the values 0 to n - 1";
    throw std::out_of_range("drx: value " + std::to_string(i) + " of a batch of " + std::to_string(N));
  }
  /// The addresses of each leaf's elements.
  template <class Byte>
  struct leaf_addresses {
    Byte* at[leaf_count<S> + 1] = {};
    template <class X>
    constexpr explicit leaf_addresses(X& x) {
      structure<batched>::visit(x, [&, k = 0](auto* p, const shape&) mutable { at[k++] = p; });
    }
  };
  /// The leaves from First on.
  template <int First, class R>
  constexpr void take(R& to) const {
    if (detail::is_tracing()) {
      traced_ref r[leaf_count<S> + 1] = {};
      structure<batched>::refs(*this, r);
      to = structure<R>::bind(r + First);
    } else {
      const leaf_addresses<const void> from(*this);
      structure<R>::visit(to, [&, k = First](auto* p, const shape& s) mutable {
        std::copy_n(static_cast<const std::remove_pointer_t<decltype(p)>*>(from.at[k++]), s.size(), p);
      });
    }
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
  static constexpr void visit(X& x, F&& f) {
    parts::visit(x.leaf, f);
  }
};

namespace detail {

/// The type of N values X, with the new axis at place Axis of each leaf; and the reverse, X without that axis.
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

/// The type of N values X as one value: arrays and tuples of them have one more axis, structs become batched<X, N>.
template <class X, std::int64_t N, int Axis = 0>
using stacked_t = typename detail::add_axis<canonical_t<X>, N, Axis>::type;

}  // namespace drx
