#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace {
template <class T>
void check_inverse(double ulps) {  // against Newton's steps in long double
  std::mt19937_64 r(1);
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const double u = std::ldexp(static_cast<double>(r() >> 11), -53);
    const T x = static_cast<T>(i % 3 == 0 ? 2 * u - 1 : i % 3 == 1 ? 1 - std::exp2(-52 * u) : std::exp2(-60 * u));
    if (std::abs(x) >= 1) continue;
    const T y = drx::math::erfinv(x), expected = drx::prim::rows::erfinv::reference(x);
    const T ulp = std::nextafter(std::abs(expected), std::numeric_limits<T>::infinity()) - std::abs(expected);
    worst = harness::larger(
        worst, harness::difference(static_cast<double>(y), static_cast<double>(expected), static_cast<double>(ulp)));
  }
  CHECK(worst <= ulps);
}
}  // namespace

TEST_CASE("erfinv") {
  check_inverse<float>(5);
  check_inverse<double>(5);
  for (const double x : {-1., 1., -0., 0.}) {
    CHECK(drx::math::erfinv(x) == drx::prim::rows::erfinv::reference(x));
    CHECK(std::signbit(drx::math::erfinv(x)) == std::signbit(x));
  }
  CHECK(std::isinf(drx::math::erfinv(-1.f)));
  CHECK(std::isnan(drx::math::erfinv(1.5)));
  CHECK(std::erf(drx::math::erfinv(0.3)) == doctest::Approx(0.3).epsilon(1e-15));
}
