// drx/primitives/reduction.hpp: sum, mean, max, min over axes of an array.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/arithmetic.hpp>
#include <drx/primitives/cast.hpp>
#include <drx/primitives/comparison.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/matmul.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct over_axes {
  struct view {  // ints: the axes, ascending
    int_list axes;
    constexpr explicit view(int_list a) : axes(a) {}
    [[nodiscard]] constexpr bool is_only(int axis) const { return axes.size() == 1 && axes[0] == axis; }
    /// Whether each axis is the next one.
    [[nodiscard]] constexpr bool are_neighbours() const {
      return axes.size() == 0 || axes[axes.size() - 1] - axes[0] == axes.size() - 1;
    }
  };
  static constexpr shape reduced(const shape& s, const vec<std::int64_t>& axes) {
    shape r;
    for (int i = 0; i < s.rank; ++i)
      if (axes.find(i) < 0) r.push_back(s[i]);
    return r;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].type != dtype::boolean, "reduction: of bool");
    return type_of_any(t);
  }
  /// The same where elements may be bools.
  static constexpr vec<abstract_value> type_of_any(const typing& t) {
    const auto& x = t.operands[0];
    for (int i = 0; i < t.attrs.ints.size(); ++i)
      typing::require(
          t.attrs.ints[i] >= 0 && t.attrs.ints[i] < x.shape.rank && (i == 0 || t.attrs.ints[i - 1] < t.attrs.ints[i]),
          "reduction: the axes are not ascending and in range");
    return {x.with_shape(reduced(x.shape, t.attrs.ints))};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    attributes a = s.e.attrs;
    for (auto& axis : a.ints) ++axis;
    return {s.b.add1(*s.e.prim, s.operands, a)};
  }
  static constexpr int simplify(builder&, const vec<int>& o, const attributes& a) { return a.ints.empty() ? o[0] : -1; }
  static std::string print(const attributes& a) { return list_of(a.ints); }
  /// y, with the axes removed, repeated along them to x's shape.
  static constexpr int spread(builder& b, int y, shape x,
                              const vec<std::int64_t>& axes) {  // a copy: adding entries moves the tape
    shape kept = x;
    for (auto axis : axes) kept[static_cast<int>(axis)] = 1;
    return emit::broadcast_to(b, emit::reshape(b, y, kept), x);
  }
  /// Over the axis that is split: of the shards' results.
  static constexpr vec<split_result> split(split_site& s) {
    const int k = s.axis(0), part = s.b.add1(*s.e.prim, {s.operand(0)}, s.e.attrs);
    const int_list over = view(s.e).axes;
    if (k == split_site::whole || !over.contains(k)) {
      int left = k;  // axes in front of it are gone
      for (auto a : over) left -= k != split_site::whole && a < k;
      return {{part, left}};
    }
    return {{emit::over_axes(s.b, *s.e.prim, s.from_shards(part), {0}), split_site::whole}};
  }
  /// Folds with f in row-major order, floats in double: what is plain need not be inaccurate.
  template <class F>
  static void fold(evaluation& v, F f, bool from_zero) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      using wide =
          std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<std::is_same_v<T, bool>, char, T>>;
      std::vector<wide> total(static_cast<std::size_t>(to.size()));
      for (std::size_t j = 0; j < total.size(); ++j)
        total[j] = static_cast<wide>(v.out[0].data<T>()[j]);  // what a rule began with
      std::vector<char> begun(static_cast<std::size_t>(to.size()), from_zero ? 1 : 0);
      std::int64_t i = 0;
      for_each_index(from, [&](const std::int64_t* at) {
        std::int64_t target[shape::max_rank] = {};
        int k = 0;
        for (int axis = 0; axis < from.rank; ++axis)
          if (v.e.attrs.ints.find(axis) < 0) target[k++] = at[axis];
        const auto j = static_cast<std::size_t>(flat_index(to, target));
        const auto x = static_cast<wide>(v.in[0]->data<T>()[i++]);
        total[j] = begun[j] ? static_cast<wide>(f(total[j], x)) : x;
        begun[j] = 1;
      });
      for (std::size_t j = 0; j < total.size(); ++j) v.out[0].data<T>()[j] = static_cast<T>(total[j]);
    });
  }
};
struct sum : over_axes {
  static constexpr known_values known(const known_site& s) {
    known_value r = s.operands[0];
    const bool some = s.type(s.e.operands[0]).shape.size() > 0;
    r.not_zero =
        some && ((r.not_zero && (r.not_negative || r.not_positive)) || patterns::is_softmax_sum(s.definition, s.e));
    return {r};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::sum(s.b, t[0], s.e.attrs.ints)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : spread(s.b, ct[0], s.b.shape(s.operands[0]), s.e.attrs.ints)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (!emit::is_constant(b, o[0], x)) {
      const int product = over_outer_products(b, o[0], a);
      if (product >= 0) return product;
      const int squares = of_squared_outer_product(b, o[0], a);
      if (squares >= 0) return squares;
      const int inner = inside_of_reshape(b, o[0], a);
      if (inner >= 0) return inner;
      const bool first = view(a).is_only(0);
      const int scattered = first ? emit::sum_of_scattered(b, o[0]) : -1;
      return scattered >= 0 ? scattered : over_axes::simplify(b, o, a);
    }
    const shape to = reduced(b.shape(o[0]), a.ints);
    const auto n = to.size() == 0 ? 0 : b.shape(o[0]).size() / to.size();
    return emit::constant(b, b.type(o[0]).with_shape(to), x * static_cast<double>(n));
  }
  /// A sum over the first axis, which a reshape keeps, is moved inside the reshape.
  static constexpr int inside_of_reshape(builder& b, int x, const attributes& a) {
    const entry* e = b.definition(x);
    if (!e || e->prim != reshape::prim_ptr() || !view(a).is_only(0)) return -1;
    const int from = e->operands[0];
    const shape before = b.shape(from), after = b.shape(x);
    if (before.rank < 2 || before[0] != after[0] || before[0] == 0)
      return -1;  // (without elements the other axes may differ)
    return emit::reshape(b, emit::sum(b, from, a.ints), without_axis(after, 0));
  }
  /// The sum over a batch of outer products, or of products x^T y, becomes one matrix product.
  static constexpr int over_outer_products(builder& b, int x, const attributes& a) {
    const entry* e = b.definition(x);
    if (!e || !prim::is_matrix_product(e->prim) || !view(a).is_only(0) || b.shape(x).rank != 3) return -1;
    const auto [tx, ty] = matmul::view(*e);
    const int p = e->operands[0], q = e->operands[1];
    const shape from = b.shape(x), ps = b.shape(p);
    const std::int64_t inner = ps[tx ? 1 : 2];
    const bool of_rows = tx && !ty;
    const primitive& product = *e->prim;  // (adding entries moves e)
    if (b.shape(q)[0] != from[0] || ps[0] != from[0] || (inner != 1 && !of_rows)) return -1;
    const int columns = emit::reshape(b, p, make_shape(from[0] * inner, from[1])),
              rows = emit::reshape(b, q, make_shape(from[0] * inner, from[2]));
    return matmul::written(b, product, columns, rows, true, false);
  }
  /// The squared norm of x y^T is that of x times that of y: the product need not be written. (Norms of examples'
  /// gradients in dense layers.)
  static constexpr int of_squared_outer_product(builder& b, int x, const attributes& a) {
    const entry* square = b.definition(x);
    if (!square || square->prim != &prim::mul || square->operands[0] != square->operands[1] || a.ints.size() != 2 ||
        b.shape(x).rank != 2)
      return -1;
    const entry* e = b.definition(square->operands[0]);
    if (!e || !prim::is_matrix_product(e->prim)) return -1;
    const int p = e->operands[0], q = e->operands[1];
    const primitive& product = *e->prim;
    if (b.shape(p)[matmul::view(*e).transposes_first ? 0 : 1] != 1) return -1;
    const int left = emit::sum(b, emit::mul(b, p, p), {0, 1}), right = emit::sum(b, emit::mul(b, q, q), {0, 1});
    return matmul::elementwise(b, product, left, right);
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return wrapping_sum(a, b); }, true);
  }
};
/// max and min: the winners share the derivative equally. Of bool: whether any is true, and whether all are.
template <bool Max>
struct extremum : over_axes {
  static constexpr auto known = rules::known::handed_on;
  static constexpr vec<abstract_value> type(const typing& t) {
    for (auto axis : t.attrs.ints)
      typing::require(t.operands[0].shape[static_cast<int>(axis)] > 0, "max or min over an axis without elements");
    return type_of_any(t);
  }
  static constexpr int winners(const rule_site& s) {  // 1 where x attains the extremum, divided by their number
    const int x = s.operands[0];
    const shape from = s.b.shape(x);
    const int hit =
        emit::cast(s.b, emit::equal(s.b, x, spread(s.b, s.results[0], from, s.e.attrs.ints)), s.b.type(x).type);
    return emit::div(s.b, hit, spread(s.b, emit::sum(s.b, hit, s.e.attrs.ints), from, s.e.attrs.ints));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    return {emit::sum(s.b, emit::times(s.b, t[0], winners(s)), s.e.attrs.ints)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const int spread_ct = spread(s.b, ct[0], s.b.shape(s.operands[0]), s.e.attrs.ints);
    return {emit::times(s.b, spread_ct, winners(s))};
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return (Max ? b > a : b < a) || b != b ? b : a; }, false);
  }
};
}  // namespace prim::rules

