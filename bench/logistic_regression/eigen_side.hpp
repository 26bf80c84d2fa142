// bench/logistic_regression/eigen_side.hpp: as an expert writes it with Eigen and OpenMP: rows in blocks that stay in the
// first cache, whose products are Eigen's; sums in double, a block each.
#pragma once

#include "inputs.hpp"

#include <Eigen/Core>

#include <algorithm>

namespace logistic {

inline void eigen_side(const inputs& in, answer& out) {
  constexpr int block = 64;
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, features, Eigen::RowMajor, block, features>;
  using column = Eigen::Matrix<float, Eigen::Dynamic, 1, 0, block, 1>;
  using sums = Eigen::Matrix<double, 1 + features, 1>;
  const Eigen::Map<const Eigen::Matrix<float, features, 1>> w(in.w.data());
  sums total = sums::Zero();
#pragma omp parallel
  {
    sums mine = sums::Zero();
    column z, e, d;
    Eigen::Matrix<float, features, 1> slope;
#pragma omp for schedule(static) nowait
    for (std::size_t first = 0; first < rows; first += block) {
      const auto n = static_cast<Eigen::Index>(std::min<std::size_t>(block, rows - first));
      const Eigen::Map<const matrix> x(&in.x[first * features], n, features);
      const Eigen::Map<const column> y(&in.y[first], n);
      z.noalias() = x * w;
      e = (-z.array().abs()).exp();
      mine[0] += static_cast<double>((z.array().max(0.0f) + e.array().log1p() - y.array() * z.array()).sum());
      d = (z.array() > 0).select(1.0f, e.array()) / (1.0f + e.array()) - y.array();
      slope.noalias() = x.transpose() * d;
      mine.tail<features>() += slope.cast<double>();
    }
#pragma omp critical
    total += mine;
  }
  total /= static_cast<double>(rows);
  out.loss = static_cast<float>(total[0]);
  for (int j = 0; j < features; ++j) out.slope[j] = static_cast<float>(total[1 + j]);
}

}  // namespace logistic
