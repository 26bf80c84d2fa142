// Eigen's AutoDiffScalar (unsupported): duals, as many directions as there are inputs.
#include "inputs.hpp"

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

#include <algorithm>

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
template <bool Complicated>
void hands(bench::suite& suite, const char* row, const inputs::track<Complicated>& f, const inputs& in) {
  using track = inputs::track<Complicated>;
  typename track::input x;
  std::copy_n(in.angles.begin(), x.size(), x.begin());
  add<typename track::jacobian>(suite, row, "Eigen AutoDiffScalar", [&f, x](auto& j) { jacobian(f, x, j); });
}

}  // namespace

void add_eigen(bench::suite& suite, const inputs& in) {
  add<jacobians>(suite, bundle_row, "Eigen AutoDiffScalar", [&](auto& j) {
    for (std::size_t i = 0; i < j.size(); ++i) jacobian(in.view, in.observations[i], j[i]);
  });
  hands(suite, simple_row, in.simple, in);
  hands(suite, complicated_row, in.complicated, in);
}

}  // namespace adbench
