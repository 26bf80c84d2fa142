// drx/run/kernels/lane_linear_algebra.hpp: factorisations and solutions of small systems of equations of several members
// at once, one in each lane (see plan/staging/lanes.hpp). Each lane has the operations of plain evaluation in their
// order; where that would branch, as on a pivot, lanes choose.
// Tested by tests/unit/run/lanes_of_matrices.cpp.
#pragma once

#include <drx/run/kernels/lanes.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace drx::run {

/// The square roots of a pack. (std::sqrt keeps compilers from using vectors, since it may set errno.)
template <class T, class P>
DRX_HOST_INLINE P root_of_pack(P x) {
#if defined(__AVX512F__)  // (of the forms without a mask g++ 12 says that they use what is not initialised)
  if constexpr (sizeof(P) == 64 && sizeof(T) == 4)
    return reinterpret_cast<P>(_mm512_maskz_sqrt_ps(0xFFFF, reinterpret_cast<__m512>(x)));
  if constexpr (sizeof(P) == 64 && sizeof(T) == 8)
    return reinterpret_cast<P>(_mm512_maskz_sqrt_pd(0xFF, reinterpret_cast<__m512d>(x)));
#endif
#if defined(__AVX__)
  if constexpr (sizeof(P) == 32 && sizeof(T) == 4)
    return reinterpret_cast<P>(_mm256_sqrt_ps(reinterpret_cast<__m256>(x)));
  if constexpr (sizeof(P) == 32 && sizeof(T) == 8)
    return reinterpret_cast<P>(_mm256_sqrt_pd(reinterpret_cast<__m256d>(x)));
#endif
#if defined(__x86_64__)
  if constexpr (sizeof(P) == 16 && sizeof(T) == 4) return reinterpret_cast<P>(_mm_sqrt_ps(reinterpret_cast<__m128>(x)));
  if constexpr (sizeof(P) == 16 && sizeof(T) == 8)
    return reinterpret_cast<P>(_mm_sqrt_pd(reinterpret_cast<__m128d>(x)));
#elif defined(__aarch64__)
  if constexpr (sizeof(P) == 16 && sizeof(T) == 4)
    return reinterpret_cast<P>(vsqrtq_f32(reinterpret_cast<float32x4_t>(x)));
  if constexpr (sizeof(P) == 16 && sizeof(T) == 8)
    return reinterpret_cast<P>(vsqrtq_f64(reinterpret_cast<float64x2_t>(x)));
#endif
  P y = x;
  for (int i = 0; i < static_cast<int>(sizeof(P) / sizeof(T)); ++i) y[i] = std::sqrt(x[i]);
  return y;
}

/// Matrices of N rows in L lanes; a pack of lanes at a time.
template <class T, int N, int L>
struct lane_matrices {
  using part = lane_pack<T, L>;
  using P = typename part::type;
  using mask = decltype(P{} < P{});
  static constexpr int width = static_cast<int>(sizeof(P) / sizeof(T));

  DRX_HOST_INLINE static P magnitude(P x) { return x < 0 ? -x : x; }
  template <int Count>
  DRX_HOST_INLINE static void load(P* to, const T* x, int from) {
    DRX_UNROLL
    for (int i = 0; i < Count; ++i) to[i] = part::load(x + i * L + from);
  }
  template <int Count>
  DRX_HOST_INLINE static void save(T* to, const P* x, int from) {
    DRX_UNROLL
    for (int i = 0; i < Count; ++i) part::save(to + i * L + from, x[i]);
  }

  static void cholesky(const T* from, T* to) {
    for (int lane = 0; lane < L; lane += width) {
      P a[N * N], l[N * N] = {};
      load<N * N>(a, from, lane);
      mask definite = ~mask{};
      DRX_UNROLL
      for (int i = 0; i < N; ++i)
        for (int j = 0; j <= i; ++j) {
          P sum = (a[i * N + j] + a[j * N + i]) / 2;
          for (int k = 0; k < j; ++k) sum -= l[i * N + k] * l[j * N + k];
          if (i == j) definite &= sum > 0;
          l[i * N + j] = i == j ? root_of_pack<T>(sum) : sum / l[j * N + j];
        }
      constexpr T none = std::numeric_limits<T>::quiet_NaN();
      DRX_UNROLL
      for (int i = 0; i < N; ++i)
        for (int j = 0; j <= i; ++j) l[i * N + j] = definite ? l[i * N + j] : none - P{};
      save<N * N>(to, l, lane);
    }
  }

  /// LU factors with partial pivoting, and for each row the later row with which it changed places.
  static void lu_factors(const T* from, T* to, std::int32_t* exchanged) {
    for (int lane = 0; lane < L; lane += width) {
      P a[N * N];
      load<N * N>(a, from, lane);
      DRX_UNROLL
      for (int k = 0; k < N; ++k) {
        mask best = k - mask{};
        P most = magnitude(a[k * N + k]);
        for (int i = k + 1; i < N; ++i) {
          const P own = magnitude(a[i * N + k]);
          const mask more = own > most;
          most = more ? own : most;
          best = more ? i - mask{} : best;
        }
        for (int l = 0; l < width; ++l) exchanged[k * L + lane + l] = static_cast<std::int32_t>(best[l]);
        for (int i = k + 1; i < N; ++i) exchange(a + k * N, a + i * N, N, best == i);
        const mask zero = a[k * N + k] == 0;  // then all below are 0 as well
        for (int i = k + 1; i < N; ++i) {
          a[i * N + k] = zero ? a[i * N + k] : a[i * N + k] / a[k * N + k];
          for (int j = k + 1; j < N; ++j)
            a[i * N + j] = zero ? a[i * N + j] : a[i * N + j] - a[i * N + k] * a[k * N + j];
        }
      }
      save<N * N>(to, a, lane);
    }
  }
  /// Exchanges two rows where `which` says so.
  DRX_HOST_INLINE static void exchange(P* x, P* y, int columns, mask which) {
    for (int j = 0; j < columns; ++j) {
      const P before = x[j];
      x[j] = which ? y[j] : before;
      y[j] = which ? before : y[j];
    }
  }

