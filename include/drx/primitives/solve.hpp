// drx/primitives/solve.hpp: systems of linear equations, the inverse and the logarithm of the determinant, all from one
// LU factorisation with partial pivoting. Derivatives use it again: the factors are operands of the entries that solve
// with them, and have no derivative of their own.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/piecewise.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/square_matrix.hpp>
#include <drx/primitives/triangular_solve.hpp>
#include <drx/tracing/values.hpp>

#include <cmath>

namespace drx {
namespace prim::rules {
struct lu_factors {  // results: L below the diagonal of U, in one matrix; for each row the later row it changed places
                     // with
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0];
    return {a, abstract_value(dtype::int32, without_axis(a.shape, a.shape.rank - 1))};
  }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent, zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0)) return {};
    return emit::lane_lu_factors(s.b, s.operands[0]);
  }
  template <class T>
  static void factor(std::int64_t n, T* a, std::int32_t* exchanged) {
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t best = k;
      for (std::int64_t i = k + 1; i < n; ++i)
        if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
      exchanged[k] = static_cast<std::int32_t>(best);
      for (std::int64_t j = 0; j < n && best != k; ++j) std::swap(a[k * n + j], a[best * n + j]);
      if (a[k * n + k] == 0) continue;  // all below are 0 as well
      for (std::int64_t i = k + 1; i < n; ++i) {
        a[i * n + k] /= a[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
      }
    }
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto n = s.last();
    v.out[0].bytes = v.in[0]->bytes;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          factor(n, v.out[0].data<T>() + b * n * n, v.out[1].data<std::int32_t>() + b * n);
      }
    });
  }
};

struct lu_solve {  // operands A, its two factors, Y; op(A) X = Y. A itself is read by derivatives only
  struct view {    // ints: {transposed}
    bool transposed;
    constexpr explicit view(bool is_transposed) : transposed(is_transposed) {}
    constexpr explicit view(int_list a) : transposed(a.flag(0)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposed};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0], y = t.operands[3];
    typing::require(t.operands[1] == a && t.operands[2].type == dtype::int32,
                    "lu_solve: not the factors of the matrix");
    typing::require(a.type == y.type && square_matrix::same_batch(a.shape, y.shape),
                    "lu_solve: types or batches differ");
    typing::require(a.shape.last() == y.shape[y.shape.rank - 2], "lu_solve: inner extents");
    return {y};
  }
  static constexpr int solve(const rule_site& s, int y, bool transposed) {
    return s.b.add1(*s.e.prim, {s.operands[0], s.operands[1], s.operands[2], y}, view(transposed).make());
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const bool transposed = view(s.e).transposed;
    int r = t[3];
    if (t[0] != zero_tangent) r = emit::subtract_from(s.b, r, emit::matmul(s.b, t[0], s.results[0], transposed, false));
    return {r == zero_tangent ? r : solve(s, r, transposed)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(4, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const bool transposed = view(s.e).transposed;
    const int g = solve(s, ct[0], !transposed), x = s.results[0];
    if (wanted[0]) r[0] = emit::neg(s.b, emit::matmul(s.b, transposed ? x : g, transposed ? g : x, false, true));
    if (wanted[3]) r[3] = g;
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const shape from = s.b.shape(s.operands[3]);
    if (batched[0] || batched[1] || batched[2] || from.rank != 3) return square_matrix::batch(s, batched, n);
    const int aside = emit::transpose(s.b, s.operands[3], {1, 0, 2});  // one matrix: more columns
    const int wide = emit::reshape(s.b, aside, make_shape(from[1], n * from[2]));
    const int solved = emit::reshape(s.b, solve(s, wide, view(s.e).transposed), make_shape(from[1], n, from[2]));
    return {emit::transpose(s.b, solved, {1, 0, 2})};
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const bool transposed = view(s.e).transposed;
    if (!square_matrix::suits_lanes(s, 0) || s.b.shape(s.operands[3]).size() == 0) return {};
    if (s.in_lanes[1])
      return {emit::lane_lu_solve(s.b, s.operands[1], s.operand(2), s.operands[3], transposed, s.in_lanes[3])};
    if (s.in_lanes[2] || !s.in_lanes[3]) return {};
    const shape from = s.b.shape(s.operands[3]);  // one matrix: the columns of all lanes
    const int wide = emit::reshape(s.b, s.operands[3], make_shape(from[0], from[1] * from[2]));
    const vec<int> operands{s.operands[1], s.operands[1], s.operands[2], wide};  // (the matrix itself is not read)
    return {emit::reshape(s.b, s.b.add1(*s.e.prim, operands, s.e.attrs), from)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double y = 1;
    return emit::is_constant(b, o[3], y) && y == 0 ? o[3] : -1;
  }
  static std::string print(const attributes& a) { return view(a).transposed ? "T" : "N"; }
  static void evaluate(evaluation& v) {
    const bool transposed = view(v.e).transposed;
    const shape s = v.out[0].type.shape;
    const auto n = s[s.rank - 2], columns = s.last();
    v.out[0].bytes = v.in[3]->bytes;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          for (std::int64_t j = 0; j < columns; ++j) {
            const T* lu = v.in[1]->data<T>() + b * n * n;
            const std::int32_t* exchanged = v.in[2]->data<std::int32_t>() + b * n;
            T* x = v.out[0].data<T>() + b * n * columns + j;
            for (std::int64_t i = 0; i < n && !transposed; ++i) std::swap(x[i * columns], x[exchanged[i] * columns]);
            const triangular_form l{.lower = true, .transposed = transposed, .unit = true},
                u{.lower = false, .transposed = transposed};
            triangular_solve::one(transposed ? u : l, n, lu, x, columns);
            triangular_solve::one(transposed ? l : u, n, lu, x, columns);
            for (std::int64_t i = n - 1; i >= 0 && transposed; --i)
              std::swap(x[i * columns], x[exchanged[i] * columns]);
          }
      }
    });
  }
};

