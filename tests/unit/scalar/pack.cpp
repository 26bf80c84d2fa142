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
    const auto near = [](T a, T b) {
      return std::abs(a - b) <= 64 * std::numeric_limits<T>::epsilon() * (1 + std::abs(b));
    };
    const P value = f(x, y);
    const auto forward = f(ad::dual<P>::variable(x), ad::dual<P>(y));
    const auto both =
        ad::value_and_gradient<ad::reverse>([&](const auto& v) { return f(v[0], v[1]); }, std::array{x, y});
    bool same = true;
    for (int i = 0; i < W; ++i) {
      const auto one =
          ad::value_and_gradient<ad::reverse>([&](const auto& v) { return f(v[0], v[1]); }, std::array{x[i], y[i]});
      same = same && near(value[i], one.value) && near(forward.value[i], one.value) && near(both.value[i], one.value);
      same = same && near(forward.tangent[0][i], one.gradient[0]);
      same = same && near(both.gradient[0][i], one.gradient[0]) && near(both.gradient[1][i], one.gradient[1]);
    }
    CHECK(same);
  }
}
#define CHECK_LANES(expression, low, high)  \
  check_lanes<double, 8>(                   \
      #expression,                          \
      [](const auto& x, const auto& y) {    \
        using std::max, std::min, std::abs; \
        return expression;                  \
      },                                    \
      low, high);                           \
  check_lanes<float, 4>(                    \
      #expression,                          \
      [](const auto& x, const auto& y) {    \
        using std::max, std::min, std::abs; \
        return expression;                  \
      },                                    \
      low##f, high##f)

}  // namespace

TEST_CASE("packs against their lanes: values and derivatives of both modes") {
  CHECK_LANES(x * y + 2 - x / (y + 3) - 1 / (x + 4), -1.0, 1.0);
  CHECK_LANES(exp(x) * log1p(y) + tanh(x) * sin(y) - cos(x) + expm1(y), -0.5, 1.0);
  CHECK_LANES(log(x) * sqrt(y) + pow(x, y) + atan2(x, y) + erf(x) + cbrt(y) + exp2(x), 0.5, 2.0);
  CHECK_LANES(ad::sigmoid(x) * y - ad::sigmoid(-30 * y), -1.0, 1.0);
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

namespace {

/// Each lane of x[0], x[1] against all others: by a sum of lanes, and by the sum of a loop.
constexpr auto shares = [](const auto& x, auto sum) {
  using std::exp, std::log;
  const auto norm = log(sum(exp(x[0]) * x[1] + sum(x[1])) + 2);
  return norm * x[0] * norm + x[1];
};
/// The gradient of f's sum over lanes of packs against differences, and its Hessian in a direction against differences
/// of it.
template <class T, int W>
void check_sums_of_lanes() {
  using P = ad::pack<T, W>;
  std::mt19937_64 random(11);
  std::uniform_real_distribution<T> uniform(T(0.3), 1);
  std::array<P, 2> x, direction;
  for (int i = 0; i < W; ++i)
    for (std::size_t k = 0; k < 2; ++k) x[k].set(i, uniform(random)), direction[k].set(i, uniform(random));
  const auto f = [](const auto& v) {
    return shares(v, [](const auto& s) { return std::remove_cvref_t<decltype(v[0])>(sum_of_lanes(s)); });
  };
  const auto by_loop = [](const std::array<std::array<long double, W>, 2>& v) {  // of plain numbers
    long double total = 0, all = 0, sum = 0;
    for (int i = 0; i < W; ++i) all += v[1][static_cast<std::size_t>(i)];
    for (std::size_t i = 0; i < W; ++i) sum += std::exp(v[0][i]) * v[1][i] + all;
    const long double norm = std::log(sum + 2);
    for (std::size_t i = 0; i < W; ++i) total += norm * v[0][i] * norm + v[1][i];
    return total;
  };
  const auto plain = [&] {
    std::array<std::array<long double, W>, 2> v{};
    for (std::size_t k = 0; k < 2; ++k)
      for (std::size_t i = 0; i < W; ++i) v[k][i] = x[k][static_cast<int>(i)];
    return v;
  }();
  const double near = sizeof(T) == 4 ? 1e-4 : 1e-9;
  const auto slope = [&](auto at, std::size_t k, std::size_t i) {
    auto below = at;
    at[k][i] += 1e-5L, below[k][i] -= 1e-5L;
    return (by_loop(at) - by_loop(below)) / 2e-5L;
  };
  const auto r = ad::value_and_gradient<ad::reverse>(f, x);
  CHECK(sum_of_lanes(r.value) == doctest::Approx(static_cast<double>(by_loop(plain))).epsilon(near));
  const auto second = ad::hessian_vector(f, x, direction);  // a tape of duals of packs
  const auto nested = ad::gradient<ad::reverse>(
      [&](const auto& v) {  // a tape on a tape
        const auto g = ad::gradient<ad::reverse>(f, v);
        return g[0] * direction[0] + g[1] * direction[1];
      },
      x);
  const auto along = ad::directional(f, x, direction);
  long double expected = 0;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < W; ++i) {
      const int lane = static_cast<int>(i);
      auto above = plain, below = plain;
      for (std::size_t l = 0; l < 2; ++l)
        for (std::size_t j = 0; j < W; ++j) {
          above[l][j] += 1e-4L * direction[l][static_cast<int>(j)];
          below[l][j] -= 1e-4L * direction[l][static_cast<int>(j)];
        }
      const auto bend = static_cast<double>((slope(above, k, i) - slope(below, k, i)) / 2e-4L);
      CHECK(r.gradient[k][lane] == doctest::Approx(static_cast<double>(slope(plain, k, i))).epsilon(near));
      CHECK(second.gradient[k][lane] == doctest::Approx(r.gradient[k][lane]).epsilon(near));
      CHECK(second.product[k][lane] == doctest::Approx(bend).epsilon(near * 1000));
      CHECK(nested[k][lane] == doctest::Approx(second.product[k][lane]).epsilon(near));
      expected += slope(plain, k, i) * direction[k][lane];
    }
  CHECK(sum_of_lanes(along.derivative) == doctest::Approx(static_cast<double>(expected)).epsilon(near));
}

}  // namespace

