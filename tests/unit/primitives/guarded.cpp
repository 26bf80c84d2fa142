// A cotangent or tangent of 0 stops at a singular operation, at every order and in every order of modes.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <cmath>
#include <functional>
#include <limits>

using drx::builder;
using drx::dtype;
using drx::tape;
using drx::vec;
namespace emit = drx::emit;
namespace prim = drx::prim;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using body = std::function<int(builder&, const vec<int>&)>;

/// where(condition, value, 0) of n scalar inputs.
tape chosen(int n, const body& condition, const body& value) {
  builder b;
  vec<int> x;
  for (int i = 0; i < n; ++i) x.push_back(b.input({dtype::float64, {}}));
  const int y = value(b, x);
  b.output(emit::where(b, condition(b, x), y, emit::constant_like(b, y, 0)));
  return b.result();
}
int positive(builder& b, const vec<int>& x) { return emit::less(b, emit::constant_like(b, x[0], 0), x[0]); }

tape derivative(const tape& t, bool reverse) {
  const vec<bool> moving(t.inputs.size(), true), given(t.outputs.size(), true);
  return reverse ? drx::transform::pullback(t, moving, given) : drx::transform::jvp(t, moving);
}

/// No NaN in any derivative up to the third at x, with tangents and cotangents of 0 and of 1.
void check_no_nan(const tape& t, const std::vector<double>& x) {
  for (int order = 1; order <= 3; ++order)
    for (unsigned modes = 0; modes < 1U << order; ++modes)
      for (const double direction : {0., 1.}) {
        tape d = t;
        for (int k = 0; k < order; ++k) d = derivative(d, (modes >> k & 1U) != 0);
        harness::tensors in;
        for (int i = 0; i < d.inputs.size(); ++i) {
          in.emplace_back(d.values[d.inputs[i]]);
          const auto k = static_cast<std::size_t>(i);
          in.back().data<double>()[0] = k < x.size() ? x[k] : direction;
        }
        CAPTURE(order);
        CAPTURE(modes);
        CAPTURE(direction);
        CAPTURE(x[0]);
        for (const auto& y : drx::interpreter::run(d, in)) CHECK(!std::isnan(y.data<double>()[0]));
      }
}

body of(const drx::primitive& p) {
  return [&p](builder& b, const vec<int>& x) { return b.add1(p, x); };
}

}  // namespace

TEST_CASE("where beside a singular operation") {
  struct function {
    std::string name;
    body value;
  };
  for (const function& f :
       {function{"sqrt", of(prim::sqrt)},
        {"log", of(prim::log)},
        {"rsqrt", of(prim::rsqrt)},
        {"pow(x, .5)",
         [](builder& b, const vec<int>& x) { return emit::pow(b, x[0], emit::constant_like(b, x[0], .5)); }},
        {"pow(x, x)", [](builder& b, const vec<int>& x) { return emit::pow(b, x[0], x[0]); }},
        {"1 / x", [](builder& b, const vec<int>& x) { return emit::div(b, emit::constant_like(b, x[0], 1), x[0]); }},
        {"x log x", [](builder& b, const vec<int>& x) { return emit::mul(b, x[0], emit::log(b, x[0])); }},
        {"x (1 - log x)",
         [](builder& b, const vec<int>& x) {
           return emit::mul(b, x[0], emit::sub(b, emit::constant_like(b, x[0], 1), emit::log(b, x[0])));
         }},
        {"log sqrt", [](builder& b, const vec<int>& x) { return emit::log(b, b.add1(prim::sqrt, x)); }},
        {"sqrt sqrt", [](builder& b, const vec<int>& x) { return b.add1(prim::sqrt, {b.add1(prim::sqrt, x)}); }},
        {"1 / sqrt", [](builder& b, const vec<int>& x) {
           return emit::div(b, emit::constant_like(b, x[0], 1), b.add1(prim::sqrt, x));
         }}})
    for (const double x : {-1., -1e-3, -0., 0., 1e-3, 1., 2.}) {
      CAPTURE(f.name);
      CAPTURE(x);
      check_no_nan(chosen(1, positive, f.value), {x});
    }
}

