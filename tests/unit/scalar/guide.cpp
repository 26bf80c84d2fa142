// The code of docs/scalar.md.
#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>
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

// cut-begin oscillators
struct oscillators {  // phases that turn at their own rates and draw each other; sixteen, eight in the lanes of each
                      // number
  template <class S>
  S operator()(const std::array<S, 2>& rate) const {
    using std::sin, std::cos;
    std::array<S, 2> phase{S(0), S(0)};
    for (int t = 0; t < 100; ++t) {
      const S x = sum_of_lanes(cos(phase[0]) + cos(phase[1])) / 16,
              y = sum_of_lanes(sin(phase[0]) + sin(phase[1])) / 16;
      for (S& p : phase) p += 0.01 * (y * cos(p) - x * sin(p));
      for (std::size_t i = 0; i < 2; ++i) phase[i] += 0.01 * rate[i];
    }
    return phase[0] * phase[0] + phase[1] * phase[1];  // lane by lane: the value is the sum of the lanes
  }
};
// cut-end oscillators

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
  auto [y, g] = drx::ad::value_and_gradient(f, std::array{4.0, 1.0});  // chooses: two inputs, duals
  auto same = drx::ad::gradient<reverse>(f, std::array{4.0, 1.0});     // on a local tape
  auto h = drx::ad::hessian(f, std::array{4.0, 1.0});
  auto third = drx::ad::derivative(
      [](auto x) {  // derivatives nest
        return drx::ad::derivative(drx::ad::derivative([](auto z) { return newton_sqrt(z); }))(x);
      },
      4.0);
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

  std::array<double, 16> rates;
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = std::cos(static_cast<double>(i));
  // cut-begin lanes
  drx::ad::arena memory(1 << 20);  // for a tape that is too large for the stack
  auto [spread, slopes] = drx::ad::value_and_gradient<reverse>(oscillators{}, drx::ad::pack_rows<8, 16>(rates), memory);
  std::array<double, 16> by_rate;
  drx::ad::unpack_rows<16>(by_rate, slopes);  // d sum_of_lanes(spread) / d rates
  // cut-end lanes
  const auto spread_at = [&](std::size_t i, double change) {
    auto changed = rates;
    changed[i] += change;
    return sum_of_lanes(oscillators{}(drx::ad::pack_rows<8, 16>(changed)));
  };
  CHECK(sum_of_lanes(spread) == doctest::Approx(spread_at(0, 0)));
  for (const std::size_t i : {0u, 7u, 8u, 15u})
    CHECK(by_rate[i] == doctest::Approx((spread_at(i, 1e-5) - spread_at(i, -1e-5)) / 2e-5));

  const auto [value, by_length] = drx::interpreter::call<Aim>(0.4, 1.3);
  const auto at = [](double l) {
    const auto s = pendulum{}(0.4, l);
    return s[0] * s[0] + s[1] * s[1];
  };
  CHECK(value == doctest::Approx(at(1.3)));
  CHECK(by_length == doctest::Approx((at(1.3 + 1e-6) - at(1.3 - 1e-6)) / 2e-6));
}
