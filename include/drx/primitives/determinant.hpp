// drx/primitives/determinant.hpp: the determinant. Its derivative is the matrix of cofactors, which also exists at
// singular matrices; the derivatives of these are determinants of minors of minors, up to `polynomial_order`.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/solve.hpp>
#include <drx/primitives/square_matrix.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
/// The determinant of n x n numbers by elimination with partial pivoting; it overwrites them.
template <class T>
T determinant_of(std::int64_t n, T* a) {
  T d = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    for (std::int64_t j = 0; j < n && best != k; ++j) std::swap(a[k * n + j], a[best * n + j]);
    d *= best == k ? a[k * n + k] : -a[k * n + k];
    if (a[k * n + k] == 0) return 0;
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
  }
  return d;
}

/// All matrices without row i and column j, as axis i n + j; or, transposed, the sum of such matrices put back into
/// their places. Signed: the one at (i, j) times (-1)^(i + j).
struct minors {
  struct view {  // ints: {transposed, signed}
    bool transposed, with_sign;
    constexpr view(bool is_transposed, bool is_signed) : transposed(is_transposed), with_sign(is_signed) {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposed, with_sign};
      return a;
    }
  };
  static constexpr std::int64_t order(const shape& s, bool transposed) { return s.last() + transposed; }
  static constexpr vec<abstract_value> type(const typing& t) {
    const bool transposed = view(t.attrs).transposed;
    shape s = square_matrix::type(t)[0].shape;
    const std::int64_t n = order(s, transposed);
    typing::require(n >= 1 && (!transposed || (s.rank >= 3 && s[s.rank - 3] == n * n)), "minors: not of a matrix");
    if (transposed) {
      s = without_axis(s, s.rank - 3);
      s[s.rank - 2] = s[s.rank - 1] = n;
    } else {
      s[s.rank - 2] = n * n;
      s[s.rank - 1] = n - 1;
      s.push_back(n - 1);
    }
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    view back(s.e);
    back.transposed = !back.transposed;
    return {s.b.add1(*s.e.prim, {ct[0]}, back.make())};
  }
  static std::string print(const attributes& a) {
    return std::string(view(a).transposed ? "T" : "N") + (view(a).with_sign ? " signed" : "");
  }
  /// Calls f(place in the matrix, place in the minors, sign) for each element of each minor.
  template <class F>
  static void for_each(std::int64_t n, bool with_sign, F f) {
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < n - 1; ++k)
          for (std::int64_t l = 0; l < n - 1; ++l)
            f((k + (k >= i)) * n + l + (l >= j), at++, with_sign && (i + j) % 2 != 0);
  }
  static void evaluate(evaluation& v) {
    const bool transposed = view(v.e).transposed, with_sign = view(v.e).with_sign;
    const shape s = v.in[0]->type.shape;
    const std::int64_t n = order(s, transposed), matrix = n * n, all = matrix * (n - 1) * (n - 1);
    const auto batches = square_matrix::batches(transposed ? v.out[0].type.shape : s);
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < batches; ++b)
          for_each(n, with_sign, [&](std::int64_t in_matrix, std::int64_t in_minors, bool negative) {
            const T x = v.in[0]->data<T>()[transposed ? b * all + in_minors : b * matrix + in_matrix];
            v.out[0].data<T>()[transposed ? b * matrix + in_matrix : b * all + in_minors] += negative ? -x : x;
          });
      }
    });
  }
};

struct cofactors {
  static constexpr std::int64_t polynomial_order = 8;  // above it, derivatives of cofactors divide by the determinant
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(t[0]);
    const auto n = from.last();
    if (n <= 1) return {zero_tangent};
    if (n <= polynomial_order) {
      const int d = emit::times(s.b, of_minors(s), emit::minors(s.b, t[0], false, true));
      const std::int64_t last = s.b.shape(d).rank - 1;
      return {emit::reshape(s.b, emit::sum(s.b, d, {last - 1, last}), from)};
    }
    const int c = s.results[0], w = inverse_transposed(s);  // d(det W) = det tr(W^T dA) W - det W dA^T W
    const int trace = sum::spread(s.b, emit::sum(s.b, emit::times(s.b, w, t[0]), last_two(from)), from, last_two(from));
    const int of_trace = emit::times(s.b, trace, c);
    return {emit::sub(s.b, of_trace, emit::matmul(s.b, emit::matmul(s.b, c, t[0], false, true), w, false, false))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(ct[0]);
    const auto n = from.last();
    if (n <= 1) return {zero_tangent};
    if (n <= polynomial_order) {
      const int c = of_minors(s);
      const shape all = s.b.shape(c);
      shape per_minor = all;
      per_minor.rank -= 2;
      const int g = sum::spread(s.b, emit::reshape(s.b, ct[0], per_minor), all, last_two(all));
      return {emit::minors(s.b, emit::times(s.b, g, c), true, true)};
    }
    const int c = s.results[0], w = inverse_transposed(s);
    const int scale =
        sum::spread(s.b, emit::sum(s.b, emit::times(s.b, ct[0], c), last_two(from)), from, last_two(from));
    const int scaled = emit::times(s.b, scale, w);
    return {emit::sub(s.b, scaled, emit::matmul(s.b, emit::matmul(s.b, w, ct[0], false, true), c, false, false))};
  }
  static constexpr vec<std::int64_t> last_two(const shape& s) { return {s.rank - 2, s.rank - 1}; }
  static constexpr int of_minors(const rule_site& s) {
    return s.b.add1(*s.e.prim, {emit::minors(s.b, s.operands[0], false, false)});
  }
  static constexpr int inverse_transposed(const rule_site& s) {
    return emit::solve(s.b, s.operands[0], emit::identity_like(s.b, s.operands[0]), true);
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    return b.shape(o[0]).last() == 1 ? emit::constant_like(b, o[0], 1) : -1;
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t n = x.shape.last();
    return n > 3 ? 2 * n * n * byte_size(x.type) : 0;
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto n = s.last(), m = n - 1;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b) {
          std::vector<T> minor(static_cast<std::size_t>(n == 0 ? 0 : n * n * m * m));
          minors::for_each(n, false, [&](auto in_matrix, auto in_minors, bool) {
            minor[static_cast<std::size_t>(in_minors)] = v.in[0]->data<T>()[b * n * n + in_matrix];
          });
          for (std::int64_t i = 0; i < n * n; ++i) {
            const T d = determinant_of(m, minor.data() + i * m * m);
            v.out[0].data<T>()[b * n * n + i] = (i / n + i % n) % 2 != 0 ? -d : d;
          }
        }
      }
    });
  }
};

