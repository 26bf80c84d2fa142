// The kernels of dense linear algebra against plain evaluation.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::program;

namespace {
constexpr auto transpose_of = [](auto x) { return drx::transpose<0, 2, 1>(x); };
template <class A>
constexpr A diagonal = []<int... I>(std::integer_sequence<int, I...>) {  // n I
  constexpr int n = static_cast<int>(A::shape.last());
  return A{(I / n % n == I % n ? n : 0)...};
}(std::make_integer_sequence<int, static_cast<int>(A::size)>{});
constexpr auto regular = []<class A>(const A& a) { return a + drx::constant(diagonal<A>); };

constexpr auto forms = [](auto a, auto y) {
  const auto wide = transpose_of(y);
  return std::tuple{drx::triangular_solve(a, y),
                    drx::triangular_solve<drx::upper, drx::unit_diagonal>(a, y),
                    drx::triangular_solve<drx::transposed>(a, y),
                    drx::triangular_solve<drx::transposed, drx::upper>(a, y),
                    drx::triangular_solve<drx::from_right>(a, wide),
                    drx::triangular_solve<drx::from_right, drx::upper>(a, wide),
                    drx::triangular_solve<drx::from_right, drx::transposed>(a, wide),
                    drx::triangular_solve<drx::from_right, drx::transposed, drx::upper, drx::unit_diagonal>(a, wide)};
};
constexpr auto all = []<class A>(const A& x, auto y) {
  const auto a = regular(x) / static_cast<double>(A::shape.last());
  return std::tuple{forms(a, y),         drx::cholesky(drx::matmul(a, transpose_of(a))),
                    drx::solve(a, y),    drx::solve(transpose_of(a), y),
                    drx::inverse(a),     drx::logdet(a),
                    drx::determinant(a), drx::grad([](auto z) { return drx::sum(drx::determinant(z)); })(x)};
};
constexpr auto of_packs = []<class A>(const A& x, auto y) {
  const auto a = regular(x) / static_cast<double>(A::shape.last());
  const auto square = drx::matmul(a, transpose_of(a));
  return std::tuple{forms(a, y), drx::cholesky(square), drx::cholesky(square - 2 * drx::constant(diagonal<A>)),
                    drx::solve(a, y)};
};
constexpr auto decomposed = [](auto x) {
  return std::tuple{drx::qr(x), drx::svd(x), drx::svd(transpose_of(x)), drx::eigh(drx::matmul(transpose_of(x), x)),
                    drx::grad([](auto z) {
                      return drx::sum(drx::square(drx::qr(z).second)) +
                             drx::sum(drx::sin(drx::eigh(drx::matmul(transpose_of(z), z)).first));
                    })(x)};
};
/// Rank n - 1: the last row is the sum of the others.
constexpr auto singular = [](auto x) {
  const auto a = drx::concatenate<1>(x, drx::reshape<2, 1, 5>(drx::sum<1>(x)));
  const auto slope = [](auto z) { return drx::grad([](auto v) { return drx::sum(drx::determinant(v)); })(z); };
  return std::tuple{drx::determinant(a), slope(a), drx::grad([=](auto z) { return drx::sum(slope(z) * z); })(a)};
};
template <class T, std::int64_t N, std::int64_t M>
void check_order() {
  harness::check_run<program<all, array<T, 2, N, N>, array<T, 2, N, M>>>({}, {0});
}
}  // namespace

TEST_CASE("systems and factorisations") {
  check_order<double, 1, 1>();
  check_order<double, 5, 3>();
  check_order<float, 17, 1>();
}

TEST_CASE("systems of as many columns as packs have, and of others") {
  const auto check = []<class A, class Y>(std::type_identity<A>, std::type_identity<Y>) {
    harness::check_run<program<of_packs, A, Y>>({}, {0});
  };
  check(std::type_identity<array<double, 2, 12, 12>>{}, std::type_identity<array<double, 2, 12, 45>>{});
  check(std::type_identity<array<double, 1, 40, 40>>{}, std::type_identity<array<double, 1, 40, 8>>{});
  check(std::type_identity<array<float, 2, 21, 21>>{}, std::type_identity<array<float, 2, 21, 83>>{});
  check(std::type_identity<array<float, 1, 60, 60>>{}, std::type_identity<array<float, 1, 60, 16>>{});
  check(std::type_identity<array<float, 1, 7, 7>>{}, std::type_identity<array<float, 1, 7, 32>>{});
}

TEST_CASE("more rows of a system from the right than are turned at once") {
  constexpr auto solved = [](auto a, auto y) {
    return std::pair{drx::triangular_solve<drx::from_right>(regular(a), y),
                     drx::triangular_solve<drx::from_right, drx::transposed>(regular(a), y)};
  };
  harness::check_run<program<solved, array<float, 40, 40>, array<float, 450, 40>>>({}, {0});
}

TEST_CASE("QR, eigenvalues and singular values") {
  harness::check_run<program<decomposed, array<double, 2, 5, 3>>>({}, {0});
  harness::check_run<program<decomposed, array<float, 1, 19, 12>>>({}, {0});
}

TEST_CASE("the determinant of singular matrices, its gradient and the gradient of that") {
  harness::check_run<program<singular, array<double, 2, 4, 5>>>({}, {0});
}
