// The kernels of convolutions and pooling, and of their derivatives, against plain evaluation.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <limits>

using drx::array;
using drx::program;

namespace {
/// F and the gradient of a sum of its sines.
template <class F>
struct with_slopes {
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    constexpr auto sum = [](auto... v) { return drx::sum(drx::sin(F{}(v...))); };
    if constexpr (sizeof...(x) == 1)
      return std::tuple{F{}(x...), drx::grad(sum)(x...)};
    else
      return std::tuple{F{}(x...), drx::grad<0, 1>(sum)(x...)};
  }
};
constexpr auto conv = [](auto x, auto w) { return drx::conv2d(x, w); };
constexpr auto strided_conv = [](auto x, auto w) {
  return drx::conv2d<drx::strides<2, 3>, drx::padding<1, 2>, drx::padding<2, 0>>(x, w);
};
constexpr auto dilated_conv = [](auto x, auto w) {
  return drx::conv2d<drx::same, drx::dilations<1, 2>, drx::strides<1, 2>>(x, w);
};
constexpr auto spread_conv = [](auto x, auto w) {
  return drx::conv1d<drx::input_dilations<3>, drx::strides<2>, drx::padding<3>, drx::dilations<2>>(x, w);
};
template <class... Options>
struct conv1_with {
  constexpr auto operator()(auto x, auto w) const { return drx::conv1d<Options...>(x, w); }
};
template <class... Options>
struct conv2_with {
  constexpr auto operator()(auto x, auto w) const { return drx::conv2d<Options...>(x, w); }
};
/// Compares a convolution from one channel to one, and its derivatives, with plain evaluation.
template <class Convolution, class Image, class Kernel>
void check_one_channel() {
  static constexpr with_slopes<Convolution> both{};
  harness::check_run<program<both, Image, Kernel>>({}, {0});
}
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr auto infinite_ends = [](auto x) {
  constexpr array<float, 3, 3, 1, 1> w{infinity, 1, infinity, 1, 1, 1, -infinity, 1, -infinity};
  return drx::conv2d<drx::same>(x, drx::constant(w));
};
constexpr with_slopes<decltype(infinite_ends)> infinite;
constexpr auto both_pools = [](auto x) {
  const auto mean = drx::avg_pool<drx::window<3, 2>, drx::strides<2, 2>, drx::same>(x);
  return mean + drx::max_pool<drx::window<2, 2>, drx::strides<2, 2>, drx::same>(x);
};
constexpr with_slopes<decltype(conv)> plain;
constexpr with_slopes<decltype(strided_conv)> strided;
constexpr with_slopes<decltype(dilated_conv)> dilated;
constexpr with_slopes<decltype(spread_conv)> spread;
constexpr with_slopes<decltype(both_pools)> pools;
constexpr auto pools_of_ties = [](auto x) {  // whole numbers, of which many are equal, with slopes
  return both_pools(x - drx::stop_gradient(x) + drx::floor(2 * drx::stop_gradient(x)));
};
constexpr with_slopes<decltype(pools_of_ties)> tied;
/// Kernels of each member's own, in blocks of members.
struct clients : drx::placement<clients> {};
constexpr auto in_blocks = [](auto x, auto w) {
  return drx::reduce_mean(drx::map([](auto a, auto b) { return drx::conv1d<drx::same>(a, b); }, x, w));
};
}  // namespace

TEST_CASE("convolutions: channels that fill vectors, or parts of them") {
  harness::check_run<program<plain, array<float, 2, 5, 9, 3>, array<float, 3, 2, 3, 21>>>({}, {0});
  harness::check_run<program<strided, array<double, 6, 7, 5>, array<double, 3, 2, 5, 4>>>({}, {0});
  harness::check_run<program<dilated, array<double, 2, 4, 8, 9>, array<double, 2, 3, 9, 6>>>({}, {0});
  harness::check_run<program<spread, array<float, 2, 6, 2>, array<float, 4, 2, 1>>>({}, {0});
}

