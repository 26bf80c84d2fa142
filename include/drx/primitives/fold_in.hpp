// drx/primitives/fold_in.hpp: makes a key from a key and a number: one for each member of a placement, or each step of
// a loop.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/random_bits.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct fold_in {  // operands: key, number; both with the same leading axes, or none
  static constexpr vec<abstract_value> type(const typing& t) {
    random_bits::require_key(t);
    const abstract_value& key = t.operands[0];
    typing::require(is_integer(t.operands[1].type) && t.operands[1].depth == 0, "fold_in: not a whole number");
    typing::require(t.operands[1].shape == without_axis(key.shape, key.shape.rank - 1),
                    "fold_in: not one number for each key");
    return {key};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) {
    return {zero_tangent, zero_tangent};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < 2; ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  template <class I>
  DRX_INLINE static constexpr void write(const std::int32_t* key, I number, std::int32_t* result) {
    // An int32 is one word, as in JAX; an int64 below 2^32 gives the same.
    const auto n = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<I>>(number));
    const word_pair h = threefry2x32(random_bits::key_from(key), words_of(n));
    result[0] = static_cast<std::int32_t>(h.first);
    result[1] = static_cast<std::int32_t>(h.second);
  }
  static void evaluate(evaluation& v) {
    auto all = [&]<class I>(I) {
      for (std::int64_t k = 0; k < v.in[1]->size(); ++k)
        write(v.in[0]->data<std::int32_t>() + 2 * k, v.in[1]->data<I>()[k], v.out[0].data<std::int32_t>() + 2 * k);
    };
    v.in[1]->type.type == dtype::int32 ? all(std::int32_t{}) : all(std::int64_t{});
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive fold_in{.name = "fold_in",
                                   .type = rules::fold_in::type,
                                   .jvp = rules::random_bits::jvp,
                                   .vjp = rules::fold_in::vjp,
                                   .batch = rules::fold_in::batch,
                                   .evaluate = rules::fold_in::evaluate,
                                   .known = rules::known::nothing,
                                   .split = rules::split::whole};
}

namespace detail {
template <class N>
concept WholeNumber = SeedArray<N> || (Literal<N> && std::is_integral_v<N> && !std::is_same_v<N, bool>);
template <class K, class N>
constexpr auto fold_in_misuse() {
  if constexpr (Placed<K> || Placed<N>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Key<K>) {
    return error::needs_a_random_key{};
  } else {
    return error::needs_integer_values{};
  }
}
}  // namespace detail

/// A key made from a key and a number, such as a member's: fold_in(key, i) with i from partition_index. Members then
/// draw the same numbers on any number of ranks, threads and blocks.
template <class K, class N>
  requires(detail::Key<K> && detail::WholeNumber<N>)
constexpr prng_key fold_in(const K& key, const N& number) {
  tracing_builder& b = detail::tape_of(detail::ref_of(key), detail::ref_of(number));
  const abstract_value numbers(dtype_of<typename canonical_t<N>::value_type>, {});
  const int n = emit::resolve(b, detail::ref_of(number), numbers);
  return prng_key(
      detail::at(b, b.add1(prim::fold_in, {emit::resolve(b, detail::ref_of(key), {dtype::int32, K::shape}), n})));
}
template <class K, class N, class Why = decltype(detail::fold_in_misuse<K, N>())>
  requires((Array<K> || Placed<K>) && (detail::ArrayOrLiteral<N> || Placed<N>) &&
           !(detail::Key<K> && detail::WholeNumber<N>))
Why fold_in(const K&, const N&) = delete;  // drx: fold_in(key, i): a key that random_key, split or fold_in gave and a whole number; of placed ones in a map

DRX_SILENT(fold_in)

}  // namespace drx
