#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A>
concept has_diagonal = requires(const A& a) { drx::diagonal(a); };
template <class A>
concept has_diagonal_matrix = requires(const A& a) { drx::diagonal_matrix(a); };
}  // namespace

TEST_CASE("which diagonals there are") {
  static_assert(has_diagonal<array<bool, 2, 3>> && has_diagonal<array<float, 4, 3, 2>> &&
                has_diagonal<array<float, 0, 3>>);
  static_assert(!has_diagonal<array<float, 3>> && !has_diagonal<drx::placed<array<float, 3, 3>, clients>>);
  static_assert(has_diagonal_matrix<array<int, 3>> && has_diagonal_matrix<array<float, 2, 0>>);
  static_assert(!has_diagonal_matrix<array<float>> && !has_diagonal_matrix<drx::placed<array<float, 3>, clients>>);
}

TEST_CASE("diagonals of matrices, and matrices of diagonals") {
  constexpr auto f = [](auto x) {
    auto wide = drx::diagonal(x);
    auto high = drx::diagonal(drx::transpose<0, 2, 1>(x));
    return std::tuple{wide, high, drx::diagonal_matrix(wide),
                      drx::diagonal_matrix(drx::slice<0, 1>(drx::index<0, 0>(x)))};
  };
  using P = program<f, array<double, 2, 2, 3>>;
  static_assert(std::is_same_v<P::result, std::tuple<array<double, 2, 2>, array<double, 2, 2>, array<double, 2, 2, 2>,
                                                     array<double, 1, 1>>>);
  array<double, 2, 2, 3> x;
  for (int i = 0; i < 12; ++i) x[i] = i + 1;
  x[4] = HUGE_VAL;
  const auto [wide, high, square, one] = interpreter::call<P>(x);
  CHECK((wide(0, 0) == 1 && wide(0, 1) == HUGE_VAL && wide(1, 0) == 7 && wide(1, 1) == 11));
  for (int i = 0; i < 4; ++i) CHECK(high[i] == wide[i]);
  for (int i = 0; i < 8; ++i) CHECK(square[i] == (i % 4 == 0 || i % 4 == 3 ? wide(i / 4, i % 2) : 0));
  CHECK(one[0] == 1);
  harness::check_program<P>();
}

TEST_CASE("diagonals without elements") {
  constexpr auto f = [](auto x, auto y) { return std::tuple{drx::diagonal(x), drx::diagonal_matrix(y)}; };
  using P = program<f, array<double, 0, 3>, array<double, 2, 0>>;
  static_assert(std::is_same_v<P::result, std::tuple<array<double, 0>, array<double, 2, 0, 0>>>);
  CHECK(P::tape().thaw().outputs.size() == 2);
}
