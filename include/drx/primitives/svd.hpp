// drx/primitives/svd.hpp: the thin singular value decomposition.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/decompose/svd.hpp>
#include <drx/primitives/eigh.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/square_matrix.hpp>
#include <drx/tracing/values.hpp>

#include <vector>

namespace drx {
namespace prim::rules {
struct svd {  // results: U (m x k), s (k), V^T (k x n), k the smaller of m and n
  struct shapes {
    shape of[3];
  };
  static constexpr shapes shapes_of(const shape& a) {
    const int r = a.rank;
    const std::int64_t k = a[r - 2] < a[r - 1] ? a[r - 2] : a[r - 1];
    shape u = a, s = without_axis(a, r - 1), v = a;
    u[r - 1] = s[r - 2] = v[r - 2] = k;
    return {{u, s, v}};
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = t.operands[0];
    typing::require(is_floating(a.type) && a.shape.rank >= 2, "svd: not matrices of floating numbers");
    const shapes s = shapes_of(a.shape);
    return {a.with_shape(s.of[0]), a.with_shape(s.of[1]), a.with_shape(s.of[2])};
  }
  struct parts {  // of the derivatives
    builder& b;
    int u, s, vt;
    std::int64_t m, n, k;
    shape inside;  // k x k
    constexpr explicit parts(const rule_site& at) : b(at.b), u(at.results[0]), s(at.results[1]), vt(at.results[2]) {
      const shape of_u = b.shape(u), of_v = b.shape(vt);
      m = of_u[of_u.rank - 2], k = of_u.last(), n = of_v.last();
      inside = of_u;
      inside[of_u.rank - 2] = k;
    }
    [[nodiscard]] constexpr int columns_scaled(int x) const {
      return emit::mul(b, x, emit::per_column(b, s, b.shape(x)));
    }
    [[nodiscard]] constexpr int rows_scaled(int x) const { return emit::mul(b, x, emit::per_row(b, s, b.shape(x))); }
    [[nodiscard]] constexpr int columns_divided(int x) const {
      return emit::azdiv(b, x, emit::per_column(b, s, b.shape(x)));
    }
    /// x(i, j) / (s(j)^2 - s(i)^2) off the diagonal; 0 where x is 0.
    [[nodiscard]] constexpr int over_gaps(int x) const {
      const int column = emit::per_column(b, s, inside), row = emit::per_row(b, s, inside);
      const int off_diagonal = emit::without_diagonal(b, x);
      const int difference = emit::sub(b, column, row), sum = emit::add(b, column, row);
      return emit::azdiv(b, off_diagonal, emit::mul(b, difference, sum));
    }
    [[nodiscard]] constexpr int with_transpose(int x) const { return emit::add(b, x, emit::swap_last_two(b, x)); }
  };
  static constexpr vec<int> jvp(const rule_site& at, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent, zero_tangent, zero_tangent};
    const parts p(at);
    const int right = emit::matmul(p.b, t[0], p.vt, false, true), inside = emit::matmul(p.b, p.u, right, true, false);
    int du = emit::matmul(p.b, p.u, p.over_gaps(p.with_transpose(p.columns_scaled(inside))), false, false);
    int dv = emit::matmul(p.b, p.vt, p.over_gaps(p.with_transpose(p.rows_scaled(inside))), true, false);
    if (p.m > p.k) {
      const int outside = emit::sub(p.b, right, emit::matmul(p.b, p.u, inside, false, false));
      du = emit::add(p.b, du, p.columns_divided(outside));
    }
    if (p.n > p.k) {
      const int whole = emit::matmul(p.b, t[0], p.u, true, false);
      const int outside = emit::sub(p.b, whole, emit::matmul(p.b, p.vt, inside, true, true));
      dv = emit::add(p.b, dv, p.columns_divided(outside));
    }
    const std::int64_t last = p.inside.rank - 1;
    return {du, emit::sum(p.b, emit::diagonal_only(p.b, inside), {last}), emit::swap_last_two(p.b, dv)};
  }
  static constexpr vec<int> vjp(const rule_site& at, const vec<int>& ct, const vec<bool>&) {
    const parts p(at);
    int inside = zero_tangent, g = zero_tangent;  // the cotangent of U^T dA V, and that of the rest of dA
    if (ct[1] != zero_tangent) inside = emit::diagonal_only(p.b, emit::per_row(p.b, ct[1], p.inside));
    if (ct[0] != zero_tangent) {
      inside = emit::accumulate(
          p.b, inside, p.columns_scaled(p.with_transpose(p.over_gaps(emit::matmul(p.b, p.u, ct[0], true, false)))));
      if (p.m > p.k) {
        const int h = p.columns_divided(ct[0]);
        inside = emit::sub(p.b, inside, emit::matmul(p.b, p.u, h, true, false));
        g = emit::matmul(p.b, h, p.vt, false, false);
      }
    }
    if (ct[2] != zero_tangent) {
      inside = emit::accumulate(
          p.b, inside, p.rows_scaled(p.with_transpose(p.over_gaps(emit::matmul(p.b, p.vt, ct[2], false, true)))));
      if (p.n > p.k) {
        const int h = emit::azdiv(p.b, ct[2], emit::per_row(p.b, p.s, p.b.shape(ct[2])));
        inside = emit::sub(p.b, inside, emit::matmul(p.b, h, p.vt, false, true));
        g = emit::accumulate(p.b, g, emit::matmul(p.b, p.u, h, false, false));
      }
    }
    if (inside == zero_tangent) return {zero_tangent};
    return {
        emit::accumulate(p.b, g, emit::matmul(p.b, emit::matmul(p.b, p.u, inside, false, false), p.vt, false, false))};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t m = x.shape[x.shape.rank - 2], n = x.shape.last();
    return decompose::svd_scratch(m, n) * byte_size(x.type);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.in[0]->type.shape;
    const auto m = s[s.rank - 2], n = s.last(), k = v.out[1].type.shape.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        std::vector<T> scratch(static_cast<std::size_t>(decompose::svd_scratch(m, n)));
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          decompose::svd(m, n, v.in[0]->data<T>() + b * m * n, v.out[0].data<T>() + b * m * k,
                         v.out[1].data<T>() + b * k, v.out[2].data<T>() + b * k * n, scratch.data());
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive svd{.name = "svd",
                               .type = rules::svd::type,
                               .jvp = rules::svd::jvp,
                               .vjp = rules::svd::vjp,
                               .batch = rules::square_matrix::batch,
                               .evaluate = rules::svd::evaluate,
                               .known = rules::known::nothing,
                               .split = rules::split::along_matrices,
                               .scratch = rules::svd::scratch};
}

namespace detail {
template <class A>
concept FloatingMatrix = FloatingArray<A> && HasAxes<A, 2>;
template <class A>
constexpr auto floating_matrix_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else {
    return error::wrong_rank{};
  }
}
template <class A, int Result>
struct svd_part {
  static constexpr shape value = prim::rules::svd::shapes_of(A::shape).of[Result];
};
}  // namespace detail

/// The tuple U, s, V^T of matrices of float or double, m x n: a = U diag(s) V^T with k numbers in s, descending and
/// nonnegative, where k is the smaller of m and n; U is m x k, V^T k x n; leading axes are a batch. The element of
/// largest magnitude of each column of U is positive. Derivatives of U and V^T are infinite or NaN if singular values
/// are equal, or if one is 0 and m and n differ, except in functions that do not depend on the choice; those of s are
/// right. Errors of s are a small multiple of the precision times the largest of s, unless rows or columns are of very
/// different sizes: then those of small ones are smaller. An element that is not finite makes all results of its matrix
/// NaN.  auto [u, s, vt] = svd(a)
template <class A>
  requires detail::FloatingMatrix<A>
constexpr auto svd(const A& a) {
  using T = typename A::value_type;
  tracing_builder& b = detail::tape_of(detail::ref_of(a));
  const vec<int> ids = b.add(prim::svd, vec<int>{detail::id_on(b, a)});
  return std::tuple{array_of<T, detail::svd_part<A, 0>>(detail::at(b, ids[0])),
                    array_of<T, detail::svd_part<A, 1>>(detail::at(b, ids[1])),
                    array_of<T, detail::svd_part<A, 2>>(detail::at(b, ids[2]))};
}
template <class A, class Why = decltype(detail::floating_matrix_misuse<A>())>
  requires((Array<A> || Placed<A>) && !detail::FloatingMatrix<A>)
std::tuple<Why, Why, Why> svd(const A&) = delete;  // drx: of matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(svd)

}  // namespace drx
