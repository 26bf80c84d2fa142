// sin, cos and tan of any finite number in compiled programs, also where a result takes its operand's place.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <cmath>

namespace {

template <class T>
using numbers = drx::array<T, 700>;

constexpr auto beside = [](auto x) { return drx::sin(x) * drx::cos(x) + drx::tan(x); };
constexpr auto in_place = [](auto x) {  // the sums part the loops: the second one's result may lie where x * 2 was
  const auto twice = x * 2;
  const auto y = drx::sin(twice + 0 * drx::sum(twice));
  return drx::cos(y + 0 * drx::sum(y)) + y;
};

using harness::tensors;

template <class T>
drx::tensor input(bool far) {
  drx::tensor x({drx::dtype_of<T>, drx::make_shape(700)});
  for (int i = 0; i < 700; ++i) x.data<T>()[i] = static_cast<T>(i * 0.37 - 100);
  if (far)
    for (const int i : {0, 5, 511, 512, 699}) x.data<T>()[i] = static_cast<T>(i % 2 != 0 ? 3e7 + i : -1e15 * (i + 1));
  return x;
}
template <auto F, class T>
void check() {
  using P = drx::program<F, numbers<T>>;
  const tensors x{input<T>(true)}, tame{input<T>(false)};
  const tensors far = harness::run_serial<P>(x), near = harness::run_serial<P>(tame);
  harness::check_near(far, harness::run_plain<P>(x), 10);
  const T *a = x[0].template data<T>(), *b = tame[0].template data<T>(), *y = far[0].template data<T>(),
          *z = near[0].template data<T>();
  for (int i = 0; i < 700; ++i)
    if (a[i] == b[i]) CHECK(y[i] == z[i]);  // the same bits beside a far one
}

}  // namespace

TEST_CASE("sin, cos and tan beyond their fast range") {
  check<beside, float>();
  check<beside, double>();
}
TEST_CASE("the same where results take their operands' places") {
  check<in_place, float>();
  check<in_place, double>();
}
TEST_CASE("of infinity and NaN they are NaN") {
  using P = drx::program<beside, drx::array<double, 3>>;
  drx::tensor x({drx::dtype::float64, drx::make_shape(3)});
  x.data<double>()[0] = HUGE_VAL;
  x.data<double>()[1] = std::nan("");
  const auto y = harness::run_serial<P>({x});
  CHECK(std::isnan(y[0].data<double>()[0]));
  CHECK(std::isnan(y[0].data<double>()[1]));
  CHECK(y[0].data<double>()[2] == 0);
}
