// bench/logistic_regression/eigen_side.hpp: an expert's version with Eigen and OpenMP: rows in blocks that stay in the
// first cache, whose products are Eigen's; one sum in double for each block.
#pragma once

#include "inputs.hpp"

#include <Eigen/Core>

#include <algorithm>

namespace logistic {

template <class T>
void eigen_side(const inputs<T>& in, answer<T>& out) {
  constexpr int block = 64;
  using matrix = Eigen::Matrix<T, Eigen::Dynamic, features, Eigen::RowMajor, block, features>;
  using column = Eigen::Matrix<T, Eigen::Dynamic, 1, 0, block, 1>;
  using sums = Eigen::Matrix<double, 1 + features, 1>;
  const Eigen::Map<const Eigen::Matrix<T, features, 1>> w(in.w.data());
  sums total = sums::Zero();
#pragma omp parallel
  {
    sums mine = sums::Zero();
    column z, e, d;
    Eigen::Matrix<T, features, 1> slope;
#pragma omp for schedule(static) nowait
    for (std::size_t first = 0; first < in.rows; first += block) {
      const auto n = static_cast<Eigen::Index>(std::min<std::size_t>(block, in.rows - first));
      const Eigen::Map<const matrix> x(&in.x[first * features], n, features);
      const Eigen::Map<const column> y(&in.y[first], n);
      z.noalias() = x * w;
      e = (-z.array().abs()).exp();
      mine[0] += static_cast<double>((z.array().max(T(0)) + e.array().log1p() - y.array() * z.array()).sum());
      d = (z.array() > 0).select(T(1), e.array()) / (T(1) + e.array()) - y.array();
      slope.noalias() = x.transpose() * d;
      mine.template tail<features>() += slope.template cast<double>();
    }
#pragma omp critical
    total += mine;
  }
  total /= static_cast<double>(in.rows);
  out.loss = static_cast<T>(total[0]);
  for (int j = 0; j < features; ++j) out.slope[j] = static_cast<T>(total[1 + j]);
}

}  // namespace logistic
