// drx/core/shape.hpp: the extents of an array, row-major, outermost axis first.
#pragma once

#include <drx/config.hpp>

#include <cstdint>

namespace drx {

/// Up to eight extents. The type is structural, so that it may be a template argument.
struct shape {
  static constexpr int max_rank = 8;
  int rank = 0;
  std::int64_t extent[max_rank] = {};

  constexpr std::int64_t operator[](int axis) const { return extent[axis]; }
  constexpr std::int64_t& operator[](int axis) { return extent[axis]; }
  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= extent[i];
    return n;
  }
  constexpr void push_back(std::int64_t n) { extent[rank++] = n; }
  [[nodiscard]] constexpr std::int64_t last() const { return rank == 0 ? 1 : extent[rank - 1]; }
  friend constexpr bool operator==(const shape& a, const shape& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.extent[i] != b.extent[i]) return false;
    return true;
  }
};

/// The shape with these extents.
template <class... N>
constexpr shape make_shape(N... n) {
  shape s;
  (s.push_back(static_cast<std::int64_t>(n)), ...);
  return s;
}

/// Negative axes count from the end, as in NumPy.
constexpr int normal_axis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

/// Whether a and b broadcast together: compared from the last axis, extents are equal or one of them is 1.
constexpr bool broadcastable(const shape& a, const shape& b) {
  for (int i = 1; i <= a.rank && i <= b.rank; ++i) {
    const auto x = a[a.rank - i];
    const auto y = b[b.rank - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

/// The common shape of two shapes that broadcast together.
constexpr shape broadcast_shapes(const shape& a, const shape& b) {
  shape s = a.rank >= b.rank ? a : b;
  const shape& small = a.rank >= b.rank ? b : a;
  for (int i = 1; i <= small.rank; ++i)
    if (s[s.rank - i] == 1) s[s.rank - i] = small[small.rank - i];
  return s;
}

/// s without the given axis.
constexpr shape without_axis(const shape& s, int axis) {
  shape r;
  for (int i = 0; i < s.rank; ++i)
    if (i != axis) r.push_back(s[i]);
  return r;
}

/// s with one more axis of extent n at the front.
constexpr shape with_front(const shape& s, std::int64_t n) {
  shape r = make_shape(n);
  for (int i = 0; i < s.rank; ++i) r.push_back(s[i]);
  return r;
}

/// s with one more axis of extent n at the end.
constexpr shape with_last(shape s, std::int64_t n) {
  s.push_back(n);
  return s;
}

/// s with one more axis of extent n at place `axis`.
constexpr shape with_axis(const shape& s, int axis, std::int64_t n) {
  shape r;
  for (int i = 0; i <= s.rank; ++i) {
    if (i == axis) r.push_back(n);
    if (i < s.rank) r.push_back(s[i]);
  }
  return r;
}

}  // namespace drx
