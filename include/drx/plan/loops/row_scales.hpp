// drx/plan/loops/row_scales.hpp: divides each row of a matrix by a power of two of its own magnitude. Products of such
// rows with each other are of order one: they are representable wherever the rows are, and the division loses no digit.
#pragma once

#include <drx/primitives/catalogue.hpp>

#include <limits>

namespace drx::plan {

/// A matrix with scaled rows, and the divisors of its rows: they have its shape, with 1 for the axis that the rows run
/// along.
struct scaled_rows {
  int matrix, scales;
};

/// Scales the rows of x, a floating matrix whose rows run along axis `along`. Rows of zeros stay as they are.
constexpr scaled_rows with_scaled_rows(builder& b, int x, int along) {
  const abstract_value whole = b.type(x);
  abstract_value one = whole.with_shape(without_axis(whole.shape, along));
  const bool is_float = whole.type == dtype::float32;
  constexpr double apart = 4;  // from the ends of the range: the power of two is inside however its exponent rounds
  const double least = apart * (is_float ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min());
  const double most = (is_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max()) / apart;
  constexpr double binary_digits = 1.4426950408889634;  // of the number e: log2(e)
  const int magnitude = b.add1(prim::abs, {x});
  const int sizes = emit::mul(b, magnitude, emit::constant(b, whole, 1.0 / static_cast<double>(whole.shape[along])));
  const int mean = emit::sum(b, sizes, {along});  // the largest takes longer: 9 % of a FedAvg round
  const int above = b.add1(prim::maximum, {mean, emit::constant(b, one, least)});
  const int inside = b.add1(prim::minimum, {above, emit::constant(b, one, most)});
  const int logarithm = emit::log(b, inside);
  const int exponent = b.add1(prim::floor, {emit::mul(b, logarithm, emit::constant(b, one, binary_digits))});
  shape s = whole.shape;
  s[along] = 1;
  const int scales = emit::reshape(b, b.add1(prim::exp2, {exponent}), s);
  // The inverse is exact, and takes less time than a division.
  const int inverses = emit::reshape(b, b.add1(prim::exp2, {emit::neg(b, exponent)}), s);
  return {emit::mul(b, x, emit::broadcast_to(b, inverses, whole.shape)), scales};
}

}  // namespace drx::plan
