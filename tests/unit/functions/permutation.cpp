#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

#include <algorithm>

using drx::program;

TEST_CASE("every number once; the order of JAX") {
  static_assert(drx::detail::permutation_rounds(1) == 0 && drx::detail::permutation_rounds(2) == 1);
  static_assert(drx::detail::permutation_rounds(1625) == 1 && drx::detail::permutation_rounds(1626) == 2);
  constexpr auto f = [](auto key) {
    return std::tuple{drx::permutation<10>(key), drx::permutation<2000>(key), drx::permutation<1>(key)};
  };
  auto [few, many, one] = drx::interpreter::call<program<f, drx::prng_key>>(drx::random_key(5));
  const int expected[] = {9, 0, 2, 4, 8, 1, 3, 5, 7, 6}, first[] = {1745, 1879, 716, 1217, 48};
  CHECK(std::equal(few.begin(), few.end(), expected));
  CHECK(std::equal(first, first + 5, many.begin()));
  std::sort(many.begin(), many.end());
  for (std::int64_t i = 0; i < 2000; ++i) CHECK(many[i] == i);
  CHECK(one[0] == 0);
}

TEST_CASE("of a key that is known while compiling") {
  constexpr auto f = [](auto) { return drx::permutation<10>(drx::random_key(5)); };
  const auto few = drx::interpreter::call<program<f, double>>(0.0);
  const int expected[] = {9, 0, 2, 4, 8, 1, 3, 5, 7, 6};
  CHECK(std::equal(few.begin(), few.end(), expected));
}
