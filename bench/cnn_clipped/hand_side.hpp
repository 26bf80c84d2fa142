// bench/cnn_clipped/hand_side.hpp: the program by hand: sixteen examples at a time, one in each lane, with channels and
// classes unrolled into registers. The dense layer's gradient is one product over all examples, clipped before it.
#pragma once

#include <vectors.hpp>

#include "inputs.hpp"

#include <algorithm>

namespace cnn {
namespace hand {

inline constexpr int lanes = 16, blocks = batch / lanes, wide = side + 2;
typedef float pack __attribute__((vector_size(lanes * sizeof(float))));
using bench::exp, bench::sum, bench::tanh;

}  // namespace hand

class hand_side {
  using pack = hand::pack;
  static constexpr int lanes = hand::lanes, blocks = hand::blocks, wide = hand::wide;

 public:
  void call(const inputs& in, params& out) {
    out = params{};
#pragma omp parallel
    {
      pack slope[9 * channels + channels] = {};  // of kernel and shift
#pragma omp for schedule(static)
      for (int b = 0; b < blocks; ++b) block(in, b, slope);
#pragma omp for schedule(static) nowait
      for (int j = 0; j < pooled; j += 2) dense_slope(j, out.w + j * classes);
#pragma omp critical
      {
        for (int i = 0; i < 9 * channels; ++i) out.kernel[i] += hand::sum(slope[i]) / batch;
        for (int c = 0; c < channels; ++c) out.shift[c] += hand::sum(slope[9 * channels + c]) / batch;
      }
    }
    for (int k = 0; k < classes; ++k)
      for (const auto& d : d_) out.b[k] += hand::sum(d[k]) / batch;
  }
  /// The members' bytes, and those of a thread's block.
  static std::size_t temp_bytes() {
    return sizeof(hand_side) + (wide * wide + pixels * channels + pooled + 10 * channels) * sizeof(pack);
  }

 private:
  void block(const inputs& in, int b, pack* total) {
    alignas(64) pack x[wide * wide] = {}, h[pixels][channels], back[pooled];
    pack(&p)[pooled] = p_[b], (&d)[classes] = d_[b];
    const float* images = &in.x[static_cast<std::size_t>(b * lanes * pixels)];
    for (int i = 0; i < pixels; ++i)
      for (int l = 0; l < lanes; ++l) x[(i / side + 1) * wide + i % side + 1][l] = images[l * pixels + i];
    forward(in.model, x, h, p);
    pack squares{}, of_p{};
    softmax_slope(in, b, p, d);
    for (const pack& v : d) squares += v * v;
    for (const pack& v : p) of_p += v * v;
    squares += squares * of_p;  // w's gradient is an outer product, and so its norm is a product
    for (int j = 0; j < pooled; ++j) {
      pack s{};
#pragma GCC unroll 10
      for (int k = 0; k < classes; ++k) s += d[k] * in.model.w[j * classes + k];
      back[j] = 0.25f * s;
    }
    pack slope[10 * channels];
    for (int c = 0; c < channels; c += 2) backward(x, h, back, c, slope);
    for (const pack& v : slope) squares += v * v;
    pack scale;
    for (int l = 0; l < lanes; ++l) scale[l] = std::min(1.0f, bound / std::sqrt(squares[l]));
    for (int i = 0; i < 10 * channels; ++i) total[i] += scale * slope[i];
    for (pack& v : d) v *= scale;
  }

  /// The forward pass, a window of four pixels and four channels at a time: 16 sums.
  static void forward(const params& m, const pack* x, pack (*h)[channels], pack* p) {
    for (int i = 0; i < half; ++i)
      for (int j = 0; j < half; ++j)
        for (int c = 0; c < channels; c += 4) {
          pack z[4][4];
#pragma GCC unroll 16
          for (int n = 0; n < 16; ++n) z[n / 4][n % 4] = m.shift[c + n % 4] - pack{};
#pragma GCC unroll 9
          for (int t = 0; t < 9; ++t)
#pragma GCC unroll 16
            for (int n = 0; n < 16; ++n)
              z[n / 4][n % 4] +=
                  x[(2 * i + n / 8 + t / 3) * wide + 2 * j + n / 4 % 2 + t % 3] * m.kernel[t * channels + c + n % 4];
#pragma GCC unroll 4
          for (int e = 0; e < 4; ++e) {
            pack mean{};
#pragma GCC unroll 4
            for (int q = 0; q < 4; ++q) mean += h[(2 * i + q / 2) * side + 2 * j + q % 2][c + e] = hand::tanh(z[q][e]);
            p[(i * half + j) * channels + c + e] = 0.25f * mean;
          }
        }
  }
  static void softmax_slope(const inputs& in, int b, const pack* p, pack (&d)[classes]) {
    pack y[classes];
#pragma GCC unroll 10
    for (int k = 0; k < classes; ++k) y[k] = in.model.b[k] - pack{};
    for (int j = 0; j < pooled; ++j)
#pragma GCC unroll 10
      for (int k = 0; k < classes; ++k) y[k] += p[j] * in.model.w[j * classes + k];
    pack most = y[0], all{};
    for (const pack& v : y) most = v > most ? v : most;
    for (pack& v : y) all += v = hand::exp(v - most);
    for (int k = 0; k < classes; ++k) d[k] = y[k] / all;
    for (int l = 0; l < lanes; ++l) d[in.y[static_cast<std::size_t>(b * lanes + l)]][l] -= 1;
  }
  /// The derivatives of two channels' kernels and shifts.
  static void backward(const pack* x, const pack (*h)[channels], const pack* back, int c, pack* slope) {
    pack by_tap[9][2] = {}, by_shift[2] = {};
    for (int row = 0; row < side; ++row)
      for (int column = 0; column < side; ++column) {
        const pack *a = &h[row * side + column][c], *g = back + (row / 2 * half + column / 2) * channels + c;
        const pack d0 = g[0] * (1 - a[0] * a[0]), d1 = g[1] * (1 - a[1] * a[1]);
        by_shift[0] += d0, by_shift[1] += d1;
#pragma GCC unroll 9
        for (int t = 0; t < 9; ++t) {
          const pack v = x[(row + t / 3) * wide + column + t % 3];
          by_tap[t][0] += v * d0, by_tap[t][1] += v * d1;
        }
      }
    for (int e = 0; e < 2; ++e) {
      for (int t = 0; t < 9; ++t) slope[t * channels + c + e] = by_tap[t][e];
      slope[9 * channels + c + e] = by_shift[e];
    }
  }
  /// Two rows of w's gradient, over all examples.
  void dense_slope(int j, float* to) const {
    pack s[2][classes] = {};
    for (int b = 0; b < blocks; ++b)
#pragma GCC unroll 10
      for (int k = 0; k < classes; ++k) s[0][k] += p_[b][j] * d_[b][k], s[1][k] += p_[b][j + 1] * d_[b][k];
    for (int k = 0; k < classes; ++k) to[k] = hand::sum(s[0][k]) / batch, to[classes + k] = hand::sum(s[1][k]) / batch;
  }

  pack p_[blocks][pooled], d_[blocks][classes];  // pooled values; the logits' cotangents
};

#undef BENCH_INLINE

}  // namespace cnn
