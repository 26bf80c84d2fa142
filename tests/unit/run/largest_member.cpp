// The derivative of an extremum over members goes to who attains it. Members are computed again to find them, in other
// blocks than before: then their last bits differ.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
using drx::array;
struct rows : drx::placement<rows> {};

constexpr auto length = [](auto w, auto x) { return drx::sum(drx::square(drx::tanh(drx::matmul(w, x)) + x)); };
constexpr auto of_largest = [](auto w, auto data) {
  const auto largest = [](auto v, auto x) { return drx::reduce_max(drx::map(length, drx::broadcast<rows>(v), x)); };
  const auto total = drx::monoid{[](auto a, auto b) { return a + b; }, 0};  // with it, members go one by one
  return std::pair{drx::grad(largest)(w, data),
                   drx::reduce_with(total, drx::map([](auto x) { return drx::sum(x); }, data))};
};
constexpr auto of_pmax = [](auto w, auto data) {
  const auto largest = [](auto v, auto x) {
    return drx::reduce_mean(
        drx::map([](auto u, auto r) { return drx::pmax<rows>(length(u, r)) - drx::pmin<rows>(length(u, r)); },
                 drx::broadcast<rows>(v), x));
  };
  const auto total = drx::monoid{[](auto a, auto b) { return a + b; }, 0};
  return std::tuple{drx::grad(largest)(w, data), drx::jvp([&](auto v) { return largest(v, data); }, w, w).second,
                    drx::reduce_with(total, drx::map([](auto x) { return drx::sum(x); }, data))};
};
}  // namespace

TEST_CASE("the largest member has the derivative, whatever it is computed in") {
  harness::check_run<drx::program<of_largest, array<double, 8, 8>, drx::placed<array<double, 8>, rows>>>(
      {}, {300, 301, 309, 415, 300, 447});
}

TEST_CASE("the largest and the smallest member have the derivative, found inside of their function") {
  harness::check_run<drx::program<of_pmax, array<double, 8, 8>, drx::placed<array<double, 8>, rows>>>(
      {}, {300, 301, 309, 415, 300, 447});
}

TEST_CASE("a member's number is a result, as it is") {
  constexpr auto numbers = [](auto x) {
    const auto number = drx::partition_index<rows>();
    return std::tuple{drx::reduce_sum(number), drx::reduce_max(number), drx::reduce_sum(x), number};
  };
  harness::check_run<drx::program<numbers, drx::placed<double, rows>>>({}, {5, 0, 300});
}
