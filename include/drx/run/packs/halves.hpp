// drx/run/packs/halves.hpp: packs of floats from numbers of 16 bits in memory, which are widened in registers. The bits
// are those of single numbers (core/half.hpp), but for those of NaNs.
// Tested by tests/unit/run/narrow_products.cpp.
#pragma once

#include <drx/core/half.hpp>
#include <drx/run/packs/pack.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace drx::run {

#if !defined(__CUDACC__)
namespace detail {

inline constexpr int floats_in_pack = pack_width<float>;
typedef std::uint16_t halves_of_pack __attribute__((vector_size(2 * floats_in_pack)));
typedef std::int16_t signed_halves_of_pack __attribute__((vector_size(2 * floats_in_pack)));
typedef std::uint32_t words_of_pack __attribute__((vector_size(4 * floats_in_pack)));
typedef std::int32_t signed_words_of_pack __attribute__((vector_size(4 * floats_in_pack)));

/// Numbers of 16 bits as words. (g++ 12 makes several shuffles of a conversion that is one instruction.)
DRX_HOST_INLINE words_of_pack as_words(halves_of_pack h) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
  return reinterpret_cast<words_of_pack>(__builtin_ia32_pmovzxwd512_mask(
      reinterpret_cast<signed_halves_of_pack>(h), signed_words_of_pack{}, static_cast<short>(-1)));
#elif defined(__GNUC__) && !defined(__clang__) && defined(__AVX2__)
  return reinterpret_cast<words_of_pack>(__builtin_ia32_pmovzxwd256(reinterpret_cast<signed_halves_of_pack>(h)));
#else
  return __builtin_convertvector(h, words_of_pack);
#endif
}

/// The numbers that 16 bits stand for, as bfloat16_format and float16_format say it of one.
DRX_HOST_INLINE pack<float> widened(halves_of_pack h, drx::detail::bfloat16_format) {
  return reinterpret_cast<pack<float>>(as_words(h) << 16);
}
DRX_HOST_INLINE pack<float> widened(halves_of_pack h, drx::detail::float16_format) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)  // (it is right for subnormal numbers, too)
  constexpr int as_told = 4;                                          // rounding, of which there is none
  return __builtin_ia32_vcvtph2ps512_mask(reinterpret_cast<signed_halves_of_pack>(h), pack<float>{},
                                          static_cast<short>(-1), as_told);
#elif defined(__GNUC__) && !defined(__clang__) && defined(__AVX__) && defined(__F16C__)
  return __builtin_ia32_vcvtph2ps256(reinterpret_cast<signed_halves_of_pack>(h));
#else
  const words_of_pack bits = as_words(h), a = bits & 0x7fffU;
  const auto number = reinterpret_cast<signed_words_of_pack>(a);
  const auto subnormal = reinterpret_cast<words_of_pack>(__builtin_convertvector(number, pack<float>) * 0x1p-24F);
  const auto tiny = reinterpret_cast<words_of_pack>(number < 0x400),
             huge = reinterpret_cast<words_of_pack>(number > 0x7bff);
  const words_of_pack finite = (subnormal & tiny) | (((a << 13) + (112U << 23)) & ~tiny);
  return reinterpret_cast<pack<float>>(finite | (huge & 0x7f800000U) | (bits & 0x8000U) << 16);
#endif
}

}  // namespace detail
#endif

/// A pack of T from p on, where numbers are of type T, or of 16 bits and T is float.
template <class T>
DRX_HOST_INLINE pack<T> load_as(const T* p) {
  return load(p);
}
template <class T, class Format>
DRX_HOST_INLINE pack<T> load_as(const half<Format>* p) {
  static_assert(std::is_same_v<T, float>);
#if defined(__CUDACC__)  // nvcc's front end knows no conversion of vectors
  pack<float> x;
  for (int i = 0; i < pack_width<float>; ++i) x[i] = static_cast<float>(p[i]);
  return x;
#else
  detail::halves_of_pack bits;
  std::memcpy(&bits, p, sizeof bits);
  return detail::widened(bits, Format{});
#endif
}

}  // namespace drx::run
