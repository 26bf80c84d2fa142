// drx/primitives/elementwise.hpp: what all elementwise primitives share. Each is a row, a struct with
//   name, arity
//   result(operand type)                      element type of the result
//   accepts(dtype)                            element types it is defined for
//   apply(x...)                               its value for one element
//   partial(b, site, i, t)                    t * d(result)/d(operand i) as entries: pushes a tangent forward and
//                                             pulls a cotangent back alike, since the Jacobian is diagonal
// and, if more is known of the result than that it is finite where the operands are (or not even that: singular_value),
//   known(operands...)                        what is known of it, from what is known of the operands, or from
//                                             a known_site
// and, where apply is right in a range only, for floating numbers: near(x...), whether these are in it, and
// exact(x...), right everywhere and the same as apply in the range.
#pragma once

#include <drx/primitives/constant.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

#include <algorithm>
#include <cstring>
#include <initializer_list>

namespace drx {
namespace prim {

/// The row behind an elementwise primitive: the lowering's way from an entry back to code.
template <const primitive* P>
struct row_of;

namespace rules {
template <class Row>
struct elementwise {
  static constexpr int data = Row::arity - 1;  // the operand whose element type counts (`where` has a bool first)
  static constexpr bool chooses = Row::arity == 3 && Row::accepts(dtype::boolean, 0);

  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands.size() == Row::arity, "wrong number of operands");
    for (int i = 0; i < Row::arity; ++i) {
      typing::require(t.operands[i].depth == 0, "an elementwise operand is placed");
      typing::require(t.operands[i].shape == t.operands[0].shape, "shapes differ");
      typing::require(Row::accepts(t.operands[i].type, i), "element type not accepted");
      typing::require((i == 0 && chooses) || t.operands[i].type == t.operands[data].type, "element types differ");
    }
    return {t.operands[data].with_type(Row::result(t.operands[data].type))};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    int sum = zero_tangent;
    for (int i = 0; i < Row::arity; ++i)
      if (tangents[i] != zero_tangent) sum = emit::accumulate(s.b, sum, Row::partial(s.b, s, i, tangents[i]));
    return {sum};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& cotangents, const vec<bool>& wanted) {
    vec<int> r(Row::arity, zero_tangent);
    for (int i = 0; i < Row::arity; ++i)
      if (wanted[i] && cotangents[0] != zero_tangent) r[i] = Row::partial(s.b, s, i, cotangents[0]);
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < Row::arity; ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  static constexpr known_values known(const known_site& s) {
    if constexpr (requires { Row::known(s); }) {
      return {Row::known(s)};
    } else if constexpr (requires { Row::known(s.operands[0], s.operands[1]); }) {
      return {Row::known(s.operands[0], s.operands[1])};
    } else if constexpr (requires { Row::known(s.operands[0]); }) {
      return {Row::known(s.operands[0])};
    } else {
      known_value r{!requires {Row::singular;
    }
    , false, false, false
  };
  for (const known_value& x : s.operands) r.finite = r.finite && x.finite;
  return {r};
}
}  // namespace rules
static void evaluate(evaluation& v) {
  visit_dtype(v.in[data]->type.type, [&]<class T>(T) {
    if constexpr (Row::accepts(dtype_of<T>, data)) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) {
        if constexpr (Row::arity == 3) {
          using first = std::conditional_t<chooses, bool, T>;
          const auto y = Row::reference(v.in[0]->data<first>()[i], v.in[1]->data<T>()[i], v.in[2]->data<T>()[i]);
          v.out[0].data<std::remove_const_t<decltype(y)>>()[i] = y;
        } else if constexpr (Row::arity == 2) {
          const auto y = Row::reference(v.in[0]->data<T>()[i], v.in[1]->data<T>()[i]);
          v.out[0].data<std::remove_const_t<decltype(y)>>()[i] = y;
        } else {
          const auto y = Row::reference(v.in[0]->data<T>()[i]);
          v.out[0].data<std::remove_const_t<decltype(y)>>()[i] = y;
        }
      }
    }
  });
}
};  // namespace prim
}  // namespace drx

template <class Row>
constexpr primitive elementwise_primitive() {
  using rules_t = rules::elementwise<Row>;
  primitive p{.name = Row::name,
              .type = rules_t::type,
              .jvp = rules_t::jvp,
              .vjp = rules_t::vjp,
              .batch = rules_t::batch,
              .evaluate = rules_t::evaluate,
              .known = rules_t::known,
              .lanes = rules::lanes::same,
              .split = rules::split::by_element,
              .role = role::fused,
              .elementwise = true,
              .pointwise = true};
  if constexpr (requires { &Row::simplify; }) p.simplify = Row::simplify;
  return p;
}

