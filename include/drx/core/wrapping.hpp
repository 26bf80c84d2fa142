// drx/core/wrapping.hpp: sums and products of integers that wrap instead of overflowing, as JAX's do.
#pragma once

#include <drx/config.hpp>

#include <type_traits>

namespace drx {

/// x as a number whose sums and products wrap: for an integer, the unsigned one of its bits. (Of bool, C++ makes int.)
template <class T>
DRX_INLINE constexpr auto wrapping(T x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return x;
  }
}
/// a + b, and a b.
template <class T>
DRX_INLINE constexpr T wrapping_sum(T a, T b) {
  return static_cast<T>(wrapping(a) + wrapping(b));
}
template <class T>
DRX_INLINE constexpr T wrapping_product(T a, T b) {
  return static_cast<T>(wrapping(a) * wrapping(b));
}

/// a b + c. (One expression: compilers may round a sum of a product once.)
template <class T>
DRX_INLINE constexpr T wrapping_product_sum(T a, T b, T c) {
  return static_cast<T>(wrapping(a) * wrapping(b) + wrapping(c));
}

}  // namespace drx
