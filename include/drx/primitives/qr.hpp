// drx/primitives/qr.hpp: QR: matrices as products of orthonormal columns and an upper triangle.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/decompose/qr.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/square_matrix.hpp>
#include <drx/tracing/values.hpp>

#include <vector>

namespace drx {
namespace prim::rules {
struct qr {  // results: Q (m x n) and R (n x n), m >= n; Walter and Lehmann (2010) have the derivatives
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = t.operands[0];
    const int r = a.shape.rank;
    typing::require(is_floating(a.type), "qr: of numbers that are not floating");
    typing::require(r >= 2 && a.shape[r - 2] >= a.shape[r - 1], "qr: not matrices of at least as many rows as columns");
    shape square = a.shape;
    square[r - 2] = a.shape[r - 1];
    return {a, a.with_shape(square)};
  }
  static constexpr int times_inverse(const rule_site& s, int x, bool transposed) {  // of R
    return emit::triangular_solve(s.b, s.results[1], x, true, false, transposed, false);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const int q = s.results[0], r = s.results[1];
    const int x = times_inverse(s, t[0], false), inside = emit::matmul(s.b, q, x, true, false);
    const int below = emit::triangle(s.b, inside, true, true);
    const int upper = emit::sub(s.b, inside, emit::sub(s.b, below, emit::swap_last_two(s.b, below)));
    return {emit::sub(s.b, x, emit::matmul(s.b, q, upper, false, false)), emit::matmul(s.b, upper, r, false, false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent && ct[1] == zero_tangent) return {zero_tangent};
    const int q = s.results[0], r = s.results[1];
    int m = zero_tangent;
    if (ct[1] != zero_tangent) m = emit::matmul(s.b, r, ct[1], false, true);
    if (ct[0] != zero_tangent) {
      const int turned = emit::matmul(s.b, ct[0], q, true, false);
      m = m == zero_tangent ? emit::neg(s.b, turned) : emit::sub(s.b, m, turned);
    }
    const int below = emit::triangle(s.b, m, true, true);  // the lower triangle, mirrored
    const int strictly_below = emit::triangle(s.b, m, true, false);
    const int mirrored = emit::add(s.b, strictly_below, emit::swap_last_two(s.b, below));
    return {times_inverse(s, emit::accumulate(s.b, ct[0], emit::matmul(s.b, q, mirrored, false, false)), true)};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    return decompose::qr_scratch(x.shape[x.shape.rank - 2], x.shape.last()) * byte_size(x.type);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.in[0]->type.shape;
    const auto m = s[s.rank - 2], n = s.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        std::vector<T> scratch(static_cast<std::size_t>(decompose::qr_scratch(m, n)));
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          decompose::qr(m, n, v.in[0]->data<T>() + b * m * n, v.out[0].data<T>() + b * m * n,
                        v.out[1].data<T>() + b * n * n, scratch.data());
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive qr{.name = "qr",
                              .type = rules::qr::type,
                              .jvp = rules::qr::jvp,
                              .vjp = rules::qr::vjp,
                              .batch = rules::square_matrix::batch,
                              .evaluate = rules::qr::evaluate,
                              .known = rules::known::nothing,
                              .split = rules::split::along_matrices,
                              .scratch = rules::qr::scratch};
}

namespace detail {
template <class A>
constexpr auto tall_matrix_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (A::rank < 2) {
    return error::wrong_rank{};
  } else if constexpr (A::shape[A::rank - 2] < A::shape[A::rank - 1]) {
    return error::matrix_has_more_columns_than_rows{};
  } else {
    return no_misuse{};
  }
}
template <class A>
concept TallMatrix = std::is_same_v<decltype(tall_matrix_misuse<A>()), no_misuse>;
template <class A>
struct columns_squared {
  static constexpr shape value = [] {
    shape s = A::shape;
    s[A::rank - 2] = s[A::rank - 1];
    return s;
  }();
};
}  // namespace detail

/// The pair Q, R of matrices of float or double that have at least as many rows as columns: a = Q R, with orthonormal
/// columns in Q, and R square and upper triangular; leading axes are a batch. Signs are LAPACK's, as in JAX.
/// Derivatives divide by R's diagonal: they are infinite or NaN if columns depend on each other. An element that is not
/// finite makes all results of its matrix NaN.
template <class A>
  requires detail::TallMatrix<A>
constexpr auto qr(const A& a) {
  using R = array_of<typename A::value_type, detail::columns_squared<A>>;
  tracing_builder& b = detail::tape_of(detail::ref_of(a));
  const vec<int> ids = b.add(prim::qr, vec<int>{detail::id_on(b, a)});
  return std::pair{A(detail::at(b, ids[0])), R(detail::at(b, ids[1]))};
}
template <class A, class Why = decltype(detail::tall_matrix_misuse<A>())>
  requires((Array<A> || Placed<A>) && !detail::TallMatrix<A>)
std::pair<Why, Why> qr(const A&) = delete;  // drx: of matrices of float or double, the last two axes, with at least as many rows as columns; of a placed value in a map

DRX_SILENT(qr)

}  // namespace drx
