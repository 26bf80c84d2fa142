// bench/language_model/hand_side.hpp: the round by hand: the decoder's passes written out, with Eigen's products,
// vectors for all else, and the clients dealt out to threads. Each value of the forward pass that the backward one
// needs is kept.
#pragma once

#include <omp.h>
#include <vectors.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "inputs.hpp"

namespace language_model_bench {

template <task S>
class hand_side {
  using v = bench::floats;
  using of = layout<S>;
  static constexpr int W = S.width, H = S.heads, T = S.context, D = W / H, F = 4 * W, L = S.letters, B = S.texts,
                       N = B * T;
  static constexpr int lanes = sizeof(v) / sizeof(float);
  static_assert(W % lanes == 0 && L % lanes == 0 && T % lanes == 0);
  template <int R, int C>
  using matrix = Eigen::Map<Eigen::Matrix<float, R, C, Eigen::RowMajor>>;
  template <int R, int C, int Row>
  using part = Eigen::Map<Eigen::Matrix<float, R, C, Eigen::RowMajor>, 0, Eigen::OuterStride<Row>>;

  /// A layer's values; `slope_of_gelu` is its derivative.
  struct kept {
    float normal1[N * W], deviation1[N], a1[N * W], qkv[N * 3 * W], weights[B * H * T * T], mixed[N * W];
    float normal2[N * W], deviation2[N], a2[N * W], slope_of_gelu[N * F], gelu[N * F];
  };
  struct workspace {
    kept layers[S.layers];
    float normal[N * W], deviation[N], last[N * W], scores[N * L];
    float x[N * W], dx[N * W], dy[N * W], da[N * W], dqkv[N * 3 * W], dhidden[N * F], dweights[T * T];
    float model[of::size], slope[of::size];
  };

 public:
  void call(const inputs<S>& in, std::vector<float>& out) {
    each_client([&](workspace& w, int client) {
      std::memcpy(w.model, in.model.data(), sizeof w.model);
      for (int step = 0; step < S.steps; ++step) {
        const std::int32_t* texts = in.batch_of(client, step);
        forward(w, texts);
        backward(w, texts);
        for (std::size_t i = 0; i < of::size; ++i) w.model[i] -= rate * w.slope[i];
      }
    });
    const float part_of_mean = 1.0f / S.clients;
#pragma omp parallel for schedule(static)
    for (std::size_t begin = 0; begin < of::size; begin += 4096) {
      const std::size_t end = std::min<std::size_t>(begin + 4096, of::size);
      for (std::size_t i = begin; i < end; ++i) out[i] = trained_[i] * part_of_mean;
      for (int c = 1; c < S.clients; ++c)
        for (std::size_t i = begin; i < end; ++i)
          out[i] += trained_[static_cast<std::size_t>(c) * of::size + i] * part_of_mean;
    }
  }
  /// The same products on whatever is there: a bound.
  void products_alone(const inputs<S>& in) {
    each_client([&](workspace& w, int) {
      if (w.model[0] == 0) std::memcpy(w.model, in.model.data(), sizeof w.model);
      for (int step = 0; step < S.steps; ++step) {
        for (int l = 0; l < S.layers; ++l) products_of_layer(w, w.layers[l], l);
        multiply<N, W, L>(w.last, w.model + of::at(letter), w.scores, false, true);
        multiply<L, N, W>(w.scores, w.last, w.slope + of::at(letter), true, false);
        multiply<N, L, W>(w.scores, w.model + of::at(letter), w.dx, false, false);
      }
    });
  }
  static std::size_t temp_bytes() {
    return sizeof(workspace) * static_cast<std::size_t>(omp_get_max_threads()) + sizeof(float) * of::size * S.clients;
  }

 private:
  template <class Work>
  void each_client(Work work) {
    spaces_.resize(static_cast<std::size_t>(omp_get_max_threads()));
    trained_.resize(of::size * S.clients);
#pragma omp parallel for schedule(dynamic)
    for (int client = 0; client < S.clients; ++client) {
      auto& space = spaces_[static_cast<std::size_t>(omp_get_thread_num())];
      if (!space) space = std::make_unique<workspace>();
      work(*space, client);
      std::memcpy(trained_.data() + static_cast<std::size_t>(client) * of::size, space->model, sizeof space->model);
    }
  }
  /// c = a b, of [M, K] and [K, P], either as its transpose.
  template <int M, int K, int P>
  static void multiply(float* a, float* b, float* c, bool ta, bool tb) {
    matrix<M, P> to(c);
    if (ta)
      to.noalias() = matrix<K, M>(a).transpose() * matrix<K, P>(b);
    else if (tb)
      to.noalias() = matrix<M, K>(a) * matrix<P, K>(b).transpose();
    else
      to.noalias() = matrix<M, K>(a) * matrix<K, P>(b);
  }
  static part<T, D, 3 * W> head(float* qkv, int text, int which, int h) {
    return part<T, D, 3 * W>(qkv + text * T * 3 * W + which * W + h * D);
  }
  static part<T, D, W> head_of(float* x, int text, int h) { return part<T, D, W>(x + text * T * W + h * D); }

