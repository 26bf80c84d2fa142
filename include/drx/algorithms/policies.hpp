// drx/algorithms/policies.hpp: reductions whose members send less, or less that is their own: quantised, sparse, clipped
// with noise, masked. What travels is as dense as ever: these compute what a transport with fewer bytes would.
//
// Tested by tests/unit/algorithms/policies.cpp.
#pragma once

#include <drx/algorithms/optimizers.hpp>
#include <drx/functions/draws.hpp>
#include <drx/functions/tree_map.hpp>
#include <drx/primitives/catalogue.hpp>

namespace drx {
namespace detail {
/// The mean of what `send` makes of each member's value and what it kept before; and what each keeps now.
template <class F, class X, class E>
constexpr auto mean_with_error_feedback(const F& send, const X& x, const E& kept) {
  auto member = [=](auto value, auto error) {
    const auto wanted = value + error;
    const auto sent = drx::tree_map(send, wanted);
    return std::pair{sent, wanted - sent};
  };
  auto [sent, next] = drx::map(member, x, kept);
  return std::pair{drx::reduce_mean(sent), next};
}
/// f of each leaf and a key of the leaf's own.
template <class F, class K, class X>
constexpr auto with_keys(const F& f, const K& key, const X& x) {
  int leaf = 0;  // tree_map goes from the first leaf to the last
  return drx::tree_map([&](auto a) { return f(a, drx::fold_in(key, leaf++)); }, x);
}
/// Why members of X cannot be reduced with a policy; `no_misuse` if they can.
template <class X>
constexpr auto policy_misuse() {
  if constexpr (!Placed<X>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (!all_unplaced<typename X::member>) {
    return error::reduce_the_inner_placement_first{};
  } else if constexpr (!all_floating<typename X::member>) {
    return error::needs_floating_values{};
  } else {
    return no_misuse{};
  }
}
/// The same, with what the members kept.
template <class X, class E>
constexpr auto feedback_misuse() {
  if constexpr (!std::is_same_v<decltype(policy_misuse<X>()), no_misuse>) {
    return policy_misuse<X>();
  } else {
    return std::conditional_t<std::is_same_v<canonical_t<X>, canonical_t<E>>, no_misuse, error::structures_differ>{};
  }
}
/// The same, with a random key.
template <class X, class K>
constexpr auto keyed_misuse() {
  if constexpr (!std::is_same_v<decltype(policy_misuse<X>()), no_misuse>) {
    return policy_misuse<X>();
  } else {
    return std::conditional_t<Key<K>, no_misuse, error::needs_a_random_key>{};
  }
}
template <class Why>
concept Allowed = std::is_same_v<Why, no_misuse>;
template <class... X>
concept PolicyOperands = (Structured<X> && ...) && !error::AnyReported<X...>;
template <class T, class A, class K, int... I>
constexpr auto normal_like(const K& key, std::integer_sequence<int, I...>) {
  return drx::normal<T, A::shape[I]...>(key);
}
template <class A, class K, int... I>
constexpr auto bits_like(const K& key, std::integer_sequence<int, I...>) {
  return drx::random_bits<std::int32_t, A::shape[I]...>(key);
}
/// Whole numbers as multiples of `unit`, as floating values of the type of X's first leaf.
template <class X, class W>
constexpr auto in_units(const W& whole, double unit) {
  return drx::tree_map([=](auto a) { return drx::cast<element_t<first_type<X>>>(a) * unit; }, whole);
}
}  // namespace detail

/// The mean over members of x + kept, each leaf rounded to 255 levels between minus and plus its largest element; and
/// what rounding left out, the next `kept` (Seide et al. 2014; Karimireddy et al. 2019). The derivative is that of the
/// mean without rounding (straight through).
///     auto [mean, next_kept] = reduce_mean_quantised(gradients, kept)
template <class X, class E>
  requires(detail::PolicyOperands<X, E> && detail::Allowed<decltype(detail::feedback_misuse<X, E>())>)
constexpr auto reduce_mean_quantised(const X& x, const E& kept) {
  auto send = [](auto a) {
    const auto largest = drx::max(drx::reshape<decltype(a)::size>(drx::abs(a)));
    const auto least = drx::where(largest / 127 > 0, largest / 127, 1);  // of zeros, and where the quotient underflows
    const auto unit = drx::where(drx::isnan(largest), largest, least);
    return a + drx::stop_gradient(drx::round(a / unit) * unit - a);
  };
  return detail::mean_with_error_feedback(send, x, kept);
}
template <class X, class E, class Why = decltype(detail::feedback_misuse<X, E>())>
  requires(detail::PolicyOperands<X, E> && !detail::Allowed<Why>)
Why reduce_mean_quantised(const X&, const E&) = delete;  // drx: reduce_mean_quantised(x, kept): both placed, of one type, with floating members

/// The mean over members of the K elements of largest magnitude of each leaf of x + kept, the others 0; and what was
/// left out, the next `kept` (Stich et al. 2018). Elements as large as the K-th are all taken, and so is NaN. The
/// derivative is that of the elements taken.
///     auto [mean, next_kept] = reduce_mean_top<100>(gradients, kept)
template <int K, class X, class E>
  requires(K > 0 && detail::PolicyOperands<X, E> && detail::Allowed<decltype(detail::feedback_misuse<X, E>())>)
constexpr auto reduce_mean_top(const X& x, const E& kept) {
  auto send = [](auto a) {
    constexpr auto n = decltype(a)::size;
    if constexpr (K >= n) {
      return a;
    } else {
      const auto least = drx::index<n - K>(drx::sort(drx::reshape<n>(drx::abs(a))));
      return drx::where(drx::abs(a) < least, 0, a);
    }
  };
  return detail::mean_with_error_feedback(send, x, kept);
}
template <int K, class X, class E,
          class Why = std::conditional_t<(K > 0), decltype(detail::feedback_misuse<X, E>()), error::slice_out_of_range>>
  requires(detail::PolicyOperands<X, E> && !detail::Allowed<Why>)
Why reduce_mean_top(const X&, const E&) = delete;  // drx: reduce_mean_top<K>(x, kept): K elements at least 1; both placed, of one type, with floating members

/// The sum over members of x, each clipped to a norm of `limit`, plus Gaussian noise of standard deviation
/// noise * limit (Abadi et al. 2016). Who sees one result learns of one member what an accountant says for this noise
/// multiplier; use each key once. The derivative is exact.
///     reduce_sum_private(gradients, key, 1.0, 1.1)
template <class X, class K>
  requires(detail::PolicyOperands<X, K> && detail::Allowed<decltype(detail::keyed_misuse<X, K>())>)
constexpr auto reduce_sum_private(const X& x, const K& key, double limit, double noise) {
  const auto sum = drx::reduce_sum(drx::map([=](auto g) { return drx::clip_by_global_norm(g, limit); }, x));
  auto noisy = [=](auto a, auto k) {
    using A = decltype(a);
    return a + noise * limit *
                   detail::normal_like<typename A::value_type, A>(k, std::make_integer_sequence<int, A::rank>());
  };
  return detail::with_keys(noisy, key, sum);
}
template <class X, class K, class Why = decltype(detail::keyed_misuse<X, K>())>
  requires(detail::PolicyOperands<X, K> && !detail::Allowed<Why>)
Why reduce_sum_private(const X&, const K&, double, double) = delete;  // drx: reduce_sum_private(x, key, limit, noise): x placed with floating members, an unplaced key of random_key, split or fold_in

/// The sum over members of x, as multiples of 1 / scale: each member adds to its whole numbers the masks of the
/// `Neighbours` pairs in which it is first, and takes away those of the pairs in which it is second; the members stand
/// in a ring (Bonawitz et al. 2017; on a sparse graph Bell et al. 2020). Whole numbers wrap, so that the masks cancel
/// exactly; sums beyond 2^31 / scale wrap too, values beyond it saturate, and NaN counts as 0, since whole numbers have
/// none. Here all members know the one key: this computes what the protocol computes and hides nothing from them. The
/// derivative is 0.
///     reduce_sum_masked<3>(gradients, key, 65536.)
template <int Neighbours, class X, class K>
  requires(Neighbours >= 0 && detail::PolicyOperands<X, K> && detail::Allowed<decltype(detail::keyed_misuse<X, K>())>)
constexpr auto reduce_sum_masked(const X& x, const K& key, double scale) {
  using P = typename X::placement;
  const auto numbers = drx::partition_index<P>();
  const auto members = drx::broadcast<P>(drx::reduce_sum(drx::map([](auto i) { return 0 * i + 1; }, numbers)));
  auto member = [=](auto value, auto i, auto n) {
    auto mask = [=](auto a, auto k) {
      using A = decltype(a);
      auto whole = drx::cast<std::int32_t>(drx::round(a * scale));
      auto of_pair = [=](int distance, auto first) {
        return detail::bits_like<A>(drx::fold_in(drx::fold_in(k, distance), drx::cast<std::int32_t>(first)),
                                    std::make_integer_sequence<int, A::rank>());
      };
      for (int d = 1; d <= Neighbours; ++d) whole = whole + of_pair(d, i) - of_pair(d, (i + (n - d % n)) % n);
      return whole;
    };
    return detail::with_keys(mask, key, value);
  };
  const auto total = drx::reduce_sum(drx::map(member, x, numbers, members));
  return detail::in_units<typename X::member>(total, 1 / scale);
}
template <int Neighbours, class X, class K,
          class Why =
              std::conditional_t<(Neighbours >= 0), decltype(detail::keyed_misuse<X, K>()), error::slice_out_of_range>>
  requires(detail::PolicyOperands<X, K> && !detail::Allowed<Why>)
Why reduce_sum_masked(const X&, const K&, double) = delete;  // drx: reduce_sum_masked<Neighbours>(x, key, scale): Neighbours at least 0; x placed with floating members, an unplaced key of random_key, split or fold_in

DRX_SILENT(reduce_mean_quantised)
DRX_SILENT(reduce_mean_top)
DRX_SILENT(reduce_sum_private)
DRX_SILENT(reduce_sum_masked)

}  // namespace drx
