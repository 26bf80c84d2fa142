// What the steps of a plan should take: counted from the plan, not timed.
#include <drx/drx.hpp>
#include <drx/run/estimate.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
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

constexpr auto of_row = [](auto i, auto x) { return 2 * drx::index(x, i); };
constexpr auto halved = [](auto x) {
  return drx::while_loop<50>([](auto y) { return drx::sum(y) > 1; }, [](auto y) { return 0.5f * y; }, x);
};
struct sites : drx::placement<sites> {};
constexpr auto nested = [](auto x) {
  auto of_site = [](auto rows_of_site) {
    return drx::reduce_sum(drx::map([](auto v) { return drx::sum(v * v); }, rows_of_site));
  };
  return drx::reduce_sum(drx::map(of_site, x));
};
constexpr auto convolved = [](auto x, auto w) { return drx::conv2d(x, w); };

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
  const auto cycles = [](std::int64_t members) {
    return sum(drx::estimate<P>({{"rows", members}}, rates), &drx::step_estimate::cycles) /
           static_cast<double>(members);
  };
  CHECK(cycles(10'000'000) > 1.2 * cycles(1'024));

  const auto each = [](const auto& steps) { return steps.at(0).cycles / steps.at(0).bytes; };  // of unplaced arrays
  CHECK(each(drx::estimate<steps_of<doubled, drx::array<float, 20'000'000>>>({}, rates)) >
        3 * each(drx::estimate<steps_of<doubled, numbers>>({}, rates)));
}
TEST_CASE("a convolution is its multiplications") {
  using P = steps_of<convolved, drx::array<float, 2, 16, 16, 4>, drx::array<float, 3, 3, 4, 8>>;
  const double least = 2. * 14 * 14 * 8 * 9 * 4 / 8;  // vectors of eight floats
  const double vectors = sum(drx::estimate<P>({}, rates), &drx::step_estimate::vectors);
  CHECK(vectors >= least);
  CHECK(vectors < 8 * least);
}
TEST_CASE("of a large array, of which a row is read, the row counts") {
  const auto steps =
      drx::estimate<steps_of<of_row, drx::scalar<std::int32_t>, drx::array<float, 100'000, 8>>>({}, rates);
  CHECK(sum(steps, &drx::step_estimate::bytes) < 1000);
}
TEST_CASE("steps of a loop that ends by a condition say so") {
  const auto steps = drx::estimate<steps_of<halved, numbers>>({}, rates);
  const auto apart = [](const auto& s) { return s.depends_on_data; };
  CHECK(std::any_of(steps.begin(), steps.end(), apart));
  CHECK_FALSE(std::all_of(steps.begin(), steps.end(), apart));
  for (const auto& s : steps)
    if (apart(s)) CHECK(s.runs == 50);
}
TEST_CASE("members of members are those of each parent") {
  using P = steps_of<nested, drx::placed<drx::placed<small, rows>, sites>>;
  const auto bytes = [](std::int64_t parents, std::int64_t each) {
    return sum(drx::estimate<P>({{"sites", parents}, {"rows", each}}, rates), &drx::step_estimate::bytes);
  };
  CHECK(bytes(6, 40) == doctest::Approx(2 * bytes(3, 40)).epsilon(0.01));
  CHECK(bytes(3, 40) >= 3 * 40 * 32);
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
