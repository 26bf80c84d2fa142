// drx/primitives/triangular_solve.hpp: systems of equations with a triangular matrix.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/matmul.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/square_matrix.hpp>

namespace drx {
namespace prim::rules {
/// The triangle of the first operand A that is read, its transposition, and its side: op(A) X = Y, or X op(A) = Y.
struct triangular_form {
  bool right = false, lower = true, transposed = false, unit = false;
};
struct triangular_solve {          // operands A, Y of one rank, equal leading extents
  struct view : triangular_form {  // ints: {right, lower, transposed, unit}
    constexpr view(bool is_right, bool is_lower, bool is_transposed, bool is_unit)
        : triangular_form{is_right, is_lower, is_transposed, is_unit} {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1), a.flag(2), a.flag(3)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {right, lower, transposed, unit};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0], y = t.operands[1];
    typing::require(a.type == y.type && square_matrix::same_batch(a.shape, y.shape),
                    "triangular_solve: types or batches differ");
    typing::require(a.shape.last() == y.shape[y.shape.rank - (view(t.attrs).right ? 1 : 2)],
                    "triangular_solve: inner extents");
    return {y};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const view form(s.e);
    int r = t[1];
    if (t[0] != zero_tangent) {  // of op(A) X = Y: op(A) dX = dY - op(dA) X
      const int da = emit::triangle(s.b, t[0], form.lower, form.unit), x = s.results[0];
      r = emit::subtract_from(s.b, r,
                              form.right ? emit::matmul(s.b, x, da, false, form.transposed)
                                         : emit::matmul(s.b, da, x, form.transposed, false));
    }
    return {r == zero_tangent ? r : s.b.add1(*s.e.prim, {s.operands[0], r}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const view form(s.e);
    view turned = form;
    turned.transposed = !form.transposed;
    const int x = s.results[0], g = s.b.add1(*s.e.prim, {s.operands[0], ct[0]}, turned.make());
    vec<int> r{zero_tangent, wanted[1] ? g : zero_tangent};
    if (wanted[0]) {
      const bool g_first = form.right == form.transposed;
      const int product = emit::matmul(s.b, g_first ? g : x, g_first ? x : g, form.right, !form.right);
      r[0] = emit::neg(s.b, emit::triangle(s.b, product, form.lower, form.unit));
    }
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const shape from = s.b.shape(s.operands[1]);
    view as_rows(s.e);
    const bool rows = as_rows.right;
    if (batched[0] || from.rank != 3 || (!rows && from[2] != 1)) return square_matrix::batch(s, batched, n);
    // For one matrix, the batch is more rows. A column is a row of the transposed system.
    as_rows.right = true;
    if (!rows) as_rows.transposed = !as_rows.transposed;
    const int tall = emit::reshape(s.b, s.operands[1], make_shape(rows ? n * from[1] : n, from[rows ? 2 : 1]));
    return {emit::reshape(s.b, s.b.add1(*s.e.prim, {s.operands[0], tall}, as_rows.make()), from)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double y = 1;
    if (emit::is_constant(b, o[1], y) && y == 0) return o[1];
    const entry* e = b.definition(o[0]);
    if (!e || !matmul::swaps_last_two(*e)) return -1;
    view turned(a);  // the lower triangle of a transpose is the upper one
    turned.lower = !turned.lower;
    turned.transposed = !turned.transposed;
    return b.add1(*prim_ptr(), {e->operands[0], o[1]}, turned.make());
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0) || s.b.shape(s.operands[1]).size() == 0) return {};
    if (s.in_lanes[0])
      return {emit::lane_triangular_solve(s.b, s.operands[0], s.operands[1], s.e.attrs, s.in_lanes[1])};
    if (view(s.e).right) return {emit::lane_triangular_solve(s.b, s.operand(0), s.operands[1], s.e.attrs, true)};
    const shape from = s.b.shape(s.operands[1]);  // one matrix: the columns of all lanes
    const int wide = emit::reshape(s.b, s.operands[1], make_shape(from[0], from[1] * from[2]));
    return {emit::reshape(s.b, s.b.add1(*prim_ptr(), {s.operands[0], wide}, s.e.attrs), from)};
  }
  static constexpr const primitive* prim_ptr();
  static std::string print(const attributes& a) {
    const view form(a);
    return std::string(form.right ? "right " : "") + (form.unit ? "unit " : "") + (form.lower ? "lower" : "upper") +
           (form.transposed ? " T" : "");
  }
  /// X op(A) = Y for one row, or op(A) X = Y for one column, whose elements are `step` apart: x holds Y, then X.
  template <class T>
  static void one(const triangular_form& form, std::int64_t n, const T* a, T* x, std::int64_t step) {
    const bool turned = form.transposed != form.right;  // the matrix M in M x = y is the transpose of A
    const bool forward = form.lower != turned;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = forward ? i : n - 1 - i;
      T sum = x[row * step];
      for (std::int64_t k = forward ? 0 : row + 1; k < (forward ? row : n); ++k)
        sum -= (turned ? a[k * n + row] : a[row * n + k]) * x[k * step];
      x[row * step] = form.unit ? sum : sum / a[row * n + row];
    }
  }
  static void evaluate(evaluation& v) {
    const view form(v.e);
    const shape from = v.in[0]->type.shape, s = v.out[0].type.shape;
    const auto n = from.last(), size = s[s.rank - 2] * s[s.rank - 1], others = n == 0 ? 0 : size / n;
    v.out[0].bytes = v.in[1]->bytes;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(from); ++b)
          for (std::int64_t i = 0; i < others; ++i)
            one(form, n, v.in[0]->data<T>() + b * n * n, v.out[0].data<T>() + b * size + (form.right ? i * n : i),
                form.right ? 1 : others);
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive triangular_solve{.name = "triangular_solve",
                                            .type = rules::triangular_solve::type,
                                            .jvp = rules::triangular_solve::jvp,
                                            .vjp = rules::triangular_solve::vjp,
                                            .batch = rules::triangular_solve::batch,
                                            .simplify = rules::triangular_solve::simplify,
                                            .print = rules::triangular_solve::print,
                                            .evaluate = rules::triangular_solve::evaluate,
                                            .known = rules::known::nothing,
                                            .lanes = rules::triangular_solve::lanes,
                                            .split = rules::split::along_matrices,
                                            .cost = rules::square_matrix::cost};
constexpr const primitive* rules::triangular_solve::prim_ptr() { return &prim::triangular_solve; }
}  // namespace prim
namespace emit {
constexpr int triangular_solve(builder& b, int a, int y, bool right, bool lower, bool transposed, bool unit) {
  return b.add1(prim::triangular_solve, {a, y},
                prim::rules::triangular_solve::view(right, lower, transposed, unit).make());
}
}  // namespace emit

/// Option of triangular_solve: reads the upper triangle; without it, the lower one.
struct upper {};
/// Option of triangular_solve: the matrix is the transpose of the triangle.
struct transposed {};
/// Option of triangular_solve: the diagonal is all ones, and is not read.
struct unit_diagonal {};
/// Option of triangular_solve: solves x a = b.
struct from_right {};

namespace detail {
template <class O>
inline constexpr bool is_triangular_option = std::is_same_v<O, upper> || std::is_same_v<O, drx::transposed> ||
                                             std::is_same_v<O, unit_diagonal> || std::is_same_v<O, from_right>;
template <class Option, class... O>
inline constexpr bool any_is = (std::is_same_v<Option, O> || ...);
}  // namespace detail

/// The solution x of a x = b, for a triangular matrix a, of which only the triangle is read. b is a vector or a matrix;
/// leading axes are a batch, and broadcast; elements are float or double. If a is singular, elements of x are infinite
/// or NaN.
///     triangular_solve(l, b), triangular_solve<upper>(u, b), triangular_solve<transposed, from_right>(l, b)
template <class... Options, class A, class B>
  requires((detail::is_triangular_option<Options> && ...) &&
           detail::Solvable<A, B, detail::any_is<from_right, Options...>>)
constexpr auto triangular_solve(const A& a, const B& b) {
  constexpr bool right = detail::any_is<from_right, Options...>;
  return detail::system_of<A, B, right>(a, b, [](builder& on, int m, int y) {
    m = emit::broadcast_to(on, m, detail::linear_system<A, B, right>::matrices());
    return emit::triangular_solve(on, m, y, right, !detail::any_is<upper, Options...>,
                                  detail::any_is<drx::transposed, Options...>,
                                  detail::any_is<unit_diagonal, Options...>);
  });
}
template <class... Options, class A, class B,
          class Why = decltype(detail::linear_system<A, B, detail::any_is<from_right, Options...>>::misuse())>
  requires((detail::is_triangular_option<Options> && ...) &&
           detail::NotSolvable<A, B, detail::any_is<from_right, Options...>>)
Why triangular_solve(const A&, const B&) = delete;  // drx: a square floating matrix and a vector or matrix of as many rows (from_right: columns), one element type; of placed values in a map

DRX_SILENT_OF_TYPES(triangular_solve)

}  // namespace drx
