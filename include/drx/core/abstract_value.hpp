// drx/core/abstract_value.hpp: the type of a value on a tape: element type, shape, placements.
#pragma once

#include <drx/core/dtype.hpp>
#include <drx/core/placement.hpp>
#include <drx/core/shape.hpp>

namespace drx {

/// The type of one value on a tape. `placements` lists the placements from the outermost in: a value of
/// `placed<placed<T, examples>, clients>` has {clients, examples}.
struct abstract_value {
  static constexpr int max_depth = 4;
  dtype type = dtype::float32;
  drx::shape shape = {};
  int depth = 0;
  const placement_info* placements[max_depth] = {};

  constexpr abstract_value() = default;
  constexpr abstract_value(dtype t, const drx::shape& s) : type(t), shape(s) {}

  friend constexpr bool operator==(const abstract_value& a, const abstract_value& b) {
    if (a.type != b.type || !(a.shape == b.shape) || a.depth != b.depth) return false;
    for (int i = 0; i < a.depth; ++i)
      if (a.placements[i] != b.placements[i]) return false;
    return true;
  }
  /// One such value per member of p.
  [[nodiscard]] constexpr abstract_value placed_at(const placement_info* p) const {
    abstract_value v = *this;
    for (int i = depth; i > 0; --i) v.placements[i] = placements[i - 1];
    v.placements[0] = p;
    ++v.depth;
    return v;
  }
  /// Whether both have the same placements.
  [[nodiscard]] constexpr bool placed_like(const abstract_value& other) const {
    bool same = depth == other.depth;
    for (int i = 0; i < depth && same; ++i) same = placements[i] == other.placements[i];
    return same;
  }
  /// The value of one member of the outermost placement.
  [[nodiscard]] constexpr abstract_value of_member() const {
    abstract_value v = *this;
    for (int i = 1; i < depth; ++i) v.placements[i - 1] = placements[i];
    v.depth = depth > 0 ? depth - 1 : 0;  // (g++ 12 at -O2 counts below 0 in recursions over members, and warns)
    v.placements[v.depth] = nullptr;
    return v;
  }
  [[nodiscard]] constexpr abstract_value with_type(dtype t) const {
    abstract_value v = *this;
    v.type = t;
    return v;
  }
  [[nodiscard]] constexpr abstract_value with_shape(const drx::shape& s) const {
    abstract_value v = *this;
    v.shape = s;
    return v;
  }
};

}  // namespace drx