namespace prim {
template <class Rules>
constexpr primitive reduction_primitive(const char* name) {
  return {.name = name,
          .type = Rules::type,
          .jvp = Rules::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .simplify = Rules::simplify,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .known = Rules::known,
          .lanes = rules::lanes::same,
          .split = rules::over_axes::split};
}
inline constexpr primitive sum = reduction_primitive<rules::sum>("sum");
inline constexpr primitive max_over = reduction_primitive<rules::extremum<true>>("max_over");
inline constexpr primitive min_over = reduction_primitive<rules::extremum<false>>("min_over");
/// Whether p adds up, or finds the largest or smallest of, the elements along axes.
constexpr bool is_fold(const primitive* p) { return p == &sum || p == &max_over || p == &min_over; }
}  // namespace prim

namespace emit {
constexpr int over_axes(builder& b, const primitive& reduction, int x, const vec<std::int64_t>& axes) {
  attributes a;
  a.ints = axes;
  return b.add1(reduction, {x}, a);
}
constexpr int sum(builder& b, int x, const vec<std::int64_t>& axes) { return over_axes(b, prim::sum, x, axes); }
}  // namespace emit

namespace detail {
// Axes given as template arguments: none means all; negative ones count from the end.
template <class A, int... Axes>
struct reduced_axes {
  static constexpr bool in_range = ((Axes >= -A::rank && Axes < A::rank) && ...);
  static constexpr bool has([[maybe_unused]] int axis) {
    return sizeof...(Axes) == 0 || ((normal_axis(Axes, A::rank) == axis) || ...);
  }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i)
      if (!has(i)) s.push_back(A::shape[i]);
    return s;
  }();
  static constexpr vec<std::int64_t> list() {
    vec<std::int64_t> v;
    for (int i = 0; i < A::rank; ++i)
      if (has(i)) v.push_back(i);
    return v;
  }
};
template <class A, int... Axes>
constexpr auto reduce_axes(const primitive& p, const A& x) {
  using axes = reduced_axes<A, Axes...>;
  return unary<array_of<typename A::value_type, axes>>(
      x, [&](builder& b, int id) { return emit::over_axes(b, p, id, axes::list()); });
}
template <class A, int... Axes>
concept Reducible = Array<A> && reduced_axes<A, Axes...>::in_range && !std::is_same_v<typename A::value_type, bool>;
template <class A, int... Axes>
constexpr auto reduction_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
    return error::element_types_differ{};
  } else {
    return error::axis_out_of_range{};
  }
}
template <class A, int... Axes>
concept Misreduced = (Array<A> || Placed<A>) && !Reducible<A, Axes...>;
}  // namespace detail

