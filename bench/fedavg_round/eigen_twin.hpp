// bench/fedavg_round/eigen_twin.hpp: the round as an expert writes it with Eigen and OpenMP.
#pragma once

#include <omp.h>

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "inputs.hpp"

namespace fedavg {

#ifndef EV_FIX
#define EV_FIX 1
#endif
class eigen_twin {
  template <int R, int C, int O = Eigen::RowMajor>
  using matrix = std::conditional_t<EV_FIX, Eigen::Matrix<float, R, C, O>, Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, O>>;
  template <int N>
  using row = Eigen::Matrix<float, 1, N>;
  template <class M>
  using view = Eigen::Map<const M>;

#ifndef EV_ZO
#define EV_ZO Eigen::RowMajor
#endif
  struct workspace {
    params sum;
    matrix<features, hidden> w1;
    row<hidden> b1;
    matrix<hidden, classes> w2;
    row<classes> b2;
    matrix<batch, hidden> a, d;
    matrix<batch, classes,EV_ZO> g;
    workspace() { if constexpr (!EV_FIX) {w1.resize(features,hidden); w2.resize(hidden,classes);a.resize(batch,hidden);d.resize(batch,hidden);g.resize(batch,classes);} }
  };

 public:
  explicit eigen_twin(int threads) : workspaces_(static_cast<std::size_t>(threads)) {}

  std::size_t temp_bytes() const { return workspaces_.size() * sizeof(workspace); }

  void round(const params& in, const float* x, const float* y, int client_count, params& out) {
    using flat = Eigen::Map<Eigen::Array<float, params::size, 1>>;
#pragma omp parallel num_threads(static_cast<int>(workspaces_.size()))
    {
      workspace& w = workspaces_[static_cast<std::size_t>(omp_get_thread_num())];
      flat(w.sum.w1).setZero();
#pragma omp for schedule(static)
      for (int client = 0; client < client_count; ++client)
        local_sgd(in, x + static_cast<std::ptrdiff_t>(client) * batch * features,
                  y + static_cast<std::ptrdiff_t>(client) * batch * classes, w);
    }
    flat total(workspaces_[0].sum.w1);
    for (std::size_t t = 1; t < workspaces_.size(); ++t) total += flat(workspaces_[t].sum.w1);
    flat(out.w1) = total / static_cast<float>(client_count);
  }

 private:
  static void local_sgd(const params& in, const float* batch_x, const float* batch_y, workspace& w) {
    const Eigen::Map<const Eigen::Matrix<float,batch,features,Eigen::RowMajor>> x(batch_x);
    const Eigen::Map<const Eigen::Matrix<float,batch,classes,Eigen::RowMajor>> y(batch_y);
    w.w1 = Eigen::Map<const Eigen::Matrix<float,features,hidden,Eigen::RowMajor>>(in.w1);
    w.b1 = view<row<hidden>>(in.b1);
    w.w2 = Eigen::Map<const Eigen::Matrix<float,hidden,classes,Eigen::RowMajor>>(in.w2);
    w.b2 = view<row<classes>>(in.b2);
    for (int step = 0; step < steps; ++step) {
      w.a.noalias() = x * w.w1;
      w.a.array() = (w.a.rowwise() + w.b1).array().tanh();
      w.g.noalias() = w.a * w.w2;
      w.g.rowwise() += w.b2;
      w.g.colwise() -= w.g.rowwise().maxCoeff().eval();
      w.g.array() = w.g.array().exp();
      w.g.array().colwise() /= w.g.array().rowwise().sum().eval();
      w.g = (w.g - y) * (1.0f / batch);
      w.d.noalias() = w.g * w.w2.transpose();
      w.d.array() *= 1.0f - w.a.array().square();
      w.w1.noalias() -= rate * (x.transpose() * w.d);
      w.b1 -= rate * w.d.colwise().sum();
      w.w2.noalias() -= rate * (w.a.transpose() * w.g);
      w.b2 -= rate * w.g.colwise().sum();
    }
    Eigen::Map<Eigen::Matrix<float,features,hidden,Eigen::RowMajor>>(w.sum.w1) += w.w1;
    Eigen::Map<row<hidden>>(w.sum.b1) += w.b1;
    Eigen::Map<Eigen::Matrix<float,hidden,classes,Eigen::RowMajor>>(w.sum.w2) += w.w2;
    Eigen::Map<row<classes>>(w.sum.b2) += w.b2;
  }

  std::vector<workspace> workspaces_;
};

}  // namespace fedavg
