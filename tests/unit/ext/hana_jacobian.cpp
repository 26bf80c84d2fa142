// Jacobians of and in structs.
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

struct line {
  array<double, 2> slope;
  drx::scalar<double> offset;
};
BOOST_HANA_ADAPT_STRUCT(line, slope, offset);

namespace {
template <class P, class R>
constexpr bool returns = std::is_same_v<typename P::result, R>;

constexpr auto values = [](auto m, auto xs) {
  return drx::square(drx::matmul(xs, m.slope) + m.offset);
};  // of three rows
constexpr auto moved = [](auto m, auto t) { return m * t; };
}  // namespace

TEST_CASE("in a struct: one for each element of the result") {
  constexpr auto f = [](auto m, auto xs) { return std::pair{drx::jacfwd(values)(m, xs), drx::jacrev(values)(m, xs)}; };
  using P = program<f, line, array<double, 3, 2>>;
  static_assert(returns<P, std::pair<drx::batched<line, 3>, drx::batched<line, 3>>>);
  const line m{{1., 2.}, {.5}};
  const array<double, 3, 2> xs{1., 0., 0., 1., 2., -1.};
  const auto [columns, rows] = interpreter::call<P>(m, xs);
  for (int i = 0; i < 3; ++i) {
    const double twice = 2 * (xs(i, 0) + 2 * xs(i, 1) + .5);
    for (const line& d : {columns[i], rows[i]}) {
      CHECK(d.slope[0] == doctest::Approx(twice * xs(i, 0)));
      CHECK(d.slope[1] == doctest::Approx(twice * xs(i, 1)));
      CHECK(d.offset.item() == doctest::Approx(twice));
    }
  }
}
TEST_CASE("of a struct: itself in a number, else a tuple of its members' derivatives") {
  constexpr auto in_number = [](auto m, auto t) { return drx::jacfwd<1>(moved)(m, t); };
  static_assert(returns<program<in_number, line, double>, line>);
  const line d = interpreter::call<program<in_number, line, double>>(line{{1., 2.}, {.5}}, 3.);
  CHECK((d.slope[1] == 2 && d.offset.item() == .5));
  constexpr auto in_struct = [](auto m, auto t) { return drx::jacrev(moved)(m, t); };
  using P = program<in_struct, line, double>;
  static_assert(returns<P, std::tuple<drx::batched<line, 2>, line>>);
  const auto [of_slope, of_offset] = interpreter::call<P>(line{{1., 2.}, {.5}}, 3.);
  CHECK((of_slope[0].slope[0] == 3 && of_slope[0].slope[1] == 0 && of_slope[0].offset.item() == 0));
  CHECK((of_offset.slope[0] == 0 && of_offset.offset.item() == 3));
}
TEST_CASE("the Hessian of a function of a struct") {
  constexpr auto f = [](auto m) {
    return drx::hessian([](auto z) { return drx::dot(z.slope, z.slope) * z.offset; })(m);
  };
  using P = program<f, line>;
  static_assert(returns<P, std::tuple<drx::batched<line, 2>, line>>);
  const auto [of_slope, of_offset] = interpreter::call<P>(line{{1., 2.}, {.5}});
  CHECK((of_slope[0].slope[0] == 1 && of_slope[0].slope[1] == 0 && of_slope[0].offset.item() == 2));
  CHECK((of_offset.slope[0] == 2 && of_offset.slope[1] == 4 && of_offset.offset.item() == 0));
}
