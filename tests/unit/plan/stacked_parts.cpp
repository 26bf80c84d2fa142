// A way back whose loop reads a few rows of what is carried is given these rows, and not the whole: the stacks in the
// plan, and the numbers, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct walks : drx::placement<walks> {};
using drx::array;
using drx::placed;
using table = array<double, 24, 4>;
using places = array<std::int32_t, 5, 2>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Rows of a table that steps change: the value and gradient.
template <class Read>
constexpr auto changed_with = [](auto w, auto start, auto all_places) {
  auto one = [](auto u, auto x0, auto at) {
    auto step = [=](auto i, auto x) {
      auto row = drx::tanh(Read()(x, i, drx::index(at, i)) * u);
      return drx::update_slice(x, drx::expand_dims<0>(row), i + 17);
    };
    return drx::sum(drx::square(drx::fori_loop<5>(x0, step)));
  };
  auto loss = [=](auto v) { return drx::reduce_sum(drx::map(one, drx::broadcast<walks>(v), start, all_places)); };
  return drx::value_and_grad(loss)(w);
};
struct rows {  // at places of the member
  template <class X, class I, class P>
  constexpr auto operator()(const X& x, const I&, const P& p) const {
    return drx::sum<0>(drx::take(x, p));
  }
};
struct windows {  // at the step's number and a place
  template <class X, class I, class P>
  constexpr auto operator()(const X& x, const I& i, const P& p) const {
    return drx::index(x, i) + drx::sum<0>(drx::dynamic_slice<3, 4>(x, drx::index<0>(p), 0));
  }
};
struct fixed {
  template <class X, class I, class P>
  constexpr auto operator()(const X& x, const I&, const P&) const {
    return drx::index<2>(x) * drx::index<3>(x);
  }
};
struct computed {  // a place that the loop does not have from outside
  template <class X, class I, class P>
  constexpr auto operator()(const X& x, const I&, const P&) const {
    return drx::index(x, drx::cast<std::int32_t>(3 * drx::square(drx::index<0, 0>(x))));
  }
};
struct halves {  // parts that are no smaller
  template <class X, class I, class P>
  constexpr auto operator()(const X& x, const I&, const P&) const {
    return drx::sum<0>(drx::slice<drx::range<0, 14>, drx::all>(x));
  }
};
template <class Read>
using Changed = drx::program<changed_with<Read>, array<double, 4>, placed<table, walks>, placed<places, walks>>;

template <class Read>
void check() {
  harness::check_run<Changed<Read>>({.below = 30}, {1, 9, 70});
}
// Without members.
constexpr auto unplaced = [](auto w, auto x0, auto at) {
  return drx::value_and_grad([=](auto u) {
    auto step = [=](auto i, auto x) {
      auto row = drx::tanh(drx::sum<0>(drx::take(x, drx::index(at, i))) * u);
      return drx::update_slice(x, drx::expand_dims<0>(row), i + 17);
    };
    return drx::sum(drx::square(drx::fori_loop<5>(x0, step)));
  })(w);
};
using Unplaced = drx::program<unplaced, array<double, 4>, table, places>;
}  // namespace

TEST_CASE("rows that are taken") {
  const std::string plan = plan_of<Changed<rows>>();
  CHECK(has(plan, "f64[5,2,4] = scan"));
  CHECK(!has(plan, "f64[5,24,4]"));
  check<rows>();
}
TEST_CASE("windows, and rows by the step's number") {
  CHECK(!has(plan_of<Changed<windows>>(), "f64[5,24,4]"));
  check<windows>();
}
TEST_CASE("fixed rows") {
  CHECK(!has(plan_of<Changed<fixed>>(), "f64[5,24,4]"));
  check<fixed>();
}
TEST_CASE("without members") {
  CHECK(has(plan_of<Unplaced>(), "f64[5,2,4] = scan"));
  harness::check_run<Unplaced>({.below = 30}, {1});
}
TEST_CASE("the whole is stacked where places are computed from it, or parts are no smaller") {
  CHECK(has(plan_of<Changed<computed>>(), "f64[5,24,4]"));
  check<computed>();
  CHECK(has(plan_of<Changed<halves>>(), "f64[5,24,4]"));
  check<halves>();
}
