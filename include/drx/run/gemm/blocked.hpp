// drx/run/gemm/blocked.hpp: the product of large matrices, in blocks that are copied to where the caches hold them.
// Blocks of op(A) and op(B) are packed, in the order in which register tiles read them; the second cache holds the
// block of A, the first one a panel of B. Extents and strides are arguments, so that one function computes all products
// of an element type.
// Tested by tests/unit/run/blocked_products.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/run/packs/long_sums.hpp>
#include <drx/run/packs/pack.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace drx::run {

/// A matrix in memory: element (i, j) lies at data[i * row_stride + j * column_stride]. The transpose has the strides
/// exchanged.
template <class T>
struct strided_matrix {
  const T* data;
  std::int64_t row_stride, column_stride;

  DRX_HOST_INLINE const T* at(std::int64_t i, std::int64_t j) const {
    return data + i * row_stride + j * column_stride;
  }
};

/// Numbers of a product's packed blocks: rows and columns of a block in whole tiles of any target, whose rows are at
/// most 16 and whose columns are two of the widest vectors. Of B it is one panel if one block has all rows of A.
constexpr std::int64_t packed_rows(std::int64_t m) {
  return std::min(machine::product_rows, m + machine::widest_vector);
}
constexpr std::int64_t packed_columns(std::int64_t m, std::int64_t n) {
  constexpr std::int64_t panel = 2 * machine::widest_vector;
  return m <= machine::product_rows ? panel : std::min(machine::product_columns, n + panel);
}
/// Elements of both, and of the vector that is written, in part, beyond the end of A.
constexpr std::int64_t packed_size(std::int64_t m, std::int64_t n, std::int64_t k) {
  return (packed_rows(m) + packed_columns(m, n)) * std::min(machine::product_depth, k) + machine::widest_vector;
}
/// Elements that blocked_product computes in: packed blocks and, for long sums, a second result.
constexpr std::int64_t blocked_work(std::int64_t m, std::int64_t n, std::int64_t k) {
  return packed_size(m, n, k) + (k > machine::product_chain ? m * n : 0);
}

namespace detail {

/// C = op(A) op(B), where C is row-major.
template <class T>
struct blocked {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  static constexpr int W = pack_width<T>;
  /// A tile's sums take P packs in each of its rows; with P packs of B and one element of A they fill the registers.
  static constexpr int P = 2, columns = P * W;
  static constexpr int rows = many_registers ? 14 : vector_bytes > shortest_vector ? 6 : 4;
  static constexpr std::int64_t depth = machine::product_depth, block_rows = machine::product_rows,
                                block_columns = machine::product_columns;
  /// Steps of a tile's sums between two fetches.
  static constexpr std::int64_t between_fetches = 8;
  /// Columns of C that do not repay the time for packing A.
  static constexpr std::int64_t few_columns = 256;
  /// Columns of B that are packed at a time, panel by panel.
  static constexpr std::int64_t together = packed_columns(1, 1);
  static_assert(together % columns == 0 && depth <= longest_chain && block_rows % rows == 0 &&
                block_columns % columns == 0);

  strided_matrix<T> a, b;
  T* c;
  std::int64_t c_stride, m, n, k;

  static constexpr std::int64_t ceil_div(std::int64_t x, std::int64_t y) { return (x + y - 1) / y; }

  // ---- packing ----

