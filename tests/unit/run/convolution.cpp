// The kernels of convolutions and pooling, and of their derivatives, against plain evaluation.
#include <drx/drx.hpp>

#include "harness/run.hpp"

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
constexpr auto both_pools = [](auto x) {
  const auto mean = drx::avg_pool<drx::window<3, 2>, drx::strides<2, 2>, drx::same>(x);
  return mean + drx::max_pool<drx::window<2, 2>, drx::strides<2, 2>, drx::same>(x);
};
constexpr with_slopes<decltype(conv)> plain;
constexpr with_slopes<decltype(strided_conv)> strided;
constexpr with_slopes<decltype(dilated_conv)> dilated;
constexpr with_slopes<decltype(spread_conv)> spread;
constexpr with_slopes<decltype(both_pools)> pools;
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

TEST_CASE("convolutions of integers") {
  harness::check_run<program<conv, array<int, 4, 5, 2>, array<int, 2, 2, 2, 3>>>({}, {0});
}

TEST_CASE("pooling") { harness::check_run<program<pools, array<double, 2, 5, 6, 3>>>({}, {0}); }

TEST_CASE("kernels of the members' own") {
  harness::check_run<
      program<in_blocks, drx::placed<array<double, 5, 2>, clients>, drx::placed<array<double, 3, 2, 2>, clients>>>(
      {}, {5, 0, 70, 1100});
}