  /// (x - mean) / deviation, kept, times scale plus shift.
  static void normalise(const float* x, const float* scale, const float* shift, float* normal, float* deviation,
                        float* y) {
    for (int n = 0; n < N; ++n, x += W, normal += W, y += W) {
      v total{}, squares{};
      for (int i = 0; i < W; i += lanes) total += bench::load(x + i);
      const float mean = bench::sum(total) / W;
      for (int i = 0; i < W; i += lanes) {
        const v c = bench::load(x + i) - mean;
        squares += c * c;
      }
      const float r = deviation[n] = 1 / std::sqrt(bench::sum(squares) / W + 1e-5f);
      for (int i = 0; i < W; i += lanes) {
        const v c = (bench::load(x + i) - mean) * r;
        bench::store(normal + i, c);
        bench::store(y + i, c * bench::load(scale + i) + bench::load(shift + i));
      }
    }
  }
  /// Adds to dx what dy, of the normalised x, makes of it.
  static void normalise_back(const float* dy, const float* scale, const float* normal, const float* deviation,
                             float* dscale, float* dshift, float* dx) {
    std::fill_n(dscale, W, 0.0f);
    std::fill_n(dshift, W, 0.0f);
    for (int n = 0; n < N; ++n, dy += W, normal += W, dx += W) {
      v total{}, along{};
      for (int i = 0; i < W; i += lanes) {
        const v d = bench::load(dy + i), c = bench::load(normal + i), g = d * bench::load(scale + i);
        bench::store(dscale + i, bench::load(dscale + i) + d * c);
        bench::store(dshift + i, bench::load(dshift + i) + d);
        total += g;
        along += g * c;
      }
      const float mean = bench::sum(total) / W, mean_along = bench::sum(along) / W;
      for (int i = 0; i < W; i += lanes) {
        const v g = bench::load(dy + i) * bench::load(scale + i);
        bench::store(dx + i, bench::load(dx + i) + (g - mean - bench::load(normal + i) * mean_along) * deviation[n]);
      }
    }
  }
  static void add(float* to, const float* x, int n) {
    for (int i = 0; i < n; ++i) to[i] += x[i];
  }
  static void sum_rows(const float* x, int columns, float* to) {
    std::fill_n(to, columns, 0.0f);
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < columns; ++i) to[i] += x[n * columns + i];
  }
  /// The gelu of u + bias, by a polynomial for erf (Abramowitz and Stegun 7.1.26), and its derivative.
  static void gelu(float* u, const float* bias, float* y) {
    const v zero{};
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < F; i += lanes) {
        float* const at = u + n * F + i;
        const v x = bench::load(at) + bench::load(bias + i), z = (x < 0 ? -x : x) * 0.70710678118654752f;
        const v t = 1 / (1 + 0.3275911f * z), bell = bench::exp(-(z * z));
        const v tail =
            ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t + 0.254829592f) * t * bell;
        const v below = x < zero ? 0.5f * tail : 1 - 0.5f * tail;
        bench::store(y + n * F + i, x * below);
        bench::store(at, below + x * (0.39894228040143268f * bell));
      }
  }

  static void attend(kept& k) {
    const float scaled = 1 / std::sqrt(static_cast<float>(D));
    for (int text = 0; text < B; ++text)
      for (int h = 0; h < H; ++h) {
        float* p = k.weights + (text * H + h) * T * T;
        matrix<T, T>(p).noalias() = head(k.qkv, text, 0, h) * head(k.qkv, text, 1, h).transpose();
        for (int q = 0; q < T; ++q) {
          float* row = p + q * T;
          for (int j = q + 1; j < T; ++j) row[j] = -1e9f;
          v most = bench::load(row), all{};
          for (int j = lanes; j <= q; j += lanes) most = bench::load(row + j) > most ? bench::load(row + j) : most;
          float top = most[0];
          for (int l = 1; l < lanes; ++l) top = std::max(top, most[l]);
          const int end = q / lanes * lanes + lanes;
          for (int j = 0; j < end; j += lanes) {
            const v e = bench::exp((bench::load(row + j) - top) * scaled);
            bench::store(row + j, e);
          }
          std::fill(row + q + 1, row + T, 0.0f);
          for (int j = 0; j < end; j += lanes) all += bench::load(row + j);
          const float whole = 1 / bench::sum(all);
          for (int j = 0; j < end; j += lanes) bench::store(row + j, bench::load(row + j) * whole);
        }
        head_of(k.mixed, text, h).noalias() = matrix<T, T>(p) * head(k.qkv, text, 2, h);
      }
  }
  static void attend_back(workspace& w, kept& k, float* dmixed) {
    const float scaled = 1 / std::sqrt(static_cast<float>(D));
    for (int text = 0; text < B; ++text)
      for (int h = 0; h < H; ++h) {
        float* p = k.weights + (text * H + h) * T * T;
        const auto d = head_of(dmixed, text, h);
        matrix<T, T> slope(w.dweights);
        slope.noalias() = d * head(k.qkv, text, 2, h).transpose();
        head(w.dqkv, text, 2, h).noalias() = matrix<T, T>(p).transpose() * d;
        for (int q = 0; q < T; ++q) {
          float *row = p + q * T, *to = w.dweights + q * T;
          v along{};
          for (int j = 0; j < T; j += lanes) along += bench::load(row + j) * bench::load(to + j);
          const float mean = bench::sum(along);
          for (int j = 0; j < T; j += lanes)
            bench::store(to + j, bench::load(row + j) * (bench::load(to + j) - mean) * scaled);
        }
        head(w.dqkv, text, 0, h).noalias() = slope * head(k.qkv, text, 1, h);
        head(w.dqkv, text, 1, h).noalias() = slope.transpose() * head(k.qkv, text, 0, h);
      }
  }

  static void forward(workspace& w, const std::int32_t* texts) {
    float* const m = w.model;
    for (int n = 0; n < N; ++n) {
      const float *e = m + of::at(letter) + texts[n / T * (T + 1) + n % T] * W, *at = m + of::at(place) + n % T * W;
      for (int i = 0; i < W; ++i) w.x[n * W + i] = e[i] + at[i];
    }
    for (int l = 0; l < S.layers; ++l) {
      kept& k = w.layers[l];
      normalise(w.x, m + of::at(scale1, l), m + of::at(shift1, l), k.normal1, k.deviation1, k.a1);
      multiply<N, W, 3 * W>(k.a1, m + of::at(qkv, l), k.qkv, false, false);
      attend(k);
      matrix<N, W>(w.x).noalias() += matrix<N, W>(k.mixed) * matrix<W, W>(m + of::at(out, l));
      normalise(w.x, m + of::at(scale2, l), m + of::at(shift2, l), k.normal2, k.deviation2, k.a2);
      multiply<N, W, F>(k.a2, m + of::at(up, l), k.slope_of_gelu, false, false);
      gelu(k.slope_of_gelu, m + of::at(up_bias, l), k.gelu);
      matrix<N, W>(w.x).noalias() += matrix<N, F>(k.gelu) * matrix<F, W>(m + of::at(down, l));
      for (int n = 0; n < N; ++n) add(w.x + n * W, m + of::at(down_bias, l), W);
    }
    normalise(w.x, m + of::at(scale), m + of::at(shift), w.normal, w.deviation, w.last);
    multiply<N, W, L>(w.last, m + of::at(letter), w.scores, false, true);
  }
  static void backward(workspace& w, const std::int32_t* texts) {
    float *const m = w.model, *const g = w.slope;
    for (int n = 0; n < N; ++n) {  // the scores' cotangents: (softmax - the next letter) / N
      float* row = w.scores + n * L;
      const float top = *std::max_element(row, row + L);
      v all{};
      for (int j = 0; j < L; j += lanes) {
        const v e = bench::exp(bench::load(row + j) - top);
        bench::store(row + j, e);
        all += e;
      }
      const float part_of_mean = 1 / (bench::sum(all) * N);
      for (int j = 0; j < L; j += lanes) bench::store(row + j, bench::load(row + j) * part_of_mean);
      row[texts[n / T * (T + 1) + n % T + 1]] -= 1.0f / N;
    }
    multiply<L, N, W>(w.scores, w.last, g + of::at(letter), true, false);
    multiply<N, L, W>(w.scores, m + of::at(letter), w.dy, false, false);
    std::fill_n(w.dx, N * W, 0.0f);
    normalise_back(w.dy, m + of::at(scale), w.normal, w.deviation, g + of::at(scale), g + of::at(shift), w.dx);
    for (int l = S.layers - 1; l >= 0; --l) {
      kept& k = w.layers[l];
      sum_rows(w.dx, W, g + of::at(down_bias, l));
      multiply<F, N, W>(k.gelu, w.dx, g + of::at(down, l), true, false);
      multiply<N, W, F>(w.dx, m + of::at(down, l), w.dhidden, false, true);
      for (int i = 0; i < N * F; i += lanes)
        bench::store(w.dhidden + i, bench::load(w.dhidden + i) * bench::load(k.slope_of_gelu + i));
      sum_rows(w.dhidden, F, g + of::at(up_bias, l));
      multiply<W, N, F>(k.a2, w.dhidden, g + of::at(up, l), true, false);
      multiply<N, F, W>(w.dhidden, m + of::at(up, l), w.da, false, true);
      normalise_back(w.da, m + of::at(scale2, l), k.normal2, k.deviation2, g + of::at(scale2, l), g + of::at(shift2, l),
                     w.dx);
      multiply<W, N, W>(k.mixed, w.dx, g + of::at(out, l), true, false);
      multiply<N, W, W>(w.dx, m + of::at(out, l), w.dy, false, true);
      attend_back(w, k, w.dy);
      multiply<W, N, 3 * W>(k.a1, w.dqkv, g + of::at(qkv, l), true, false);
      multiply<N, 3 * W, W>(w.dqkv, m + of::at(qkv, l), w.da, false, true);
      normalise_back(w.da, m + of::at(scale1, l), k.normal1, k.deviation1, g + of::at(scale1, l), g + of::at(shift1, l),
                     w.dx);
    }
    std::fill_n(g + of::at(place), T * W, 0.0f);
    for (int n = 0; n < N; ++n) {
      add(g + of::at(letter) + texts[n / T * (T + 1) + n % T] * W, w.dx + n * W, W);
      add(g + of::at(place) + n % T * W, w.dx + n * W, W);
    }
  }
  static void products_of_layer(workspace& w, kept& k, int l) {
    float *const m = w.model, *const g = w.slope;
    multiply<N, W, 3 * W>(k.a1, m + of::at(qkv, l), k.qkv, false, false);
    multiply<N, W, W>(k.mixed, m + of::at(out, l), w.dy, false, false);
    multiply<N, W, F>(k.a2, m + of::at(up, l), k.slope_of_gelu, false, false);
    multiply<N, F, W>(k.gelu, m + of::at(down, l), w.da, false, false);
    multiply<F, N, W>(k.gelu, w.dx, g + of::at(down, l), true, false);
    multiply<N, W, F>(w.dx, m + of::at(down, l), w.dhidden, false, true);
    multiply<W, N, F>(k.a2, w.dhidden, g + of::at(up, l), true, false);
    multiply<N, F, W>(w.dhidden, m + of::at(up, l), w.da, false, true);
    multiply<W, N, W>(k.mixed, w.dx, g + of::at(out, l), true, false);
    multiply<N, W, W>(w.dx, m + of::at(out, l), w.dy, false, true);
    multiply<W, N, 3 * W>(k.a1, w.dqkv, g + of::at(qkv, l), true, false);
    multiply<N, 3 * W, W>(w.dqkv, m + of::at(qkv, l), w.da, false, true);
    for (int text = 0; text < B; ++text)
      for (int h = 0; h < H; ++h) {
        matrix<T, T> p(k.weights + (text * H + h) * T * T), slope(w.dweights);
        p.noalias() = head(k.qkv, text, 0, h) * head(k.qkv, text, 1, h).transpose();
        head_of(k.mixed, text, h).noalias() = p * head(k.qkv, text, 2, h);
        slope.noalias() = head_of(w.dy, text, h) * head(k.qkv, text, 2, h).transpose();
        head(w.dqkv, text, 2, h).noalias() = p.transpose() * head_of(w.dy, text, h);
        head(w.dqkv, text, 0, h).noalias() = slope * head(k.qkv, text, 1, h);
        head(w.dqkv, text, 1, h).noalias() = slope.transpose() * head(k.qkv, text, 0, h);
      }
  }

  std::vector<std::unique_ptr<workspace>> spaces_;
  std::vector<float> trained_;
};

}  // namespace language_model_bench
