// drx/primitives/matmul.hpp: the matrix product, with either operand transposed, over any leading batch axes.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
// Operands of one rank >= 2, with equal leading extents. In a plan one of them may have numbers of 16 bits beside
// floats, which the product reads as floats (plan/loops/narrow_factors.hpp).
struct matmul {
  struct view {  // ints: {first is transposed, second is transposed}
    bool transposes_first, transposes_second;
    constexpr view(bool first, bool second) : transposes_first(first), transposes_second(second) {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposes_first, transposes_second};
      return a;
    }
    [[nodiscard]] constexpr bool transposes(int operand) const {
      return operand == 0 ? transposes_first : transposes_second;
    }
    /// How many products an element adds up, where the first operand has the shape x.
    [[nodiscard]] constexpr std::int64_t inner(const shape& x) const {
      return x[transposes_first ? x.rank - 2 : x.rank - 1];
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, y = t.operands[1].shape;
    typing::require(x.rank >= 2 && x.rank == y.rank, "matmul: ranks");
    const dtype first = t.operands[0].type, second = t.operands[1].type, to = is_half_type(first) ? second : first;
    for (int i = 0; i < x.rank - 2; ++i) typing::require(x[i] == y[i], "matmul: batch extents");
    const auto [tx, ty] = view(t.attrs);
    const int r = x.rank;
    typing::require(x[tx ? r - 2 : r - 1] == y[ty ? r - 1 : r - 2], "matmul: inner extents");
    shape s = x;
    s[r - 2] = x[tx ? r - 1 : r - 2];
    s[r - 1] = y[ty ? r - 2 : r - 1];
    const bool widens =
        to == dtype::float32 && is_half_type(first) != is_half_type(second) && r == 2 && (s[0] == 1 || s[1] == 1);
    typing::require((first == second && first != dtype::boolean) || widens, "matmul: types");
    return {t.operands[0].with_type(to).with_shape(s)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const auto [tx, ty] = view(s.e);
    int r = zero_tangent;
    if (t[0] != zero_tangent) r = term(s, t[0], s.operands[1], tx, ty);
    if (t[1] != zero_tangent) r = emit::accumulate(s.b, r, term(s, s.operands[0], t[1], tx, ty));
    return {r};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(2, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const auto [tx, ty] = view(s.e);
    const int x = s.operands[0], y = s.operands[1], g = ct[0];
    if (wanted[0]) r[0] = tx ? term(s, y, g, ty, true) : term(s, g, y, false, !ty);
    if (wanted[1]) r[1] = ty ? term(s, g, x, true, tx) : term(s, x, g, !tx, false);
    return r;
  }
  /// A product of a derivative: guarded if the product itself is, else undecided where it may need that.
  static constexpr int term(const rule_site& s, int x, int y, bool transpose_x, bool transpose_y) {
    if (s.e.prim == azmatmul_ptr()) return written(s.b, *s.e.prim, x, y, transpose_x, transpose_y);
    return emit::times_matrix(s.b, x, y, transpose_x, transpose_y);
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const auto [tx, ty] = view(s.e);
    int x = s.operands[0], y = s.operands[1];
    if (batched[0] && !batched[1] && !tx &&
        s.b.shape(y).rank == 2) {  // the batch's rows one below the other: one product
      const shape from = s.b.shape(x);
      const int tall = emit::reshape(s.b, x, make_shape(from[0] * from[1], from[2]));
      const int product = written(s.b, *s.e.prim, tall, y, false, ty);
      return {emit::reshape(s.b, product, make_shape(from[0], from[1], s.b.shape(product)[1]))};
    }
    const shape right = s.b.shape(y);
    const bool one_row =
        s.b.shape(x)[tx ? 1 : 0] == 1 || s.e.prim == matmul_ptr();  // (an undecided product stays a row or a column)
    if (!batched[0] && s.b.shape(x).rank == 2 && right[ty ? 1 : 2] == 1 &&
        one_row) {  // the batch's columns side by side
      const std::int64_t k = right[ty ? 2 : 1];
      const int product = written(s.b, *s.e.prim, emit::reshape(s.b, y, make_shape(n, k)), x, false, !tx);
      return {emit::reshape(s.b, product, make_shape(n, s.b.shape(product)[1], 1))};
    }
    if (!batched[0]) x = emit::repeated(s.b, x, n);
    if (!batched[1]) y = emit::repeated(s.b, y, n);
    return {written(s.b, *s.e.prim, x, y, tx, ty)};
  }
  /// Whether a product has a vector among its operands, or as its result's row or column.
  static constexpr bool is_of_vectors(const tape& t, const entry& product) {
    const shape x = t.values[product.operands[0]].shape, y = t.values[product.operands[1]].shape;
    return x[0] == 1 || x[1] == 1 || y[0] == 1 || y[1] == 1;
  }
  /// Products of vectors become matrix products along an axis of members; small matrices leave vector units idle.
  static constexpr entry_cost cost(const tape& t, const entry& e) {
    const shape x = t.values[e.operands[0]].shape;
    return {.multiplications = static_cast<double>(t.values[e.results[0]].shape.size() * view(e).inner(x)),
            .suits_lanes = !is_of_vectors(t, e)};
  }
  static constexpr int written(builder& b, const primitive& p, int x, int y, bool transpose_x, bool transpose_y) {
    return b.add1(p, {x, y}, view(transpose_x, transpose_y).make());
  }
  /// Folds transposes of the last two axes into the product.
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return folded(b, *matmul_ptr(), o, a);
  }
  static constexpr const primitive* matmul_ptr();
  static constexpr const primitive* azmatmul_ptr();
  static constexpr int folded(builder& b, const primitive& p, const vec<int>& o, const attributes& a) {
    vec<int> operands = o;
    view product(a);
    bool changed = false;
    for (int i = 0; i < 2; ++i) {
      const entry* e = b.definition(operands[i]);
      if (!e || !swaps_last_two(*e)) continue;
      operands[i] = e->operands[0];
      bool& transposes = i == 0 ? product.transposes_first : product.transposes_second;
      transposes = !transposes;
      changed = true;
    }
    return changed ? b.add1(p, operands, product.make()) : -1;
  }
  static constexpr bool swaps_last_two(const entry& e) {
    if (e.prim != &prim::transpose) return false;
    const int_list from = transpose::view(e).permutation;
    const int r = from.size();
    for (int i = 0; i < r - 2; ++i)
      if (from[i] != i) return false;
    return r >= 2 && from[r - 2] == r - 1;
  }
  static std::string print(const attributes& a) {
    return std::string(view(a).transposes_first ? "T" : "N") + (view(a).transposes_second ? ",T" : ",N");
  }
  static constexpr known_values known(const known_site& s) {
    known_value r = s.operands[0] * s.operands[1];
    r.not_negative = r.not_negative || patterns::is_squared_norm(s.definition, s.e);
    return {r};
  }
  /// A product of vectors with one matrix, or of one matrix with others', is one product; else there is one in each
  /// lane.
  static constexpr vec<int> lanes(const lane_site& s) {
    builder& b = s.b;
    const int p = s.operands[0], q = s.operands[1];
    const shape x = b.shape(p), y = b.shape(q);
    const bool px = s.in_lanes[0], py = s.in_lanes[1];
    const auto [tx, ty] = view(s.e);
    const int i = x.rank - px - 2, j = y.rank - py - 2;  // the first axes of the matrices, behind those of a batch
    const std::int64_t rows = x[tx ? i + 1 : i], inner = x[tx ? i : i + 1], columns = y[ty ? j : j + 1];
    if (px && !py && rows == 1) {  // a vector in each lane: columns of one matrix
      const int product = emit::matmul(b, q, emit::reshape(b, p, matrices(x, i, {inner, s.n})), !ty, false);
      return {emit::reshape(b, product, matrices(x, i, {1, columns, s.n}))};
    }
    if (!px && py && (columns == 1 || !ty)) {
      const int product = emit::matmul(b, p, emit::reshape(b, q, matrices(x, i, {inner, columns * s.n})), tx, false);
      return {emit::reshape(b, product, matrices(x, i, {rows, columns, s.n}))};
    }
    if (inner == 1) return {outer_product_in_lanes(s, x, i, rows, columns)};
    return {emit::lane_matmul(b, p, q, tx, ty, px, py)};
  }
  /// The first n axes of a shape, a batch's, and axes behind them.
  static constexpr shape matrices(const shape& batch, int n, const vec<std::int64_t>& axes) {
    shape r;
    for (int i = 0; i < n; ++i) r.push_back(batch[i]);
    for (auto extent : axes) r.push_back(extent);
    return r;
  }
  static constexpr int outer_product_in_lanes(const lane_site& s, const shape& x, int batch, std::int64_t rows,
                                              std::int64_t columns) {
    const auto factor = [&](int operand, std::int64_t m, std::int64_t n) {
      const int one = emit::reshape(s.b, s.operand(operand), matrices(x, batch, {m, n, s.n}));
      return emit::broadcast_to(s.b, one, matrices(x, batch, {rows, columns, s.n}));
    };
    const int left = factor(0, rows, 1), right = factor(1, 1, columns);
    return elementwise(s.b, *s.e.prim, left, right);
  }
  /// The products of the elements of x and y, as matrix product p has them: plain or guarded.
  static constexpr int elementwise(builder& b, const primitive& p, int x, int y) {
    return &p == matmul_ptr() ? emit::mul(b, x, y) : emit::azmul(b, x, y);
  }
  static constexpr vec<split_result> split(split_site& s) {
    constexpr int whole = split_site::whole;
    const bool tx = view(s.e).transposes_first, ty = view(s.e).transposes_second;
    const int r = s.whole_shape(0).rank, x = s.axis(0), y = s.axis(1);
    const int rows = tx ? r - 1 : r - 2, inner_x = tx ? r - 2 : r - 1, inner_y = ty ? r - 1 : r - 2,
              columns = ty ? r - 2 : r - 1;
    const auto multiply = [&](int ax, int ay) { return written(s.b, *s.e.prim, s.at(0, ax), s.at(1, ay), tx, ty); };
    if (x == inner_x || y == inner_y)
      return {{emit::sum(s.b, s.from_shards(multiply(inner_x, inner_y)), {0}), whole}};  // a sum over shards
    const bool batch_x = x != whole && x < r - 2, batch_y = y != whole && y < r - 2;
    if (batch_x || batch_y) {
      const int k = batch_x ? x : y;
      return {{multiply(k, k), k}};
    }
    if (x == rows) return {{multiply(rows, whole), r - 2}};
    if (y == columns) return {{multiply(whole, columns), r - 1}};
    return {{multiply(whole, whole), whole}};
  }
  static void evaluate(evaluation& v) { add_products<false>(v); }
  template <bool ZeroWins>
  static void add_products(evaluation& v) {
    visit_dtype(v.out[0].type.type, [&]<class T>(T) { add_products_of<T, ZeroWins>(v); });
  }
  // It is no lambda, since nvcc takes what may be constant for device code, which has no long double.
  template <class T, bool ZeroWins>
  static void add_products_of(evaluation& v) {
    // Added up in wider numbers: plain evaluation need not be inaccurate.
    using wide = std::conditional_t<std::is_same_v<T, float>, double,
                                    std::conditional_t<std::is_same_v<T, double>, long double, T>>;
    const auto [tx, ty] = view(v.e);
    const shape s = v.out[0].type.shape, x = v.in[0]->type.shape;
    const auto m = s[s.rank - 2], n = s[s.rank - 1], k = x[tx ? x.rank - 2 : x.rank - 1];
    const auto batches = m * n == 0 ? 0 : s.size() / (m * n);
    tensor widened;
    const auto operand = [&](std::size_t i) -> const tensor& {  // (at most one is of 16 bits)
      return is_half_type(v.in[i]->type.type) ? (widened = to_floats(*v.in[i])) : *v.in[i];
    };
    const tensor &first = operand(0), &second = operand(1);
    for (std::int64_t b = 0; b < batches; ++b) {
      const T* p = first.data<T>() + b * m * k;
      const T* q = second.data<T>() + b * k * n;
      T* r = v.out[0].data<T>() + b * m * n;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          auto total = static_cast<wide>(r[i * n + j]);
          for (std::int64_t l = 0; l < k; ++l) {
            const auto a = static_cast<wide>(tx ? p[l * m + i] : p[i * k + l]),
                       c = static_cast<wide>(ty ? q[j * k + l] : q[l * n + j]);
            if (ZeroWins && (a == 0 || c == 0)) continue;
            if constexpr (std::is_integral_v<T>) {
              total = wrapping_product_sum(a, c, total);
            } else {
              total += a * c;
            }
          }
          r[i * n + j] = static_cast<T>(total);
        }
    }
  }
};
/// A guarded product (guarded.hpp): a term is 0 where either factor is 0, whatever the other is. Its derivatives are
/// guarded too.
struct azmatmul : matmul {
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return folded(b, *azmatmul_ptr(), o, a);
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const shape x = s.b.shape(s.operands[0]), y = s.b.shape(s.operands[1]);
    const auto [tx, ty] = view(s.e);
    const int i = x.rank - s.in_lanes[0] - 2, j = y.rank - s.in_lanes[1] - 2;
    if (x[tx ? i : i + 1] != 1) return {};
    return {outer_product_in_lanes(s, x, i, x[tx ? i + 1 : i], y[ty ? j : j + 1])};
  }
  static void evaluate(evaluation& v) { add_products<true>(v); }
};
/// An undecided product of a derivative (guarded.hpp): in the whole program it becomes a guarded one if a factor may be
/// infinite, else a plain one.
struct matmul_undecided : matmul {
  /// Whether elements of a product with result type `to` are single products, or the only ones of their matrix.
  static constexpr bool applies(const abstract_value& to, const abstract_value& x, const attributes& a) {
    const shape s = to.shape;
    const int r = s.rank;
    return is_floating(to.type) && (view(a).inner(x.shape) == 1 || (s[r - 1] == 1 && s[r - 2] == 1));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return folded(b, *in_doubt_ptr(), o, a);
  }
  static constexpr const primitive* in_doubt_ptr();
  static void evaluate(evaluation& v) { add_products<true>(v); }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive matmul{.name = "matmul",
                                  .type = rules::matmul::type,
                                  .jvp = rules::matmul::jvp,
                                  .vjp = rules::matmul::vjp,
                                  .batch = rules::matmul::batch,
                                  .simplify = rules::matmul::simplify,
                                  .print = rules::matmul::print,
                                  .evaluate = rules::matmul::evaluate,
                                  .known = rules::matmul::known,
                                  .lanes = rules::matmul::lanes,
                                  .split = rules::matmul::split,
                                  .cost = rules::matmul::cost};
/// The matrix product in which a zero wins: z_ij = sum over l of x_il y_lj, without the terms with a factor 0.
inline constexpr primitive azmatmul{.name = "azmatmul",
                                    .type = rules::matmul::type,
                                    .jvp = rules::matmul::jvp,
                                    .vjp = rules::matmul::vjp,
                                    .batch = rules::matmul::batch,
                                    .simplify = rules::azmatmul::simplify,
                                    .print = rules::matmul::print,
                                    .evaluate = rules::azmatmul::evaluate,
                                    .known = rules::matmul::known,
                                    .lanes = rules::azmatmul::lanes,
                                    .split = rules::matmul::split,
                                    .cost = rules::matmul::cost};
inline constexpr primitive matmul_undecided{.name = "matmul?",
                                            .type = rules::matmul::type,
                                            .jvp = rules::matmul::jvp,
                                            .vjp = rules::matmul::vjp,
                                            .batch = rules::matmul::batch,
                                            .simplify = rules::matmul_undecided::simplify,
                                            .print = rules::matmul::print,
                                            .evaluate = rules::matmul_undecided::evaluate,
                                            .known = rules::matmul::known,
                                            .split = rules::split::whole};
/// Whether p is the matrix product, plain or guarded.
constexpr bool is_matrix_product(const primitive* p) { return p == &matmul || p == &azmatmul; }
constexpr const primitive* rules::matmul::matmul_ptr() { return &prim::matmul; }
constexpr const primitive* rules::matmul::azmatmul_ptr() { return &prim::azmatmul; }
constexpr const primitive* rules::matmul_undecided::in_doubt_ptr() { return &prim::matmul_undecided; }
}  // namespace prim
namespace patterns {
constexpr bool is_squared_norm(const definitions& d, const entry& e) {
  const shape s = d.t.values[e.results[0]].shape;
  return s[s.rank - 1] == 1 && s[s.rank - 2] == 1 &&
         behind(d, e.operands[0], prim::reshape) == behind(d, e.operands[1], prim::reshape);
}
}  // namespace patterns
namespace emit {
constexpr int matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y) {
  return prim::rules::matmul::written(b, prim::matmul, x, y, transpose_x, transpose_y);
}
constexpr int times_matrix(builder& b, int x, int y, bool transpose_x, bool transpose_y) {
  using rules = prim::rules::matmul_undecided;
  const attributes a = rules::view(transpose_x, transpose_y).make();
  const vec<abstract_value> operands{b.type(x), b.type(y)};
  return b.add1(
      rules::applies(rules::type({operands, a, {}})[0], operands[0], a) ? prim::matmul_undecided : prim::matmul, {x, y},
      a);
}
}  // namespace emit

