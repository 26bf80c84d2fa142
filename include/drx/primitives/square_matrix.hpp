// drx/primitives/square_matrix.hpp: common parts of the primitives of dense linear algebra. Matrices are the last two
// axes; leading axes are a batch.
#pragma once

#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/constant.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/lane_site.hpp>
#include <drx/primitives/where.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct square_matrix {
  static constexpr bool fits(const shape& s) { return s.rank >= 2 && s[s.rank - 2] == s[s.rank - 1]; }
  static constexpr std::int64_t batches(const shape& s) {
    std::int64_t n = 1;
    for (int i = 0; i < s.rank - 2; ++i) n *= s[i];
    return n;
  }
  static constexpr bool same_batch(const shape& a, const shape& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank - 2; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  static constexpr vec<abstract_value> type(const typing& t) {  // of the operand
    typing::require(fits(t.operands[0].shape), "not square matrices");
    typing::require(is_floating(t.operands[0].type), "matrices of numbers that are not floating");
    return {t.operands[0]};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return s.b.add(*s.e.prim, operands, s.e.attrs);
  }
  /// Rows of a matrix up to which members' matrices are factored side by side, one in each lane: it fits in registers
  /// and the first cache.
  static constexpr std::int64_t most_rows_in_lanes = 8;
  /// Whether operand `matrix` of an entry is, in each lane, one matrix of few rows.
  static constexpr bool suits_lanes(const lane_site& s, int matrix) {
    const shape from = s.b.shape(s.operands[matrix]);
    return from.rank == 2 + s.in_lanes[matrix] && from[0] > 0 && from[0] <= most_rows_in_lanes;
  }
  /// Small matrices leave vector units idle.
  static constexpr entry_cost cost(const tape& t, const entry& e) {
    const shape from = t.values[e.operands[0]].shape;
    return {.suits_lanes = from.rank == 2 && from[0] <= most_rows_in_lanes};
  }
};
}  // namespace prim::rules

namespace emit {
constexpr int swap_last_two(builder& b, int x) {
  vec<std::int64_t> p;
  const int r = b.shape(x).rank;
  for (int i = 0; i < r - 2; ++i) p.push_back(i);
  p.push_back(r - 1);
  p.push_back(r - 2);
  return emit::transpose(b, x, p);
}
/// The row or column number of each element of matrices of shape s, or of x.
constexpr int row_of(builder& b, const shape& s) { return iota(b, {dtype::int32, s}, s.rank - 2); }
constexpr int column_of(builder& b, const shape& s) { return iota(b, {dtype::int32, s}, s.rank - 1); }
constexpr int row_of(builder& b, int x) { return row_of(b, b.shape(x)); }
constexpr int column_of(builder& b, int x) { return column_of(b, b.shape(x)); }
/// x with zeros outside one triangle; if strict, on its diagonal too.
constexpr int triangle(builder& b, int x, bool lower, bool strict) {
  const int inner = lower ? row_of(b, x) : column_of(b, x), outer = lower ? column_of(b, x) : row_of(b, x);
  const int zero = constant_like(b, x, 0);
  return strict ? where(b, less(b, outer, inner), x, zero) : where(b, less(b, inner, outer), zero, x);
}
/// Matrices with ones on the diagonal and zeros elsewhere.
constexpr int identity(builder& b, const abstract_value& type) {
  const int row = row_of(b, type.shape);
  return cast(b, equal(b, row, column_of(b, type.shape)), type.type);
}
constexpr int identity_like(builder& b, int x) { return identity(b, b.type(x)); }
/// x subtracted from a value that may be a zero tangent.
constexpr int subtract_from(builder& b, int from, int x) { return from == zero_tangent ? neg(b, x) : sub(b, from, x); }
}  // namespace emit

