// drx/run/kernels/matmul.hpp: the kernel of matrix products: small ones run in register tiles over whole operands, large
// ones in packed blocks. Exceptions are products with vectors, and sums so long that a chain of their parts, one for
// each few hundred terms, would lose digits.
// Tested by tests/unit/run/long_products.cpp and tests/unit/run/gemm.cpp.
#pragma once

#include <drx/run/data/runtime.hpp>
#include <drx/run/gemm/blocked.hpp>
#include <drx/run/gemm/gemm.hpp>
#include <drx/run/kernels/kernel.hpp>

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
  rt.executor->run(
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
  static constexpr plan::product_extents extents = plan::extents_of(C::tape.view(), C::tape.entries[E]);
  static constexpr bool tx = extents.tx, ty = extents.ty;
  static constexpr std::int64_t m = extents.m, n = extents.n, k = extents.k;
  static constexpr bool in_blocks = std::is_floating_point_v<T> && extents.in_blocks();

  static void run(frame& f) {
    const T* p = elements<const T, C, x>(f);
    const T* q = elements<const T, C, y>(f);
    T* r = elements<T, C, z>(f);
    for (std::int64_t b = 0; b < extents.batches; ++b) multiply(f, p + b * m * k, q + b * k * n, r + b * m * n);
  }
  /// Rows [first, first + Rows) of a product whose elements are dot products.
  template <int Rows>
  static void run_dots(frame& f, int first) {
    static_assert(extents.dots() > 0);
    constexpr int depth = static_cast<int>(k);
    const T* p = elements<const T, C, x>(f);
    const T* q = elements<const T, C, y>(f);
    T* r = elements<T, C, z>(f) + first;
    if constexpr (n == 1 && !tx)
      gemm<T, Rows, 1, depth, false, false>(p + first * depth, q, store_to<1>(r));
    else
      gemm<T, 1, Rows, depth, false, true>(p, q + first * depth, store_to<Rows>(r));
  }
  static void multiply([[maybe_unused]] const frame& f, const T* p, const T* q, T* r) {
    if constexpr (in_blocks) {
      const strided_matrix<T> a{p, tx ? 1 : k, tx ? m : 1}, b{q, ty ? 1 : n, ty ? k : 1};
      multiply_in_blocks(f, a, b, r, m, n, k);
    } else {
      constexpr int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
      gemm<T, rows, columns, depth, tx, ty>(p, q, store_to<columns>(r));
    }
  }
};

}  // namespace drx::run
