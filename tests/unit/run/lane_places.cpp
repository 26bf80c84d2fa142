// Gathers at places of each lane's own from arrays that a loop carries in lanes, and their transposes: where the plan
// has them as they lie, and the numbers, against the plain interpreter. Places are negative and outside, too.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>

namespace {
struct walks : drx::placement<walks> {};
using drx::placed;
template <class T, int... E>
using array = drx::array<T, E...>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
// The value and gradient of what is left after steps that each read places that are a member's own.
template <class Read>
constexpr auto walk_with = [](auto w, auto start, auto all_places) {
  auto loss = [=](auto v) {
    auto one = [](auto u, auto x0, auto places) {
      auto step = [=](auto i, auto x) {
        return 0.5 * x + 0.1 * drx::sin(u * x + Read()(x, drx::index(places, i) - 9));
      };
      return drx::sum(drx::square(drx::fori_loop<6>(x0, step)));
    };
    return drx::reduce_sum(drx::map(one, drx::broadcast<walks>(v), start, all_places));
  };
  return drx::value_and_grad(loss)(w);
};
struct rows {  // x[p], added up
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::sum<0>(drx::take(x, p));
  }
};
struct columns {  // x[:, p]
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::expand_dims<1>(drx::sum<1>(drx::take<1>(x, p)));
  }
};
struct window {  // x[p0:p0+2, p1:p1+3]
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::sum(drx::dynamic_slice<2, 3>(x, drx::index<0>(p), drx::index<1>(p)) *
                    drx::array<typename X::value_type, 2, 3>{{1, 2, 3}, {4, 5, 6}});
  }
};
struct one_row {  // x[p0]
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::take(x, drx::index<0>(p));
  }
};
struct square_of_rows {  // x[[[p0], [p1]]], of which few are read
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::sum<0>(drx::sum<0>(drx::take(x, drx::reshape<2, 1>(p))));
  }
};
struct most_rows {
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::sum<0>(drx::take(x, drx::concatenate(p, p + 1, p + 2)));
  }
};
// Rows of a table of the member's own.
constexpr auto fixed = [](auto w, auto table, auto all_places) {
  auto loss = [=](auto v) {
    auto one = [](auto u, auto own, auto places) {
      auto step = [=](auto i, auto x) {
        return 0.5 * x + 0.1 * drx::sin(u * x + drx::sum<0>(drx::take(own, drx::index(places, i) - 9)));
      };
      return drx::sum(drx::square(drx::fori_loop<6>(u, step)));
    };
    return drx::reduce_sum(drx::map(one, drx::broadcast<walks>(v), table, all_places));
  };
  return drx::value_and_grad(loss)(w);
};
using Fixed =
    drx::program<fixed, array<double, 4>, placed<array<double, 7, 4>, walks>, placed<array<std::int32_t, 6, 2>, walks>>;
template <class T, class I, class Read>
using Walk = drx::program<walk_with<Read>, array<T, 4>, placed<array<T, 7, 4>, walks>, placed<array<I, 6, 2>, walks>>;

// A table that steps change, of any type, and its rows at places of the member's own; no derivatives.
template <class T>
constexpr auto table_of = [](auto start, auto tables, auto all_places) {
  auto one = [](auto x0, auto t0, auto places) {
    auto step = [=](auto i, auto both) {
      const auto x = std::get<0>(both);
      const auto t = std::get<1>(both);  // (clang 14 captures no name of a structured binding)
      const auto p = drx::index(places, i) - 9;
      const auto row = drx::take(t, drx::index<0>(p));
      const auto turned = [&] {
        if constexpr (std::is_same_v<T, bool>)
          return t != row;
        else
          return t + row - drx::index<3>(t);
      }();
      return std::tuple{0.5 * x + drx::sin(drx::sum<0>(drx::cast<double>(drx::take(t, p))) + drx::cast<double>(row)),
                        turned};
    };
    return drx::fori_loop<6>(std::tuple{x0, t0}, step);
  };
  return drx::map(one, start, tables, all_places);
};
template <class T>
using Table = drx::program<table_of<T>, placed<array<double, 4>, walks>, placed<array<T, 7, 4>, walks>,
                           placed<array<std::int32_t, 6, 2>, walks>>;
// Steps of each member's own, and rows of a table that all members have, behind them: its gradient.
template <bool Twice>
constexpr auto shared_table = [](auto w, auto start, auto all_places) {
  auto one = [](auto u, auto x0, auto at) {
    auto x = drx::fori_loop<6>(x0, [](auto, auto y) { return 0.5 * y + 0.1 * drx::sin(y); });
    auto y = x * drx::sum<0>(drx::take(u, at));
    if constexpr (Twice) y = y + x * x * drx::take(u, drx::index<0>(at) - 3);
    return drx::sum(drx::square(y));
  };
  auto loss = [=](auto v) { return drx::reduce_sum(drx::map(one, drx::broadcast<walks>(v), start, all_places)); };
  return drx::value_and_grad(loss)(w);
};
template <bool Twice>
using Shared = drx::program<shared_table<Twice>, array<double, 50, 4>, placed<array<double, 4>, walks>,
                            placed<array<std::int32_t, 3>, walks>>;

