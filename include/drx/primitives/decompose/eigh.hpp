// drx/primitives/decompose/eigh.hpp: the loops of symmetric eigenvalues, on row-major matrices.
#pragma once

#include <drx/primitives/decompose/rows.hpp>

#include <utility>

namespace drx::decompose {

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

}  // namespace drx::decompose
