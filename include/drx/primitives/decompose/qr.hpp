// drx/primitives/decompose/qr.hpp: the loops of QR, on row-major matrices.
#pragma once

#include <drx/primitives/decompose/reflections.hpp>

namespace drx::decompose {

/// Q and R by one reflection after the other. scratch: 2 n elements.
template <class T>
void qr_one_by_one(std::int64_t m, std::int64_t n, const T* a, T* q, T* r, T* scratch) {
  // A reflection is I - tau v v^T, v = (1, column k below the diagonal).
  T *const tau = scratch, *const sums = scratch + n;
  auto reflect = [&](std::int64_t k) {  // of the columns behind k
    for (std::int64_t j = k + 1; j < n; ++j) sums[j] = q[k * n + j];
    for (std::int64_t i = k + 1; i < m; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) sums[j] += q[i * n + k] * q[i * n + j];
    for (std::int64_t j = k + 1; j < n; ++j) {
      sums[j] *= tau[k];
      q[k * n + j] -= sums[j];
    }
    for (std::int64_t i = k + 1; i < m; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) q[i * n + j] -= q[i * n + k] * sums[j];
  };
  for (std::int64_t i = 0; i < m * n; ++i) q[i] = a[i];
  for (std::int64_t k = 0; k < n; ++k) {
    T below = 0;
    for (std::int64_t i = k + 1; i < m; ++i) below = std::max(below, std::abs(q[i * n + k]));
    tau[k] = 0;
    if (below == 0) continue;
    const T alpha = q[k * n + k], scale = std::max(below, std::abs(alpha));
    T squares = 0;
    for (std::int64_t i = k; i < m; ++i) squares += (q[i * n + k] / scale) * (q[i * n + k] / scale);
    const T first = alpha / scale, end = alpha < 0 ? std::sqrt(squares) : -std::sqrt(squares);  // (not subnormal)
    tau[k] = (end - first) / end;
    for (std::int64_t i = k + 1; i < m; ++i) q[i * n + k] = q[i * n + k] / scale / (first - end);
    q[k * n + k] = end * scale;
    reflect(k);
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = j < i ? T(0) : q[i * n + j];
  for (std::int64_t k = n - 1; k >= 0; --k) {  // the reflections of the unit matrix's columns, from the last on
    for (std::int64_t j = k + 1; j < n; ++j) q[k * n + j] = 0;
    reflect(k);
    for (std::int64_t i = k + 1; i < m; ++i) q[i * n + k] *= -tau[k];
    q[k * n + k] = 1 - tau[k];
  }
}

/// Takes the m x n matrix a, m >= n, to the upper triangular r (n x n) by reflections, a block at a time. Their vectors
/// become the rows of v (in_blocks(n) x m), their blocks' triangles t (in_blocks(n) x block_size). a is overwritten.
template <class T>
void reflect_to_triangle(std::int64_t m, std::int64_t n, T* a, T* r, T* v, T* t) {
  for (std::int64_t i = 0; i < in_blocks(n) * m; ++i) v[i] = 0;
  for (std::int64_t i = 0; i < n * n; ++i) r[i] = 0;
  for (std::int64_t k = 0; k < n; k += block_size) {
    const std::int64_t end = std::min(k + block_size, n);
    T tau[block_size] = {};
    for (std::int64_t i = k; i < m; ++i)
      for (std::int64_t j = k; j < end; ++j) v[j * m + i] = a[i * n + j];
    for (std::int64_t j = k; j < end; ++j) {
      T* const own = v + j * m;
      tau[j - k] = make_reflection(own + j, m - j, r[j * n + j]);
      for (std::int64_t l = j + 1; l < end; ++l) {
        T* const other = v + l * m;
        const T part = tau[j - k] * inner(own + j, other + j, m - j);
        for (std::int64_t i = j; i < m; ++i) other[i] -= part * own[i];
      }
      for (std::int64_t i = k; i < j; ++i) {
        r[i * n + j] = own[i];
        own[i] = 0;
      }
    }
    make_triangle(v + k * m + k, m - k, m, tau, t + k * block_size);
    if (end == n) break;
    const reflection_block<T> block{v + k * m + k, m - k, m, t + k * block_size};
    block.template apply<true>(a + k * n + end, n - end, n);
    for (std::int64_t i = k; i < end; ++i)
      for (std::int64_t j = end; j < n; ++j) r[i * n + j] = a[i * n + j];
  }
}
/// Multiplies the columns of c (m x columns) from the left by the product of n reflections, each of which leaves the
/// rows before its own as they are.
template <class T>
void apply_reflections(std::int64_t m, std::int64_t n, const T* v, const T* t, T* c, std::int64_t columns) {
  for (std::int64_t k = in_blocks(n) - block_size; k >= 0; k -= block_size)
    reflection_block<T>{v + k * m + k, m - k, m, t + k * block_size}.template apply<false>(c + k * columns, columns,
                                                                                           columns);
}
/// Q and R by blocks of reflections. scratch: in_blocks(n) * (m + block_size) elements.
template <class T>
void qr_in_blocks(std::int64_t m, std::int64_t n, const T* a, T* q, T* r, T* scratch) {
  T *const v = scratch, *const t = scratch + in_blocks(n) * m;
  for (std::int64_t i = 0; i < m * n; ++i) q[i] = a[i];
  reflect_to_triangle(m, n, q, r, v, t);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) q[i * n + j] = i == j;
  for (std::int64_t k = in_blocks(n) - block_size; k >= 0; k -= block_size)  // the columns before are still the unit's
    reflection_block<T>{v + k * m + k, m - k, m, t + k * block_size}.template apply<false>(q + k * n + k, n - k, n);
}

/// Smaller matrices are faster by one reflection after the other.
constexpr bool qr_takes_blocks(std::int64_t m, std::int64_t n) { return m >= 16 && n >= 4; }

/// The elements of scratch memory that qr takes.
constexpr std::int64_t qr_scratch(std::int64_t m, std::int64_t n) {
  return qr_takes_blocks(m, n) ? in_blocks(n) * (m + block_size) : 2 * n;
}
/// Q (m x n, orthonormal columns) and upper triangular R (n x n) of A = Q R, m >= n, by Householder's reflections with
/// LAPACK's signs; all NaN if an element is not finite. scratch: qr_scratch(m, n) elements.
template <class T>
void qr(std::int64_t m, std::int64_t n, const T* a, T* q, T* r, T* scratch) {
  if (!all_finite(a, m * n)) {
    fill_nan(q, m * n);
    fill_nan(r, n * n);
  } else if (qr_takes_blocks(m, n)) {
    qr_in_blocks(m, n, a, q, r, scratch);
  } else {
    qr_one_by_one(m, n, a, q, r, scratch);
  }
}

}  // namespace drx::decompose
