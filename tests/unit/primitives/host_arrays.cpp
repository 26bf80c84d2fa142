#include <drx/drx.hpp>

#include <doctest/doctest.h>

#include <cmath>

using drx::array;

TEST_CASE("elementwise operations of arrays that have elements") {
  array<double, 2, 2> a{{1., 2.}, {3., 4.}};
  const array<double, 2> row{10., 20.};
  const array<double, 2, 1> column{{1.}, {2.}};
  a = 2 * a + a;
  CHECK((a(0, 0) == 3 && a(1, 1) == 12));
  a -= row;
  CHECK((a(0, 0) == -7 && a(0, 1) == -14 && a(1, 0) == -1));
  const auto table = row * column;
  CHECK((table(0, 0) == 10 && table(0, 1) == 20 && table(1, 0) == 20 && table(1, 1) == 40));
  const auto below = a < -5.0;
  CHECK((below[0] && below[1] && !below[2] && below[3] && (!below)[2] && (below || !below)[2]));
  CHECK(drx::exp(drx::scalar<double>(0.5)).item() == std::exp(0.5));
  CHECK(drx::max(row, 15)[0] == 15);
  const array<int, 3> n{7, -7, 0};
  CHECK(((n / 2)[1] == -3 && (-n)[0] == -7 && (n / 0)[0] == 0));
  const array<bool, 2> both = array<bool, 2>{true, false} && true;
  CHECK((both[0] && !both[1]));
  CHECK_THROWS_AS((void)drx::sum(a), drx::error::not_traced);
}
