#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <limits>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using vec2 = array<double, 2>;
template <class X, class I>
concept selects = requires(const X& x, const I& i) { drx::select(x, i); };
template <class T>
using at_clients = placed<T, clients>;
}  // namespace

TEST_CASE("select") {
  static_assert(selects<at_clients<vec2>, int> && selects<at_clients<vec2>, array<int>> &&
                selects<at_clients<array<bool>>, array<std::int64_t>>);
  static_assert(!selects<vec2, int> && !selects<at_clients<vec2>, float> && !selects<at_clients<vec2>, array<double>> &&
                !selects<at_clients<vec2>, array<int, 1>> && !selects<at_clients<vec2>, at_clients<array<int>>> &&
                !selects<at_clients<vec2>, bool>);
  constexpr auto f = [](auto x, auto i) { return std::pair{drx::select(x, i), drx::select(x, 1)}; };
  using member = std::tuple<vec2, bool, int>;
  using P = program<f, at_clients<member>, int>;
  static_assert(std::is_same_v<P::result::first_type, std::tuple<vec2, array<bool>, array<int>>>);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::tuple<vec2, bool, int>> x{{{nan, nan}, false, 5}, {{1., 2.}, true, 7}, {{3., 4.}, true, 9}};
  for (int i = 0; i < 4; ++i) {
    const auto [chosen, second] = interpreter::call<P>(x, i);
    CHECK(std::get<0>(second)[1] == 2);
    CHECK(std::get<2>(second) == 7);
    CHECK(std::get<1>(chosen) == (i == 1 || i == 2));
    CHECK(std::get<2>(chosen) == (i < 3 ? std::get<2>(x[static_cast<std::size_t>(i)]) : 0));
    if (i == 2) CHECK(std::get<0>(chosen)[0] == 3);
  }
}

TEST_CASE("derivatives of selection") {
  constexpr auto f = [](auto x, auto i) { return drx::square(drx::select(x, i)); };
  harness::check_program<program<f, at_clients<vec2>, int>>();
}
