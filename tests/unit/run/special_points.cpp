// The rows of docs/special_points.md in compiled programs.
#include <drx/drx.hpp>

#include <all_primitives.hpp>

#include "harness/run.hpp"
#include "harness/special_points.hpp"

#include <array>

namespace {
constexpr int most = 8;
using points = drx::array<double, most>;

namespace prim = drx::prim;

/// Whether primitive number I is a function of one double that gives a double. (Not of negation, which has no special
/// points; digamma is exact to fewer digits near its poles.)
template <std::size_t I>
constexpr bool is_function() {
  constexpr const drx::primitive* p = harness::all_primitives[I];
  if constexpr (!p->elementwise || p == &prim::neg || p == &prim::digamma) {
    return false;
  } else {
    using row = prim::row_of<p>;
    return row::arity == 1 && row::accepts(drx::dtype::float64, 0) &&
           row::result(drx::dtype::float64) == drx::dtype::float64;
  }
}
constexpr auto functions = []<std::size_t... I>(std::index_sequence<I...>) {
  constexpr int n = (0 + ... + is_function<I>());
  std::array<const drx::primitive*, n> all{};
  std::size_t at = 0;
  ((is_function<I>() ? void(all[at++] = harness::all_primitives[I]) : void()), ...);
  return all;
}(std::make_index_sequence<std::size(harness::all_primitives)>());

// In groups, since the fused loops of all functions at once would be long to compile.
constexpr std::size_t in_group = 8, groups = (functions.size() + in_group - 1) / in_group;
template <const drx::primitive* P>
constexpr auto value = [](auto x) { return drx::detail::elementary(*P, x); };
template <const drx::primitive* P>
constexpr auto slope =
    [](auto x) { return drx::grad([](auto y) { return drx::sum(drx::detail::elementary(*P, y)); })(x); };
template <std::size_t Group>
using of_group = std::make_index_sequence<Group + 1 < groups ? in_group : functions.size() - Group * in_group>;
template <std::size_t Group>
constexpr auto values = [](auto x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{value<functions[Group * in_group + I]>(x)...};
  }(of_group<Group>());
};
template <std::size_t Group>
constexpr auto slopes = [](auto x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{slope<functions[Group * in_group + I]>(x)...};
  }(of_group<Group>());
};

// Of two numbers, and of an array of two: values, then the derivatives in both.
constexpr auto pairs = [](auto x, auto y) {
  const auto slopes = [&](auto f) {
    const auto g = [=](auto a, auto b) { return drx::sum(f(a, b)); };
    return std::tuple{f(x, y), drx::grad<0>(g)(x, y), drx::grad<1>(g)(x, y)};
  };
  return std::tuple_cat(
      slopes([](auto a, auto b) { return a / b; }), slopes([](auto a, auto b) { return a % b; }),
      slopes([](auto a, auto b) { return drx::pow(a, b); }), slopes([](auto a, auto b) { return drx::atan2(a, b); }),
      slopes([](auto a, auto b) { return drx::max(a, b); }), slopes([](auto a, auto b) { return drx::min(a, b); }));
};
constexpr auto reductions = [](auto x) {
  const auto slopes = [&](auto f) { return std::tuple{f(x), drx::grad(f)(x)}; };
  return std::tuple_cat(
      slopes([](auto v) { return drx::logsumexp(v); }), slopes([](auto v) { return drx::index<0>(drx::softmax(v)); }),
      slopes([](auto v) { return drx::index<0>(drx::log_softmax(v)); }), slopes([](auto v) { return drx::max(v); }),
      slopes([](auto v) { return drx::min(v); }), slopes([](auto v) { return drx::sum(v); }),
      slopes([](auto v) { return drx::norm(v); }), slopes([](auto v) { return drx::stddev(v); }));
};

