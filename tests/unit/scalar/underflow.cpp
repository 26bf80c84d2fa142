// processors: aarch64
// What is too small for any number is 0 without arithmetic that underflows, which takes some processors a hundred
// cycles: masks, kernels of points that are far apart, and saturated units are full of it.
#include <drx/scalar/erf.hpp>
#include <drx/scalar/hyperbolic.hpp>
#include <drx/scalar/pow.hpp>

#include <doctest/doctest.h>

#include <cfenv>
#include <limits>
#include <vector>

namespace {

/// Whether a loop of f over numbers of these sizes raised `underflow`.
template <class T, class F>
bool underflows(F f, double low, double high) {
  std::vector<T> x, y(256);
  for (int i = 0; i < 255; ++i) x.push_back(static_cast<T>(low + (high - low) * i / 255));
  x.push_back(static_cast<T>(high));
  const T* volatile in = x.data();
  T* volatile out = y.data();
  const T* from = in;
  T* to = out;
  std::feclearexcept(FE_ALL_EXCEPT);
  for (int i = 0; i < 256; ++i) to[i] = f(from[i]);
  return std::fetestexcept(FE_UNDERFLOW) != 0;
}
}  // namespace

TEST_CASE_TEMPLATE("functions that vanish do not underflow", T, float, double) {
  namespace math = drx::math;
  const double infinity = std::numeric_limits<double>::infinity(), last = sizeof(T) == 4 ? 104 : 746;
  const auto exp = [](T x) { return math::exp(x); };
  CHECK(!underflows<T>(exp, -1e30, -last - 0.1));
  CHECK(!underflows<T>(exp, -infinity, -infinity));
  CHECK(underflows<T>(exp, -last + 1, -last + 2));  // subnormal: the test sees it
  CHECK(!underflows<T>([](T x) { return math::exp2(x); }, -1e9, -1.5 * last));
  CHECK(!underflows<T>([](T x) { return math::exp2(x); }, sizeof(T) == 4 ? -152 : -1077,
                       sizeof(T) == 4 ? -150.1 : -1075.1));
  CHECK(!underflows<T>([](T x) { return math::sigmoid(x); }, -1e9, -last - 0.1));
  CHECK(!underflows<T>([](T x) { return math::sigmoid(x); }, last + 0.1, 1e9));
  CHECK(!underflows<T>([](T x) { return math::tanh(x); }, -1e9, -1));
  CHECK(!underflows<T>([](T x) { return math::erf(x); }, 1, 1e9));
  CHECK(!underflows<T>([](T x) { return math::erf(x); }, -9, -1));
  CHECK(!underflows<T>([](T x) { return math::erfc(x); }, 28, 1e9));
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  constexpr bool is_libm = false;
#else
  constexpr bool is_libm = sizeof(T) == 8;
#endif
  if (!is_libm) {
    CHECK(!underflows<T>([](T x) { return math::pow(T(0.5), x); }, 1.5 * last, 1200));
    CHECK(!underflows<T>([](T x) { return math::pow(T(0.5), x); }, 1200, 1e9));
  }
  CHECK(!underflows<T>([](T x) { return math::pow(x, T(1.5)); }, 0, 0));
}