namespace detail {
// As in NumPy, a vector on the left is a row, on the right a column, and the result drops that axis again.
template <class A, class B>
struct product {
  static constexpr auto misuse() { return error::not_a_value_of_drx{}; }
};
template <Array A, Array B>
struct product<A, B> {
  static constexpr bool row = A::rank == 1, column = B::rank == 1;
  static constexpr shape left = row ? make_shape(1, A::shape[0]) : A::shape;
  static constexpr shape right = column ? make_shape(B::shape[0], 1) : B::shape;
  static constexpr auto misuse() {
    if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
      return error::element_types_differ{};
    } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
      return error::element_types_differ{};
    } else if constexpr (A::rank == 0 || B::rank == 0) {
      return error::wrong_rank{};
    } else if constexpr (left[left.rank - 1] != right[right.rank - 2]) {
      return error::inner_extents_differ{};
    } else if constexpr (!broadcastable(batch_of(left), batch_of(right))) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr shape batch_of(const shape& s) {
    shape batch;
    for (int i = 0; i < s.rank - 2; ++i) batch.push_back(s[i]);
    return batch;
  }
  static constexpr shape batch() { return broadcast_shapes(batch_of(left), batch_of(right)); }
  /// The matrices of one operand, m rows and n columns each, for every element of the common batch.
  static constexpr shape matrices(std::int64_t m, std::int64_t n) {
    shape s = batch();
    s.push_back(m);
    s.push_back(n);
    return s;
  }
  static constexpr shape value_of() {
    shape s = batch();
    if (!row) s.push_back(left[left.rank - 2]);
    if (!column) s.push_back(right[right.rank - 1]);
    return s;
  }
  static constexpr shape value = std::is_same_v<decltype(misuse()), no_misuse> ? value_of() : shape{};
};
template <class A, class B>
concept Multipliable = Array<A> && Array<B> && std::is_same_v<decltype(product<A, B>::misuse()), no_misuse>;
}  // namespace detail

