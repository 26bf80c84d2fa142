// bench/logistic_regression/hand_side.hpp: fused by hand: eight rows at a time, the weights and the gradient's sums in
// registers, the rows after next fetched ahead. exp and log1p in the range that they are needed for, to about 2 ulp.
#pragma once

#include "inputs.hpp"

#include <algorithm>
#include <cstring>

namespace logistic::hand {

inline constexpr int width = 16;  // of a pack; the compiler cuts it where registers are narrower
typedef float pack __attribute__((vector_size(width * sizeof(float))));

inline constexpr int packs = features / width, tail = features % width, last = features - width;
inline constexpr int group = 8;             // rows
inline constexpr int ahead = 2 * group;     // rows
inline constexpr std::size_t part = 4096;   // rows whose sums are float

inline __attribute__((always_inline)) pack load(const float* p) {
  pack x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
inline __attribute__((always_inline)) float sum_of(pack x) {
  x += __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  x += __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  x += __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  return x[0] + x[1];
}
/// exp(-a) for a >= 0.
inline float exp_minus(float a) {
  const float t = std::min(a, 87.0f) * -1.44269504f, n = static_cast<float>(static_cast<int>(t - 0.5f));
  const float r = (t - n) * 0.693147181f;
  const float p = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)))))));
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}
/// log(1 + e) for e in [0, 1].
inline float log1p(float e) {
  const float s = e / (2 + e), q = s * s;
  return 2 * s * (1 + q * (1.0f / 3 + q * (1.0f / 5 + q * (1.0f / 7 + q * (1.0f / 9 + q * (1.0f / 11 + q * (1.0f / 13)))))));
}

/// Adds the sums of rows [begin, end) to total, and their losses to loss.
inline void add_rows(const inputs& in, std::size_t begin, std::size_t end, double& loss, double* total) {
  pack w[packs + 1], sum[packs + 1] = {};  // the last pack ends with the row; lanes that it shares are zero in w
  for (int k = 0; k < packs; ++k) w[k] = load(&in.w[static_cast<std::size_t>(k * width)]);
  w[packs] = load(&in.w[last]);
  for (int j = 0; j < width - tail; ++j) w[packs][j] = 0;
  alignas(64) float z[group], d[group], lost[group] = {};
  for (std::size_t i = begin; i < end; i += group) {
    const float* x = &in.x[i * features];
#pragma GCC unroll 64
    for (int at = 0; at < group * features; at += 16) __builtin_prefetch(x + ahead * features + at);
#pragma GCC unroll 8
    for (int r = 0; r < group; ++r) {
      pack dot = load(x + r * features + last) * w[packs];
#pragma GCC unroll 8
      for (int k = 0; k < packs; ++k) dot += load(x + r * features + k * width) * w[k];
      z[r] = sum_of(dot);
    }
    for (int r = 0; r < group; ++r) {
      const float e = exp_minus(std::abs(z[r])), y = in.y[i + static_cast<std::size_t>(r)];
      d[r] = (z[r] > 0 ? 1.0f : e) / (1 + e) - y;
      lost[r] += std::max(z[r], 0.0f) + log1p(e) - y * z[r];
    }
#pragma GCC unroll 8
    for (int r = 0; r < group; ++r) {
#pragma GCC unroll 8
      for (int k = 0; k < packs; ++k) sum[k] += load(x + r * features + k * width) * d[r];
      sum[packs] += load(x + r * features + last) * d[r];
    }
  }
  for (float l : lost) loss += static_cast<double>(l);
  for (int j = 0; j < packs * width; ++j) total[j] += static_cast<double>(sum[j / width][j % width]);
  for (int j = 0; j < tail; ++j) total[packs * width + j] += static_cast<double>(sum[packs][width - tail + j]);
}

}  // namespace logistic::hand

namespace logistic {

inline void hand_side(const inputs& in, answer& out) {
  static_assert(rows % hand::group == 0);
  double loss = 0, total[features] = {};
#pragma omp parallel reduction(+ : loss, total)
#pragma omp for schedule(static)
  for (std::size_t first = 0; first < rows; first += hand::part)
    hand::add_rows(in, first, std::min(rows, first + hand::part), loss, total);
  out.loss = static_cast<float>(loss / static_cast<double>(rows));
  for (int j = 0; j < features; ++j) out.slope[j] = static_cast<float>(total[j] / static_cast<double>(rows));
}

}  // namespace logistic
