// drx/run/gemm/epilogues.hpp: what happens to a product's result. Each of its elements is handed to the epilogue exactly once, finished:
//   epilogue(row, col, pack<T> values)  columns col .. col + W - 1 of a row, or
//   epilogue(row, col, pack<T> values, std::integral_constant<int, Count>)   only the first Count of them (the last N % W), or
//   epilogue(row, col, T value)         a single element (where it takes no Count; all of them in the plain loop).
// An epilogue with a type `takes_tiles`, for an N that is a multiple of W, gets whole tiles instead:
//   epilogue.template finish<Cols>(const T* tile, row, rows, col)   rows x Cols finished elements, one row behind the other.
// A long one of packs (tanh) has a type `beside_products` besides: a tile's packs go through it one by one between the steps of the next
// tile's products, which fill the time that its chain of operations leaves.
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

/// Epilogues for a contiguous C of N columns: C = op(A) op(B), and C += op(A) op(B).
template <int N, class T>
DRX_INLINE detail::store_epilogue<T, N> store_to(T* c) {
  return {c};
}
template <int N, class T>
DRX_INLINE detail::add_epilogue<T, N> add_to(T* c) {
  return {c};
}

}  // namespace drx::run
