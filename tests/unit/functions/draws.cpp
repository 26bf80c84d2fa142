#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using key = drx::prng_key;
template <class T, class K>
concept draws = requires(const K& k) {
  drx::exponential<T, 3>(k);
  drx::gumbel<T, 3>(k);
};
template <class K, class A, std::int64_t... E>
concept chooses = requires(const K& k, const A& a) { drx::categorical<E...>(k, a); };
using m23 = array<float, 2, 3>;
}  // namespace

TEST_CASE("which draws there are") {
  static_assert(draws<float, key> && draws<double, key> && !draws<int, key> && !draws<float, array<float, 2>> &&
                !draws<float, drx::placed<key, clients>>);
  static_assert(chooses<key, m23> && chooses<key, m23, 2> && chooses<key, m23, 7, 2> &&
                chooses<key, array<double, 3>, 9>);
  static_assert(!chooses<key, m23, 3> && !chooses<key, m23, 2, 7> && !chooses<key, array<float>> &&
                !chooses<key, array<int, 3>> && !chooses<array<float>, m23> &&
                !chooses<key, drx::placed<m23, clients>> && !chooses<key, array<float, 0>>);
}

TEST_CASE("moments and frequencies") {
  constexpr int n = 20000;
  constexpr auto f = [](auto k, auto logits) {
    const auto keys = drx::split<3>(k);
    const auto e = drx::exponential<double, n>(drx::index<0>(keys));
    const auto g = drx::gumbel<float, n>(drx::index<1>(keys));
    const auto c = drx::categorical<n>(drx::index<2>(keys), logits);
    return std::tuple{drx::mean(e), drx::var(e), drx::min(e),
                      drx::mean(g), drx::var(g), drx::mean<0>(drx::one_hot<double, 3>(c))};
  };
  using P = program<f, key, array<float, 3>>;
  const auto [mean, var, least, gumbel, spread, classes] =
      interpreter::call<P>(drx::random_key(3), array<float, 3>{std::log(1.f), std::log(2.f), std::log(5.f)});
  CHECK(mean == doctest::Approx(1).epsilon(0.03));
  CHECK(var == doctest::Approx(1).epsilon(0.06));
  CHECK(least >= 0);
  CHECK(gumbel == doctest::Approx(0.57722).epsilon(0.04));
  CHECK(spread == doctest::Approx(1.64493).epsilon(0.05));
  const double expected[] = {.125, .25, .625};
  for (int i = 0; i < 3; ++i) CHECK(classes[i] == doctest::Approx(expected[i]).epsilon(0.05));
}

TEST_CASE("a class number for each row, and for more draws than rows; a class of probability 0 is not drawn") {
  constexpr auto f = [](auto k, auto logits) {
    return std::pair{drx::categorical(k, logits), drx::categorical<9, 2>(k, logits)};
  };
  using P = program<f, key, m23>;
  static_assert(std::is_same_v<P::result, std::pair<array<std::int32_t, 2>, array<std::int32_t, 9, 2>>>);
  const auto [row, rows] =
      interpreter::call<P>(drx::random_key(3), m23{0, -HUGE_VALF, -HUGE_VALF, -HUGE_VALF, 1, -HUGE_VALF});
  for (int i = 0; i < 2; ++i) CHECK(row[i] == i);
  for (int i = 0; i < 18; ++i) CHECK(rows[i] == i % 2);
}
