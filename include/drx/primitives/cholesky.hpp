// drx/primitives/cholesky.hpp: the Cholesky factor of a positive definite matrix.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/square_matrix.hpp>
#include <drx/tracing/values.hpp>

#include <cmath>
#include <limits>

namespace drx {
namespace prim::rules {
struct cholesky {  // L with L L^T = (A + A^T) / 2; Murray (2016) has the derivatives
  static constexpr int symmetric(builder& b, int x) {
    const int twice = emit::add(b, x, emit::swap_last_two(b, x));
    return emit::mul(b, twice, emit::constant_like(b, x, 0.5));
  }
  static constexpr int half_triangle(builder& b, int x) {  // the lower triangle with half of the diagonal
    const int half = emit::mul(b, x, emit::constant_like(b, x, 0.5));
    const int row = emit::row_of(b, x), column = emit::column_of(b, x), diagonal = emit::equal(b, row, column);
    return emit::where(b, diagonal, half, emit::triangle(b, x, true, true));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const int l = s.results[0];
    const int left = emit::triangular_solve(s.b, l, symmetric(s.b, t[0]), false, true, false, false);
    const int both = emit::triangular_solve(s.b, l, left, true, true, true, false);
    return {emit::matmul(s.b, l, half_triangle(s.b, both), false, false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const int l = s.results[0];
    const int inner = half_triangle(s.b, emit::matmul(s.b, l, ct[0], true, false));
    const int left = emit::triangular_solve(s.b, l, inner, false, true, true, false);
    return {symmetric(s.b, emit::triangular_solve(s.b, l, left, true, true, false, false))};
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0)) return {};
    return emit::lane_cholesky(s.b, s.operands[0]);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto n = s.last();
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b) {
          const T* a = v.in[0]->data<T>() + b * n * n;
          T* l = v.out[0].data<T>() + b * n * n;
          bool definite = true;
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
              T sum = (a[i * n + j] + a[j * n + i]) / 2;
              for (std::int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
              definite = definite && (i != j || sum > 0);
              l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
            }
          for (std::int64_t i = 0; i < n && !definite; ++i)
            for (std::int64_t j = 0; j <= i; ++j) l[i * n + j] = std::numeric_limits<T>::quiet_NaN();
        }
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive cholesky{.name = "cholesky",
                                    .type = rules::square_matrix::type,
                                    .jvp = rules::cholesky::jvp,
                                    .vjp = rules::cholesky::vjp,
                                    .batch = rules::square_matrix::batch,
                                    .evaluate = rules::cholesky::evaluate,
                                    .known = rules::known::nothing,
                                    .lanes = rules::cholesky::lanes,
                                    .split = rules::split::along_matrices,
                                    .cost = rules::square_matrix::cost};
}
namespace emit {
constexpr int cholesky(builder& b, int a) { return b.add1(prim::cholesky, {a}); }
}  // namespace emit

/// The lower triangular L with L L^T = a, for square matrices of float or double; leading axes are a batch. As JAX does
/// by default, it takes (a + a^T) / 2 for a, so that gradients are symmetric. If that is not positive definite, the
/// whole triangle is NaN; the other matrices of the batch are not affected.
template <class A>
  requires detail::SquareMatrix<A>
constexpr A cholesky(const A& a) {
  return detail::unary<A>(a, [](builder& b, int id) { return emit::cholesky(b, id); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why cholesky(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(cholesky)

}  // namespace drx
