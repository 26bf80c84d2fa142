// Boost's fvar of first order: a dual of one direction, so that each input takes a pass.
#include "inputs.hpp"

#include <boost/math/differentiation/autodiff.hpp>

#include <algorithm>

namespace adbench {

namespace {

template <class F, std::size_t N, class J>
void jacobian(const F& f, const std::array<double, N>& x, J& j) {
  using scalar = boost::math::differentiation::autodiff_fvar<double, 1>;
  for (std::size_t k = 0; k < N; ++k) {
    std::array<scalar, N> in;
    for (std::size_t i = 0; i < N; ++i) in[i] = i == k ? boost::math::differentiation::make_fvar<double, 1>(x[i]) : scalar(x[i]);
    const auto y = f(in);
    for (std::size_t o = 0; o < y.size(); ++o) j[o][k] = y[o].derivative(1);
  }
}

template <bool Complicated>
void hands(bench::suite& suite, const char* row, const inputs::track<Complicated>& f, const inputs& in) {
  using track = inputs::track<Complicated>;
  typename track::input x;
  std::copy_n(in.angles.begin(), x.size(), x.begin());
  add<typename track::jacobian>(suite, row, "Boost fvar", [&f, x](auto& j) { jacobian(f, x, j); });
}

}  // namespace

void add_boost(bench::suite& suite, const inputs& in) {
  add<jacobians>(suite, bundle_row, "Boost fvar", [&](auto& j) {
    for (std::size_t i = 0; i < j.size(); ++i) jacobian(in.view, in.observations[i], j[i]);
  });
  hands(suite, simple_row, in.simple, in);
  hands(suite, complicated_row, in.complicated, in);
}

}  // namespace adbench
