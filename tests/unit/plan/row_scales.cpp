#include <drx/drx.hpp>
#include <drx/plan/loops/row_scales.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

/// A tape that scales the rows of a 4 by 3 matrix, and gives matrix and scales.
template <class T>
drx::tape scaling() {
  drx::builder b;
  const int x = b.input({drx::dtype_of<T>, drx::make_shape(4, 3)});
  const drx::plan::scaled_rows r = drx::plan::with_scaled_rows(b, x, 1);
  b.output(r.matrix);
  b.output(r.scales);
  return b.result();
}

template <class T>
void check_scales() {
  const drx::tape t = scaling<T>();
  drx::tensor x({drx::dtype_of<T>, drx::make_shape(4, 3)});
  const T largest = std::numeric_limits<T>::max() / 8, least = std::numeric_limits<T>::min() * 64;
  const T rows[] = {1, -2, 3, 0, 0, 0, largest, -largest, largest / 2, least, 0, -least};
  std::copy(std::begin(rows), std::end(rows), x.data<T>());
  const auto out = drx::interpreter::run(t, {x});
  const T *scaled = out[0].data<T>(), *scales = out[1].data<T>();
  CHECK(out[1].type.shape == drx::make_shape(4, 1));
  for (int row = 0; row < 4; ++row) {
    int exponent = 0;
    CHECK(std::frexp(scales[row], &exponent) == T(0.5));  // a power of two
    T most = 0;
    for (int k = 0; k < 3; ++k) {
      CHECK(scaled[3 * row + k] * scales[row] == rows[3 * row + k]);  // no digit is lost
      most = std::max(most, std::abs(scaled[3 * row + k]));
    }
    if (row == 1) {
      CHECK(most == 0);  // a row of zeros stays one
    } else {
      CHECK((most >= T(0.5) && most <= 8));
    }
  }
}

}  // namespace

TEST_CASE("scaled rows are of order one, and times their scales the rows themselves") {
  check_scales<float>();
  check_scales<double>();
}