struct logdet {  // operands A, its two factors
  static constexpr vec<abstract_value> type(const typing& t) {
    shape s = square_matrix::type(t)[0].shape;
    s.rank -= 2;
    return {t.operands[0].with_shape(s)};
  }
  static constexpr int slope(const rule_site& s) {  // the transpose of the inverse
    const int identity = emit::identity_like(s.b, s.operands[0]);
    return s.b.add1(*lu_solve_ptr(), {s.operands[0], s.operands[1], s.operands[2], identity},
                    lu_solve::view(true).make());
  }
  static constexpr const primitive* lu_solve_ptr();
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const std::int64_t last = s.b.shape(t[0]).rank - 1;
    return {emit::sum(s.b, emit::times(s.b, t[0], slope(s)), {last - 1, last})};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(3, zero_tangent);
    if (ct[0] == zero_tangent || !wanted[0]) return r;
    const shape from = s.b.shape(s.operands[0]);
    r[0] = emit::times(s.b, sum::spread(s.b, ct[0], from, {from.rank - 2, from.rank - 1}), slope(s));
    return r;
  }
  /// In lanes: the sum of the diagonal's logarithms, element by element.
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0) || !s.in_lanes[1]) return {};
    const std::int64_t n = s.b.shape(s.operands[1])[0];
    int sum = -1;
    for (std::int64_t i = 0; i < n; ++i) {
      const int element = emit::slice(s.b, s.operands[1], {i, i, 0}, {i + 1, i + 1, s.n}, {1, 1, 1});
      const int term = emit::log(s.b, s.b.add1(prim::abs, {emit::reshape(s.b, element, make_shape(s.n))}));
      sum = sum < 0 ? term : emit::add(s.b, sum, term);
    }
    return {sum};
  }
  static void evaluate(evaluation& v) {
    const auto n = v.in[1]->type.shape.last();
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < v.out[0].size(); ++b)
          for (std::int64_t i = 0; i < n; ++i)
            v.out[0].data<T>()[b] += std::log(std::abs(v.in[1]->data<T>()[b * n * n + i * n + i]));
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive lu_factors{.name = "lu_factors",
                                      .type = rules::lu_factors::type,
                                      .jvp = rules::lu_factors::jvp,
                                      .vjp = rules::lu_factors::vjp,
                                      .batch = rules::square_matrix::batch,
                                      .evaluate = rules::lu_factors::evaluate,
                                      .known = rules::known::nothing,
                                      .lanes = rules::lu_factors::lanes,
                                      .split = rules::split::along_matrices,
                                      .cost = rules::square_matrix::cost};
