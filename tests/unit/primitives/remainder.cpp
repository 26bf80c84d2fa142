#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A, class B>
concept divides = requires(const A& a, const B& b) {
  a % b;
  drx::mod(a, b);
};
using v4 = array<double, 4>;
}  // namespace

TEST_CASE("which remainders there are") {
  static_assert(divides<v4, v4> && divides<v4, int> && divides<int, array<int, 3>> &&
                divides<array<float, 2, 1>, array<float, 3>>);
  static_assert(!divides<v4, array<float, 4>> && !divides<v4, array<double, 3>> &&
                !divides<array<bool, 2>, array<bool, 2>> && !divides<array<int>, double> &&
                !divides<drx::placed<v4, clients>, v4>);
}

TEST_CASE("the sign of the dividend with %, of the divisor with mod") {
  constexpr auto f = [](auto x, auto y) { return std::pair{x % y, drx::mod(x, y)}; };
  const auto [rem, mod] = interpreter::call<program<f, v4, v4>>(v4{7, -7, 7, -7}, v4{3, 3, -3, -3});
  const auto [whole_rem, whole_mod] = interpreter::call<program<f, array<int, 4>, array<int, 4>>>(
      array<int, 4>{7, -7, 7, -7}, array<int, 4>{3, 3, -3, -3});
  const int expected[] = {1, -1, 1, -1}, of_divisor[] = {1, 2, -2, -1};
  for (int i = 0; i < 4; ++i) {
    CHECK(rem[i] == expected[i]);
    CHECK(mod[i] == of_divisor[i]);
    CHECK(whole_rem[i] == expected[i]);
    CHECK(whole_mod[i] == of_divisor[i]);
  }
}

TEST_CASE("of integers, every pair has a remainder, which goes with the quotient") {
  constexpr auto f = [](auto x, auto y) { return std::tuple{x % y, drx::mod(x, y), x / y * y + x % y - x}; };
  constexpr int least = std::numeric_limits<int>::min();
  const auto [rem, mod, rest] =
      interpreter::call<program<f, array<int, 3>, array<int, 3>>>(array<int, 3>{5, least, -5}, array<int, 3>{0, -1, 0});
  CHECK((rem[0] == 5 && rem[1] == 0 && rem[2] == -5));
  CHECK((mod[0] == 5 && mod[1] == 0 && mod[2] == -5));
  for (int i = 0; i < 3; ++i) CHECK(rest[i] == 0);
}

TEST_CASE("derivatives: between the jumps, of the divisor too, where the quotient itself would round up") {
  constexpr auto f = [](auto x, auto y) { return x % y; };
  harness::check_program<program<f, v4, v4>>({.low = .4, .high = .9});
  constexpr auto g = [](auto x, auto y) { return drx::mod(-x, y) * drx::mod(x, -y); };
  harness::check_program<program<g, v4, v4>>({.low = .4, .high = .9});
  constexpr auto slope = [](auto x, auto y) { return drx::grad<1>([](auto a, auto b) { return a % b; })(x, y); };
  const auto k = interpreter::call<program<slope, double, double>>(3.9, 1.3);  // 2 times 1.3 and 1.2999999999999998
  CHECK(k == -2);
}
