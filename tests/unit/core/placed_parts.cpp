#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct pupils : drx::placement<pupils> {};
using vec2 = array<double, 2>;
using number = array<double>;
template <class X>
concept has_parts = requires { std::tuple_size<X>::value; };
}  // namespace

TEST_CASE("which placed values have parts") {
  using pair = placed<std::pair<vec2, placed<number, pupils>>, clients>;
  static_assert(has_parts<pair> && std::tuple_size_v<pair> == 2 && has_parts<placed<std::array<vec2, 3>, clients>>);
  static_assert(!has_parts<placed<vec2, clients>> && !has_parts<placed<placed<vec2, pupils>, clients>>);
  static_assert(std::is_same_v<std::tuple_element_t<1, pair>, placed<placed<number, pupils>, clients>>);
  using nested = placed<placed<std::pair<vec2, number>, pupils>, clients>;
  static_assert(std::is_same_v<std::tuple_element_t<1, nested>, placed<placed<number, pupils>, clients>>);
}

TEST_CASE("a placed tuple falls into placed values") {
  constexpr auto f = [](auto x) {
    auto [inner, last] = x;
    auto [first, second] = inner;
    auto [twice, halves] =
        drx::map([](auto a, auto b) { return std::tuple{2 * a, std::array{a / 2, b}}; }, first, second);
    return std::tuple{drx::reduce_sum(twice), drx::reduce_sum(drx::get<1>(halves)), drx::reduce_max(last)};
  };
  using member = std::pair<std::pair<vec2, vec2>, number>;
  using P = program<f, placed<member, clients>>;
  static_assert(std::is_same_v<P::result, std::tuple<vec2, vec2, number>>);
  const auto [a, b, c] =
      interpreter::call<P>(std::vector<member>{{{{1., 2.}, {3., 4.}}, 5.}, {{{10., 20.}, {30., 40.}}, 50.}});
  CHECK((a[0] == 22 && a[1] == 44 && b[0] == 33 && b[1] == 44 && c == 50));
  harness::check_program<P>();
}
