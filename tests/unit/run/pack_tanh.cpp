// tanh of packs, where the target has it: every float of a stride against the C library in double.
#include <drx/run/pack_tanh.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__AVX512F__) && !defined(__clang__)
namespace {
drx::kernel::pack<float> of(const float* x) { return drx::kernel::tanh(drx::kernel::load(x)); }
float of(float x) {
  float all[16] = {x};
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
    const drx::kernel::pack<float> y = of(x), z = of(minus);
    for (int i = 0; i < 16; ++i) {
      const double exact = std::tanh(static_cast<double>(x[i]));
      const double ulp = exact < 0x1p-126 ? 0x1p-149 : std::ldexp(1.0, std::ilogb(exact) - 23);
      worst = std::max(worst, std::fabs(static_cast<double>(y[i]) - exact) / ulp);
      odd = odd && z[i] == -y[i];
      bounded = bounded && y[i] <= 1;
    }
  }
  CAPTURE(worst);
  CHECK(worst < 1.2);
  CHECK(odd);
  CHECK(bounded);
}
TEST_CASE("tanh of packs: special values") {
  constexpr float inf = std::numeric_limits<float>::infinity();
  CHECK(of(inf) == 1);
  CHECK(of(-inf) == -1);
  CHECK(of(1e30f) == 1);
  CHECK(std::isnan(of(std::numeric_limits<float>::quiet_NaN())));
  CHECK((of(-0.0f) == 0 && std::signbit(of(-0.0f))));
  CHECK(of(1e-42f) == 1e-42f);
}
#endif
