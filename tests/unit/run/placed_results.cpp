// Placed results are views of the program's memory: as arguments of the program that gave them; programs that moved;
// calls at once.
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/thread_executor.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
using v3 = array<double, 3>;
using state = drx::partitions<v3, clients>;

/// A member's value depends on that of its neighbour, and on a number: what is written over too early shows.
constexpr auto halo = [](auto x) {
  auto mean = drx::reduce_mean(x);
  return std::pair{drx::map([=](auto v, auto left) { return 0.5 * v + left - mean; }, x,
                            drx::map([](auto v) { return drx::flip(v); }, x)),
                   drx::map([=](auto v) { return v - mean; }, x)};
};
using Halo = program<halo, placed<v3, clients>>;
constexpr auto doubled_rows = [](auto x) {
  return drx::map([](auto mine) { return drx::map([](auto v) { return 2 * v; }, mine); }, x);
};
using DoubledRows = program<doubled_rows, placed<placed<double, rows>, clients>>;
constexpr auto total = [](auto w, auto x) {
  return drx::reduce_sum(drx::map([](auto a, auto v) { return drx::dot(a, v); }, drx::broadcast<clients>(w), x));
};
using Total = program<total, v3, placed<v3, clients>>;

v3 value(std::int64_t i) {
  return {1. + static_cast<double>(i), 2. * static_cast<double>(i), 3. - static_cast<double>(i)};
}
bool same(const state& a, const state& b) {
  bool equal = a.local() == b.local();
  for (std::int64_t i = 0; equal && i < a.local(); ++i)
    for (std::int64_t k = 0; k < 3; ++k) equal = equal && a[i][k] == b[i][k];
  return equal;
}
}  // namespace

TEST_CASE("a placed result is an argument of the program that gave it") {
  drx::serial_executor e;
  drx::single_rank c;
  const auto x = drx::place<clients>(c, std::int64_t{40}, value);
  drx::compiled<Halo> p(e, c), q(e, c);
  const auto once = p(x);
  const state first = once.first.copy(), second = once.second.copy();
  const auto expected = q(first);  // of a copy, in another program
  SUBCASE("as it is") {
    const auto twice = p(once.first);
    CHECK(same(twice.first, expected.first));
    CHECK(same(twice.second, expected.second));
  }
  SUBCASE("in the result that it lies in") {
    auto r = p(x);
    p.call(r, r.first);
    CHECK(same(r.first, expected.first));
    CHECK(same(r.second, expected.second));
  }
  SUBCASE("a subset of it") {
    const std::vector<std::int64_t> chosen{0, 3, 39};
    const auto some = q(first.subset(chosen, 0));
    const state expected_some = some.first.copy();
    CHECK(same(p(once.first.subset(chosen, 0)).first, expected_some));
  }
  SUBCASE("more members afterwards: the program's memory moves") {
    const auto many = drx::place<clients>(c, std::int64_t{4000}, value);
    const state of_many = q(many).second.copy();
    CHECK(same(p(many).second, of_many));
  }
  SUBCASE("from step to step") {
    state s = x, copied = x;
    for (int step = 0; step < 5; ++step) {
      s = p(s).first;
      copied = q(copied).first.copy();
    }
    CHECK(same(s, copied));
  }
}

TEST_CASE("a nested placed result is an argument of the program that gave it") {
  drx::serial_executor e;
  drx::single_rank c;
  const auto x = drx::place_nested<clients, rows>(
      c, std::int64_t{3}, [](std::int64_t i) { return std::vector<double>(static_cast<std::size_t>(i), 1.); });
  drx::compiled<DoubledRows> p(e, c);
  auto r = p(x);
  for (int k = 0; k < 3; ++k) p.call(r, r);
  REQUIRE(r.elements() == 3);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(r[i] == 16);
}

TEST_CASE("a program that was moved from says so") {
  drx::serial_executor e;
  drx::single_rank c;
  const auto x = drx::place<clients>(c, std::int64_t{4}, value);
  drx::compiled<Total> p(e, c);
  const double expected = p(v3{1., 1., 1.}, x);
  drx::compiled<Total> q = std::move(p);
  CHECK(q(v3{1., 1., 1.}, x) == expected);
  CHECK_THROWS_WITH_AS(p(v3{1., 1., 1.}, x), "drx: a call of a compiled program that was moved from", std::logic_error);
  p = std::move(q);
  CHECK(p(v3{1., 1., 1.}, x) == expected);
  CHECK_THROWS_AS(q(v3{1., 1., 1.}, x), std::logic_error);
}

TEST_CASE("an argument that was placed elsewhere, or never, is refused") {
  drx::serial_executor e;
  drx::single_rank c;
  drx::compiled<Total> p(e, c);
  CHECK_THROWS_WITH_AS(p(v3{1., 1., 1.}, state{}), "drx: argument 1 was never placed; the program runs on 1",
                       std::invalid_argument);
  const auto x = drx::place<clients>(c, std::int64_t{4}, value);
  CHECK_THROWS_AS((void)x.subset({0, 1}, 1), std::invalid_argument);
}
