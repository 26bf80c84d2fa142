// drx/run/gemm/gemm.hpp: dense matrix product of constant size, row-major and contiguous, with an epilogue.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/run/gemm/epilogues.hpp>
#include <drx/run/gemm/shapes.hpp>
#include <drx/run/gemm/short_row.hpp>

#include <concepts>

namespace drx::run {

/// C = op(A) op(B): op(A) is M x K, stored K x M if TransA; op(B) is K x N, stored N x K if TransB. Any extent may be
/// 0. The matrix in a product with a vector may have numbers of 16 bits: the rows of dot products, or those that are
/// added up, of at least a pack each.
#if defined(__NVCC__)
#pragma nv_exec_check_disable
#endif
template <class T, int M, int N, int K, bool TransA, bool TransB, class A, class B, class Epilogue>
DRX_INLINE void gemm(const A* a, const B* b, Epilogue epilogue) {
  constexpr bool vectorised = (std::same_as<T, float> || std::same_as<T, double>) && M > 0 && N > 0 && K > 0;
  if constexpr (!vectorised) {
    for (int i = 0; i < M; ++i)
      for (int j = 0; j < N; ++j) {
        T sum[1][1] = {};
        detail::add_up<K>(sum, [&](int first, int depth) {
          for (int k = first; k < first + depth; ++k)
            sum[0][0] = wrapping_product_sum(static_cast<T>(a[TransA ? k * M + i : i * K + k]),
                                             static_cast<T>(b[TransB ? j * K + k : k * N + j]), sum[0][0]);
        });
        epilogue(i, j, sum[0][0]);
      }
  } else if constexpr ((N == 1 && !TransA) || (M == 1 && TransB)) {
    constexpr bool column = N == 1 && !TransA;
    const auto sink = [&]<int R>(int first, pack<T> sums, std::integral_constant<int, R>) {
      if constexpr (std::same_as<Epilogue, detail::store_epilogue<T, N>>) {  // in one store, so that packs can be read
                                                                             // at once
        detail::save_first<R>(epilogue.c + first, sums);
      } else {
        for (int r = 0; r < R; ++r) epilogue(column ? first + r : 0, column ? 0 : first + r, sums[r]);
      }
    };
    if constexpr (column)
      detail::dot_rows<T, M, K>(a, b, sink);
    else
      detail::dot_rows<T, N, K>(b, a, sink);
  } else if constexpr (M == 1 && detail::short_row_product<T, N, K>::fits &&
                       !requires { typename Epilogue::takes_tiles; }) {
    detail::short_row_product<T, N, K>::run(a, b, epilogue);
  } else if constexpr (N == 1) {  // as a row: neighbouring results then share a pack
    const auto turned = [&](int, int first, auto value) {
      if constexpr (std::same_as<decltype(value), T>)
        epilogue(first, 0, value);
      else
        for (int j = 0; j < pack_width<T>; ++j) epilogue(first + j, 0, value[j]);
    };
    if constexpr (detail::short_row_product<T, M, K>::fits)
      detail::short_row_product<T, M, K>::run(b, a, turned);
    else
      detail::tiled_product<T, 1, M, K, false, false>::run(b, a, turned);
  } else if constexpr (TransA && detail::narrow_product<T, M, N, K, TransB>::fits) {
    detail::narrow_product<T, M, N, K, TransB>::run(a, b, epilogue);
  } else if constexpr (TransA && detail::wide_product<T, M, N, K, TransB>::fits) {
    detail::wide_product<T, M, N, K, TransB>::run(a, b, epilogue);
  } else if constexpr (!TransA && TransB && detail::dotted_product<T, M, N, K>::fits) {
    detail::dotted_product<T, M, N, K>::run(a, b, epilogue);
  } else {
    detail::tiled_product<T, M, N, K, TransA, TransB>::run(a, b, epilogue);
  }
}

}  // namespace drx::run