// The body for 32 members.
template <class P>
std::string body_for_32(const std::string& type = "f64") {
  const std::string plan = plan_of<P>();
  const std::size_t block = plan.find(": " + type + "[32,7,4]"), next = plan.find(": " + type + "[16,7,4]");
  REQUIRE(block != std::string::npos);
  REQUIRE(next != std::string::npos);
  return plan.substr(block, next - block);
}
// How often its loops turn arrays.
template <class P>
int turns_in_loops(const std::string& type = "f64") {
  std::istringstream lines(body_for_32<P>(type));
  int n = 0, depth = 0;
  for (std::string text; std::getline(lines, text);) {
    depth += text.find(" = scan[") != std::string::npos;
    n += depth > 0 && text.find(" = transpose") != std::string::npos;
    depth -= depth > 0 && text.find('}') != std::string::npos;
  }
  return n;
}
template <class P>
void check() {
  harness::check_run<P>({.below = 20}, {1, 9, 70, 300});
}
}  // namespace

TEST_CASE("rows") {
  CHECK(turns_in_loops<Walk<double, std::int32_t, rows>>() == 0);
  check<Walk<double, std::int32_t, rows>>();
  check<Walk<float, std::int64_t, rows>>();
}
TEST_CASE("columns") {
  CHECK(turns_in_loops<Walk<double, std::int32_t, columns>>() == 0);
  check<Walk<double, std::int32_t, columns>>();
}
TEST_CASE("windows") {  // (where their cotangents are put into zeros, these are turned, and starts and zeros with them)
  CHECK(turns_in_loops<Walk<double, std::int64_t, window>>() == 3);
  check<Walk<double, std::int64_t, window>>();
}
TEST_CASE("one row, and rows in two axes") {
  check<Walk<double, std::int32_t, one_row>>();
  check<Walk<float, std::int32_t, square_of_rows>>();
}
TEST_CASE("many numbers are turned in whole vectors") {
  CHECK(turns_in_loops<Walk<double, std::int32_t, most_rows>>() > 0);
  check<Walk<double, std::int32_t, most_rows>>();
}
TEST_CASE("a table that no loop changes is never turned") {
  CHECK(body_for_32<Fixed>().find("f64[28,32]") == std::string::npos);
  harness::check_run<Fixed>({.below = 20}, {1, 9, 70, 300});
}
TEST_CASE("tables of other types") {
  CHECK(turns_in_loops<Table<std::int32_t>>("i32") == 0);
  check<Table<bool>>();
  check<Table<std::int32_t>>();
  check<Table<drx::bfloat16>>();
  check<Table<float>>();
}
TEST_CASE("the gradient of a table behind lanes is made of rows, not of a table for each member") {
  const std::string once = plan_of<Shared<false>>(), twice = plan_of<Shared<true>>();
  for (const char* tables : {"f64[32,50,4]", "f64[50,4,32]"}) {
    CHECK(once.find(tables) == std::string::npos);
    CHECK(twice.find(tables) == std::string::npos);
  }
  CHECK(once.find("[4,32]") != std::string::npos);  // in lanes
  check<Shared<false>>();
  check<Shared<true>>();
}
TEST_CASE("what is in lanes, before it was turned") {
  drx::builder b;
  const auto input = [&](auto... n) { return b.input({drx::dtype::float64, drx::make_shape(n...)}); };
  for (const int x : {input(8, 3), input(8, 3, 5), input(8, 8), input(8, 2, 1, 2)})
    CHECK(drx::plan::before_lanes(b, drx::plan::first_axis_last(b, x)) == x);
  // Others of the same shapes.
  const int x = input(6, 4);
  CHECK(drx::plan::before_lanes(b, x) == -1);
  CHECK(drx::plan::before_lanes(b, drx::emit::reshape(b, x, drx::make_shape(2, 3, 4))) == -1);
  CHECK(drx::plan::before_lanes(b, drx::emit::reshape(b, drx::emit::transpose(b, x, {1, 0}), drx::make_shape(2, 12))) ==
        -1);  // (not in rows of 6)
  const int regrouped = drx::emit::reshape(b, input(12, 2), drx::make_shape(6, 4));
  CHECK(drx::plan::before_lanes(
            b, drx::emit::reshape(b, drx::emit::transpose(b, regrouped, {1, 0}), drx::make_shape(2, 12))) == -1);
  CHECK(drx::plan::before_lanes(b, drx::emit::transpose(b, input(6, 2, 2), {2, 1, 0})) == -1);
  CHECK(drx::plan::before_lanes(b, drx::emit::transpose(b, input(8, 8), {0, 1})) == -1);
}