/// Parts that rows are put together from.
struct same_type {
  static constexpr dtype result(dtype t) { return t; }
};
struct boolean_result {
  static constexpr dtype result(dtype) { return dtype::boolean; }
};
struct on_numbers {
  static constexpr bool accepts(dtype t, int) { return t != dtype::boolean; }
};
struct on_floating {
  static constexpr bool accepts(dtype t, int) { return is_floating(t); }
};
/// May give infinity or NaN for finite operands.
struct singular_value {
  static constexpr bool singular = true;
};
struct not_differentiable {
  static constexpr int partial(builder&, const rule_site&, int, int) { return zero_tangent; }
};

}  // namespace prim

// ---- the typed front end ----

namespace detail {

template <class X>
concept Literal = Element<std::remove_cvref_t<X>>;
/// A call such as NumPy's sum(x, 0), which drx writes sum<0>(x).
template <class A, class... I>
concept AxesAsArguments = Array<A> && sizeof...(I) > 0 && (std::is_integral_v<I> && ...);
/// A structure that is no array, no number and not placed: a struct or tuple of values.
template <class X>
concept Compound = Structured<X> && !Array<X> && !Placed<X> && !Literal<X> && !error::Reported<X>;
/// A type that stands for an array and is none, also while it is traced (Eigen's matrices are arrays then).
template <class X>
concept NoArray = Placed<X> || (Compound<X> && !Array<traced_t<X>>);
template <class... X>
using no_array_t = std::conditional_t<(Placed<X> || ...), error::array_operation_on_a_placed_value,
                                      error::array_operation_on_a_structure>;
template <class X>
concept ArrayOrLiteral = Array<X> || Literal<X>;

// Whether a literal may stand beside an element type: like Python's scalars, it takes the array's type.
constexpr bool literal_fits(dtype literal, dtype element) {
  return is_floating(element) || (!is_floating(literal) && (literal == dtype::boolean) == (element == dtype::boolean));
}
/// Whether a number of type T goes with each leaf of X: an array's element type must be the leaves' type; a literal
/// fits.
template <class X, class T, bool IsLiteral>
inline constexpr bool number_fits = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (!(IsLiteral ? literal_fits(dtype_of<T>, t[i].type) : dtype_of<T> == t[i].type)) return false;
  return true;
}();

/// Why A and B do not go together under an elementwise operation; `no_misuse` if they do.
template <class A, class B>
constexpr auto mismatch() {  // (clang instantiates default template arguments before it checks constraints)
  if constexpr (!ArrayOrLiteral<A> || !ArrayOrLiteral<B> || (Literal<A> && Literal<B>)) {
    return error::not_a_value_of_drx{};
  } else if constexpr (Literal<A>) {
    return std::conditional_t<literal_fits(dtype_of<A>, dtype_of<typename B::value_type>), no_misuse,
                              error::a_literal_does_not_fit_the_element_type>{};
  } else if constexpr (Literal<B>) {
    return std::conditional_t<literal_fits(dtype_of<B>, dtype_of<typename A::value_type>), no_misuse,
                              error::a_literal_does_not_fit_the_element_type>{};
  } else if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
    return error::element_types_differ{};
  } else if constexpr (!broadcastable(A::shape, B::shape)) {
    return error::shapes_do_not_broadcast{};
  } else {
    return no_misuse{};
  }
}

template <class A, class B>
constexpr shape common_shape() {
  if constexpr (Literal<A>) {
    return B::shape;
  } else if constexpr (Literal<B>) {
    return A::shape;
  } else {
    return broadcast_shapes(A::shape, B::shape);
  }
}
template <class A, class B>
struct common_element_of {
  using type = typename A::value_type;
};
template <Literal A, class B>
struct common_element_of<A, B> {
  using type = typename B::value_type;
};
template <class A, class B>
using common_element = typename common_element_of<A, B>::type;

/// Outside programs: the elements of an array, or the number.
template <class X>
traced_ref elements_of(const X& x) {
  traced_ref r;
  if constexpr (Literal<X>) {
    structure<X>::refs(x, &r);
  } else {
    r = reference_to(x.data());
  }
  return r;
}

