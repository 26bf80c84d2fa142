// drx/scalar/derivatives.hpp: the table of elementary functions and their derivatives, which all scalar types use.
#pragma once

#include <drx/scalar/number.hpp>

#include <cmath>

// row(f, f'): f' in terms of x and y = f(x). R is the real type. The functions of the standard library come first.
// clang-format off
#define DRX_STANDARD_TABLE(row)                                       \
  row(exp,    y)                                                      \
  row(exp2,   y * R(0.693147180559945309417L))                        \
  row(expm1,  y + 1)                                                  \
  row(log,    1 / x)                                                  \
  row(log2,   R(1.442695040888963407360L) / x)                        \
  row(log10,  R(0.434294481903251827651L) / x)                        \
  row(log1p,  1 / (x + 1))                                            \
  row(sqrt,   R(0.5) / y)                                             \
  row(cbrt,   R(1.0L / 3) / (y * y))                                  \
  row(sin,    cos(x))                                                 \
  row(cos,    -sin(x))                                                \
  row(tan,    y * y + 1)                                              \
  row(asin,   1 / sqrt((1 - x) * (1 + x)))                            \
  row(acos,   -1 / sqrt((1 - x) * (1 + x)))                           \
  row(atan,   1 / (x * x + 1))                                        \
  row(sinh,   cosh(x))                                                \
  row(cosh,   sinh(x))                                                \
  row(tanh,   1 - y * y)                                              \
  row(asinh,  1 / sqrt(x * x + 1))                                    \
  row(acosh,  1 / sqrt((x - 1) * (x + 1)))                            \
  row(atanh,  1 / ((1 - x) * (1 + x)))                                \
  row(erf,    R(1.128379167095512573896L) * exp(-x * x))              \
  row(erfc,   R(-1.128379167095512573896L) * exp(-x * x))             \
  row(lgamma, digamma(x))                                             \
  row(abs,    sign(x))
#define DRX_ELEMENTARY_TABLE(row) DRX_STANDARD_TABLE(row) row(sigmoid, y * (1 - y))

// row(f): piecewise constant.
#define DRX_STEP_TABLE(row) row(floor) row(ceil) row(trunc) row(round) row(rint) row(nearbyint)
// clang-format on

namespace drx::ad {

// The functions of plain numbers, so that drx::ad::exp(x) is right for every scalar type.
#define DRX_PLAIN(name, ...)                     \
  template <class T>                             \
    requires std::is_arithmetic_v<T>             \
  DRX_FN constexpr real_t<T> name(T x) {         \
    return std::name(static_cast<real_t<T>>(x)); \
  }
/// 1 / (1 + exp(-x)), without overflow; one statement on the tape.
DRX_STANDARD_TABLE(DRX_PLAIN)
DRX_STEP_TABLE(DRX_PLAIN)
#undef DRX_PLAIN

/// 1 / (1 + exp(-x)).
template <class T>
  requires std::is_arithmetic_v<T>
DRX_FN constexpr real_t<T> sigmoid(T x) {
  const auto v = static_cast<real_t<T>>(x), z = std::exp(v < 0 ? v : -v);  // at most 1: neither side overflows
  return (v < 0 ? z : 1) / (1 + z);
}

/// -1, 0 or 1. Its derivative is 0, so that the derivative of abs at 0 is 0.
template <class T>
DRX_FN constexpr T sign(const T& x) {
  return select(value_of(x) > 0, T(1), select(value_of(x) < 0, T(-1), T(0)));
}

/// The derivative of lgamma. It is ordinary code: its own derivatives come from its operations.
template <class T>
DRX_FN constexpr T digamma(const T& argument) {
  using R = real_t<T>;
  T x = argument, sum = T(0);
  if (x <= 0) {  // by reflection
    const T turn = x * R(3.141592653589793238463L);
    sum = cos(turn) / sin(turn) * R(-3.141592653589793238463L);
    x = 1 - x;
  }
  for (; x < 10; x = x + 1) sum = sum - 1 / x;
  const T z = 1 / (x * x);
  const T tail =
      z * (R(1.0L / 12) -
           z * (R(1.0L / 120) -
                z * (R(1.0L / 252) -
                     z * (R(1.0L / 240) - z * (R(1.0L / 132) - z * (R(691.0L / 32760) - z * R(1.0L / 12)))))));
  return sum + log(x) - R(0.5) / x - tail;
}

namespace rows {
#define DRX_ROW(name, ...)                                                                        \
  struct name##_row {                                                                             \
    template <class T>                                                                            \
    DRX_FN static constexpr T value(const T& x) {                                                 \
      return name(x);                                                                             \
    }                                                                                             \
    template <class T>                                                                            \
    DRX_FN static constexpr T partial([[maybe_unused]] const T& x, [[maybe_unused]] const T& y) { \
      using R [[maybe_unused]] = real_t<T>;                                                       \
      return __VA_ARGS__;                                                                         \
    }                                                                                             \
  };
DRX_ELEMENTARY_TABLE(DRX_ROW)
#undef DRX_ROW
}  // namespace rows

}  // namespace drx::ad
