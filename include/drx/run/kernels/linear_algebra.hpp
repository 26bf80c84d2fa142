// drx/run/kernels/linear_algebra.hpp: factorisations and solutions of linear systems, of constant size, row-major and
// in place. Inner loops run along rows, in packs or where the compiler can use vectors. Eigen's decompositions are not
// used: measured with AVX-512 and doubles, Cholesky takes half of Eigen's time here at 32 and 64 rows, LU as long or
// less from 8 rows on. Only Eigen's blocked Cholesky is faster, from 128 rows on (by 1.4; at 256 by 2).
#pragma once

#include <drx/run/kernels/kernel.hpp>
#include <drx/run/packs/pack.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace drx::run {

/// The sum of x[i] y[i], in an order that n alone decides: eight lanes side by side, then the lanes.
template <class T>
DRX_FN inline T dot(const T* x, const T* y, int n) {
  constexpr int lanes = 8;
  T lane[lanes] = {};
  int i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += x[i + l] * y[i + l];
  for (int l = 0; i + l < n; ++l) lane[l] += x[i + l] * y[i + l];
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}
/// The rows of systems whose solution for one right-hand side is unrolled.
inline constexpr int short_system = 8;

/// y -= factor x.
template <class T>
DRX_FN inline void subtract(T* __restrict y, const T* __restrict x, T factor, int n) {
  for (int i = 0; i < n; ++i) y[i] -= factor * x[i];
}

#if defined(__CUDACC__)
template <class T>
inline constexpr int columns_in_pack = 0;  // none: single numbers
#else
template <class T>
inline constexpr int columns_in_pack = pack_width<T>;
/// P packs of `to` minus factor(k) times those of row k of `from`, for k from `first` to `end` - 1, in registers.
template <int P, class T, class Factor>
DRX_HOST_INLINE void subtract_rows(T* to, const T* from, int stride, int first, int end, Factor factor) {
  constexpr int width = pack_width<T>;
  pack<T> left[P];
  DRX_UNROLL
  for (int p = 0; p < P; ++p) left[p] = load(to + p * width);
  for (int k = first; k < end; ++k) {
    const T by = factor(k);
    DRX_UNROLL
    for (int p = 0; p < P; ++p) left[p] -= by * load(from + k * stride + p * width);
  }
  DRX_UNROLL
  for (int p = 0; p < P; ++p) save(to + p * width, left[p]);
}
#endif

