// bench/logistic_regression/hand_side.hpp: fused by hand: sixteen rows at a time, whose logits go through exp and log1p in one vector;
// the sums of the sixteen before are added up between their dot products, eight rows of the one and eight of the other; the weights and
// the sums stay in registers, and rows further on are fetched ahead. exp and log1p in the range that they are needed for, to about 2 ulp.
#pragma once

#include "inputs.hpp"

#include <algorithm>
#include <cstring>

namespace logistic::hand {

inline constexpr int width = 16;  // of a pack; the compiler cuts it where registers are narrower
typedef float pack __attribute__((vector_size(width * sizeof(float))));
typedef std::int32_t whole __attribute__((vector_size(width * sizeof(float))));
typedef float half_pack __attribute__((vector_size(width / 2 * sizeof(float))));

inline constexpr int packs = features / width, tail = features % width, last = features - width;
inline constexpr int block = width;        // rows
inline constexpr int group = 8;            // rows of a turn
inline constexpr int ahead = 3 * group;    // rows
inline constexpr std::size_t part = 4000;  // rows whose sums are float

template <class V>
inline __attribute__((always_inline)) V load(const float* p) {
  V x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
/// Interleaves the lanes of a and b and adds the halves: the partial sums of two rows, half as many of each.
inline __attribute__((always_inline)) pack fold(pack a, pack b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23) +
         __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
/// The sums of eight packs' lanes.
inline __attribute__((always_inline)) half_pack sums_of(const pack* x) {
  const pack all = fold(fold(fold(x[0], x[4]), fold(x[2], x[6])), fold(fold(x[1], x[5]), fold(x[3], x[7])));
  return __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) + __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
}
/// exp(-a) for a >= 0.
inline __attribute__((always_inline)) pack exp_minus(pack a) {
  const pack t = (a < 87.0f ? a : 87.0f - pack{}) * -1.44269504f;
  const whole n = __builtin_convertvector(t - 0.5f, whole);
  const pack r = (t - __builtin_convertvector(n, pack)) * 0.693147181f;
  const pack p = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)))))));
  return p * reinterpret_cast<pack>((n + 127) << 23);
}
/// log(1 + e) for e in [0, 1].
inline __attribute__((always_inline)) pack log1p(pack e) {
  const pack s = e / (2 + e), q = s * s;
  return 2 * s * (1 + q * (1.0f / 3 + q * (1.0f / 5 + q * (1.0f / 7 + q * (1.0f / 9 + q * (1.0f / 11 + q * (1.0f / 13)))))));
}
/// Fetches one half of as much as a group of rows has. (Unrolled, it would come in too short a burst.)
inline __attribute__((always_inline)) void fetch(const float* x, int which) {
  constexpr int half = group * features / 2;
#pragma GCC unroll 1
  for (int at = which * half; at < (which + 1) * half; at += 16) __builtin_prefetch(x + at);
}
/// The logits of a group of rows.
inline __attribute__((always_inline)) half_pack logits(const float* x, const pack* w) {
  pack dot[group] = {};
#pragma GCC unroll 8
  for (int k = 0; k <= packs; ++k)
#pragma GCC unroll 8
    for (int r = 0; r < group; ++r) dot[r] += load<pack>(x + r * features + (k < packs ? k * width : last)) * w[k];
  return sums_of(dot);
}
/// sum += rows of a group, each times its slope.
inline __attribute__((always_inline)) void add_group(const float* x, const float* slope, pack* sum) {
#pragma GCC unroll 8
  for (int r = 0; r < group; ++r)
#pragma GCC unroll 8
    for (int k = 0; k <= packs; ++k) sum[k] += load<pack>(x + r * features + (k < packs ? k * width : last)) * slope[r];
}

/// Adds the sums of rows [begin, end) to total, and their losses to loss.
inline void add_rows(const inputs& in, std::size_t begin, std::size_t end, double& loss, double* total) {
  pack w[packs + 1], sum[packs + 1] = {};  // the last pack ends with the row; lanes that it shares are zero in w
  for (int k = 0; k < packs; ++k) w[k] = load<pack>(&in.w[static_cast<std::size_t>(k * width)]);
  w[packs] = load<pack>(&in.w[last]);
  for (int j = 0; j < width - tail; ++j) w[packs][j] = 0;
  pack lost = {};
  alignas(64) float z[block], slopes[block] = {};
  const float* before = &in.x[begin * features];  // the block in front; of the first there is none, and its slopes are zeros
  for (std::size_t i = begin; i < end; i += block) {
    const float* x = &in.x[i * features];
#pragma GCC unroll 1
    for (int g = 0; g < block; g += group) {
      const float* rows = x + g * features;
      fetch(rows + ahead * features, 0);
      const half_pack found = logits(rows, w);
      std::memcpy(z + g, &found, sizeof found);
      fetch(rows + ahead * features, 1);
      add_group(before + g * features, slopes + g, sum);
    }
    const pack a = load<pack>(z), y = load<pack>(&in.y[i]), e = exp_minus(a > 0 ? a : -a);
    lost += (a > 0 ? a : pack{}) + log1p(e) - y * a;
    const pack slope = (a > 0 ? 1 - pack{} : e) / (1 + e) - y;
    std::memcpy(slopes, &slope, sizeof slope);
    before = x;
  }
  for (int g = 0; g < block; g += group) add_group(before + g * features, slopes + g, sum);
  for (int r = 0; r < block; ++r) loss += static_cast<double>(lost[r]);
  for (int j = 0; j < packs * width; ++j) total[j] += static_cast<double>(sum[j / width][j % width]);
  for (int j = 0; j < tail; ++j) total[packs * width + j] += static_cast<double>(sum[packs][width - tail + j]);
}

}  // namespace logistic::hand

namespace logistic {

inline void hand_side(const inputs& in, answer& out) {
  static_assert(rows % hand::block == 0 && hand::part % hand::block == 0);
  double loss = 0, total[features] = {};
#pragma omp parallel reduction(+ : loss, total)
#pragma omp for schedule(static)
  for (std::size_t first = 0; first < rows; first += hand::part)
    hand::add_rows(in, first, std::min(rows, first + hand::part), loss, total);
  out.loss = static_cast<float>(loss / static_cast<double>(rows));
  for (int j = 0; j < features; ++j) out.slope[j] = static_cast<float>(total[j] / static_cast<double>(rows));
}

}  // namespace logistic