// Over the given axes, or all of them: sum(x), sum<0>(x), sum<-1>(x), sum<0, 2>(x).
// clang-format off
/// The sum over the given axes, or over all of them; 0 without elements.  sum(x), sum<0>(x), sum<-1>(x), sum<0, 2>(x)
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto sum(const A& x) { return detail::reduce_axes<A, Axes...>(prim::sum, x); }
/// The largest element over the given axes, or over all of them, none of which may be empty; NaN if one is NaN. On a
/// tie the winners share the derivative.  max(x), max<0>(x)
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto max(const A& x) { return detail::reduce_axes<A, Axes...>(prim::max_over, x); }
/// The smallest element over the given axes, or over all of them, none of which may be empty; NaN if one is NaN. On a
/// tie the winners share the derivative.  min(x), min<0>(x)
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto min(const A& x) { return detail::reduce_axes<A, Axes...>(prim::min_over, x); }
/// The mean over the given axes, or over all of them: the sum divided by the number of elements; integers give double.
/// mean(x), mean<0>(x)
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto mean(const A& x) {
  using T = mean_element<typename A::value_type>;
  constexpr auto n = static_cast<double>(A::size) / static_cast<double>(detail::reduced_axes<A, Axes...>::value.size());
  return detail::rounded_once(
      [](const auto& y) {
        using C = detail::computed_element<T>;
        return sum<Axes...>(cast<C>(y)) * static_cast<C>(1 / n);
      },
      x);
}
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why sum(const A&) = delete;  // drx: sum<axes...>(array of numbers); of a placed value use reduce_sum, or sum in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why max(const A&) = delete;  // drx: max<axes...>(array of numbers); of a placed value use reduce_max, or max in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why min(const A&) = delete;  // drx: min<axes...>(array of numbers); of a placed value use reduce_min, or min in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why mean(const A&) = delete;  // drx: mean<axes...>(array of numbers); of a placed value use reduce_mean, or mean in a map
// (More numbers than axes: somebody else's sum or mean of this name.)
template <class A, class... I, class Why = error::axes_and_extents_are_template_arguments> requires detail::AxesAsArguments<A, I...> && (sizeof...(I) <= A::rank)
Why sum(const A&, const I&...) = delete;  // drx: sum<0>(x), sum<0, 2>(x)
template <class A, class... I, class Why = error::axes_and_extents_are_template_arguments> requires detail::AxesAsArguments<A, I...> && (sizeof...(I) <= A::rank)
Why mean(const A&, const I&...) = delete;  // drx: mean<0>(x), mean<0, 2>(x)
// clang-format on

DRX_SILENT(max)
DRX_SILENT(mean)
DRX_SILENT(min)
DRX_SILENT(sum)

}  // namespace drx
