// drx/primitives/uniform.hpp: random numbers of a distribution: elementwise operations, which fuse, make them from
// bits. The numbers are JAX's for the same key. No derivative passes into the bits; derivatives pass to bounds and
// scales as in any arithmetic.
#pragma once

#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/constant.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/erfinv.hpp>
#include <drx/primitives/random_bits.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

#include <cmath>

namespace drx {
namespace prim {
namespace rows {
struct unit_interval : not_differentiable {  // the highest bits as mantissa of a number in [1, 2), less 1
  static constexpr const char* name = "unit_interval";
  static constexpr int arity = 1;
  static constexpr known_value known(const known_value&) { return finite_and_not_negative(); }
  static constexpr bool accepts(dtype t, int) { return is_integer(t); }
  static constexpr dtype result(dtype t) { return t == dtype::int32 ? dtype::float32 : dtype::float64; }
  DRX_INLINE static constexpr float apply(std::int32_t bits) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) >> 9 | 0x3f800000U) - 1.0F;
  }
  DRX_INLINE static constexpr double apply(std::int64_t bits) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(bits) >> 12 | 0x3ff0000000000000U) - 1.0;
  }
  template <class T>
  static auto reference(T bits) {
    using R = std::conditional_t<std::is_same_v<T, std::int32_t>, float, double>;
    constexpr int digits = std::is_same_v<R, float> ? 23 : 52;
    return std::ldexp(static_cast<R>(static_cast<std::make_unsigned_t<T>>(bits) >> (8 * sizeof(T) - digits)), -digits);
  }
};
}  // namespace rows
inline constexpr primitive unit_interval = elementwise_primitive<rows::unit_interval>();
template <>
struct row_of<&unit_interval> : rows::unit_interval {};
}  // namespace prim

namespace patterns {
constexpr double number(const definitions& d, int v, double otherwise) {
  const entry* e = d.of(behind(d, v, prim::broadcast_to));
  return e && e->prim == &prim::constant ? e->attrs.number : otherwise;
}
constexpr bool is_of_uniform(const definitions& d, const entry& e) {
  const entry* sum = d.of(e.operands[0]);
  const entry* wide = sum && sum->prim == &prim::add ? d.of(sum->operands[0]) : nullptr;
  const entry* u = wide && wide->prim == &prim::mul ? d.of(wide->operands[0]) : nullptr;
  if (!u || u->prim != &prim::unit_interval) return false;
  const double low = number(d, sum->operands[1], -1), width = number(d, wide->operands[1], 2);
  return low > -1 && width >= 0 && low + width <= 1;
}
}  // namespace patterns

