// bench/fedavg_round/hand_twin.hpp: the round fused by hand, as an expert with a week would ship it.
//
// The hidden layer is cut into panels of two vectors (16 or 32 units). A panel's weights (4 or 8 kB), activations and
// their gradients (2 or 4 kB each) and the client's batch (8 kB) stay in L1 through one backward sweep and the next
// forward sweep. Products are register blocks of six or eight rows by two vectors, with the bias, tanh, its derivative
// and the SGD update in their epilogues. The ten logits are kept transposed, [10, 32], so that the softmax runs over
// the batch in vectors.
//
// If all steps are on one batch, products of w1 can be carried in its place: see carried_twin.hpp.
#pragma once

#include <omp.h>
#include <vectors.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

#include "inputs.hpp"

namespace fedavg {

namespace hand {

using bench::exp, bench::load, bench::splat, bench::store, bench::tanh;
using vec = bench::floats;
inline constexpr int lanes = sizeof(vec) / sizeof(float);
inline constexpr int width = 2 * lanes;  // units in a panel
inline constexpr int panels = hidden / width;

/// The parameters by panels; w2 and its companions are transposed.
struct alignas(64) packed {
  float w1[panels][features][width];
  float b1[panels][width];
  float w2[panels][classes][width];
  float b2[16];  // 10 used
};

struct alignas(64) workspace {
  packed model, sum;
  float a[panels][batch][width];  // tanh
  float d[batch][width];          // gradient at one panel's pre-activations
  float g[classes][batch];        // logits, then the gradient at them
  float y[classes][batch];
};

/// acc[r][c] += sum over k of a[r * row + k * step] * b[k][c], a block of R rows held in registers.
template <int R, int K>
BENCH_INLINE void product(vec (&acc)[R][2], const float* a, int row, int step, const float (*b)[width]) {
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

/// Calls f.operator()<R>(first row) over N rows in blocks of six, or eight if there are 32 registers; the rest in
/// fives, fours and twos.
template <int N, class F>
BENCH_INLINE void by_rows(F f) {
  if constexpr (lanes == 16) {
    constexpr int tall = N % 8 == 0 ? 8 : 5;
    static_assert(N % tall == 0);
    for (int i = 0; i < N; i += tall) f.template operator()<tall>(i);
    return;
  }
  constexpr int sixes =
      N % 6 == 2 ? N / 6 - 1 : N / 6;  // 32 = 4 * 6 + 2 * 4: fours keep both FMA units busy, twos do not
  int i = 0;
  for (; i < sixes * 6; i += 6) f.template operator()<6>(i);
  for (; i + 4 <= N; i += 4) f.template operator()<4>(i);
  if constexpr ((N - sixes * 6) % 4 != 0) f.template operator()<(N - sixes * 6) % 4>(i);
}

inline void forward(const packed& m, int p, const float* x, float (*a)[width]) {
  by_rows<batch>([&]<int R>(int i) __attribute__((always_inline)) {
    vec acc[R][2];
    const vec b0 = load(m.b1[p]), b1 = load(m.b1[p] + lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) acc[r][0] = b0, acc[r][1] = b1;
    product<R, features>(acc, x + i * features, features, 1, m.w1[p]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      store(a[i + r], tanh(acc[r][0]));
      store(a[i + r] + lanes, tanh(acc[r][1]));
    }
  });
}

/// A step of SGD.
inline constexpr auto descend = [](const float* old, float* fresh, vec gradient) __attribute__((always_inline)) {
  store(fresh, load(old) + splat(-rate) * gradient);
};

/// d = (g w2^T) (1 - a^2) for a panel; also calls then(row, vector of it, d).
template <class Then>
inline void gradient_of_units(const packed& from, int p, workspace& w, Then then) {
  by_rows<batch>([&]<int R>(int i) __attribute__((always_inline)) {
    vec acc[R][2] = {};
    product<R, classes>(acc, &w.g[0][i], 1, batch, from.w2[p]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        const vec a = load(w.a[p][i + r] + half * lanes), d = acc[r][half] - acc[r][half] * a * a;
        store(w.d[i + r] + half * lanes, d);
        then(i + r, half, d);
      }
  });
}

/// A panel's step of w2: calls update(weights, new weights, gradient) for each vector.
template <class Update>
inline void step_of_w2(const packed& from, packed& to, int p, workspace& w, Update update) {
  by_rows<classes>([&]<int R>(int i) __attribute__((always_inline)) {  // g^T a
    vec acc[R][2] = {};
    product<R, batch>(acc, w.g[i], batch, 1, w.a[p]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      update(from.w2[p][i + r], to.w2[p][i + r], acc[r][0]);
      update(from.w2[p][i + r] + lanes, to.w2[p][i + r] + lanes, acc[r][1]);
    }
  });
}

/// One panel backwards: calls update(weights, new weights, gradient) for each vector of `from` and `to`.
template <class Update>
inline void backward(const packed& from, packed& to, int p, const float* x, workspace& w, Update update) {
  gradient_of_units(from, p, w, [](int, int, vec) __attribute__((always_inline)) {});
  step_of_w2(from, to, p, w, update);
  by_rows<features>([&]<int R>(int i) __attribute__((always_inline)) {  // x^T d
    vec acc[R][2] = {};
    product<R, batch>(acc, x + i, 1, features, w.d);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      update(from.w1[p][i + r], to.w1[p][i + r], acc[r][0]);
      update(from.w1[p][i + r] + lanes, to.w1[p][i + r] + lanes, acc[r][1]);
    }
  });
  vec s0 = {}, s1 = {};
  for (int i = 0; i < batch; ++i) s0 += load(w.d[i]), s1 += load(w.d[i] + lanes);
  update(from.b1[p], to.b1[p], s0);
  update(from.b1[p] + lanes, to.b1[p] + lanes, s1);
}

using octet = float __attribute__((vector_size(32)));
using eight = int __attribute__((vector_size(32)));

/// The sum of the halves; the vector itself where it is eight floats.
BENCH_INLINE octet folded(vec v) {
  octet half[lanes / 8];
  std::memcpy(half, &v, sizeof v);
  return lanes == 16 ? half[0] + half[lanes / 8 - 1] : half[0];
}
/// Four sums over the lanes at once.
BENCH_INLINE void store_sums(float* to, vec va, vec vb, vec vc, vec vd) {
  const octet a = folded(va), b = folded(vb), c = folded(vc), d = folded(vd);
  const octet ab = __builtin_shuffle(a, b, eight{0, 8, 2, 10, 4, 12, 6, 14}) +
                   __builtin_shuffle(a, b, eight{1, 9, 3, 11, 5, 13, 7, 15});
  const octet cd = __builtin_shuffle(c, d, eight{0, 8, 2, 10, 4, 12, 6, 14}) +
                   __builtin_shuffle(c, d, eight{1, 9, 3, 11, 5, 13, 7, 15});
  const octet s = __builtin_shuffle(ab, cd, eight{0, 1, 8, 9, 4, 5, 12, 13}) +
                  __builtin_shuffle(ab, cd, eight{2, 3, 10, 11, 6, 7, 14, 15});
  for (int i = 0; i < 4; ++i) to[i] = s[i] + s[i + 4];
}

/// z = w2 a^T, by panels.
inline void products_of_units(const float (*w2)[classes][width], const float (*a)[batch][width], float (*z)[batch]) {
  for (int o = 0; o < classes; o += 2)
    for (int i = 0; i < batch; i += 4) {
      vec acc[4][2] = {};
      for (int p = 0; p < panels; ++p)
#pragma GCC unroll 2
        for (int h = 0; h < width; h += lanes) {
          const vec w0 = load(w2[p][o] + h), w1 = load(w2[p][o + 1] + h);
#pragma GCC unroll 4
          for (int r = 0; r < 4; ++r) {
            const vec u = load(a[p][i + r] + h);
            acc[r][0] += u * w0;
            acc[r][1] += u * w1;
          }
        }
      store_sums(&z[o][i], acc[0][0], acc[1][0], acc[2][0], acc[3][0]);
      store_sums(&z[o + 1][i], acc[0][1], acc[1][1], acc[2][1], acc[3][1]);
    }
}

/// Logits, softmax and the gradient of the mean cross entropy at the logits; then b2's step.
inline void head(const packed& from, packed& to, workspace& w) {
  products_of_units(from.w2, w.a, w.g);
  vec bias_gradient[classes] = {};
  for (int i = 0; i < batch; i += lanes) {
    vec z[classes];
    vec top = splat(-3.0e38f);
    for (int o = 0; o < classes; ++o) {
      z[o] = load(&w.g[o][i]) + splat(from.b2[o]);
      top = z[o] > top ? z[o] : top;
    }
    vec sum = {};
    for (int o = 0; o < classes; ++o) sum += z[o] = exp(z[o] - top);
    const vec scale = splat(1.0f / batch) / sum;
    for (int o = 0; o < classes; ++o) {
      const vec g = z[o] * scale - load(&w.y[o][i]) * splat(1.0f / batch);
      store(&w.g[o][i], g);
      bias_gradient[o] += g;
    }
  }
  for (int o = 0; o < classes; ++o) {
    float s = 0;
    for (int l = 0; l < lanes; ++l) s += bias_gradient[o][l];
    to.b2[o] = from.b2[o] - rate * s;
  }
}

/// Transposes the labels of a batch.
inline void transpose(const float* y, float (*to)[batch]) {
  for (int i = 0; i < batch; ++i)
    for (int o = 0; o < classes; ++o) to[o][i] = y[i * classes + o];
}

/// Copies between the two layouts: f(element of params, element of packed).
template <class Params, class Packed, class F>
void zip(Params& a, Packed& b, F f) {
  for (int p = 0; p < panels; ++p)
    for (int h = 0; h < width; ++h) {
      const int unit = p * width + h;
      for (int k = 0; k < features; ++k) f(a.w1[k * hidden + unit], b.w1[p][k][h]);
      f(a.b1[unit], b.b1[p][h]);
      for (int o = 0; o < classes; ++o) f(a.w2[unit * classes + o], b.w2[p][o][h]);
    }
  for (int o = 0; o < classes; ++o) f(a.b2[o], b.b2[o]);
}

}  // namespace hand

/// Runs the round's clients on threads: steps_of(x, y, workspace) adds a client's new model to the workspace's sum.
template <class Workspace>
class clients_by_hand {
 public:
  explicit clients_by_hand(int threads) : workspaces_(static_cast<std::size_t>(threads)) {}

