// drx/primitives/decompose/reflections.hpp: Householder's reflections, eight at a time: I - V T V^T, where T is upper
// triangular. The numbers of a matrix are then read and written once for eight reflections, not for each.
// Schreiber and Van Loan, SIAM J. Sci. Stat. Comput. 10 (1989), 53.
#pragma once

#include <drx/primitives/decompose/rows.hpp>

namespace drx::decompose {

/// The reflections of a block.
inline constexpr int block_size = 8;

/// The least multiple of the block's size that is not less than n.
constexpr std::int64_t in_blocks(std::int64_t n) { return (n + block_size - 1) / block_size * block_size; }

/// Makes x, of n > 0 numbers, the vector v, v[0] = 1, of the reflection I - tau v v^T that takes x to (beta, 0, ..).
/// beta has LAPACK's sign. Returns tau.
template <class T>
T make_reflection(T* x, std::int64_t n, T& beta) {
  const T alpha = x[0], below = largest_of(x + 1, n - 1);
  beta = alpha;
  x[0] = 1;
  if (below == 0) return 0;
  const T scale = std::max(below, std::abs(alpha)), first = alpha / scale;
  for (std::int64_t i = 1; i < n; ++i) x[i] /= scale;
  const T size = std::sqrt(first * first + inner(x + 1, x + 1, n - 1)), end = alpha < 0 ? size : -size;
  for (std::int64_t i = 1; i < n; ++i) x[i] /= first - end;
  beta = end * scale;
  return (end - first) / end;
}

/// The triangle T (t, block_size rows as long) of reflections with the factors tau, whose vectors are the rows of v, of
/// `rows` numbers.
template <class T>
void make_triangle(const T* v, std::int64_t rows, std::int64_t to_next, const T* tau, T* t) {
  for (int j = 0; j < block_size; ++j) {
    T along[block_size] = {};
    for (int i = 0; i < j && tau[j] != 0; ++i) along[i] = inner(v + i * to_next, v + j * to_next, rows);
    for (int i = 0; i < block_size; ++i) t[i * block_size + j] = i == j ? tau[j] : T(0);
    for (int i = 0; i < j; ++i)
      for (int l = i; l < j; ++l) t[i * block_size + j] -= tau[j] * t[i * block_size + l] * along[l];
  }
}

/// A block of reflections H_0 .. H_7, whose product is I - V T V^T.
template <class T>
struct reflection_block {
  const T* v;            // row l has the vector of H_l, of `rows` numbers
  std::int64_t rows;     // of V
  std::int64_t to_next;  // from a row of v to the next one
  const T* t;

  const T* row(int l) const { return v + l * to_next; }

  /// Multiplies the columns 0 .. columns - 1 of c from the left by H_0 .. H_7, or by H_7 .. H_0 (Transposed). Rows of c
  /// lie `stride` apart, and end with these columns.
  template <bool Transposed>
  void apply(T* c, std::int64_t columns, std::int64_t stride) const {
    apply_in_packs<Transposed, ad::native_width<T>>(c, columns, stride);
  }

 private:
  template <bool Transposed, int Width>
  void apply_in_packs(T* c, std::int64_t columns, std::int64_t stride) const {
    if constexpr (Width == 1) {
      if (columns == 1) apply_to_pack<Transposed, 1>(c, stride, 0);
    } else if (stride < Width) {
      apply_in_packs<Transposed, Width / 2>(c, columns, stride);
    } else {
      for (std::int64_t next = 0; next < columns; next += Width) {
        const std::int64_t from = std::min(next, columns - Width);  // the last pack ends with the row
        apply_to_pack<Transposed, Width>(c + from, stride, static_cast<int>(next - from));
      }
    }
  }
  /// Multiplies Width columns from c on, but for the first `done` of them.
  template <bool Transposed, int Width>
  void apply_to_pack(T* c, std::int64_t stride, int done) const {
    using pack = ad::pack<T, Width>;
    pack along[block_size];
    constexpr std::int64_t together = 32;  // sums of few rows, which are then added, round less than one long sum
    for (std::int64_t first = 0; first < rows; first += together) {
      pack part[block_size];
      for (std::int64_t i = first; i < std::min(first + together, rows); ++i) {
        const pack x = pack::load(c + i * stride);
        DRX_UNROLL
        for (int l = 0; l < block_size; ++l) part[l] += row(l)[i] * x;
      }
      for (int l = 0; l < block_size; ++l) along[l] += part[l];
    }
    pack by[block_size];
    for (int l = 0; l < block_size; ++l) {
      for (int j = Transposed ? 0 : l; j < (Transposed ? l + 1 : block_size); ++j)
        by[l] += t[Transposed ? j * block_size + l : l * block_size + j] * along[j];
      for (int lane = 0; lane < done; ++lane) by[l].set(lane, 0);
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      pack x = pack::load(c + i * stride);
      DRX_UNROLL
      for (int l = 0; l < block_size; ++l) x -= row(l)[i] * by[l];
      x.store(c + i * stride);
    }
  }
};

}  // namespace drx::decompose