  /// to[j * to_stride + i] = from[i * stride + j] for i < Rows, j < W. The W - Rows numbers behind each become zero.
  template <int Rows>
  DRX_HOST_INLINE static void turn(const T* from, std::int64_t stride, T* to, int to_stride) {
    pack<T> x[W];
    DRX_UNROLL
    for (int i = 0; i < W; ++i) x[i] = i < Rows ? load(from + i * stride) : pack<T>{};
    transpose_packs<T>(x);
    DRX_UNROLL
    for (int j = 0; j < W; ++j) save(to + j * to_stride, x[j]);
  }
  /// to[j * Lines + i] = from[i * stride + j] for i < Lines, j < count: numbers of neighbouring lines, each contiguous.
  template <int Lines>
  static void turn_lines(const T* from, std::int64_t stride, T* to, std::int64_t count) {
    std::int64_t j = 0;
    for (; j + W <= count; j += W) {
      if constexpr (Lines < W) {
        turn<Lines>(from + j, stride, to + j * Lines, Lines);
      } else {
        DRX_UNROLL
        for (int i = 0; i + W <= Lines; i += W) turn<W>(from + i * stride + j, stride, to + j * Lines + i, Lines);
        if constexpr (Lines % W != 0)
          turn<W>(from + (Lines - W) * stride + j, stride, to + j * Lines + Lines - W, Lines);
      }
    }
    for (; j < count; ++j)
      for (int i = 0; i < Lines; ++i) to[j * Lines + i] = from[i * stride + j];
  }
  /// to[j * Lines + i] = from[i * across + j * along] for i < lines, j < count, and zeros for other i < Lines.
  template <int Lines>
  static void pack_lines(const T* from, std::int64_t across, std::int64_t along, T* to, std::int64_t lines,
                         std::int64_t count) {
    if (lines == Lines && across == 1) {
      for (std::int64_t j = 0; j < count; ++j) std::memcpy(to + j * Lines, from + j * along, Lines * sizeof(T));
    } else if (lines == Lines && along == 1) {
      turn_lines<Lines>(from, across, to, count);
    } else {
      for (std::int64_t j = 0; j < count; ++j) {
        for (std::int64_t i = 0; i < lines; ++i) to[j * Lines + i] = from[i * across + j * along];
        for (std::int64_t i = lines; i < Lines; ++i) to[j * Lines + i] = T(0);
      }
    }
  }
  /// The lines of memory of which the next block or panel is packed. They are fetched to the second cache beside the
  /// multiplications before: where few tiles share a panel, waiting for its numbers took as long as the product.
  struct lines_ahead {
    const char* at = nullptr;
    std::int64_t step = 0, in_run = 0;          // runs of so many lines are contiguous, and begin `step` bytes apart
    std::int64_t line = 0, left = 0, each = 0;  // lines of this run that were fetched; of all left; at each call

    /// The operand from `from` on, as pack_lines reads it, in `times` calls.
    static lines_ahead of(const T* from, std::int64_t across, std::int64_t along, std::int64_t lines,
                          std::int64_t count, std::int64_t times) {
      constexpr std::int64_t bytes = sizeof(T);
      const bool turned = across != 1;
      const std::int64_t runs = turned ? lines : count;
      const std::int64_t in_run = ceil_div((turned ? count : lines) * bytes, machine::cache_line);
      return {reinterpret_cast<const char*>(from), (turned ? across : along) * bytes, in_run, 0, runs * in_run,
              ceil_div(runs * in_run, times)};
    }
    DRX_HOST_INLINE void fetch() {
      for (std::int64_t i = 0; i < each && left > 0; ++i, --left) {
        __builtin_prefetch(at + line * machine::cache_line, 0, 2);
        if (++line == in_run) line = 0, at += step;
      }
    }
  };

  /// The block of A from (i, l) on.
  void pack_a(T* to, std::int64_t i, std::int64_t height, std::int64_t l, std::int64_t deep) const {
    for (std::int64_t r = 0; r < height; r += rows, to += rows * deep)
      pack_lines<rows>(a.at(i + r, l), a.row_stride, a.column_stride, to, std::min<std::int64_t>(rows, height - r),
                       deep);
  }
  /// The panel of B from (l, j) on.
  void pack_b(T* to, std::int64_t l, std::int64_t deep, std::int64_t j, std::int64_t width) const {
    pack_lines<columns>(b.at(l, j), b.column_stride, b.row_stride, to, width, deep);
  }

  // ---- tiles ----

