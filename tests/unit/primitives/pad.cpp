#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::padding;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
template <class A>
concept has_pad = requires(const A& a) { drx::pad<1>(a); };
template <class A>
concept has_pad_2 = requires(const A& a) { drx::pad<padding<1>, padding<0, 2>>(a); };
}  // namespace

TEST_CASE("pad") {
  static_assert(has_pad<array<int, 0>> && has_pad<array<bool, 2, 2>> && !has_pad<array<int>> &&
                !has_pad<drx::placed<array<int, 2>, clients>>);
  static_assert(has_pad_2<array<int, 1, 1>> && !has_pad_2<array<int, 1>>);
  constexpr auto f = [](auto x) { return std::tuple{drx::pad<1, 2, 1>(x), drx::pad<padding<0>, padding<1>>(x)}; };
  using P = program<f, array<int, 2, 1>>;
  static_assert(std::is_same_v<P::result, std::tuple<array<int, 6, 1>, array<int, 2, 3>>>);
  const auto [spread, framed] = interpreter::call<P>(array<int, 2, 1>{7, 8});
  const int expected[] = {0, 7, 0, 8, 0, 0};
  for (int i = 0; i < 6; ++i) CHECK(spread[i] == expected[i]);
  CHECK(framed(1, 1) == 8);
  CHECK(framed(1, 0) + framed(0, 2) == 0);
}

TEST_CASE("derivatives of padding") {
  constexpr auto f = [](auto x) { return drx::square(drx::pad<padding<2, 1, 2>, padding<0, 1>>(x)); };
  harness::check_program<program<f, array<double, 3, 2>>>();
}
