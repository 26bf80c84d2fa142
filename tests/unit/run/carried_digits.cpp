// Loops that carry products in place of matrices are as exact as steps on the matrices themselves: thousands of steps
// in float and double, over random spectra, against the same steps in more digits.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/run/call/compiled.hpp>

#include "harness/regression.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace regression;

/// Steps with the matrix w, of which a part is left at each.
template <int Steps, int Percent, drx::loop_products Products>
constexpr auto steps = [](auto w, auto rate, auto x, auto y, auto chosen) {
  const auto step = [=](auto v) {
    const auto g = rate * drx::matmul(drx::transpose(x), change(drx::matmul(x, v), y, chosen));
    if constexpr (Percent == 100) {
      return v - g;
    } else {
      return Percent / 100.0 * v - g;
    }
  };
  return drx::fori_loop<Steps>(w, step, Products);
};
template <class T, int Steps, int Percent = 100, drx::loop_products Products = drx::loop_products::by_program>
using steps_program = drx::program<steps<Steps, Percent, Products>, drx::array<T, columns, outputs>, T,
                                   drx::array<T, rows, columns>, drx::array<T, rows, outputs>, drx::array<T, 3>>;

/// The steps by hand, in numbers of type T.
template <class T>
std::vector<double> by_hand(const problem& p, int n, double left = 1) {
  std::vector<T> w(p.w.begin(), p.w.end()), z(rows * outputs);
  const std::vector<T> x(p.x.begin(), p.x.end()), y(p.y.begin(), p.y.end());
  for (int step = 0; step < n; ++step) {
    std::fill(z.begin(), z.end(), T(0));
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < columns; ++k)
        for (std::size_t o = 0; o < outputs; ++o) z[i * outputs + o] += x[i * columns + k] * w[k * outputs + o];
    for (std::size_t i = 0; i < rows; ++i) {
      T* row = &z[i * outputs];
      T sum = 0;
      if (p.of == entropy) {
        const T top = *std::max_element(row, row + outputs);
        for (std::size_t o = 0; o < outputs; ++o) sum += row[o] = std::exp(row[o] - top);
      }
      for (std::size_t o = 0; o < outputs; ++o) {
        const T target = y[i * outputs + o], h = p.of == units ? std::tanh(row[o]) : row[o];
        row[o] = p.of == squares ? h - target : p.of == entropy ? h / sum - target : (h - target) * (1 - h * h);
      }
    }
    for (T& v : w) v *= static_cast<T>(left);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t k = 0; k < columns; ++k)
        for (std::size_t o = 0; o < outputs; ++o)
          w[k * outputs + o] -= static_cast<T>(p.rate) * (x[i * columns + k] * z[i * outputs + o]);
  }
  return {w.begin(), w.end()};
}

/// A compiled program, called on problems.
template <class P, class T>
struct runner {
  drx::serial_executor executor;
  drx::single_rank rank;
  drx::compiled<P> run{executor, rank};
  std::vector<double> operator()(const problem& p) {
    drx::array<T, 3> chosen{0, 0, 0};
    chosen[p.of] = 1;
    const auto cast = [](const std::vector<double>& v) { return std::vector<T>(v.begin(), v.end()); };
    const auto w =
        run(filled<drx::array<T, columns, outputs>>(cast(p.w)), static_cast<T>(p.rate),
            filled<drx::array<T, rows, columns>>(cast(p.x)), filled<drx::array<T, rows, outputs>>(cast(p.y)), chosen);
    return {w.data(), w.data() + w.size};
  }
};
template <class P>
constexpr double work = drx::plan::multiplications(drx::plan::staged_program<P>::tape_constant().thaw());

/// One problem may err twice as much as in plain evaluation, and some units in the last place: its errors are sums of
/// few random ones. The mean over problems may not be above plain evaluation's. In double, where the user must ask for
/// it, updates are not added up in more digits: rows that repeat may cost up to three bits.
template <class T, int Steps, class Reference, int Percent = 100>
void check_digits(const std::vector<std::string>& of, const std::vector<loss>& losses,
                  const std::vector<double>& speeds, int seeds) {
  constexpr bool by_itself = std::is_same_v<T, float>;
  using ByProgram = steps_program<T, Steps, Percent>;
  using Carried = std::conditional_t<by_itself, ByProgram, steps_program<T, Steps, Percent, drx::carry_products>>;
  using Plain = drx::without_carried_products<ByProgram>;
  static_assert(work<Carried> < .8 * work<Plain> && (by_itself || work<ByProgram> == work<Plain>));
  runner<Carried, T> carried;
  runner<Plain, T> plain;
  double worst = 0, log_ratios = 0;
  int n = 0;
  for (int seed = 1; seed <= seeds; ++seed)
    for (const std::string& spectrum : of)
      for (const loss l : losses)
        for (const double speed : speeds) {
          if (sanitized && n == 2) break;
          generator r(static_cast<std::uint64_t>(seed));
          const problem p = make(spectrum, l, speed, r);
          const std::vector<double> expected = by_hand<Reference>(p, Steps, static_cast<T>(Percent / 100.0));
          const double e = error_of(carried(p), expected), f = error_of(plain(p), expected);
          CHECK_MESSAGE(e <= (by_itself ? 2 : 8) * f + floor_of_errors<T>,
                        p.name << ", seed " << seed << ": " << e << ", plain " << f);
          worst = std::max(worst, e / f);
          log_ratios += std::log(e / f);
          ++n;
        }
  MESSAGE(Steps << " steps, " << n << " problems: error over plain evaluation's: " << std::exp(log_ratios / n)
                << ", at worst " << worst);
  if (!sanitized) CHECK(std::exp(log_ratios / n) < 1);
}

}  // namespace

TEST_CASE("a hundred steps in float, over all spectra") {
  check_digits<float, 100, double>(spectra, {squares, entropy, units}, {.1, 1, 1.9}, 3);
}
TEST_CASE("a thousand steps in float") {
  check_digits<float, 1000, double>(spectra, {squares, entropy, units}, {1}, 1);
}
TEST_CASE("ten thousand steps in float") {
  constexpr int many = sanitized ? 1000 : 10000;
  check_digits<float, many, double>({"drawn with replacement", "gaussian", "rank 8", "condition 1e4"}, {squares}, {1},
                                    1);
  check_digits<float, many, double>({"drawn with replacement"}, {entropy}, {1}, 1);
}
TEST_CASE("a thousand steps of which each leaves a part") {
  check_digits<float, 1000, double, 99>({"drawn with replacement", "gaussian", "rank 8", "condition 1e8"},
                                        {squares, entropy}, {1}, 1);
}
TEST_CASE("a thousand steps in double") {
  check_digits<double, 1000, long double>({"drawn with replacement", "rank 8", "condition 1e8"}, {squares, entropy},
                                          {1}, 1);
}
