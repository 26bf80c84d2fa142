// Gathers at places of each lane's own from arrays that a loop carries in lanes, and their transposes: where the plan
// has them as they lie, and the numbers, against the plain interpreter. Places are negative and outside, too.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <string>

namespace {
struct walks : drx::placement<walks> {};
using drx::placed;
template <class T, int... E>
using array = drx::array<T, E...>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
// The value and gradient of what is left after steps that each read places that are a member's own.
template <class Read>
constexpr auto walk_with = [](auto w, auto start, auto all_places) {
  auto loss = [=](auto v) {
    auto one = [](auto u, auto x0, auto places) {
      auto step = [=](auto i, auto x) {
        return 0.5 * x + 0.1 * drx::sin(u * x + Read()(x, drx::index(places, i) - 9));
      };
      return drx::sum(drx::square(drx::fori_loop<6>(x0, step)));
    };
    return drx::reduce_sum(drx::map(one, drx::broadcast<walks>(v), start, all_places));
  };
  return drx::value_and_grad(loss)(w);
};
struct rows {  // x[p], added up
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::sum<0>(drx::take(x, p));
  }
};
struct columns {  // x[:, p]
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::expand_dims<1>(drx::sum<1>(drx::take<1>(x, p)));
  }
};
struct window {  // x[p0:p0+2, p1:p1+3]
  template <class X, class P>
  constexpr auto operator()(const X& x, const P& p) const {
    return drx::sum(drx::dynamic_slice<2, 3>(x, drx::index<0>(p), drx::index<1>(p)) *
                    drx::array<typename X::value_type, 2, 3>{{1, 2, 3}, {4, 5, 6}});
  }
};
template <class T, class I, class Read>
using Walk = drx::program<walk_with<Read>, array<T, 4>, placed<array<T, 7, 4>, walks>, placed<array<I, 6, 2>, walks>>;

template <class P>
void check() {
  const std::string plan = plan_of<P>();
  REQUIRE(plan.find("blocks of") != std::string::npos);
  const std::string blocks = plan.substr(plan.find("32] ="));
  CHECK(blocks.find("7,4] = transpose") == std::string::npos);
  CHECK(blocks.find("32,28] = transpose") == std::string::npos);
  harness::check_run<P>({.below = 20}, {1, 9, 70, 300});
}
}  // namespace

TEST_CASE("rows") {
  check<Walk<double, std::int32_t, rows>>();
  check<Walk<float, std::int64_t, rows>>();
}
TEST_CASE("columns") { check<Walk<double, std::int32_t, columns>>(); }
TEST_CASE("windows") { check<Walk<double, std::int64_t, window>>(); }
