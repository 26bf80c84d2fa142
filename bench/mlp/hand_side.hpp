// bench/mlp/hand_side.hpp: value and gradient fused by hand, as an expert with a week would ship them.
//
// The batch goes through in blocks of rows, whose hidden layer stays in L1. w1 and its gradient lie in panels of two
// vectors; products are register blocks with bias and tanh in the epilogue. tanh is replaced by its own gradient in
// place.
#pragma once

#include <vectors.hpp>

#include "inputs.hpp"

#include <cstdint>
#include <cstring>

namespace mlp {

namespace hand {

using bench::load, bench::splat, bench::store, bench::sum;
using vec = bench::doubles;
inline constexpr int lanes = sizeof(vec) / sizeof(double);
using bits = std::int64_t __attribute__((vector_size(lanes * sizeof(double))));

inline constexpr int width = 2 * lanes;  // units in a panel
inline constexpr int panels = hidden / width;
inline constexpr int tall = 32;                  // rows in a block of the batch
inline constexpr int most = lanes == 8 ? 8 : 4;  // rows in a register block
static_assert(tall % most == 0 && features % most == 0);

#ifdef __AVX512F__
/// (e^2x - 1) / (e^2x + 1) with e^2x - 1 = 2^(n/16) (e^2r - 1) + (2^(n/16) - 1). The 16 powers are two registers, which
/// are permuted by n; n 2^48 is added to their bits, from which that of n modulo 16 was subtracted before.
BENCH_INLINE vec tanh(vec x) {
  alignas(64) static constexpr double power[16] = {0x1p+0,
                                                   0x1.fb5586cf9890fp-1,
                                                   0x1.f72b83c7d517bp-1,
                                                   0x1.f387a6e756238p-1,
                                                   0x1.f06fe0a31b715p-1,
                                                   0x1.edea64c123422p-1,
                                                   0x1.ebfdad5362a27p-1,
                                                   0x1.eab07dd485429p-1,
                                                   0x1.ea09e667f3bcdp-1,
                                                   0x1.ea11473eb0187p-1,
                                                   0x1.eace5422aa0dbp-1,
                                                   0x1.ec49182a3f09p-1,
                                                   0x1.ee89f995ad3adp-1,
                                                   0x1.f199bdd85529cp-1,
                                                   0x1.f5818dcfba487p-1,
                                                   0x1.fa4afa2a490dap-1};
  alignas(64) static constexpr double rest[16] = {// their rounding errors, relative to them
                                                  0,
                                                  0x1.79aa65d837b6dp-54,
                                                  -0x1.01b15eaa59348p-55,
                                                  0x1.68efde3a8a894p-54,
                                                  0x1.34d754db0abb6p-55,
                                                  0x1.59f48a72a4c6dp-55,
                                                  0x1.690cebb7aafbp-56,
                                                  0x1.063e1e21c5409p-54,
                                                  -0x1.3b3efbf5e2228p-54,
                                                  -0x1.b32dcb94da51dp-56,
                                                  0x1.db72fc1f0eab4p-55,
                                                  0x1.1affc2b91ce27p-56,
                                                  0x1.c1a7792cb3387p-55,
                                                  0x1.36eae30af0cb3p-56,
                                                  0x1.4a385a63d07a7p-56,
                                                  -0x1.ff7128fd391f0p-55};
  const vec top = splat(20.0);
  const vec a = reinterpret_cast<vec>(reinterpret_cast<bits>(x) & INT64_MAX), least = a < top ? a : top;
  const vec magic = splat(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer, in the lowest bits
  const vec shifted = least * 46.16624130844682 + magic;
  const bits n = reinterpret_cast<bits>(shifted);
  const vec r = least - (shifted - magic) * 0.02166084939249829, r2 = r * r;
  const vec low = r * (4.0 / 3) + 2.0, middle = r * (4.0 / 15) + 2.0 / 3, high = r * (8.0 / 315) + 4.0 / 45;
  const vec q = (r + r) + (((high * r2 + middle) * r2 + low) * r2 + __builtin_shuffle(load(rest), load(rest + 8), n));
  const vec scale =
      reinterpret_cast<vec>(reinterpret_cast<bits>(__builtin_shuffle(load(power), load(power + 8), n)) + (n << 48));
  const vec less = q * scale + (scale - 1.0), y = less / (less + 2.0);
  return reinterpret_cast<vec>(reinterpret_cast<bits>(y) | (reinterpret_cast<bits>(x) & INT64_MIN));
}
#else
/// (e^2x - 1) / (e^2x + 1) with e^2x - 1 = 2^n (e^r - 1) + (2^n - 1), which is exact for small x too.
BENCH_INLINE vec tanh(vec x) {
  const vec top = splat(20.0);
  x = x > top ? top : x;
  x = x < -top ? -top : x;
  const vec magic = splat(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to an integer, in the lowest bits
  const vec shifted = x * 2.8853900817779268 + magic;
  const vec n = shifted - magic;
  const vec r = (x + x) - n * 6.93147180369123816490e-01 - n * 1.90821492927058770002e-10;
  vec q = r * (1.0 / 6227020800) + 1.0 / 479001600;
  q = q * r + 1.0 / 39916800;
  q = q * r + 1.0 / 3628800;
  q = q * r + 1.0 / 362880;
  q = q * r + 1.0 / 40320;
  q = q * r + 1.0 / 5040;
  q = q * r + 1.0 / 720;
  q = q * r + 1.0 / 120;
  q = q * r + 1.0 / 24;
  q = q * r + 1.0 / 6;
  q = q * r + 0.5;
  q = q * r * r + r;  // e^r - 1
  bits b;
  std::memcpy(&b, &shifted, sizeof b);
  b = (b << 52) + 0x3ff0000000000000;
  vec scale;
  std::memcpy(&scale, &b, sizeof scale);
  const vec less = q * scale + (scale - 1.0);
  return less / (less + 2.0);
}
#endif

/// acc[r][c] += sum over k < K of a[r * row + k * step] * b[k][c], a block of R rows held in registers.
template <int R, int K>
BENCH_INLINE void product(vec (&acc)[R][2], const double* a, int row, int step, const double (*b)[width]) {
#pragma GCC unroll 2
  for (int k = 0; k < K; ++k) {
    const vec b0 = load(b[k]), b1 = load(b[k] + lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const vec s = splat(a[r * row + k * step]);
      acc[r][0] += s * b0;
      acc[r][1] += s * b1;
    }
  }
}

}  // namespace hand

class hand_side {
 public:
  void call(const inputs& in, answer& out) {
    using namespace hand;
    const params& m = in.model;
    for (int p = 0; p < panels; ++p)
      for (int k = 0; k < features; ++k) std::memcpy(w1_[p][k], m.w1 + k * hidden + p * width, sizeof w1_[p][k]);
    std::memset(g1_, 0, sizeof g1_);
    params& g = out.gradient;
    std::memset(g.b1, 0, sizeof g.b1);
    std::memset(g.w2, 0, sizeof g.w2);
    double value = 0, gb2 = 0;
    for (int i = 0; i < batch; i += tall) {
      const double* x = in.x.data() + i * features;
      vec y[tall] = {};
      for (int p = 0; p < panels; ++p) forward(m, p, x, y);
      double e[tall];
      for (int r = 0; r < tall; ++r) {
        const double error = sum(y[r]) + m.b2 - in.y[static_cast<std::size_t>(i + r)];
        value += error * error;
        gb2 += e[r] = 2.0 / batch * error;
      }
      for (int p = 0; p < panels; ++p) backward(m, p, x, e, g);
    }
    out.value = value / batch;
    g.b2 = gb2;
    for (int p = 0; p < panels; ++p)
      for (int k = 0; k < features; ++k) std::memcpy(g.w1 + k * hidden + p * width, g1_[p][k], sizeof g1_[p][k]);
  }
  static std::size_t temp_bytes() { return sizeof(hand_side); }

 private:
  void forward(const params& m, int p, const double* x, hand::vec* y) {
    using namespace hand;
    const vec b0 = load(m.b1 + p * width), b1 = load(m.b1 + p * width + lanes);
    const vec w0 = load(m.w2 + p * width), w1 = load(m.w2 + p * width + lanes);
    for (int i = 0; i < tall; i += most) {
      vec acc[most][2];
#pragma GCC unroll 8
      for (int r = 0; r < most; ++r) acc[r][0] = b0, acc[r][1] = b1;
      product<most, features>(acc, x + i * features, features, 1, w1_[p]);
#pragma GCC unroll 8
      for (int r = 0; r < most; ++r) {
        const vec a0 = hand::tanh(acc[r][0]), a1 = hand::tanh(acc[r][1]);
        store(a_[p][i + r], a0);
        store(a_[p][i + r] + lanes, a1);
        y[i + r] += a0 * w0 + a1 * w1;
      }
    }
  }

  void backward(const params& m, int p, const double* x, const double* e, params& g) {
    using namespace hand;
    const vec w0 = load(m.w2 + p * width), w1 = load(m.w2 + p * width + lanes);
    vec gw0{}, gw1{}, gb0{}, gb1{};
    for (int i = 0; i < tall; ++i) {
      const vec a0 = load(a_[p][i]), a1 = load(a_[p][i] + lanes), s = splat(e[i]);
      const vec d0 = s * w0 * (1.0 - a0 * a0), d1 = s * w1 * (1.0 - a1 * a1);
      gw0 += s * a0, gw1 += s * a1;
      gb0 += d0, gb1 += d1;
      store(a_[p][i], d0);
      store(a_[p][i] + lanes, d1);
    }
    const auto add = [](double* to, vec v) { store(to, load(to) + v); };
    add(g.w2 + p * width, gw0), add(g.w2 + p * width + lanes, gw1);
    add(g.b1 + p * width, gb0), add(g.b1 + p * width + lanes, gb1);
    for (int k = 0; k < features; k += most) {
      vec acc[most][2];
#pragma GCC unroll 8
      for (int r = 0; r < most; ++r) acc[r][0] = load(g1_[p][k + r]), acc[r][1] = load(g1_[p][k + r] + lanes);
      product<most, tall>(acc, x + k, 1, features, a_[p]);
#pragma GCC unroll 8
      for (int r = 0; r < most; ++r) store(g1_[p][k + r], acc[r][0]), store(g1_[p][k + r] + lanes, acc[r][1]);
    }
  }

  alignas(64) double w1_[hand::panels][features][hand::width];
  alignas(64) double g1_[hand::panels][features][hand::width];
  alignas(64) double a_[hand::panels][hand::tall][hand::width];
};

#undef BENCH_INLINE

}  // namespace mlp
