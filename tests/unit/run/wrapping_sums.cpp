// Sums and products of integers wrap, in the interpreter and in kernels: sanitizers see no overflow.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
struct parts : drx::placement<parts> {};
using numbers = drx::array<std::int32_t, 3, 40>;

/// Numbers of all sizes, from small ones.
constexpr auto large = [](auto x) { return (x + 7) * 715827883; };
constexpr auto over_axes = [](auto x) {
  auto y = large(x);
  return std::tuple{drx::sum(y),
                    drx::sum<0>(y),
                    drx::sum<1>(y),
                    drx::prod<1>(y),
                    drx::cumsum<1>(y),
                    drx::cumprod<0>(y),
                    drx::dot(drx::index<0>(y), drx::index<1>(y))};
};
constexpr auto of_products = [](auto x) {
  auto y = large(x);
  return std::tuple{drx::matmul(y, drx::transpose(y)), drx::matmul(drx::transpose(y), y)};
};
constexpr auto convolved = [](auto x) {
  auto y = large(drx::reshape<1, 20, 6>(x));
  return std::tuple{drx::conv1d(y, large(drx::reshape<5, 6, 4>(x))), drx::abs(y)};
};
constexpr auto over_members = [](auto p) {
  auto y = drx::map([](auto x) { return large(x); }, p);
  return std::tuple{drx::reduce_sum(y), drx::reduce_sum(drx::map([](auto x) { return drx::sum<0>(x); }, y))};
};
}  // namespace

TEST_CASE("sums and products over axes") {
  harness::check_run<drx::program<over_axes, numbers>>({}, {0});
  harness::check_run<drx::program<of_products, numbers>>({}, {0});
  harness::check_run<drx::program<convolved, numbers>>({}, {0});
}
TEST_CASE("sums over members") {
  harness::check_run<drx::program<over_members, drx::placed<numbers, parts>>>({}, {5, 300});
}
TEST_CASE("what a sum and a product wrap to") {
  static constexpr auto f = [](auto x) { return std::tuple{drx::sum(x), drx::prod(x)}; };
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<drx::program<f, drx::array<std::int32_t, 3>>> p(e, c);
  const auto [sum, product] = p(drx::array<std::int32_t, 3>{2147483647, 2147483647, 5});
  CHECK(sum == 3);
  CHECK(product == 5);
}
