// Hand tracking of bench/adbench/ as a program of arrays, compiled, against the scalar code, its duals and differences.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include "../../../bench/adbench/hand.hpp"
#include "../../../bench/adbench/hand_arrays.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

constexpr std::size_t fingers = 2;
using scalar = adbench::hand<fingers>;
constexpr std::size_t bones = scalar::bones;

/// A hand of matrices near the identity, drawn at random: no rotations, which nothing here depends on.
struct synthetic {
  std::mt19937_64 bits{11};
  std::normal_distribution<double> normal{0, 0.3};
  scalar model{};

  synthetic() {
    for (std::size_t b = 0; b < bones; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 4; ++j) {
          model.base[b][i][j] = (i == j ? 1 : j == 3 ? 0.5 : 0) + normal(bits);
          model.inverse[b][i][j] = (i == j ? 1 : 0) + normal(bits);
        }
  }
  /// Another measured point on the same hand.
  scalar measure() {
    scalar m = model;
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (double& w : m.weights[c]) sum += w = std::abs(normal(bits));
      for (double& w : m.weights[c]) w /= sum;
      for (double& x : m.corners[c]) x = normal(bits);
      m.measured[c] = normal(bits);
    }
    return m;
  }
};

}  // namespace

TEST_CASE("hand tracking: distances and Jacobians of arrays are those of duals and of differences") {
  constexpr std::size_t n = 5;
  synthetic drawn;
  scalar::input base;
  for (double& t : base) t = drawn.normal(drawn.bits);
  drx::array<double, scalar::parameters> theta;
  drx::array<double, bones, 4, 4> seen_from_parent, inverse;
  for (std::size_t b = 0; b < bones; ++b) {
    for (std::size_t i = 0; i < 3; ++i) {
      std::copy_n(drawn.model.base[b][i].data(), 4, seen_from_parent.data() + (b * 4 + i) * 4);
      std::copy_n(drawn.model.inverse[b][i].data(), 4, inverse.data() + (b * 4 + i) * 4);
    }
    seen_from_parent.data()[b * 16 + 15] = inverse.data()[b * 16 + 15] = 1;
  }
  std::vector<scalar> all;
  std::vector<scalar::input> inputs;
  std::vector<double> points, places, corners, weights;
  for (std::size_t i = 0; i < n; ++i) {
    const scalar m = all.emplace_back(drawn.measure());
    auto& in = inputs.emplace_back(base);
    in[scalar::within] = drawn.normal(drawn.bits);
    in[scalar::within + 1] = drawn.normal(drawn.bits);
    places.insert(places.end(), in.begin() + scalar::within, in.end());
    points.insert(points.end(), m.measured.begin(), m.measured.end());
    for (std::size_t c = 0; c < 3; ++c) {
      corners.insert(corners.end(), m.corners[c].begin(), m.corners[c].end());
      weights.insert(weights.end(), m.weights[c].begin(), m.weights[c].end());
    }
  }
  drx::serial_executor executor;
  drx::single_rank rank;
  const auto placed = drx::place_memory<adbench::measurements, adbench::measurement<fingers>>(rank, {0, n}, points,
                                                                                              places, corners, weights);
  drx::compiled<adbench::hand_program<fingers>> run(executor, rank);
  for (const bool turned : {true, false}) {  // the rotation by no angle takes the other branch
    if (!turned) base[0] = base[1] = base[2] = 0;
    std::copy_n(base.begin(), scalar::parameters, theta.data());
    const auto result = run(theta, std::tuple{seen_from_parent, inverse}, placed);
    for (std::size_t i = 0; i < n; ++i) {
      auto& in = inputs[i];
      std::copy_n(base.begin(), scalar::parameters, in.begin());
      const auto [distance, by_theta, by_place] = result[static_cast<std::int64_t>(i)];
      const auto value = all[i](in);
      const auto duals = drx::ad::jacobian<drx::ad::forward>(all[i], in);
      for (std::size_t o = 0; o < 3; ++o) {
        CHECK(distance.data()[o] == doctest::Approx(value[o]).epsilon(1e-12).scale(1));
        for (std::size_t k = 0; k < scalar::inputs; ++k) {
          CAPTURE(k);
          const double j = k < scalar::parameters ? by_theta.data()[o * scalar::parameters + k]
                                                  : by_place.data()[o * 2 + k - scalar::parameters];
          CHECK(j == doctest::Approx(duals[o][k]).epsilon(1e-12).scale(1));
          scalar::input above = in, below = in;
          above[k] += 1e-5;
          below[k] -= 1e-5;
          CHECK(j == doctest::Approx((all[i](above)[o] - all[i](below)[o]) / 2e-5).epsilon(1e-7).scale(1));
        }
      }
    }
  }
}
