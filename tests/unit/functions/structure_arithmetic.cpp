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
using layers = std::tuple<array<double, 2, 2>, std::array<vec2, 2>, number>;  // as traced
using mixed = std::tuple<vec2, array<int, 2>>;

template <class A, class B>
concept adds = requires(const A& a, const B& b) { a + b; };
template <class A>
concept negates = requires(const A& a) { -a; };
constexpr auto keeps = [](auto x, auto... y) { return (x + ... + y); };
constexpr auto sums = [](auto x) { return drx::sum(x); };
template <class F, class... X>
concept maps = requires(const F& f, const X&... x) { drx::tree_map(f, x...); };
}  // namespace

TEST_CASE("which structures go together") {
  static_assert(adds<layers, layers> && adds<layers, number> && adds<number, layers> && adds<layers, float> &&
                adds<int, layers>);
  static_assert(!adds<layers, mixed> && !adds<layers, vec2> && !adds<layers, array<float>> &&
                !adds<layers, placed<number, clients>>);
  static_assert(adds<mixed, int> && !adds<mixed, float> && !adds<mixed, number>);
  static_assert(!adds<std::tuple<array<bool, 2>>, int> && !negates<std::tuple<array<bool, 2>>>);
  static_assert(negates<layers> && negates<mixed> && !adds<std::tuple<placed<vec2, clients>>, int>);
  static_assert(maps<decltype(keeps), layers> && maps<decltype(keeps), layers, layers> &&
                !maps<decltype(keeps), layers, mixed>);
  static_assert(maps<decltype(sums), layers> && !maps<decltype(keeps), placed<vec2, clients>>);
}

TEST_CASE("a step of descent in every leaf") {
  constexpr auto f = [](auto x, auto rate, auto slope) { return x - rate * slope / 2; };
  using leaves = std::tuple<array<float, 2>, float>;
  using P = program<f, leaves, float, leaves>;
  static_assert(std::is_same_v<P::result, std::tuple<array<float, 2>, array<float>>>);
  CHECK(drx::show<P>() == R"((%0: f32[2], %1: f32, %2: f32, %3: f32[2], %4: f32) {
  %5: f32[2] = broadcast_to %2
  %6: f32[2] = mul %5, %3
  %7: f32 = mul %2, %4
  %8: f32 = constant[2]
  %9: f32[2] = constant[2]
  %10: f32[2] = div %6, %9
  %11: f32 = div %7, %8
  %12: f32[2] = sub %0, %10
  %13: f32 = sub %1, %11
  return %12, %13
}
)");
  const auto [v, s] = interpreter::call<P>(std::tuple{array<float, 2>{1.f, 2.f}, 3.f}, 2.f,
                                           std::tuple{array<float, 2>{10.f, 20.f}, 30.f});
  CHECK(v[0] == -9);
  CHECK(v[1] == -18);
  CHECK(s == -27);
}

TEST_CASE("derivatives leaf by leaf") {
  constexpr auto f = [](auto x, auto y, auto r) {
    const auto z = x * y - r / (x + 3) + (2 - x) / 4 + -y;
    return drx::tree_map([&](auto a, auto b) { return drx::exp(a) * b + r; }, z, x);
  };
  harness::check_program<program<f, layers, layers, double>>();
}

TEST_CASE("placed structures: arithmetic inside of a map") {
  constexpr auto f = [](auto x, auto y) { return drx::reduce_sum(x * y - 2 * x + -y); };
  using pair = placed<std::pair<vec2, number>, clients>;
  harness::check_program<program<f, pair, pair>>();
}
