// drx/scalar/constants_times_duals.hpp: the product of a matrix of plain numbers and a matrix of duals, the last step
// of skinning, finite elements and filters. A loop over duals would load each dual for each row, and carry directions
// that are zero.
#pragma once

#include <drx/scalar/dual.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drx::ad::detail {

#if !defined(__CUDACC__) && !defined(__HIPCC__)

/// The number of sums that stay in registers.
inline constexpr std::size_t sums_in_registers =
#if defined(__AVX512F__)
    24;
#else
    12;
#endif

/// c = a b for row-major matrices: a is M x K, b is K x N of duals. It takes V directions at once, and several rows of
/// a for each load of b. Rows of b whose V directions are all zero are left out, so that zero tangents stay zero
/// whatever a holds.
template <std::size_t M, std::size_t K, std::size_t N, class T, int D>
struct constants_times_duals {
  static constexpr std::size_t J = N < 3 ? N : 3, R = sums_in_registers / J,
                               V = static_cast<std::size_t>(tangent_lanes<T, D>);
  static constexpr std::size_t W =
      N < static_cast<std::size_t>(native_width<T>) ? std::bit_ceil(N) : static_cast<std::size_t>(native_width<T>);
  /// Whether the method pays, and its stack memory is at most 32 KiB.
  static constexpr bool applies = V > 1 && W > 1 && M >= 2 * R&& K* J* V * sizeof(T) <= 32768;

  template <std::size_t Lanes>
  struct lanes {
    typedef T native __attribute__((vector_size(sizeof(T) * Lanes)));
  };
  /// The rows of b that are not left out, one after the other, with their numbers.
  template <std::size_t Lanes, std::size_t Columns>
  struct panel {
    typename lanes<Lanes>::native rows[K][Columns];
    std::uint32_t number[K];
    std::size_t count = 0;

    /// Calls store(i, j, lanes of c(i, j)).
    template <class Store>
    void times(const T* a, Store store) const {
      constexpr std::size_t height = Columns == 1 ? sums_in_registers / 2 : R;
      for (std::size_t row = 0; row < M; row += height) {
        const std::size_t first = row + height > M ? M - height : row;  // the last rows overlap with those before
        typename lanes<Lanes>::native sum[height][Columns] = {};
        for (std::size_t k = 0; k < count; ++k) {
          const T* const from = a + first * K + number[k];
#pragma GCC unroll 32
          for (std::size_t i = 0; i < height; ++i)
#pragma GCC unroll 4
            for (std::size_t j = 0; j < Columns; ++j) sum[i][j] += rows[k][j] * from[i * K];
        }
        for (std::size_t i = 0; i < height; ++i)
          for (std::size_t j = 0; j < Columns; ++j) store(first + i, j, sum[i][j]);
      }
    }
  };

  static void run(const T* a, const dual<T, D>* b, dual<T, D>* c) {
    for (std::size_t column = 0; column < N; column += J) {
      const std::size_t first = column + J > N ? N - J : column;
      for (std::size_t chunk = 0; chunk < stored_tangents<T, D>; chunk += V) tangents(a, b + first, c + first, chunk);
    }
    for (std::size_t column = 0; column < N; column += W)
      values(a, b + column, c + column, N - column < W ? N - column : W);
  }
  static void tangents(const T* a, const dual<T, D>* b, dual<T, D>* c, std::size_t chunk) {
    panel<V, J> p;
    for (std::size_t k = 0; k < K; ++k) {
      T any = 0;  // nonzero if any is, or is NaN
      for (std::size_t j = 0; j < J; ++j) {
        const T* const from = b[k * N + j].tangent + chunk;
        std::memcpy(&p.rows[p.count][j], from, sizeof(p.rows[0][0]));
        for (std::size_t l = 0; l < V; ++l) any += static_cast<T>(from[l] != 0);
      }
      p.number[p.count] = static_cast<std::uint32_t>(k);
      p.count += any != 0;
    }
    p.times(a, [&](std::size_t i, std::size_t j, const auto& sum) {
      std::memcpy(c[i * N + j].tangent + chunk, &sum, sizeof(sum));
    });
  }
  static void values(const T* a, const dual<T, D>* b, dual<T, D>* c, std::size_t columns) {
    panel<W, 1> p;
    p.count = K;
    for (std::size_t k = 0; k < K; ++k) {
      T row[W] = {};
      for (std::size_t j = 0; j < columns; ++j) row[j] = b[k * N + j].value;
      std::memcpy(&p.rows[k][0], row, sizeof(row));
      p.number[k] = static_cast<std::uint32_t>(k);
    }
    p.times(a, [&](std::size_t i, std::size_t, const auto& sum) {
      for (std::size_t j = 0; j < columns; ++j) c[i * N + j].value = sum[j];
    });
  }
};

#endif

}  // namespace drx::ad::detail
