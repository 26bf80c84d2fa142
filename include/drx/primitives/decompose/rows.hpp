// drx/primitives/decompose/rows.hpp: what QR, symmetric eigenvalues and singular values share: sums along rows,
// sizes, rotations, signs. Plain evaluation and compiled programs run the same loops, without allocation; sums have a
// fixed order.
#pragma once

#include <drx/scalar/pack.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace drx::decompose {

/// The sum of x[i] y[i] in an order that n alone decides: eight lanes side by side, four times where there are enough
/// numbers, so that additions need not wait for each other; then the lanes.
template <class T>
T inner(const T* x, const T* y, std::int64_t n) {
  constexpr int lanes = 8, chains = 4;
  using pack = ad::pack<T, lanes>;
  pack sum;
  std::int64_t i = 0;
  if (n >= 2 * lanes * chains) {
    pack part[chains];
    for (; i + lanes * chains <= n; i += lanes * chains) DRX_UNROLL
    for (int c = 0; c < chains; ++c) part[c] += pack::load(x + i + c * lanes) * pack::load(y + i + c * lanes);
    sum = (part[0] + part[2]) + (part[1] + part[3]);
  }
  for (; i + lanes <= n; i += lanes) sum += pack::load(x + i) * pack::load(y + i);
  T lane[lanes];
  sum.store(lane);
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

/// Sorts s descending, and the rows of x and y with it.
template <class T>
void sort_descending(std::int64_t k, T* s, T* x, std::int64_t of_x, T* y, std::int64_t of_y) {
  for (std::int64_t i = 0; i < k; ++i) {
    std::int64_t largest = i;
    for (std::int64_t j = i + 1; j < k; ++j)
      if (s[j] > s[largest]) largest = j;
    if (largest == i) continue;
    std::swap(s[i], s[largest]);
    for (std::int64_t j = 0; j < of_x; ++j) std::swap(x[i * of_x + j], x[largest * of_x + j]);
    for (std::int64_t j = 0; j < of_y; ++j) std::swap(y[i * of_y + j], y[largest * of_y + j]);
  }
}

}  // namespace drx::decompose
