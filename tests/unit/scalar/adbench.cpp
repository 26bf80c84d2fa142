// The functions of bench/adbench/ at small sizes: derivatives of both modes against those written by hand and
// differences.
#include <drx/scalar/sum_over.hpp>

#include "../../../bench/adbench/ba.hpp"
#include "../../../bench/adbench/gmm.hpp"
#include "../../../bench/adbench/hand_tracking.hpp"
#include "../../../bench/adbench/lstm.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace ad = drx::ad;

TEST_CASE("Gaussian mixture: packs, one lane and duals against the gradient by hand") {
  using model = adbench::gmm<3, 4>;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 0.5);
  model::vector theta, hand, packs, lane;
  for (double& t : theta) t = normal(random);
  std::vector<model::point> x(21);
  for (auto& p : x)
    for (double& v : p) v = normal(random);
  const model f{x.size(), 1.5, 2};
  const double value = f.by_hand(theta, x, hand);
  CHECK(f.value(theta, x) == doctest::Approx(value));
  const auto sample = [&](std::size_t i) -> const auto& { return x[i]; };
  CHECK(ad::sum_over_into<3>(packs, f, theta, x.size(), sample) == doctest::Approx(value));
  CHECK(ad::sum_over_into<3, 1>(lane, f, theta, x.size(), sample) == doctest::Approx(value));
  for (std::size_t i = 0; i < model::parameters; ++i) {
    CAPTURE(i);
    model::vector above = theta, below = theta;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    CHECK(hand[i] == doctest::Approx((f.value(above, x) - f.value(below, x)) / 2e-5).epsilon(1e-7).scale(1));
    CHECK(packs[i] == doctest::Approx(hand[i]).epsilon(1e-12));
    CHECK(lane[i] == doctest::Approx(hand[i]).epsilon(1e-12));
  }
}

TEST_CASE("bundle adjustment: both modes against the Jacobian by hand") {
  adbench::bundle::input x{0.1, -0.3, 0.2, 1, -2, 0.5, 500, 320, 240, 0.1, -0.02, 0.4, 0.3, 5, 0.8};
  const adbench::bundle f{{310, 250}};
  for (int turn = 0; turn < 2; ++turn) {
    const auto hand = f.by_hand(x);
    const auto forward = ad::jacobian<ad::forward>(f, x), reverse = ad::jacobian<ad::reverse>(f, x);
    for (std::size_t o = 0; o < 2; ++o)
      for (std::size_t i = 0; i < 15; ++i) {
        CAPTURE(i);
        CHECK(forward[o][i] == doctest::Approx(hand[o][i]).epsilon(1e-11));
        CHECK(reverse[o][i] == doctest::Approx(hand[o][i]).epsilon(1e-11));
      }
    x[0] = x[1] = x[2] = 0;  // no rotation: the other branch
  }
}

namespace {

template <bool Complicated>
void check_hands() {
  using track = adbench::tracking<2, 40, Complicated>;
  std::mt19937_64 random(4);
  std::normal_distribution<double> normal(0, 0.5);
  track f;
  for (std::size_t b = 0; b < track::bones; ++b)
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 4; ++k) {
        f.model.base[b][i][k] = (i == k ? 1 : 0) + normal(random);
        f.model.inverse[b][i][k] = (i == k ? 1 : 0) + normal(random);
      }
  for (auto& m : f.points) {
    for (double& v : m.measured) v = normal(random);
    for (double& v : m.within) v = normal(random);
  }
  for (auto& point : f.weighted)
    for (auto& corner : point)
      for (auto& bone : corner) {
        for (double& v : bone) v = normal(random);
        bone[3] = 1.0 / static_cast<double>(track::bones);
      }
  typename track::input x;
  for (double& v : x) v = normal(random);
  typename track::jacobian hand, into;
  f.by_hand(x, hand);
  const auto value = f(x);
  const auto narrow = ad::jacobian<ad::forward>(f, x);
  const auto value_into = ad::value_and_jacobian_into<ad::forward, 32>(into, f, x);
  for (std::size_t o = 0; o < track::outputs; ++o) {
    CHECK(value_into[o] == doctest::Approx(value[o]).epsilon(1e-12));
    for (std::size_t i = 0; i < track::inputs; ++i) {
      CAPTURE(o);
      CAPTURE(i);
      CHECK(narrow[o][i] == doctest::Approx(hand[o][i]).epsilon(1e-10).scale(1));
      CHECK(into[o][i] == doctest::Approx(hand[o][i]).epsilon(1e-10).scale(1));
    }
  }
}

}  // namespace

TEST_CASE("hand tracking: duals against the Jacobian by hand") {
  check_hands<false>();
  check_hands<true>();
}

TEST_CASE("long short-term memory: the tape against backpropagation by hand and differences") {
  using model = adbench::lstm<2, 3>;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 0.7);
  model f;
  f.sequence.resize(6);
  for (double& v : f.start) v = normal(random);
  for (auto& c : f.sequence) c[random() % 3] = 1;
  model::vector w, hand;
  for (double& v : w) v = normal(random);
  const double value = f.by_hand(w, hand);
  const auto r = ad::value_and_gradient(f, w);
  CHECK(value == doctest::Approx(f(w)));
  CHECK(r.value == doctest::Approx(value));
  for (std::size_t i = 0; i < model::parameters; ++i) {
    CAPTURE(i);
    model::vector above = w, below = w;
    above[i] += 1e-5;
    below[i] -= 1e-5;
    CHECK(hand[i] == doctest::Approx((f(above) - f(below)) / 2e-5).epsilon(1e-6).scale(0.01));
    CHECK(r.gradient[i] == doctest::Approx(hand[i]).epsilon(1e-12));
  }
  const auto in_lanes = [&]<int W>(std::integral_constant<int, W>) {
    const auto packs = ad::value_and_gradient<ad::reverse>(f.in_lanes<W>(), ad::pack_rows<W, 3>(w));
    model::vector g;
    ad::unpack_rows<3>(g, packs.gradient);
    CHECK(sum_of_lanes(packs.value) == doctest::Approx(value).epsilon(1e-12));
    for (std::size_t i = 0; i < model::parameters; ++i) CHECK(g[i] == doctest::Approx(hand[i]).epsilon(1e-12));
  };
  in_lanes(std::integral_constant<int, 2>{});  // two numbers for three units
  in_lanes(std::integral_constant<int, 4>{});
}
