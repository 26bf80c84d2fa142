// Members of many numbers go in blocks of 8, whose first product runs before the last steps of the block in front, and
// whose last product is added to the sums where they lie: the plain interpreter's numbers, and the same bits on one
// thread and on several.
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/thread_executor.hpp"

namespace {
struct rows : drx::placement<rows> {};

/// A logistic regression with an intercept: loss, two gradients, each row's loss.
constexpr auto logistic = [](auto w, auto b, auto data) {
  auto row_loss = [](auto v, auto r) {
    auto [slopes, intercept] = v;
    auto [x, y] = r;
    auto z = drx::dot(x, slopes) + intercept;
    return drx::max(z, 0) + drx::log1p(drx::exp(-drx::abs(z))) - y * z;
  };
  auto losses = [=](auto v) { return drx::map(row_loss, drx::broadcast<rows>(v), data); };
  auto v = std::tuple{w, b};
  return std::tuple{drx::value_and_grad([=](auto u) { return drx::reduce_mean(losses(u)); })(v), losses(v)};
};
/// Three classes: products of matrices with a row.
constexpr auto softmax = [](auto w, auto data) {
  auto row_loss = [](auto v, auto x) {
    return -drx::sum(drx::log_softmax(drx::matmul(x, v)) * drx::square(drx::matmul(x, v)));
  };
  return drx::value_and_grad(
      [=](auto v) { return drx::reduce_mean(drx::map(row_loss, drx::broadcast<rows>(v), data)); })(w);
};

template <class Program>
void check() {
  const std::vector<std::int64_t> members{0, 1, 7, 8, 31, 32, 33, 256, 263, 296, 304, 1000, 1024, 1031, 1100};
  harness::check_run<Program>({}, members);
  drx::single_rank c;
  drx::serial_executor alone;
  harness::thread_executor two(2), three(3), ten(10);  // (ten: the last one may have a single leaf of one block)
  drx::compiled<Program> one(alone, c), on_two(two, c), on_three(three, c), on_ten(ten, c);
  for (std::int64_t n : members) {
    CAPTURE(n);
    const harness::tensors in = harness::random_inputs<Program>({.members = n}), expected = harness::call(one, c, in);
    CHECK(harness::same_bits(harness::call(on_two, c, in), expected));
    CHECK(harness::same_bits(harness::call(on_three, c, in), expected));
    CHECK(harness::same_bits(harness::call(on_ten, c, in), expected));
  }
}
template <class T, int N>
using logistic_of = drx::program<logistic, drx::array<T, N>, drx::scalar<T>,
                                 drx::placed<std::tuple<drx::array<T, N>, drx::scalar<T>>, rows>>;
}  // namespace

TEST_CASE("a logistic regression over rows of float") { check<logistic_of<float, 100>>(); }
TEST_CASE("a logistic regression over rows of double") { check<logistic_of<double, 257>>(); }
TEST_CASE("a softmax regression") {
  check<drx::program<softmax, drx::array<float, 100, 3>, drx::placed<drx::array<float, 100>, rows>>>();
}
