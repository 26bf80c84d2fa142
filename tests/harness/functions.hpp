// Checks of functions of one number: accuracy over the whole range and at its ends, and the bits of loops.
#pragma once

#include <doctest/doctest.h>

#include "difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace harness {

template <class T>
using limits = std::numeric_limits<T>;

// A function of drx::math beside its value in long double, and its largest error in units in the last place.
#define DRX_FUNCTION(name, reference, most)                               \
  struct name##_function {                                                \
    static constexpr const char* label = #name;                           \
    static constexpr double bound = most;                                 \
    template <class T>                                                    \
    static T apply(T x) {                                                 \
      return drx::math::name(x);                                          \
    }                                                                     \
    static long double exact(long double x) { return reference; }         \
    template <class T>                                                    \
    __attribute__((noinline)) static void loop(int n, const T* x, T* y) { \
      for (int i = 0; i < n; ++i) y[i] = drx::math::name(x[i]);           \
    }                                                                     \
  };

/// |y - exact| in units in the last place of exact as a T; 0 or infinity where nothing can be measured, never NaN.
template <class T>
double ulps(T y, long double exact) {
  constexpr double wrong = limits<double>::infinity();
  if (std::isnan(exact)) return std::isnan(y) ? 0 : wrong;
  if (std::isinf(static_cast<T>(exact)) || exact == 0)
    return y == static_cast<T>(exact) && std::signbit(y) == std::signbit(exact) ? 0 : wrong;
  int e = 0;
  std::frexp(exact, &e);
  e = std::max(e, limits<T>::min_exponent);
  return larger(0., static_cast<double>(std::fabs(static_cast<long double>(y) - exact) /
                                        std::ldexp(1.0L, e - limits<T>::digits)));
}

template <class T>
using bits_t = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
T from_bits(std::uint64_t random) {
  const auto bits = static_cast<bits_t<T>>(random);
  T x;
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}

/// Numbers of every exponent, and more densely from the critical ranges.
template <class T>
std::vector<T> samples(int n) {
  std::mt19937_64 random(42);
  const double scales[] = {1e-3, 0.5, 3, 20, 120, 1100, 131000};
  std::vector<T> x;
  for (int i = 0; i < n; ++i) {
    x.push_back(from_bits<T>(random()));
    const double u = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
    x.push_back(static_cast<T>(u * scales[i % 7]));
    x.push_back(static_cast<T>(1 + u / 4));
  }
  for (int k = 1; k < 1000; ++k) x.push_back(static_cast<T>(k * 1.57079632679489661923132169163975144L));
  return x;
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T, class F>
void check_accuracy(F f) {
  double worst = 0;
  T where = 0;
  for (const T v : samples<T>(40000)) {
    const double error = ulps(f.apply(v), f.exact(v));
    if (error > worst) worst = error, where = v;
  }
  const std::string function = f.label;
  CAPTURE(function);
  CAPTURE(where);
  CHECK(worst <= f.bound);
}

template <class T, class F>
void check_ends(F f) {
  constexpr T inf = limits<T>::infinity(), tiny = limits<T>::denorm_min(), least = limits<T>::min(),
              most = limits<T>::max();
  const T log_most = std::log(most), log_tiny = std::log(tiny);
  const T points[] = {T(0),
                      tiny,
                      3 * tiny,
                      least - tiny,
                      least,
                      limits<T>::epsilon(),
                      T(1),
                      T(2),
                      most,
                      inf,
                      limits<T>::quiet_NaN(),
                      log_most,
                      std::nextafter(log_most, inf),
                      -log_tiny,
                      -log_tiny + T(0.7),
                      std::nextafter(T(1), T(0)),
                      std::nextafter(T(1), inf),
                      T(0.34657359027997264),
                      T(limits<T>::max_exponent),
                      T(0.5),
                      T(131072)};
  const std::string function = f.label;
  for (const T p : points)
    for (const T x : {p, -p}) {
      CAPTURE(function);
      CAPTURE(x);
      CHECK(ulps(f.apply(x), f.exact(x)) <= f.bound);
    }
}

/// Checks that a loop gives the bits of single calls, wherever the vectoriser put an element.
template <class T, class F>
void check_loops(F f) {
  constexpr int most = 40;
  const auto x = samples<T>(400);
  bool same = true;
  for (int n = 1; n <= most; ++n)
    for (std::size_t offset = 0; offset + most <= x.size(); offset += 37) {
      T y[most];
      f.loop(n, x.data() + offset, y);
      for (int i = 0; i < n; ++i) {
        T alone;
        f.loop(1, x.data() + offset + i, &alone);
        same = same && (std::isnan(alone) ? std::isnan(y[i]) : same_bits(y[i], alone));
        const volatile T opaque = x[offset + static_cast<std::size_t>(i)];
        same = same && (std::isnan(alone) || same_bits(f.apply(static_cast<T>(opaque)), alone));
      }
    }
  const std::string function = f.label;
  CAPTURE(function);
  CHECK(same);
}
template <class T, class... F>
void check_functions(F... f) {
  (check_accuracy<T>(f), ...);
  (check_ends<T>(f), ...);
  (check_loops<T>(f), ...);
}

}  // namespace harness