TEST_CASE("where(y != 0, x / y, 0)") {
  const tape t = chosen(
      2,
      [](builder& b, const vec<int>& x) {
        return emit::less(b, emit::constant_like(b, x[1], 0), emit::mul(b, x[1], x[1]));
      },
      of(prim::div));
  for (const double x : {-1., 0., 2.})
    for (const double y : {-1., -0., 0., .5}) check_no_nan(t, {x, y});
}

TEST_CASE("log1p and expm1 outside of their range, exp where it overflows") {
  const body below_ten = [](builder& b, const vec<int>& x) {
    return emit::less(b, x[0], emit::constant_like(b, x[0], 10));
  };
  for (const double x : {0., 9., 1000., inf})
    for (const auto* p : {&prim::exp, &prim::expm1, &prim::sin, &prim::cos, &prim::tan})
      check_no_nan(chosen(1, below_ten, of(*p)), {x});
  for (const double x : {0., 9., 1000.})
    check_no_nan(
        chosen(1, below_ten, [](builder& b, const vec<int>& v) { return emit::mul(b, v[0], emit::exp(b, v[0])); }),
        {x});
  for (const double x : {-2., -1., 0., 1.}) check_no_nan(chosen(1, positive, of(prim::log1p)), {x});
}

TEST_CASE("a norm at 0 with a cotangent of 0") {
  builder b;
  const int x = b.input({dtype::float64, drx::make_shape(3)});
  b.output(b.add1(prim::sqrt, {emit::sum(b, emit::mul(b, x, x), {0})}));
  const tape pull = derivative(b.result(), true);
  drx::tensor at(pull.values[pull.inputs[0]]), ct(pull.values[pull.inputs[1]]);
  const auto gradient = drx::interpreter::run(pull, {at, ct})[0];
  for (int i = 0; i < 3; ++i) CHECK(gradient.data<double>()[i] == 0);
}

TEST_CASE("a derivative that is used stays infinite") {
  builder b;
  b.output(b.add1(prim::sqrt, {b.input({dtype::float64, {}})}));
  const tape pull = derivative(b.result(), true);
  drx::tensor at(pull.values[pull.inputs[0]]), ct(pull.values[pull.inputs[1]]);
  ct.data<double>()[0] = 1;
  CHECK(drx::interpreter::run(pull, {at, ct})[0].data<double>()[0] == inf);
}

TEST_CASE("guarded products and quotients: values, and what simplifies away") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  using mul = drx::prim::row_of<&prim::azmul>;
  using div = drx::prim::row_of<&prim::azdiv>;
  for (const double x : {0., -0.})
    for (const double y : {0., 1., inf, -inf, nan}) {
      CHECK(mul::apply(x, y) == 0);
      CHECK(mul::apply(y, x) == 0);
      CHECK(mul::reference(y, x) == 0);
      CHECK(div::apply(x, y) == 0);
      CHECK(div::reference(x, y) == 0);
    }
  CHECK(mul::apply(3.f, 2.f) == 6);
  CHECK(mul::apply(-2., inf) == -inf);
  CHECK(std::isnan(mul::apply(nan, 2.)));
  CHECK(div::apply(1., 0.) == inf);
  CHECK(std::isnan(div::apply(nan, 0.)));
  CHECK(std::isnan(div::apply(1., nan)));

  builder b;
  const int x = b.input({dtype::float64, {}});
  const int two = emit::constant_like(b, x, 2), zero = emit::constant_like(b, x, 0),
            infinite = emit::constant_like(b, x, inf);
  auto made = [&](int id) { return b.definition(id)->prim; };
  CHECK(made(emit::azmul(b, x, two)) == &prim::mul);
  CHECK(made(emit::azmul(b, two, x)) == &prim::mul);
  CHECK(made(emit::azmul(b, x, infinite)) == &prim::azmul);
  CHECK(emit::azmul(b, x, zero) == zero);
  CHECK(made(emit::azdiv(b, x, two)) == &prim::div);
  CHECK(made(emit::azdiv(b, two, x)) == &prim::div);
  CHECK(made(emit::azdiv(b, x, zero)) == &prim::azdiv);
  CHECK(emit::azdiv(b, zero, x) == zero);
}
