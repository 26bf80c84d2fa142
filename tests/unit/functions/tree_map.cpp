#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::batched;
using drx::program;

namespace {
struct layer {
  array<double, 2, 3> w;
  array<double, 2> b;
};
}  // namespace
BOOST_HANA_ADAPT_STRUCT(layer, w, b);

namespace {
using number = array<double>;
constexpr auto total = [](auto x) { return drx::sum(x); };
constexpr auto halved = [](auto x) { return 0.5 * x; };
constexpr auto both = [](auto x) { return std::pair{drx::sum(x), x > 0}; };
template <class F, class... X>
using result = decltype(drx::tree_map(std::declval<F>(), std::declval<X>()...));
template <class F, class X, class R>
inline constexpr bool gives = std::is_same_v<result<decltype(F::value), X>, R>;
template <auto F>
struct is {
  static constexpr auto value = F;
};
}  // namespace

TEST_CASE("what tree_map gives") {
  static_assert(gives<is<halved>, layer, drx::value<layer>> && gives<is<halved>, batched<layer, 4>, batched<layer, 4>>);
  static_assert(gives<is<total>, layer, std::tuple<number, number>> && gives<is<total>, array<double, 3>, number>);
  static_assert(gives<is<total>, std::pair<layer, array<double, 3>>, std::pair<std::tuple<number, number>, number>>);
  static_assert(gives<is<total>, std::tuple<number, array<double, 3>>, std::tuple<number, number>>);
  static_assert(
      gives<is<total>, std::tuple<std::array<layer, 2>>, std::tuple<std::array<std::tuple<number, number>, 2>>>);
  static_assert(gives<is<both>, std::tuple<number>, std::tuple<std::pair<number, array<bool>>>>);
  constexpr auto first = [](auto x) { return drx::index<0>(x); };
  static_assert(gives<is<first>, batched<layer, 4>, drx::value<layer>>);
}

TEST_CASE("a function that changes shapes") {
  constexpr auto f = [](auto m, auto n) {
    auto [w, b] = drx::tree_map([](auto x, auto y) { return drx::sum(x * y); }, m, n);
    return w - 2 * b;
  };
  const double y =
      interpreter::call<program<f, layer, layer>>(layer{{1, 2, 3, 4, 5, 6}, {1, 2}}, layer{{1, 1, 1, 1, 1, 1}, {3, 4}});
  CHECK(y == 21 - 2 * 11);
  harness::check_program<program<f, layer, layer>>();
}
