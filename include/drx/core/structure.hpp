// drx/core/structure.hpp: structures (pytrees): how a user's value decomposes into leaves, which are arrays.
#pragma once

#include <drx/core/array.hpp>

#include <array>
#include <tuple>
#include <utility>

namespace drx {

/// The traits of a type X that may stand wherever a value may. Specialised here for elements, arrays, placed values,
/// std::tuple, std::pair and std::array, and in drx/ext/hana.hpp for adapted structs and hana::tuple. Members:
///   leaves     the number of its leaves
///   canonical  X with scalars as arrays of rank 0
///   traced     its type inside a traced lambda
///   host       its type as a result of a running program (scalars as plain numbers)
///   types(out)          the abstract value of each leaf
///   refs(x, out)        the leaves' references of a traced x
///   bind(in) -> traced  the traced value made of references
///   visit(x, f)         at run time: calls f(pointer to the leaf's elements, shape) for each leaf of x
template <class X>
struct structure;

/// A type whose values decompose into leaves: an element, an array, a placed value, a tuple or adapted struct of these.
template <class X>
concept Structured = requires { structure<std::remove_cvref_t<X>>::leaves; };

/// The number of leaves of a value of type X.
template <Structured X>
inline constexpr int leaf_count = structure<std::remove_cvref_t<X>>::leaves;
/// The type of a value of X inside a traced lambda.
template <Structured X>
using traced_t = typename structure<std::remove_cvref_t<X>>::traced;
/// X with its numbers as arrays of rank 0.
template <Structured X>
using canonical_t = typename structure<std::remove_cvref_t<X>>::canonical;
/// The type that a running program returns for a value of X: arrays of rank 0 are plain numbers, placed values
/// drx::partitions.
template <Structured X>
using host_t = typename structure<std::remove_cvref_t<X>>::host;

/// A user's struct under trace. It adds only the namespace, so that `a - rate * b` finds drx's operators.
template <class S>
struct value : S {};

template <Element T>
struct structure<T> {
  static constexpr int leaves = 1;
  using canonical = array<T>;
  using traced = array<T>;
  using host = T;
  static constexpr void types(abstract_value* out) { *out = {dtype_of<T>, {}}; }
  static constexpr void refs(T x, traced_ref* out) {
    out->what = traced_ref::kind::splat;
    out->from.number = static_cast<double>(x);
  }
  static constexpr traced bind(const traced_ref* in) { return traced(*in); }
  template <class X, class F>
  static constexpr void visit(X& x, F&& f) {
    f(&x, drx::shape{});
  }
};

template <class T, std::int64_t... E>
struct structure<array<T, E...>> {
  static constexpr int leaves = 1;
  using canonical = array<T, E...>;
  using traced = array<T, E...>;
  using host = std::conditional_t<sizeof...(E) == 0, T, array<T, E...>>;
  static constexpr void types(abstract_value* out) { *out = {dtype_of<T>, canonical::shape}; }
  static constexpr void refs(const canonical& x, traced_ref* out) { *out = x.ref(); }
  static constexpr traced bind(const traced_ref* in) { return traced(*in); }
  template <class X, class F>
  static constexpr void visit(X& x, F&& f) {
    f(x.data(), canonical::shape);
  }
};

/// One value of S per member of P. While traced it holds one reference per leaf; at run time drx::partitions holds the
/// partitions (drx/run/data/partitions.hpp).
template <class S, class P>
struct placed {
  static_assert(Structured<S>, "drx::placed<S, P>: S is not a structure of arrays");
  static_assert(Placement<P>, "drx::placed<S, P>: P is not a placement (struct P : drx::placement<P> {})");
  using member = S;
  using placement = P;
  traced_ref leaf[leaf_count<S> > 0 ? leaf_count<S> : 1] = {};
};

template <class S, class P>
class partitions;  // drx/run/data/partitions.hpp

template <class S, class P>
struct structure<placed<S, P>> {
  static constexpr int leaves = leaf_count<S>;
  using canonical = placed<canonical_t<S>, P>;
  using traced = placed<canonical_t<S>, P>;
  using host = partitions<canonical_t<S>, P>;
  static constexpr void types(abstract_value* out) {
    structure<S>::types(out);
    for (int i = 0; i < leaves; ++i) out[i] = out[i].placed_at(&placement_of<P>);
  }
  static constexpr void refs(const placed<S, P>& x, traced_ref* out) {
    for (int i = 0; i < leaves; ++i) out[i] = x.leaf[i];
  }
  static constexpr traced bind(const traced_ref* in) {
    traced x;
    for (int i = 0; i < leaves; ++i) x.leaf[i] = in[i];
    return x;
  }
};

namespace detail {

// Structures that are rebuilt from their parts: std::tuple, std::pair, hana::tuple. `Get` reads part I.
template <template <class...> class Tuple, class Get, class... X>
struct tuple_structure {
  static constexpr int leaves = (leaf_count<X> + ... + 0);
  static constexpr std::array<int, sizeof...(X)> offset = [] {  // the number of each part's first leaf
    std::array<int, sizeof...(X)> at{};
    int next = 0;
    std::size_t i = 0;
    ((at[i++] = next, next += leaf_count<X>), ...);
    return at;
  }();
  using parts = std::tuple<canonical_t<X>...>;
  using canonical = Tuple<canonical_t<X>...>;
  using traced = Tuple<traced_t<X>...>;
  using host = Tuple<host_t<X>...>;
  static constexpr void types([[maybe_unused]] abstract_value* out) {
    ((structure<X>::types(out), out += leaf_count<X>), ...);
  }
  template <class V>
  static constexpr void refs(const V& x, traced_ref* out) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((structure<X>::refs(Get::template at<I>(x), out), out += leaf_count<X>), ...);
    }(std::index_sequence_for<X...>{});
  }
  static constexpr traced bind([[maybe_unused]] const traced_ref* in) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return traced{structure<X>::bind(in + offset[I])...};
    }(std::index_sequence_for<X...>{});
  }
  template <class V, class F>
  static constexpr void visit(V& x, F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (structure<X>::visit(Get::template at<I>(x), f), ...);
    }(std::index_sequence_for<X...>{});
  }
};

