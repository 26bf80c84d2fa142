#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A, int Axis>
concept has_argmax = requires(const A& a) { drx::argmax<Axis>(a); };
template <class A>
concept has_all_of = requires(const A& a) { drx::all_of(a); };
}  // namespace

TEST_CASE("argmax and argmin: the first of equal ones") {
  static_assert(has_argmax<array<int, 2>, 0> && has_argmax<array<float, 2, 2>, -2> && !has_argmax<array<int, 2>, 1> &&
                !has_argmax<array<int>, 0> && !has_argmax<array<bool, 2>, 0> && !has_argmax<array<int, 0>, 0> &&
                !has_argmax<drx::placed<array<int, 2>, clients>, 0>);
  constexpr auto f = [](auto x) { return std::tuple{drx::argmax(x), drx::argmin(x), drx::argmax<0>(x)}; };
  using P = program<f, array<float, 3, 4>>;
  static_assert(std::is_same_v<P::result, std::tuple<array<int, 3>, array<int, 3>, array<int, 4>>>);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto [largest, smallest, down] =
      interpreter::call<P>(array<float, 3, 4>{1.f, 5.f, 5.f, 0.f, -1.f, -inf, -inf, -1.f, 2.f, nan, 9.f, nan});
  CHECK(largest[0] == 1);
  CHECK(smallest[0] == 3);
  CHECK(largest[1] == 0);
  CHECK(smallest[1] == 1);
  CHECK(largest[2] == 1);  // a NaN counts, as in NumPy
  CHECK(smallest[2] == 1);
  CHECK(down[2] == 2);
  CHECK(down[3] == 2);
}

TEST_CASE("all_of and any_of") {
  static_assert(has_all_of<array<bool, 2>> && !has_all_of<array<int, 2>> &&
                !has_all_of<drx::placed<array<bool, 2>, clients>>);
  constexpr auto f = [](auto x) {
    return std::tuple{drx::all_of(x > 0), drx::any_of(x > 0), drx::all_of<1>(x > 0), drx::any_of<0>(x > 0)};
  };
  const auto [all, any, rows, columns] = interpreter::call<program<f, array<int, 2, 2>>>(array<int, 2, 2>{1, 1, 0, 1});
  CHECK(!all);
  CHECK(any);
  CHECK(rows[0]);
  CHECK(!rows[1]);
  CHECK(columns[0]);
}
TEST_CASE("all_of and any_of without elements, and of a batch") {
  constexpr auto of_none = [](auto x) { return std::pair{drx::all_of(x > 0), drx::any_of<1>(x > 0)}; };
  const auto [all, any] = interpreter::call<program<of_none, array<int, 2, 0>>>(array<int, 2, 0>{});
  CHECK(all);
  CHECK(!any[0]);
  CHECK(!any[1]);
  constexpr auto of_rows = [](auto x) {
    return std::pair{drx::vmap([](auto r) { return drx::all_of(r > 0); })(x),
                     drx::vmap([](auto r) { return drx::any_of(r > 1); })(x)};
  };
  const auto [all_of_row, any_of_row] =
      interpreter::call<program<of_rows, array<int, 3, 2>>>(array<int, 3, 2>{1, 2, 0, 1, 0, 0});
  CHECK(all_of_row[0]);
  CHECK(!all_of_row[1]);
  CHECK(any_of_row[0]);
  CHECK(!any_of_row[1]);
  CHECK(!any_of_row[2]);
}