struct determinant {
  static constexpr vec<abstract_value> type(const typing& t) {
    shape s = square_matrix::type(t)[0].shape;
    s.rank -= 2;
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(t[0]);
    return {emit::sum(s.b, emit::times(s.b, emit::cofactors(s.b, s.operands[0]), t[0]), cofactors::last_two(from))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]);
    const int each = sum::spread(s.b, ct[0], from, cofactors::last_two(from));
    return {emit::times(s.b, each, emit::cofactors(s.b, s.operands[0]))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    shape s = b.shape(o[0]);
    if (s.last() != 1) return -1;
    s.rank -= 2;
    return emit::reshape(b, o[0], s);
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t n = x.shape.last();
    return n > 3 ? n * n * byte_size(x.type) : 0;
  }
  static void evaluate(evaluation& v) {
    const auto n = v.in[0]->type.shape.last();
    tensor copy = *v.in[0];
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < v.out[0].size(); ++b)
          v.out[0].data<T>()[b] = determinant_of(n, copy.data<T>() + b * n * n);
      }
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive minors{.name = "minors",
                                  .type = rules::minors::type,
                                  .jvp = rules::broadcast_to::jvp,
                                  .vjp = rules::minors::vjp,
                                  .batch = rules::square_matrix::batch,
                                  .print = rules::minors::print,
                                  .evaluate = rules::minors::evaluate,
                                  .known = rules::known::polynomials,
                                  .split = rules::split::whole};
inline constexpr primitive cofactors{.name = "cofactors",
                                     .type = rules::square_matrix::type,
                                     .jvp = rules::cofactors::jvp,
                                     .vjp = rules::cofactors::vjp,
                                     .batch = rules::square_matrix::batch,
                                     .simplify = rules::cofactors::simplify,
                                     .evaluate = rules::cofactors::evaluate,
                                     .known = rules::known::polynomials,
                                     .split = rules::split::along_matrices,
                                     .scratch = rules::cofactors::scratch};
inline constexpr primitive determinant{.name = "determinant",
                                       .type = rules::determinant::type,
                                       .jvp = rules::determinant::jvp,
                                       .vjp = rules::determinant::vjp,
                                       .batch = rules::square_matrix::batch,
                                       .simplify = rules::determinant::simplify,
                                       .evaluate = rules::determinant::evaluate,
                                       .known = rules::known::polynomials,
                                       .split = rules::split::along_matrices,
                                       .scratch = rules::determinant::scratch};
}  // namespace prim
namespace emit {
constexpr int minors(builder& b, int x, bool transposed, bool with_sign) {
  return b.add1(prim::minors, {x}, prim::rules::minors::view(transposed, with_sign).make());
}
constexpr int cofactors(builder& b, int a) { return b.add1(prim::cofactors, {a}); }
constexpr int determinant(builder& b, int a) { return b.add1(prim::determinant, {a}); }
}  // namespace emit

/// The determinant of square matrices of float or double; leading axes are a batch. Its gradient, the matrix of
/// cofactors, is right also at singular matrices. So are higher derivatives for matrices of up to 8 rows, at a cost
/// that grows with the fifth power of the rows; above that they divide by the determinant, and are infinite or NaN at
/// singular matrices.
template <class A>
  requires detail::SquareMatrix<A>
constexpr auto determinant(const A& a) {
  using R = array_of<typename A::value_type, detail::without_matrix_axes<A>>;
  return detail::unary<R>(a, [](builder& b, int id) { return emit::determinant(b, id); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why determinant(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(determinant)

}  // namespace drx
