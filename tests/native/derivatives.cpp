// The third derivative of a round of federated averaging: by an executable it is planned in a blink. Each derivative is
// compared with central differences of the one before.
#include <doctest/doctest.h>
#include <drx/run/call/compiled.hpp>

#include "derivatives.hpp"

#include <cmath>

namespace {
using namespace derivatives;

drx::serial_executor executor;
drx::single_rank rank;

template <class A>
A filled(std::int64_t from, double scale) {
  A a;
  for (std::int64_t i = 0; i < A::size; ++i)
    a[i] = scale * std::sin(static_cast<double>(from) + 1.7 * static_cast<double>(i));
  return a;
}
template <class P>
struct at {
  drx::compiled<P> program{executor, rank};
  double operator()(double rate) {
    const auto x = drx::place<clients>(rank, 5, [](std::int64_t m) { return filled<array<double, 8, 4>>(10 * m, 1); });
    const auto y =
        drx::place<clients>(rank, 5, [](std::int64_t m) { return filled<array<double, 8, 3>>(7 * m + 3, 0.5); });
    const parameters p{filled<array<double, 4, 6>>(1, 0.6), filled<array<double, 6, 3>>(2, 0.6)};
    return program(p, rate, x, y);
  }
};
template <class P, class Derivative>
void check(double rate) {
  at<P> f;
  at<Derivative> slope;
  const double h = 1e-4, expected = (8 * (f(rate + h) - f(rate - h)) - (f(rate + 2 * h) - f(rate - 2 * h))) / (12 * h);
  CHECK(std::abs(slope(rate) - expected) < 1e-9 * (1 + std::abs(expected)));
  CHECK(std::abs(expected) > 1e-3);
}
}  // namespace

TEST_CASE("derivatives of a round, up to the third") {
  for (const double rate : {0.05, 0.3}) {
    check<Loss, First>(rate);
    check<First, Second>(rate);
    check<Second, Third>(rate);
  }
}
