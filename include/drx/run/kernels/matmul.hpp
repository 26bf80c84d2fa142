// drx/run/kernels/matmul.hpp: the kernel of matrix products: small ones run in register tiles over whole operands, large
// ones in packed blocks. Exceptions are products with vectors, and sums so long that a chain of their parts, one for
// each few hundred terms, would lose digits. Guarded products are plain ones, which are looked through for infinities.
// Large unplaced ones are divided over the ranks.
// Tested by tests/unit/run/long_products.cpp, tests/unit/run/gemm.cpp, tests/unit/run/guarded_products.cpp and
// tests/mpi/divided_products.cpp.
#pragma once

#include <drx/run/data/rows_of_ranks.hpp>
#include <drx/run/data/runtime.hpp>
#include <drx/run/gemm/blocked.hpp>
#include <drx/run/gemm/gemm.hpp>
#include <drx/run/kernels/kernel.hpp>
#include <drx/scalar/math.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace drx::run {

/// A large product, in memory that each thread keeps. Where no other thread is at work it is dealt out to this rank's
/// threads, if that is worth it. The bits are those of one thread.
template <class T>
void multiply_in_blocks(const frame& f, const strided_matrix<T>& a, const strided_matrix<T>& b, T* r, std::int64_t m,
                        std::int64_t n, std::int64_t k) {
  using product = dealt_product<T>;
  runtime& rt = *static_cast<runtime*>(f.runtime);
  const auto memory = [&](int thread, std::int64_t elements) {
    buffer& of = rt.threads[static_cast<std::size_t>(thread)].product;
    of.grow(static_cast<std::size_t>(elements) * sizeof(T));
    return reinterpret_cast<T*>(of.data());
  };
  struct job {
    product dealt;
    runtime& rt;
  } j{{a, b, r, m, n, k, f.alone ? product::tasks_for(m, n, k, rt.executor->concurrency()) : 1}, rt};
  if (j.dealt.tasks == 1) return blocked_product(a, b, r, n, m, n, k, memory(f.thread_number, blocked_work(m, n, k)));
  for (int t = 0; t < j.dealt.tasks; ++t) memory(t, j.dealt.work_of(t));
  rt.run(
      j.dealt.tasks,
      [](void* context, int task) {
        job& mine = *static_cast<job*>(context);
        mine.dealt.run(task, reinterpret_cast<T*>(mine.rt.threads[static_cast<std::size_t>(task)].product.data()));
      },
      &j);
}

template <class C, int E>
struct kernel<C, E, &prim::matmul> {
  static constexpr int x = C::operand(E, 0), y = C::operand(E, 1), z = C::result(E, 0);
  using T = element_of<C, z>;
  using X = element_of<C, x>;  // T, or 16 bits
  using Y = element_of<C, y>;
  static constexpr plan::product_extents extents = plan::extents_of(C::tape.view(), C::tape.entries[E]);
  static constexpr bool tx = extents.tx, ty = extents.ty;
  static constexpr std::int64_t m = extents.m, n = extents.n, k = extents.k;
  static constexpr bool in_blocks = std::is_floating_point_v<T> && extents.in_blocks();

  static void run(frame& f) {
    const X* p = elements<const X, C, x>(f);
    const Y* q = elements<const Y, C, y>(f);
    T* r = elements<T, C, z>(f);
    if constexpr (plan::divides_over_ranks(C::tape.view(), E))
      divide(f, p, q, r);
    else
      for (std::int64_t b = 0; b < extents.batches; ++b) multiply(f, p + b * m * k, q + b * k * n, r + b * m * n);
  }
  /// Rows [first, first + Rows) of a product whose elements are dot products.
  template <int Rows>
  static void run_dots(frame& f, int first) {
    static_assert(extents.dots() > 0);
    constexpr int depth = static_cast<int>(k);
    const X* p = elements<const X, C, x>(f);
    const Y* q = elements<const Y, C, y>(f);
    T* r = elements<T, C, z>(f) + first;
    if constexpr (n == 1 && !tx)
      gemm<T, Rows, 1, depth, false, false>(p + first * depth, q, store_to<1>(r));
    else
      gemm<T, 1, Rows, depth, false, true>(p, q + first * depth, store_to<Rows>(r));
  }
  static void multiply([[maybe_unused]] const frame& f, const X* p, const Y* q, T* r) {
    if constexpr (in_blocks) {
      multiply_rows(f, p, q, r, 0, m);
    } else {
      constexpr int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
      gemm<T, rows, columns, depth, tx, ty>(p, q, store_to<columns>(r));
    }
  }

