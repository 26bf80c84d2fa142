// drx/scalar/threefry.hpp: the hash behind all random numbers, Threefry-2x32 of 20 rounds (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011), which is JAX's default. A number depends on key and counter only, so that any
// thread, rank or device can compute any number.
#pragma once

#include <drx/config.hpp>

#include <cstdint>

namespace drx {

/// Two words of 32 bits: a key, a counter, or their hash.
struct word_pair {
  std::uint32_t first = 0, second = 0;
  friend constexpr bool operator==(const word_pair&, const word_pair&) = default;
};

/// The two words of a 64-bit number, the high one first.
DRX_INLINE constexpr word_pair words_of(std::uint64_t n) {
  return {static_cast<std::uint32_t>(n >> 32), static_cast<std::uint32_t>(n)};
}

namespace detail {
template <int R0, int R1, int R2, int R3>
DRX_INLINE constexpr void threefry_rounds(word_pair& x) {
  constexpr int rotation[] = {R0, R1, R2, R3};
  for (int r = 0; r < 4; ++r) {
    x.first += x.second;
    x.second = ((x.second << rotation[r]) | (x.second >> (32 - rotation[r]))) ^ x.first;
  }
}
}  // namespace detail

DRX_INLINE constexpr word_pair threefry2x32(word_pair key, word_pair counter) {
  const std::uint32_t a = key.first, b = key.second, c = a ^ b ^ 0x1BD11BDAU;
  word_pair x{counter.first + a, counter.second + b};
  auto inject = [&x](std::uint32_t first, std::uint32_t second) {
    x.first += first;
    x.second += second;
  };
  detail::threefry_rounds<13, 15, 26, 6>(x);
  inject(b, c + 1);
  detail::threefry_rounds<17, 29, 16, 24>(x);
  inject(c, a + 2);
  detail::threefry_rounds<13, 15, 26, 6>(x);
  inject(a, b + 3);
  detail::threefry_rounds<17, 29, 16, 24>(x);
  inject(b, c + 4);
  detail::threefry_rounds<13, 15, 26, 6>(x);
  inject(c, a + 5);
  return x;
}

}  // namespace drx
