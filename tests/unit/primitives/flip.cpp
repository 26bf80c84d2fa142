#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using matrix = array<int, 2, 3>;
template <class A, int... Axes>
concept flips = requires(const A& a) { drx::flip<Axes...>(a); };
}  // namespace

TEST_CASE("flip") {
  static_assert(flips<matrix> && flips<matrix, 0, -1> && flips<array<bool, 2>, 0> && !flips<matrix, 2> &&
                !flips<matrix, -3> && !flips<drx::placed<matrix, clients>>);
  constexpr auto f = [](auto x) { return std::tuple{drx::flip(x), drx::flip<0>(x), drx::flip<-1>(x)}; };
  matrix x{0, 1, 2, 3, 4, 5};
  const auto [all, rows, columns] = interpreter::call<program<f, matrix>>(x);
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 3; ++k) {
      CHECK(all(i, k) == x(1 - i, 2 - k));
      CHECK(rows(i, k) == x(1 - i, k));
      CHECK(columns(i, k) == x(i, 2 - k));
    }
}

TEST_CASE("twice is not at all") {
  constexpr auto f = [](auto x) {
    return drx::flip<1>(drx::flip<0, 1>(x)) + drx::flip<0>(drx::flip<0, 1>(drx::flip<0, 1>(x)));
  };
  CHECK(drx::show<program<f, array<int, 1, 3>>>() == "(%0: i32[1,3]) {\n  %1: i32[1,3] = add %0, %0\n  return %1\n}\n");
}