TEST_CASE("few channels: several taps of a kernel's derivative together") {
  harness::check_run<program<plain, array<float, 3, 9, 11, 1>, array<float, 3, 3, 1, 8>>>({}, {0});
  harness::check_run<program<plain, array<float, 2, 10, 9, 1>, array<float, 7, 7, 1, 8>>>({}, {0});
  harness::check_run<program<plain, array<float, 2, 6, 7, 2>, array<float, 3, 2, 2, 5>>>({}, {0});
  harness::check_run<program<plain, array<float, 2, 6, 7, 1>, array<float, 2, 3, 1, 40>>>({}, {0});
  harness::check_run<program<strided, array<double, 6, 7, 1>, array<double, 3, 2, 1, 4>>>({}, {0});
  harness::check_run<program<dilated, array<double, 2, 4, 8, 1>, array<double, 2, 3, 1, 6>>>({}, {0});
  check_one_channel<conv1_with<drx::padding<9>, drx::dilations<6>>, array<float, 2, 5, 1>, array<float, 4, 1, 3>>();
}
TEST_CASE("one channel: signals of widths around those of vectors") {
  check_one_channel<conv1_with<drx::same>, array<float, 3, 1, 1>, array<float, 3, 1, 1>>();
  check_one_channel<conv1_with<drx::same>, array<float, 2, 5, 1>, array<float, 4, 1, 1>>();
  check_one_channel<conv1_with<>, array<double, 2, 16, 1>, array<double, 5, 1, 1>>();
  check_one_channel<conv1_with<drx::same>, array<float, 2, 16, 1>, array<float, 3, 1, 1>>();
  check_one_channel<conv1_with<drx::padding<9, 2>>, array<float, 2, 17, 1>, array<float, 7, 1, 1>>();
  check_one_channel<conv1_with<drx::padding<3, 30>, drx::dilations<4>>, array<double, 1, 33, 1>,
                    array<double, 5, 1, 1>>();
  check_one_channel<conv1_with<drx::padding<40>, drx::dilations<3>>, array<float, 1, 64, 1>, array<float, 11, 1, 1>>();
  check_one_channel<conv1_with<drx::padding<1, 0>>, array<float, 2, 405, 1>, array<float, 2, 1, 1>>();
}

TEST_CASE("one channel: images") {
  check_one_channel<conv2_with<drx::same>, array<float, 2, 6, 5, 1>, array<float, 3, 3, 1, 1>>();
  check_one_channel<conv2_with<drx::same>, array<double, 2, 9, 17, 1>, array<double, 5, 3, 1, 1>>();
  check_one_channel<conv2_with<>, array<float, 2, 12, 64, 1>, array<float, 7, 1, 1, 1>>();
  check_one_channel<conv2_with<>, array<float, 2, 5, 64, 1>, array<float, 1, 7, 1, 1>>();
  check_one_channel<conv2_with<drx::strides<2, 1>, drx::padding<2, 1>, drx::padding<0, 3>>, array<float, 2, 9, 33, 1>,
                    array<float, 3, 4, 1, 1>>();
  check_one_channel<conv2_with<drx::strides<3, 1>, drx::dilations<2, 5>, drx::padding<1>, drx::padding<7, 4>>,
                    array<double, 1, 11, 16, 1>, array<double, 2, 4, 1, 1>>();
  check_one_channel<conv2_with<drx::same>, array<float, 1, 3, 150, 1>, array<float, 3, 5, 1, 1>>();
  check_one_channel<conv2_with<drx::strides<1, 2>>, array<float, 1, 4, 21, 1>, array<float, 2, 3, 1, 1>>();
}

TEST_CASE("one channel: columns") {
  check_one_channel<conv2_with<drx::padding<2, 1>, drx::padding<0>>, array<float, 2, 35, 1, 1>,
                    array<float, 4, 1, 1, 1>>();
}

TEST_CASE("one channel: a tap that meets padding adds nothing, whatever it is") {
  harness::check_run<program<infinite, array<float, 2, 6, 37, 1>>>({}, {0});
}

TEST_CASE("convolutions of integers") {
  harness::check_run<program<conv, array<int, 4, 5, 2>, array<int, 2, 2, 2, 3>>>({}, {0});
}

TEST_CASE("pooling") {
  harness::check_run<program<pools, array<double, 2, 5, 6, 3>>>({}, {0});
  harness::check_run<program<pools, array<float, 2, 5, 6, 21>>>({}, {0});
  harness::check_run<program<pools, array<float, 2, 7, 4, 1>>>({}, {0});
  harness::check_run<program<tied, array<float, 2, 8, 9, 6>>>({}, {0});
  harness::check_run<program<tied, array<double, 9, 9, 11>>>({}, {0});
}

TEST_CASE("kernels of the members' own") {
  harness::check_run<
      program<in_blocks, drx::placed<array<double, 5, 2>, clients>, drx::placed<array<double, 3, 2, 2>, clients>>>(
      {}, {5, 0, 70, 1100});
}