struct std_get {
  template <std::size_t I, class V>
  static constexpr decltype(auto) at(V& x) {
    return std::get<I>(x);
  }
};

}  // namespace detail

template <Structured... X>
struct structure<std::tuple<X...>> : detail::tuple_structure<std::tuple, detail::std_get, X...> {};
template <Structured X, Structured Y>
struct structure<std::pair<X, Y>> : detail::tuple_structure<std::pair, detail::std_get, X, Y> {};

template <Structured X, std::size_t N>
struct structure<std::array<X, N>> {
  static constexpr int leaves = static_cast<int>(N) * leaf_count<X>;
  using canonical = std::array<canonical_t<X>, N>;
  using traced = std::array<traced_t<X>, N>;
  using host = std::array<host_t<X>, N>;
  static constexpr void types(abstract_value* out) {
    for (std::size_t i = 0; i < N; ++i, out += leaf_count<X>) structure<X>::types(out);
  }
  template <class V>
  static constexpr void refs(const V& x, traced_ref* out) {
    for (std::size_t i = 0; i < N; ++i, out += leaf_count<X>) structure<X>::refs(x[i], out);
  }
  static constexpr traced bind(const traced_ref* in) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return traced{structure<X>::bind(in + static_cast<int>(I) * leaf_count<X>)...};
    }(std::make_index_sequence<N>{});
  }
  template <class V, class F>
  static constexpr void visit(V& x, F&& f) {
    for (auto& part : x) structure<X>::visit(part, f);
  }
};

template <class S>
struct structure<value<S>> : structure<S> {};

// A reported misuse passes as a structure without leaves, so that it is not reported again.
template <error::Reported X>
struct structure<X> {
  static constexpr int leaves = 0;
  using canonical = X;
  using traced = X;
  using host = X;
  static constexpr void types(abstract_value*) {}
  static constexpr void refs(const X&, traced_ref*) {}
  static constexpr traced bind(const traced_ref*) { return {}; }
  template <class V, class F>
  static constexpr void visit(V&, F&&) {}
};
namespace error {
template <class... X>
inline constexpr bool is_reported<std::tuple<X...>> = AnyReported<X...>;
template <class X, class Y>
inline constexpr bool is_reported<std::pair<X, Y>> = AnyReported<X, Y>;
template <class X, std::size_t N>
inline constexpr bool is_reported<std::array<X, N>> = Reported<X>;
template <class S, class P>
inline constexpr bool is_reported<placed<S, P>> = Reported<S>;
}  // namespace error

