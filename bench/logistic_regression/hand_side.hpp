// bench/logistic_regression/hand_side.hpp: fused by hand, sixteen rows at a time. Their logits go through exp and log1p
// in one vector, in double in two. The sums of the previous sixteen rows are added up between their dot products, eight
// rows of the one and eight of the other. The weights and the sums stay in registers as far as there are any, and rows
// further on are fetched ahead. exp and log1p are computed in the range that they are needed for, to about 2 ulp.
#pragma once

#include "inputs.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace logistic::hand {

/// Packs of 64 bytes; the compiler splits them where registers are narrower.
template <class T>
struct vectors {
  static constexpr int width = 64 / sizeof(T);
  using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef T pack __attribute__((vector_size(64)));
  typedef integer whole __attribute__((vector_size(64)));
  static constexpr int packs = features / width, tail = features % width, last = features - width;
};
template <class T>
using pack = typename vectors<T>::pack;

inline constexpr int block = 16;           // rows
inline constexpr int group = 8;            // rows of a turn
inline constexpr std::size_t part = 4000;  // rows whose sums are of type T

template <class V, class T>
inline __attribute__((always_inline)) V load(const T* p) {
  V x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
/// A pack of a row's numbers.
template <class T>
inline __attribute__((always_inline)) pack<T> numbers_of(const T* p) {
  return load<pack<T>>(p);
}
template <class T>
inline __attribute__((always_inline)) pack<T> numbers_of(const brain_float* p) {
  typedef std::uint16_t halves __attribute__((vector_size(32)));
  typedef std::uint32_t words __attribute__((vector_size(64)));
  return reinterpret_cast<pack<T>>(__builtin_convertvector(load<halves>(p), words) << 16);
}
/// Interleaves the lanes of a and b and adds the halves: the partial sums of two rows, half as many of each.
inline __attribute__((always_inline)) pack<float> fold(pack<float> a, pack<float> b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23) +
         __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
inline __attribute__((always_inline)) pack<double> fold(pack<double> a, pack<double> b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11) +
         __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
/// Writes eight sums, which lie in eight lanes, or in two lanes each.
inline __attribute__((always_inline)) void store_eight(pack<double> sums, double* to) {
  std::memcpy(to, &sums, sizeof sums);
}
inline __attribute__((always_inline)) void store_eight(pack<float> sums, float* to) {
  const auto eight = __builtin_shufflevector(sums, sums, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(sums, sums, 8, 9, 10, 11, 12, 13, 14, 15);
  std::memcpy(to, &eight, sizeof eight);
}
/// exp(-a) for a >= 0.
template <class T>
inline __attribute__((always_inline)) pack<T> exp_minus(pack<T> a) {
  using whole = typename vectors<T>::whole;
  constexpr bool is_float = sizeof(T) == 4;
  const pack<T> most = T(is_float ? 87 : 708) - pack<T>{};
  const pack<T> t = (a < most ? a : most) * T(-1.4426950408889634);
  const whole n = __builtin_convertvector(t - T(0.5), whole);
  const pack<T> r = (t - __builtin_convertvector(n, pack<T>)) * T(0.6931471805599453);
  constexpr int terms = is_float ? 7 : 13;
  pack<T> p = 1 + r * (T(1) / T(terms));
#pragma GCC unroll 16
  for (int k = terms - 1; k > 0; --k) p = 1 + r * p * (T(1) / T(k));
  return p * reinterpret_cast<pack<T>>((n + (is_float ? 127 : 1023)) << (is_float ? 23 : 52));
}
/// log(1 + e) for e in [0, 1].
template <class T>
inline __attribute__((always_inline)) pack<T> log1p(pack<T> e) {
  const pack<T> s = e / (2 + e), q = s * s;
  constexpr int terms = sizeof(T) == 4 ? 6 : 15;
  pack<T> p = T(1) / T(2 * terms + 1) - pack<T>{};
#pragma GCC unroll 16
  for (int k = terms - 1; k >= 0; --k) p = T(1) / T(2 * k + 1) + q * p;
  return 2 * s * p;
}
/// Fetches half as many bytes as a group of rows has. (Unrolled, the fetches would come in too short a burst.)
template <class X>
inline __attribute__((always_inline)) void fetch(const X* x, int which) {
  constexpr int half = group * features / 2;
#pragma GCC unroll 1
  for (int at = which * half; at < (which + 1) * half; at += 64 / static_cast<int>(sizeof(X)))
    __builtin_prefetch(x + at);
}
/// The element at which pack k of a row begins: the last pack ends with the row.
template <class T>
constexpr int begin_of(int k) {
  return k < vectors<T>::packs ? k * vectors<T>::width : vectors<T>::last;
}
/// The logits of a group of rows.
template <class T, class X>
inline __attribute__((always_inline)) void logits(const X* x, const pack<T>* w, T* to) {
  pack<T> dot[group] = {};
#pragma GCC unroll 16
  for (int k = 0; k <= vectors<T>::packs; ++k)
#pragma GCC unroll 8
    for (int r = 0; r < group; ++r) dot[r] += numbers_of<T>(x + r * features + begin_of<T>(k)) * w[k];
  store_eight(fold(fold(fold(dot[0], dot[4]), fold(dot[2], dot[6])), fold(fold(dot[1], dot[5]), fold(dot[3], dot[7]))),
              to);
}
/// sum += rows of a group, each times its slope.
template <class T, class X>
inline __attribute__((always_inline)) void add_group(const X* x, const T* slope, pack<T>* sum) {
#pragma GCC unroll 8
  for (int r = 0; r < group; ++r)
#pragma GCC unroll 16
    for (int k = 0; k <= vectors<T>::packs; ++k) sum[k] += numbers_of<T>(x + r * features + begin_of<T>(k)) * slope[r];
}

/// Adds the sums of rows [begin, end) to total, and their losses to loss.
template <class T, class X>
void add_rows(const inputs<T, X>& in, std::size_t begin, std::size_t end, double& loss, double* total) {
  constexpr int width = vectors<T>::width, packs = vectors<T>::packs, tail = vectors<T>::tail;
  constexpr int ahead = 9600 / static_cast<int>(sizeof(X));
  pack<T> w[packs + 1], sum[packs + 1] = {};  // lanes that the last pack shares with the one before are zero in w
  for (int k = 0; k <= packs; ++k) w[k] = load<pack<T>>(&in.w[static_cast<std::size_t>(begin_of<T>(k))]);
  for (int j = 0; j < width - tail; ++j) w[packs][j] = 0;
  pack<T> lost = {};
  alignas(64) T z[block], slopes[block] = {};
  const X* before = &in.x[begin * features];  // the previous block; the first has none, and its slopes are zeros
  for (std::size_t i = begin; i < end; i += block) {
    const X* x = &in.x[i * features];
#pragma GCC unroll 1
    for (int g = 0; g < block; g += group) {
      const X* rows = x + g * features;
      fetch(rows + ahead, 0);
      logits<T>(rows, w, z + g);
      fetch(rows + ahead, 1);
      add_group(before + g * features, slopes + g, sum);
    }
#pragma GCC unroll 2
    for (int g = 0; g < block; g += width) {
      const pack<T> a = load<pack<T>>(z + g), y = load<pack<T>>(&in.y[i + static_cast<std::size_t>(g)]),
                    e = exp_minus<T>(a > 0 ? a : -a);
      lost += (a > 0 ? a : pack<T>{}) + log1p<T>(e) - y * a;
      const pack<T> slope = (a > 0 ? 1 - pack<T>{} : e) / (1 + e) - y;
      std::memcpy(slopes + g, &slope, sizeof slope);
    }
    before = x;
  }
  for (int g = 0; g < block; g += group) add_group(before + g * features, slopes + g, sum);
  for (int r = 0; r < width; ++r) loss += static_cast<double>(lost[r]);
  for (int j = 0; j < packs * width; ++j) total[j] += static_cast<double>(sum[j / width][j % width]);
  for (int j = 0; j < tail; ++j) total[packs * width + j] += static_cast<double>(sum[packs][width - tail + j]);
}

}  // namespace logistic::hand

namespace logistic {

/// The number of rows is a multiple of a block's.
template <class T, class X>
void hand_side(const inputs<T, X>& in, answer<T>& out) {
  static_assert(hand::part % hand::block == 0);
  double loss = 0, total[features] = {};
#pragma omp parallel reduction(+ : loss, total)
#pragma omp for schedule(static)
  for (std::size_t first = 0; first < in.rows; first += hand::part)
    hand::add_rows(in, first, std::min(in.rows, first + hand::part), loss, total);
  out.loss = static_cast<T>(loss / static_cast<double>(in.rows));
  for (int j = 0; j < features; ++j) out.slope[j] = static_cast<T>(total[j] / static_cast<double>(in.rows));
}

}  // namespace logistic
