// From 64 members on, small ones are computed in blocks: sums, means and gradients of such numbers of members.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
struct rows : drx::placement<rows> {};
using weights = drx::array<double, 9, 10>;
using row = std::tuple<drx::array<float, 8>, std::int32_t>;

constexpr auto error = [](auto w, auto r) {
  auto [x, label] = r;
  auto scores = drx::matmul(drx::concatenate(drx::cast<double>(x), drx::ones<drx::array<double, 1>>()), w);
  return drx::sum(drx::square(scores - drx::one_hot<double, 10>(label)));
};
constexpr auto slope = [](auto w, auto data) {
  return drx::value_and_grad([=](auto v) { return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(v), data)); })(
      w);
};

constexpr auto slope_of_products = [](auto w, auto data) {
  auto product = [](auto v, auto x) { return drx::square(drx::dot(v, x)); };
  return drx::value_and_grad([=](auto v) { return drx::reduce_sum(drx::map(product, drx::broadcast<rows>(v), data)); })(
      w);
};
}  // namespace

TEST_CASE("value and gradient of many members") {  // g++ 12 left out the loop of a block (see run/data/frame.hpp)
  harness::check_run<drx::program<slope, weights, drx::placed<row, rows>>>(
      {}, {63, 64, 71, 255, 256, 300, 1023, 1024, 1100});
}
TEST_CASE("members that fill more than a cache: the next block is fetched while one is computed") {
  using longest = drx::array<float, 1023>;
  harness::check_run<drx::program<slope_of_products, longest, drx::placed<longest, rows>>>({}, {1100});
}
