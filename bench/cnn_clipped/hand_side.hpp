// bench/cnn_clipped/hand_side.hpp: by hand: an example at a time, all of constant size, in a few kB; channels are the lanes.
#pragma once

#include "inputs.hpp"

#include <algorithm>
#include <cstring>

namespace cnn {
namespace hand {

typedef float pack __attribute__((vector_size(channels * sizeof(float))));

inline __attribute__((always_inline)) pack load(const float* p) {
  pack x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
/// 1 - 2 / (exp(2 |x|) + 1), with x's sign.
inline float tanh(float x) {
  const float t = std::min(std::abs(x), 10.0f) * 2.88539008f, n = static_cast<float>(static_cast<int>(t + 0.5f));
  const float r = (t - n) * 0.693147181f;
  const float p = 1 + r * (1 + r * (0.5f + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720))))));
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return std::copysign(1 - 2 / (p * scale + 1), x);
}

/// Adds one example's clipped gradient to sum.
inline void add_example(const params& m, const float* image, int label, params& sum) {
  constexpr int wide = side + 2;
  alignas(64) float x[wide * wide] = {}, h[pixels * channels], p[pooled], logits[16] = {}, back[pooled];
  for (int row = 0; row < side; ++row) std::copy_n(image + row * side, side, x + (row + 1) * wide + 1);
  pack kernel[9];
  for (int t = 0; t < 9; ++t) kernel[t] = load(m.kernel + t * channels);
  for (int row = 0; row < side; ++row)
#pragma GCC unroll 8
    for (int column = 0; column < side; ++column) {
      pack z = load(m.shift);
#pragma GCC unroll 9
      for (int t = 0; t < 9; ++t) z += x[(row + t / 3) * wide + column + t % 3] * kernel[t];
      std::memcpy(h + (row * side + column) * channels, &z, sizeof z);
    }
#pragma GCC ivdep
  for (float& z : h) z = tanh(z);
  for (int i = 0; i < half; ++i)
    for (int j = 0; j < half; ++j) {
      const float* from = h + (2 * i * side + 2 * j) * channels;
      const pack mean = 0.25f * (load(from) + load(from + channels) + load(from + side * channels) + load(from + (side + 1) * channels));
      std::memcpy(p + (i * half + j) * channels, &mean, sizeof mean);
    }
  std::copy_n(m.b, classes, logits);
  for (int j = 0; j < pooled; ++j)
    for (int k = 0; k < classes; ++k) logits[k] += p[j] * m.w[j * classes + k];
  float total = 0, squares = 0, of_p = 0;
  const float most = *std::max_element(logits, logits + classes);
  for (int k = 0; k < classes; ++k) total += logits[k] = std::exp(logits[k] - most);
  for (int k = 0; k < classes; ++k) logits[k] /= total;
  logits[label] -= 1;
  for (int k = 0; k < classes; ++k) squares += logits[k] * logits[k];
  for (int j = 0; j < pooled; ++j) of_p += p[j] * p[j];
  squares += squares * of_p;  // w's gradient is an outer product: so is its norm
  for (int j = 0; j < pooled; ++j) {
    float d = 0;
    for (int k = 0; k < classes; ++k) d += m.w[j * classes + k] * logits[k];
    back[j] = 0.25f * d;
  }
  pack slope[9] = {}, shift = {};
  for (int row = 0; row < side; ++row)
#pragma GCC unroll 8
    for (int column = 0; column < side; ++column) {
      const pack a = load(h + (row * side + column) * channels), d = load(back + (row / 2 * half + column / 2) * channels) * (1 - a * a);
      shift += d;
#pragma GCC unroll 9
      for (int t = 0; t < 9; ++t) slope[t] += x[(row + t / 3) * wide + column + t % 3] * d;
    }
  for (int c = 0; c < channels; ++c) {
    squares += shift[c] * shift[c];
    for (const pack& s : slope) squares += s[c] * s[c];
  }
  const float scale = std::min(1.0f, bound / std::sqrt(squares));
  for (int c = 0; c < channels; ++c) {
    sum.shift[c] += scale * shift[c];
    for (int t = 0; t < 9; ++t) sum.kernel[t * channels + c] += scale * slope[t][c];
  }
  for (int k = 0; k < classes; ++k) sum.b[k] += logits[k] *= scale;
  for (int j = 0; j < pooled; ++j)
    for (int k = 0; k < classes; ++k) sum.w[j * classes + k] += p[j] * logits[k];
}

}  // namespace hand

inline void hand_side(const inputs& in, params& out) {
  params total{};
  const auto each = [](params& to, const params& from, float scale) {
    auto* p = reinterpret_cast<float*>(&to);
    const auto* q = reinterpret_cast<const float*>(&from);
    for (std::size_t i = 0; i < params::size; ++i) p[i] = (p[i] + q[i]) * scale;
  };
#pragma omp parallel
  {
    params mine{};
#pragma omp for schedule(static) nowait
    for (int n = 0; n < batch; ++n)
      hand::add_example(in.model, &in.x[static_cast<std::size_t>(n * pixels)], in.y[static_cast<std::size_t>(n)], mine);
#pragma omp critical
    each(total, mine, 1.0f);
  }
  out = params{};
  each(out, total, 1.0f / batch);
}

}  // namespace cnn
