// drx/primitives/lane_linear_algebra.hpp: factorisations and solutions of small systems of equations that differ from
// lane to lane, the last axis. Plans have them: a matrix of a few rows leaves vector units idle, and many of them at
// once fill them.
#pragma once

#include <drx/primitives/cholesky.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/lane_evaluation.hpp>
#include <drx/primitives/solve.hpp>
#include <drx/primitives/triangular_solve.hpp>

namespace drx {

namespace prim::rules {
/// A square matrix in each lane.
struct lane_matrix {
  static constexpr std::int64_t require(const abstract_value& a) {
    typing::require(a.shape.rank == 3 && a.shape[0] == a.shape[1] && is_floating(a.type),
                    "no square matrix in each lane");
    return a.shape[0];
  }
};
struct lane_cholesky {
  static constexpr vec<abstract_value> type(const typing& t) {
    lane_matrix::require(t.operands[0]);
    return {t.operands[0]};
  }
  static void evaluate(evaluation& v) { evaluate_lanes(v, entry{}, {true}, cholesky::evaluate); }
};
struct lane_lu_factors {
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = lane_matrix::require(t.operands[0]);
    return {t.operands[0], abstract_value(dtype::int32, make_shape(n, t.operands[0].shape[2]))};
  }
  static void evaluate(evaluation& v) { evaluate_lanes(v, entry{}, {true}, lu_factors::evaluate); }
};
/// op(A) X = Y, or X op(A) = Y, by a triangle of A; Y may be the same in all lanes.
struct lane_triangular_solve {
  struct view : triangular_solve::view {  // ints: {those of triangular_solve..., Y is in lanes}
    bool side_in_lanes;
    constexpr explicit view(int_list a) : triangular_solve::view(a), side_in_lanes(a.flag(4)) {}
    static constexpr attributes make(const triangular_solve::view& single, bool in_lanes) {
      attributes a = single.make();
      a.ints.push_back(in_lanes);
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = lane_matrix::require(t.operands[0]);
    const view form(t.attrs);
    shape y = t.operands[1].shape;
    typing::require(
        t.operands[1].type == t.operands[0].type && y.rank == 2 + form.side_in_lanes && y[form.right ? 1 : 0] == n,
        "lane_triangular_solve: the right-hand side does not fit");
    if (!form.side_in_lanes) y = with_last(y, t.operands[0].shape[2]);
    return {t.operands[0].with_shape(y)};
  }
  static std::string print(const attributes& a) {
    return triangular_solve::print(a) + (view(a).side_in_lanes ? "" : "; side the same");
  }
  static void evaluate(evaluation& v) {
    entry one;
    one.attrs = triangular_solve::view(int_list(v.e.attrs)).make();
    evaluate_lanes(v, one, {true, view(v.e).side_in_lanes}, triangular_solve::evaluate);
  }
};
/// op(A) X = Y, by the factors of A; Y may be the same in all lanes.
struct lane_lu_solve {  // operands: both factors, Y
  struct view {         // ints: {transposed, Y is in lanes}
    bool transposed, side_in_lanes;
    constexpr view(bool is_transposed, bool in_lanes) : transposed(is_transposed), side_in_lanes(in_lanes) {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposed, side_in_lanes};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = lane_matrix::require(t.operands[0]), lanes = t.operands[0].shape[2];
    const bool in_lanes = view(t.attrs).side_in_lanes;
    shape y = t.operands[2].shape;
    typing::require(t.operands[1] == abstract_value(dtype::int32, make_shape(n, lanes)), "lane_lu_solve: factors");
    typing::require(t.operands[2].type == t.operands[0].type && y.rank == 2 + in_lanes && y[0] == n,
                    "lane_lu_solve: the right-hand side does not fit");
    if (!in_lanes) y = with_last(y, lanes);
    return {t.operands[0].with_shape(y)};
  }
  static std::string print(const attributes& a) {
    return std::string(view(a).transposed ? "T" : "N") + (view(a).side_in_lanes ? "" : "; side the same");
  }
  static void evaluate(evaluation& v) {
    entry one;
    one.attrs = lu_solve::view(view(v.e).transposed).make();
    evaluate_lanes(v, one, {true, true, view(v.e).side_in_lanes}, [](evaluation& of_lane) {
      of_lane.in.insert(of_lane.in.begin(), of_lane.in[0]);  // (the matrix itself is not read)
      lu_solve::evaluate(of_lane);
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive lane_cholesky{
    .name = "lane_cholesky", .type = rules::lane_cholesky::type, .evaluate = rules::lane_cholesky::evaluate};
inline constexpr primitive lane_lu_factors{
    .name = "lane_lu_factors", .type = rules::lane_lu_factors::type, .evaluate = rules::lane_lu_factors::evaluate};
inline constexpr primitive lane_triangular_solve{.name = "lane_triangular_solve",
                                                 .type = rules::lane_triangular_solve::type,
                                                 .print = rules::lane_triangular_solve::print,
                                                 .evaluate = rules::lane_triangular_solve::evaluate};
inline constexpr primitive lane_lu_solve{.name = "lane_lu_solve",
                                         .type = rules::lane_lu_solve::type,
                                         .print = rules::lane_lu_solve::print,
                                         .evaluate = rules::lane_lu_solve::evaluate};
}  // namespace prim

namespace emit {
constexpr vec<int> lane_cholesky(builder& b, int a) { return b.add(prim::lane_cholesky, {a}); }
constexpr vec<int> lane_lu_factors(builder& b, int a) { return b.add(prim::lane_lu_factors, {a}); }
constexpr int lane_triangular_solve(builder& b, int a, int y, const attributes& single, bool side_in_lanes) {
  using rules = prim::rules::lane_triangular_solve;
  return b.add1(prim::lane_triangular_solve, {a, y},
                rules::view::make(prim::rules::triangular_solve::view(int_list(single)), side_in_lanes));
}
constexpr int lane_lu_solve(builder& b, int lu, int exchanged, int y, bool transposed, bool side_in_lanes) {
  return b.add1(prim::lane_lu_solve, {lu, exchanged, y},
                prim::rules::lane_lu_solve::view(transposed, side_in_lanes).make());
}
}  // namespace emit

}  // namespace drx
