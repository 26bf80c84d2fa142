// Powers: as C has them, with special values and signs.
#include <drx/scalar/pow.hpp>

#include "harness/functions.hpp"

namespace {

/// Numbers at which powers are special, of both signs.
template <class T>
std::vector<T> special_numbers() {
  using limits = std::numeric_limits<T>;
  const T whole = T(std::uint64_t{1} << (limits::digits - 1));  // from there on all numbers are
  std::vector<T> r{0,
                   T(0.5),
                   1,
                   T(1.5),
                   2,
                   3,
                   4,
                   7,
                   whole / 2 - T(0.5),
                   whole - 1,
                   whole,
                   whole + 1,
                   2 * whole - 1,
                   2 * whole,
                   4 * whole + 4,
                   limits::infinity(),
                   limits::quiet_NaN(),
                   limits::denorm_min(),
                   limits::min(),
                   limits::max(),
                   std::nextafter(T(1), T(0)),
                   std::nextafter(T(1), T(2))};
  for (std::size_t i = 0, n = r.size(); i < n; ++i) r.push_back(-r[i]);
  return r;
}
template <class T>
void check(T x, T y) {
  CAPTURE(x);
  CAPTURE(y);
  const long double exact = std::pow(static_cast<long double>(x), static_cast<long double>(y));
  const double most = sizeof(T) == 4 ? 0.51 : std::fabs(exact) < std::numeric_limits<T>::min() ? 1.3 : 0.75;
  CHECK(harness::ulps(drx::math::pow(x, y), exact) <= most);
}
template <class T>
__attribute__((noinline)) void loop(int n, const T* x, const T* y, T* z) {
  for (int i = 0; i < n; ++i) z[i] = drx::math::pow(x[i], y[i]);
}
}  // namespace

TEST_CASE_TEMPLATE("powers: C's special values and signs", T, float, double) {
  for (const T x : special_numbers<T>())
    for (const T y : special_numbers<T>()) check(x, y);
}
TEST_CASE_TEMPLATE("powers: accurate everywhere", T, float, double) {
  const auto samples = harness::samples<T>(300);
  for (const T x : samples)
    for (const T y : samples) check(x, y);
  for (const T x : samples)
    for (T y = -20; y < 20; y += T(0.37)) check(x, y);
  for (T x = T(0.01); x < 40; x *= T(1.013))
    for (T y = -20; y < 20; y += T(0.37)) check(x, y);
  std::mt19937_64 random(3);
  const double least = std::log(static_cast<double>(std::numeric_limits<T>::denorm_min())),
               most = std::log(static_cast<double>(std::numeric_limits<T>::max()));
  for (const T x : samples) {  // results of all sizes
    const double slope = std::log(static_cast<double>(x));
    for (int k = 0; k < 100 && slope != 0 && std::isfinite(slope); ++k)
      check(x, static_cast<T>((least + (most - least) * static_cast<double>(random() >> 11) * 0x1p-53) / slope));
  }
}
TEST_CASE_TEMPLATE("powers: the same bits in loops", T, float, double) {
  std::vector<T> x = harness::samples<T>(2000), y = x, z(x.size());
  std::mt19937_64 random(4);
  std::shuffle(y.begin(), y.end(), random);
  loop(static_cast<int>(x.size()), x.data(), y.data(), z.data());
  for (std::size_t i = 0; i < x.size(); ++i) {
    T alone[1];
    loop(1, &x[i], &y[i], alone);
    CHECK((std::memcmp(&z[i], alone, sizeof(T)) == 0 || (std::isnan(z[i]) && std::isnan(alone[0]))));
  }
}
