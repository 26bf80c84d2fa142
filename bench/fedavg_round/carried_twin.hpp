// bench/fedavg_round/carried_twin.hpp: the round fused by hand, for steps that are all on one batch, with the algebra
// that drx finds by itself (plan/loops/carried_products.hpp), written down by an expert.
//
// w1 and b1 are needed at the end only. Each step carries the value that they are read for, z = x w1 + b1, in their
// place:
//
//     w1' = w1 - r x^T d,   b1' = b1 - r 1^T d      becomes      z' = z - r (x x^T + 1 1^T) d,   s' = s + d,
//
// and after the steps w1 - r x^T s and b1 - r 1^T s. Panels of z, s and d are independent: a panel's activations, their
// gradient, z and s (2 or 4 kB each), its weights of the second layer and the matrix of the batch (4 kB) stay in L1
// through one backward sweep and the next forward sweep.
#pragma once

#include "hand_twin.hpp"

namespace fedavg {

namespace hand {

struct alignas(64) carrying_workspace : workspace {
  static constexpr int blocks = batch / width;  // the batch, cut as the hidden layer is
  float z[panels][batch][width];                // x w1 + b1
  float s[panels][batch][width];                // sum of the steps' d
  float xt[blocks][features][width];            // x^T
  float square[batch][batch];                   // -r (x x^T + 1 1^T)
};

/// Computes the constants of the steps: x^T, and from it `square`.
inline void square_of(const float* x, carrying_workspace& w) {
  for (int c = 0; c < w.blocks; ++c) {
    for (int i = 0; i < width; ++i)
      for (int k = 0; k < features; ++k) w.xt[c][k][i] = x[(c * width + i) * features + k];
    by_rows<batch>([&]<int R>(int i) __attribute__((always_inline)) {
      vec acc[R][2];
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) acc[r][0] = acc[r][1] = splat(1.0f);
      product<R, features>(acc, x + i * features, features, 1, w.xt[c]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        store(&w.square[i + r][c * width], splat(-rate) * acc[r][0]);
        store(&w.square[i + r][c * width] + lanes, splat(-rate) * acc[r][1]);
      }
    });
  }
}

/// A block of a panel's z, and its tanh.
template <int R>
BENCH_INLINE void store_units(const vec (&acc)[R][2], float (*z)[width], float (*a)[width]) {
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      store(z[r] + half * lanes, acc[r][half]);
      store(a[r] + half * lanes, tanh(acc[r][half]));
    }
}

/// A panel before the first step.
inline void first_forward(const packed& start, int p, const float* x, carrying_workspace& w) {
  by_rows<batch>([&]<int R>(int i) __attribute__((always_inline)) {
    vec acc[R][2];
    const vec b0 = load(start.b1[p]), b1 = load(start.b1[p] + lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) acc[r][0] = b0, acc[r][1] = b1;
    product<R, features>(acc, x + i * features, features, 1, start.w1[p]);
    store_units<R>(acc, w.z[p] + i, w.a[p] + i);
  });
}

/// Advances a panel's z by one step, of which w.d is the gradient.
inline void next_forward(int p, carrying_workspace& w) {
  by_rows<batch>([&]<int R>(int i) __attribute__((always_inline)) {
    vec acc[R][2];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) acc[r][0] = load(w.z[p][i + r]), acc[r][1] = load(w.z[p][i + r] + lanes);
    product<R, batch>(acc, w.square[i], batch, 1, w.d);
    store_units<R>(acc, w.z[p] + i, w.a[p] + i);
  });
}

/// Runs a client's steps, into w.s and the model's second layer; after each head it calls then(step, the step's start).
template <class Then>
inline void carried_steps(const packed& start, const float* x, carrying_workspace& w, Then then) {
  square_of(x, w);
  for (int p = 0; p < panels; ++p) first_forward(start, p, x, w);
  std::memset(w.s, 0, sizeof w.s);
  const packed* from = &start;
  for (int step = 0; step < steps; ++step, from = &w.model) {
    head(*from, w.model, w);
    then(step, *from);
    for (int p = 0; p < panels; ++p) {
      gradient_of_units(*from, p, w, [&](int i, int half, vec d) __attribute__((always_inline)) {
        float* s = w.s[p][i] + half * lanes;
        store(s, load(s) + d);
      });
      step_of_w2(*from, w.model, p, w, descend);
      if (step + 1 < steps) next_forward(p, w);
    }
  }
}

/// Adds the new w1 and b1 to their sums.
inline void add_first_layer(const packed& start, int p, const float* x, carrying_workspace& w) {
  const auto add = [](const float* old, float* sum, vec gradient) __attribute__((always_inline)) {
    store(sum, load(sum) + (load(old) + splat(-rate) * gradient));
  };
  by_rows<features>([&]<int R>(int i) __attribute__((always_inline)) {  // x^T s
    vec acc[R][2] = {};
    product<R, batch>(acc, x + i, 1, features, w.s[p]);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      add(start.w1[p][i + r], w.sum.w1[p][i + r], acc[r][0]);
      add(start.w1[p][i + r] + lanes, w.sum.w1[p][i + r] + lanes, acc[r][1]);
    }
  });
  vec s0 = {}, s1 = {};
  for (int i = 0; i < batch; ++i) s0 += load(w.s[p][i]), s1 += load(w.s[p][i] + lanes);
  add(start.b1[p], w.sum.b1[p], s0);
  add(start.b1[p] + lanes, w.sum.b1[p] + lanes, s1);
}

/// Adds the model after the steps to the sum.
inline void add_model(const packed& start, const float* x, carrying_workspace& w) {
  for (int p = 0; p < panels; ++p) {
    add_first_layer(start, p, x, w);
    for (int o = 0; o < classes; ++o)
      for (int h = 0; h < width; ++h) w.sum.w2[p][o][h] += w.model.w2[p][o][h];
  }
  for (int o = 0; o < classes; ++o) w.sum.b2[o] += w.model.b2[o];
}

}  // namespace hand

class carried_twin : public clients_by_hand<hand::carrying_workspace> {
 public:
  using clients_by_hand::clients_by_hand;

  void round(const params& in, const float* x, const float* y, int client_count, params& out) {
    using namespace hand;
    each_client(in, x, y, client_count, 1, out, [&](const float* cx, const float* cy, carrying_workspace& w) {
      transpose(cy, w.y);
      carried_steps(start_, cx, w, [](int, const packed&) {});
      add_model(start_, cx, w);
    });
  }
};

}  // namespace fedavg
