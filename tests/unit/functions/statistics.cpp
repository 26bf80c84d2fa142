#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using m23 = array<double, 2, 3>;
template <class A, int... Axes>
concept has_norm = requires(const A& a) { drx::norm<Axes...>(a); };
template <class A, class... O>
concept has_var = requires(const A& a, const O&... o) {
  drx::var(a, o...);
  drx::stddev(a, o...);
};
template <class A, int... Axes>
concept keeps = requires(const A& a) {
  drx::sum<Axes...>(a, drx::keepdims);
  drx::max<Axes...>(a, drx::keepdims);
};
}  // namespace

TEST_CASE("which norms and variances there are") {
  static_assert(has_norm<m23> && has_norm<m23, 0> && !has_norm<m23, 2> && !has_norm<array<int, 2>> &&
                !has_norm<drx::placed<m23, clients>>);
  using drx::ddof_t;
  using drx::keepdims_t;
  static_assert(has_var<m23> && has_var<array<int, 2>, ddof_t<1>> && has_var<m23, keepdims_t, ddof_t<1>>);
  static_assert(!has_var<array<bool, 2>> && !has_var<m23, ddof_t<6>> && !has_var<m23, int> &&
                !has_var<m23, keepdims_t, keepdims_t> && !has_var<m23, ddof_t<1>, ddof_t<2>> &&
                !has_var<drx::placed<m23, clients>> && !has_var<array<double, 0>>);
  static_assert(keeps<m23> && keeps<m23, -1> && !keeps<m23, 2> && !keeps<array<bool, 2>> &&
                !keeps<drx::placed<m23, clients>>);
}

TEST_CASE("norms, variances and standard deviations") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::norm(x),      drx::norm<1>(x),
                      drx::var(x),       drx::var<1>(x, drx::ddof<1>),
                      drx::stddev<0>(x), drx::var<-1>(x, drx::keepdims)};
  };
  using P = program<f, m23>;
  static_assert(std::is_same_v<P::result, std::tuple<array<double>, array<double, 2>, array<double>, array<double, 2>,
                                                     array<double, 3>, array<double, 2, 1>>>);
  const auto [norm, rows, var, unbiased, deviation, kept] = interpreter::call<P>(m23{1, 2, 2, -2, 3, 6});
  CHECK(norm == doctest::Approx(std::sqrt(58.)));
  CHECK(rows[0] == 3);
  CHECK(rows[1] == 7);
  CHECK(var == doctest::Approx(58. / 6 - 4));
  CHECK(unbiased[0] == doctest::Approx(1. / 3));
  CHECK(unbiased[1] == doctest::Approx(49. / 3));
  CHECK(deviation[0] == doctest::Approx(1.5));
  CHECK(deviation[2] == doctest::Approx(2));
  CHECK(kept[1] == doctest::Approx(98. / 9));
  harness::check_program<P>();
}

TEST_CASE("of integers, in double; far from 0 without loss of digits") {
  constexpr auto f = [](auto n, auto x) { return std::pair{drx::var(n), drx::var(x + 1e9)}; };
  using P = program<f, array<int, 4>, array<double, 4>>;
  const auto [whole, far] = interpreter::call<P>(array<int, 4>{1, 2, 3, 4}, array<double, 4>{1, 2, 3, 4});
  CHECK(whole == 1.25);
  CHECK(far == 1.25);
}

TEST_CASE("at 0 the derivatives of a norm and of a deviation are 0, in both modes") {
  static constexpr auto f = [](auto x) { return drx::norm(x) + drx::stddev(x); };
  constexpr auto g = [](auto x) { return std::pair{drx::grad(f)(x), drx::jvp(f, x, x + 1).second}; };
  const auto [reverse, forward] = interpreter::call<program<g, array<double, 3>>>(array<double, 3>{});
  for (int i = 0; i < 3; ++i) CHECK(reverse[i] == 0);
  CHECK(forward == 0);
}

TEST_CASE("reductions that keep their axes") {
  constexpr auto f = [](auto x) {
    const auto k = drx::keepdims;
    return std::tuple{drx::sum<0>(x, k),
                      drx::mean<1>(x, k),
                      drx::max(x, k),
                      drx::min<-1>(x, k),
                      drx::prod<0, 1>(x, k),
                      drx::norm<1>(x, k),
                      drx::logsumexp<0>(x, k),
                      drx::stddev<1>(x, k),
                      drx::cast<double>(drx::argmax(x, k)),
                      drx::cast<double>(drx::argmin<0>(x, k)),
                      drx::cast<double>(drx::all_of<1>(x > 1, k)),
                      drx::cast<double>(drx::any_of(x > 5, k))};
  };
  using P = program<f, m23>;
  using column = array<double, 2, 1>;
  using row = array<double, 1, 3>;
  using one = array<double, 1, 1>;
  static_assert(
      std::is_same_v<P::result,
                     std::tuple<row, column, one, column, one, column, row, column, column, row, column, one>>);
  const auto [sum, mean, max, min, prod, norm, lse, deviation, largest, smallest, all, any] =
      interpreter::call<P>(m23{1, 2, 3, 4, 5, 6});
  CHECK((sum[0] == 5 && sum[2] == 9 && mean[0] == 2 && mean[1] == 5 && max[0] == 6 && min[0] == 1 && min[1] == 4 &&
         prod[0] == 720));
  CHECK((norm[0] == std::sqrt(14.) && lse[0] == doctest::Approx(std::log(std::exp(1.) + std::exp(4.)))));
  CHECK(deviation[0] == doctest::Approx(std::sqrt(2. / 3)));
  CHECK((largest[0] == 2 && largest[1] == 2 && smallest[1] == 0 && all[0] == 0 && all[1] == 1 && any[0] == 1));
}
