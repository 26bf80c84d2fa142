// Eigen's AutoDiffScalar (unsupported): duals with as many directions as there are inputs.
#include "rows.hpp"

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

namespace adbench {

namespace {

template <std::size_t N>
using scalar = Eigen::AutoDiffScalar<Eigen::Matrix<double, static_cast<int>(N), 1>>;

template <class F, std::size_t N, class J>
void jacobian(const F& f, const std::array<double, N>& x, J& j) {
  std::array<scalar<N>, N> in;
  for (std::size_t i = 0; i < N; ++i) in[i] = scalar<N>(x[i], static_cast<int>(N), static_cast<int>(i));
  const auto y = f(in);
  for (std::size_t o = 0; o < y.size(); ++o)
    for (std::size_t i = 0; i < N; ++i) j[o][i] = y[o].derivatives()[static_cast<Eigen::Index>(i)];
}

}  // namespace

void add_eigen(bench::suite& suite, const inputs& in) {
  add_jacobians(suite, in, "Eigen AutoDiffScalar", [](const auto& f, const auto& x, auto& j) { jacobian(f, x, j); });
}

}  // namespace adbench
