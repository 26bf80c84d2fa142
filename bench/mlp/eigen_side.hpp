// bench/mlp/eigen_side.hpp: value and gradient with Eigen, over the whole batch.
//
// Eigen has no vectorised tanh in double, so tanh is written with its exp. The bias is the product's initial value:
// tanh of (x w1).rowwise() + b1 is not vectorised.
#pragma once

#include "inputs.hpp"

#include <Eigen/Core>

namespace mlp {

class eigen_side {
  template <int R, int C>
  using matrix = Eigen::Matrix<double, R, C, C == 1 ? Eigen::ColMajor : Eigen::RowMajor>;

 public:
  void call(const inputs& in, answer& out) {
    const Eigen::Map<const matrix<batch, features>> x(in.x.data());
    const Eigen::Map<const matrix<batch, 1>> y(in.y.data());
    const Eigen::Map<const matrix<features, hidden>> w1(in.model.w1);
    const Eigen::Map<const matrix<1, hidden>> b1(in.model.b1), w2(in.model.w2);
    a_.rowwise() = b1;
    a_.noalias() += x * w1;
    a_ = 1.0 - 2.0 / ((2.0 * a_.array()).exp() + 1.0);
    e_.noalias() = a_ * w2.transpose();
    e_.array() += in.model.b2;
    e_ -= y;
    out.value = e_.squaredNorm() / batch;
    e_ *= 2.0 / batch;
    out.gradient.b2 = e_.sum();
    Eigen::Map<matrix<1, hidden>>(out.gradient.w2).noalias() = e_.transpose() * a_;
    for (int i = 0; i < batch; ++i) a_.row(i) = e_[i] * w2.array() * (1.0 - a_.row(i).array().square());
    Eigen::Map<matrix<1, hidden>>(out.gradient.b1) = a_.colwise().sum();
    Eigen::Map<matrix<features, hidden>>(out.gradient.w1).noalias() = x.transpose() * a_;
  }
  static std::size_t temp_bytes() { return (batch * hidden + batch) * sizeof(double); }

 private:
  matrix<Eigen::Dynamic, hidden> a_{batch, hidden};
  matrix<batch, 1> e_;
};

}  // namespace mlp
