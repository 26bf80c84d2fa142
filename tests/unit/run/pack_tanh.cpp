// processors: aarch64
// tanh of packs, where the target has it: every float of a stride against the C library in double, and doubles of all
// sizes against it in long double.
#include <drx/drx.hpp>
#include <drx/run/packs/tanh.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "harness/run.hpp"

using drx::run::pack, drx::run::pack_width, drx::run::has_pack_tanh;

#if (defined(__AVX512F__) && !defined(__clang__)) || (defined(__AVX2__) && defined(__FMA__) && !defined(__AVX512F__))
static_assert(has_pack_tanh<float> && has_pack_tanh<double>);
#endif

namespace {
constexpr bool has_tables = drx::run::vector_bytes == 64;  // without them tanh is that of single numbers
template <class T>
pack<T> of_pack(const T* x) {
  return drx::run::tanh_of_pack<T>(drx::run::load(x));
}
template <class T>
T of(T x) {
  T all[pack_width<T>] = {x};
  return of_pack(all)[0];
}
template <class T>
bool same_bits(T x, T y) {
  return std::memcmp(&x, &y, sizeof x) == 0;
}
/// Calls f(numbers of a pack) for floats from 0 to 11, or for doubles of all sizes.
template <class F>
void each_pack_of_floats(F f) {
  constexpr std::uint32_t width = pack_width<float>, stride = 37, end = 0x41300000;
  for (std::uint32_t bits = 0; bits < end; bits += width * stride) {
    float x[width];
    for (std::uint32_t i = 0; i < width; ++i) {
      const std::uint32_t number = bits + stride * i;
      std::memcpy(x + i, &number, sizeof number);
    }
    f(x);
  }
}
template <class F>
void each_pack_of_doubles(F f) {
  constexpr int width = pack_width<double>, in_all = 320000, in_octave = 512;
  double x[width];
  for (int k = 0; k < in_all / width; ++k) {  // evenly, 0 to 21
    for (int i = 0; i < width; ++i) x[i] = 21.0 / in_all * (width * k + i) + 1e-9 * k;
    f(x);
  }
  for (int exponent = -1074; exponent < 5; ++exponent)  // of each size
    for (int k = 0; k < in_octave / width; ++k) {
      for (int i = 0; i < width; ++i) x[i] = std::ldexp(1 + (width * k + i) / double{in_octave} + 1e-12 * k, exponent);
      f(x);
    }
  const double step = 0.021660849392498290919;  // ln 2 / 32, where the table's next entry begins
  for (int n = 0; n < 1000; ++n) {
    for (int i = 0; i < width; ++i) x[i] = std::max(0.0, n * step * (1 + (i - width / 2) * 0x1p-52));
    f(x);
    for (int i = 0; i < width; ++i) x[i] = step * (n + (i + 0.5) / width);
    f(x);
  }
}
template <class T, class F>
void each_pack(F f) {
  if constexpr (sizeof(T) == sizeof(float))
    each_pack_of_floats(f);
  else
    each_pack_of_doubles(f);
}
}  // namespace

TEST_CASE_TEMPLATE("tanh of packs: the error in ulp, odd, never above 1", T, float, double) {
  if constexpr (has_pack_tanh<T>) {
    constexpr bool is_float = sizeof(T) == sizeof(float);
    using exact_type = std::conditional_t<is_float, double, long double>;
    constexpr int digits = std::numeric_limits<T>::digits - 1, least = is_float ? -149 : -1074;
    exact_type worst = 0;
    bool odd = true, bounded = true;
    each_pack<T>([&](const T* x) {
      constexpr int width = pack_width<T>;
      T minus[width];
      for (int i = 0; i < width; ++i) minus[i] = -x[i];
      const pack<T> y = of_pack(x), z = of_pack(minus);
      for (int i = 0; i < width; ++i) {
        const exact_type exact = std::tanh(static_cast<exact_type>(x[i]));
        const exact_type ulp =
            std::ldexp(exact_type(1), exact == 0 ? least : std::max(std::ilogb(exact) - digits, least));
        worst = harness::larger(worst, std::abs(static_cast<exact_type>(y[i]) - exact) / ulp);
        odd = odd && z[i] == -y[i];
        bounded = bounded && y[i] <= 1;
      }
    });
    CAPTURE(worst);
    CHECK(worst < (is_float && has_tables ? exact_type(1.2) : exact_type(2)));
    CHECK(odd);
    CHECK(bounded);
  }
}
TEST_CASE_TEMPLATE("tanh of packs: special values", T, float, double) {
  if constexpr (has_pack_tanh<T>) {
    using limits = std::numeric_limits<T>;
    CHECK(of(limits::infinity()) == 1);
    CHECK(of(-limits::infinity()) == -1);
    CHECK(of(T(1e30)) == 1);
    CHECK(of(limits::max()) == 1);
    CHECK(std::isnan(of(limits::quiet_NaN())));
    CHECK(std::isnan(of(-limits::quiet_NaN())));
    CHECK((of(T(-0.0)) == 0 && std::signbit(of(T(-0.0)))));
    CHECK(of(1000 * limits::denorm_min()) == 1000 * limits::denorm_min());
  }
}
TEST_CASE_TEMPLATE("tanh of several packs has the bits of each pack alone, with AVX2 those of single numbers", T, float,
                   double) {
  if constexpr (has_pack_tanh<T>) {
    constexpr int width = pack_width<T>, count = drx::run::packs_of_tanh + 1;
    bool as_alone = true, as_single = true;
    each_pack<T>([&](const T* x) {
      pack<T> y[count];
      for (int k = 0; k < count; ++k) y[k] = drx::run::load(x) * T(k % 2 == 0 ? 1 : -0.75);
      T before[count][width];
      std::memcpy(before, y, sizeof before);
      drx::run::tanh_of_packs<T>(y);
      for (int k = 0; k < count; ++k) {
        const pack<T> alone = of_pack(before[k]);
        for (int i = 0; i < width; ++i) {
          as_alone = as_alone && same_bits<T>(y[k][i], alone[i]);
          as_single = as_single && same_bits<T>(y[k][i], drx::math::tanh(before[k][i]));
        }
      }
    });
    CHECK(as_alone);
    if constexpr (!has_tables) CHECK(as_single);
  }
}

namespace {
constexpr auto layer = [](auto x, auto b) {
  const auto h = drx::tanh(x + b);
  return std::pair{h, 1 - h * h};
};
constexpr auto of_position = [](auto x) { return drx::tanh(x + drx::iota<decltype(x), 1>()); };
constexpr auto product_at_position = [](auto x, auto y) { return drx::matmul(x, y) + drx::iota<decltype(y), 1>(); };
}  // namespace
TEST_CASE_TEMPLATE("a loop of its own: rows of whole packs, and others", T, float, double) {
  harness::check_run<drx::program<layer, drx::array<T, 5, 24>, drx::array<T, 24>>>();
  harness::check_run<drx::program<layer, drx::array<T, 7, 48>, drx::array<T, 48>>>();
  harness::check_run<drx::program<layer, drx::array<T, 7, 48>, drx::array<T, 7, 48>>>();
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
