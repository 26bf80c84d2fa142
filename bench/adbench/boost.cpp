// Boost's fvar of first order: a dual with one direction, so that each input takes a pass.
#include "rows.hpp"

#include <boost/math/differentiation/autodiff.hpp>

namespace adbench {

namespace {

template <class F, std::size_t N, class J>
void jacobian(const F& f, const std::array<double, N>& x, J& j) {
  using scalar = boost::math::differentiation::autodiff_fvar<double, 1>;
  for (std::size_t k = 0; k < N; ++k) {
    std::array<scalar, N> in;
    for (std::size_t i = 0; i < N; ++i)
      in[i] = i == k ? boost::math::differentiation::make_fvar<double, 1>(x[i]) : scalar(x[i]);
    const auto y = f(in);
    for (std::size_t o = 0; o < y.size(); ++o) j[o][k] = y[o].derivative(1);
  }
}

}  // namespace

void add_boost(bench::suite& suite, const inputs& in) {
  add_jacobians(suite, in, "Boost fvar", [](const auto& f, const auto& x, auto& j) { jacobian(f, x, j); });
}

}  // namespace adbench
