// processors: aarch64
// Transposes of few rows and of few columns in packs: nothing before the first number is read, and nothing behind the
// last one. Pages that may not be read lie on both sides.
#include <drx/run/packs/pack.hpp>

#include <doctest/doctest.h>

#include "harness/guarded.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {
using drx::run::pack_width;
using harness::guarded;

/// Transposes of a matrix at the beginning and at the end of what may be read and written.
template <int Rows, int Cols, class T>
void check() {
  constexpr std::size_t n = std::size_t{Rows} * Cols;
  guarded source(n * sizeof(T)), result(n * sizeof(T));
  CAPTURE(Rows);
  CAPTURE(Cols);
  for (const bool at_end : {false, true}) {
    T* const x = at_end ? source.last<T>(n) : source.first<T>();
    T* const y = at_end ? result.last<T>(n) : result.first<T>();
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(i + 1), y[i] = T(0);
    drx::run::transpose<Rows, Cols>(x, y);
    bool same = true;
    for (std::size_t i = 0; i < n; ++i) same = same && y[i % Cols * Rows + i / Cols] == x[i];
    CHECK(same);
  }
}
/// All numbers of few columns of one block of rows and of several, and of few rows.
template <class T>
void check_all() {
  constexpr int W = pack_width<T>;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (check<W, 2 + I, T>(), ...);
    (check<3 * W, 2 + I, T>(), ...);
    (check<2 + I, W, T>(), ...);
    (check<2 + I, 3 * W, T>(), ...);
  }(std::make_integer_sequence<int, W - 2>{});
}
/// One block, its rows zeros behind the last.
template <int Rows, class T>
void check_zeros() {
  constexpr int W = pack_width<T>, stride = W + 3;
  constexpr std::size_t n = std::size_t{Rows - 1} * stride + W;
  guarded source(n * sizeof(T));
  CAPTURE(Rows);
  for (const bool at_end : {false, true}) {
    T* const x = at_end ? source.last<T>(n) : source.first<T>();
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(i + 1);
    std::vector<T> y(std::size_t{W} * W, T(77));
    drx::run::detail::transpose_block<Rows, W>(x, stride, y.data(), W);
    bool same = true;
    for (int k = 0; k < W; ++k)
      for (int j = 0; j < W; ++j)
        same = same && y[static_cast<std::size_t>(k * W + j)] == (j < Rows ? x[j * stride + k] : T(0));
    CHECK(same);
  }
}
/// Whole rows of a matrix, the columns of the result apart.
template <int Cols, class T>
void check_rows() {
  constexpr int W = pack_width<T>, stride = 2 * W + 1;
  constexpr std::size_t n = std::size_t{W} * Cols;
  guarded source(n * sizeof(T));
  CAPTURE(Cols);
  for (const bool at_end : {false, true}) {
    T* const x = at_end ? source.last<T>(n) : source.first<T>();
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<T>(i + 1);
    std::vector<T> y(std::size_t{stride} * Cols, T(77));
    drx::run::detail::transpose_rows<Cols>(x, y.data(), stride);
    bool same = true;
    for (int k = 0; k < Cols; ++k)
      for (int j = 0; j < stride; ++j)
        same = same && y[static_cast<std::size_t>(k * stride + j)] == (j < W ? x[j * Cols + k] : T(77));
    CHECK(same);
  }
}
}  // namespace

TEST_CASE_TEMPLATE("few columns and few rows", T, float, double, std::int32_t) { check_all<T>(); }
TEST_CASE_TEMPLATE("rows of few columns, and of more than a pack", T, float, double) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (check_rows<1 + I, T>(), ...);
  }(std::make_integer_sequence<int, pack_width<T> + 2>{});
}
TEST_CASE_TEMPLATE("a block of few rows, zeros behind the last", T, float, double) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (check_zeros<1 + I, T>(), ...);
  }(std::make_integer_sequence<int, pack_width<T> - 1>{});
}
