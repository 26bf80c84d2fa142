// A member's value and its way back run over the same loop once.
#include <drx/drx.hpp>
#include <drx/plan/pipeline.hpp>
#include <drx/run/check/interpreter.hpp>

#include "harness/derivatives.hpp"

namespace {
using drx::tape;
using harness::tensors;

struct series : drx::placement<series> {};
using numbers = drx::array<double, 3>;

constexpr auto bend = [](auto v, auto p) { return v + 0.1 * drx::sin(p * v); };
/// A loop in a loop, which gives its path.
template <bool All>
constexpr auto path = [](auto p, auto start) {
  return drx::scan(
             [=](auto v, auto d) {
               const auto next = drx::fori_loop<3>(
                   v, [=](auto w) { return bend(w, p) + d; }, All ? drx::keep_all : drx::keep_carries);
               return std::pair{next, drx::sum(next * next)};
             },
             start, start, All ? drx::keep_all : drx::keep_carries)
      .second;
};
template <bool All>
constexpr auto slope = [](auto p, auto starts) {
  return drx::value_and_grad([=](auto q) {
    return drx::reduce_sum(
        drx::map([](auto r, auto start) { return drx::sum(path<All>(r, start)); }, drx::broadcast<series>(q), starts));
  })(p);
};
constexpr auto two = [](auto p, auto starts) {  // different carries: nothing in common
  const auto ends = drx::map(
      [](auto r, auto start) {
        return std::pair{drx::fori_loop<4>(start, [=](auto v) { return bend(v, r); }),
                         drx::fori_loop<4>(start, [=](auto v) { return bend(v, 2. * r); })};
      },
      drx::broadcast<series>(p), starts);
  return drx::reduce_sum(ends);
};
constexpr auto twice = [](auto p, auto starts) {  // the same carries, other results
  const auto all = drx::map(
      [](auto r, auto start) {
        const auto [a, sums] =
            drx::scan([=](auto v, auto x) { return std::pair{bend(v, r), drx::sum(v) * x}; }, start, start);
        const auto [b, products] =
            drx::scan([=](auto v, auto x) { return std::pair{bend(v, r), drx::exp(v) * x}; }, start, start);
        return std::tuple{a - b, sums, products};
      },
      drx::broadcast<series>(p), starts);
  return drx::reduce_sum(all);
};
constexpr auto carried_sum = [](auto p, auto starts) {  // a sum among the carries, which the way back does not need
  const auto end = [](auto r, auto start) {
    const auto step = [=](auto c) {
      const auto [sum, v, w] = c;
      return std::tuple{sum + drx::sum(v * w), bend(v, r), bend(w, 2. * r)};
    };
    return std::get<0>(drx::fori_loop<4>(std::tuple{drx::zeros<drx::scalar<double>>(), start, start}, step));
  };
  return drx::value_and_grad([=](auto q) { return drx::reduce_sum(drx::map(end, drx::broadcast<series>(q), starts)); })(
      p);
};

/// Until a number that all share says so, or a number of the member's own.
template <bool Shared>
constexpr auto ended = [](auto p, auto starts) {
  const auto end = [](auto r, auto start) {
    const auto going = [=](auto c) { return Shared ? c.first < 3. : drx::sum(c.second) < 3.; };
    return drx::sum(drx::while_loop(
                        going, [=](auto c) { return std::pair{c.first + .5, bend(c.second, r) + .3}; },
                        std::pair{drx::zeros<drx::scalar<double>>(), start})
                        .second);
  };
  const auto sum = [=](auto q) { return drx::reduce_sum(drx::map(end, drx::broadcast<series>(q), starts)); };
  return drx::jvp(sum, p, 2. * p);
};
constexpr auto ended_otherwise = [](auto p, auto starts) {  // the same start and steps, but another end
  const auto end = [](auto r, auto start) {
    const auto until = [=](auto most) {
      return drx::while_loop([=](auto v) { return drx::sum(v) < most; }, [=](auto v) { return bend(v, r) + .3; },
                             start);
    };
    return until(3.) - until(4.);
  };
  return drx::reduce_sum(drx::map(end, drx::broadcast<series>(p), starts));
};

int loops(const tape& t) {
  int n = 0;
  for (const drx::entry& e : t.entries) {
    n += e.prim == &drx::prim::scan;
    if (!e.regions.empty()) n += loops(e.regions[0]);
  }
  return n;
}
template <auto& F, class P = numbers>
int loops_of_stages() {
  const tape t = drx::program<F, P, drx::placed<numbers, series>>::tape().thaw(), u = drx::plan::staged(t);
  drx::check(u);
  harness::random r(3);
  tensors x;
  for (int i : t.inputs) x.push_back(harness::random_tensor(t.values[i], {.low = .2, .high = .8, .members = 5}, r));
  const tensors y = drx::interpreter::run(t, x), z = drx::interpreter::run(u, x);
  REQUIRE(y.size() == z.size());
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(harness::close(y[i], z[i]));
  return loops(u);
}
}  // namespace

TEST_CASE("of a value and its way back, two loops are left and their inner ones") {
  CHECK(loops_of_stages<slope<false>>() == 5);  // there; back, where the inner one is run again first
  CHECK(loops_of_stages<slope<true>>() == 4);
}
TEST_CASE("loops with other carries stay; with the same carries they give both's results") {
  CHECK(loops_of_stages<two>() == 2);
  CHECK(loops_of_stages<twice>() == 1);
}
TEST_CASE("a way back that needs fewer carries than the value is one loop with it") {
  CHECK(loops_of_stages<carried_sum>() == 2);  // there, back
}
TEST_CASE("the way to a value and its tangents by one number are one loop, each with a sum that the other has not") {
  CHECK(loops_of_stages<carried_sum, double>() == 1);
  CHECK(loops_of_stages<slope<false>, double>() == 2);  // the inner one too
}
TEST_CASE("a loop that ends by a condition is one with that of its tangents, which ends by the same") {
  CHECK(loops_of_stages<ended<false>>() == 1);
  CHECK(loops_of_stages<ended<true>>() == 1);
  CHECK(loops_of_stages<ended_otherwise>() == 2);
}
