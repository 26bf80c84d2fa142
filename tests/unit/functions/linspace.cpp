#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A, class X, class Y>
concept has_range = requires(const X& x, const Y& y) { drx::linspace<A>(x, y); };
}  // namespace

TEST_CASE("which ranges there are") {
  using v5 = array<float, 5>;
  static_assert(has_range<v5, int, double> && has_range<v5, array<float>, int> &&
                has_range<v5, array<float>, array<float>>);
  static_assert(!has_range<array<int, 5>, int, int> && !has_range<array<float, 2, 2>, int, int> &&
                !has_range<v5, array<float, 1>, int> && !has_range<v5, array<double>, int> &&
                !has_range<v5, drx::placed<array<float>, clients>, int>);
}

TEST_CASE("numbers at equal distances, in programs and outside, exact at both ends") {
  constexpr auto f = [](auto x, auto y) {
    return std::tuple{drx::linspace<array<double, 5>>(-1, 3), drx::linspace<array<double, 4>>(x, y),
                      drx::linspace<array<double, 1>>(x, y), drx::linspace<array<double, 0>>(x, 1)};
  };
  using P = program<f, double, double>;
  const auto [whole, between, one, none] = interpreter::call<P>(0.1, 0.7);
  const auto outside = drx::linspace<array<double, 5>>(-1, 3);
  for (int i = 0; i < 5; ++i) {
    CHECK(whole[i] == i - 1);
    CHECK(outside[i] == i - 1);
  }
  CHECK(between[0] == 0.1);
  CHECK(between[1] == doctest::Approx(0.3));
  CHECK(between[3] == 0.7);
  CHECK(one[0] == 0.1);
  harness::check_program<P>();
}
