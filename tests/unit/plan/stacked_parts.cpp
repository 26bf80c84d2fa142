// A way back whose loop reads a few rows of what is carried is given these rows, and not the whole: the stacks in the
// plan, and the numbers, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>
#include <tuple>
#include <utility>

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

// A loop that stacks tables, and loops that read a stack, written out. (Rows are read at places that both loops have.)
constexpr auto with_row = [](auto x, auto row, auto i) { return drx::update_slice(x, drx::expand_dims<0>(row), i, 0); };
constexpr auto tables_of = [](auto x0, auto at) {
  return drx::scan(
      [](auto x, auto p) {
        auto row = drx::tanh(drx::sum<0>(drx::take(x, p)) + 1);
        return std::pair{with_row(x, row, drx::index<0>(p)), x};
      },
      x0, at);
};
constexpr auto rows_of = [](auto u, auto tables, auto at) {
  return drx::scan(
      [](auto c, auto each) {
        auto [x, p] = each;
        auto next = drx::sin(c + drx::sum<0>(drx::take(x, p)));
        return std::pair{next, next};
      },
      u, std::tuple{tables, at});
};
constexpr auto one_reader = [](auto u, auto x0, auto at) {
  auto [last, tables] = tables_of(x0, at);
  return std::tuple{last, rows_of(u, tables, at)};
};
constexpr auto gradient_of_one = [](auto u, auto x0, auto at) {
  auto loss = [=](auto v, auto x) {
    auto [last, tables] = tables_of(x, at);
    auto [c, all] = rows_of(v, tables, at);
    return drx::sum(drx::square(all)) + drx::sum(last * last) + drx::sum(c);
  };
  return drx::value_and_grad<0, 1>(loss)(u, x0);
};
constexpr auto two_readers = [](auto u, auto x0, auto at) {
  auto [last, tables] = tables_of(x0, at);
  return std::tuple{rows_of(u, tables, at), rows_of(2 * u, tables, at)};
};
constexpr auto an_output = [](auto u, auto x0, auto at) {
  auto [last, tables] = tables_of(x0, at);
  return std::tuple{rows_of(u, tables, at), tables};
};
constexpr auto another_entry = [](auto u, auto x0, auto at) {
  auto [last, tables] = tables_of(x0, at);
  return std::tuple{rows_of(u, tables, at), drx::cumsum<0>(tables)};
};
constexpr auto chain = [](auto u, auto x0, auto at) {  // the second loop reads parts of a stack, and writes another one
  auto [last, tables] = tables_of(x0, at);
  auto [end, others] = drx::scan(
      [](auto y, auto each) {
        auto [x, p] = each;
        return std::pair{with_row(y, drx::sum<0>(drx::take(x, p)), drx::index<1>(p)), y};
      },
      2 * x0, std::tuple{tables, at});
  return std::tuple{end, rows_of(u, others, at)};
};
constexpr auto two_stacks = [](auto u, auto x0, auto at) {
  auto [last, tables] = drx::scan(
      [](auto both, auto p) {
        auto [x, y] = both;
        auto row = drx::sum<0>(drx::take(x, p)), other = drx::sum<0>(drx::take(y, p));
        return std::pair{std::pair{with_row(x, drx::tanh(other + 1), drx::index<0>(p)),
                                   with_row(y, drx::tanh(row - other), drx::index<1>(p))},
                         std::pair{x, y}};
      },
      std::pair{x0, 2 * x0}, at);
  auto read = drx::scan(
      [](auto c, auto each) {
        auto [x, y, p] = each;
        auto next = drx::sin(c + drx::take(x, drx::index<0>(p)) * drx::take(y, drx::index<1>(p)) + drx::index<3>(y));
        return std::pair{next, next};
      },
      u, std::tuple{tables.first, tables.second, at});
  return std::tuple{last, read};
};
constexpr auto handed_on = [](auto u, auto x0, auto at) {  // the reader also carries the whole
  auto [last, tables] = tables_of(x0, at);
  return drx::scan(
      [](auto c, auto each) {
        auto [x, p] = each;
        return std::pair{std::pair{c.first + drx::sum<0>(drx::take(x, p)), x}, c.first};
      },
      std::pair{u, x0}, std::tuple{tables, at});
};
constexpr auto own_place = [](auto u, auto x0, auto at) {  // a place that only the reader carries
  auto [last, tables] = tables_of(x0, at);
  return drx::scan(
      [](auto c, auto each) {
        auto [x, p] = each;
        auto next = drx::sin(c.first + drx::take(x, c.second));
        return std::pair{std::pair{next, c.second + drx::index<0>(p)}, next};
      },
      std::pair{u, drx::index<0, 0>(at)}, std::tuple{tables, at});
};
constexpr auto other_places = [](auto u, auto x0, auto at) {  // which the writer does not have
  auto [last, tables] = tables_of(x0, at);
  return rows_of(u, tables, 2 * at);
};
constexpr auto computed_places = [](auto u, auto x0, auto at) {  // of what both have
  auto [last, tables] = tables_of(x0, at);
  return drx::scan(
      [](auto c, auto each) {
        auto [x, p] = each;
        auto next = drx::sin(c + drx::take(x, drx::where(drx::index<0>(p) > 9, drx::index<1>(p) - 30, 2)));
        return std::pair{next, next};
      },
      u, std::tuple{tables, at});
};
constexpr auto in_a_branch = [](auto u, auto x0, auto at) {
  auto [last, tables] = tables_of(x0, at);
  return drx::scan(
      [](auto c, auto each) {
        auto [x, p] = each;
        auto next = drx::index<3>(x) + drx::cond(
                                           drx::index<0>(p) > 9, [](auto t, auto v) { return v + drx::index<2>(t); },
                                           [](auto t, auto v) { return v - drx::index<5>(t); }, x, c);
        return std::pair{next, next};
      },
      u, std::tuple{tables, at});
};
// Steps that end by a guard.
constexpr auto guarded = [](auto u, auto x0, auto at) {
  return drx::value_and_grad([=](auto v) {
    auto step = [=](auto s) {
      auto [x, i] = s;
      auto row = drx::tanh(drx::index<2>(x) * drx::index<3>(x) * v);
      return std::pair{drx::update_slice(x, drx::expand_dims<0>(row), i + 2, 0), i + 1};
    };
    auto [x, i] =
        drx::while_loop<5>([](auto s) { return drx::sum(s.first) < 3; }, step, std::pair{x0, 0 * drx::index<0, 0>(at)});
    return drx::sum(drx::square(x));
  })(u);
};
template <auto F>
using Of = drx::program<F, array<double, 4>, table, places>;
template <auto F>
void check_stack(bool whole, const char* parts = nullptr) {
  const std::string plan = plan_of<Of<F>>();
  CHECK(has(plan, "f64[5,24,4]") == whole);
  if (parts) CHECK(has(plan, parts));
  harness::check_run<Of<F>>({.below = 30}, {1, 1, 1});
}
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
TEST_CASE("a loop that runs forwards, as the writer does, and the derivatives of both") {
  check_stack<one_reader>(false, "f64[5,2,4]");
  harness::check_run<Of<gradient_of_one>>({.below = 30}, {1, 1});
}
TEST_CASE("the whole is stacked where something else reads it, too") {
  check_stack<two_readers>(true);
  check_stack<an_output>(true);
  check_stack<another_entry>(true);
  check_stack<handed_on>(true);
  check_stack<in_a_branch>(true);
}
TEST_CASE("places that the writer cannot know, and some that it computes") {
  check_stack<own_place>(true);
  check_stack<other_places>(true);
  check_stack<computed_places>(false);
}
TEST_CASE("two stacks of one loop that another one reads") { check_stack<two_stacks>(false, "f64[5,4]"); }
TEST_CASE("a loop that reads parts and writes a stack") { check_stack<chain>(true, "f64[5,2,4]"); }
TEST_CASE("a loop with a guard") { check_stack<guarded>(true); }
