#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
using m3 = array<double, 3, 3>;
template <class A>
concept has_identity = requires { drx::identity<A>(); };
}  // namespace

TEST_CASE("unit matrices") {
  static_assert(has_identity<array<int, 1, 1>> && !has_identity<array<double, 3>> &&
                !has_identity<array<double, 2, 3>>);
  constexpr auto f = [](auto x) {
    return std::pair{x + drx::identity<m3>(), drx::identity<array<std::int64_t, 2, 2, 2>>()};
  };
  using P = program<f, double>;
  const auto [sum, batch] = interpreter::call<P>(.5);
  for (int i = 0; i < 9; ++i) CHECK(sum[i] == (i % 4 == 0 ? 1.5 : .5));
  for (int i = 0; i < 8; ++i) CHECK(batch[i] == (i % 4 == 0 || i % 4 == 3));
  harness::check_program<program<f, double>>();
}
TEST_CASE("outside of a program, constants are plain arrays") {
  const auto unit = drx::identity<array<float, 2, 2>>();
  CHECK((unit(0, 0) == 1 && unit(0, 1) == 0 && unit(1, 0) == 0 && unit(1, 1) == 1));
  const auto columns = drx::iota<array<int, 2, 3>, 1>();
  CHECK((columns(0, 0) == 0 && columns(1, 2) == 2));
  CHECK(drx::full<array<float, 2>>(3)[1] == 3);
  CHECK(drx::zeros<array<float, 2>>()[1] == 0);
  CHECK(drx::ones<array<bool>>()[0]);
  CHECK(drx::constant(columns)(1, 1) == 1);
}
