#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A>
concept has_cholesky = requires(const A& a) { drx::cholesky(a); };
template <class A>
concept has_determinant = requires(const A& a) {
  drx::determinant(a);
  drx::logdet(a);
  drx::inverse(a);
};
template <class A, class B>
concept has_solve = requires(const A& a, const B& b) {
  drx::solve(a, b);
  drx::triangular_solve(a, b);
};
template <class A, class B>
concept has_right_solve = requires(const A& a, const B& b) { drx::triangular_solve<drx::from_right>(a, b); };

using m22 = array<double, 2, 2>;
using m33 = array<double, 3, 3>;
}  // namespace

TEST_CASE("which matrices are taken") {
  static_assert(has_cholesky<m22> && has_cholesky<array<float, 5, 2, 2>> && !has_cholesky<array<int, 2, 2>> &&
                !has_cholesky<array<double, 2, 3>> && !has_cholesky<array<double, 2>> &&
                !has_cholesky<drx::placed<m22, clients>>);
  static_assert(has_determinant<m22> && has_determinant<array<float, 5, 2, 2>> &&
                !has_determinant<array<double, 3, 2>>);
  static_assert(has_solve<m22, array<double, 2>> && has_solve<m22, array<double, 2, 7>> &&
                has_solve<array<double, 5, 2, 2>, array<double, 2>> && has_solve<m22, array<double, 5, 2, 3>> &&
                !has_solve<m22, array<double, 3>> && !has_solve<m22, array<float, 2>> &&
                !has_solve<m22, array<double>> && !has_solve<array<double, 5, 2, 2>, array<double, 4, 2, 1>> &&
                !has_solve<m22, drx::placed<array<double, 2>, clients>>);
  static_assert(has_right_solve<m22, array<double, 7, 2>> && !has_right_solve<m22, array<double, 2, 7>>);
}

TEST_CASE("the Cholesky factor of the symmetric part") {
  constexpr auto f = [](auto x) { return drx::cholesky(x); };
  const m22 l = interpreter::call<program<f, m22>>(m22{4, 1, 3, 10});  // (4 2; 2 10) = (2 0; 1 3) (2 0; 1 3)^T
  CHECK(l(0, 0) == 2);
  CHECK(l(0, 1) == 0);
  CHECK(l(1, 0) == 1);
  CHECK(l(1, 1) == 3);
  using two = array<double, 2, 2, 2>;
  const two some = interpreter::call<program<f, two>>(two{1, 2, 2, 1, 4, 2, 2, 10});  // the first is indefinite
  CHECK(std::isnan(some(0, 0, 0)));
  CHECK(std::isnan(some(0, 1, 0)));
  CHECK(some(0, 0, 1) == 0);
  CHECK(some(1, 1, 1) == 3);
}

TEST_CASE("triangular systems: only the triangle is read") {
  constexpr auto f = [](auto a, auto b) {
    return std::tuple{drx::triangular_solve(a, b), drx::triangular_solve<drx::upper>(a, b),
                      drx::triangular_solve<drx::transposed>(a, b), drx::triangular_solve<drx::unit_diagonal>(a, b),
                      drx::triangular_solve<drx::from_right>(a, b)};
  };
  using v2 = array<double, 2>;
  const auto [lower, upper, turned, unit, right] = interpreter::call<program<f, m22, v2>>(m22{2, 8, 3, 4}, v2{2, 11});
  CHECK(lower[0] == 1);  // 2 x = 2, 3 x + 4 y = 11
  CHECK(lower[1] == 2);
  CHECK(upper[1] == 2.75);  // 4 y = 11, 2 x + 8 y = 2
  CHECK(upper[0] == -10);
  CHECK(turned[1] == 2.75);  // 2 x + 3 y = 2, 4 y = 11
  CHECK(turned[0] == -3.125);
  CHECK(unit[0] == 2);
  CHECK(unit[1] == 5);
  CHECK(right[1] == 2.75);  // (x y) (2 0; 3 4) = (2 11)
  CHECK(right[0] == -3.125);
}

TEST_CASE("solutions, inverse, determinant and its logarithm") {
  constexpr auto f = [](auto a, auto b) {
    return std::tuple{drx::solve(a, b), drx::inverse(a), drx::determinant(a), drx::logdet(a)};
  };
  const m33 a{0, 2, 1, 1, 1, 0, 2, 0, 3};  // needs a pivot; the determinant is -8
  using v3 = array<double, 3>;
  const auto [x, inverse, det, log_det] = interpreter::call<program<f, m33, v3>>(a, v3{7, 3, 11});
  CHECK(x[0] == doctest::Approx(1));
  CHECK(x[1] == doctest::Approx(2));
  CHECK(x[2] == doctest::Approx(3));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += a(i, k) * inverse(k, j);
      CHECK(sum == doctest::Approx(i == j));
    }
  CHECK(det == doctest::Approx(-8));
  CHECK(log_det == doctest::Approx(std::log(8.)));
}

TEST_CASE("singular matrices: no exception, but numbers that tell") {
  constexpr auto f = [](auto a) {
    return std::tuple{drx::inverse(a), drx::determinant(a), drx::logdet(a),
                      drx::grad([](auto z) { return drx::determinant(z); })(a)};
  };
  const auto [inverse, det, log_det, slope] = interpreter::call<program<f, m22>>(m22{1, 2, 2, 4});
  for (int i = 0; i < 4; ++i) CHECK(!std::isfinite(inverse[i]));
  CHECK(det == 0);
  CHECK(log_det == -HUGE_VAL);
  const double cofactors[] = {4, -2, -2, 1};
  for (int i = 0; i < 4; ++i) CHECK(slope[i] == cofactors[i]);
}

TEST_CASE("one matrix and a batch of right-hand sides, and the other way round") {
  constexpr auto f = [](auto a, auto b) { return drx::solve(a, b); };
  harness::check_program<program<f, m22, array<double, 3, 2, 1>>>(
      {.low = .5, .high = 1, .orders = 1, .tolerance = 1e-3});
  using many = program<f, array<double, 3, 2, 2>, array<double, 2>>;
  static_assert(std::is_same_v<many::result, array<double, 3, 2>>);
  const auto x =
      interpreter::call<many>(array<double, 3, 2, 2>{1, 0, 0, 1, 2, 0, 0, 4, 0, 1, 1, 0}, array<double, 2>{4, 8});
  const double expected[] = {4, 8, 2, 2, 8, 4};
  for (int i = 0; i < 6; ++i) CHECK(x[i] == expected[i]);
}

TEST_CASE("a gradient uses the factors again") {
  static constexpr auto f = [](auto a, auto b) { return drx::sum(drx::sin(drx::solve(a, b))) + drx::logdet(a); };
  static constexpr auto slope = [](auto a, auto b) { return drx::value_and_grad<0, 1>(f)(a, b); };
  const drx::tape t = program<slope, m33, array<double, 3>>::tape().thaw();
  int factored = 0;
  for (const drx::entry& e : t.entries) factored += e.prim == &drx::prim::lu_factors;
  CHECK(factored == 1);
}