inline constexpr primitive lu_solve{.name = "lu_solve",
                                    .type = rules::lu_solve::type,
                                    .jvp = rules::lu_solve::jvp,
                                    .vjp = rules::lu_solve::vjp,
                                    .batch = rules::lu_solve::batch,
                                    .simplify = rules::lu_solve::simplify,
                                    .print = rules::lu_solve::print,
                                    .evaluate = rules::lu_solve::evaluate,
                                    .known = rules::known::nothing,
                                    .lanes = rules::lu_solve::lanes,
                                    .split = rules::split::along_matrices};
inline constexpr primitive logdet{.name = "logdet",
                                  .type = rules::logdet::type,
                                  .jvp = rules::logdet::jvp,
                                  .vjp = rules::logdet::vjp,
                                  .batch = rules::square_matrix::batch,
                                  .evaluate = rules::logdet::evaluate,
                                  .known = rules::known::nothing,
                                  .lanes = rules::logdet::lanes,
                                  .split = rules::split::whole};
constexpr const primitive* rules::logdet::lu_solve_ptr() { return &prim::lu_solve; }
}  // namespace prim
namespace emit {
/// The solution of a x = y; a gets the leading extents of y.
constexpr int solve(builder& b, int a, int y, bool transposed) {
  const vec<int> factors = b.add(prim::lu_factors, {a});
  shape matrices = b.shape(y);
  matrices[matrices.rank - 1] = matrices[matrices.rank - 2];
  return b.add1(prim::lu_solve,
                {broadcast_to(b, a, matrices), broadcast_to(b, factors[0], matrices),
                 broadcast_to(b, factors[1], without_axis(matrices, matrices.rank - 1)), y},
                prim::rules::lu_solve::view(transposed).make());
}
constexpr int logdet(builder& b, int a) {
  const vec<int> factors = b.add(prim::lu_factors, {a});
  return b.add1(prim::logdet, {a, factors[0], factors[1]});
}
}  // namespace emit

namespace detail {
template <class A>
struct without_matrix_axes {
  static constexpr shape value = [] {
    shape s = A::shape;
    s.rank = s.rank < 2 ? 0 : s.rank - 2;
    for (int i = s.rank; i < shape::max_rank; ++i) s.extent[i] = 0;
    return s;
  }();
};
}  // namespace detail

/// The solution x of a x = b by LU factorisation with partial pivoting. b is a vector or a matrix; leading axes are a
/// batch, and broadcast; elements are float or double. If a is singular, elements of x are infinite or NaN.
template <class A, class B>
  requires detail::Solvable<A, B>
constexpr auto solve(const A& a, const B& b) {
  return detail::system_of<A, B, false>(a, b, [](builder& on, int m, int y) { return emit::solve(on, m, y, false); });
}
template <class A, class B, class Why = decltype(detail::linear_system<A, B>::misuse())>
  requires detail::NotSolvable<A, B>
Why solve(const A&, const B&) = delete;  // drx: a square floating matrix and a vector or matrix of as many rows, one element type; of placed values in a map

/// The inverse of square matrices of float or double; leading axes are a batch. If a is singular, elements of the
/// result are infinite or NaN. solve(a, b) costs less than matmul(inverse(a), b), and is more accurate.
template <class A>
  requires detail::SquareMatrix<A>
constexpr A inverse(const A& a) {
  return detail::unary<A>(a, [](builder& b, int id) { return emit::solve(b, id, emit::identity_like(b, id), false); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why inverse(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

/// log |det a| for square matrices of float or double; leading axes are a batch. It does not overflow or underflow as
/// the determinant does. If a is singular it is minus infinity, with a gradient that is infinite or NaN.
template <class A>
  requires detail::SquareMatrix<A>
constexpr auto logdet(const A& a) {
  using R = array_of<typename A::value_type, detail::without_matrix_axes<A>>;
  return detail::unary<R>(a, [](builder& b, int id) { return emit::logdet(b, id); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why logdet(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(inverse)
DRX_SILENT(logdet)
DRX_SILENT(solve)

}  // namespace drx