  /// The tile of R rows and Packs packs at `to` becomes, or adds, the product of rows of a panel of A and of one of B.
  template <int R, int Packs>
  static void tile(const T* x, const T* y, std::int64_t deep, T* to, std::int64_t stride, bool add, lines_ahead& next) {
    pack<T> sum[R][Packs] = {};
    for (std::int64_t l = 0; l < deep; l += between_fetches) {
      next.fetch();
      const std::int64_t steps = std::min(between_fetches, deep - l);
      for (std::int64_t s = 0; s < steps; ++s, x += rows, y += columns) {
        pack<T> row[Packs];
        DRX_UNROLL
        for (int p = 0; p < Packs; ++p) row[p] = load(y + p * W);
        DRX_UNROLL
        for (int r = 0; r < R; ++r) {
          const T factor = x[r];
          DRX_UNROLL
          for (int p = 0; p < Packs; ++p) sum[r][p] += factor * row[p];
        }
      }
    }
    if (add) {
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < Packs; ++p) sum[r][p] += load(to + r * stride + p * W);
    }
    DRX_UNROLL
    for (int r = 0; r < R; ++r) DRX_UNROLL
    for (int p = 0; p < Packs; ++p) save(to + r * stride + p * W, sum[r][p]);
  }
  using tile_function = void (*)(const T*, const T*, std::int64_t, T*, std::int64_t, bool, lines_ahead&);
  struct tile_table {
    tile_function of[rows / 2];
  };
  template <int Packs, int... I>
  static constexpr tile_table tiles_of(std::integer_sequence<int, I...>) {
    return {{tile<2 * (I + 1), Packs>...}};
  }
  /// The tile of at least `height` rows and `width` columns.
  static tile_function smallest_tile(std::int64_t height, std::int64_t width) {
    constexpr std::make_integer_sequence<int, rows / 2> heights{};
    static constexpr tile_table narrow = tiles_of<1>(heights), whole = tiles_of<P>(heights);
    return (width <= W ? narrow : whole).of[(height - 1) / 2];
  }
  /// The first `height` rows and `width` columns of a tile at the end of C.
  static void part_of_tile(const T* x, const T* y, std::int64_t deep, T* to, std::int64_t stride, bool add,
                           std::int64_t height, std::int64_t width, lines_ahead& next) {
    alignas(64) T whole[rows * columns];
    smallest_tile(height, width)(x, y, deep, whole, columns, false, next);
    for (std::int64_t r = 0; r < height; ++r, to += stride)
      for (std::int64_t j = 0; j < width; ++j) to[j] = add ? to[j] + whole[r * columns + j] : whole[r * columns + j];
  }

  // ---- blocks ----

  /// The extent of the first of as few blocks as possible, all about as large: a multiple of `unit`.
  static constexpr std::int64_t even(std::int64_t extent, std::int64_t most, std::int64_t unit) {
    return ceil_div(ceil_div(extent, ceil_div(extent, most)), unit) * unit;
  }
  void run(T* work) const {
    if (m == 0 || n == 0) return;
    if (k == 0) {
      for (std::int64_t i = 0; i < m; ++i) std::fill_n(c + i * c_stride, n, T(0));
      return;
    }
    const std::int64_t high = even(m, block_rows, rows), deep = std::min(k, even(k, depth, machine::widest_vector));
    // Where one block has all of A's rows, a panel of B is read once, and the next one takes its place.
    const bool keeps_panels = m > high;
    const std::int64_t wide = keeps_panels ? even(n, block_columns, columns) : n;
    T* const packed_b = work;
    T* const packed_a = work + packed_columns(m, n) * deep;
    for (std::int64_t j = 0; j < n; j += wide)
      for (std::int64_t l = 0; l < k; l += deep)
        for (std::int64_t i = 0; i < m; i += high)
          multiply_block({i, std::min(high, m - i), j, std::min(wide, n - j), l, std::min(deep, k - l), keeps_panels},
                         packed_a, packed_b);
  }
  struct block {
    std::int64_t i, high, j, wide, l, terms;
    bool keeps_panels;
  };
  void multiply_block(const block& at, T* packed_a, T* packed_b) const {
    const auto [i, high, j, wide, l, terms, keeps_panels] = at;
    const std::int64_t fetches = ceil_div(high, rows) * ceil_div(terms, between_fetches), below = i + high;
    lines_ahead next;
    if (wide <= few_columns && below < m)
      next = lines_ahead::of(a.at(below, l), a.row_stride, a.column_stride, std::min(high, m - below), terms,
                             fetches * ceil_div(wide, columns));
    pack_a(packed_a, i, high, l, terms);
    for (std::int64_t begin = j; begin < j + wide; begin += together) {
      const std::int64_t end = std::min(begin + together, j + wide);
      T* const panels = packed_b + (keeps_panels ? (begin - j) * terms : 0);
      const auto width = [&](std::int64_t panel) { return std::min<std::int64_t>(columns, end - panel); };
      if (i == 0) {
        for (std::int64_t panel = begin; panel < end; panel += columns)
          pack_b(panels + (panel - begin) * terms, l, terms, panel, width(panel));
        if (wide > few_columns)
          next = lines_ahead::of(b.at(l, end), b.column_stride, b.row_stride, std::min(together, j + wide - end), terms,
                                 fetches * (together / columns));
      }
      for (std::int64_t panel = begin; panel < end; panel += columns)
        multiply(packed_a, panels + (panel - begin) * terms, terms, i, high, panel, width(panel), l != 0, next);
    }
  }
  /// A packed block of A times a packed panel of B.
  void multiply(const T* x, const T* y, std::int64_t terms, std::int64_t i, std::int64_t high, std::int64_t j,
                std::int64_t width, bool add, lines_ahead& next) const {
    for (std::int64_t r = 0; r < high; r += rows, x += rows * terms) {
      const std::int64_t height = std::min<std::int64_t>(rows, high - r);
      T* const to = c + (i + r) * c_stride + j;
      if (height == rows && width == columns)
        tile<rows, P>(x, y, terms, to, c_stride, add, next);
      else
        part_of_tile(x, y, terms, to, c_stride, add, height, width, next);
    }
  }
};

}  // namespace detail

