#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace emit = drx::emit;
namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using key = drx::prng_key;
template <class T, class K, class... X>
concept uniform = requires(const K& k, const X&... x) { drx::uniform<T, 3>(k, x...); };
template <class T, class K>
concept normal = requires(const K& k) { drx::normal<T, 3>(k); };
template <class K, class P>
concept bernoulli = requires(const K& k, const P& p) { drx::bernoulli<3>(k, p); };
template <class T>
double mean(const T& x, int power, double around = 0) {
  double sum = 0;
  for (std::int64_t i = 0; i < T::size; ++i) sum += std::pow(static_cast<double>(x[i]) - around, power);
  return sum / static_cast<double>(T::size);
}
}  // namespace

TEST_CASE("which draws there are") {
  static_assert(uniform<float, key> && uniform<double, key, int, double> &&
                uniform<float, key, array<float>, array<float, 3>>);
  static_assert(!uniform<int, key> && !uniform<float, array<float, 2>> && !uniform<float, key, array<double>, int>);
  static_assert(!uniform<float, key, array<float, 4>, int> && !uniform<float, key, array<float, 2, 3>, int> &&
                !uniform<float, key, int>);
  static_assert(!uniform<float, drx::placed<key, clients>>);
  static_assert(normal<double, key> && !normal<int, key> && !normal<float, array<float>>);
  static_assert(bernoulli<key, float> && bernoulli<key, array<double, 3>> && !bernoulli<key, int> &&
                !bernoulli<key, array<float, 4>>);
}

TEST_CASE("moments") {
  constexpr auto f = [](auto k) {
    const auto keys = drx::split<5>(k);
    return std::tuple{drx::uniform<float, 20000>(drx::index<0>(keys), -1, 3),
                      drx::uniform<double, 20000>(drx::index<1>(keys)), drx::normal<float, 20000>(drx::index<2>(keys)),
                      drx::normal<double, 20000>(drx::index<3>(keys)),
                      drx::cast<float>(drx::bernoulli<20000>(drx::index<4>(keys), 0.3))};
  };
  using P = program<f, key>;
  static auto drawn = interpreter::call<P>(drx::random_key(1));  // (too large for the stack)
  const auto& [wide, unit, small, normals, coins] = drawn;
  CHECK(mean(wide, 1) == doctest::Approx(1).epsilon(0.03));
  CHECK(mean(wide, 2, 1) == doctest::Approx(16. / 12).epsilon(0.02));
  CHECK(*std::min_element(wide.begin(), wide.end()) >= -1);
  CHECK(*std::max_element(wide.begin(), wide.end()) < 3);
  CHECK(mean(unit, 1) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(mean(unit, 4) == doctest::Approx(0.2).epsilon(0.03));
  CHECK(std::abs(mean(small, 1)) < 0.03);
  CHECK(mean(small, 2) == doctest::Approx(1).epsilon(0.03));
  CHECK(std::abs(mean(normals, 1)) < 0.03);
  CHECK(mean(normals, 2) == doctest::Approx(1).epsilon(0.03));
  CHECK(std::abs(mean(normals, 3)) < 0.1);
  CHECK(mean(normals, 4) == doctest::Approx(3).epsilon(0.07));
  CHECK(mean(coins, 1) == doctest::Approx(0.3).epsilon(0.04));
  double along = 0;  // neighbours do not go together
  for (std::int64_t i = 1; i < 20000; ++i) along += normals[i - 1] * normals[i];
  CHECK(std::abs(along) / 20000 < 0.03);
}

TEST_CASE("derivatives of bounds and scales; none of bits") {
  constexpr auto f = [](auto k, auto low, auto high, auto scale) {
    return drx::sum(drx::sin(drx::uniform<double, 2, 3>(k, low, high))) +
           drx::sum(drx::square(low + scale * drx::normal<double, 3>(k)));
  };
  using P = program<f, key, array<double, 3>, array<double, 2, 1>, double>;
  harness::check_program<P>();
}
