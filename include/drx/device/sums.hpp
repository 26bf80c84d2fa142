// drx/device/sums.hpp: sums and other folds of many numbers, in an order that the number of terms alone decides: the
// bits are the same for teams of any size.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/team.hpp>

#include <cstdint>

namespace drx::device {

/// The longest run of numbers that are folded one after the other.
inline constexpr std::int64_t longest_run = 128;

/// Folds term(begin), ..., term(end - 1), at least one, one after the other.
template <class T, class Term, class Op>
DRX_INLINE T fold_run(std::int64_t begin, std::int64_t end, const Term& term, const Op& op) {
  T total = term(begin);
  for (std::int64_t i = begin + 1; i < end; ++i) total = op(total, term(i));
  return total;
}
/// Folds term(0), ..., term(N - 1). Runs are the leaves of a binary tree over their numbers, so that the error of a sum
/// grows with the logarithm of N; the totals of whole subtrees wait in `held`, by level, as a binary counter's digits
/// do.
template <std::int64_t N, class T, class Term, class Op>
DRX_INLINE T fold_all(const Term& term, const Op& op) {
  static_assert(N > 0);
  constexpr std::int64_t runs = (N + longest_run - 1) / longest_run;
  if constexpr (runs == 1) {
    return fold_run<T>(0, N, term, op);
  } else {
    constexpr int levels = [] {
      int n = 1;
      while ((std::int64_t{1} << n) <= runs) ++n;
      return n;
    }();
    T held[levels];
    for (std::int64_t r = 0; r < runs; ++r) {
      const std::int64_t begin = r * longest_run, end = begin + longest_run < N ? begin + longest_run : N;
      T total = fold_run<T>(begin, end, term, op);
      int level = 0;
      for (; (r >> level & 1) != 0; ++level) total = op(held[level], total);
      held[level] = total;
    }
    T total{};
    bool begun = false;
    for (int level = 0; level < levels; ++level)
      if ((runs >> level & 1) != 0) {
        total = begun ? op(held[level], total) : held[level];
        begun = true;
      }
    return total;
  }
}

}  // namespace drx::device
