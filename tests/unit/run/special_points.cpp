// The rows of docs/special_points.md in compiled programs.
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
DRX_GROUP(others, F(erf), F(erfc), F(lgamma), F(floor), F(ceil), F(round), F(sign), F(abs), F(relu), F(softplus))
#undef F
#undef DRX_GROUP

// Of two numbers, and of an array of two: values, then the derivatives in both.
constexpr auto pairs = [](auto x, auto y) {
  const auto slopes = [&](auto f) {
    const auto g = [=](auto a, auto b) { return drx::sum(f(a, b)); };
    return std::tuple{f(x, y), drx::grad<0>(g)(x, y), drx::grad<1>(g)(x, y)};
  };
  return std::tuple_cat(slopes([](auto a, auto b) { return a / b; }), slopes([](auto a, auto b) { return a % b; }), slopes([](auto a, auto b) { return drx::pow(a, b); }),
                        slopes([](auto a, auto b) { return drx::atan2(a, b); }), slopes([](auto a, auto b) { return drx::max(a, b); }),
                        slopes([](auto a, auto b) { return drx::min(a, b); }));
};
constexpr auto reductions = [](auto x) {
  const auto slopes = [&](auto f) { return std::tuple{f(x), drx::grad(f)(x)}; };
  return std::tuple_cat(slopes([](auto v) { return drx::logsumexp(v); }), slopes([](auto v) { return drx::index<0>(drx::softmax(v)); }),
                        slopes([](auto v) { return drx::index<0>(drx::log_softmax(v)); }), slopes([](auto v) { return drx::max(v); }),
                        slopes([](auto v) { return drx::min(v); }), slopes([](auto v) { return drx::sum(v); }),
                        slopes([](auto v) { return drx::norm(v); }), slopes([](auto v) { return drx::stddev(v); }));
};

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
  check<others_values, others_slopes>({"erf", "erfc", "lgamma", "floor", "ceil", "round", "sign", "abs", "relu", "softplus"});
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
  const std::vector<std::string> names{"logsumexp", "softmax", "log_softmax", "max_over", "min_over", "sum", "norm", "stddev"};
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
