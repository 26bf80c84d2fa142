// ranks: 1 2 3
// Branches and loops around reductions: every rank takes the same branch and as many steps, with the same bits.
#include <drx/backend/session.hpp>
#include <drx/drx.hpp>

#include "harness/newton.hpp"
#include "harness/ranks.hpp"
#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct schools : drx::placement<schools> {};
struct pupils : drx::placement<pupils> {};
using vec3 = array<double, 3>;

// cut-begin conjugate_gradients
// Solves (1 + sum over members of x x^T) w = b: conjugate gradients, until the residual is small.
constexpr auto times = [](auto v, auto data) {
  return v +
         drx::reduce_sum(drx::map([](auto p, auto x) { return x * drx::dot(x, p); }, drx::broadcast<schools>(v), data));
};
constexpr auto solved = [](auto b, auto data) {
  auto go_on = [](auto c) { return drx::dot(std::get<1>(c), std::get<1>(c)) > 1e-20; };
  auto step = [=](auto c) {
    auto [w, r, p] = c;  // the solution so far, its residual, the direction
    auto ap = times(p, data);
    auto a = drx::dot(r, r) / drx::dot(p, ap);
    auto next = r - a * ap;
    return std::tuple{w + a * p, next, next + p * (drx::dot(next, next) / drx::dot(r, r))};
  };
  return std::get<0>(drx::while_loop<20>(go_on, step, std::tuple{drx::zeros<array<double, 3>>(), b, b}));
};
// cut-end conjugate_gradients
constexpr auto slope = drx::value_and_grad<0>([](auto b, auto data) { return drx::dot(solved(b, data), b); });

constexpr auto branches = [](auto w, auto data) {
  return drx::fori_loop<4>(w, [=](auto i, auto v) {
    return drx::cond(
        drx::sum(v) > drx::cast<double>(i) - 1.5,
        [=] {
          return drx::reduce_mean(
              drx::map([](auto p, auto x) { return drx::tanh(p * x); }, drx::broadcast<schools>(v), data));
        },
        [=] { return v + drx::reduce_max(data); });
  });
};
constexpr auto marks_slope = drx::grad<0, 1>([](auto marks, auto rate) {
  return drx::sum(drx::reduce_sum(drx::map(
      [=](auto mine) {
        return drx::fori_loop<4>(rate, [=](auto w) {
          return w - rate * drx::reduce_mean(drx::map([](auto p, auto m) { return drx::sin(p * m); },
                                                      drx::broadcast<pupils>(w), mine));
        });
      },
      marks)));
});

// Newton's step: the members' curvatures are the same for all conjugate gradients, and kept where the members are.
constexpr auto newton = [](auto w, auto data) {
  auto loss = [=](auto v) {
    auto of_member = [](auto p, auto x) { return drx::softplus(drx::dot(p, x)); };
    return drx::reduce_sum(drx::map(of_member, drx::broadcast<schools>(v), data)) + 0.5 * drx::dot(v, v);
  };
  return harness::newton_step<3>(loss, w);
};

template <class P>
void check_bits() {
  auto& c = harness::session().communicator();
  drx::compiled<P> p(harness::session().executor(), c);
  harness::sample s;
  for (std::int64_t n : {7, 1, 0, 40}) {
    CAPTURE(n);
    s.members = n;
    const auto in = harness::random_inputs<P>(s);
    const auto alone = harness::run_serial<P>(in);
    CHECK(harness::same_bits(harness::call(p, c, in),
                             harness::own_block(alone, drx::even_blocks(n, c.size()), c.rank())));
    harness::check_near(alone, harness::run_plain<P>(in), 4);
  }
}
}  // namespace

TEST_CASE("conjugate gradients until they converge, and their derivative") {
  check_bits<program<slope, vec3, placed<vec3, schools>>>();
}
TEST_CASE("what members keep for the steps of a loop") {
  using P = program<newton, vec3, placed<vec3, schools>>;
  static_assert([] {
    using C = drx::run::code_of<P>;
    for (int e = 0; e < C::sizes.entries; ++e)
      for (int r = 0; r < C::tape.entries[e].results.count; ++r)
        if (C::tape.entries[e].prim == &drx::prim::stage && C::values[C::result(e, r)].depth > 0) return true;
    return false;
  }());
  check_bits<P>();
}
TEST_CASE("branches with reductions in them") { check_bits<program<branches, vec3, placed<vec3, schools>>>(); }
TEST_CASE("a gradient in nested data through a loop in each member") {
  check_bits<program<marks_slope, placed<placed<vec3, pupils>, schools>, vec3>>();
}
