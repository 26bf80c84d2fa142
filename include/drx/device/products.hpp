// drx/device/products.hpp: matrix products by a team: each lane adds up a tile of the result in its registers. The
// terms of an element are added in an order that their number alone decides.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/kernel.hpp>
#include <drx/plan/memory/products.hpp>
#include <drx/run/packs/long_sums.hpp>

namespace drx::device {

/// The product that is entry E: z[i, j] = sum over l of x[i, l] y[l, j], for each of its batches.
template <class C, int E>
struct product {
  static constexpr int x = C::operand(E, 0), y = C::operand(E, 1), z = C::result(E, 0);
  using T = element_of<C, z>;
  static constexpr plan::product_extents extents = plan::extents_of(C::tape.view(), C::tape.entries[E]);
  static constexpr bool tx = extents.tx, ty = extents.ty;
  static constexpr std::int64_t m = extents.m, n = extents.n, k = extents.k;

  /// The rows or columns of a tile: more read less memory for each product, but leave lanes idle if there are few.
  static constexpr int tile_of(std::int64_t extent) {
    constexpr std::int64_t many = 2048, some = 512;  // results, for teams of 32 to 256 lanes
    return m * n >= many && extent >= 4 ? 4 : m * n >= some && extent >= 2 ? 2 : 1;
  }
  static constexpr int rows = tile_of(m), columns = tile_of(n);
  static constexpr std::int64_t tiles_down = (m + rows - 1) / rows, tiles_across = (n + columns - 1) / columns;

  /// Calls epilogue(row, column, sum) for each element of batch b.
  template <class Team, class Epilogue>
  DRX_INLINE static void run(const Team& team, const frame& f, std::int64_t b, const Epilogue& epilogue) {
    using X = element_of<C, x>;  // T, or 16 bits
    using Y = element_of<C, y>;
    const X* const p = elements<const X, C, x>(f) + b * m * k;
    const Y* const q = elements<const Y, C, y>(f) + b * k * n;
    for_each(team, tiles_down * tiles_across, [&](std::int64_t t) {
      // Neighbouring lanes have neighbouring columns; a tile's own columns and rows are far from each other.
      const std::int64_t i = t / tiles_across, j = t % tiles_across;
      std::int64_t row[rows], column[columns];
      for (int r = 0; r < rows; ++r) row[r] = i + r * tiles_down;
      for (int c = 0; c < columns; ++c) column[c] = j + c * tiles_across;
      const X* a[rows];
      const Y* d[columns];  // (beyond the end: the last row or column again, whose sums are thrown away)
      for (int r = 0; r < rows; ++r) a[r] = p + (row[r] < m ? row[r] : m - 1) * (tx ? 1 : k);
      for (int c = 0; c < columns; ++c) d[c] = q + (column[c] < n ? column[c] : n - 1) * (ty ? k : 1);
      T sum[rows][columns] = {};
      run::detail::add_up<static_cast<int>(k)>(sum, [&](int first, int depth) {
        for (std::int64_t l = first; l < first + depth; ++l) {
          T left[rows], right[columns];
          for (int r = 0; r < rows; ++r) left[r] = static_cast<T>(a[r][l * (tx ? m : 1)]);
          for (int c = 0; c < columns; ++c) right[c] = static_cast<T>(d[c][l * (ty ? 1 : n)]);
          for (int r = 0; r < rows; ++r)
            for (int c = 0; c < columns; ++c) sum[r][c] = wrapping_product_sum(left[r], right[c], sum[r][c]);
        }
      });
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
          if (row[r] < m && column[c] < n) epilogue(row[r], column[c], sum[r][c]);
    });
  }
};

template <class C, int E>
struct team_kernel<C, E, &prim::matmul> {
  using of = product<C, E>;
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    for (std::int64_t b = 0; b < of::extents.batches; ++b) {
      auto* const z = elements<typename of::T, C, of::z>(f) + b * of::m * of::n;
      of::run(team, f, b,
              [&](std::int64_t row, std::int64_t column, typename of::T sum) { z[row * of::n + column] = sum; });
    }
  }
};

/// A guarded product: an element that is infinite or NaN is added up again with the guard.
template <class C, int E>
struct team_kernel<C, E, &prim::azmatmul> {
  using of = product<C, E>;
  using T = typename of::T;
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    for (std::int64_t b = 0; b < of::extents.batches; ++b) {
      const T* const p = elements<const T, C, of::x>(f) + b * of::m * of::k;
      const T* const q = elements<const T, C, of::y>(f) + b * of::k * of::n;
      T* const z = elements<T, C, of::z>(f) + b * of::m * of::n;
      of::run(team, f, b, [&](std::int64_t row, std::int64_t column, T sum) {
        const bool finite = sum - sum == 0;
        z[row * of::n + column] = finite ? sum : run::kernel<C, E, &prim::azmatmul>::element(p, q, row, column);
      });
    }
  }
};

}  // namespace drx::device
