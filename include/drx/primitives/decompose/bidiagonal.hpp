// drx/primitives/decompose/bidiagonal.hpp: singular values by a bidiagonal matrix, as exact as the largest of them
// allows.
#pragma once

#include <drx/primitives/decompose/qr.hpp>
#include <drx/primitives/decompose/reflections.hpp>
#include <drx/primitives/decompose/rows.hpp>

#include <utility>

namespace drx::decompose {

/// Makes the k x k matrix x upper bidiagonal by reflections from both sides: its diagonal d, the numbers e beside it.
/// The reflections' vectors are the rows of `left` and `right` (in_blocks(k) x k), their blocks' triangles t_left and
/// t_right (in_blocks(k) x block_size). x is overwritten. space: k elements. Golub and Van Loan, 5.4.8.
template <class T>
void bidiagonal(std::int64_t k, T* x, T* d, T* e, T* left, T* t_left, T* right, T* t_right, T* space) {
  for (std::int64_t i = 0; i < in_blocks(k) * k; ++i) left[i] = right[i] = 0;
  for (std::int64_t first = 0; first < k; first += block_size) {
    T tau_left[block_size] = {}, tau_right[block_size] = {};
    for (std::int64_t j = first; j < std::min(first + block_size, k); ++j) {
      T *const v = left + j * k, *const u = right + j * k;
      for (std::int64_t i = j; i < k; ++i) v[i] = x[i * k + j];
      const T tau = tau_left[j - first] = make_reflection(v + j, k - j, d[j]);
      if (j + 1 == k) break;
      const std::int64_t rest = k - j - 1;
      for (std::int64_t l = j + 1; l < k; ++l) space[l] = 0;
      for (std::int64_t i = j; i < k; ++i)
        for (std::int64_t l = j + 1; l < k; ++l) space[l] += v[i] * x[i * k + l];
      for (std::int64_t l = j + 1; l < k; ++l) {
        space[l] *= tau;
        u[l] = x[j * k + l] - space[l];
      }
      const T other_tau = tau_right[j - first] = make_reflection(u + j + 1, rest, e[j]);
      for (std::int64_t i = j + 1; i < k; ++i) {
        T* const row = x + i * k + j + 1;
        for (std::int64_t l = 0; l < rest; ++l) row[l] -= v[i] * space[j + 1 + l];
        const T part = other_tau * inner(row, u + j + 1, rest);
        for (std::int64_t l = 0; l < rest; ++l) row[l] -= part * u[j + 1 + l];
      }
    }
    make_triangle(left + first * k + first, k - first, k, tau_left, t_left + first * block_size);
    make_triangle(right + first * k + first, k - first, k, tau_right, t_right + first * block_size);
  }
}

/// The length of (x, y), neither of which is large.
template <class T>
T length_of(T x, T y) {
  constexpr T safe = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  const T squares = x * x + y * y;  // of smaller numbers digits would be lost
  return squares > safe ? std::sqrt(squares) : std::hypot(x, y);
}

/// The rotation that takes (x, y) to (length, 0).
template <class T>
struct rotation_to_axis {
  T length, c = 1, s = 0;
  rotation_to_axis(T x, T y) : length(length_of(x, y)) {
    if (length == 0) return;
    c = x / length;
    s = y / length;
  }
  /// (x, y) becomes (c x + s y, c y - s x).
  void turn(T* x, T* y, std::int64_t n) const { turn_rows(c, -s, x, y, n); }
};

/// The singular values of an upper bidiagonal matrix (its diagonal d, which they overwrite, and e beside it) by the
/// implicit QR method. They may be negative, and have any order. The rows of x and y, of k numbers, are turned along
/// with the rows and columns. False if one is not found in most_sweeps steps. Golub and Van Loan, 8.6.2.
template <class T>
bool implicit_qr(std::int64_t k, T* d, T* e, T* x, T* y) {
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  const T nothing = epsilon * std::max(largest_of(d, k), largest_of(e, k - 1));
  for (std::int64_t m = k - 1; m > 0; --m)
    for (int sweep = 0;; ++sweep) {
      std::int64_t l = m;
      for (; l > 0; --l)
        if (std::abs(e[l - 1]) <= epsilon * (std::abs(d[l - 1]) + std::abs(d[l])) ||
            std::abs(e[l - 1]) <= nothing / 8) {
          e[l - 1] = 0;
          break;
        }
      if (l == m) break;
      if (sweep == most_sweeps) return false;
      std::int64_t zero = m - 1;  // the last row of the block, but for its end, with nothing on the diagonal
      while (zero >= l && std::abs(d[zero]) > nothing) --zero;
      if (zero >= l) {  // what is beside it is turned away
        T beside = std::exchange(e[zero], T(0));
        for (std::int64_t i = zero + 1; i <= m && beside != 0; ++i) {
          const rotation_to_axis<T> r(d[i], beside);
          d[i] = r.length;
          r.turn(x + i * k, x + zero * k, k);
          if (i == m) break;
          beside = -r.s * e[i];
          e[i] *= r.c;
        }
        continue;
      }
      const T before = m - 1 > l ? e[m - 2] : T(0), last = e[m - 1], p = d[m - 1], q = d[m];
      const T theta = ((p - q) * (p + q) + (before - last) * (before + last)) / (2 * last * p),
              size = length_of(theta, T(1));
      T f = ((d[l] - q) * (d[l] + q) + last * (p / (theta + (theta < 0 ? -size : size)) - last)) / d[l], g = e[l];
      for (std::int64_t i = l; i < m; ++i) {
        const rotation_to_axis<T> columns(f, g);
        if (i > l) e[i - 1] = columns.length;
        f = columns.c * d[i] + columns.s * e[i];
        e[i] = columns.c * e[i] - columns.s * d[i];
        const rotation_to_axis<T> rows(f, columns.s * d[i + 1]);
        d[i + 1] *= columns.c;
        columns.turn(y + i * k, y + (i + 1) * k, k);
        d[i] = rows.length;
        f = rows.c * e[i] + rows.s * d[i + 1];
        d[i + 1] = rows.c * d[i + 1] - rows.s * e[i];
        if (i + 1 < m) {
          g = rows.s * e[i + 1];
          e[i + 1] *= rows.c;
        }
        rows.turn(x + i * k, x + (i + 1) * k, k);
      }
      e[m - 1] = f;
    }
  return true;
}

/// The elements of scratch memory that svd_of_tall takes.
constexpr std::int64_t bidiagonal_scratch(std::int64_t length, std::int64_t k) {
  return in_blocks(k) * (length + 2 * k + 3 * block_size) + 3 * k * k + 2 * k;
}
/// A = U diag(s) V^T of an m x k matrix, m >= k, of magnitudes up to 1, which u has and U overwrites. The rows of vt
/// become those of V^T. scratch: bidiagonal_scratch(m, k) elements. False if a singular value was not found.
template <class T>
bool svd_of_tall(std::int64_t m, std::int64_t k, T* u, T* s, T* vt, T* scratch) {
  const auto take = [&scratch](std::int64_t n) { return std::exchange(scratch, scratch + n); };
  T *const v = take(in_blocks(k) * m), *const t = take(in_blocks(k) * block_size);
  T *const left = take(in_blocks(k) * k), *const t_left = take(in_blocks(k) * block_size);
  T *const right = take(in_blocks(k) * k), *const t_right = take(in_blocks(k) * block_size);
  T *const r = take(k * k), *const x = take(k * k), *const y = take(k * k), *const e = take(k), *const space = take(k);
  reflect_to_triangle(m, k, u, r, v, t);
  bidiagonal(k, r, s, e, left, t_left, right, t_right, space);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < k; ++j) x[i * k + j] = y[i * k + j] = i == j;
  if (!implicit_qr(k, s, e, x, y)) return false;
  for (std::int64_t i = 0; i < k; ++i) {
    if (!std::signbit(s[i])) continue;  // zeros have no sign either
    s[i] = -s[i];
    for (std::int64_t j = 0; j < k; ++j) y[i * k + j] = -y[i * k + j];
  }
  sort_descending(k, s, x, k, y, k);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < k; ++j) {
      u[i * k + j] = x[j * k + i];
      r[i * k + j] = y[j * k + i];
    }
  for (std::int64_t i = k * k; i < m * k; ++i) u[i] = 0;
  apply_reflections(k, k, left, t_left, u, k);
  apply_reflections(m, k, v, t, u, k);
  apply_reflections(k, k, right, t_right, r, k);
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < k; ++j) vt[i * k + j] = r[j * k + i];
  return true;
}

}  // namespace drx::decompose
