#include <drx/drx.hpp>
#include <drx/run/check/check_grads.hpp>

#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

using drx::abstract_value;
using drx::array;
using drx::builder;
using drx::check_grads;
using drx::check_grads_report;
using drx::dtype;
using drx::placed;
using drx::primitive;
using drx::program;
using drx::rule_site;
using drx::tensor;
using drx::vec;
namespace emit = drx::emit;
namespace prim = drx::prim;

namespace {
struct clients : drx::placement<clients> {};
using vec3 = array<double, 3>;

/// tanh, with one rule changed.
constexpr primitive with(vec<int> (*jvp)(const rule_site&, const vec<int>&),
                         vec<int> (*vjp)(const rule_site&, const vec<int>&, const vec<bool>&)) {
  primitive p = prim::tanh;
  p.name = "wrong_tanh";
  p.simplify = nullptr;
  if (jvp) p.jvp = jvp;
  if (vjp) p.vjp = vjp;
  return p;
}
vec<int> jvp_of_sin(const rule_site& s, const vec<int>& t) {
  if (t[0] == drx::zero_tangent) return {drx::zero_tangent};
  return {emit::mul(s.b, t[0], emit::cos(s.b, s.operands[0]))};
}
vec<int> vjp_without_square(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
  if (ct[0] == drx::zero_tangent) return {drx::zero_tangent};
  return {emit::mul(s.b, ct[0], emit::sub(s.b, emit::constant_like(s.b, ct[0], 1), s.results[0]))};
}
/// Right, but written with a primitive that is wrong, so that only the second derivative is.
const primitive wrong_forward = with(jvp_of_sin, nullptr);
vec<int> right_with_wrong_inside(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
  if (ct[0] == drx::zero_tangent) return {drx::zero_tangent};
  const int y = s.b.add1(wrong_forward, {s.operands[0]});
  return {emit::mul(s.b, ct[0], emit::sub(s.b, emit::constant_like(s.b, ct[0], 1), emit::mul(s.b, y, y)))};
}
template <int Number>
vec<int> jvp_over_zero(const rule_site& s, const vec<int>& t) {
  if (t[0] == drx::zero_tangent) return {drx::zero_tangent};
  return {
      emit::mul(s.b, t[0], emit::div(s.b, emit::constant_like(s.b, t[0], Number), emit::constant_like(s.b, t[0], 0)))};
}
template <int Number>
vec<int> vjp_over_zero(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
  return jvp_over_zero<Number>(s, ct);
}
const primitive wrong_reverse = with(nullptr, vjp_without_square);
const primitive wrong_second = with(nullptr, right_with_wrong_inside);
primitive without_rules = [] {
  primitive p = with(nullptr, nullptr);
  p.vjp = nullptr;
  return p;
}();

template <class Write>
drx::tape tape_of(std::vector<abstract_value> types, Write write) {
  builder b;
  vec<int> in;
  for (const auto& t : types) in.push_back(b.input(t));
  b.output(write(b, in));
  return b.result();
}
tensor numbers(const abstract_value& t, double first) {
  tensor x(t);
  for (int m = 0; t.depth > 0 && m < 3; ++m) x.members.push_back(numbers(t.of_member(), first + m));
  for (std::int64_t i = 0; t.depth == 0 && i < x.size(); ++i)
    x.data<double>()[i] = first / 7 + .1 * static_cast<double>(i);
  return x;
}
const abstract_value v3(dtype::float64, drx::make_shape(3));
const abstract_value v3_placed = v3.placed_at(&drx::placement_of<clients>);
check_grads_report of(const primitive& p, int order = 1) {
  const auto t = tape_of({v3, v3}, [&](builder& b, const vec<int>& x) {
    return emit::sum(b, b.add1(p, {emit::mul(b, emit::sin(b, x[0]), x[1])}), {0});
  });
  return drx::interpreter::check_grads(t, {numbers(v3, 1), numbers(v3, 4)}, {.order = order});
}
}  // namespace

// cut-begin program
constexpr auto rounds = [](auto w, auto x) {
  return drx::fori_loop<3>(w, [&](auto v) {
    return drx::tanh(v +
                     drx::reduce_mean(drx::map([](auto a, auto b) { return a * b; }, drx::broadcast<clients>(v), x)));
  });
};
using Rounds = drx::program<rounds, drx::array<double, 3>, drx::placed<drx::array<double, 3>, clients>>;
// cut-end program

TEST_CASE("a program whose derivatives are right") {
  using P = Rounds;
  // cut-begin check
  const std::vector<drx::array<double, 3>> x{{1., 2., 3.}, {-1., 0., 1.}};
  const drx::check_grads_report report = drx::check_grads<Rounds>({.1, .2, .3}, x, {.order = 3});
  if (!report) std::cerr << report;
  // cut-end check
  CHECK(report.ok());
  CHECK(report.checks == 7);
  CHECK(report.unclear == 0);
  CHECK(report.error < 1e-8);
  std::ostringstream out;
  out << report;
  CHECK(out.str().find("7 comparisons agree; largest") == 0);
  CHECK_NOTHROW(drx::require_grads<P>({.1, .2, .3}, {}));
}

