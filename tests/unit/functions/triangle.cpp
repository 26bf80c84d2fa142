#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A>
concept has_triangles = requires(const A& a) {
  drx::tril(a);
  drx::triu<1>(a);
};
}  // namespace

TEST_CASE("zeros on one side of a diagonal") {
  static_assert(has_triangles<array<bool, 2, 3>> && has_triangles<array<int, 4, 2, 2>> &&
                !has_triangles<array<int, 2>> && !has_triangles<drx::placed<array<int, 2, 2>, clients>>);
  constexpr auto f = [](auto x) {
    return std::tuple{drx::tril(x), drx::tril<-1>(x), drx::tril<1>(x), drx::triu(x), drx::triu<1>(x), drx::triu<-1>(x)};
  };
  using A = array<double, 2, 3, 4>;
  A x;
  for (int i = 0; i < 24; ++i) x[i] = i + 1;
  const auto [l, l_below, l_above, u, u_above, u_below] = interpreter::call<program<f, A>>(x);
  for (int i = 0; i < 24; ++i) {
    const int row = i / 4 % 3, column = i % 4;
    CHECK(l[i] == (column <= row ? x[i] : 0));
    CHECK(l_below[i] == (column <= row - 1 ? x[i] : 0));
    CHECK(l_above[i] == (column <= row + 1 ? x[i] : 0));
    CHECK(u[i] == (column >= row ? x[i] : 0));
    CHECK(u_above[i] == (column >= row + 1 ? x[i] : 0));
    CHECK(u_below[i] == (column >= row - 1 ? x[i] : 0));
  }
  harness::check_program<program<f, array<double, 3, 2>>>();
}
