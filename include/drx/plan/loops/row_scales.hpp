// drx/plan/loops/row_scales.hpp: the rows of a matrix, each divided by a power of two of its own magnitude. Products of such
// rows with each other are of order one: where rows themselves are representable, so are they, and no digit is lost to
// the division.
#pragma once

#include <drx/primitives/emit.hpp>

#include <limits>

namespace drx::plan {

/// A matrix with scaled rows, and what its rows were divided by: of its shape, with 1 for the axis that the rows run
/// along.
struct scaled_rows {
  int matrix, scales;
};

/// x, a floating matrix whose rows run along axis `along`, with scaled rows. Rows of zeros stay what they are.
constexpr scaled_rows with_scaled_rows(builder& b, int x, int along) {
  const abstract_value whole = b.type(x);
  abstract_value one = whole.with_shape(without_axis(whole.shape, along));
  const bool is_float = whole.type == dtype::float32;
  constexpr double apart = 4;  // from the ends of the range: the power of two is in it however its exponent rounds
  const double least = apart * (is_float ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min());
  const double most = (is_float ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max()) / apart;
  constexpr double binary_digits = 1.4426950408889634;  // of e: log2(e)
  const int sizes =
      emit::mul(b, b.add1(prim::abs, {x}), emit::constant(b, whole, 1.0 / static_cast<double>(whole.shape[along])));
  const int mean = emit::sum(b, sizes, {along});  // the largest takes longer: 9 % of a FedAvg round
  const int above = b.add1(prim::maximum, {mean, emit::constant(b, one, least)});
  const int inside = b.add1(prim::minimum, {above, emit::constant(b, one, most)});
  const int exponent = b.add1(prim::floor, {emit::mul(b, emit::log(b, inside), emit::constant(b, one, binary_digits))});
  shape s = whole.shape;
  s[along] = 1;
  const int scales = emit::reshape(b, b.add1(prim::exp2, {exponent}), s);
  // Its inverse is exact, and takes less time than to divide.
  const int inverses = emit::reshape(b, b.add1(prim::exp2, {emit::neg(b, exponent)}), s);
  return {emit::mul(b, x, emit::broadcast_to(b, inverses, whole.shape)), scales};
}

}  // namespace drx::plan