TEST_CASE("float programs are checked in double, with constants and casts") {
  constexpr auto f = [](auto x, auto n) {
    return drx::sum(drx::exp(x * 1.5f) * drx::cast<float>(drx::cast<double>(x)) / drx::cast<float>(n) +
                    drx::iota<array<float, 2>, 0>());
  };
  const auto report = check_grads<program<f, array<float, 2>, int>>({.5f, 1.f}, 3, {.order = 2, .tolerance = 1e-7});
  CHECK_MESSAGE(report.ok(), report.text());
}

TEST_CASE("rules that give NaN or infinity where the function is smooth are wrong") {
  for (const primitive& p : {with(jvp_over_zero<0>, nullptr), with(jvp_over_zero<1>, nullptr),
                             with(nullptr, vjp_over_zero<0>), with(nullptr, vjp_over_zero<1>)}) {
    const auto report = of(p);
    REQUIRE_MESSAGE(!report.ok(), report.text());
    CHECK(report.wrong->primitive == "wrong_tanh");
  }
}

TEST_CASE("a wrong rule is named, with the entry's number, its operands and the numbers") {
  auto report = of(wrong_forward);
  REQUIRE(!report.ok());
  CHECK(report.wrong->primitive == "wrong_tanh");
  CHECK(report.wrong->what == "forward mode and differences");
  CHECK(report.wrong->entry == 4);
  CHECK(report.wrong->operands.size() == 1);
  CHECK(report.wrong->path.back() == "%4: f64[3] = wrong_tanh %3");
  CHECK(report.text().find("the rule of wrong_tanh, entry %4, is wrong for operands (f64[3])") != std::string::npos);

  report = of(wrong_reverse);
  REQUIRE(!report.ok());
  CHECK(report.wrong->primitive == "wrong_tanh");
  CHECK(report.wrong->what == "reverse and forward mode");

  CHECK(of(wrong_second).ok());
  report = of(wrong_second, 2);
  REQUIRE(!report.ok());
  CHECK(report.wrong->order == 2);
  CHECK(report.wrong->tape == "the reverse derivative of the program");
  CHECK(report.wrong->primitive == "wrong_tanh");
}

TEST_CASE("in maps and loops the innermost entry is named") {
  const auto* p = &drx::placement_of<clients>;
  const auto t = tape_of({v3_placed}, [&](builder& b, const vec<int>& x) {
    const int y = emit::map(b, p, {x[0]}, [&](builder& body, const vec<int>& in) {
      builder step;
      step.input(abstract_value(dtype::int32, {}));
      const int carry = step.input(v3);
      step.output(step.add1(wrong_reverse, {emit::sin(step, carry)}));
      return body.add(prim::scan, {in[0]}, prim::rules::scan::view(2, 0, 1).make(), {step.result()});
    })[0];
    return emit::reduce_sum(b, y, p);
  });
  const auto report = drx::interpreter::check_grads(t, {numbers(v3_placed, 1)});
  REQUIRE(!report.ok());
  CHECK(report.wrong->primitive == "wrong_tanh");
  REQUIRE(report.wrong->path.size() == 3);
  CHECK(report.wrong->path[0].find("= map[clients]") != std::string::npos);
  CHECK(report.wrong->path[1].find("= scan[2") != std::string::npos);
  CHECK(report.wrong->path[2] == "%3: f64[3] = wrong_tanh %2");
}

TEST_CASE("what a rule throws is reported") {
  const auto report = of(without_rules);
  REQUIRE(!report.ok());
  CHECK(report.wrong->what.find("no reverse derivative") != std::string::npos);
  CHECK(report.wrong->primitive == "wrong_tanh");
}

TEST_CASE("kinks are stepped around, or counted") {
  constexpr auto f = [](auto x) { return drx::abs(x); };
  CHECK(check_grads<program<f, double>>(1e-5).unclear == 0);
  constexpr auto g = [](auto x) { return drx::where(x > 0, x + 1, x); };
  const auto report = check_grads<program<g, double>>(0.);
  CHECK(report.ok());
  CHECK(report.unclear == 1);
}

TEST_CASE("inputs that cannot be checked are refused") {
  constexpr auto f = [](auto x) { return x + 1; };
  CHECK_THROWS_AS((check_grads<program<f, int>>(1)), std::invalid_argument);
  constexpr auto h = [](auto x) { return drx::log(x) * 0; };
  using P = program<h, double>;
  CHECK(check_grads<P>(-1.).unclear == 1);
  constexpr auto wrong = [](auto x) { return drx::floor(x) + x; };
  CHECK_NOTHROW(drx::require_grads<program<wrong, double>>(.5));
}
