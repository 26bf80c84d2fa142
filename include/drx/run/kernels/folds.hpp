// drx/run/kernels/folds.hpp: the kernels of sums, products and extrema over axes of an array.
// Tested by tests/unit/run/executor.cpp and tests/unit/run/long_sums.cpp.
#pragma once

#include <drx/run/data/dealt.hpp>
#include <drx/run/kernels/fold_operations.hpp>
#include <drx/run/kernels/layout.hpp>
#include <drx/run/packs/not_numbers.hpp>

namespace drx::run {

namespace detail {
// Long rows are halved, again and again, so that the error of a sum grows with the logarithm of its length.

inline constexpr std::int64_t lanes_of_row = 16;       // sums side by side: one register of floats, or two of doubles
inline constexpr std::int64_t part_of_row = 1024;      // numbers that are added up in lanes, not in halves
inline constexpr std::int64_t part_of_columns = 128;   // rows that are added up one after the other, not in halves
inline constexpr std::int64_t short_row_of_many = 32;  // shorter rows, if many, are folded side by side
inline constexpr std::int64_t long_row_of_many = 128;  // longer rows are folded one by one, in several chains
inline constexpr std::int64_t most_columns_in_registers = 256;  // more columns are folded row by row
inline constexpr std::int64_t shared_row = 128 * part_of_row;   // numbers of a row that threads share

/// Whether op folds numbers that packs hold: products do not.
template <class T, class Op>
inline constexpr bool is_folded_in_packs =
    (std::is_same_v<T, float> || std::is_same_v<T, double>) &&
    (std::is_same_v<Op, add_op> || std::is_same_v<Op, max_op> || std::is_same_v<Op, min_op>);

/// Folds the lanes of x, halving.
template <class T, class Op>
inline T fold_lanes(T (&lane)[lanes_of_row], Op op) {
  static_assert(lanes_of_row == 16);
  for (std::int64_t l = 0; l < 8; ++l)
    lane[l] = op(lane[l], lane[l + 8]);  // (g++ 12 does not unroll one loop over widths)
  for (std::int64_t l = 0; l < 4; ++l) lane[l] = op(lane[l], lane[l + 4]);
  for (std::int64_t l = 0; l < 2; ++l) lane[l] = op(lane[l], lane[l + 2]);
  return op(lane[0], lane[1]);
}
#if !defined(__CUDACC__)
/// Folds the first n / (Chains lanes_of_row) Chains lanes_of_row numbers of a row into lanes, in so many chains of
/// operations, which hide the time that one takes. Returns how many numbers these are.
template <int Chains, class T, class Op>
inline std::int64_t fold_in_chains(const T* row, std::int64_t n, T (&lane)[lanes_of_row], Op op) {
  constexpr int width = pack_width<T>, packs = Chains * static_cast<int>(lanes_of_row) / width;
  pack<T> chain[packs];
  for (int p = 0; p < packs; ++p) chain[p] = load(row + p * width);
  std::int64_t i = packs * width;
  for (; i + packs * width <= n; i += packs * width)
    for (int p = 0; p < packs; ++p) chain[p] = op(chain[p], load(row + i + p * width));
  for (int half = packs / 2; half * width >= static_cast<int>(lanes_of_row); half /= 2)
    for (int p = 0; p < half; ++p) chain[p] = op(chain[p], chain[p + half]);
  for (int p = 0; p * width < static_cast<int>(lanes_of_row); ++p) save(lane + p * width, chain[p]);
  return i;
}
#endif
/// Folds n >= lanes_of_row numbers in a row: fewer than two parts in lanes side by side, then the lanes.
template <class T, class Op>
inline T fold_row(const T* row, std::int64_t n, Op op) {
  constexpr std::int64_t lanes = lanes_of_row, part = part_of_row;
  if (n >= 2 * part) {
    const std::int64_t half = n / part / 2 * part;
    return op(fold_row(row, half, op), fold_row(row + half, n - half, op));
  }
  alignas(64) T lane[lanes];
  std::int64_t i = 0;
#if !defined(__CUDACC__)
  if constexpr ((std::is_same_v<T, float> || std::is_same_v<T, double>) && lanes % pack_width<T> == 0) {
    constexpr int chains = 4;
    i = n >= chains * lanes ? fold_in_chains<chains>(row, n, lane, op) : fold_in_chains<1>(row, n, lane, op);
  }
#endif
  if (i == 0)
    for (; i < lanes; ++i) lane[i] = row[i];
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) lane[l] = op(lane[l], row[i + l]);
  for (std::int64_t l = 0; i + l < n; ++l) lane[l] = op(lane[l], row[i + l]);
  return fold_lanes(lane, op);
}
/// Folds a row so long that threads share it: parts that are halves of halves, then these, in the order of fold_row.
template <class T, class Op>
inline T fold_long_row(const frame& f, const T* row, std::int64_t n, Op op) {
  constexpr int halvings = 5, parts = 1 << halvings;
  T folded[parts];
  deal(f, parts, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      const T* at = row;
      std::int64_t left = n;
      for (int bit = halvings - 1; bit >= 0; --bit) {
        const std::int64_t half = left / part_of_row / 2 * part_of_row;
        at += (part >> bit & 1) != 0 ? half : 0;
        left = (part >> bit & 1) != 0 ? left - half : half;
      }
      folded[part] = fold_row(at, left, op);
    }
  });
  for (int count = parts / 2; count > 0; count /= 2)
    for (int i = 0; i < count; ++i) folded[i] = op(folded[2 * i], folded[2 * i + 1]);
  return folded[0];
}
/// Folds columns of n rows, with the next row `stride` further: fewer than two parts one after the other.
template <class T, class Op>
inline void fold_columns(const T* __restrict x, std::int64_t n, std::int64_t stride, T* __restrict out,
                         std::int64_t columns, T start, Op op) {
  constexpr std::int64_t part = part_of_columns, width = 256;  // so many columns at a time, whose sums lie on the stack
  if (n < 2 * part) {
    for (std::int64_t i = 0; i < columns; ++i) out[i] = start;
    for (std::int64_t k = 0; k < n; ++k)
      for (std::int64_t i = 0; i < columns; ++i) out[i] = op(out[i], x[k * stride + i]);
    return;
  }
  const std::int64_t half = n / part / 2 * part;
  for (std::int64_t at = 0; at < columns; at += width) {
    const std::int64_t some = columns - at < width ? columns - at : width;
    T second[width];
    fold_columns(x + at, half, stride, out + at, some, start, op);
    fold_columns(x + half * stride + at, n - half, stride, second, some, start, op);
    for (std::int64_t i = 0; i < some; ++i) out[at + i] = op(out[at + i], second[i]);
  }
}
/// Folds rows of few numbers from number `row` on: as many rows side by side as a pack has lanes.
template <class T, std::int64_t Rows, std::int64_t N, class Op>
inline void fold_short_rows(const T* __restrict x, T* __restrict y, std::int64_t row, T start, Op op) {
#if !defined(__CUDACC__)
  if constexpr ((std::is_same_v<T, float> || std::is_same_v<T, double>) && N > 1) {
    constexpr int lanes = pack_width<T>;
    constexpr std::int64_t whole =
        Rows / lanes * lanes;  // a constant: else g++ 12 warns of an overflow in the last loop
    for (; row + lanes <= whole; row += lanes) {
      alignas(64) T turned[N * lanes];
      detail::transpose_rows<static_cast<int>(N)>(x + row * N, turned, lanes);
      pack<T> total = start - pack<T>{};
      for (std::int64_t i = 0; i < N; ++i) total = op(total, load(turned + i * lanes));
      save(y + row, total);
    }
    if constexpr (Rows % lanes == 0) return;  // (g++ 12 believes that the loop below reads past the end of x)
  }
#endif
  for (; row < Rows; ++row) {
    T total = start;
    for (std::int64_t i = 0; i < N; ++i) total = op(total, x[row * N + i]);
    y[row] = total;
  }
}
#if !defined(__CUDACC__)
/// Rows of N numbers, at least a pack: each is folded into one pack, and the packs of as many rows as lanes side by
/// side. Returns how many rows were folded.
template <class T, std::int64_t Rows, std::int64_t N, class Op>
inline std::int64_t fold_packs_of_rows(const T* __restrict x, T* __restrict y, Op op) {
  constexpr int width = pack_width<T>, tail = static_cast<int>(N % width);
  constexpr std::int64_t whole = Rows / width * width;
  constexpr std::make_integer_sequence<int, width> lanes{};
  for (std::int64_t row = 0; row < whole; row += width) {
    pack<T> folded[width];
    DRX_UNROLL
    for (int r = 0; r < width; ++r) {
      const T* from = x + (row + r) * N;
      pack<T> total = load(from);
      DRX_UNROLL
      for (std::int64_t i = width; i + width <= N; i += width) total = op(total, load(from + i));
      if constexpr (tail > 0) {  // the last pack of the row: of an extremum it may count numbers twice
        pack<T> last = load(from + N - width);
        if constexpr (std::is_same_v<Op, add_op>) last = last_lanes<T, tail>(last, lanes);
        total = op(total, last);
      }
      folded[r] = total;
    }
    save(y + row, folds_of_all_lanes<T>(folded, op));
  }
  return whole;
}
#endif
#if !defined(__CUDACC__)
/// Rows from which on an extremum of numbers is found first, and again if a NaN was among them.
inline constexpr std::int64_t least_rows_of_numbers = 4;
/// The extrema of Count packs of columns over n rows, if there is no NaN among them. Returns whether that is so: the
/// sum of all is then no NaN. (It may be one if infinities are there.)
template <int Count, class T, class Op>
DRX_HOST_INLINE bool fold_columns_of_numbers(const T* __restrict x, std::int64_t n, std::int64_t stride,
                                             T* __restrict out, Op) {
  pack<T> total[Count], sum[Count];
  DRX_UNROLL
  for (int c = 0; c < Count; ++c) sum[c] = total[c] = load(x + c * pack_width<T>);
  for (std::int64_t k = 1; k < n; ++k) {
    DRX_UNROLL
    for (int c = 0; c < Count; ++c) {
      const pack<T> next = load(x + k * stride + c * pack_width<T>);
      total[c] = Op::of_numbers(total[c], next);
      sum[c] += next;
    }
  }
  DRX_UNROLL
  for (int c = 0; c < Count; ++c) save(out + c * pack_width<T>, total[c]);
  DRX_UNROLL
  for (int c = 1; c < Count; ++c) sum[0] += sum[c];
  return !has_nan<T>(sum[0]);
}
/// Folds Count vectors of Width columns over n rows; the totals stay in registers.
template <int Width, int Count, class T, class Op>
DRX_HOST_INLINE void fold_vectors_of_columns(const T* __restrict x, std::int64_t n, std::int64_t stride,
                                             T* __restrict out, T start, Op op) {
  using some = typename vector<T, Width>::anywhere;
  if constexpr (!std::is_same_v<Op, add_op> && Width == pack_width<T>)
    if (n >= least_rows_of_numbers && fold_columns_of_numbers<Count>(x, n, stride, out, op)) return;
  typename vector<T, Width>::type total[Count];
  DRX_UNROLL
  for (int c = 0; c < Count; ++c) total[c] = start - typename vector<T, Width>::type{};
  for (std::int64_t k = 0; k < n; ++k, x += stride) {
    DRX_UNROLL
    for (int c = 0; c < Count; ++c) total[c] = op(total[c], *reinterpret_cast<const some*>(x + c * Width));
  }
  DRX_UNROLL
  for (int c = 0; c < Count; ++c) *reinterpret_cast<some*>(out + c * Width) = total[c];
}
/// Folds few columns of n rows: vectors of Width columns, then shorter ones. (g++ unrolls a loop over as many columns
/// as a vector has before it looks for vectors, and finds none for extrema.)
template <std::int64_t Columns, int Width, class T, class Op>
DRX_HOST_INLINE void fold_few_columns(const T* __restrict x, std::int64_t n, std::int64_t stride, T* __restrict out,
                                      T start, Op op) {
  constexpr int chains = 4;
  constexpr std::int64_t at_once = Columns >= chains * Width ? chains * Width : Width,
                         done = Columns / at_once * at_once;
  for (std::int64_t i = 0; i < done; i += at_once)
    fold_vectors_of_columns<Width, static_cast<int>(at_once / Width)>(x + i, n, stride, out + i, start, op);
  if constexpr (done == Columns) {
    return;
  } else if constexpr (Columns - done >= Width) {
    fold_few_columns<Columns - done, Width>(x + done, n, stride, out + done, start, op);
  } else if constexpr (Width * static_cast<int>(sizeof(T)) > shortest_vector) {
    fold_few_columns<Columns - done, Width / 2>(x + done, n, stride, out + done, start, op);
  } else {
    for (std::int64_t i = done; i < Columns; ++i) {
      T total = start;
      for (std::int64_t k = 0; k < n; ++k) total = op(total, x[k * stride + i]);
      out[i] = total;
    }
  }
}
#endif
/// Folds over one run of axes: x is [outer, middle, inner], the result [outer, inner]. The order is fixed by the shape
/// alone.
template <class T, std::int64_t Outer, std::int64_t Middle, std::int64_t Inner, class Op>
inline void fold_axis(const T* __restrict x, T* __restrict y, T start, Op op) {
  if constexpr (Inner == 1 && std::is_integral_v<T>) {  // (exact in any order, which the compiler then chooses)
    using number = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;  // (g++ finds no vectors of bool)
    for (std::int64_t o = 0; o < Outer; ++o) {
      number total = start;
      for (std::int64_t i = 0; i < Middle; ++i) total = op(total, static_cast<number>(x[o * Middle + i]));
      y[o] = static_cast<T>(total);
    }
  } else if constexpr (Inner == 1) {
    std::int64_t o = 0;
#if !defined(__CUDACC__)
    if constexpr (is_folded_in_packs<T, Op> && Middle >= pack_width<T> && Middle < long_row_of_many) {
      o = fold_packs_of_rows<T, Outer, Middle>(x, y, op);
      if constexpr (Outer % pack_width<T> == 0) return;
    }
#endif
    if constexpr (Middle < (Outer == 1 ? lanes_of_row : short_row_of_many)) {
      fold_short_rows<T, Outer, Middle>(x, y, o, start, op);
    } else {
      for (; o < Outer; ++o) y[o] = fold_row(x + o * Middle, Middle, op);
    }
  } else {
    for (std::int64_t o = 0; o < Outer; ++o) {
      T* out = y + o * Inner;
      if constexpr (Middle >= 2 * part_of_columns) {
        fold_columns(x + o * Middle * Inner, Middle, Inner, out, Inner, start, op);
#if !defined(__CUDACC__)
      } else if constexpr (is_folded_in_packs<T, Op> && Inner <= most_columns_in_registers) {
        fold_few_columns<Inner, pack_width<T>>(x + o * Middle * Inner, Middle, Inner, out, start, op);
#endif
      } else {
        for (std::int64_t i = 0; i < Inner; ++i) out[i] = start;
        for (std::int64_t k = 0; k < Middle; ++k) {
          const T* row = x + (o * Middle + k) * Inner;
          for (std::int64_t i = 0; i < Inner; ++i) out[i] = op(out[i], row[i]);
        }
      }
    }
  }
}

