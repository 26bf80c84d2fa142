#include <drx/drx.hpp>

#include <doctest/doctest.h>

#include <tuple>
#include <vector>

using drx::array;

namespace {
template <class A>
bool holds(const A& x, const std::vector<double>& elements) {
  bool same = static_cast<std::size_t>(A::size) == elements.size();
  for (std::size_t i = 0; same && i < elements.size(); ++i)
    same = static_cast<double>(x[static_cast<std::int64_t>(i)]) == elements[i];
  return same;
}
struct line {
  array<double, 1> slope;
  drx::scalar<double> offset;
  array<float, 2, 1> ends;
};
}  // namespace

TEST_CASE("elements flat and in nested braces") {
  CHECK(holds(array<double, 2, 2>{1., 2., 3., 4.}, {1, 2, 3, 4}));
  CHECK(holds(array<double, 2, 2>{{1., 2.}, {3., 4.}}, {1, 2, 3, 4}));
  CHECK(holds(array<float, 2, 3>{{1, 2, 3}, {4, 5, 6}}, {1, 2, 3, 4, 5, 6}));
  CHECK(holds(array<int, 2, 2, 2>{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, {1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(holds(array<float, 3>{1, 2, 3}, {1, 2, 3}));
  const array<double, 2> row{1., 2.};
  CHECK(holds(array<double, 2, 2>{row, {3., 4.}}, {1, 2, 3, 4}));
}
TEST_CASE("arrays of one element, and rows of one") {
  CHECK(holds(array<double, 1>{0.5}, {0.5}));
  CHECK(holds(array<float, 1>{2}, {2}));
  CHECK(holds(array<double, 1, 1>{{0.5}}, {0.5}));
  CHECK(holds(array<double, 1, 1>{0.5}, {0.5}));
  CHECK(holds(array<double, 1, 2>{{1., 2.}}, {1, 2}));
  CHECK(holds(array<double, 2, 1>{{1.}, {2.}}, {1, 2}));
  CHECK(holds(array<double, 2, 1>{1., 2.}, {1, 2}));
  CHECK(drx::scalar<double>{0.5}.item() == 0.5);
  const line l{{2.}, 1., {{3}, {4}}};
  CHECK(l.slope[0] == 2);
  CHECK(l.ends[1] == 4);
  const std::tuple<array<double, 1>, double> pair{{2.}, 1.};
  CHECK(std::get<0>(pair)[0] == 2);
  const std::vector<array<double, 1>> several{{1.}, {2.}};
  CHECK(several.size() == 2);
  const array<double, 1> copy{several[1]};
  CHECK(copy[0] == 2);
}
TEST_CASE("more or fewer rows than the first axis has") {
  using square = array<double, 2, 2>;
  CHECK_THROWS_WITH_AS((square{{1., 2.}}), "drx: an initialiser of 1 for an axis of 2", std::invalid_argument);
  CHECK_THROWS_WITH_AS((square{{1., 2.}, {1., 2.}, {1., 2.}}), "drx: an initialiser of 3 for an axis of 2",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS((array<double, 1>{1., 2.}), "drx: an initialiser of 2 for an axis of 1", std::invalid_argument);
}
TEST_CASE("nested braces are constants of programs") {
  constexpr array<double, 2, 2> turn{{0., -1.}, {1., 0.}};
  static_assert(turn(1, 0) == 1);
  constexpr auto f = [](auto x) { return drx::matmul(array<double, 2, 2>{{0., -1.}, {1., 0.}}, x); };
  CHECK(drx::show<drx::program<f, array<double, 2>>>().find("data[0, -1, 1, 0]") != std::string::npos);
}
