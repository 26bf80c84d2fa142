// drx/run/gemm/epilogues.hpp: epilogues, which receive each element of a product's result exactly once, finished:
//   epilogue(row, col, pack<T> values)  columns col .. col + W - 1 of a row, or
//   epilogue(row, col, pack<T> values, std::integral_constant<int, Count>)   only the first Count of them
//                                       (the last N % W), or
//   epilogue(row, col, T value)         a single element (if it takes no Count; all elements in the plain loop).
// If N is a multiple of W, an epilogue with a type `takes_tiles` receives whole tiles instead:
//   epilogue.template finish<Cols>(const T* tile, row, rows, col)   rows x Cols finished elements, row by row.
// A long epilogue over packs (tanh) also has a type `beside_products`: a tile's packs go through it one by one between
// the steps of the next tile's products, which fill the time that its chain of operations leaves.
// Tested by tests/unit/run/gemm.cpp.
#pragma once

#include <drx/run/packs/pack.hpp>

#include <type_traits>

namespace drx::run {

namespace detail {

template <class T, int N>
struct store_epilogue {
  T* c;
  DRX_INLINE void operator()(int row, int col, T value) const { c[row * N + col] = value; }
  DRX_HOST_INLINE void operator()(int row, int col, pack<T> value) const { save(c + row * N + col, value); }
  template <int Count>
  DRX_HOST_INLINE void operator()(int row, int col, pack<T> value, std::integral_constant<int, Count>) const {
    save_first<Count>(c + row * N + col, value);
  }
};

template <class T, int N>
struct add_epilogue {
  T* c;
  DRX_INLINE void operator()(int row, int col, T value) const { c[row * N + col] += value; }
  DRX_HOST_INLINE void operator()(int row, int col, pack<T> value) const {
    T* p = c + row * N + col;
    save(p, load(p) + value);
  }
  template <int Count>
  DRX_HOST_INLINE void operator()(int row, int col, pack<T> value, std::integral_constant<int, Count>) const {
    add_first<Count>(c + row * N + col, value);
  }
};

}  // namespace detail

/// Epilogues for a contiguous C with N columns: C = op(A) op(B), and C += op(A) op(B).
template <int N, class T>
DRX_INLINE detail::store_epilogue<T, N> store_to(T* c) {
  return {c};
}
template <int N, class T>
DRX_INLINE detail::add_epilogue<T, N> add_to(T* c) {
  return {c};
}

}  // namespace drx::run
