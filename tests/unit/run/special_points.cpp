// The rows of docs/special_points.md for functions of one number and for max and min, in a compiled program.
#include <drx/drx.hpp>

#include "harness/run.hpp"
#include "harness/special_points.hpp"

#include <array>

namespace {
constexpr int most = 8;
using points = drx::array<double, most>;

// Groups, since the fused loops of all functions at once would be long to compile.
#define DRX_GROUP(name, ...)                                                                                         \
  constexpr auto name##_values = [](auto x) {                                                                        \
    return std::apply([&](auto... f) { return std::tuple{f(x)...}; }, std::tuple{__VA_ARGS__});                      \
  };                                                                                                                 \
  constexpr auto name##_slopes = [](auto x) {                                                                        \
    return std::apply([&](auto... f) { return std::tuple{drx::grad([=](auto y) { return drx::sum(f(y)); })(x)...}; }, \
                      std::tuple{__VA_ARGS__});                                                                      \
  };
#define F(name) [](auto v) { return drx::name(v); }
DRX_GROUP(powers, F(exp), F(exp2), F(expm1), F(log), F(log1p), F(sqrt), F(rsqrt), F(cbrt))
DRX_GROUP(circular, F(sin), F(cos), F(tan), F(asin), F(acos), F(atan))
DRX_GROUP(hyperbolic, F(sinh), F(cosh), F(tanh), F(asinh), F(acosh), F(atanh), F(sigmoid))
DRX_GROUP(others, F(erf), F(erfc), F(lgamma), F(floor), F(ceil), F(round), F(sign), F(abs), F(relu))
#undef F
#undef DRX_GROUP

/// The rows of each function named, at all its points at once.
template <auto Values, auto Slopes>
void check(const std::vector<std::string>& names) {
  drx::serial_executor e;
  drx::single_rank c;
  using V = drx::program<Values, points>;
  using S = drx::program<Slopes, points>;
  drx::compiled<V> values(e, c, {});
  drx::compiled<S> slopes(e, c, {});
  const auto rows = harness::special_points();
  for (std::size_t f = 0; f < names.size(); ++f) {
    std::vector<harness::special_point> mine;
    for (const auto& row : rows)
      if (row.function == names[f]) mine.push_back(row);
    REQUIRE(!mine.empty());
    REQUIRE(mine.size() <= most);
    drx::tensor x({drx::dtype::float64, drx::make_shape(most)});
    for (std::size_t i = 0; i < mine.size(); ++i) x.data<double>()[i] = mine[i].at[0];
    const harness::tensors y = harness::call(values, c, {x}), d = harness::call(slopes, c, {x});
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const double value = y[f].data<double>()[i], slope = d[f].data<double>()[i];
      CAPTURE(names[f]);
      CAPTURE(mine[i].at[0]);
      CAPTURE(value);
      CAPTURE(slope);
      CHECK(harness::agrees_in_sign(value, mine[i].value));
      CHECK(harness::agrees(slope, mine[i].derivative[0]));
    }
  }
}
}  // namespace

TEST_CASE("special points of powers and exponentials") { check<powers_values, powers_slopes>({"exp", "exp2", "expm1", "log", "log1p", "sqrt", "rsqrt", "cbrt"}); }
TEST_CASE("special points of trigonometric functions") { check<circular_values, circular_slopes>({"sin", "cos", "tan", "asin", "acos", "atan"}); }
TEST_CASE("special points of hyperbolic functions") { check<hyperbolic_values, hyperbolic_slopes>({"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid"}); }
TEST_CASE("special points of special and piecewise functions") {
  check<others_values, others_slopes>({"erf", "erfc", "lgamma", "floor", "ceil", "round", "sign", "abs", "relu"});
}
