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
template <class T>
T largest_of(const T* x, std::int64_t n) {
  T largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}
/// The largest magnitude, or 1 if all are zero: after division by it, squares neither overflow nor underflow where it
/// matters.
template <class T>
T scale_of(const T* x, std::int64_t n) {
  const T largest = largest_of(x, n);
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

/// Rotates the rows x and y, of n numbers: (x, y) becomes (c x - s y, s x + c y).
template <class T>
void turn_rows(T c, T s, T* __restrict x, T* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T before = x[i];
    x[i] = c * before - s * y[i];
    y[i] = s * before + c * y[i];
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
  void turn(T* x, T* y, std::int64_t n) const { turn_rows(c, s, x, y, n); }
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

/// Makes the symmetric s tridiagonal by Householder's reflections: its diagonal w, the numbers beside it e, and the
/// product Q of the reflections, whose columns are the rows of v. s is overwritten. space: n elements.
/// Golub and Van Loan, Matrix Computations, 8.3.1.
template <class T>
void tridiagonal(std::int64_t n, T* s, T* w, T* e, T* v, T* space) {
  for (std::int64_t k = 0; k + 2 < n; ++k) {
    const std::int64_t m = n - k - 1;  // I - tau u u^T, u = (1, row k from its second number behind the diagonal on)
    T* const u = s + k * n + k + 1;
    w[k] = s[k * n + k];
    const T below = largest_of(u + 1, m - 1);
    T& tau = s[k * n + k];
    tau = 0;
    e[k] = u[0];
    if (below == 0) continue;
    const T alpha = u[0], scale = std::max(below, std::abs(alpha));
    for (std::int64_t i = 0; i < m; ++i) u[i] /= scale;
    const T beta = (alpha < 0 ? T(1) : T(-1)) * std::sqrt(inner(u, u, m)), first = u[0] - beta;
    e[k] = beta * scale;
    tau = -first / beta;
    for (std::int64_t i = 1; i < m; ++i) u[i] /= first;
    u[0] = 1;
    T* const rest = s + (k + 1) * n + k + 1;
    for (std::int64_t i = 0; i < m; ++i) space[i] = tau * inner(rest + i * n, u, m);
    const T half = tau / 2 * inner(space, u, m);
    for (std::int64_t i = 0; i < m; ++i) space[i] -= half * u[i];
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) rest[i * n + j] -= u[i] * space[j] + space[i] * u[j];
  }
  for (std::int64_t k = std::max<std::int64_t>(n - 2, 0); k < n; ++k) w[k] = s[k * n + k];
  if (n > 1) e[n - 2] = s[(n - 2) * n + n - 1];
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) v[i * n + j] = i == j;
  for (std::int64_t k = n - 3; k >= 0; --k) {  // the reflections of the unit matrix's columns, from the last on
    const std::int64_t m = n - k - 1;
    const T *const u = s + k * n + k + 1, tau = s[k * n + k];
    T* const rest = v + (k + 1) * n + k + 1;
    if (tau == 0) continue;
    for (std::int64_t j = 0; j < m; ++j) space[j] = rest[j];
    for (std::int64_t i = 1; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) space[j] += u[i] * rest[i * n + j];
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) rest[i * n + j] -= tau * u[i] * space[j];
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(v[i * n + j], v[j * n + i]);
}

/// The eigenvalues of a tridiagonal matrix (its diagonal w, which they overwrite, and e beside it) by the implicit QL
/// method; the rows of v are turned along, and become eigenvectors. False if one is not found in most_sweeps steps.
/// Golub and Van Loan, 8.3.3.
template <class T>
bool implicit_ql(std::int64_t n, T* w, T* e, T* v) {
  for (std::int64_t l = 0; l < n; ++l)
    for (int sweep = 0;; ++sweep) {
      std::int64_t m = l;
      for (; m + 1 < n; ++m) {
        const T beside = std::abs(w[m]) + std::abs(w[m + 1]);
        if (std::abs(e[m]) + beside == beside) break;
      }
      if (m == l) break;
      if (sweep == most_sweeps) return false;
      const T theta = (w[l + 1] - w[l]) / (2 * e[l]), size = std::hypot(theta, T(1));
      T g = w[m] - w[l] + e[l] / (theta + (theta < 0 ? -size : size)), s = 1, c = 1, p = 0;
      std::int64_t i = m - 1;
      for (; i >= l; --i) {
        const T f = s * e[i], b = c * e[i], r = std::hypot(f, g);
        e[i + 1] = r;
        if (r == 0) break;
        s = f / r;
        c = g / r;
        g = w[i + 1] - p;
        const T q = (w[i] - g) * s + 2 * c * b;
        p = s * q;
        w[i + 1] = g + p;
        g = c * q - b;
        turn_rows(c, s, v + i * n, v + (i + 1) * n, n);
      }
      w[i < l ? l : i + 1] -= p;
      if (i < l) e[l] = g;
      e[m] = 0;
    }
  return true;
}

/// Whether no row of the symmetric s, of magnitudes up to 1, is much smaller than the others. Only where rows are
/// of different sizes has Jacobi's method more exact digits of small eigenvalues than a tridiagonal matrix leaves.
/// Demmel and Veselic, SIAM J. Matrix Anal. Appl. 13 (1992), 1204.
template <class T>
bool has_even_rows(std::int64_t n, const T* s) {
  constexpr T least = T(1) / 64;
  for (std::int64_t i = 0; i < n; ++i)
    if (largest_of(s + i * n, n) < least) return false;
  return true;
}

/// The diagonal w of the symmetric s after Jacobi's rotations, which the rows of v, the unit matrix before, become.
template <class T>
void jacobi(std::int64_t n, T* s, T* w, T* v) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) v[i * n + j] = i == j;
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
  for (std::int64_t i = 0; i < n; ++i) w[i] = s[i * n + i];
}

/// Fewer rows than these are Jacobi's, whatever they are.
inline constexpr std::int64_t least_tridiagonal = 5;

/// The eigenvalues w, ascending, of (A + A^T) / 2 and its eigenvectors, the columns of v; all NaN if an element is not
/// finite. scratch: n * (n + 2) elements.
template <class T>
void eigh(std::int64_t n, const T* a, T* w, T* v, T* scratch) {
  if (!all_finite(a, n * n)) {
    fill_nan(w, n);
    fill_nan(v, n * n);
    return;
  }
  T *const s = scratch, *const beside = scratch + n * n;
  const T scale = scale_of(a, n * n);
  const auto read = [&] {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) s[i * n + j] = (a[i * n + j] / scale + a[j * n + i] / scale) / 2;
  };
  read();
  bool found = n >= least_tridiagonal && has_even_rows(n, s);
  if (found) {
    tridiagonal(n, s, w, beside, v, beside + n);
    found = implicit_ql(n, w, beside, v);
    if (!found) read();
  }
  if (!found) jacobi(n, s, w, v);
  for (std::int64_t i = 0; i < n; ++i) w[i] *= scale;
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