namespace detail {

// Adds to F's own call operators, whatever they are, one that takes all other arguments. That tells three cases apart:
// the call is well-formed; it is not (in the function's body, and the compiler has said so); or no operator of F takes
// it.
template <class F>
struct or_no_match : F {
  using F::operator();
  error::function_does_not_take_these_arguments operator()(...) const;
};
template <class F, class... X>
constexpr auto call_result() {
  if constexpr (sizeof...(X) > 0 && std::is_class_v<F> && !std::is_final_v<F>) {
    if constexpr (requires(const or_no_match<F>& f) { f(std::declval<X>()...); }) {
      using R = decltype(std::declval<const or_no_match<F>&>()(std::declval<X>()...));
      if constexpr (error::is_unsaid<R> && requires { F::template misuse<X...>(); }) {
        return std::type_identity<error::refused<decltype(F::template misuse<X...>())>>{};
      } else if constexpr (error::is_number_of_std<R, F, X...>) {
        return std::type_identity<error::reported>{};
      } else {
        return std::type_identity<R>{};
      }
    } else {
      return std::type_identity<error::reported>{};
    }
  } else if constexpr (requires(const F& f) { f(std::declval<X>()...); }) {
    return std::type_identity<decltype(std::declval<const F&>()(std::declval<X>()...))>{};
  } else {
    return std::type_identity<error::function_does_not_take_these_arguments>{};
  }
}
/// The type that f returns for arguments of types X. It is an error::Reported type where the compiler has complained
/// about f's body, and error::function_does_not_take_these_arguments or error::refused where it has not, and should.
template <class F, class... X>
using call_result_type = decltype(call_result<F, X...>());
template <class F, class... X>
using call_result_t = typename call_result_type<F, X...>::type;

/// Tag: the call is well-formed.
struct no_misuse {};

/// The result type of an array operation some of whose arguments are not arrays (a misuse).
template <class... X>
struct not_arrays {
  static constexpr auto misuse() {
    if constexpr ((Placed<X> || ...)) {
      return error::array_operation_on_a_placed_value{};
    } else {
      return error::not_a_value_of_drx{};
    }
  }
};

/// A constraint that makes a call operator unusable and says why: clang 14 complains twice about a deleted one.
template <class Why>
concept NoMisuse = !error::Reported<Why>;

/// Whether R, which a traced function returned, is a value of drx. True where the compiler has complained already.
template <class R>
concept TracedResult = Structured<R> && !error::is_unsaid<R>;

/// The reason why X is no value of drx; its structure may name one (an adapted struct's does).
template <class X>
struct refusal {
  static constexpr bool sized = requires { std::tuple_size<X>::value; };
  using type = std::conditional_t<std::is_aggregate_v<X> && std::is_class_v<X> && !sized, error::struct_is_not_adapted,
                                  error::not_a_value_of_drx>;
};
template <class X>
  requires requires { typename structure<X>::why; }
struct refusal<X> {
  using type = typename structure<X>::why;
};
template <error::Reported X>
struct refusal<X> {
  using type = X;
};
template <class Why>
struct refusal<error::refused<Why>> {
  using type = Why;
};
template <class R>
constexpr auto result_misuse() {
  if constexpr (TracedResult<R>) {
    return no_misuse{};
  } else {
    return typename refusal<R>::type{};
  }
}

}  // namespace detail

/// The abstract values of all leaves of X.
template <Structured X>
struct leaf_types {
  abstract_value value[leaf_count<X> > 0 ? leaf_count<X> : 1];
  constexpr leaf_types() { structure<std::remove_cvref_t<X>>::types(value); }
  constexpr const abstract_value& operator[](int i) const { return value[i]; }
};

/// Whether all leaves of X are floating.
template <Structured X>
inline constexpr bool all_floating = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (!is_floating(t[i].type)) return false;
  return true;
}();
namespace detail {
template <class X>
inline constexpr bool all_unplaced = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (t[i].depth > 0) return false;
  return true;
}();
template <class X>
inline constexpr bool all_numbers = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (t[i].type == dtype::boolean) return false;
  return true;
}();
}  // namespace detail

}  // namespace drx