namespace detail {
/// Uniform numbers in [0, 1). The key may be a constant if one of `beside` is traced.
template <class T, std::int64_t... E, class... X>
constexpr array<T, E...> unit_interval(const prng_key& key, const X&... beside) {
  constexpr auto what = std::is_same_v<T, float> ? prim::rules::random_bits::bits32 : prim::rules::random_bits::bits64;
  tracing_builder& b = tape_of(ref_of(key), ref_of(beside)...);
  return array<T, E...>(
      at(b, b.add1(prim::unit_interval, {emit::random_bits(b, id_on(b, key), what, array<T, E...>::shape)})));
}

// Whether X, an array of T or a literal, broadcasts to the shape of A.
template <class X, class A>
concept Parameter = Compatible<A, X> && std::is_same_v<binary_result<A, X>, A>;
template <class A, class K, class... X>
constexpr auto random_misuse() {
  if constexpr (Placed<K> || (Placed<X> || ...)) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Key<K>) {
    return error::needs_a_random_key{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (!(std::is_same_v<mismatch_t<A, X>, no_misuse> && ...)) {
    return std::conditional_t<(std::is_same_v<mismatch_t<A, X>, error::element_types_differ> || ...),
                              error::element_types_differ, error::shapes_do_not_broadcast>{};
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
template <class K, class... X>
concept RandomOperands = (Array<K> || Placed<K> || Literal<K>) && ((ArrayOrLiteral<X> || Placed<X>) && ...);
}  // namespace detail

/// Uniform numbers in [low, high), low <= high; the bounds are arrays of T that broadcast to E..., or numbers.
/// uniform<float, 3, 4>(key, -1, 1)
template <class T, std::int64_t... E, class K, class L, class H>
  requires(detail::Key<K> && std::is_floating_point_v<T> && detail::Parameter<L, array<T, E...>> &&
           detail::Parameter<H, array<T, E...>>)
constexpr array<T, E...> uniform(const K& key, const L& low, const H& high) {
  const auto u = detail::unit_interval<T, E...>(key, low, high);
  if constexpr (detail::Literal<L> && detail::Literal<H>) {
    return u * (static_cast<T>(high) - static_cast<T>(low)) + low;
  } else {
    return u * (high - low) + low;
  }
}
/// Uniform numbers in [0, 1).
template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> uniform(const K& key) {
  return detail::unit_interval<T, E...>(key);
}
template <Element T, std::int64_t... E, class K, class... X,
          class Why = decltype(detail::random_misuse<array<T, E...>, K, X...>())>
  requires(detail::RandomOperands<K, X...> && (sizeof...(X) == 0 || sizeof...(X) == 2) &&
           !(detail::Key<K> && std::is_floating_point_v<T> && (detail::Parameter<X, array<T, E...>> && ...)))
Why uniform(const K&, const X&...) = delete;  // drx: uniform<float, extents...>(key, low, high): of a key that random_key, split or fold_in gave; float or double; bounds of that type that broadcast to the extents; of placed values in a map

/// Standard normal numbers: sqrt(2) erfinv(u), u uniform in (-1, 1). For another mean and deviation: m + s *
/// normal<float, 3>(key).
template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> normal(const K& key) {
  constexpr double above_minus_one = std::is_same_v<T, float> ? -1 + 0x1p-24 : -1 + 0x1p-53;
  return 1.41421356237309504880 * erfinv(uniform<T, E...>(key, above_minus_one, 1));
}
template <Element T, std::int64_t... E, class K, class Why = decltype(detail::random_misuse<array<T, E...>, K>())>
  requires(detail::RandomOperands<K> && !(detail::Key<K> && std::is_floating_point_v<T>))
Why normal(const K&) = delete;  // drx: normal<float, extents...>(key): of a key that random_key, split or fold_in gave; float or double; of a placed key in a map

namespace detail {
template <class P>
struct probability_element {
  using type = P;
};
template <Array P>
struct probability_element<P> {
  using type = typename P::value_type;
};
/// Uniform numbers with the element type of probabilities P, to be compared with these.
template <class P, std::int64_t... E>
using chances = array<typename probability_element<P>::type, E...>;
template <class K, class P, std::int64_t... E>
constexpr auto bernoulli_misuse() {
  if constexpr (Placed<K> || Placed<P>) {
    return error::array_operation_on_a_placed_value{};
  } else {
    return random_misuse<chances<P, E...>, K, P>();
  }
}
template <class K, class P, std::int64_t... E>
concept Chance = Key<K> && ArrayOrLiteral<P> && FloatingArray<chances<P, E...>> && Parameter<P, chances<P, E...>>;
}  // namespace detail

/// True with probability p, an array of float or double that broadcasts to E..., or a number.  bernoulli<3, 4>(key,
/// 0.25f)
template <std::int64_t... E, class K, class P>
  requires detail::Chance<K, P, E...>
constexpr array<bool, E...> bernoulli(const K& key, const P& p) {
  return detail::unit_interval<typename detail::chances<P>::value_type, E...>(key, p) < p;
}
template <std::int64_t... E, class K, class P, class Why = decltype(detail::bernoulli_misuse<K, P, E...>())>
  requires(detail::RandomOperands<K, P> && !detail::Chance<K, P, E...>)
Why bernoulli(const K&, const P&) = delete;  // drx: bernoulli<extents...>(key, p): of a key that random_key, split or fold_in gave; p of float or double, and it broadcasts to the extents; of placed values in a map

DRX_SILENT(bernoulli)
DRX_SILENT_OF_TYPE(normal)
DRX_SILENT_OF_TYPE(uniform)

}  // namespace drx
