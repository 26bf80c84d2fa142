// drx/run/kernels/layout.hpp: the kernels that move elements: transpose, slice, pad, concatenate.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/run/kernels/kernel.hpp>
#include <drx/run/packs/pack.hpp>

#include <cstring>

namespace drx::run {

namespace detail {
/// The product of the extents of axes [first, last).
constexpr std::int64_t extents_between(const shape& s, int first, int last) {
  std::int64_t n = 1;
  for (int i = first; i < last; ++i) n *= s[i];
  return n;
}
/// The distances in memory between neighbours along the axes of a row-major array.
constexpr shape strides_of(const shape& s) {
  shape r;
  r.rank = s.rank;
  std::int64_t n = 1;
  for (int i = s.rank - 1; i >= 0; --i) {
    r[i] = n;
    n *= s[i];
  }
  return r;
}
/// The extents of a copy between two strided places, and the distances in memory between neighbours along each axis.
struct strided_places {
  shape extent, from, to;

  /// The first of the last axes whose elements lie side by side at both places.
  [[nodiscard]] constexpr int first_contiguous() const {
    int axis = extent.rank;
    for (std::int64_t n = 1; axis > 0 && (extent[axis - 1] == 1 || (from[axis - 1] == n && to[axis - 1] == n)); --axis)
      n *= extent[axis - 1];
    return axis;
  }
  /// The number of elements at one index of the axes before.
  [[nodiscard]] constexpr std::int64_t contiguous() const {
    std::int64_t n = 1;
    for (int axis = first_contiguous(); axis < extent.rank; ++axis) n *= extent[axis];
    return n;
  }
};
/// Copies elements between the places of Kernel, constants, which are inlined: the loops' extents and distances are
/// then constants, too.
template <class Kernel, int Axis = 0, class T>
DRX_HOST_INLINE void copy_strided(const T* from, T* to) {
  if constexpr (Axis < Kernel::places.first_contiguous()) {
    for (std::int64_t i = 0; i < Kernel::places.extent[Axis]; ++i)
      copy_strided<Kernel, Axis + 1>(from + i * Kernel::places.from[Axis], to + i * Kernel::places.to[Axis]);
  } else if constexpr (Kernel::places.contiguous() == 1) {
    *to = *from;
  } else if constexpr (Kernel::places.contiguous() > 1) {
    std::memcpy(to, from, static_cast<std::size_t>(Kernel::places.contiguous()) * sizeof(T));
  }
}
template <class C, int E>
struct moves {  // entries that move elements: x to y
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0), rank = C::values[y].shape.rank;
  using T = element_of<C, y>;
  static constexpr shape from = C::values[x].shape, to = C::values[y].shape;
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::transpose> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static constexpr detail::strided_places places = [] {
    const shape own = detail::strides_of(m::from);
    shape s = own;
    for (int i = 0; i < s.rank; ++i) s[i] = own[prim::rules::transpose::view(C::attributes(E)).permutation.number(i)];
    return detail::strided_places{m::to, s, detail::strides_of(m::to)};
  }();
  static constexpr bool of_matrix =
      m::rank == 2 && (std::is_same_v<typename m::T, float> || std::is_same_v<typename m::T, double>);

  static void run(frame& f) {
    const auto* x = elements<const typename m::T, C, m::x>(f);
    auto* y = elements<typename m::T, C, m::y>(f);
    if constexpr (of_matrix) {
      transpose<static_cast<int>(m::from[0]), static_cast<int>(m::from[1])>(x, y);
    } else {
      detail::copy_strided<kernel>(x, y);
    }
  }
};

// cut-begin slice_kernel
template <class C, int E>
struct kernel<C, E, &prim::slice> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static constexpr prim::rules::slice::view range{C::attributes(E)};
  static constexpr shape whole = detail::strides_of(m::from);
  static constexpr std::int64_t start = [] {
    std::int64_t n = 0;
    for (int i = 0; i < m::rank; ++i) n += range.start(i) * whole[i];
    return n;
  }();
  static constexpr detail::strided_places places = [] {
    shape stride = whole;
    for (int i = 0; i < m::rank; ++i) stride[i] *= range.stride(i);
    return detail::strided_places{m::to, stride, detail::strides_of(m::to)};
  }();
  static void run(frame& f) {
    detail::copy_strided<kernel>(elements<const typename m::T, C, m::x>(f) + start,
                                 elements<typename m::T, C, m::y>(f));
  }
};
// cut-end slice_kernel

template <class C, int E>
struct kernel<C, E, &prim::pad> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static constexpr prim::rules::pad::view zeros{C::attributes(E)};
  static constexpr shape whole = detail::strides_of(m::to);
  static constexpr std::int64_t start = [] {
    std::int64_t n = 0;
    for (int i = 0; i < m::rank; ++i) n += zeros.low(i) * whole[i];
    return n;
  }();
  static constexpr detail::strided_places places = [] {
    shape stride = whole;
    for (int i = 0; i < m::rank; ++i) stride[i] *= zeros.interior(i) + 1;
    return detail::strided_places{m::from, detail::strides_of(m::from), stride};
  }();
  static void run(frame& f) {
    auto* out = elements<typename m::T, C, m::y>(f);
    std::memset(out, 0, static_cast<std::size_t>(C::bytes(m::y)));
    if constexpr (m::from.size() > 0)
      detail::copy_strided<kernel>(elements<const typename m::T, C, m::x>(f), out + start);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::concatenate> {
  static void run(frame& f) {  // one after the other before the axis; contiguous from the axis on
    constexpr int y = C::result(E, 0), axis = prim::rules::concatenate::view(C::attributes(E)).axis;
    using T = element_of<C, y>;
    constexpr shape to = C::values[y].shape;
    std::int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= to[i];
    const std::int64_t row = outer == 0 ? 0 : to.size() / outer;
    std::int64_t at = 0;
    unroll<C::tape.entries[E].operands.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int x = C::operand(E, I);
      const T* p = elements<const T, C, x>(f);
      T* q = elements<T, C, y>(f) + at;
      const std::int64_t part = outer == 0 ? 0 : C::values[x].shape.size() / outer;
      for (std::int64_t o = 0; o < outer; ++o)
        std::memcpy(q + o * row, p + o * part, static_cast<std::size_t>(part) * sizeof(T));
      at += part;
    });
  }
};

}  // namespace drx::run