/// The rows of each function of a group, at all its points at once.
template <std::size_t Group>
void check() {
  drx::serial_executor e;
  drx::single_rank c;
  using V = drx::program<values<Group>, points>;
  using S = drx::program<slopes<Group>, points>;
  drx::compiled<V> of_values(e, c, {});
  drx::compiled<S> of_slopes(e, c, {});
  const auto rows = harness::special_points();
  for (std::size_t f = 0; f < in_group && Group * in_group + f < functions.size(); ++f) {
    const std::string name = functions[Group * in_group + f]->name;
    CAPTURE(name);
    std::vector<harness::special_point> mine;
    for (const auto& row : rows)
      if (row.function == name) mine.push_back(row);
    REQUIRE(!mine.empty());
    REQUIRE(mine.size() <= most);
    drx::tensor x({drx::dtype::float64, drx::make_shape(most)});
    for (std::size_t i = 0; i < mine.size(); ++i) x.data<double>()[i] = mine[i].at[0];
    const harness::tensors y = harness::call(of_values, c, {x}), d = harness::call(of_slopes, c, {x});
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const double found = y[f].data<double>()[i], derivative = d[f].data<double>()[i];
      CAPTURE(mine[i].at[0]);
      CAPTURE(found);
      CAPTURE(derivative);
      CHECK(harness::agrees_in_sign(found, mine[i].value));
      CHECK(harness::agrees(derivative, mine[i].derivative[0]));
    }
  }
}
}  // namespace

TEST_CASE("special points of functions of one number") {
  []<std::size_t... Group>(std::index_sequence<Group...>) {
    (check<Group>(), ...);
  }(std::make_index_sequence<groups>());
}

TEST_CASE("special points of functions of two numbers") {
  constexpr int many = 16;
  drx::serial_executor e;
  drx::single_rank c;
  using P = drx::program<pairs, drx::array<double, many>, drx::array<double, many>>;
  drx::compiled<P> program(e, c, {});
  const std::vector<std::string> names{"div", "rem", "pow", "atan2", "max", "min"};
  for (std::size_t f = 0; f < names.size(); ++f) {
    std::vector<harness::special_point> mine;
    for (const auto& row : harness::special_points())
      if (row.function == names[f]) mine.push_back(row);
    REQUIRE(!mine.empty());
    REQUIRE(mine.size() <= many);
    drx::tensor x({drx::dtype::float64, drx::make_shape(many)}), y = x;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      x.data<double>()[i] = mine[i].at[0];
      y.data<double>()[i] = mine[i].at[1];
    }
    const harness::tensors out = harness::call(program, c, {x, y});
    for (std::size_t i = 0; i < mine.size(); ++i) {
      CAPTURE(names[f]);
      CAPTURE(mine[i].at[0]);
      CAPTURE(mine[i].at[1]);
      CHECK(harness::agrees_in_sign(out[3 * f].data<double>()[i], mine[i].value));
      CHECK(harness::agrees(out[3 * f + 1].data<double>()[i], mine[i].derivative[0]));
      CHECK(harness::agrees(out[3 * f + 2].data<double>()[i], mine[i].derivative[1]));
    }
  }
}

TEST_CASE("special points of functions of an array") {
  drx::serial_executor e;
  drx::single_rank c;
  using P = drx::program<reductions, drx::array<double, 2>>;
  drx::compiled<P> program(e, c, {});
  const std::vector<std::string> names{"logsumexp", "softmax", "log_softmax", "max_over",
                                       "min_over",  "sum",     "norm",        "stddev"};
  for (const auto& row : harness::special_points())
    for (std::size_t f = 0; f < names.size(); ++f) {
      if (row.function != names[f]) continue;
      drx::tensor x({drx::dtype::float64, drx::make_shape(2)});
      for (std::size_t k = 0; k < 2; ++k) x.data<double>()[k] = row.at[k];
      const harness::tensors out = harness::call(program, c, {x});
      CAPTURE(row.function);
      CAPTURE(row.at[0]);
      CAPTURE(row.at[1]);
      CHECK(harness::agrees_in_sign(out[2 * f].data<double>()[0], row.value));
      for (std::size_t k = 0; k < 2; ++k) CHECK(harness::agrees(out[2 * f + 1].data<double>()[k], row.derivative[k]));
    }
}