/// C = op(A) op(B): op(A) is m x k, op(B) is k x n; row i of C begins at c + i c_stride. `work` has
/// blocked_work(m, n, k) elements, aligned as arrays are. Each sum is one of parts of up to
/// machine::product_depth terms, in an order that depends on k alone.
template <class T>
void blocked_product(strided_matrix<T> a, strided_matrix<T> b, T* c, std::int64_t c_stride, std::int64_t m,
                     std::int64_t n, std::int64_t k, T* work) {
  constexpr std::int64_t chain = machine::product_chain;
  detail::blocked<T>{a, b, c, c_stride, m, n, std::min(k, chain)}.run(work);
  T* const next = work + packed_size(m, n, k);
  for (std::int64_t l = chain; l < k; l += chain) {
    a.data = a.at(0, chain), b.data = b.at(chain, 0);
    detail::blocked<T>{a, b, next, n, m, n, std::min(k - l, chain)}.run(work);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c[i * c_stride + j] += next[i * n + j];
  }
}

/// The same product as tasks, each of which computes some of C's rows, or of its columns, if these are more.
template <class T>
struct dealt_product {
  strided_matrix<T> a, b;
  T* c;
  std::int64_t m, n, k;
  int tasks;

  /// As many tasks as there are threads, if each has enough to do.
  static constexpr int tasks_for(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t threads) {
    const std::int64_t most = std::min(std::max(m, n) / unit, m * n * k / machine::least_dealt_multiplications);
    return static_cast<int>(std::max(std::min(threads, most), std::int64_t{1}));
  }
  [[nodiscard]] std::int64_t work_of(int task) const {
    const std::int64_t extent = end(task) - end(task - 1);
    return blocked_work(by_rows() ? extent : m, by_rows() ? n : extent, k);
  }
  void run(int task, T* work) const {
    const std::int64_t first = end(task - 1), extent = end(task) - first;
    if (by_rows())
      blocked_product({a.at(first, 0), a.row_stride, a.column_stride}, b, c + first * n, n, extent, n, k, work);
    else
      blocked_product(a, {b.at(0, first), b.row_stride, b.column_stride}, c + first, n, m, extent, k, work);
  }

 private:
  static constexpr std::int64_t unit = 2 * machine::widest_vector;  // whole tiles of columns
  [[nodiscard]] bool by_rows() const { return m >= n; }
  /// The first row, or column, after those of a task.
  [[nodiscard]] std::int64_t end(int task) const {
    const std::int64_t all = by_rows() ? m : n;
    return task + 1 == tasks ? all : all * (task + 1) / tasks / unit * unit;
  }
};

}  // namespace drx::run