/// The matrix product, by NumPy's rule: vectors are rows on the left and columns on the right; leading axes are a
/// batch, and broadcast. Both have numbers of one element type. The transpose of an operand costs nothing.
template <class A, class B>
  requires detail::Multipliable<A, B>
constexpr auto matmul(const A& x, const B& y) {
  using P = detail::product<A, B>;
  using T = typename A::value_type;
  constexpr auto m = P::left[P::left.rank - 2], k = P::left[P::left.rank - 1], n = P::right[P::right.rank - 1];
  tracing_builder& b = detail::tape_of(detail::ref_of(x), detail::ref_of(y));
  int p = emit::reshape(b, emit::resolve(b, detail::ref_of(x), {dtype_of<T>, A::shape}), P::left);
  int q = emit::reshape(b, emit::resolve(b, detail::ref_of(y), {dtype_of<T>, B::shape}), P::right);
  if constexpr (P::left.rank > 2 && P::batch_of(P::right).size() == 1) {  // one larger product
    p = emit::reshape(b, p, make_shape(P::batch_of(P::left).size() * m, k));
    q = emit::reshape(b, q, make_shape(k, n));
  } else {
    p = emit::broadcast_to(b, p, P::matrices(m, k));
    q = emit::broadcast_to(b, q, P::matrices(k, n));
  }
  using R = array_of<T, P>;
  return R(detail::at(b, emit::reshape(b, emit::matmul(b, p, q, false, false), R::shape)));
}
template <class A, class B, class Why = decltype(detail::product<A, B>::misuse())>
  requires(Array<A> && Array<B> && !detail::Multipliable<A, B>)
Why matmul(const A&, const B&) = delete;  // drx: matmul of (m, k) and (k, n) of one element type, leading axes broadcast; transpose(x) turns one round
template <class A, class B, class Why = detail::no_array_t<A, B>>
  requires detail::NoArrays<A, B>
Why matmul(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::matmul(a, b); }, x, y); of a structure leaf by leaf: tree_map

/// The inner product of two vectors; of other arrays, matmul.
template <class A, class B>
  requires detail::Multipliable<A, B>
constexpr auto dot(const A& x, const B& y) {
  return matmul(x, y);
}
template <class A, class B, class Why = decltype(detail::product<A, B>::misuse())>
  requires(Array<A> && Array<B> && !detail::Multipliable<A, B>)
Why dot(const A&, const B&) = delete;  // drx: dot of two vectors of one length and element type, or as matmul
template <class A, class B, class Why = error::array_operation_on_a_placed_value>
  requires detail::PlacedOperands<A, B>
Why dot(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::dot(a, b); }, x, y)

DRX_SILENT(dot)
DRX_SILENT(matmul)

}  // namespace drx