template <class C, int E, class Op>
struct fold_kernel {
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0);
  using T = element_of<C, y>;
  static constexpr shape from = C::values[x].shape;
  static constexpr int axes = prim::rules::over_axes::view(C::attributes(E)).axes.size();
  static constexpr bool adjacent = prim::rules::over_axes::view(C::attributes(E)).are_neighbours();
  static constexpr bool is_folded(int axis) {
    return prim::rules::over_axes::view(C::attributes(E)).axes.contains(axis);
  }
  static constexpr T start() {
    if constexpr (std::is_same_v<Op, add_op>)
      return T{};
    else
      return std::is_same_v<Op, max_op> ? least_number<T>() : greatest_number<T>();
  }
  static constexpr std::int64_t extent(int first, int last) {
    std::int64_t n = 1;
    for (int i = first; i < last; ++i) n *= from[i];
    return n;
  }
  static void run(frame& f) {
    if constexpr (adjacent && from.size() > 0) {
      constexpr int first = prim::rules::over_axes::view(C::attributes(E)).axes.number(0);
      constexpr std::int64_t outer = extent(0, first), middle = extent(first, first + axes),
                             inner = extent(first + axes, from.rank);
      const T* p = elements<const T, C, x>(f);
      T* const to = elements<T, C, y>(f);
      constexpr bool is_dealt = std::is_floating_point_v<T> && from.size() >= machine::least_dealt_numbers;
      if constexpr (is_dealt && inner == 1 && outer == 1 && middle >= shared_row) {
        to[0] = fold_long_row(f, p, middle, Op{});
      } else if constexpr (is_dealt && inner == 1 && middle >= long_row_of_many) {
        deal(f, outer, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t o = begin; o < end; ++o) to[o] = fold_row(p + o * middle, middle, Op{});
        });
      } else if constexpr (is_dealt && outer == 1 && inner % lanes_of_row == 0) {
        deal(f, inner / lanes_of_row, [&](std::int64_t begin, std::int64_t end) {
          const std::int64_t column = begin * lanes_of_row;
          fold_columns(p + column, middle, inner, to + column, (end - begin) * lanes_of_row, start(), Op{});
        });
      } else {
        fold_axis<T, outer, middle, inner>(p, to, start(), Op{});
      }
    } else {
      fold_axes_apart(elements<const T, C, x>(f), elements<T, C, y>(f));
    }
  }
  /// The axis behind the last folded one: columns lie side by side from here on.
  static constexpr int behind = [] {
    int axis = from.rank;
    while (axis > 0 && !is_folded(axis - 1)) --axis;
    return axis;
  }();
  /// Calls visit at each position of the folded axes, or of those between them, in their order.
  template <bool Folded, int Axis = 0, class Visit>
  DRX_INLINE static void walk(const T* at, const Visit& visit) {
    if constexpr (Axis == behind) {
      visit(at);
    } else if constexpr (is_folded(Axis) != Folded) {
      walk<Folded, Axis + 1>(at, visit);
    } else {
      for (std::int64_t i = 0; i < from[Axis]; ++i) walk<Folded, Axis + 1>(at + i * extent(Axis + 1, from.rank), visit);
    }
  }
  /// Folds over axes that are not neighbours: each element of the result in the order of memory and floats in double,
  /// as the plain evaluation does.
  static void fold_axes_apart(const T* in, T* __restrict out) {
    using wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
    constexpr std::int64_t columns = extent(behind, from.rank), side_by_side = columns < 64 ? columns : 64;
    walk<false>(in, [&](const T* first) {
      for (std::int64_t column = 0; column < columns; column += side_by_side, first += side_by_side) {
        const std::int64_t some = columns - column < side_by_side ? columns - column : side_by_side;
        wide total[side_by_side > 0 ? side_by_side : 1];
        for (std::int64_t i = 0; i < some; ++i) total[i] = static_cast<wide>(start());
        walk<true>(first, [&](const T* row) {
          for (std::int64_t i = 0; i < some; ++i) total[i] = Op{}(total[i], static_cast<wide>(row[i]));
        });
        for (std::int64_t i = 0; i < some; ++i) *out++ = static_cast<T>(total[i]);
      }
    });
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::sum> : detail::fold_kernel<C, E, detail::add_op> {};
template <class C, int E>
struct kernel<C, E, &prim::max_over> : detail::fold_kernel<C, E, detail::max_op> {};
template <class C, int E>
struct kernel<C, E, &prim::min_over> : detail::fold_kernel<C, E, detail::min_op> {};

template <class C, int E>
struct kernel<C, E, &prim::prod> {
  static void run(frame& f) {  // the axes are neighbours: its simplify rule sees to that
    constexpr prim::rules::over_axes::view over(C::attributes(E));
    constexpr int x = C::operand(E, 0), y = C::result(E, 0), first = over.axes.number(0),
                  behind = first + over.axes.size();
    using T = element_of<C, y>;
    constexpr shape from = C::values[x].shape;
    static_assert(over.are_neighbours());
    using detail::extents_between;
    detail::fold_axis<T, extents_between(from, 0, first), extents_between(from, first, behind),
                      extents_between(from, behind, from.rank)>(elements<const T, C, x>(f), elements<T, C, y>(f), T(1),
                                                                detail::times_op{});
  }
};

}  // namespace drx::run
