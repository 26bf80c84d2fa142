// bench/hypergradient/hand_twin.hpp: the same reverse sweep as in eigen_twin.hpp, fused by hand from the parts of
// fedavg_round/hand_twin.hpp: panels of the hidden layer, register blocks with their epilogues.
//
// by_hand<true> has the algebra of fedavg_round/carried_twin.hpp on the backward pass too: of v's first layer only u =
// x v1 + c1 is read, and v1' = v1 - r x^T s, c1' = c1 - r 1^T s becomes u' = u - r (x x^T + 1 1^T) s.
#pragma once

#include "../fedavg_round/carried_twin.hpp"

#include <cmath>
#include <type_traits>

namespace hypergradient {

using namespace fedavg;
using namespace fedavg::hand;

template <bool Carried>
class by_hand {
  /// The residuals of one step for the backward pass.
  struct alignas(64) trace {
    float a[panels][batch][width];     // tanh
    float w2[panels][classes][width];  // before the step
    float g[classes][batch];           // gradient at the logits
  };
  struct alignas(64) workspace_of_thread {
    std::conditional_t<Carried, carrying_workspace, workspace>
        w;  // w.model is v on the backward pass; w.z is u, carried
    trace kept[steps];
    float da[panels][batch][width];  // tangent of tanh, along v
    float dz[classes][batch], more[classes][batch];
    double loss, slope;
  };

 public:
  struct answer {
    float value, slope;
  };

  explicit by_hand(int threads) : workspaces_(static_cast<std::size_t>(threads)) {}

  std::size_t temp_bytes() const { return workspaces_.size() * sizeof(workspace_of_thread) + 3 * sizeof(packed); }

  answer call(const params& in, const float* x, const float* y, int n) {
    zip(in, start_, [](const float& from, float& to) { to = from; });
    const float share = 1.0f / static_cast<float>(n);
    over_clients(n, x, y, [&](const float* cx, workspace_of_thread& t) {
      steps_of(cx, t);
      if constexpr (Carried)
        add_model(start_, cx, t.w);
      else
        add(t.w.sum, t.w.model);
    });
    total(share, mean_);
    over_clients(n, x, y, [&](const float* cx, workspace_of_thread& t) { loss_of(cx, t); });
    total(share * share, gradient_);  // the mean of the losses, then that of the models
    double loss = 0, slope = 0;
    for (const auto& t : workspaces_) loss += t.loss;
    over_clients(n, x, y, [&](const float* cx, workspace_of_thread& t) {
      steps_of(cx, t);
      t.w.model = gradient_;
      for (int i = steps; i-- > 0;) {
        along_units(cx, t.kept[i], t, i + 1 == steps);
        t.slope -= step_back(cx, t.kept[i], t, i > 0);
      }
    });
    for (const auto& t : workspaces_) slope += t.slope;
    return {static_cast<float>(loss) * share, static_cast<float>(slope)};
  }

 private:
  static float* flat(packed& p) { return reinterpret_cast<float*>(&p); }
  static void add(packed& to, packed& more) {
    for (std::size_t i = 0; i < sizeof(packed) / sizeof(float); ++i) flat(to)[i] += flat(more)[i];
  }
  template <class F>
  void over_clients(int n, const float* x, const float* y, F f) {
#pragma omp parallel num_threads(static_cast<int>(workspaces_.size()))
    {
      workspace_of_thread& t = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
      std::memset(&t.w.sum, 0, sizeof t.w.sum);
      t.loss = t.slope = 0;
#pragma omp for schedule(static)
      for (int client = 0; client < n; ++client) {
        transpose(y + static_cast<std::ptrdiff_t>(client) * batch * classes, t.w.y);
        f(x + static_cast<std::ptrdiff_t>(client) * batch * features, t);
      }
    }
  }
  void total(float share, packed& to) {
    to = workspaces_[0].w.sum;
    for (std::size_t t = 1; t < workspaces_.size(); ++t) add(to, workspaces_[t].w.sum);
    for (std::size_t i = 0; i < sizeof(packed) / sizeof(float); ++i) flat(to)[i] *= share;
  }

  /// The local steps, into t.w.model; their residuals go to t.kept.
  void steps_of(const float* x, workspace_of_thread& t) {
    auto& w = t.w;
    const auto keep = [&](int step, const packed& from) {
      trace& kept = t.kept[step];
      std::memcpy(kept.a, w.a, sizeof w.a);
      std::memcpy(kept.w2, from.w2, sizeof from.w2);
      std::memcpy(kept.g, w.g, sizeof w.g);
    };
    if constexpr (Carried) return carried_steps(start_, x, w, keep);
    for (int p = 0; p < panels; ++p) forward(start_, p, x, w.a[p]);
    const packed* from = &start_;
    for (int step = 0; step < steps; ++step, from = &w.model) {
      head(*from, w.model, w);
      keep(step, *from);
      for (int p = 0; p < panels; ++p) {
        backward(*from, w.model, p, x, w, descend);
        if (step + 1 < steps) forward(w.model, p, x, w.a[p]);
      }
    }
  }

  /// Adds the loss at the mean to t.loss, and its gradient to t.w.sum.
  void loss_of(const float* x, workspace_of_thread& t) {
    workspace& w = t.w;
    for (int p = 0; p < panels; ++p) forward(mean_, p, x, w.a[p]);
    head(mean_, w.model, w);
    for (int o = 0; o < classes; ++o)
      for (int i = 0; i < batch; ++i) {
        w.sum.b2[o] += w.g[o][i];
        if (w.y[o][i] != 0) t.loss -= std::log(w.g[o][i] * batch + 1) / batch;  // one-hot: g = (p - 1) / batch
      }
    const auto gather = [](const float*, float* sum, vec gradient)
                            __attribute__((always_inline)) { store(sum, load(sum) + gradient); };
    for (int p = 0; p < panels; ++p) backward(mean_, w.sum, p, x, w, gather);
  }

