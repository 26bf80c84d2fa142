// Compiled with -ffast-math: remainders of finite numbers are exact still.
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>

namespace {
constexpr int n = 3000;
constexpr auto remainders = [](auto x, auto y) { return x % y; };
}  // namespace

TEST_CASE_TEMPLATE("remainders in a compiled program", T, float, double) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using numbers = drx::array<T, n>;
  drx::serial_executor executor;
  drx::single_rank alone;
  drx::compiled<drx::program<remainders, numbers, numbers>> run(executor, alone);
  const auto x = std::make_unique<numbers>(), y = std::make_unique<numbers>();
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> part(1, 2), digits(-3, sizeof(T) == 4 ? 19.5 : 48.5);
  for (const double beyond : {0.0, 20.0}) {  // with far ones among them, too
    for (int i = 0; i < n; ++i) {
      (*y)[i] = static_cast<T>(i % 2 != 0 ? part(random) : -part(random));
      (*x)[i] = static_cast<T>(std::exp2(digits(random) + (i % 100 == 0 ? beyond : 0)) * part(random));
      if (i % 3 == 0) (*x)[i] = static_cast<T>(std::floor((*x)[i])) * (*y)[i];
    }
    const auto r = std::make_unique<numbers>(run(*x, *y));
    int wrong = 0;
    for (int i = 0; i < n; ++i) {
      const volatile T a = (*x)[i], b = (*y)[i];  // (computed by libm)
      wrong += std::bit_cast<bits>((*r)[i]) == std::bit_cast<bits>(static_cast<T>(std::fmod(a, b))) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}
