// drx/primitives/decompose/svd.hpp: singular values: by a bidiagonal matrix where rows and columns are of about one
// size, else by Jacobi's rotations, which are slower but keep the digits of small singular values.
#pragma once

#include <drx/primitives/decompose/bidiagonal.hpp>
#include <drx/primitives/decompose/one_sided_jacobi.hpp>
#include <drx/primitives/decompose/rows.hpp>

#include <utility>

namespace drx::decompose {

/// Whether no row of a, of magnitudes up to `largest`, is much smaller than the others, but for zeros where there are
/// more rows than columns, and no column. Only where they are of different sizes has Jacobi's method more exact digits
/// of small singular values than a bidiagonal matrix leaves. columns: n numbers, which are overwritten. Demmel and
/// Veselic, SIAM J. Matrix Anal. Appl. 13 (1992), 1204.
template <class T>
bool is_even(std::int64_t m, std::int64_t n, const T* a, T largest, T* columns) {
  const auto even = [=](T size, bool more) { return size >= largest / 64 || (more && size == 0); };
  for (std::int64_t j = 0; j < n; ++j) columns[j] = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) columns[j] = std::max(columns[j], std::abs(a[i * n + j]));
    if (!even(largest_of(a + i * n, n), m > n)) return false;
  }
  return std::all_of(columns, columns + n, [=](T size) { return even(size, n > m); });
}

/// Makes the element of largest magnitude in each column of u positive; the rows of vt change sign with these columns.
template <class T>
void fix_signs_of_columns(std::int64_t m, std::int64_t k, T* u, T* vt, std::int64_t n, T* largest) {
  for (std::int64_t j = 0; j < k; ++j) largest[j] = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j)
      largest[j] = std::abs(u[i * k + j]) > std::abs(largest[j]) ? u[i * k + j] : largest[j];
  for (std::int64_t j = 0; j < k; ++j) largest[j] = largest[j] < 0 ? T(-1) : T(1);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) u[i * k + j] *= largest[j];
  for (std::int64_t j = 0; j < k; ++j)
    for (std::int64_t i = 0; i < n && largest[j] < 0; ++i) vt[j * n + i] = -vt[j * n + i];
}

/// The decomposition by a bidiagonal matrix. False if a singular value was not found.
/// scratch: what svd_scratch says.
template <class T>
bool svd_by_bidiagonal(std::int64_t m, std::int64_t n, const T* a, T scale, T* u, T* s, T* vt, T* scratch) {
  if (m >= n) {
    for (std::int64_t i = 0; i < m * n; ++i) u[i] = a[i] / scale;
    if (!svd_of_tall(m, n, u, s, vt, scratch)) return false;
    fix_signs_of_columns(m, n, u, vt, n, scratch);
  } else {  // V and U of the transpose
    T* const v = scratch;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) v[j * m + i] = a[i * n + j] / scale;
    if (!svd_of_tall(n, m, v, s, u, scratch + m * n)) return false;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) vt[i * n + j] = v[j * m + i];
    fix_signs(m, m, u, vt, n);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < i; ++j) std::swap(u[i * m + j], u[j * m + i]);
  }
  for (std::int64_t i = 0; i < std::min(m, n); ++i) s[i] *= scale;
  return true;
}

/// Fewer columns than these are Jacobi's, whatever they are.
inline constexpr std::int64_t least_bidiagonal = 5;

/// The elements of scratch memory that svd takes.
constexpr std::int64_t svd_scratch(std::int64_t m, std::int64_t n) {
  const std::int64_t k = std::min(m, n), length = std::max(m, n);
  return k < least_bidiagonal ? jacobi_scratch(m, n)
                              : std::max(jacobi_scratch(m, n), (m < n ? m * n : 0) + bidiagonal_scratch(length, k));
}
/// The thin singular value decomposition A = U diag(s) V^T of an m x n matrix: U is m x k, s descending, V^T k x n with
/// k the smaller of m and n; all NaN if an element is not finite. scratch: svd_scratch(m, n) elements.
template <class T>
void svd(std::int64_t m, std::int64_t n, const T* a, T* u, T* s, T* vt, T* scratch) {
  const std::int64_t k = std::min(m, n);
  if (!all_finite(a, m * n)) {
    fill_nan(u, m * k);
    fill_nan(s, k);
    fill_nan(vt, k * n);
    return;
  }
  const T scale = scale_of(a, m * n);
  if (k < least_bidiagonal || !is_even(m, n, a, scale, vt) || !svd_by_bidiagonal(m, n, a, scale, u, s, vt, scratch))
    svd_by_jacobi(m, n, a, u, s, vt, scratch);
}

}  // namespace drx::decompose
