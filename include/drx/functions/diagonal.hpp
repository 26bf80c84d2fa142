// drx/functions/diagonal.hpp: the diagonal of matrices, and diagonal matrices. Both are a stride along the elements in
// row-major order.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/primitives/reported.hpp>

namespace drx {
namespace detail {
/// The shape of x with its last N axes replaced by Last....
template <class A, int N, std::int64_t... Last>
struct with_last_axes {
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank - N; ++i) s.push_back(A::shape[i]);
    (s.push_back(Last), ...);
    return s;
  }();
};

template <class A>
struct matrix_extents {
  static constexpr std::int64_t rows = A::shape[A::rank - 2], columns = A::shape[A::rank - 1];
  static constexpr std::int64_t diagonal = rows < columns ? rows : columns;
};
}  // namespace detail

/// The diagonal of matrices, which are the last two axes; leading axes are a batch.  sum(diagonal(x)) is the trace
template <class A>
  requires detail::HasAxes<A, 2>
constexpr auto diagonal(const A& x) {
  using M = detail::matrix_extents<A>;
  using in_a_row = detail::with_last_axes<A, 2, M::rows * M::columns>;
  return detail::unary<array_of<typename A::value_type, detail::with_last_axes<A, 2, M::diagonal>>>(
      x, [](builder& b, int id) {
        const shape& row = in_a_row::value;
        vec<std::int64_t> start(row.rank, 0), stop, stride(row.rank, 1);
        for (int i = 0; i < row.rank; ++i) stop.push_back(row[i]);
        stop[row.rank - 1] = M::diagonal == 0 ? 0 : (M::diagonal - 1) * (M::columns + 1) + 1;
        stride[row.rank - 1] = M::columns + 1;
        return emit::slice(b, emit::reshape(b, id, row), start, stop, stride);
      });
}
template <class A, class Why = detail::not_axes_t<A>>
  requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 2>)
Why diagonal(const A&) = delete;  // drx: of matrices, the last two axes (diagonal_matrix(x) makes one of a vector); of a placed value in a map

/// Square matrices with x on the diagonal and zeros elsewhere; leading axes are a batch.  diagonal_matrix(x), x of
/// shape [n]: [n, n]
template <class A>
  requires detail::HasAxes<A, 1>
constexpr auto diagonal_matrix(const A& x) {
  constexpr std::int64_t n = A::shape[A::rank - 1];
  using R = array_of<typename A::value_type, detail::with_last_axes<A, 1, n, n>>;
  return detail::unary<R>(x, [](builder& b, int id) {  // n zeros after each element but the last: n * n in all
    vec<std::int64_t> none(A::rank, 0), interior(A::rank, 0);
    interior[A::rank - 1] = n;
    return emit::reshape(b, emit::pad(b, id, none, none, interior), R::shape);
  });
}
template <class A, class Why = detail::not_axes_t<A>>
  requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 1>)
Why diagonal_matrix(const A&) = delete;  // drx: of vectors, the last axis; of a placed value in a map

DRX_SILENT(diagonal)
DRX_SILENT(diagonal_matrix)

}  // namespace drx