/// Outside programs: the plain evaluation of one elementwise primitive. (It is no template, so that programs need not
/// compile it.)
struct host_evaluation final : evaluation {
  using evaluation::evaluation;
  std::vector<tensor> run(const tape&, std::vector<tensor>) override { throw error::not_traced{}; }
  std::vector<tensor> run_member(const tape&, std::vector<tensor>, std::int64_t) override { throw error::not_traced{}; }
  std::int64_t members(const placement_info*) override { throw error::not_traced{}; }
};
struct host_operand {
  traced_ref ref;
  drx::shape shape;
};
inline tensor broadcast_on_host(const host_operand& x, dtype type, const shape& to) {
  tensor all({type, to});
  visit_element(type, [&]<class T>(T) {
    T* out = all.data<T>();
    if (x.ref.what == traced_ref::kind::splat) {
      std::fill_n(out, all.size(), static_cast<T>(x.ref.from.number));
      return;
    }
    const auto* elements = static_cast<const T*>(static_cast<const void*>(x.ref.from.booleans));
    for_each_index(to, [&](const std::int64_t* at) {
      std::int64_t from = 0;
      for (int axis = 0; axis < x.shape.rank; ++axis)
        from = from * x.shape[axis] + (x.shape[axis] == 1 ? 0 : at[to.rank - x.shape.rank + axis]);
      *out++ = elements[from];
    });
  });
  return all;
}
inline void evaluate_on_host(const primitive& p, std::initializer_list<host_operand> x, dtype type,
                             const abstract_value& result, void* out) {
  entry e;
  e.prim = &p;
  host_evaluation v(e);
  std::vector<tensor> operands;
  for (const auto& one : x) operands.push_back(broadcast_on_host(one, type, result.shape));
  for (tensor& t : operands) {
    t = to_floats(t);
    v.in.push_back(&t);
  }
  v.out.emplace_back(is_half_type(result.type) ? result.with_type(dtype::float32) : result);
  p.evaluate(v);
  const tensor y = is_half_type(result.type) ? to_halves(v.out[0], result.type) : std::move(v.out[0]);
  std::memcpy(out, y.bytes.data(), y.bytes.size());
}

/// One entry of an elementwise primitive on arrays and literals, broadcast to their common shape S.
template <class Result, class T, class... X>
constexpr Result elementwise(const primitive& p, const X&... x) {
  if (!detail::is_tracing()) {
    Result r;
    evaluate_on_host(p, {{elements_of(x), structure<X>::canonical::shape}...}, dtype_of<T>,
                     {dtype_of<typename Result::value_type>, Result::shape}, r.data());
    return r;
  }
  tracing_builder& b = tape_of(ref_of(x)...);
  const shape s = Result::shape;
  auto operand = [&](const auto& v) {
    using V = std::remove_cvref_t<decltype(v)>;
    if constexpr (Literal<V>) {
      return emit::constant(b, {dtype_of<T>, s}, static_cast<double>(v));
    } else {
      const int id = emit::resolve(b, ref_of(v), {dtype_of<typename V::value_type>, V::shape});
      return emit::broadcast_to(b, id, s);
    }
  };
  return Result(at(b, b.add1(p, {operand(x)...})));
}

template <class A, class B>
concept ArrayPair = ArrayOrLiteral<A> && ArrayOrLiteral<B> && (Array<A> || Array<B>);
template <class A, class B>
concept Compatible = ArrayPair<A, B> && std::is_same_v<decltype(mismatch<A, B>()), no_misuse>;
template <class A, class B>
concept Incompatible = ArrayPair<A, B> && !Compatible<A, B>;
template <class A, class B>
using mismatch_t = decltype(mismatch<A, B>());
/// The misuse of an array operation on a placed value.
template <class... X>
concept PlacedOperands = (Placed<X> || ...) && (Structured<X> && ...) && !error::AnyReported<X...>;
/// The misuse of an array operation on a placed value or a structure.
template <class... X>
concept NoArrays = (NoArray<X> || ...) && (Structured<X> && ...) && !error::AnyReported<X...>;

template <class A, class B>
struct common_shape_of {
  static constexpr shape value = common_shape<A, B>();
};
template <class A, class B>
using binary_result = array_of<common_element<A, B>, common_shape_of<A, B>>;
template <class A, class B>
using comparison_result = array_of<bool, common_shape_of<A, B>>;

template <class A, class B>
constexpr auto binary(const primitive& p, const A& a, const B& b) {
  return elementwise<binary_result<A, B>, common_element<A, B>>(p, a, b);
}
template <class A, class B>
constexpr auto comparison(const primitive& p, const A& a, const B& b) {
  return elementwise<comparison_result<A, B>, common_element<A, B>>(p, a, b);
}

}  // namespace detail
}  // namespace drx