namespace detail {
template <class A, int Rank>
concept HasAxes = Array<A> && A::rank >= Rank;
template <class A>
using not_axes_t = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_rank>;
template <class A>
constexpr auto square_matrix_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (A::rank < 2) {
    return error::wrong_rank{};
  } else if constexpr (!prim::rules::square_matrix::fits(A::shape)) {
    return error::matrix_is_not_square{};
  } else {
    return no_misuse{};
  }
}
template <class A>
concept SquareMatrix = std::is_same_v<decltype(square_matrix_misuse<A>()), no_misuse>;
template <class A>
concept NoSquareMatrix = (Array<A> || Placed<A>) && !SquareMatrix<A>;
template <class A>
using not_square_t = decltype(square_matrix_misuse<A>());

/// A and B as matrix and right-hand side: a vector is a column; leading axes are a batch, and broadcast.
template <class A, class B>
constexpr auto right_hand_side_misuse() {
  if constexpr (Placed<B>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!SquareMatrix<A>) {
    return square_matrix_misuse<A>();
  } else if constexpr (!Array<B>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
    return error::element_types_differ{};
  } else if constexpr (B::rank == 0) {
    return error::wrong_rank{};
  } else {
    return no_misuse{};
  }
}
template <class A, class B, bool Right = false>
struct linear_system {
  static constexpr auto misuse() {
    if constexpr (!std::is_same_v<decltype(right_hand_side_misuse<A, B>()), no_misuse>) {
      return right_hand_side_misuse<A, B>();
    } else if constexpr (order() != unknowns()) {
      return error::inner_extents_differ{};
    } else if constexpr (!broadcastable(batch_of(A::shape), batch_of(side()))) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr std::int64_t order() { return A::shape[A::rank - 1]; }
  static constexpr std::int64_t unknowns() { return side()[side().rank - (Right ? 1 : 2)]; }
  /// B as a matrix.
  static constexpr shape side() {
    if constexpr (B::rank == 1) {
      return Right ? make_shape(1, B::shape[0]) : make_shape(B::shape[0], 1);
    } else {
      return B::shape;
    }
  }
  static constexpr shape batch_of(const shape& s) {
    shape batch;
    for (int i = 0; i < s.rank - 2; ++i) batch.push_back(s[i]);
    return batch;
  }
  static constexpr shape in_batch(shape last) {  // last: of one element of the batch
    shape s = broadcast_shapes(batch_of(A::shape), batch_of(side()));
    for (int i = 0; i < last.rank; ++i) s.push_back(last[i]);
    return s;
  }
  static constexpr shape matrices() { return in_batch(make_shape(order(), order())); }
  static constexpr shape sides() { return in_batch(make_shape(side()[side().rank - 2], side()[side().rank - 1])); }
  static constexpr shape value_of() {
    if constexpr (B::rank == 1) {
      return in_batch(B::shape);
    } else {
      return sides();
    }
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return value_of();
    } else {
      return shape{};
    }
  }();
};
template <class A, class B, bool Right = false>
concept Solvable = std::is_same_v<decltype(linear_system<A, B, Right>::misuse()), no_misuse>;
template <class A, class B, bool Right = false>
concept NotSolvable = (Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !Solvable<A, B, Right>;

/// write(b, matrices, right-hand sides), with both on one tape and with b's own batch.
template <class A, class B, bool Right, class F>
constexpr auto system_of(const A& a, const B& y, F write) {
  using S = linear_system<A, B, Right>;
  tracing_builder& b = tape_of(ref_of(a), ref_of(y));
  const int m = emit::resolve(b, ref_of(a), {dtype_of<typename A::value_type>, A::shape});
  const int side =
      emit::reshape(b, emit::resolve(b, ref_of(y), {dtype_of<typename B::value_type>, B::shape}), S::side());
  using R = array_of<typename A::value_type, S>;
  return R(at(b, emit::reshape(b, write(b, m, emit::broadcast_to(b, side, S::sides())), R::shape)));
}
}  // namespace detail
}  // namespace drx
