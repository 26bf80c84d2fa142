// drx/primitives/decompositions.hpp: the loops of QR, symmetric eigenvalues and singular values, on row-major matrices,
// without allocation. Plain evaluation and compiled programs share them. Sums have a fixed order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace drx::decompose {

/// The sum of x[i] y[i], eight lanes side by side, then the lanes.
template <class T>
T inner(const T* x, const T* y, std::int64_t n) {
  constexpr int lanes = 8;
  T lane[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += x[i + l] * y[i + l];
  for (int l = 0; i < n; ++i, ++l) lane[l] += x[i] * y[i];
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}
template <class T>
bool all_finite(const T* x, std::int64_t n) {
  bool finite = true;
  for (std::int64_t i = 0; i < n; ++i) finite = finite && x[i] - x[i] == 0;
  return finite;
}
template <class T>
void fill_nan(T* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::numeric_limits<T>::quiet_NaN();
}
/// The largest magnitude, or 1 if all are zero: after division by it, squares neither overflow nor underflow where it
/// matters.
template <class T>
T scale_of(const T* x, std::int64_t n) {
  T largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest > 0 ? largest : T(1);
}

/// Q (m x n, orthonormal columns) and upper triangular R (n x n) of A = Q R, m >= n, by Householder's reflections with
/// LAPACK's signs; all NaN if an element is not finite. scratch: 2 n elements.
template <class T>
void qr(std::int64_t m, std::int64_t n, const T* a, T* q, T* r, T* scratch) {
  if (!all_finite(a, m * n)) {
    fill_nan(q, m * n);
    fill_nan(r, n * n);
    return;
  }
  T *const tau = scratch, *const sums =
                              scratch + n;  // a reflection is I - tau v v^T, v = (1, column k below the diagonal)
  auto reflect = [&](std::int64_t k) {      // of the columns behind k
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
    const T beta = (alpha < 0 ? scale : -scale) * std::sqrt(squares);
    tau[k] = (beta - alpha) / beta;
    for (std::int64_t i = k + 1; i < m; ++i) q[i * n + k] /= alpha - beta;
    q[k * n + k] = beta;
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

/// The rotation (c, s) that makes the off-diagonal element of ((p, x), (x, q)) zero, and its tangent t.
template <class T>
struct rotation {
  T c, s, t;
  rotation(T p, T q, T x) {
    const T theta = (q - p) / (2 * x);
    t = (theta < 0 ? T(-1) : T(1)) / (std::abs(theta) + std::sqrt(1 + theta * theta));
    c = 1 / std::sqrt(1 + t * t);
    s = t * c;
  }
  void turn(T* x, T* y, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const T before = x[i];
      x[i] = c * before - s * y[i];
      y[i] = s * before + c * y[i];
    }
  }
};
inline constexpr int most_sweeps = 60;  // Jacobi's method takes 6 to 10

/// Makes the element of largest magnitude in each row of x positive; rows of y, if given, change sign with those of x.
template <class T>
void fix_signs(std::int64_t rows, std::int64_t n, T* x, T* y, std::int64_t of_y) {
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < n; ++j)
      if (std::abs(x[i * n + j]) > std::abs(x[i * n + best])) best = j;
    if (n == 0 || !(x[i * n + best] < 0)) continue;
    for (std::int64_t j = 0; j < n; ++j) x[i * n + j] = -x[i * n + j];
    for (std::int64_t j = 0; j < of_y; ++j) y[i * of_y + j] = -y[i * of_y + j];
  }
}

/// The eigenvalues w, ascending, of (A + A^T) / 2 and its eigenvectors, the columns of v, by Jacobi's method; all NaN
/// if an element is not finite. scratch: n * n elements.
template <class T>
void eigh(std::int64_t n, const T* a, T* w, T* v, T* scratch) {
  T* const s = scratch;
  const T scale = scale_of(a, n * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      s[i * n + j] = (a[i * n + j] / scale + a[j * n + i] / scale) / 2;
      v[i * n + j] = i == j;  // rows are eigenvectors, until the end
    }
  if (!all_finite(a, n * n)) {
    fill_nan(w, n);
    fill_nan(v, n * n);
    return;
  }
  bool more = true;
  for (int sweep = 0; sweep < most_sweeps && more; ++sweep) {
    more = false;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        const T x = s[p * n + q], of_p = s[p * n + p], of_q = s[q * n + q];
        const auto counts_beside = [&](T y) { return std::abs(y) + std::abs(x) != std::abs(y); };
        if (std::abs(x) <= std::numeric_limits<T>::min() || !(counts_beside(of_p) || counts_beside(of_q))) continue;
        more = true;
        const rotation<T> r(of_p, of_q, x);
        r.turn(s + p * n, s + q * n, n);
        for (std::int64_t i = 0; i < n; ++i) {
          s[i * n + p] = s[p * n + i];
          s[i * n + q] = s[q * n + i];
        }
        s[p * n + p] = of_p - r.t * x;
        s[q * n + q] = of_q + r.t * x;
        s[p * n + q] = s[q * n + p] = 0;
        r.turn(v + p * n, v + q * n, n);
      }
  }
  for (std::int64_t i = 0; i < n; ++i) w[i] = s[i * n + i] * scale;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t least = i;
    for (std::int64_t j = i + 1; j < n; ++j)
      if (w[j] < w[least]) least = j;
    std::swap(w[i], w[least]);
    for (std::int64_t j = 0; j < n && least != i; ++j) std::swap(v[i * n + j], v[least * n + j]);
  }
  fix_signs(n, n, v, v, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(v[i * n + j], v[j * n + i]);
}

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

/// The thin singular value decomposition A = U diag(s) V^T of an m x n matrix, by one-sided Jacobi rotations: U is m x
/// k, s descending, V^T k x n with k the smaller of m and n; all NaN if an element is not finite. scratch: k * (m + n)
/// elements.
template <class T>
void svd(std::int64_t m, std::int64_t n, const T* a, T* u, T* s, T* vt, T* scratch) {
  const bool tall = m >= n;
  const std::int64_t k = tall ? n : m, length = tall ? m : n;
  T *const x = scratch, *const y =
                            scratch +
                            k * length;  // rows of x: columns of A, or rows where it is wide; y x is what they were
  const T scale = scale_of(a, m * n);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < length; ++j) x[i * length + j] = (tall ? a[j * n + i] : a[i * n + j]) / scale;
    for (std::int64_t j = 0; j < k; ++j) y[i * k + j] = i == j;
  }
  if (!all_finite(a, m * n)) {
    fill_nan(u, m * k);
    fill_nan(s, k);
    fill_nan(vt, k * n);
    return;
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
        if (!(std::abs(both) > epsilon * std::sqrt(of_p) * std::sqrt(of_q) && std::abs(both) > nothing * nothing))
          continue;
        more = true;
        const rotation<T> r(of_p, of_q, both);
        r.turn(row, other, length);
        r.turn(y + p * k, y + q * k, k);
      }
  }
  for (std::int64_t i = 0; i < k; ++i) s[i] = std::sqrt(inner(x + i * length, x + i * length, length));
  for (std::int64_t i = 0; i < k; ++i) {
    std::int64_t largest = i;
    for (std::int64_t j = i + 1; j < k; ++j)
      if (s[j] > s[largest]) largest = j;
    if (largest == i) continue;
    std::swap(s[i], s[largest]);
    for (std::int64_t j = 0; j < length; ++j) std::swap(x[i * length + j], x[largest * length + j]);
    for (std::int64_t j = 0; j < k; ++j) std::swap(y[i * k + j], y[largest * k + j]);
  }
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
