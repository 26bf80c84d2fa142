// drx/run/kernels/matmul.hpp: the kernel of matrix products: small ones run in register tiles, large ones in Eigen.
// Exceptions are products with vectors, and sums so long that Eigen's chain of additions, one for each few hundred
// terms, would lose digits.
// Tested by tests/unit/run/long_products.cpp and tests/unit/run/gemm.cpp.
#pragma once

#include <drx/run/gemm/gemm.hpp>
#include <drx/run/kernels/kernel.hpp>

#if defined(DRX_HAS_EIGEN)
#include <Eigen/Core>
#endif

namespace drx::run {

template <class C, int E>
struct kernel<C, E, &prim::matmul> {
  static constexpr int x = C::operand(E, 0), y = C::operand(E, 1), z = C::result(E, 0);
  using T = element_of<C, z>;
  static constexpr plan::product_extents extents = plan::extents_of(C::tape.view(), C::tape.entries[E]);
  static constexpr bool tx = extents.tx, ty = extents.ty;
  static constexpr std::int64_t m = extents.m, n = extents.n, k = extents.k;
  static constexpr std::int64_t longest_of_eigen = 1 << 17;  // terms, which Eigen adds up in some 500 additions
  static constexpr bool by_eigen =
      std::is_floating_point_v<T> && extents.large() && m > 1 && n > 1 && k <= longest_of_eigen;

  static void run(frame& f) {
    const T* p = elements<const T, C, x>(f);
    const T* q = elements<const T, C, y>(f);
    T* r = elements<T, C, z>(f);
    for (std::int64_t b = 0; b < extents.batches; ++b) multiply(p + b * m * k, q + b * k * n, r + b * m * n);
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
  static void multiply(const T* p, const T* q, T* r) {
#if defined(DRX_HAS_EIGEN)
    if constexpr (by_eigen) {
      using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const Eigen::Map<const matrix> a(p, tx ? k : m, tx ? m : k), b(q, ty ? n : k, ty ? k : n);
      Eigen::Map<matrix> c(r, m, n);
      if constexpr (tx && ty) {
        c.noalias() = a.transpose() * b.transpose();
      } else if constexpr (tx) {
        c.noalias() = a.transpose() * b;
      } else if constexpr (ty) {
        c.noalias() = a * b.transpose();
      } else {
        c.noalias() = a * b;
      }
      return;
    }
#endif
    constexpr int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
    gemm<T, rows, columns, depth, tx, ty>(p, q, store_to<columns>(r));
  }
};

}  // namespace drx::run