/// Solves x op(A) = y for one row, which holds y before and x after; A is N x N, its lower or upper triangle.
template <int N, bool Lower, bool Transposed, bool Unit, class T>
DRX_FN inline void solve_row(const T* a, T* x) {
  constexpr bool forward = Lower == Transposed;
  if constexpr (N <= short_system) {  // each number in turn
    DRX_UNROLL
    for (int at = 0; at < N; ++at) {
      const int k = forward ? at : N - 1 - at;
      DRX_UNROLL
      for (int before = 0; before < at; ++before) {
        const int j = forward ? before : N - 1 - before;
        x[k] -= (Transposed ? a[k * N + j] : a[j * N + k]) * x[j];
      }
      if constexpr (!Unit) x[k] /= a[k * N + k];
    }
    return;
  }
  for (int at = 0; at < N; ++at) {
    const int k = forward ? at : N - 1 - at;
    const T* row = a + k * N;
    if constexpr (Transposed) x[k] -= Lower ? dot(row, x, k) : dot(row + k + 1, x + k + 1, N - 1 - k);
    if constexpr (!Unit) x[k] /= row[k];
    if constexpr (!Transposed) {
      if constexpr (Lower)
        subtract(x, row, x[k], k);
      else
        subtract(x + k + 1, row + k + 1, x[k], N - 1 - k);
    }
  }
}
/// Solves op(A) X = Y for Columns columns, in rows that are `Stride` numbers apart.
template <int N, int Columns, int Stride, bool Lower, bool Transposed, bool Unit, class T>
DRX_FN inline void solve_some_columns(const T* a, T* x) {
  constexpr bool forward = Lower != Transposed;
  for (int at = 0; at < N; ++at) {
    const int i = forward ? at : N - 1 - at, first = forward ? 0 : i + 1, end = forward ? i : N;
    T* row = x + i * Stride;
    const auto factor = [&](int k) { return Transposed ? a[k * N + i] : a[i * N + k]; };
    if constexpr (columns_in_pack<T> > 0 && Columns % (columns_in_pack<T> + !columns_in_pack<T>) == 0)
      subtract_rows<Columns / columns_in_pack<T>>(row, x, Stride, first, end, factor);
    else
      for (int k = first; k < end; ++k) subtract(row, x + k * Stride, factor(k), Columns);
    if constexpr (!Unit)
      for (int j = 0; j < Columns; ++j) row[j] /= a[i * N + i];
  }
}
/// Solves op(A) X = Y for M columns.
template <int N, int M, bool Lower, bool Transposed, bool Unit, class T>
DRX_FN inline void solve_columns(const T* a, T* x) {
  if constexpr (M == 1) {
    solve_row<N, Lower, !Transposed, Unit>(a, x);
  } else if constexpr (columns_in_pack<T> == 0 || M < columns_in_pack<T>) {
    solve_some_columns<N, M, M, Lower, Transposed, Unit>(a, x);
  } else {
    constexpr int pack = columns_in_pack<T>, panel = 4 * pack;
    int j = 0;
    for (; j + panel <= M; j += panel) solve_some_columns<N, panel, M, Lower, Transposed, Unit>(a, x + j);
    for (; j + pack <= M; j += pack) solve_some_columns<N, pack, M, Lower, Transposed, Unit>(a, x + j);
    if constexpr (M % pack != 0) solve_some_columns<N, M % pack, M, Lower, Transposed, Unit>(a, x + j);
  }
}
/// Solves X op(A) = Y for M rows: as columns, as many of them at a time as may lie on the stack.
template <int N, int M, bool Lower, bool Transposed, bool Unit, class T>
DRX_FN inline void solve_rows(const T* a, T* x) {
  constexpr int pack = columns_in_pack<T>, most = N == 0 ? 0 : (64 << 10) / static_cast<int>(sizeof(T)) / N;
  if constexpr (pack > 0 && M >= pack && N > short_system && most >= pack) {
    constexpr int rows = M <= most ? M : 4 * pack <= most ? 4 * pack : pack, rest = M % rows;
    alignas(64) T turned[N * rows];
    for (int i = 0; i + rows <= M; i += rows) {
      transpose<rows, N>(x + i * N, turned);
      solve_columns<N, rows, Lower, !Transposed, Unit>(a, turned);
      transpose<N, rows>(turned, x + i * N);
    }
    if constexpr (rest > 0) solve_rows<N, rest, Lower, Transposed, Unit>(a, x + (M - rest) * N);
  } else {
    for (int i = 0; i < M; ++i) solve_row<N, Lower, Transposed, Unit>(a, x + i * N);
  }
}

/// Row i of U^T U, from the diagonal on, minus what the rows above it contribute. (Numbers before the diagonal may be
/// overwritten.)
template <int N, class T>
DRX_FN inline void subtract_rows_above(T* u, int i) {
  const auto factor = [&](int k) { return u[k * N + i]; };
  int end = N;
#if !defined(__CUDACC__)
  constexpr int pack = columns_in_pack<T>;
  for (; end - i > 3 * pack && end >= 4 * pack; end -= 4 * pack)
    subtract_rows<4>(u + i * N + end - 4 * pack, u + end - 4 * pack, N, 0, i, factor);
  for (; end > i && end >= pack; end -= pack) subtract_rows<1>(u + i * N + end - pack, u + end - pack, N, 0, i, factor);
#endif
  if (end <= i) return;
  for (int k = 0; k < i; ++k) subtract(u + i * N + i, u + k * N + i, factor(k), end - i);
}

