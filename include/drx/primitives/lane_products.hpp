// drx/primitives/lane_products.hpp: products of matrices and convolutions that differ from lane to lane, the last axis. Plans have them.
#pragma once

#include <drx/primitives/convolution.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/lane_evaluation.hpp>
#include <drx/primitives/matmul.hpp>

namespace drx {

namespace prim::rules {
/// z[..., i, j, l] = sum over k of x[..., i, k, l] y[..., k, j, l]: products of matrices in each lane l, over any
/// leading batch axes. An operand that is not in lanes is the same in all.
struct lane_matmul {
  struct view
      : matmul::view {  // ints: {first is transposed, second is transposed, first is in lanes, second is in lanes}
    bool first_in_lanes, second_in_lanes;
    constexpr view(matmul::view product, bool first, bool second)
        : matmul::view(product), first_in_lanes(first), second_in_lanes(second) {}
    constexpr explicit view(int_list a) : view(matmul::view(a), a.flag(2), a.flag(3)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposes_first, transposes_second, first_in_lanes, second_in_lanes};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const bool in_lanes[2] = {view(t.attrs).first_in_lanes, view(t.attrs).second_in_lanes};
    typing::require(in_lanes[0] || in_lanes[1], "lane_matmul: no lanes");
    vec<abstract_value> operands = t.operands;
    std::int64_t n = -1;
    for (int i = 0; i < 2; ++i) {
      const shape s = operands[i].shape;
      if (!in_lanes[i]) continue;
      typing::require(s.rank > 2 && (n < 0 || n == s.last()), "lane_matmul: lanes");
      n = s.last();
      operands[i] = operands[i].with_shape(without_axis(s, s.rank - 1));
    }
    attributes single;
    single.ints = matmul::view(t.attrs).make().ints;
    const abstract_value r = matmul::type({operands, single, t.regions})[0];
    return {r.with_shape(with_last(r.shape, n))};
  }
  static std::string print(const attributes& a) {
    return matmul::print(a) + (view(a).first_in_lanes ? "" : "; first the same") +
           (view(a).second_in_lanes ? "" : "; second the same");
  }
  static void evaluate(evaluation& v);
};
/// A convolution in each lane: the relation of prim::convolution between x[n, i, ci, l], w[k, ci, co] or w[k, ci, co,
/// l], and y[n, o, co, l].
struct lane_convolution {
  struct view : convolution::view {  // ints: {the kernel is in lanes, those of the convolution...}
    bool kernels_in_lanes;
    constexpr explicit view(int_list a) : convolution::view(a.from(1)), kernels_in_lanes(a.flag(0)) {}
    [[nodiscard]] constexpr bool is_in_lanes(int operand) const {
      return operand == 0 || kernels_in_lanes || result == convolution_role::w;
    }
  };
  static constexpr attributes make(bool kernels_in_lanes, const attributes& single) {
    attributes a;
    a.ints = {kernels_in_lanes};
    a.ints.append(single.ints);
    return a;
  }
  static constexpr attributes single(const attributes& a) {
    attributes r;
    r.ints = int_list(a).from(1);
    return r;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = t.operands[0].shape.last();
    vec<abstract_value> operands;
    for (int i = 0; i < 2; ++i) {
      shape s = t.operands[i].shape;
      if (view(t.attrs).is_in_lanes(i)) s = without_axis(s, s.rank - 1);
      operands.push_back(t.operands[i].with_shape(s));
    }
    const abstract_value r = convolution::type({operands, single(t.attrs), t.regions})[0];
    return {r.with_shape(with_last(r.shape, n))};
  }
  static std::string print(const attributes& a) {
    return convolution::print(single(a)) + (view(a).kernels_in_lanes ? "; kernels in lanes" : "");
  }
  static void evaluate(evaluation& v);
};

inline void lane_matmul::evaluate(evaluation& v) {
  const view product(v.e);
  entry one;
  one.attrs = matmul::view(product).make();
  evaluate_lanes(v, one, {product.first_in_lanes, product.second_in_lanes}, matmul::evaluate);
}
inline void lane_convolution::evaluate(evaluation& v) {
  entry one;
  one.attrs = single(v.e.attrs);
  evaluate_lanes(v, one, {true, view(v.e).is_in_lanes(1)}, convolution::evaluate);
}
}  // namespace prim::rules

namespace prim {
inline constexpr primitive lane_matmul{.name = "lane_matmul",
                                       .type = rules::lane_matmul::type,
                                       .print = rules::lane_matmul::print,
                                       .evaluate = rules::lane_matmul::evaluate};
inline constexpr primitive lane_convolution{.name = "lane_convolution",
                                            .type = rules::lane_convolution::type,
                                            .print = rules::lane_convolution::print,
                                            .evaluate = rules::lane_convolution::evaluate};
}  // namespace prim

namespace emit {
constexpr int lane_matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y, bool x_in_lanes,
                          bool y_in_lanes) {
  using rules = prim::rules::lane_matmul;
  return b.add1(prim::lane_matmul, {x, y}, rules::view({transpose_x, transpose_y}, x_in_lanes, y_in_lanes).make());
}
constexpr int lane_convolution(builder& b, int x, int y, bool kernels_in_lanes, const attributes& single) {
  return b.add1(prim::lane_convolution, {x, y}, prim::rules::lane_convolution::make(kernels_in_lanes, single));
}
}  // namespace emit
}  // namespace drx
