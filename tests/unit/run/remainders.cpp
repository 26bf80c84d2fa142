// Remainders of floating numbers in compiled programs have the bits of fmod: in vectors, and beyond their fast range.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {
constexpr int n = 4000;
template <class T>
using numbers = drx::array<T, n>;

constexpr auto both = [](auto x, auto y) { return std::pair{x % y, drx::mod(x, y)}; };
constexpr auto in_place = [](auto x, auto y) {  // the sum parts the loops: the result may lie where x * 2 was
  const auto twice = 2 * x;
  return (twice + 0 * drx::sum(drx::square(y))) % y;
};

/// Pairs whose quotients have any number of digits, are whole, or are next to whole ones.
template <class T>
harness::tensors pairs(double most_digits) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> part(1, 2), digits(-2, most_digits);
  harness::tensors r;
  for (int k = 0; k < 2; ++k) r.push_back(drx::tensor({drx::dtype_of<T>, drx::make_shape(n)}));
  T *x = r[0].data<T>(), *y = r[1].data<T>();
  for (int i = 0; i < n; ++i) {
    y[i] = static_cast<T>((random() % 2 != 0 ? 1 : -1) * part(random));
    const double quotient = std::exp2(digits(random));
    x[i] = i % 3 == 0 ? static_cast<T>(std::floor(quotient)) * y[i] : static_cast<T>(quotient * part(random));
    if (i % 9 == 3) x[i] = std::nextafter(x[i], T(0));
    if (i % 9 == 6) x[i] = std::nextafter(x[i], 2 * x[i]);
    if (i % 2 != 0) x[i] = -x[i];
  }
  return r;
}
template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class T>
void check_bits(const harness::tensors& in) {
  using P = drx::program<both, numbers<T>, numbers<T>>;
  const auto y = harness::run_serial<P>(in), plain = harness::run_plain<P>(in);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const T *a = in[0].template data<T>(), *b = in[1].template data<T>();
    wrong += same(y[0].template data<T>()[i], std::fmod(a[i], b[i])) ? 0 : 1;
    wrong += same(y[1].template data<T>()[i], plain[1].template data<T>()[i]) ? 0 : 1;
  }
  CHECK(wrong == 0);
}
template <class T>
void check_special() {
  harness::tensors in = pairs<T>(10);
  const T inf = std::numeric_limits<T>::infinity(), least = std::numeric_limits<T>::denorm_min(),
          largest = std::numeric_limits<T>::max();
  const T x[] = {0,        T(-0.0),   T(-0.0), 1,  -1, least, -least, largest,
                 -largest, 3 * least, largest, -6, 6,  least, inf,    1},
          y[] = {1, 1, inf, inf, -inf, largest, 1, least, largest, 2 * least, T(1.5), 3, -3, -least, 1, 0};
  for (std::size_t i = 0; i < std::size(x); ++i) {
    in[0].template data<T>()[17 * i + 3] = x[i];
    in[1].template data<T>()[17 * i + 3] = y[i];
  }
  using P = drx::program<both, numbers<T>, numbers<T>>;
  const auto got = harness::run_serial<P>(in);
  for (int i = 0; i < n; ++i) {
    const T exact = std::fmod(in[0].template data<T>()[i], in[1].template data<T>()[i]);
    const T r = got[0].template data<T>()[i];
    CHECK((std::isnan(exact) ? std::isnan(r) : same(r, exact)));
  }
}
}  // namespace

TEST_CASE("quotients in the fast range") {
  check_bits<float>(pairs<float>(18));
  check_bits<double>(pairs<double>(47));
}
TEST_CASE("quotients of all sizes") {
  check_bits<float>(pairs<float>(60));
  check_bits<double>(pairs<double>(200));
}
TEST_CASE("zeros of both signs, infinities, the least and the largest numbers") {
  check_special<float>();
  check_special<double>();
}
TEST_CASE("where a result takes its operand's place") {
  const auto in = pairs<double>(60);
  using P = drx::program<in_place, numbers<double>, numbers<double>>;
  const auto y = harness::run_serial<P>(in);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += same(y[0].data<double>()[i], std::fmod(2 * in[0].data<double>()[i] + 0, in[1].data<double>()[i])) ? 0 : 1;
  CHECK(wrong == 0);
}
TEST_CASE("a number as the divisor, and in a member's own place") {
  constexpr auto turned = [](auto x, auto period) { return drx::mod(x + 0.25, period) - drx::mod(-x, 64); };
  harness::check_run<drx::program<turned, drx::array<double, 67>, double>>({.low = 0.5, .high = 9});
}