/// The lower L with L L^T = (A + A^T) / 2, or NaN in its triangle. It is computed as rows of the upper triangle.
template <int N, class T>
DRX_FN inline void cholesky(const T* a, T* l) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) l[i * N + j] = (a[i * N + j] + a[j * N + i]) / 2;
  bool definite = true;
  for (int i = 0; i < N; ++i) {
    T* row = l + i * N;
    subtract_rows_above<N>(l, i);
    definite = definite && row[i] > 0;
    row[i] = std::sqrt(row[i]);
    for (int j = i + 1; j < N; ++j) row[j] /= row[i];
  }
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < i; ++j) {
      l[i * N + j] = definite ? l[j * N + i] : std::numeric_limits<T>::quiet_NaN();
      l[j * N + i] = 0;
    }
    if (!definite) l[i * N + i] = std::numeric_limits<T>::quiet_NaN();
  }
}

template <int N, class T>
DRX_FN inline void swap_rows(T* a, int i, int j, int columns = N) {
  for (int k = 0; k < columns && i != j; ++k) std::swap(a[i * columns + k], a[j * columns + k]);
}

/// LU factors in place of A, with partial pivoting. Returns the sign of the permutation.
template <int N, class T>
DRX_FN inline T lu_factors(T* a, std::int32_t* pivots) {
  T sign = 1;
  for (int k = 0; k < N; ++k) {
    int best = k;
    for (int i = k + 1; i < N; ++i)
      if (std::abs(a[i * N + k]) > std::abs(a[best * N + k])) best = i;
    if (pivots) pivots[k] = best;
    if (best != k) sign = -sign;
    swap_rows<N>(a, k, best);
    const T* row = a + k * N;
    if (row[k] == 0) continue;
    for (int i = k + 1; i < N; ++i) {
      a[i * N + k] /= row[k];
      subtract(a + i * N + k + 1, row + k + 1, a[i * N + k], N - 1 - k);
    }
  }
  return sign;
}
template <int N, int M, bool Transposed, class T>
DRX_FN inline void lu_solve(const T* lu, const std::int32_t* pivots, T* x) {
  if constexpr (Transposed) {
    solve_columns<N, M, false, true, false>(lu, x);
    solve_columns<N, M, true, true, true>(lu, x);
    for (int i = N - 1; i >= 0; --i) swap_rows<N>(x, i, pivots[i], M);
  } else {
    for (int i = 0; i < N; ++i) swap_rows<N>(x, i, pivots[i], M);
    solve_columns<N, M, true, false, true>(lu, x);
    solve_columns<N, M, false, false, false>(lu, x);
  }
}

template <int N, class T>
DRX_FN inline T determinant(const T* a, T* copy) {
  if constexpr (N == 0) {
    return 1;
  } else if constexpr (N == 1) {
    return a[0];
  } else if constexpr (N == 2) {
    return a[0] * a[3] - a[1] * a[2];
  } else if constexpr (N == 3) {
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
  } else {
    for (int i = 0; i < N * N; ++i) copy[i] = a[i];
    T d = lu_factors<N>(copy, nullptr);
    for (int i = 0; i < N; ++i) d *= copy[i * N + i];
    return d;
  }
}

