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
constexpr auto of_few_numbers = [](auto w, auto data, auto seed) {
  auto one = [](auto v, auto own, auto i) {
    auto [x, y] = own;
    auto off = drx::tanh(drx::dot(v, x)) - y;
    return std::tuple{off * off, drx::normal<double, 2>(drx::fold_in(drx::random_key(i), 3)),
                      drx::cast<int>(off > 0.5)};
  };
  auto each = drx::map(one, drx::broadcast<rows>(w), data, seed);
  auto loss = [=](auto v) {
    auto errors = [=](auto u, auto own, auto i) { return std::get<0>(one(u, own, i)); };
    return drx::reduce_mean(drx::map(errors, drx::broadcast<rows>(v), data, seed));
  };
  auto slopes = drx::grad(loss)(w);
  auto large = drx::map([](auto v, auto own) { return drx::exp(drx::outer(v, std::get<0>(own))); },
                        drx::broadcast<rows>(slopes), data);
  return std::tuple{each, drx::reduce_max(each), drx::reduce_mean(large), slopes};
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
TEST_CASE("members of a few numbers, of which there are very many, go in large blocks; others beside them do not") {
  using few = drx::array<double, 5>;
  using P =
      drx::program<of_few_numbers, few, drx::placed<std::pair<few, double>, rows>, drx::placed<std::int64_t, rows>>;
  const std::string plan = show(drx::plan::staged_program<P>::tape_constant().thaw());
  CHECK(plan.find("blocks of 128, 32, 8]") != std::string::npos);
  CHECK(plan.find("blocks of 32, 8]") != std::string::npos);
  harness::check_run<P>({}, {1, 100, 300, 16383, 16384, 16600});
}
