// drx/primitives/decompose/qr.hpp: the loops of QR, on row-major matrices.
#pragma once

#include <drx/primitives/decompose/rows.hpp>

namespace drx::decompose {

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

}  // namespace drx::decompose