/// The matrix of cofactors, also for singular matrices. Scratch: 2 N N elements.
template <int N, class T>
DRX_FN inline void cofactors(const T* a, T* c, T* scratch) {
  if constexpr (N == 1) {
    c[0] = 1;
  } else if constexpr (N == 2) {
    c[0] = a[3], c[1] = -a[2], c[2] = -a[1], c[3] = a[0];
  } else if constexpr (N == 3) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const T *p = a + (i + 1) % 3 * 3, *q = a + (i + 2) % 3 * 3;
        const int k = (j + 1) % 3, l = (j + 2) % 3;
        c[i * 3 + j] = p[k] * q[l] - p[l] * q[k];
      }
  } else if constexpr (N > 3) {
    // Cofactors of a product are the product of the cofactors. With complete pivoting, P A Q = L U, a matrix of rank N
    // - 1 has its zero in the last diagonal element of U, and no division below uses that element.
    T *lu = scratch, *adjugate = scratch + N * N;
    int row[N], column[N];
    T sign = 1;
    for (int i = 0; i < N * N; ++i) lu[i] = a[i];
    for (int i = 0; i < N; ++i) row[i] = column[i] = i;
    bool zero = false;
    for (int k = 0; k < N; ++k) {
      int r = k, s = k;
      for (int i = k; i < N; ++i)
        for (int j = k; j < N; ++j)
          if (std::abs(lu[i * N + j]) > std::abs(lu[r * N + s])) r = i, s = j;
      swap_rows<N>(lu, k, r);
      for (int i = 0; i < N && s != k; ++i) std::swap(lu[i * N + k], lu[i * N + s]);
      std::swap(row[k], row[r]);
      std::swap(column[k], column[s]);
      if ((r != k) != (s != k)) sign = -sign;
      if (lu[k * N + k] == 0) {
        zero = k < N - 1;  // rank N - 2 or less
        break;
      }
      for (int i = k + 1; i < N; ++i) {
        lu[i * N + k] /= lu[k * N + k];
        subtract(lu + i * N + k + 1, lu + k * N + k + 1, lu[i * N + k], N - 1 - k);
      }
    }
    if (zero) {
      for (int i = 0; i < N * N; ++i) c[i] = 0;
      return;
    }
    for (int i = 0; i < N; ++i)  // the adjugate of U: its diagonal, then U adj(U) = det(U) I from below
      for (int j = 0; j < N; ++j) adjugate[i * N + j] = i == j ? sign : T(0);
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < N; ++i)
        if (i != j) adjugate[j * N + j] *= lu[i * N + i];
    for (int i = N - 2; i >= 0; --i) {
      for (int k = i + 1; k < N; ++k)
        subtract(adjugate + i * N + i + 1, adjugate + k * N + i + 1, lu[i * N + k], N - 1 - i);
      for (int j = i + 1; j < N; ++j) adjugate[i * N + j] /= lu[i * N + i];
    }
    for (int i = 0; i < N; ++i) solve_row<N, true, false, true>(lu, adjugate + i * N);
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) c[row[i] * N + column[j]] = adjugate[j * N + i];
  }
}