  /// da = (x v1 + c1) (1 - a^2), v = t.w.model.
  static void along_units(const float* x, const trace& kept, workspace_of_thread& t, bool first) {
    packed& v = t.w.model;
    for (int p = 0; p < panels; ++p)
      by_rows<batch>([&]<int R>(int i) __attribute__((always_inline)) {
        vec acc[R][2];
        if (!Carried || first) {
          const vec b0 = load(v.b1[p]), b1 = load(v.b1[p] + lanes);
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) acc[r][0] = b0, acc[r][1] = b1;
          product<R, features>(acc, x + i * features, features, 1, v.w1[p]);
        }
        if constexpr (Carried) {
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
            for (int half = 0; half < 2; ++half)
              if (first)
                store(t.w.z[p][i + r] + half * lanes, acc[r][half]);
              else
                acc[r][half] = load(t.w.z[p][i + r] + half * lanes);
        }
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          const vec a0 = load(kept.a[p][i + r]), a1 = load(kept.a[p][i + r] + lanes);
          store(t.da[p][i + r], acc[r][0] - acc[r][0] * a0 * a0);
          store(t.da[p][i + r] + lanes, acc[r][1] - acc[r][1] * a1 * a1);
        }
      });
  }

  /// v -= rate * H v for v = t.w.model, if it is still needed; returns <gradient, v>.
  static float step_back(const float* x, const trace& kept, workspace_of_thread& t, bool needed) {
    auto& w = t.w;
    packed& v = w.model;
    products_of_units(kept.w2, t.da, t.dz);
    products_of_units(v.w2, kept.a, t.more);
    const float along = logits_back(kept, t, v);
    if (!needed) return along;
    for (int p = 0; p < panels; ++p) {
      by_rows<batch>(
          [&]<int R>(int i) __attribute__((always_inline)) {  // (dz w2^T + g v2^T) (1 - a^2) - 2 (g w2^T) a da
            vec acc[R][2] = {}, u[R][2] = {};
            product<R, classes>(acc, &t.dz[0][i], 1, batch, kept.w2[p]);
            product<R, classes>(acc, &kept.g[0][i], 1, batch, v.w2[p]);
            product<R, classes>(u, &kept.g[0][i], 1, batch, kept.w2[p]);
#pragma GCC unroll 8
            for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
              for (int half = 0; half < 2; ++half) {
                const vec a = load(kept.a[p][i + r] + half * lanes), tangent = load(t.da[p][i + r] + half * lanes);
                store(w.d[i + r] + half * lanes,
                      acc[r][half] - acc[r][half] * a * a - splat(2.0f) * u[r][half] * a * tangent);
              }
          });
      by_rows<classes>([&]<int R>(int i) __attribute__((always_inline)) {  // g^T da + dz^T a
        vec acc[R][2] = {};
        product<R, batch>(acc, kept.g[i], batch, 1, t.da[p]);
        product<R, batch>(acc, t.dz[i], batch, 1, kept.a[p]);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) descend_both(v.w2[p][i + r], acc[r]);
      });
      if constexpr (Carried) {
        by_rows<batch>([&]<int R>(int i) __attribute__((always_inline)) {
          vec acc[R][2];
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) acc[r][0] = load(w.z[p][i + r]), acc[r][1] = load(w.z[p][i + r] + lanes);
          product<R, batch>(acc, w.square[i], batch, 1, w.d);
#pragma GCC unroll 8
          for (int r = 0; r < R; ++r) store(w.z[p][i + r], acc[r][0]), store(w.z[p][i + r] + lanes, acc[r][1]);
        });
        continue;
      }
      by_rows<features>([&]<int R>(int i) __attribute__((always_inline)) {  // x^T s
        vec acc[R][2] = {};
        product<R, batch>(acc, x + i, 1, features, w.d);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) descend_both(v.w1[p][i + r], acc[r]);
      });
      vec sum[2] = {};
      for (int i = 0; i < batch; ++i) sum[0] += load(w.d[i]), sum[1] += load(w.d[i] + lanes);
      descend_both(v.b1[p], sum);
    }
    return along;
  }
  static void descend_both(float* v, const vec (&gradient)[2]) {
    descend(v, v, gradient[0]);
    descend(v + lanes, v + lanes, gradient[1]);
  }

  /// Turns the tangent of the logits into that of their gradient, makes c2's step, and returns the loss's derivative
  /// along v.
  static float logits_back(const trace& kept, workspace_of_thread& t, packed& v) {
    vec along{}, step[classes] = {};
    for (int i = 0; i < batch; i += lanes) {
      vec z[classes], p[classes], mean{};
      for (int o = 0; o < classes; ++o) {
        z[o] = load(&t.dz[o][i]) + load(&t.more[o][i]) + splat(v.b2[o]);
        const vec g = load(&kept.g[o][i]);
        along += g * z[o];
        p[o] = g + load(&t.w.y[o][i]) * splat(1.0f / batch);  // softmax / batch
        mean += p[o] * z[o];
      }
      mean *= splat(float{batch});
      for (int o = 0; o < classes; ++o) {
        const vec tangent = p[o] * (z[o] - mean);
        store(&t.dz[o][i], tangent);
        step[o] += tangent;
      }
    }
    float total = 0;
    for (int l = 0; l < lanes; ++l) {
      total += along[l];
      for (int o = 0; o < classes; ++o) v.b2[o] -= rate * step[o][l];
    }
    return total;
  }

  std::vector<workspace_of_thread> workspaces_;
  packed start_, mean_, gradient_;
};

}  // namespace hypergradient
