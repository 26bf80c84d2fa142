// drx/core/half.hpp: numbers of 16 bits, which arrays hold and ranks send; what computes with them computes in float.
#pragma once

#include <drx/config.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

namespace drx {
namespace detail {

/// Either number, chosen without a branch: then loops have vectors.
DRX_FN constexpr std::uint32_t chosen_bits(bool c, std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(c);
  return (x & mask) | (y & ~mask);
}
/// Without the last `bits` bits: to nearest, ties to even.
DRX_FN constexpr std::uint32_t rounded_right(std::uint32_t x, int bits) {
  return (x + ((1U << (bits - 1)) - 1) + ((x >> bits) & 1)) >> bits;
}

struct bfloat16_format {  // a float's first half: 8 bits of exponent, 7 of mantissa
  DRX_FN static constexpr float widened(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }
  DRX_FN static constexpr std::uint16_t rounded(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    const bool nan = (u & 0x7fffffffU) > 0x7f800000U;
    return static_cast<std::uint16_t>(chosen_bits(nan, u >> 16 | 0x40U, rounded_right(u, 16)));
  }
};
struct float16_format {  // IEEE 754's binary16: 5 bits of exponent, 10 of mantissa
  DRX_FN static constexpr float widened(std::uint16_t h) {
    const std::uint32_t a = h & 0x7fffU;
    const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(a)) * 0x1p-24F);
    const std::uint32_t finite = chosen_bits(a < 0x400U, subnormal, (a << 13) + (112U << 23));
    const std::uint32_t magnitude = chosen_bits(a >= 0x7c00U, a << 13 | 0x7f800000U, finite);
    return std::bit_cast<float>(magnitude | (h & 0x8000U) << 16);
  }
  DRX_FN static constexpr std::uint16_t rounded(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t a = u & 0x7fffffffU;
    constexpr float last = 0.5F;  // its last bit is a subnormal's last bit
    const bool tiny = a < 0x38800000U, huge = a >= 0x477ff000U, nan = a > 0x7f800000U;
    const auto small = std::bit_cast<float>(chosen_bits(tiny, a, 0U));
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(small + last) - std::bit_cast<std::uint32_t>(last);
    const std::uint32_t finite = chosen_bits(tiny, subnormal, rounded_right(a - (112U << 23), 13));
    const std::uint32_t magnitude = chosen_bits(nan, 0x7e00U, chosen_bits(huge, 0x7c00U, finite));
    return static_cast<std::uint16_t>(magnitude | (u >> 16 & 0x8000U));
  }
};

}  // namespace detail

/// A number of 16 bits. It is a float to whoever reads it; a float is rounded to the nearest one, ties to even. What is
/// beyond its range is infinite, and numbers below its normal ones are subnormal.
template <class Format>
class half {
 public:
  half() = default;  // (trivial: half{} is 0)
  /// x, rounded to float and then to 16 bits.
  template <class X>
    requires std::is_convertible_v<X, float>
  DRX_FN constexpr explicit half(X x) : bits_(Format::rounded(static_cast<float>(x))) {}
  DRX_FN constexpr operator float() const { return Format::widened(bits_); }  // NOLINT: exact
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }
  static constexpr half from_bits(std::uint16_t bits) {
    half h{};
    h.bits_ = bits;
    return h;
  }

 private:
  std::uint16_t bits_;
};

/// A float's exponent and 8 significant bits: numbers to 3e38, each to 0.4 %.
using bfloat16 = half<detail::bfloat16_format>;
/// IEEE 754's binary16, with 11 significant bits: numbers to 65504, each from 6e-5 on to 0.05 %.
using float16 = half<detail::float16_format>;

template <class T>
inline constexpr bool is_half = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;

}  // namespace drx
