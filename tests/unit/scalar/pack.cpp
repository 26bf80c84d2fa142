#include <drx/scalar/pack.hpp>

#include <drx/scalar/sum_over.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace ad = drx::ad;

namespace {

/// f on packs, on duals of packs and on variables of packs against lane by lane.
template <class T, int W, class F>
void check_lanes(const char* name, F f, T low, T high) {
  CAPTURE(std::string(name));
  using P = ad::pack<T, W>;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<T> uniform(low, high);
  for (int round = 0; round < 5; ++round) {
    P x, y;
    for (int i = 0; i < W; ++i) x.set(i, uniform(random)), y.set(i, uniform(random));
    const auto near = [](T a, T b) { return std::abs(a - b) <= 64 * std::numeric_limits<T>::epsilon() * (1 + std::abs(b)); };
    const P value = f(x, y);
    const auto forward = f(ad::dual<P>::variable(x), ad::dual<P>(y));
    const auto both = ad::value_and_gradient<ad::reverse>([&](const auto& v) { return f(v[0], v[1]); }, std::array{x, y});
    bool same = true;
    for (int i = 0; i < W; ++i) {
      const auto one = ad::value_and_gradient<ad::reverse>([&](const auto& v) { return f(v[0], v[1]); }, std::array{x[i], y[i]});
      same = same && near(value[i], one.value) && near(forward.value[i], one.value) && near(both.value[i], one.value);
      same = same && near(forward.tangent[0][i], one.gradient[0]);
      same = same && near(both.gradient[0][i], one.gradient[0]) && near(both.gradient[1][i], one.gradient[1]);
    }
    CHECK(same);
  }
}
#define CHECK_LANES(expression, low, high)                                                                            \
  check_lanes<double, 8>(#expression, [](const auto& x, const auto& y) { using std::max, std::min, std::abs; return expression; }, low, high); \
  check_lanes<float, 4>(#expression, [](const auto& x, const auto& y) { using std::max, std::min, std::abs; return expression; }, low##f, high##f)

}  // namespace

TEST_CASE("packs against their lanes: values and derivatives of both modes") {
  CHECK_LANES(x * y + 2 - x / (y + 3) - 1 / (x + 4), -1.0, 1.0);
  CHECK_LANES(exp(x) * log1p(y) + tanh(x) * sin(y) - cos(x) + expm1(y), -0.5, 1.0);
  CHECK_LANES(log(x) * sqrt(y) + pow(x, y) + atan2(x, y) + erf(x) + cbrt(y) + exp2(x), 0.5, 2.0);
  CHECK_LANES(max(x, y) * min(x, y) + abs(x) + ad::max(x, 0), -1.0, 1.0);
  CHECK_LANES(ad::select(x > y, x * y, y) + ad::select(x > 0, 1, y) + floor(x), -1.0, 1.0);
}

TEST_CASE("masks, lanes, constants") {
  using ad::any_lane, ad::all_lanes, ad::sum_of_lanes;
  using P = ad::pack<float, 4>;
  P x(1.5f);
  x.set(2, -1);
  CHECK((any_lane(x < 0) && !all_lanes(x < 0) && all_lanes(x < 0 || x > 1) && !any_lane(x < 0 && x > 1)));
  CHECK((x == -1)[2]);
  CHECK((!(x == -1))[1]);
  CHECK(sum_of_lanes(2 * x) == 7);
  CHECK(x[0] == 1.5f);
  CHECK(sizeof(P) == 16);
  CHECK(std::isnan(max(P(0), P(NAN))[3]));
  CHECK(std::isnan(max(P(NAN), P(0))[3]));
  CHECK(sin(ad::pack<double, 2>(1e9))[1] == std::sin(1e9));
  static_assert(!std::is_convertible_v<P, double> && std::is_trivially_copyable_v<P>);
}

TEST_CASE("sums over samples: packs, one lane and a loop agree, for any number of samples") {
  const auto loss = [](const auto& theta, const auto& x) {  // a logistic neuron
    const auto z = theta[0] * x[0] + theta[1] * x[1] + theta[2];
    return log1p(exp(-z * x[2])) + theta[0] * theta[0];
  };
  const std::array theta{0.3, -0.7, 0.1};
  for (const std::size_t n : std::array<std::size_t, 6>{0, 1, 7, 8, 9, 33}) {
    CAPTURE(n);
    std::vector<std::array<double, 3>> data(n);
    std::mt19937_64 random(n);
    for (auto& d : data) d = {std::normal_distribution<double>()(random), std::normal_distribution<double>()(random), random() % 2 ? 1.0 : -1.0};
    const auto sample = [&](std::size_t i) -> const auto& { return data[i]; };
    std::array<double, 3> packs{}, lane{}, sum{};
    const double a = ad::sum_over_into<3>(packs, loss, theta, n, sample), b = ad::sum_over_into<3, 1>(lane, loss, theta, n, sample);
    double y = 0;
    for (const auto& d : data) {
      const auto one = ad::value_and_gradient([&](const auto& t) { return loss(t, d); }, theta);
      y += one.value;
      for (std::size_t i = 0; i < 3; ++i) sum[i] += one.gradient[i];
    }
    CHECK(a == doctest::Approx(y));
    CHECK(b == doctest::Approx(y));
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(packs[i] == doctest::Approx(sum[i]));
      CHECK(lane[i] == doctest::Approx(sum[i]));
    }
  }
}
