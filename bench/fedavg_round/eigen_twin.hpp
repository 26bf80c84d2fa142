// bench/fedavg_round/eigen_twin.hpp: the round as an expert writes it with Eigen and OpenMP.
//
// Sizes are fixed, so that nothing is allocated and small products unroll. w2 is kept transposed during the local
// steps: its two products then run along the 128 units as plain loops (lazyProduct), twice as fast as Eigen's blocked
// product at ten columns. The logits are column-major, so that the softmax runs over the batch. The bias is the
// product's initial value, and tanh has a statement of its own: tanh of (a.rowwise() + b1) is not vectorised, and ten
// times slower.
#pragma once

#include <omp.h>

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "inputs.hpp"

namespace fedavg {

class eigen_twin {
  template <int R, int C, int Order = Eigen::RowMajor>
  using matrix = Eigen::Matrix<float, R, C, Order>;
  template <int N>
  using row = Eigen::Matrix<float, 1, N>;
  using flat = Eigen::Map<Eigen::Array<float, static_cast<int>(params::size), 1>>;

  struct model {
    matrix<features, hidden> w1;
    row<hidden> b1;
    matrix<classes, hidden> w2;  // transposed
    row<classes> b2;
  };

  struct workspace {
    model m, sum;
    matrix<batch, hidden> a, d;
    matrix<batch, classes, Eigen::ColMajor> g;
  };

 public:
  explicit eigen_twin(int threads) : workspaces_(static_cast<std::size_t>(threads)) {}

  std::size_t temp_bytes() const { return workspaces_.size() * sizeof(workspace); }

  /// With `batches` batches for each client, 1 or `steps`.
  void round(const params& in, const float* x, const float* y, int client_count, int batches, params& out) {
#pragma omp parallel num_threads(static_cast<int>(workspaces_.size()))
    {
      workspace& w = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
      each(w.sum, [](auto& sum) { sum.setZero(); });
#pragma omp for schedule(static)
      for (int client = 0; client < client_count; ++client) {
        local_sgd(in, x + static_cast<std::ptrdiff_t>(client) * batches * batch * features,
                  y + static_cast<std::ptrdiff_t>(client) * batches * batch * classes, batches, w);
        add(w.sum, w.m);
      }
    }
    model& total = workspaces_[0].sum;
    for (std::size_t t = 1; t < workspaces_.size(); ++t) add(total, workspaces_[t].sum);
    each(total, [share = 1.0f / static_cast<float>(client_count)](auto& sum) { sum *= share; });
    Eigen::Map<matrix<features, hidden>>(out.w1) = total.w1;
    Eigen::Map<row<hidden>>(out.b1) = total.b1;
    Eigen::Map<matrix<hidden, classes>>(out.w2) = total.w2.transpose();
    Eigen::Map<row<classes>>(out.b2) = total.b2;
  }

 private:
  template <class F>
  static void each(model& m, F f) {
    f(m.w1), f(m.b1), f(m.w2), f(m.b2);
  }
  static void add(model& to, const model& more) {
    to.w1 += more.w1, to.b1 += more.b1, to.w2 += more.w2, to.b2 += more.b2;
  }

  static void local_sgd(const params& in, const float* first_x, const float* first_y, int batches, workspace& w) {
    matrix<batch, classes, Eigen::ColMajor> y;
    auto& [w1, b1, w2, b2] = w.m;
    auto& [m, sum, a, d, g] = w;
    w1 = Eigen::Map<const matrix<features, hidden>>(in.w1);
    b1 = Eigen::Map<const row<hidden>>(in.b1);
    w2 = Eigen::Map<const matrix<hidden, classes>>(in.w2).transpose();
    b2 = Eigen::Map<const row<classes>>(in.b2);
    for (int step = 0; step < steps; ++step) {
      const Eigen::Map<const matrix<batch, features>> x(first_x + step % batches * batch * features);
      if (step < batches) y = Eigen::Map<const matrix<batch, classes>>(first_y + step * batch * classes);
      a.rowwise() = b1;
      a.noalias() += x * w1;
      a = a.array().tanh();
      g.noalias() = a.lazyProduct(w2.transpose());
      g.rowwise() += b2;
      g.colwise() -= g.rowwise().maxCoeff().eval();
      g = g.array().exp();
      g.array().colwise() *= (1.0f / batch) / g.array().rowwise().sum().eval();
      g -= y * (1.0f / batch);
      d.noalias() = g.lazyProduct(w2);
      d.array() *= 1.0f - a.array().square();
      w1.noalias() -= rate * (x.transpose() * d);
      b1 -= rate * d.colwise().sum();
      w2.noalias() -= rate * (g.transpose() * a);
      b2 -= rate * g.colwise().sum();
    }
  }

  std::vector<workspace> workspaces_;
};

}  // namespace fedavg
