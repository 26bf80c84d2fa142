#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using m23 = array<double, 2, 3>;
template <class A, int... Axes>
concept expands = requires(const A& a) { drx::expand_dims<Axes...>(a); };
template <class A, int... Axes>
concept squeezes = requires(const A& a) { drx::squeeze<Axes...>(a); };
template <class A, std::int64_t... Times>
concept tiles = requires(const A& a) { drx::tile<Times...>(a); };
template <class A, std::int64_t N, int Axis>
concept repeats = requires(const A& a) { drx::repeat<N, Axis>(a); };
}  // namespace

TEST_CASE("which axes are put in, taken out and repeated") {
  static_assert(expands<m23, 0> && expands<m23, -1, 0> && expands<array<bool>, 0>);
  static_assert(!expands<m23> && !expands<m23, 3> && !expands<m23, 0, 0> && !expands<m23, 0, -4> && !expands<m23, -4> &&
                !expands<drx::placed<m23, clients>, 0>);
  static_assert(!expands<array<int, 1, 1, 1, 1, 1, 1, 1, 2>, 0>);
  static_assert(squeezes<m23> && squeezes<array<int, 1, 3, 1>, 0, -1> && !squeezes<m23, 0> &&
                !squeezes<array<int, 1>, 1> && !squeezes<drx::placed<m23, clients>>);
  static_assert(tiles<m23, 2> && tiles<m23, 0, 1, 2> && !tiles<m23> && !tiles<m23, -1> &&
                !tiles<drx::placed<m23, clients>, 2>);
  static_assert(repeats<m23, 2, -1> && repeats<m23, 0, 1> && !repeats<m23, 2, 2> && !repeats<m23, -1, 0> &&
                !repeats<array<int>, 2, 0>);
}

TEST_CASE("expand_dims and squeeze") {
  constexpr auto f = [](auto x) {
    auto wide = drx::expand_dims<0, 2, -1>(x);
    return std::tuple{wide, drx::squeeze(wide), drx::squeeze<-1, 0>(wide), drx::expand_dims<-1>(drx::sum(x))};
  };
  using P = program<f, m23>;
  static_assert(
      std::is_same_v<P::result,
                     std::tuple<array<double, 1, 2, 1, 3, 1>, m23, array<double, 2, 1, 3>, array<double, 1>>>);
  const auto [wide, narrow, between, one] = interpreter::call<P>(m23{1, 2, 3, 4, 5, 6});
  for (int i = 0; i < 6; ++i) CHECK((wide[i] == i + 1 && narrow[i] == i + 1 && between[i] == i + 1));
  CHECK(one[0] == 21);
}

TEST_CASE("copies of arrays, and of elements") {
  constexpr auto f = [](auto x) {
    return std::tuple{drx::tile<2>(x),   drx::tile<2, 1>(x),    drx::tile<2, 1, 2>(x),
                      drx::repeat<2>(x), drx::repeat<2, -1>(x), drx::tile<0>(x)};
  };
  using P = program<f, m23>;
  static_assert(std::is_same_v<P::result, std::tuple<array<double, 2, 6>, array<double, 4, 3>, array<double, 2, 2, 6>,
                                                     array<double, 4, 3>, array<double, 2, 6>, array<double, 2, 0>>>);
  const auto [beside, below, apart, rows, each, none] = interpreter::call<P>(m23{1, 2, 3, 4, 5, 6});
  for (int i = 0; i < 12; ++i) {
    CHECK(beside[i] == i / 6 * 3 + i % 3 + 1);
    CHECK(below[i] == i % 6 + 1);
    CHECK(rows[i] == i / 6 * 3 + i % 3 + 1);
    CHECK(each[i] == i / 2 + 1);
  }
  for (int i = 0; i < 24; ++i) CHECK(apart[i] == beside[i % 12]);
  CHECK(rows[3] == 1);
  harness::check_program<P>();
}
