// drx/primitives/lane_places.hpp: how gathers and their transposes go in lanes where each lane has places of its own:
// number by number, by places in the whole array as it lies. To batch them would turn an array that changes in a loop
// twice at each step.
// Tested by tests/unit/run/lane_places.cpp.
#pragma once

#include <drx/primitives/indexing.hpp>
#include <drx/primitives/lane_site.hpp>
#include <drx/primitives/layout.hpp>

#include <limits>

namespace drx::prim::rules::lanes {

/// Places in an array in lanes, for each element of another one: a sum of terms along axes, in elements.
class own_places {
 public:
  constexpr own_places(builder& b, const shape& whole, const shape& to) : b_(b), to_(to) {
    std::int64_t stride = 1;
    for (int i = 0; i < whole.rank; ++i) strides_.push_back(0);
    for (int i = whole.rank - 1; i >= 0; --i) {
      strides_[i] = stride;
      stride *= whole[i];
    }
    type_ = stride <= std::numeric_limits<std::int32_t>::max() ? dtype::int32 : dtype::int64;
  }
  /// Axis `own` of the elements goes along axis i of the whole.
  constexpr void along(int own, int i) {
    if (to_[own] == 1) return;
    shape line = to_;
    for (int k = 0; k < line.rank; ++k)
      if (k != own) line[k] = 1;
    add(emit::iota(b_, {type_, line}, own), strides_[i]);
  }
  /// Positions on axis i of the whole; their shape has 1 for axes in which they are the same.
  constexpr void at(int positions, int i) { add(emit::cast(b_, positions, type_), strides_[i]); }
  [[nodiscard]] constexpr int written() const { return sum_; }

 private:
  builder& b_;
  shape to_;
  vec<std::int64_t> strides_;
  dtype type_ = dtype::int32;
  int sum_ = -1;

  constexpr void add(int x, std::int64_t stride) {
    const int step = emit::constant(b_, b_.type(x), static_cast<double>(stride));
    const int term = emit::broadcast_to(b_, emit::mul(b_, x, step), to_);
    sum_ = sum_ < 0 ? term : emit::add(b_, sum_, term);
  }
};

/// Whether numbers of x, an operand in lanes, are to be gathered, `moved` in all. Not where x is had with the members
/// in front for nothing: it was turned into lanes just before, or is a constant of a loop, in front of which it is
/// turned back once. And not where many are moved: whole vectors turn the array faster.
constexpr bool pays_to_gather(const lane_site& s, int x, std::int64_t moved) {
  if (2 * moved > s.b.shape(x).size() || s.constants.find(x) >= 0) return false;
  const entry* e = s.b.definition(x);
  while (e && e->prim == &prim::reshape) {
    if (s.constants.find(e->operands[0]) >= 0) return false;
    e = s.b.definition(e->operands[0]);
  }
  return !e || e->prim != &prim::transpose;
}
/// x as one axis.
constexpr int flat(builder& b, int x) { return emit::reshape(b, x, make_shape(b.shape(x).size())); }

/// The places that take reads along an axis of `whole`, and to which scatter adds, by indices in lanes.
constexpr int taken_places(builder& b, const shape& whole, int indices, int axis) {
  const shape each = b.shape(indices);
  const int any = each.rank - 1, last = whole.rank - 1;
  shape to, of_positions;
  for (int i = 0; i < axis; ++i) to.push_back(whole[i]);
  for (int i = 0; i < any; ++i) to.push_back(each[i]);
  for (int i = axis + 1; i <= last; ++i) to.push_back(whole[i]);
  for (int i = 0; i < to.rank; ++i)
    of_positions.push_back((i >= axis && i < axis + any) || i == to.rank - 1 ? to[i] : 1);
  own_places places(b, whole, to);
  for (int i = 0; i < axis; ++i) places.along(i, i);
  places.at(emit::reshape(b, indexing::positions(b, indices, whole[axis]), of_positions), axis);
  for (int i = axis + 1; i <= last; ++i) places.along(i - 1 + any, i);
  return places.written();
}

}  // namespace drx::prim::rules::lanes
