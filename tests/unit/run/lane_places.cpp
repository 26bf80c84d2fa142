// Gathers at places of each lane's own from arrays that a loop carries in lanes, and their transposes: where the plan
// has them as they lie, and the numbers, against the plain interpreter. Places are negative and outside, too.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <sstream>
#include <string>

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

// The body for 32 members.
template <class P>
std::string body_for_32() {
  const std::string plan = plan_of<P>();
  const std::size_t block = plan.find(": f64[32,7,4]"), next = plan.find(": f64[16,7,4]");
  REQUIRE(block != std::string::npos);
  REQUIRE(next != std::string::npos);
  return plan.substr(block, next - block);
}
// How often its loops turn arrays.
template <class P>
int turns_in_loops() {
  std::istringstream lines(body_for_32<P>());
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
