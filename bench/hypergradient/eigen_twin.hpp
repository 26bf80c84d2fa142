// bench/hypergradient/eigen_twin.hpp: the reverse sweep by hand, with Eigen and OpenMP, in memory that does not grow
// with the clients.
//
// It takes three passes over the clients: the round; the loss at the new model and its gradient v; and for each client
// the steps again, keeping the residuals of its batch, then backwards. A backward step is v -= rate * H v, a product of
// the loss's Hessian with v by forward over reverse, whose forward sweep also gives the slope's part, -<gradient, v>.
// Layouts are those of fedavg_round/eigen_twin.hpp.
#pragma once

#include "../fedavg_round/inputs.hpp"

#include <omp.h>

#include <Eigen/Core>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace hypergradient {

using namespace fedavg;

class eigen_twin {
  template <int R, int C, int Order = Eigen::RowMajor>
  using matrix = Eigen::Matrix<float, R, C, Order>;
  template <int N>
  using row = Eigen::Matrix<float, 1, N>;

  struct weights {
    matrix<features, hidden> w1;
    row<hidden> b1;
    matrix<classes, hidden> w2;  // transposed
    row<classes> b2;
  };
  using logits = matrix<batch, classes, Eigen::ColMajor>;
  using units = matrix<batch, hidden>;

  /// The residuals of one step on its batch; of the weights the backward pass needs w2 only.
  struct trace {
    units a;   // tanh
    units u;   // gradient at tanh
    logits p;  // softmax
    logits g;  // gradient at the logits
    matrix<classes, hidden> w2;
  };
  struct workspace {
    weights m, v, sum;
    std::array<trace, steps> kept;
    units d, s, da;
    logits dz;
    double loss, slope;
  };

 public:
  struct answer {
    float value, slope;
  };

  explicit eigen_twin(int threads) : workspaces_(static_cast<std::size_t>(threads)) {}

  std::size_t temp_bytes() const { return workspaces_.size() * sizeof(workspace) + 3 * sizeof(weights); }

  answer call(const params& in, const float* x, const float* y, int n) {
    load(in, start_);
    const float share = 1.0f / static_cast<float>(n);
    over_clients(n, x, y, [&](const auto& batch_x, const auto& batch_y, workspace& w) {
      w.m = start_;
      for (trace& t : w.kept) step(batch_x, batch_y, w.m, t, w.d);
      add(w.sum, w.m);
    });
    total(share, mean_);
    over_clients(n, x, y, [&](const auto& batch_x, const auto& batch_y, workspace& w) {
      trace& t = w.kept[0];
      w.loss += backward(batch_x, batch_y, mean_, t, w.d);
      w.sum.w1.noalias() += batch_x.transpose() * w.d;
      w.sum.b1 += w.d.colwise().sum();
      w.sum.w2.noalias() += t.g.transpose() * t.a;
      w.sum.b2 += t.g.colwise().sum();
    });
    double loss = 0, slope = 0;
    for (const workspace& w : workspaces_) loss += w.loss;
    total(share * share, gradient_);  // the mean of the losses, then that of the models
    over_clients(n, x, y, [&](const auto& batch_x, const auto& batch_y, workspace& w) {
      w.m = start_;
      for (trace& t : w.kept) step(batch_x, batch_y, w.m, t, w.d);
      w.v = gradient_;
      for (int i = steps; i-- > 0;) w.slope -= step_back(batch_x, w.kept[static_cast<std::size_t>(i)], w, i > 0);
    });
    for (const workspace& w : workspaces_) slope += w.slope;
    return {static_cast<float>(loss) * share, static_cast<float>(slope)};
  }

 private:
  static void load(const params& in, weights& to) {
    to.w1 = Eigen::Map<const matrix<features, hidden>>(in.w1);
    to.b1 = Eigen::Map<const row<hidden>>(in.b1);
    to.w2 = Eigen::Map<const matrix<hidden, classes>>(in.w2).transpose();
    to.b2 = Eigen::Map<const row<classes>>(in.b2);
  }
  static void add(weights& to, const weights& more) {
    to.w1 += more.w1, to.b1 += more.b1, to.w2 += more.w2, to.b2 += more.b2;
  }

