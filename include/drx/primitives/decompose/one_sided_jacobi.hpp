// drx/primitives/decompose/one_sided_jacobi.hpp: singular values by rotations of pairs of columns, which keep the
// digits of small ones where columns are of different sizes.
#pragma once

#include <drx/primitives/decompose/rows.hpp>

namespace drx::decompose {

/// Makes the rows k of x, of n elements, whose `given` is false, orthonormal to the others.
template <class T, class Given>
void complete(std::int64_t rows, std::int64_t n, T* x, Given given) {
  std::int64_t axis = 0;
  for (std::int64_t k = 0; k < rows; ++k) {
    if (given(k)) continue;
    for (; axis < n; ++axis) {  // the unit vector `axis` without its parts along the others, twice for the rounding
      T* const y = x + k * n;
      for (std::int64_t j = 0; j < n; ++j) y[j] = j == axis;
      for (int pass = 0; pass < 2; ++pass)
        for (std::int64_t i = 0; i < rows; ++i) {
          if (i == k || (i > k && !given(i))) continue;
          const T part = inner(x + i * n, y, n);
          for (std::int64_t j = 0; j < n; ++j) y[j] -= part * x[i * n + j];
        }
      const T size = std::sqrt(inner(y, y, n));
      if (size * size * static_cast<T>(2 * n) < 1)
        continue;  // some unit vector has a part of at least 1 / n of its square
      for (std::int64_t j = 0; j < n; ++j) y[j] /= size;
      ++axis;
      break;
    }
  }
}

/// The elements of scratch memory that svd_by_jacobi takes.
constexpr std::int64_t jacobi_scratch(std::int64_t m, std::int64_t n) { return std::min(m, n) * (m + n); }
/// The thin singular value decomposition of an m x n matrix of finite numbers. scratch: jacobi_scratch(m, n) elements.
template <class T>
void svd_by_jacobi(std::int64_t m, std::int64_t n, const T* a, T* u, T* s, T* vt, T* scratch) {
  const bool tall = m >= n;
  const std::int64_t k = tall ? n : m, length = tall ? m : n;
  // Rows of x: columns of A, or rows where it is wide; y x is what they were.
  T *const x = scratch, *const y = scratch + k * length;
  const T scale = scale_of(a, m * n);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < length; ++j) x[i * length + j] = (tall ? a[j * n + i] : a[i * n + j]) / scale;
    for (std::int64_t j = 0; j < k; ++j) y[i * k + j] = i == j;
  }
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  T all = 0;
  for (std::int64_t i = 0; i < k; ++i) all += inner(x + i * length, x + i * length, length);
  const T nothing = epsilon * std::sqrt(all);  // rows of less are rounding
  bool more = true;
  for (int sweep = 0; sweep < most_sweeps && more; ++sweep) {
    more = false;
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t q = p + 1; q < k; ++q) {
        T *const row = x + p * length, *const other = x + q * length;
        const T of_p = inner(row, row, length), of_q = inner(other, other, length), both = inner(row, other, length);
        const T size = std::sqrt(of_p), other_size = std::sqrt(of_q);
        const bool counts = std::abs(both) > nothing * nothing || (size > nothing && other_size > nothing);
        if (!(std::abs(both) > epsilon * size * other_size && counts)) continue;
        more = true;
        const rotation<T> r(of_p, of_q, both);
        r.turn(row, other, length);
        r.turn(y + p * k, y + q * k, k);
      }
  }
  for (std::int64_t i = 0; i < k; ++i) s[i] = std::sqrt(inner(x + i * length, x + i * length, length));
  sort_descending(k, s, x, length, y, k);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < length && s[i] > nothing; ++j) x[i * length + j] /= s[i];
  complete(k, length, x, [&](std::int64_t i) { return s[i] > nothing; });
  if (tall) {
    fix_signs(k, length, x, y, k);
  } else {
    fix_signs(k, k, y, x, length);
  }
  for (std::int64_t i = 0; i < k; ++i) s[i] *= scale;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) u[i * k + j] = tall ? x[j * m + i] : y[j * k + i];
  for (std::int64_t i = 0; i < k * n; ++i) vt[i] = tall ? y[i] : x[i];
}

}  // namespace drx::decompose
