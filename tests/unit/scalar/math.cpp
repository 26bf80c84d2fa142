#include <drx/scalar/math.hpp>

#include "harness/functions.hpp"

namespace {
using harness::limits;
DRX_FUNCTION(exp, std::exp(x), 2)
DRX_FUNCTION(exp2, std::exp2(x), 1.1)
DRX_FUNCTION(expm1, std::expm1(x), 2)
DRX_FUNCTION(log, std::log(x), 2)
DRX_FUNCTION(log1p, std::log1p(x), 2)
DRX_FUNCTION(tanh, std::tanh(x), 2)
DRX_FUNCTION(sigmoid, x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)), 2)
DRX_FUNCTION(sin, std::fabs(x) <= drx::math::sin_limit ? std::sin(x) : limits<long double>::quiet_NaN(), 2)
DRX_FUNCTION(cos, std::fabs(x) <= drx::math::sin_limit ? std::cos(x) : limits<long double>::quiet_NaN(), 2)
DRX_FUNCTION(tan, std::fabs(x) <= drx::math::sin_limit ? std::tan(x) : limits<long double>::quiet_NaN(), 2.4)
}  // namespace

TEST_CASE_TEMPLATE("elementary functions: accurate everywhere, the same in loops", T, float, double) {
  harness::check_functions<T>(exp_function{}, exp2_function{}, expm1_function{}, log_function{}, log1p_function{},
                              tanh_function{}, sigmoid_function{}, sin_function{}, cos_function{}, tan_function{});
}

TEST_CASE_TEMPLATE("sin, cos and tan of any number", T, float, double) {
  for (const T x : harness::samples<T>(2000)) {
    CHECK(harness::ulps(drx::math::sin_of_any(x), std::sin(static_cast<long double>(x))) <= 2);
    CHECK(harness::ulps(drx::math::cos_of_any(x), std::cos(static_cast<long double>(x))) <= 2);
    CHECK(harness::ulps(drx::math::tan_of_any(x), std::tan(static_cast<long double>(x))) <= 2.4);
  }
}

TEST_CASE_TEMPLATE("whole numbers near a number, with its sign", T, float, double) {
  const auto same = [](T x, T y) { return (x == y && std::signbit(x) == std::signbit(y)) || (x != x && y != y); };
  const T whole = std::ldexp(T(1), std::numeric_limits<T>::digits - 1), infinity = std::numeric_limits<T>::infinity();
  std::vector<T> numbers{0,
                         T(0.5),
                         T(1),
                         T(1.5),
                         whole,
                         infinity,
                         std::numeric_limits<T>::quiet_NaN(),
                         std::numeric_limits<T>::denorm_min(),
                         std::numeric_limits<T>::max()};
  for (const T near : {T(0.5), T(1), T(1.5), T(2), whole / 4, whole / 2, whole - 1, whole, 2 * whole})
    for (const T x : {std::nextafter(near, T(0)), near, std::nextafter(near, infinity)}) numbers.push_back(x);
  for (const T x : harness::samples<T>(2000)) numbers.push_back(x);
  for (const T positive : numbers)
    for (const T x : {positive, -positive}) {
      CAPTURE(x);
      CHECK(same(drx::math::floor(x), std::floor(x)));
      CHECK(same(drx::math::ceil(x), std::ceil(x)));
      CHECK(same(drx::math::trunc(x), std::trunc(x)));
      CHECK(same(drx::math::round(x), std::nearbyint(x)));
    }
}

TEST_CASE_TEMPLATE("rounding, roots and the functions left to libm", T, float, double) {
  for (const T x : {T(-2.5), T(-0.5), T(0.5), T(2.25), T(1e6)}) {
    CHECK(drx::math::abs(x) == std::fabs(x));
    CHECK(drx::math::floor(x) == std::floor(x));
    CHECK(drx::math::ceil(x) == std::ceil(x));
    CHECK(drx::math::trunc(x) == std::trunc(x));
    CHECK(drx::math::round(x) == std::nearbyint(x));
    CHECK(drx::math::fma(x, T(2), T(1)) == 2 * x + 1);
    CHECK(drx::math::sqrt(x * x) == std::fabs(x));
    CHECK(drx::math::rsqrt(x * x) == 1 / std::fabs(x));
  }
}
