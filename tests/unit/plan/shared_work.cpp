// What is the same for all members is computed in front of their stage if it is a good part of their work: where the
// plan has it, and the numbers, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/filters.hpp"
#include "harness/run.hpp"

#include <string>

namespace {
struct rows : drx::placement<rows> {};
using drx::array;
using drx::placed;
using filters::series;

// The plan's text in front of its first stage, and from there on.
template <class P>
std::pair<std::string, std::string> plan_of() {
  const std::string plan = show(drx::plan::staged_program<P>::tape_constant().thaw());
  const std::size_t at = plan.find(" = stage[");
  return {plan.substr(0, at), plan.substr(at)};
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Each member solves with the same matrix.
template <int N>
constexpr auto solves = [](auto w, auto data) {
  auto one = [](auto v, auto x) {
    auto a = drx::exp(-drx::square(drx::expand_dims<1>(v) - v)) + drx::identity<array<double, N, N>>();
    return drx::dot(x, drx::solve(a, x));
  };
  auto loss = [=](auto v) { return drx::reduce_mean(drx::map(one, drx::broadcast<series>(v), data)); };
  return drx::value_and_grad(loss)(w);
};
template <int N>
using Solves = drx::program<solves<N>, array<double, N>, placed<array<double, N>, series>>;

// The rows of a client share what is the client's own.
constexpr auto nested = [](auto w, auto scales, auto data) {
  auto of_client = [](auto v, auto own, auto of_rows) {
    auto of_row = [](auto u, auto x) {
      auto a = drx::outer(u, u) + drx::identity<array<double, 5, 5>>();
      return drx::sum(drx::square(drx::solve(a, x)));
    };
    return drx::reduce_sum(drx::map(of_row, drx::broadcast<rows>(v * own), of_rows));
  };
  return drx::value_and_grad(
      [=](auto v) { return drx::reduce_sum(drx::map(of_client, drx::broadcast<series>(v), scales, data)); })(w);
};
using Nested = drx::program<nested, array<double, 5>, placed<drx::scalar<double>, series>,
                            placed<placed<array<double, 5>, rows>, series>>;

// A loop over a client's rows has shared values only, but clients have different numbers of rows.
constexpr auto counts = [](auto w, auto scales, auto data) {
  auto of_client = [](auto v, auto own, auto of_rows) {
    auto step = [](auto x) {
      auto a = drx::outer(x, x) + drx::identity<array<double, 5, 5>>();
      auto each = drx::map([](auto u) { return drx::tanh(u); }, drx::broadcast<rows>(drx::solve(a, x)));
      return 0.5 * drx::reduce_sum(each);
    };
    return drx::sum(drx::fori_loop<3>(v, [=](auto, auto x) { return step(x); })) * own +
           drx::sum(drx::reduce_sum(of_rows));
  };
  return drx::reduce_sum(drx::map(of_client, drx::broadcast<series>(w), scales, data));
};
using Counts = drx::program<counts, array<double, 5>, placed<drx::scalar<double>, series>,
                            placed<placed<array<double, 5>, rows>, series>>;

// A few operations among many, and a loop that ends when a member is done.
constexpr auto little = [](auto w, auto data) {
  auto one = [](auto v, auto x) { return drx::sum(drx::exp(x) * drx::square(v) - drx::tanh(x * x + v)); };
  return drx::reduce_sum(drx::map(one, drx::broadcast<series>(w), data));
};
using Little = drx::program<little, drx::scalar<double>, placed<array<double, 30>, series>>;
constexpr auto until = [](auto w, auto data) {
  auto one = [](auto v, auto x) {
    auto go_on = [](auto s) { return s.first < 4; };
    auto step = [=](auto s) { return std::pair{s.first + x, drx::tanh(s.second * v + drx::exp(v))}; };
    return drx::sum(drx::while_loop<50>(go_on, step, std::pair{x, v}).second);
  };
  return drx::reduce_sum(drx::map(one, drx::broadcast<series>(w), data));
};
using Until = drx::program<until, array<double, 7>, placed<drx::scalar<double>, series>>;
// A loop that would not end, if there are no members.
constexpr auto endless = [](auto w, auto data) {
  auto one = [](auto v, auto x) {
    auto grown = drx::while_loop([](auto s) { return drx::sum(s) >= 0.0; }, [](auto s) { return drx::square(s); }, v);
    return drx::sum(grown) * x;
  };
  return drx::reduce_sum(drx::map(one, drx::broadcast<series>(w), data));
};
using Endless = drx::program<endless, array<double, 90>, placed<drx::scalar<double>, series>>;
// A number that is repeated along the members' rows is stacked as a number.
constexpr auto smoothing = [](auto w, auto data) {
  auto one = [](auto v, auto x) {
    auto step = [=](auto s) {
      auto [variance, mean] = s;
      auto gain = drx::exp(-variance) / (drx::log(variance + 2) + drx::tanh(variance * v));
      return std::pair{variance * (1 - gain) + 0.1, mean + gain * (x - mean)};
    };
    return drx::sum(drx::fori_loop<30>(std::pair{v, x}, step).second);
  };
  return drx::reduce_sum(drx::map(one, drx::broadcast<series>(w), data));
};
using Smoothing = drx::program<smoothing, drx::scalar<double>, placed<array<double, 6>, series>>;
}  // namespace

TEST_CASE("a loop with values that all members share falls apart into two") {
  const auto [front, stage] = plan_of<filters::Likelihood>();
  CHECK(has(front, "lu_factors"));
  CHECK(has(front, "scan[12"));
  CHECK(has(stage, "scan[12"));
  CHECK(!has(stage, "lu_factors"));
  harness::check_run<filters::Likelihood>({.low = 0.5, .high = 2}, {0, 1, 9, 70, 300});
  harness::check_run<filters::AllResults>({.low = 0.5, .high = 2}, {0, 1, 9, 70, 300});
}
TEST_CASE("a matrix of all members is factored once") {
  const auto [front, stage] = plan_of<Solves<12>>();
  CHECK(has(front, "lu_factors"));
  CHECK(!has(stage, "lu_factors"));
  harness::check_run<Solves<12>>({}, {0, 1, 70, 300});
  harness::check_run<Solves<4>>({}, {1, 70, 300});
}
TEST_CASE("members of a member share what is its own") {
  const auto [front, stage] = plan_of<Nested>();
  const std::size_t inner = stage.find(" = stage[", 1);
  REQUIRE(inner != std::string::npos);
  CHECK(has(stage.substr(0, inner), "lu_factors"));
  CHECK(!has(stage.substr(inner), "lu_factors"));
  harness::check_run<Nested>({}, {0, 1, 3, 8});
}
TEST_CASE("what is repeated along members' rows is stacked as it is") {
  const auto [front, stage] = plan_of<Smoothing>();
  CHECK(has(front, "f64[30] = scan[30"));
  CHECK(!has(front, "f64[30,6]"));
  harness::check_run<Smoothing>({.low = 0.5, .high = 2}, {0, 1, 9, 70, 300});
}
TEST_CASE("no members compute nothing, since that may have no end") {
  REQUIRE(!has(plan_of<Endless>().first, "scan"));  // (else the call would not end)
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<Endless> p(e, c);
  CHECK(p(array<double, 90>(), drx::place<series>(c, 0, [](std::int64_t) { return 1.0; })) == 0);
}
TEST_CASE("a loop over members of a member stays with it") {
  CHECK(!has(plan_of<Counts>().first, "scan"));
  harness::check_run<Counts>({}, {0, 1, 3, 8});
}
TEST_CASE("a little work stays with the members, and so does a loop that each of them ends") {
  CHECK(!has(plan_of<Little>().first, "square"));
  harness::check_run<Little>({}, {3, 300});
  CHECK(!has(plan_of<Until>().first, "while"));
  CHECK(!has(plan_of<Until>().first, "scan"));
  harness::check_run<Until>({.low = 0.5, .high = 1}, {3, 300});
}
