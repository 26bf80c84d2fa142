// The functions of bench/adbench/ as programs of arrays, compiled, against the scalar code and its derivatives by hand.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include "../../../bench/adbench/ba_arrays.hpp"
#include "../../../bench/adbench/gmm.hpp"
#include "../../../bench/adbench/gmm_arrays.hpp"
#include "../../../bench/adbench/lstm.hpp"
#include "../../../bench/adbench/lstm_arrays.hpp"

#include "harness/difference.hpp"

#include <doctest/doctest.h>

#include <random>
#include <span>
#include <vector>

namespace {

struct generator {
  std::mt19937_64 bits{7};
  std::normal_distribution<double> normal{0, 0.5};
  void fill(auto& numbers) {
    for (double& v : numbers) v = normal(bits);
  }
};
/// The next numbers of a flat list, as an array.
template <class A, class List>
A next(const List& list, std::size_t& at) {
  A a;
  for (double& v : a) v = list[at++];
  return a;
}
void check_near(std::span<const double> got, std::span<const double> expected, double tolerance) {
  CHECK(harness::largest_difference(got, expected, harness::relative_to::largest) <= tolerance);
}
template <class Program>
auto compiled() {
  static drx::serial_executor executor;
  static drx::single_rank rank;
  return drx::compiled<Program>(executor, rank);
}
template <class P, class S>
auto place(std::size_t n, auto&... leaves) {
  static drx::single_rank rank;
  return drx::place_memory<P, S>(rank, {0, static_cast<std::int64_t>(n)}, leaves...);
}

}  // namespace

TEST_CASE("Gaussian mixture: value and gradient against those by hand") {
  using scalar = adbench::gmm<3, 4>;
  generator random;
  scalar::vector theta, hand;
  random.fill(theta);
  std::vector<scalar::point> x(41);
  std::vector<double> numbers;
  for (auto& p : x) {
    random.fill(p);
    numbers.insert(numbers.end(), p.begin(), p.end());
  }
  const scalar f{x.size(), 1.5, 2};
  const double value = f.by_hand(theta, x, hand);

  using parameters = adbench::mixture<3, 4>;
  const auto mixture_of = []<class... A>(std::type_identity<std::tuple<A...>>, const scalar::vector& list) {
    std::size_t at = 0;
    return std::tuple<A...>{next<A>(list, at)...};
  };
  auto run = compiled<adbench::mixture_program<3, 4>>();
  const auto [got, gradient] = run(mixture_of(std::type_identity<parameters>{}, theta), f.gamma, f.m,
                                   place<adbench::points, drx::array<double, 3>>(x.size(), numbers));
  CHECK(got == doctest::Approx(value).epsilon(1e-12));
  std::vector<double> flat;
  std::apply([&](const auto&... part) { (flat.insert(flat.end(), part.begin(), part.end()), ...); }, gradient);
  check_near(flat, hand, 1e-12);
}

TEST_CASE("long short-term memory: value and gradient against backpropagation by hand") {
  using scalar = adbench::lstm<2, 3>;
  generator random;
  scalar f;
  scalar::vector w, hand;
  f.sequence.resize(6);
  random.fill(f.start);
  for (auto& c : f.sequence) c[random.bits() % 3] = 1;
  random.fill(w);
  const double value = f.by_hand(w, hand);

  drx::array<double, 6, 3> sequence;
  for (std::size_t t = 0; t < 6; ++t) std::copy(f.sequence[t].begin(), f.sequence[t].end(), sequence.data() + 3 * t);
  std::size_t at = 0, zero = 0;
  const auto layers = next<drx::array<double, 2, 4, 2, 3>>(w, at);
  const auto extra = next<drx::array<double, 3, 3>>(w, at);
  auto run = compiled<adbench::lstm_program<2, 3, 6>>();
  const auto [got, gradient] =
      run(std::tuple{layers, extra}, next<drx::array<double, 2, 2, 3>>(f.start, zero), sequence);
  CHECK(got == doctest::Approx(value).epsilon(1e-12));
  std::vector<double> flat(std::get<0>(gradient).begin(), std::get<0>(gradient).end());
  flat.insert(flat.end(), std::get<1>(gradient).begin(), std::get<1>(gradient).end());
  check_near(flat, hand, 1e-12);
}

TEST_CASE(
    "bundle adjustment: errors and Jacobians against those by hand, of array code and of scalar code that is called") {
  constexpr std::size_t cameras = 2, points = 3, n = 6;
  const adbench::bundle::input base{0.1, -0.3, 0.2, 1, -2, 0.5, 500, 320, 240, 0.1, -0.02, 0.4, 0.3, 5, 0.8};
  generator random;
  random.normal = std::normal_distribution<double>(0, 0.1);
  drx::array<double, cameras, 11> camera;
  drx::array<double, points, 3> point;
  random.fill(camera);
  random.fill(point);
  for (std::size_t i = 0; i < cameras * 11; ++i) camera.data()[i] += base[i % 11];
  for (std::size_t i = 0; i < points * 3; ++i) point.data()[i] += base[11 + i % 3];
  std::fill_n(camera.data(), 3, 0.0);  // one that is not rotated: the other branch
  std::vector<std::int32_t> by, of;
  std::vector<double> weight(n), feature(2 * n, 280);
  random.fill(weight);
  for (std::size_t i = 0; i < n; ++i) {
    by.push_back(static_cast<std::int32_t>(i % cameras));
    of.push_back(static_cast<std::int32_t>(i % points));
  }
  const auto seen = place<adbench::observations, adbench::observation>(n, by, of, weight, feature);
  const auto check = [&](auto run) {
    const auto blocks = run(camera, point, seen);
    for (std::size_t i = 0; i < n; ++i) {
      adbench::bundle::input in;
      std::copy_n(camera.data() + 11 * by[i], 11, in.begin());
      std::copy_n(point.data() + 3 * of[i], 3, in.begin() + 11);
      in[14] = weight[i];
      const adbench::bundle f{{feature[2 * i], feature[2 * i + 1]}};
      const auto hand = f.by_hand(in);
      const auto [e, j] = blocks[static_cast<std::int64_t>(i)];
      check_near({e.data(), 2}, f(in), 1e-12);
      check_near({j.data(), 15}, hand[0], 1e-12);
      check_near({j.data() + 15, 15}, hand[1], 1e-12);
    }
  };
  check(compiled<adbench::bundle_program<adbench::reprojection, cameras, points>>());
  check(compiled<adbench::bundle_program<adbench::reprojection_called, cameras, points>>());
}
