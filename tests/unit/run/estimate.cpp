// What the steps of a plan should take: counted from the plan, not timed.
#include <drx/drx.hpp>
#include <drx/run/estimate.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

namespace {
struct rows : drx::placement<rows> {};
using numbers = drx::array<float, 1024>;
using matrix = drx::array<float, 64, 64>;
using small = drx::array<double, 4>;

constexpr auto doubled = [](auto x) { return x + x; };
constexpr auto product = [](auto x) { return drx::matmul(x, x); };
constexpr auto decayed = [](auto x) { return drx::exp(x); };
constexpr auto thrice = [](auto x) { return drx::fori_loop<3>(x, [](auto y) { return drx::matmul(y, y); }); };
constexpr auto mean = [](auto x) { return drx::reduce_mean(drx::map([](auto v) { return drx::sum(v * v); }, x)); };

template <auto& F, class... X>
using steps_of = drx::program<F, X...>;

double sum(const std::vector<drx::step_estimate>& steps, double drx::step_estimate::* what) {
  return std::accumulate(steps.begin(), steps.end(), 0.,
                         [=](double n, const auto& s) { return n + s.runs * (s.*what); });
}
constexpr drx::core_rates rates{.hertz = 1e9, .vector_bytes = 32, .vectors_per_cycle = 2};
}  // namespace

TEST_CASE("an elementwise step has a vector of results for each of its vectors, and moves its arrays") {
  const auto steps = drx::estimate<steps_of<doubled, numbers>>({}, rates);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].what == "add");
  CHECK(steps[0].vectors == 1024 / 8);
  CHECK(steps[0].bytes == 2 * 4096);
  CHECK(steps[0].runs == 1);
  CHECK(steps[0].seconds == steps[0].cycles / 1e9);
}
TEST_CASE("an exponential is many instructions, a product one for each multiplication of a vector") {
  const auto vectors = [](const auto& steps) { return sum(steps, &drx::step_estimate::vectors); };
  CHECK(vectors(drx::estimate<steps_of<decayed, numbers>>({}, rates)) > 10 * 1024 / 8);
  const double of_product = vectors(drx::estimate<steps_of<product, matrix>>({}, rates));
  CHECK(of_product > 64 * 64 * 8);
  CHECK(of_product < 2 * 64 * 64 * 8);
  const double of_three = vectors(drx::estimate<steps_of<thrice, matrix>>({}, rates));
  CHECK(of_three >= 3 * of_product);
  CHECK(of_three < 3.3 * of_product);
}
TEST_CASE("members take what there are of them; each step has a number of its own") {
  using P = steps_of<mean, drx::placed<small, rows>>;
  const auto bytes = [](std::int64_t members) {
    const auto steps = drx::estimate<P>({{"rows", members}}, rates);
    std::vector<int> numbers;
    for (const auto& s : steps) numbers.push_back(s.step);
    std::sort(numbers.begin(), numbers.end());
    CHECK(std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end());
    return sum(steps, &drx::step_estimate::bytes);
  };
  CHECK(bytes(32'000) >= 32'000 * 32);
  CHECK(bytes(64'000) == doctest::Approx(2 * bytes(32'000)).epsilon(1e-3));
  CHECK(bytes(33) > bytes(32));
}
TEST_CASE("what lies far away takes longer") {
  using P = steps_of<mean, drx::placed<small, rows>>;
  const auto seconds = [](std::int64_t members) {
    return sum(drx::estimate<P>({{"rows", members}}, rates), &drx::step_estimate::cycles) /
           static_cast<double>(members);
  };
  CHECK(seconds(10'000'000) > 1.2 * seconds(1'024));
}
TEST_CASE("members that nobody counted, or that are fewer than none, are named") {
  using P = steps_of<mean, drx::placed<small, rows>>;
  const auto told = [](const drx::member_counts& members) {
    try {
      (void)drx::estimate<P>(members);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(told({{"columns", 3}}).find("rows") != std::string::npos);
  CHECK(told({{"rows", -3}}).find("rows has -3 members") != std::string::npos);
}
