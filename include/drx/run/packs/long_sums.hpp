// drx/run/packs/long_sums.hpp: long sums of products, in parts. The error of a chain of additions grows with its
// length, so no chain is longer than a few hundred: of terms, then of sums of that many terms, and so on. The order
// depends on the number of terms alone.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/run/packs/inlining.hpp>

#include <cstdint>
#include <type_traits>

namespace drx::run {

/// The longest chain of additions. (Saving and loading the sums of a register tile after that many costs about one
/// percent.)
inline constexpr int longest_chain = 256;

namespace detail {

/// The number of levels of sums that `parts` parts need: a sum of level 0 adds up to longest_chain parts, one of level
/// 1 as many of these.
DRX_FN constexpr int levels_of(std::int64_t parts) {
  int levels = 1;
  for (; parts > longest_chain; parts = (parts + longest_chain - 1) / longest_chain) ++levels;
  return levels;
}

/// Combines the sum of part number `part` with earlier ones: add(level) adds the sum saved at a level, save(level)
/// saves it there. The last part takes in all levels and is saved nowhere: it is the whole sum.
template <int Levels, class Add, class Save>
DRX_INLINE void carry_part(std::int64_t part, bool last, Add add, Save save) {
  for (int level = 0; level < Levels; ++level, part /= longest_chain) {
    const bool top = level + 1 == Levels;
    if (top ? part != 0 : part % longest_chain != 0) add(level);
    if (!last && (top || (part + 1) % longest_chain != 0)) return save(level);
  }
}

/// a + b of numbers, or of packs.
template <class V>
DRX_INLINE V sum_of(V a, V b) {
  if constexpr (std::is_integral_v<V>) {
    return wrapping_sum(a, b);
  } else {
    return a + b;
  }
}
/// Adds Terms terms to sums that are zero; add(first, count) adds some of them.
template <int Terms, class V, int A, int B, class Add>
DRX_INLINE void add_up(V (&sum)[A][B], Add add) {
  if constexpr (Terms <= longest_chain) {
    add(0, Terms);
  } else {
    constexpr int parts = (Terms + longest_chain - 1) / longest_chain, levels = levels_of(parts);
    V held[levels][A][B] = {};
    for (int part = 0; part < parts; ++part) {
      const int first = part * longest_chain;
      add(first, Terms - first < longest_chain ? Terms - first : longest_chain);
      carry_part<levels>(
          part, part + 1 == parts,
          [&](int level) __attribute__((always_inline)) {
            DRX_UNROLL
            for (int i = 0; i < A; ++i) DRX_UNROLL
            for (int j = 0; j < B; ++j) sum[i][j] = sum_of(sum[i][j], held[level][i][j]);
          },
          [&](int level) __attribute__((always_inline)) {
            DRX_UNROLL
            for (int i = 0; i < A; ++i) DRX_UNROLL
            for (int j = 0; j < B; ++j) held[level][i][j] = sum[i][j], sum[i][j] = V{};
          });
    }
  }
}

}  // namespace detail
}  // namespace drx::run
