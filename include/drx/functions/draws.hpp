// drx/functions/draws.hpp: random numbers of further distributions, made from uniform ones as in JAX.
#pragma once

#include <drx/functions/argmax.hpp>
#include <drx/functions/log_softmax.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

#include <limits>

namespace drx {

/// Draws from the exponential distribution of rate 1: -log(1 - u), u uniform in [0, 1). For another rate, divide:
/// exponential<float, 3>(key) / rate.
template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> exponential(const K& key) {
  return -log1p(-uniform<T, E...>(key));
}
template <Element T, std::int64_t... E, class K, class Why = decltype(detail::random_misuse<array<T, E...>, K>())>
  requires(detail::RandomOperands<K> && !(detail::Key<K> && std::is_floating_point_v<T>))
Why exponential(const K&) = delete;  // drx: exponential<float, extents...>(key): of a key that random_key, split or fold_in gave; float or double; of a placed key in a map

/// Draws from Gumbel's distribution: -log(-log(u)), u uniform in (0, 1).
template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> gumbel(const K& key) {
  return -log(-log(uniform<T, E...>(key, std::numeric_limits<T>::min(), 1)));
}
template <Element T, std::int64_t... E, class K, class Why = decltype(detail::random_misuse<array<T, E...>, K>())>
  requires(detail::RandomOperands<K> && !(detail::Key<K> && std::is_floating_point_v<T>))
Why gumbel(const K&) = delete;  // drx: gumbel<float, extents...>(key): of a key that random_key, split or fold_in gave; float or double; of a placed key in a map

namespace detail {
/// The Gumbel numbers that are added to logits A for draws of shape E..., or of A's shape without its last axis.
template <class A, std::int64_t... E>
struct category_draws {
  static constexpr shape value = [] {
    shape s = A::shape;
    if constexpr (sizeof...(E) > 0) s = with_last(make_shape(E...), A::shape[A::rank - 1]);
    return s;
  }();
};
template <class A, std::int64_t... E>
concept Logits = SoftmaxOperand<A, -1> && sizeof...(E) < shape::max_rank &&
                 Parameter<A, array_of<typename A::value_type, category_draws<A, E...>>>;
template <class K, class A, std::int64_t... E>
constexpr auto categorical_misuse() {
  if constexpr (Placed<K> || Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Key<K>) {
    return error::needs_a_random_key{};
  } else if constexpr (!SoftmaxOperand<A, -1>) {
    return softmax_misuse<A, -1>();
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
template <class T, class S, class K, int... I>
constexpr auto gumbel_of(const K& key, std::integer_sequence<int, I...>) {
  return gumbel<T, S::value[I]...>(key);
}
}  // namespace detail

/// Class numbers, int32, drawn with probabilities softmax(logits) along the last axis: one for each of the leading
/// axes, or in the shape E..., to which these broadcast.  categorical(key, logits), categorical<100>(key, logits) with
/// one row of logits
template <std::int64_t... E, class K, class A>
  requires(detail::Key<K> && detail::Logits<A, E...>)
constexpr auto categorical(const K& key, const A& logits) {
  using S = detail::category_draws<A, E...>;
  return argmax(detail::gumbel_of<typename A::value_type, S>(key, std::make_integer_sequence<int, S::value.rank>()) +
                logits);
}
template <std::int64_t... E, class K, class A, class Why = decltype(detail::categorical_misuse<K, A, E...>())>
  requires(detail::RandomOperands<K> && (Array<A> || Placed<A>) && !(detail::Key<K> && detail::Logits<A, E...>))
Why categorical(const K&, const A&) = delete;  // drx: categorical<extents...>(key, logits): of a key that random_key, split or fold_in gave; logits of float or double, classes last, whose other axes broadcast to the extents; of placed values in a map

DRX_SILENT(categorical)
DRX_SILENT_OF_TYPE(exponential)
DRX_SILENT_OF_TYPE(gumbel)

}  // namespace drx
