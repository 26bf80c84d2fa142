// drx/algorithms/constants.hpp: functions of the coefficients of optimizers and schedules, in constant evaluation too.
// Tested by tests/unit/algorithms/optimizers.cpp.
#pragma once

#include <limits>

namespace drx::detail {
/// log(x) of a number, NaN if it is below 0: std::log is no constant expression for clang. With x = m 2^k, m between
/// sqrt(1/2) and sqrt(2): k log(2) + 2 atanh((m - 1) / (m + 1)).
constexpr double constant_log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x > std::numeric_limits<double>::max()) return x;
  long double m = x, k = 0, series = 0;
  for (; m > 1.41421356237309504880L; m /= 2) ++k;
  for (; m < 0.70710678118654752440L; m *= 2) --k;
  const long double z = (m - 1) / (m + 1);
  for (int i = 39; i > 0; i -= 2) series = series * z * z + 1.0L / i;
  return static_cast<double>(k * 0.693147180559945309417232121458L + 2 * z * series);
}
}  // namespace drx::detail
