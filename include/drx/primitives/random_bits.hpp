// drx/primitives/random_bits.hpp: keys of random numbers, keys made from keys, and bits. A key hashes the positions 0,
// 1, 2, ... as JAX does with jax_threefry_partitionable, its default: number i of a key does not depend on how many are
// drawn. There is no unsigned element type: words of 32 bits are held in int32, those of 64 in int64.
#pragma once

#include <drx/primitives/cast.hpp>
#include <drx/primitives/constant.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/where.hpp>
#include <drx/scalar/threefry.hpp>
#include <drx/tracing/values.hpp>

namespace drx {

/// A key of random numbers: two words, opaque. random_key makes one, split and fold_in make more. Draw with a key once.
using prng_key = array<std::int32_t, 2>;

namespace prim::rules {
/// The operand is a key, or keys along leading axes, which the result has too.
struct random_bits {
  enum kind : std::int8_t { bits32, bits64, keys };  // keys: both words, along a last axis
  struct view {                                      // ints: {what, extents...}
    kind what;
    int_list extents;
    constexpr explicit view(int_list a) : what(static_cast<kind>(a[0])), extents(a.from(1)) {}
  };
  static constexpr word_pair key_from(const std::int32_t* words) {
    return {static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
  }
  static constexpr void require_key(const typing& t) {
    const abstract_value& key = t.operands[0];
    typing::require(key.depth == 0 && key.type == dtype::int32 && key.shape.rank > 0 && key.shape.last() == 2,
                    "random numbers: not a key");
  }
  /// Writes number i of a key, which are words[i], or words[2 i] and words[2 i + 1] of keys.
  template <kind What, class T>
  DRX_INLINE static constexpr void write(word_pair key, std::uint64_t i, T* words) {
    const word_pair h = threefry2x32(key, words_of(i));
    if constexpr (What == bits32) {
      words[i] = static_cast<std::int32_t>(h.first ^ h.second);
    } else if constexpr (What == bits64) {
      words[i] = static_cast<std::int64_t>(std::uint64_t{h.first} << 32 | h.second);
    } else {
      words[2 * i] = static_cast<std::int32_t>(h.first);
      words[2 * i + 1] = static_cast<std::int32_t>(h.second);
    }
  }

  static constexpr vec<abstract_value> type(const typing& t) {
    require_key(t);
    const shape key = t.operands[0].shape;
    shape s;
    for (int i = 0; i + 1 < key.rank; ++i) s.push_back(key[i]);
    const view drawn(t.attrs);
    for (auto n : drawn.extents) s.push_back(n);
    if (drawn.what == keys) s.push_back(2);
    return {abstract_value(drawn.what == bits64 ? dtype::int64 : dtype::int32, s)};
  }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static std::string print(const attributes& a) {
    constexpr const char* names[] = {"32 bits", "64 bits", "keys"};
    const view drawn(a);
    return names[drawn.what] + std::string(drawn.extents.size() > 0 ? ": " : "") + list_of(drawn.extents);
  }
  template <kind What, class T>
  static void evaluate_as(evaluation& v) {
    const std::int64_t several = v.in[0]->size() / 2, all = v.out[0].size(), each = several == 0 ? 0 : all / several;
    for (std::int64_t k = 0; k < several; ++k)
      for (std::int64_t i = 0; i < (What == keys ? each / 2 : each); ++i)
        write<What>(key_from(v.in[0]->data<std::int32_t>() + 2 * k), static_cast<std::uint64_t>(i),
                    v.out[0].data<T>() + k * each);
  }
  static void evaluate(evaluation& v) {
    switch (view(v.e).what) {
      case bits32: return evaluate_as<bits32, std::int32_t>(v);
      case bits64: return evaluate_as<bits64, std::int64_t>(v);
      default: return evaluate_as<keys, std::int32_t>(v);
    }
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive random_bits{.name = "random_bits",
                                       .type = rules::random_bits::type,
                                       .jvp = rules::random_bits::jvp,
                                       .vjp = rules::random_bits::vjp,
                                       .batch = rules::random_bits::batch,
                                       .print = rules::random_bits::print,
                                       .evaluate = rules::random_bits::evaluate,
                                       .known = rules::known::nothing,
                                       .split = rules::split::whole};
}

namespace emit {
constexpr int random_bits(builder& b, int key, prim::rules::random_bits::kind what, const shape& s) {
  attributes a;
  a.ints = {what};
  for (int i = 0; i < s.rank; ++i) a.ints.push_back(s[i]);
  return b.add1(prim::random_bits, {key}, a);
}
}  // namespace emit

namespace detail {
template <class K>
concept Key = std::is_same_v<K, prng_key>;
template <class K>
using not_a_key_t = std::conditional_t<Placed<K>, error::array_operation_on_a_placed_value, error::needs_a_random_key>;
template <class K>
concept NotKey = (Array<K> || Literal<K> || Placed<K>) && !Key<K>;
template <class K>
concept SeedArray =
    ScalarArray<K> && std::is_integral_v<typename K::value_type> && !std::is_same_v<typename K::value_type, bool>;
template <class A>
using not_a_seed_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_integer_values>;
}  // namespace detail

/// The key of a seed, equal to JAX's. Outside a program it is an array that can be an argument of one.
constexpr prng_key random_key(std::int64_t seed) {
  const word_pair w = words_of(static_cast<std::uint64_t>(seed));
  if (!detail::is_tracing()) return {static_cast<std::int32_t>(w.first), static_cast<std::int32_t>(w.second)};
  traced_ref r;
  r.what = traced_ref::kind::seed;
  r.from.seed = seed;
  return prng_key(r);
}
/// The key of a seed that is known at run time, an int32 or int64.
template <class A>
  requires detail::SeedArray<A>
constexpr prng_key random_key(const A& seed) {
  const auto low = cast<std::int32_t>(seed);  // (wraps)
  if constexpr (std::is_same_v<typename A::value_type, std::int32_t>) {
    return stack(low * 0, low);
  } else {
    constexpr std::int64_t words = std::int64_t{1} << 32;
    const auto unsigned_low = cast<std::int64_t>(low) + where(low < 0, full<array<std::int64_t>>(words), 0);
    return stack(cast<std::int32_t>((seed - unsigned_low) / words), low);
  }
}
template <class A, class Why = detail::not_a_seed_t<A>>
  requires((Array<A> || Placed<A>) && !detail::SeedArray<A>)
Why random_key(const A&) = delete;  // drx: of a whole number: random_key(42), or of an int32 or int64 without axes; of a placed value in a map

/// N new keys, one in each row. Do not use the old one again.  index<0>(split<2>(key))
template <std::int64_t N = 2, class K>
  requires(detail::Key<K> && N >= 0)
constexpr auto split(const K& key) {
  return detail::unary<array<std::int32_t, N, 2>>(
      key, [](builder& b, int id) { return emit::random_bits(b, id, prim::rules::random_bits::keys, make_shape(N)); });
}
template <std::int64_t N = 2, class K, class Why = detail::not_a_key_t<K>>
  requires detail::NotKey<K>
Why split(const K&) = delete;  // drx: split<n>(key): of a key that random_key(seed), index<i>(split<n>(key)) or fold_in(key, i) gave; of a placed key in a map

/// An array of random bits, 32 in each int32 or 64 in each int64: jax.random.bits, as signed numbers.
/// random_bits<std::int32_t, 3, 4>(key)
template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>))
constexpr auto random_bits(const K& key) {
  using R = array<T, E...>;
  constexpr auto what =
      std::is_same_v<T, std::int32_t> ? prim::rules::random_bits::bits32 : prim::rules::random_bits::bits64;
  return detail::unary<R>(key, [](builder& b, int id) { return emit::random_bits(b, id, what, R::shape); });
}
template <class T, std::int64_t... E, class K, class Why = detail::not_a_key_t<K>>
  requires detail::NotKey<K>
Why random_bits(const K&) = delete;  // drx: random_bits<std::int32_t, extents...>(key): of a key that random_key(seed), index<i>(split<n>(key)) or fold_in(key, i) gave; of a placed key in a map
template <class T, std::int64_t... E, class K, class Why = error::needs_integer_values>
  requires(detail::Key<K> && !std::is_same_v<T, std::int32_t> && !std::is_same_v<T, std::int64_t>)
Why random_bits(const K&) = delete;  // drx: random_bits<std::int32_t, extents...>(key) or random_bits<std::int64_t, extents...>(key); floating numbers are uniform<T, extents...>(key)

DRX_SILENT(random_key)
DRX_SILENT(split)
DRX_SILENT_OF_TYPE(random_bits)

}  // namespace drx
