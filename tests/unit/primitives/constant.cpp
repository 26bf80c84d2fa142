#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace oracle = drx::oracle;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
constexpr array<float, 3> weights{.25f, .5f, -.25f};
}  // namespace

TEST_CASE("elements known at compile time") {
  constexpr auto f = [](auto x) {
    constexpr array<bool, 3> mask{true, false, true};
    constexpr array<float, 3> alike{2.f, 2.f, 2.f};
    return drx::where(drx::constant(mask), x * drx::constant(weights), drx::constant(alike));
  };
  using P = program<f, array<float, 3>>;
  CHECK(drx::show<P>() == R"((%0: f32[3]) {
  %1: f32[3] = data[0.25, 0.5, -0.25]
  %2: f32[3] = mul %0, %1
  %3: bool[3] = data[1, 0, 1]
  %4: f32[3] = constant[2]
  %5: f32[3] = where %3, %2, %4
  return %5
}
)");
  const array<float, 3> y = oracle::call<P>(array<float, 3>{4.f, 4.f, 4.f});
  CHECK(y[0] == 1);
  CHECK(y[1] == 2);
  CHECK(y[2] == -1);
}

TEST_CASE("elements keep all their bits") {
  constexpr auto f = [](auto n, auto x) {
    constexpr array<std::int64_t, 2> large{std::int64_t{9007199254740993}, std::int64_t{9007199254740993}};
    constexpr array<double, 2> small{1e-320, -0.0};
    return std::pair{n + drx::constant(large), x * drx::constant(small)};
  };
  using P = program<f, std::int64_t, double>;
  const auto [n, x] = oracle::call<P>(std::int64_t{0}, 1.);
  CHECK(n[1] == 9007199254740993);
  CHECK(x[0] == 1e-320);
  CHECK(std::signbit(x[1]));
}

TEST_CASE("constants in maps, derivatives and batches") {
  constexpr auto f = [](auto x) {
    return drx::reduce_sum(drx::map([](auto v) {
      constexpr array<double, 2, 2> m{1., 2., 3., 4.};
      return drx::square(drx::matmul(drx::constant(m), v)) * drx::iota<array<double, 2>>();
    }, x));
  };
  harness::check_program<program<f, drx::placed<array<double, 2>, clients>>>();
}