  std::size_t temp_bytes() const { return workspaces_.size() * sizeof(Workspace) + sizeof(hand::packed); }

 protected:
  template <class Steps>
  void each_client(const params& in, const float* x, const float* y, int client_count, int batches, params& out,
                   Steps steps_of) {
    using namespace hand;
    zip(in, start_, [](const float& from, float& to) { to = from; });
#pragma omp parallel num_threads(static_cast<int>(workspaces_.size()))
    {
      Workspace& w = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
      std::memset(&w.sum, 0, sizeof w.sum);
#pragma omp for schedule(static)
      for (int client = 0; client < client_count; ++client)
        steps_of(x + static_cast<std::ptrdiff_t>(client) * batches * batch * features,
                 y + static_cast<std::ptrdiff_t>(client) * batches * batch * classes, w);
    }
    packed& total = workspaces_[0].sum;
    for (std::size_t t = 1; t < workspaces_.size(); ++t) add(total, workspaces_[t].sum);
    const float share = 1.0f / static_cast<float>(client_count);
    zip(out, total, [share](float& to, const float& from) { to = from * share; });
  }
  static void add(hand::packed& to, const hand::packed& more) {
    auto* sums = reinterpret_cast<float*>(&to);
    const auto* terms = reinterpret_cast<const float*>(&more);
    for (std::size_t i = 0; i < sizeof(hand::packed) / sizeof(float); ++i) sums[i] += terms[i];
  }

  std::vector<Workspace> workspaces_;
  hand::packed start_;
};

class hand_twin : public clients_by_hand<hand::workspace> {
 public:
  using clients_by_hand::clients_by_hand;

  /// With `batches` batches for each client, 1 or `steps`.
  void round(const params& in, const float* x, const float* y, int client_count, int batches, params& out) {
    using namespace hand;
    each_client(in, x, y, client_count, batches, out, [&](const float* cx, const float* cy, workspace& w) {
      const auto x_of = [&](int step) { return cx + step % batches * batch * features; };
      for (int p = 0; p < panels; ++p) forward(start_, p, cx, w.a[p]);
      const packed* from = &start_;
      for (int step = 0; step < steps; ++step, from = &w.model) {
        if (step < batches) transpose(cy + step * batch * classes, w.y);
        head(*from, w.model, w);
        for (int p = 0; p < panels; ++p) {
          backward(*from, w.model, p, x_of(step), w, descend);
          if (step + 1 < steps) forward(w.model, p, x_of(step + 1), w.a[p]);
        }
      }
      add(w.sum, w.model);
    });
  }
};

}  // namespace fedavg
