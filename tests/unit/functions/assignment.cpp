#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec2 = array<double, 2>;
using number = array<double>;
template <class A, class B>
concept adds_to = requires(A& a, const B& b) { a += b; };
template <class A, class B>
concept divides = requires(A& a, const B& b) { a /= b; };
}  // namespace

TEST_CASE("what can be added to what") {
  static_assert(adds_to<vec2, vec2> && adds_to<vec2, number> && adds_to<vec2, int> &&
                adds_to<array<double, 3, 2>, vec2>);
  static_assert(!adds_to<vec2, array<double, 3, 2>> && !adds_to<number, vec2> && !adds_to<vec2, array<float, 2>> &&
                !adds_to<array<int, 2>, double>);
  static_assert(adds_to<std::tuple<vec2, number>, std::tuple<vec2, number>> && divides<std::pair<vec2, vec2>, number>);
  static_assert(adds_to<placed<vec2, clients>, placed<vec2, clients>> && divides<placed<vec2, clients>, double> &&
                !adds_to<placed<vec2, clients>, vec2>);
}

TEST_CASE("assignments") {
  constexpr auto f = [](auto x, auto rate, auto slope, auto data) {
    x -= rate * slope;
    auto [a, b] = x;
    a *= b;
    a += 1;
    a /= rate;
    data += data;
    return std::tuple{x, a, drx::reduce_sum(data)};
  };
  using state = std::pair<vec2, double>;
  using P = program<f, state, double, state, placed<double, clients>>;
  const auto [x, a, sum] =
      interpreter::call<P>(state{{1., 2.}, 3.}, 0.5, state{{2., 4.}, 2.}, std::vector<double>{1, 2});
  CHECK((x.first[0] == 0 && x.first[1] == 0 && x.second == 2 && a[0] == 2 && a[1] == 2 && sum == 6));
}

TEST_CASE("a plain number beside arrays that are stacked") {
  constexpr auto f = [](auto x) { return std::pair{drx::stack(drx::index<0>(x), 3, 0.5), drx::stack<1>(2, x)}; };
  using P = program<f, vec2>;
  static_assert(std::is_same_v<P::result, std::pair<array<double, 3>, array<double, 2, 2>>>);
  const auto [column, rows] = interpreter::call<P>(vec2{7., 8.});
  CHECK((column[0] == 7 && column[1] == 3 && column[2] == 0.5));
  CHECK((rows(0, 0) == 2 && rows(0, 1) == 7 && rows(1, 0) == 2 && rows(1, 1) == 8));
}