TEST_CASE("sums of lanes: derivatives of first and second order, by tapes and duals") {
  check_sums_of_lanes<double, 8>();
  check_sums_of_lanes<double, 2>();
  check_sums_of_lanes<float, 4>();
  ad::local_tape<double, 4> tape;  // one number is its own sum: no statement
  const auto x = ad::variable<double>(tape, 3);
  CHECK(sum_of_lanes(x).index == x.index);
  CHECK(tape.now().count == 1);
  static_assert(ad::lane_count<double> == 1 && ad::lane_count<ad::pack<float, 4>> == 4 &&
                ad::lane_count<ad::var<ad::dual<ad::pack<double, 2>>>> == 2);
}

TEST_CASE("rows in packs and back; lanes beyond are zero") {
  std::array<float, 12> x{}, back{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  const auto packs = ad::pack_rows<4, 6>(x);
  static_assert(packs.size() == 4);
  CHECK(packs[1][1] == 6);
  CHECK(packs[1][2] == 0);
  CHECK(packs[2][0] == 7);
  ad::unpack_rows<6>(back, packs);
  CHECK(back == x);
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
    for (auto& d : data)
      d = {std::normal_distribution<double>()(random), std::normal_distribution<double>()(random),
           random() % 2 ? 1.0 : -1.0};
    const auto sample = [&](std::size_t i) -> const auto& { return data[i]; };
    std::array<double, 3> packs{}, lane{}, sum{};
    const double a = ad::sum_over_into<3>(packs, loss, theta, n, sample),
                 b = ad::sum_over_into<3, 1>(lane, loss, theta, n, sample);
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