  /// Solves M x = y by a triangle of A for one column (or row) x, whose elements are `step` apart; M is A or, if
  /// Turned, its transpose.
  template <bool Lower, bool Turned, bool Unit>
  DRX_HOST_INLINE static void substitute(const P* a, P* x, int step) {
    constexpr bool forward = Lower != Turned;
    DRX_UNROLL
    for (int at = 0; at < N; ++at) {
      const int row = forward ? at : N - 1 - at;
      P sum = x[row * step];
      for (int k = forward ? 0 : row + 1; k < (forward ? row : N); ++k)
        sum -= (Turned ? a[k * N + row] : a[row * N + k]) * x[k * step];
      x[row * step] = Unit ? sum : sum / a[row * N + row];
    }
  }
  /// Y of Count numbers, which may be the same in all lanes.
  template <int Count, bool InLanes>
  DRX_HOST_INLINE static void load_side(P* x, const T* y, int lane) {
    DRX_UNROLL
    for (int i = 0; i < Count; ++i) x[i] = of_lanes<T, L, InLanes>(y, i, lane) - P{};
  }
  template <bool Right, bool Lower, bool Transposed, bool Unit, int Others, bool InLanes>
  static void triangular_solve(const T* matrix, const T* side, T* to) {
    for (int lane = 0; lane < L; lane += width) {
      P a[N * N], x[N * Others];
      load<N * N>(a, matrix, lane);
      load_side<N * Others, InLanes>(x, side, lane);
      for (int i = 0; i < Others; ++i)
        substitute<Lower, Transposed != Right, Unit>(a, Right ? x + i * N : x + i, Right ? 1 : Others);
      save<N * Others>(to, x, lane);
    }
  }
  template <bool Transposed, int Columns, bool InLanes>
  static void lu_solve(const T* lu, const std::int32_t* exchanged, const T* side, T* to) {
    for (int lane = 0; lane < L; lane += width) {
      P a[N * N], x[N * Columns];
      load<N * N>(a, lu, lane);
      load_side<N * Columns, InLanes>(x, side, lane);
      const auto swap = [&](int i) __attribute__((always_inline)) {
        mask with{};
        for (int l = 0; l < width; ++l) with[l] = exchanged[i * L + lane + l];
        for (int r = i + 1; r < N; ++r) exchange(x + i * Columns, x + r * Columns, Columns, with == r);
      };
      for (int i = 0; i < N && !Transposed; ++i) swap(i);
      for (int j = 0; j < Columns; ++j) {
        if constexpr (Transposed) {
          substitute<false, true, false>(a, x + j, Columns);
          substitute<true, true, true>(a, x + j, Columns);
        } else {
          substitute<true, false, true>(a, x + j, Columns);
          substitute<false, false, false>(a, x + j, Columns);
        }
      }
      for (int i = N - 1; i >= 0 && Transposed; --i) swap(i);
      save<N * Columns>(to, x, lane);
    }
  }
};

namespace detail {
/// The matrices of entry E, its operand 0.
template <class C, int E>
struct matrices_in_lanes {
  static constexpr int a = C::operand(E, 0), y = C::result(E, 0);
  using T = element_of<C, a>;
  static constexpr shape from = C::values[a].shape, to = C::values[y].shape;
  static constexpr int n = static_cast<int>(from[0]), lanes = static_cast<int>(from[2]);
  using loops = lane_matrices<T, n, lanes>;
  static const T* operand(frame& f) { return elements<const T, C, a>(f); }
  static T* result(frame& f) { return elements<T, C, y>(f); }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::lane_cholesky> : detail::matrices_in_lanes<C, E> {
  using m = detail::matrices_in_lanes<C, E>;
  static void run(frame& f) { m::loops::cholesky(m::operand(f), m::result(f)); }
};

template <class C, int E>
struct kernel<C, E, &prim::lane_lu_factors> : detail::matrices_in_lanes<C, E> {
  using m = detail::matrices_in_lanes<C, E>;
  static void run(frame& f) {
    m::loops::lu_factors(m::operand(f), m::result(f), elements<std::int32_t, C, C::result(E, 1)>(f));
  }
};

template <class C, int E>
struct kernel<C, E, &prim::lane_triangular_solve> : detail::matrices_in_lanes<C, E> {
  using m = detail::matrices_in_lanes<C, E>;
  static constexpr prim::rules::lane_triangular_solve::view form{C::attributes(E)};
  static constexpr int others = static_cast<int>(m::to[form.right ? 0 : 1]);
  static void run(frame& f) {
    m::loops::template triangular_solve<form.right, form.lower, form.transposed, form.unit, others, form.side_in_lanes>(
        m::operand(f), elements<const typename m::T, C, C::operand(E, 1)>(f), m::result(f));
  }
};

template <class C, int E>
struct kernel<C, E, &prim::lane_lu_solve> : detail::matrices_in_lanes<C, E> {
  using m = detail::matrices_in_lanes<C, E>;
  static constexpr prim::rules::lane_lu_solve::view form{C::attributes(E)};
  static void run(frame& f) {
    m::loops::template lu_solve<form.transposed, static_cast<int>(m::to[1]), form.side_in_lanes>(
        m::operand(f), elements<const std::int32_t, C, C::operand(E, 1)>(f),
        elements<const typename m::T, C, C::operand(E, 2)>(f), m::result(f));
  }
};

}  // namespace drx::run
