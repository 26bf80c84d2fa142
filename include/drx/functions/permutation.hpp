// drx/functions/permutation.hpp: the numbers 0 ... N-1 in a random order: sorted by random bits. A composition.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
/// How often N numbers are sorted by 32 random bits, so that equal bits, which keep their order, hardly matter: JAX's
/// rule, the least n with (2^32 - 1)^n >= N^3.
constexpr int permutation_rounds(double n) {
  int rounds = 0;
  for (double reach = 1; reach < n * n * n; reach *= 4294967295.0) ++rounds;
  return rounds;
}
/// Bits as numbers in unsigned order.
template <std::int64_t N>
constexpr auto unsigned_bits(const prng_key& key) {
  const auto bits = random_bits<std::int32_t, N>(key);
  return cast<std::int64_t>(bits) + where(bits < 0, full<array<std::int64_t, N>>(std::int64_t{1} << 32), 0);
}
template <int Rounds, std::int64_t N>
constexpr array<std::int32_t, N> shuffled(const prng_key& key, const array<std::int32_t, N>& x) {
  if constexpr (Rounds == 0) {
    return x;
  } else {
    const auto keys = split<2>(key);
    return shuffled<Rounds - 1, N>(index<0>(keys), take<0>(x, argsort(unsigned_bits<N>(index<1>(keys)))));
  }
}
}  // namespace detail

/// The numbers 0 ... N-1, int32, in a random order: jax.random.permutation(key, N).
template <std::int64_t N, class K>
  requires(detail::Key<K> && N > 0)
constexpr array<std::int32_t, N> permutation(const K& key) {
  constexpr int rounds = detail::permutation_rounds(static_cast<double>(N));
  if constexpr (rounds == 0) {
    tracing_builder& b = detail::tape_of(detail::ref_of(key));
    return array<std::int32_t, N>(detail::at(b, emit::iota(b, {dtype::int32, make_shape(N)}, 0)));
  } else {  // the first order is that of the sorted bits itself
    const auto keys = split<2>(key);
    return detail::shuffled<rounds - 1, N>(index<0>(keys), argsort(detail::unsigned_bits<N>(index<1>(keys))));
  }
}
template <std::int64_t N, class K, class Why = detail::not_a_key_t<K>>
  requires detail::NotKey<K>
Why permutation(const K&) = delete;  // drx: permutation<n>(key): of a key that random_key(seed), index<i>(split<n>(key)) or fold_in(key, i) gave; of a placed key in a map

DRX_SILENT(permutation)

}  // namespace drx