namespace detail {
/// The batch of square matrices in operand 0 of entry E.
template <class C, int E>
struct matrices {
  static constexpr int a = C::operand(E, 0), y = C::result(E, 0);
  using T = element_of<C, a>;
  static constexpr shape from = C::values[a].shape, to = C::values[y].shape;
  static constexpr int n = static_cast<int>(from.last()), size = n * n;
  static constexpr std::int64_t batches = prim::rules::square_matrix::batches(from);
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::cholesky> : detail::matrices<C, E> {
  using m = detail::matrices<C, E>;
  DRX_FN static void run(frame& f) {
    const auto* a = elements<const typename m::T, C, m::a>(f);
    auto* l = elements<typename m::T, C, m::y>(f);
    for (std::int64_t b = 0; b < m::batches; ++b) cholesky<m::n>(a + b * m::size, l + b * m::size);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::triangular_solve> : detail::matrices<C, E> {
  using m = detail::matrices<C, E>;
  static constexpr prim::rules::triangular_solve::view form{C::attributes(E)};
  static constexpr int side = static_cast<int>(m::to[m::to.rank - 2] * m::to.last()),
                       others = m::n == 0 ? 0 : side / m::n;
  DRX_FN static void run(frame& f) {
    const auto* a = elements<const typename m::T, C, m::a>(f);
    auto* x = elements<typename m::T, C, m::y>(f);
    std::memcpy(x, elements<const typename m::T, C, C::operand(E, 1)>(f), static_cast<std::size_t>(C::bytes(m::y)));
    for (std::int64_t b = 0; b < m::batches; ++b) {
      if constexpr (form.right) {
        solve_rows<m::n, others, form.lower, form.transposed, form.unit>(a + b * m::size, x + b * side);
      } else if constexpr (others > 0) {
        solve_columns<m::n, others, form.lower, form.transposed, form.unit>(a + b * m::size, x + b * side);
      }
    }
  }
};

template <class C, int E>
struct kernel<C, E, &prim::lu_factors> : detail::matrices<C, E> {
  using m = detail::matrices<C, E>;
  DRX_FN static void run(frame& f) {
    auto* lu = elements<typename m::T, C, m::y>(f);
    auto* pivots = elements<std::int32_t, C, C::result(E, 1)>(f);
    std::memcpy(lu, elements<const typename m::T, C, m::a>(f), static_cast<std::size_t>(C::bytes(m::y)));
    for (std::int64_t b = 0; b < m::batches; ++b) lu_factors<m::n>(lu + b * m::size, pivots + b * m::n);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::lu_solve> : detail::matrices<C, E> {
  using m = detail::matrices<C, E>;
  DRX_FN static void run(frame& f) {
    constexpr int columns = static_cast<int>(m::to.last()), side = m::n * columns;
    const auto* lu = elements<const typename m::T, C, C::operand(E, 1)>(f);
    const auto* pivots = elements<const std::int32_t, C, C::operand(E, 2)>(f);
    auto* x = elements<typename m::T, C, m::y>(f);
    std::memcpy(x, elements<const typename m::T, C, C::operand(E, 3)>(f), static_cast<std::size_t>(C::bytes(m::y)));
    for (std::int64_t b = 0; b < m::batches; ++b)
      lu_solve<m::n, columns, prim::rules::lu_solve::view(C::attributes(E)).transposed>(
          lu + b * m::size, pivots + b * m::n, x + b * side);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::logdet> : detail::matrices<C, E> {
  using m = detail::matrices<C, E>;
  DRX_FN static void run(frame& f) {
    using T = typename m::T;
    const T* lu = elements<const T, C, C::operand(E, 1)>(f);
    T* y = elements<T, C, m::y>(f);
    for (std::int64_t b = 0; b < m::batches; ++b) {
      y[b] = 0;
      for (int i = 0; i < m::n; ++i) y[b] += std::log(std::abs(lu[b * m::size + i * m::n + i]));
    }
  }
};

template <class C, int E>
struct kernel<C, E, &prim::determinant> : detail::matrices<C, E> {
  using m = detail::matrices<C, E>;
  DRX_FN static void run(frame& f) {
    using T = typename m::T;
    const T* a = elements<const T, C, m::a>(f);
    T* y = elements<T, C, m::y>(f);
    T* copy = reinterpret_cast<T*>(scratch<C, E>(f));
    for (std::int64_t b = 0; b < m::batches; ++b) y[b] = determinant<m::n>(a + b * m::size, copy);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::cofactors> : detail::matrices<C, E> {
  using m = detail::matrices<C, E>;
  DRX_FN static void run(frame& f) {
    using T = typename m::T;
    const T* a = elements<const T, C, m::a>(f);
    T* c = elements<T, C, m::y>(f);
    T* space = reinterpret_cast<T*>(scratch<C, E>(f));
    for (std::int64_t b = 0; b < m::batches; ++b) cofactors<m::n>(a + b * m::size, c + b * m::size, space);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::minors> {
  static constexpr int x = C::operand(E, 0), y = C::result(E, 0);
  using T = element_of<C, y>;
  static constexpr bool transposed = prim::rules::minors::view(C::attributes(E)).transposed,
                        with_sign = prim::rules::minors::view(C::attributes(E)).with_sign;
  static constexpr shape from = C::values[x].shape, matrix = transposed ? C::values[y].shape : from;
  DRX_FN static void run(frame& f) {
    constexpr std::int64_t n = matrix.last(), size = n * n, all = size * (n - 1) * (n - 1);
    const T* in = elements<const T, C, x>(f);
    T* out = elements<T, C, y>(f);
    if constexpr (transposed) std::memset(out, 0, static_cast<std::size_t>(C::bytes(y)));
    for (std::int64_t b = 0; b < prim::rules::square_matrix::batches(matrix); ++b)
      prim::rules::minors::for_each(n, with_sign, [&](std::int64_t in_matrix, std::int64_t in_minors, bool negative) {
        if constexpr (transposed) {
          const T value = in[b * all + in_minors];
          out[b * size + in_matrix] += negative ? -value : value;
        } else {
          const T value = in[b * size + in_matrix];
          out[b * all + in_minors] = negative ? -value : value;
        }
      });
  }
};

}  // namespace drx::run
