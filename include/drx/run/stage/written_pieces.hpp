// drx/run/stage/written_pieces.hpp: an array of which only some pieces are written.
// Tested by tests/unit/run/written_pieces.cpp.
#pragma once

#include <drx/run/kernels/indexing.hpp>
#include <drx/run/packs/inlining.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace drx::run {

/// An array of Size numbers in pieces of Width, and a bit for each piece that is written; the others are zeros. So what
/// blocks of members add to a few rows of a large table costs as much as these rows, and not as the table.
template <class T, std::int64_t Size, std::int64_t Width>
class written_pieces {
 public:
  using word = std::uint64_t;
  static constexpr std::int64_t pieces = (Size + Width - 1) / Width, words = (pieces + 63) / 64,
                                bytes_of_bits = words * 8;

  written_pieces(T* array, word* bits) : array_(array), bits_(bits) {}
  /// Notes that no piece is written.
  void clear() const { std::memset(bits_, 0, bytes_of_bits); }
  /// Notes that all are.
  void note_all() const {
    for (std::int64_t w = 0; w < words; ++w) bits_[w] = bits_of(w);
  }
  /// Adds Count numbers to those from number `at` on, which lie in one piece.
  template <std::int64_t Count>
  DRX_HOST_INLINE void add_to(std::int64_t at, const T* from) const {
    const std::int64_t piece = at / Width;
    if constexpr (Count == Width) {
      sum<Width>(piece, from);
      note(piece);
    } else {
      if (!has(piece)) write_zeros(piece);
      detail::add_row<Count>(array_ + at, from);
    }
  }
  /// Writes zeros to all pieces that are not written.
  void fill() const {
    for (std::int64_t w = 0; w < words; ++w) {
      if (bits_[w] == 0) {
        const std::int64_t first = w * 64 * Width;
        std::fill_n(array_ + first, std::min(64 * Width, Size - first), T{});
        bits_[w] = bits_of(w);
      } else {
        for (word left = bits_of(w) & ~bits_[w]; left != 0; left &= left - 1) write_zeros(first_of(w, left));
      }
    }
  }
  /// Adds another array.
  void add(const written_pieces& other) const {
    for (std::int64_t w = 0; w < words; ++w) {
      if ((bits_[w] & other.bits_[w]) == ~word{0} && (w + 1) * 64 * Width <= Size) {
        detail::add_row<64 * Width>(array_ + w * 64 * Width, other.array_ + w * 64 * Width);
        continue;
      }
      for (word left = other.bits_[w]; left != 0; left &= left - 1) {
        const std::int64_t piece = first_of(w, left);
        with_size(piece, [&](auto size) { sum<size>(piece, other.array_ + piece * Width); });
      }
      bits_[w] |= other.bits_[w];
    }
  }

 private:
  [[nodiscard]] bool has(std::int64_t piece) const { return (bits_[piece / 64] >> (piece % 64) & 1) != 0; }
  void note(std::int64_t piece) const { bits_[piece / 64] |= word{1} << (piece % 64); }
  void write_zeros(std::int64_t piece) const {
    with_size(piece, [&](auto size) { std::fill_n(array_ + piece * Width, size, T{}); });
    note(piece);
  }
  /// The bits of word w that are of pieces.
  static constexpr word bits_of(std::int64_t w) {
    return pieces - w * 64 >= 64 ? ~word{0} : (word{1} << (pieces - w * 64)) - 1;
  }
  /// Adds numbers to a piece, or to zeros. (No jump depends on which, since none could be foreseen.)
  template <std::int64_t Count>
  void sum(std::int64_t piece, const T* __restrict from) const {
    static constexpr T zeros[Width] = {};
    T* const to = array_ + piece * Width;
    const T* const own = has(piece) ? to : zeros;
    DRX_INDEPENDENT_VECTORS
    for (std::int64_t k = 0; k < Count; ++k) to[k] = wrapping_sum(own[k], from[k]);
  }
  static std::int64_t first_of(std::int64_t w, word bits) { return w * 64 + std::countr_zero(bits); }
  /// Calls f(the size of a piece, as a constant): the last one may be shorter.
  template <class F>
  static void with_size(std::int64_t piece, const F& f) {
    constexpr std::int64_t rest = Size % Width;
    if constexpr (rest > 0)
      if (piece == pieces - 1) return f(std::integral_constant<std::int64_t, rest>{});
    f(std::integral_constant<std::int64_t, Width>{});
  }
  T* array_;
  word* bits_;
};

}  // namespace drx::run
