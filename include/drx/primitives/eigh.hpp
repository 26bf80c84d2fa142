// drx/primitives/eigh.hpp: eigenvalues and eigenvectors of symmetric matrices.
#pragma once

#include <drx/primitives/cholesky.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/decompose/eigh.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/square_matrix.hpp>
#include <drx/tracing/values.hpp>

#include <vector>

namespace drx {
namespace emit {
/// v, a number for each column (or row) of matrices of shape s, repeated along the other axis.
constexpr int per_column(builder& b, int v, const shape& s) {
  shape flat = s;
  flat[s.rank - 2] = 1;
  return broadcast_to(b, reshape(b, v, flat), s);
}
constexpr int per_row(builder& b, int v, const shape& s) {
  shape flat = s;
  flat[s.rank - 1] = 1;
  return broadcast_to(b, reshape(b, v, flat), s);
}
constexpr int on_diagonal(builder& b, int x) {
  const int row = row_of(b, x);
  return equal(b, row, column_of(b, x));
}
/// x with zeros on its diagonal, or off it.
constexpr int without_diagonal(builder& b, int x) {
  const int diagonal = on_diagonal(b, x);
  return where(b, diagonal, constant_like(b, x, 0), x);
}
constexpr int diagonal_only(builder& b, int x) {
  const int diagonal = on_diagonal(b, x);
  return where(b, diagonal, x, constant_like(b, x, 0));
}
}  // namespace emit

namespace prim::rules {
struct eigh {  // results: w, ascending, and V with (A + A^T) / 2 = V diag(w) V^T
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0];
    return {a.with_shape(without_axis(a.shape, a.shape.rank - 1)), a};
  }
  /// x(i, j) / (w(j) - w(i)) off the diagonal; 0 where x is 0, also for equal eigenvalues.
  static constexpr int over_gaps(builder& b, int x, int w) {
    const shape s = b.shape(x);
    const int off_diagonal = emit::without_diagonal(b, x);
    const int column = emit::per_column(b, w, s), row = emit::per_row(b, w, s);
    return emit::azdiv(b, off_diagonal, emit::sub(b, column, row));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const int w = s.results[0], v = s.results[1];
    const int moved =
        emit::matmul(s.b, v, emit::matmul(s.b, cholesky::symmetric(s.b, t[0]), v, false, false), true, false);
    const std::int64_t last = s.b.shape(v).rank - 1;
    return {emit::sum(s.b, emit::diagonal_only(s.b, moved), {last}),
            emit::matmul(s.b, v, over_gaps(s.b, moved, w), false, false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    const int w = s.results[0], v = s.results[1];
    const shape matrices = s.b.shape(v);
    int g = zero_tangent;
    if (ct[0] != zero_tangent) g = emit::mul(s.b, v, emit::per_column(s.b, ct[0], matrices));
    if (ct[1] != zero_tangent)
      g = emit::accumulate(
          s.b, g, emit::matmul(s.b, v, over_gaps(s.b, emit::matmul(s.b, v, ct[1], true, false), w), false, false));
    return {g == zero_tangent ? g : cholesky::symmetric(s.b, emit::matmul(s.b, g, v, false, true))};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t n = x.shape.last();
    return n * (n + 2) * byte_size(x.type);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.in[0]->type.shape;
    const auto n = s.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        std::vector<T> scratch(static_cast<std::size_t>(n * (n + 2)));
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          decompose::eigh(n, v.in[0]->data<T>() + b * n * n, v.out[0].data<T>() + b * n, v.out[1].data<T>() + b * n * n,
                          scratch.data());
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive eigh{.name = "eigh",
                                .type = rules::eigh::type,
                                .jvp = rules::eigh::jvp,
                                .vjp = rules::eigh::vjp,
                                .batch = rules::square_matrix::batch,
                                .evaluate = rules::eigh::evaluate,
                                .known = rules::known::nothing,
                                .split = rules::split::along_matrices,
                                .scratch = rules::eigh::scratch};
}

namespace detail {
template <class A>
struct without_last_axis {
  static constexpr shape value = without_axis(A::shape, A::rank - 1);
};
}  // namespace detail

/// The pair of eigenvalues, ascending, and eigenvectors, as columns, of square matrices of float or double; leading
/// axes are a batch. As JAX does by default, it takes (a + a^T) / 2 for a. The element of largest magnitude of each
/// eigenvector is positive. For equal eigenvalues the derivatives of eigenvectors are infinite or NaN, except in
/// functions that do not depend on the choice of these; those of eigenvalues are right. An element that is not finite
/// makes all results of its matrix NaN.  auto [w, v] = eigh(a)
template <class A>
  requires detail::SquareMatrix<A>
constexpr auto eigh(const A& a) {
  using W = array_of<typename A::value_type, detail::without_last_axis<A>>;
  tracing_builder& b = detail::tape_of(detail::ref_of(a));
  const vec<int> ids = b.add(prim::eigh, vec<int>{detail::id_on(b, a)});
  return std::pair{W(detail::at(b, ids[0])), A(detail::at(b, ids[1]))};
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
std::pair<Why, Why> eigh(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(eigh)

}  // namespace drx