 private:
  /// Rows [first, end) of a large product.
  static void multiply_rows(const frame& f, const T* p, const T* q, T* r, std::int64_t first, std::int64_t end) {
    const strided_matrix<T> a{p, tx ? 1 : k, tx ? m : 1}, b{q, ty ? 1 : n, ty ? k : 1};
    multiply_in_blocks(f, {a.at(first, 0), a.row_stride, a.column_stride}, b, r + first * n, end - first, n, k);
  }
  /// This rank's rows of all batches' products; then those of the others. The bits are those of one rank, since the
  /// order of a sum depends on its terms' number alone.
  static void divide(const frame& f, const T* p, const T* q, T* r) {
    const rows_of_ranks rows(f, extents.rows(), extents.parts(ranks_of(f)));
    for (std::int64_t b = rows.first() / m; b * m < rows.end(); ++b)
      multiply_rows(f, p + b * m * k, q + b * k * n, r + b * m * n, std::max(rows.first() - b * m, std::int64_t{0}),
                    std::min(rows.end() - b * m, m));
    rows.gather(reinterpret_cast<std::byte*>(r), n * static_cast<std::int64_t>(sizeof(T)));
  }
};

namespace detail {
/// Whether all n numbers are finite: none has the exponent of infinities and NaN.
template <class T>
bool all_finite(const T* x, std::int64_t n) {
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr auto exponent = std::bit_cast<bits>(std::numeric_limits<T>::infinity());
  bits found = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    bits of;
    std::memcpy(&of, x + i, sizeof(T));
    found |= (of & exponent) == exponent ? bits(1) : bits(0);
  }
  return found == 0;
}
}  // namespace detail

/// A guarded product. Where no term is infinite or NaN it is the plain one; a term that is shows in its element, which
/// is then added up again with the guard.
template <class C, int E>
struct kernel<C, E, &prim::azmatmul> : kernel<C, E, &prim::matmul> {
  using plain = kernel<C, E, &prim::matmul>;
  using T = typename plain::T;
  using plain::m, plain::n, plain::k;

  static void run(frame& f) {
    plain::run(f);
    const T* r = elements<const T, C, plain::z>(f);
    if (!detail::all_finite(r, plain::extents.batches * m * n)) guard(f);
  }
  [[gnu::noinline, gnu::cold]] static void guard(frame& f) {
    for (std::int64_t b = 0; b < plain::extents.batches; ++b) {
      const T* p = elements<const T, C, plain::x>(f) + b * m * k;
      const T* q = elements<const T, C, plain::y>(f) + b * k * n;
      T* r = elements<T, C, plain::z>(f) + b * m * n;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          if (!detail::all_finite(&r[i * n + j], 1)) r[i * n + j] = element(p, q, i, j);
    }
  }
  /// Element (i, j) of a batch's product.
  DRX_INLINE static T element(const T* p, const T* q, std::int64_t i, std::int64_t j) {
    T sum = 0;
    for (std::int64_t l = 0; l < k; ++l)
      sum += math::azmul(p[plain::tx ? l * m + i : i * k + l], q[plain::ty ? j * k + l : l * n + j]);
    return sum;
  }
};

}  // namespace drx::run