  template <class F>
  void over_clients(int n, const float* x, const float* y, F f) {
#pragma omp parallel num_threads(static_cast<int>(workspaces_.size()))
    {
      workspace& w = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
      w.sum.w1.setZero(), w.sum.b1.setZero(), w.sum.w2.setZero(), w.sum.b2.setZero();
      w.loss = w.slope = 0;
#pragma omp for schedule(static)
      for (int client = 0; client < n; ++client) {
        const Eigen::Map<const matrix<batch, features>> batch_x(x +
                                                                static_cast<std::ptrdiff_t>(client) * batch * features);
        const logits batch_y =
            Eigen::Map<const matrix<batch, classes>>(y + static_cast<std::ptrdiff_t>(client) * batch * classes);
        f(batch_x, batch_y, w);
      }
    }
  }
  void total(float share, weights& to) {
    to = workspaces_[0].sum;
    for (std::size_t t = 1; t < workspaces_.size(); ++t) add(to, workspaces_[t].sum);
    to.w1 *= share, to.b1 *= share, to.w2 *= share, to.b2 *= share;
  }

  /// The loss at m; leaves its gradient at the logits in t.g, at the hidden layer's sums in d.
  template <class X>
  static float backward(const X& x, const logits& y, const weights& m, trace& t, units& d) {
    t.a.rowwise() = m.b1;
    t.a.noalias() += x * m.w1;
    t.a = t.a.array().tanh();
    t.p.noalias() = t.a.lazyProduct(m.w2.transpose());
    t.p.rowwise() += m.b2;
    t.p.colwise() -= t.p.rowwise().maxCoeff().eval();
    const float right = (t.p.array() * y.array()).sum();
    t.p = t.p.array().exp();
    const Eigen::Array<float, batch, 1> sum = t.p.array().rowwise().sum();
    t.p.array().colwise() *= 1.0f / sum;
    t.g = (t.p - y) * (1.0f / batch);
    t.u.noalias() = t.g.lazyProduct(m.w2);
    d = t.u.array() * (1.0f - t.a.array().square());
    return (sum.log().sum() - right) * (1.0f / batch);
  }

  template <class X>
  static void step(const X& x, const logits& y, weights& m, trace& t, units& d) {
    backward(x, y, m, t, d);
    t.w2 = m.w2;
    m.w1.noalias() -= rate * (x.transpose() * d);
    m.b1 -= rate * d.colwise().sum();
    m.w2.noalias() -= rate * (t.g.transpose() * t.a);
    m.b2 -= rate * t.g.colwise().sum();
  }

  /// v -= rate * H v for w.v, if it is still needed; returns <gradient, v>.
  template <class X>
  static float step_back(const X& x, const trace& t, workspace& w, bool needed) {
    auto& [w1, b1, w2, b2] = w.v;
    w.da.rowwise() = b1;
    w.da.noalias() += x * w1;
    w.da.array() *= 1.0f - t.a.array().square();
    w.dz.noalias() = w.da.lazyProduct(t.w2.transpose());
    w.dz += t.a.lazyProduct(w2.transpose());
    w.dz.rowwise() += b2;
    const float along = (t.g.array() * w.dz.array()).sum();
    if (!needed) return along;
    const Eigen::Array<float, batch, 1> mean = (t.p.array() * w.dz.array()).rowwise().sum();
    w.dz.array().colwise() -= mean;
    w.dz.array() *= t.p.array() * (1.0f / batch);
    w.s.noalias() = w.dz.lazyProduct(t.w2);
    w.s += t.g.lazyProduct(w2);
    w.s.array() = w.s.array() * (1.0f - t.a.array().square()) - 2.0f * t.u.array() * t.a.array() * w.da.array();
    w1.noalias() -= rate * (x.transpose() * w.s);
    b1 -= rate * w.s.colwise().sum();
    w2.noalias() -= rate * (t.g.transpose() * w.da);
    w2.noalias() -= rate * (w.dz.transpose() * t.a);
    b2 -= rate * w.dz.colwise().sum();
    return along;
  }

  std::vector<workspace> workspaces_;
  weights start_, mean_, gradient_;
};

}  // namespace hypergradient
