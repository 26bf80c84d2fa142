#include <drx/scalar/inverse_trigonometric.hpp>

#include "harness/functions.hpp"

namespace {
DRX_FUNCTION(asin, std::asin(x), 0.9)
DRX_FUNCTION(acos, std::acos(x), 0.9)
DRX_FUNCTION(atan, std::atan(x), 0.9)
}  // namespace

TEST_CASE_TEMPLATE("inverse trigonometric functions: accurate everywhere, the same in loops", T, float, double) {
  harness::check_functions<T>(asin_function{}, acos_function{}, atan_function{});
}

TEST_CASE_TEMPLATE("atan2 in all quadrants and at its special points", T, float, double) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  const T points[] = {T(0),
                      std::numeric_limits<T>::denorm_min(),
                      std::numeric_limits<T>::min(),
                      T(0.3),
                      T(1),
                      T(7),
                      std::numeric_limits<T>::max(),
                      inf};
  for (const T p : points)
    for (const T q : points)
      for (const T y : {p, -p})
        for (const T x : {q, -q}) {
          CAPTURE(y);
          CAPTURE(x);
          CHECK(harness::ulps(drx::math::atan2(y, x),
                              std::atan2(static_cast<long double>(y), static_cast<long double>(x))) <= 1.7);
        }
  const auto some = harness::samples<T>(4000);
  double worst = 0;
  for (std::size_t i = 1; i < some.size(); ++i)
    worst = harness::larger(
        worst, harness::ulps(drx::math::atan2(some[i - 1], some[i]),
                             std::atan2(static_cast<long double>(some[i - 1]), static_cast<long double>(some[i]))));
  CHECK(worst <= 1.7);
  CHECK(std::isnan(drx::math::atan2(std::numeric_limits<T>::quiet_NaN(), T(1))));
  CHECK(std::isnan(drx::math::atan2(T(1), std::numeric_limits<T>::quiet_NaN())));
  CHECK(std::isnan(drx::math::atan2(inf, std::numeric_limits<T>::quiet_NaN())));
}
