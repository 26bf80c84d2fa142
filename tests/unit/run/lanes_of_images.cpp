// Members in lanes: images, and what has no rule for lanes, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct runs : drx::placement<runs> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;

// Gradients of a small network of images, clipped by their norms.
constexpr auto clipped = [](auto w, auto data) {
  auto of_member = [](auto v, auto r) {
    auto loss = [](auto m, auto image, auto label) {
      auto [kernel, second, dense] = m;
      auto h = drx::tanh(drx::conv2d<drx::same>(image, kernel));
      auto p = drx::max_pool<drx::window<2, 2>>(
          drx::conv2d<drx::strides<1, 2>, drx::padding<1, 0>, drx::padding<0, 1>>(h, second));
      return drx::softmax_cross_entropy(drx::matmul(drx::reshape<2 * 1 * 9>(p), dense), label);
    };
    auto [x, y] = r;
    auto [a, b, c] = drx::grad(loss)(v, x, y);
    auto squares = drx::sum(drx::square(a)) + drx::sum(drx::square(b)) + drx::sum(drx::square(c));
    auto scale = drx::min(0.3 / drx::sqrt(squares), 1);
    return std::tuple{scale * a, scale * b, scale * c};
  };
  return drx::reduce_mean(drx::map(of_member, drx::broadcast<runs>(w), data));
};
using Clipped =
    drx::program<clipped, std::tuple<array<double, 3, 3, 2, 3>, array<double, 2, 2, 3, 9>, array<double, 18, 5>>,
                 drx::placed<std::tuple<array<double, 4, 5, 2>, std::int32_t>, runs>>;

// What moves to axis 0 and back, and what keeps its attributes: slices, padding, sorting, positions, running sums,
// loops in loops.
constexpr auto many = [](auto w, auto data) {
  auto of_member = [](auto v, auto r) {
    auto x = std::get<0>(r);
    auto k = std::get<1>(r);
    auto step = [=](auto i, auto s) {
      auto row = drx::index<0>(drx::dynamic_slice<1>(v, i)) + drx::take(s, k) * drx::take(s, i);
      auto ordered = drx::sort(drx::concatenate(drx::slice<1, 3>(s), drx::flip<0>(row)));
      auto moved = drx::update_slice(s, drx::slice<0, 2>(ordered), k);
      auto sums = drx::cumsum(drx::pad<1, 0>(drx::slice<0, 4>(moved + row)));
      return drx::fori_loop<2>(drx::tanh(sums),
                               [=](auto j, auto z) { return z + drx::cast<double>(j) * 0.1 * drx::cumprod(z); });
    };
    return drx::sum(drx::fori_loop<3>(drx::reshape<5>(x), step));
  };
  return drx::value_and_grad(
      [=](auto v) { return drx::reduce_sum(drx::map(of_member, drx::broadcast<runs>(v), data)); })(w);
};
using Many = drx::program<many, array<double, 3, 5>, drx::placed<std::tuple<array<double, 5, 1>, std::int32_t>, runs>>;

// A product of very many factors, of which squares make each other: sums over lanes look at some only.
constexpr auto powers = [](auto w, auto data) {
  auto of_member = [](auto v, auto x) {
    auto y = drx::fori_loop<2>(drx::matmul(drx::reshape<3, 1>(x), drx::reshape<1, 2>(v)),
                               [](auto z) { return drx::sin(z); });
    auto z = drx::square(drx::square(drx::square(drx::square(y))));
    return drx::square(drx::square(drx::square(drx::square(z))));
  };
  return drx::reduce_sum(drx::map(of_member, drx::broadcast<runs>(w), data));
};
using Powers = drx::program<powers, array<double, 2>, drx::placed<array<double, 3>, runs>>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
}  // namespace

TEST_CASE("convolutions in lanes, and products that are clipped and summed over them") {
  harness::check_run<Clipped>({}, {3, 300});
  CHECK(plan_of<Clipped>().find("lane_convolution") != std::string::npos);
}
TEST_CASE("what has no rule for lanes is batched") { harness::check_run<Many>({.below = 3}, {9, 300}); }
TEST_CASE("sums over lanes of products of many factors") { harness::check_run<Powers>({.low = 0.9, .high = 1}, {300}); }
