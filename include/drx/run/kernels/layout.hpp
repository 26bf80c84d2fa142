// drx/run/kernels/layout.hpp: the kernels that move elements: transpose, slice, pad, concatenate.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/run/kernels/kernel.hpp>
#include <drx/run/packs/pack.hpp>

#include <cstring>

namespace drx::run {

namespace detail {
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
/// Copies an array of the given extents between two strided places.
template <int Rank, int Axis = 0, class T>
inline void copy_strided(const T* from, const shape& from_stride, T* to, const shape& to_stride, const shape& extent) {
  if constexpr (Axis == Rank) {
    *to = *from;
  } else {
    for (std::int64_t i = 0; i < extent[Axis]; ++i)
      copy_strided<Rank, Axis + 1>(from + i * from_stride[Axis], from_stride, to + i * to_stride[Axis], to_stride,
                                   extent);
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
  static constexpr shape stride = [] {
    const shape own = detail::strides_of(m::from);
    shape s = own;
    for (int i = 0; i < s.rank; ++i) s[i] = own[prim::rules::transpose::view(C::attributes(E)).permutation.number(i)];
    return s;
  }();
  static constexpr bool of_matrix =
      m::rank == 2 && (std::is_same_v<typename m::T, float> || std::is_same_v<typename m::T, double>);

  static void run(frame& f) {
    const auto* x = elements<const typename m::T, C, m::x>(f);
    auto* y = elements<typename m::T, C, m::y>(f);
    if constexpr (of_matrix) {
      transpose<static_cast<int>(m::from[0]), static_cast<int>(m::from[1])>(x, y);
    } else {
      detail::copy_strided<m::rank>(x, stride, y, detail::strides_of(m::to), m::to);
    }
  }
};

// cut-begin slice_kernel
template <class C, int E>
struct kernel<C, E, &prim::slice> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static void run(frame& f) {
    constexpr prim::rules::slice::view range(C::attributes(E));
    shape stride = detail::strides_of(m::from);
    std::int64_t start = 0;
    for (int i = 0; i < m::rank; ++i) {
      start += range.start(i) * stride[i];
      stride[i] *= range.stride(i);
    }
    detail::copy_strided<m::rank>(elements<const typename m::T, C, m::x>(f) + start, stride,
                                  elements<typename m::T, C, m::y>(f), detail::strides_of(m::to), m::to);
  }
};
// cut-end slice_kernel

template <class C, int E>
struct kernel<C, E, &prim::pad> : detail::moves<C, E> {
  using m = detail::moves<C, E>;
  static void run(frame& f) {
    constexpr prim::rules::pad::view zeros(C::attributes(E));
    shape stride = detail::strides_of(m::to);
    std::int64_t start = 0;
    for (int i = 0; i < m::rank; ++i) {
      start += zeros.low(i) * stride[i];
      stride[i] *= zeros.interior(i) + 1;
    }
    auto* out = elements<typename m::T, C, m::y>(f);
    std::memset(out, 0, static_cast<std::size_t>(C::bytes(m::y)));
    if (m::from.size() > 0)
      detail::copy_strided<m::rank>(elements<const typename m::T, C, m::x>(f), detail::strides_of(m::from), out + start,
                                    stride, m::from);
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
