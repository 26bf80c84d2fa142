// processors: aarch64
// tanh of packs, where the target has it: every float of a stride against the C library in double, and doubles of all
// sizes against it in long double.
#include <drx/drx.hpp>
#include <drx/run/packs/tanh.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "harness/run.hpp"

#if defined(__AVX512F__) && !defined(__clang__)
namespace {
drx::run::pack<float> of(const float* x) { return drx::run::pack_tanh(drx::run::load(x)); }
float of(float x) {
  float all[16] = {x};
  return of(all)[0];
}
drx::run::pack<double> of(const double* x) { return drx::run::pack_tanh(drx::run::load(x)); }
double of(double x) {
  double all[8] = {x};
  return of(all)[0];
}
}  // namespace

TEST_CASE("tanh of packs: at most 1.2 ulp, odd, never above 1") {
  double worst = 0;
  bool odd = true, bounded = true;
  for (std::uint32_t bits = 0; bits < 0x41300000; bits += 16 * 37) {  // 0 to 11
    float x[16], minus[16];
    for (std::uint32_t i = 0; i < 16; ++i) {
      const std::uint32_t number = bits + 37 * i;
      std::memcpy(x + i, &number, 4);
      minus[i] = -x[i];
    }
    const drx::run::pack<float> y = of(x), z = of(minus);
    for (int i = 0; i < 16; ++i) {
      const double exact = std::tanh(static_cast<double>(x[i]));
      const double ulp = exact < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(exact) - 23);
      worst = harness::larger(worst, harness::difference(static_cast<double>(y[i]), exact, ulp));
      odd = odd && z[i] == -y[i];
      bounded = bounded && y[i] <= 1;
    }
  }
  CAPTURE(worst);
  CHECK(worst < 1.2);
  CHECK(odd);
  CHECK(bounded);
}
TEST_CASE("tanh of packs of doubles: at most 2 ulp, odd, never above 1") {
  long double worst = 0;
  bool odd = true, bounded = true;
  const auto check = [&](const double* x) {
    double minus[8];
    for (int i = 0; i < 8; ++i) minus[i] = -x[i];
    const drx::run::pack<double> y = of(x), z = of(minus);
    for (int i = 0; i < 8; ++i) {
      const long double exact = std::tanh(static_cast<long double>(x[i]));
      worst =
          harness::larger(worst, std::fabs(y[i] - exact) / std::ldexp(1.0L, std::max(std::ilogb(exact) - 52, -1074)));
      odd = odd && z[i] == -y[i];
      bounded = bounded && y[i] <= 1;
    }
  };
  double x[8];
  for (int k = 0; k < 40000; ++k) {  // evenly, 0 to 21
    for (int i = 0; i < 8; ++i) x[i] = 21.0 / 320000 * (8 * k + i) + 1e-9 * k;
    check(x);
  }
  for (int exponent = -1074; exponent < 5; ++exponent)  // of each size
    for (int k = 0; k < 64; ++k) {
      for (int i = 0; i < 8; ++i) x[i] = std::ldexp(1 + (8 * k + i) / 512.0 + 1e-12 * k, exponent);
      check(x);
    }
  const double step = 0.021660849392498290919;  // ln 2 / 32, where the table's next entry begins
  for (int n = 0; n < 1000; ++n) {
    for (int i = 0; i < 8; ++i) x[i] = std::max(0.0, n * step * (1 + (i - 4) * 0x1p-52));
    check(x);
    for (int i = 0; i < 8; ++i) x[i] = step * (n + (i + 0.5) / 8);
    check(x);
  }
  CAPTURE(worst);
  CHECK(worst < 2);
  CHECK(odd);
  CHECK(bounded);
}
TEST_CASE_TEMPLATE("tanh of packs: special values", T, float, double) {
  using limits = std::numeric_limits<T>;
  CHECK(of(limits::infinity()) == 1);
  CHECK(of(-limits::infinity()) == -1);
  CHECK(of(T(1e30)) == 1);
  CHECK(of(limits::max()) == 1);
  CHECK(std::isnan(of(limits::quiet_NaN())));
  CHECK((of(T(-0.0)) == 0 && std::signbit(of(T(-0.0)))));
  CHECK(of(1000 * limits::denorm_min()) == 1000 * limits::denorm_min());
}
#endif

namespace {
constexpr auto layer = [](auto x, auto b) {
  const auto h = drx::tanh(x + b);
  return std::pair{h, 1 - h * h};
};
constexpr auto of_position = [](auto x) { return drx::tanh(x + drx::iota<decltype(x), 1>()); };
constexpr auto product_at_position = [](auto x, auto y) { return drx::matmul(x, y) + drx::iota<decltype(y), 1>(); };
}  // namespace
TEST_CASE_TEMPLATE("a loop of its own: rows of whole packs, and others", T, float, double) {
  harness::check_run<drx::program<layer, drx::array<T, 5, 32>, drx::array<T, 32>>>();
  harness::check_run<drx::program<layer, drx::array<T, 5, 80>, drx::array<T, 5, 1>>>();
  harness::check_run<drx::program<layer, drx::array<T, 3, 21>, drx::array<T>>>();
  harness::check_run<drx::program<layer, drx::array<T, 32, 1>, drx::array<T, 32, 1>>>();  // columns that are one row in
                                                                                          // memory
  harness::check_run<drx::program<layer, drx::array<T, 32, 1>, drx::array<T, 1>>>();
}
TEST_CASE_TEMPLATE("positions are no packs", T, float, double) {
  harness::check_run<drx::program<of_position, drx::array<T, 5, 32>>>();
  harness::check_run<drx::program<product_at_position, drx::array<T, 32, 32>, drx::array<T, 32, 32>>>();
}
