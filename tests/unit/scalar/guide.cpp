// The code of docs/scalar.md.
#include <drx/drx.hpp>
#include <drx/run/oracle.hpp>
#include <drx/scalar/sum_over.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

namespace {

// cut-begin sqrt
template <class S>
S newton_sqrt(const S& a) {
  using std::abs;
  S x = a;
  while (abs(x * x - a) > 1e-12) x = (x + a / x) / 2;  // a branch on values: taken again at each call
  return x;
}
// cut-end sqrt

// cut-begin neuron
constexpr auto loss = [](const auto& w, const auto& d) {  // of one sample: three weights; two features and a label
  const auto score = w[0] * d[0] + w[1] * d[1] + w[2];
  return log1p(exp(-score * d[2]));
};
// cut-end neuron

// cut-begin call
struct pendulum {  // 100 steps of a pendulum with friction
  template <class S>
  std::array<S, 2> operator()(const S& angle, const S& length) const {
    S a = angle, v = 0;
    for (int i = 0; i < 100; ++i) {
      using std::sin;
      v += 0.01 * (-9.81 / length * sin(a) - 0.1 * v);
      if (a > 3.14159) a -= 2 * 3.14159;
      a += 0.01 * v;
    }
    return {a, v};
  }
};
constexpr auto miss = [](auto angle, auto length) {
  auto state = drx::call(pendulum{}, angle, length);
  return drx::sum(state * state);
};
using Aim = drx::program<drx::value_and_grad<1>(miss), double, double>;
// cut-end call

}  // namespace

TEST_CASE("the page's code") {
  // cut-begin gradient
  using drx::ad::reverse;
  auto f = [](const auto& x) { return newton_sqrt(x[0]) * sin(x[1]); };
  auto [y, g] = drx::ad::value_and_gradient(f, std::array{4.0, 1.0});           // chooses: two inputs, duals
  auto same = drx::ad::gradient<reverse>(f, std::array{4.0, 1.0});              // on a local tape
  auto h = drx::ad::hessian(f, std::array{4.0, 1.0});
  auto third = drx::ad::derivative([](auto x) {                                 // derivatives nest
    return drx::ad::derivative(drx::ad::derivative([](auto z) { return newton_sqrt(z); }))(x);
  }, 4.0);
  // cut-end gradient
  CHECK(y == doctest::Approx(2 * std::sin(1)));
  CHECK(g[0] == doctest::Approx(0.25 * std::sin(1)));
  CHECK(same[1] == doctest::Approx(2 * std::cos(1)));
  CHECK(h[0][1] == doctest::Approx(0.25 * std::cos(1)));
  CHECK(third == doctest::Approx(3.0 / 8 / 32).epsilon(1e-6));

  // cut-begin samples
  std::vector<std::array<double, 3>> data{{0.5, 1, 1}, {-1, 0.2, -1}, {2, -0.3, 1}};
  std::array weights{0.1, -0.2, 0.0}, slope{0.0, 0.0, 0.0};
  double total = drx::ad::sum_over_into<3>(slope, loss, weights, data.size(), [&](std::size_t i) { return data[i]; });
  // cut-end samples
  double expected = 0;
  for (const auto& d : data) expected += loss(weights, d);
  CHECK(total == doctest::Approx(expected));

  const auto [value, by_length] = drx::oracle::call<Aim>(0.4, 1.3);
  const auto at = [](double l) {
    const auto s = pendulum{}(0.4, l);
    return s[0] * s[0] + s[1] * s[1];
  };
  CHECK(value == doctest::Approx(at(1.3)));
  CHECK(by_length == doctest::Approx((at(1.3 + 1e-6) - at(1.3 - 1e-6)) / 2e-6));
}
