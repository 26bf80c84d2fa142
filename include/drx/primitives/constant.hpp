// drx/primitives/constant.hpp: values without operands: constants, iota, the number of a member.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/tracing/made_of_primitives.hpp>

#include <bit>

namespace drx {
namespace prim {

// ints: {dtype, extents...}; number: the value of every element.
constexpr vec<std::int64_t> type_as_ints(const abstract_value& t) {
  vec<std::int64_t> ints{static_cast<std::int64_t>(t.type)};
  for (int i = 0; i < t.shape.rank; ++i) ints.push_back(t.shape[i]);
  return ints;
}
constexpr abstract_value type_from_ints(int_list ints) {
  abstract_value t;
  t.type = static_cast<dtype>(ints[0]);
  for (int i = 1; i < ints.size(); ++i) t.shape.push_back(ints[i]);
  return t;
}

/// The number as elements of that type hold it.
constexpr double rounded_to(dtype type, double number) {
  switch (type) {
    case dtype::float64: return number;
    case dtype::float32: return static_cast<double>(static_cast<float>(number));
    case dtype::bf16: return static_cast<double>(static_cast<float>(bfloat16(number)));
    case dtype::f16: return static_cast<double>(static_cast<float>(float16(number)));
    default: return static_cast<double>(static_cast<std::int64_t>(number));
  }
}

namespace rules {
struct constant {
  static constexpr vec<abstract_value> type(const typing& t) { return {type_from_ints(t.attrs.ints)}; }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {}; }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    return {emit::repeated(s.b, s.b.add1(*s.e.prim, {}, s.e.attrs), n)};
  }
  static std::string print(const attributes& a) {
    std::string text = std::to_string(a.number);
    if (text.find('.') != std::string::npos) {
      while (text.back() == '0') text.pop_back();
      if (text.back() == '.') text.pop_back();
    }
    if (std::stod(text) != a.number) {  // not a short decimal: enough digits to tell it from its neighbours
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.17g", a.number);
      text = buffer;
    }
    return text;
  }
  static constexpr known_values known(const known_site& s) { return {known_number(s.e.attrs.number)}; }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] = static_cast<T>(v.e.attrs.number);
    });
  }
};
struct iota {
  struct view {  // ints: {axis, dtype, extents...}
    int axis;
    int_list type;
    constexpr explicit view(int_list a) : axis(a.number(0)), type(a.from(1)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) { return {type_from_ints(view(t.attrs).type)}; }
  static std::string print(const attributes& a) { return "axis=" + std::to_string(view(a).axis); }
  static void evaluate(evaluation& v) {
    const int axis = view(v.e).axis;
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for_each_index(v.out[0].type.shape, [&, i = 0](const std::int64_t* at) mutable {
        v.out[0].data<T>()[i++] = static_cast<T>(at[axis]);
      });
    });
  }
};
/// Floating elements are kept as the bits of a double.
struct data {
  struct view {  // ints: {dtype, rank, extents..., elements...}
    dtype type;
    int_list extents, stored;
    constexpr explicit view(int_list a)
        : type(static_cast<dtype>(a[0])), extents(a.part(2, a.number(1))), stored(a.from(2 + a.number(1))) {}
    template <class T>
    [[nodiscard]] constexpr T element(int i) const {
      return data::element<T>(stored[i]);
    }
  };
  template <class T>
  static constexpr std::int64_t stored(T x) {
    if constexpr (is_floating(dtype_of<T>)) {
      return std::bit_cast<std::int64_t>(static_cast<double>(x));
    } else {
      return static_cast<std::int64_t>(x);
    }
  }
  template <class T>
  static constexpr T element(std::int64_t x) {
    if constexpr (is_floating(dtype_of<T>)) {
      return static_cast<T>(std::bit_cast<double>(x));
    } else {
      return static_cast<T>(x);
    }
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const view d(t.attrs);
    abstract_value r(d.type, {});
    for (auto n : d.extents) r.shape.push_back(n);
    typing::require(d.stored.size() == r.shape.size(), "data: not as many elements as the shape has");
    return {r};
  }
  static std::string print(const attributes& a) {
    const view d(a);
    const int shown = d.stored.size() < 8 ? d.stored.size() : 8;
    std::string text;
    for (int i = 0; i < shown; ++i) {
      attributes one;
      one.number = is_floating(d.type) ? d.element<double>(i) : static_cast<double>(d.stored[i]);
      text += (i ? ", " : "") + constant::print(one);
    }
    return text + (shown < d.stored.size() ? ", ..." : "");
  }
  static constexpr known_values known(const known_site& s) {
    if (!is_floating(view(s.e).type)) return {};
    known_value all{true, true, true, true};
    for (auto stored : view(s.e).stored) all = either(all, known_number(element<double>(stored)));
    return {all};
  }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for (int i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] = view(v.e).template element<T>(i);
    });
  }
};
struct member_index {
  static constexpr vec<abstract_value> type(const typing& t) {
    return {abstract_value(dtype::int64, {}).placed_at(t.attrs.placement)};
  }
  static constexpr vec<int> share(share_site& s) { return {s.index}; }
  static void evaluate(evaluation& v) {
    for (std::int64_t i = 0; i < v.members(v.e.attrs.placement); ++i) {
      v.out[0].members.emplace_back(v.out[0].type.of_member());
      v.out[0].members.back().data<std::int64_t>()[0] = i;
    }
  }
};
}  // namespace rules

/// The same number in every element.
inline constexpr primitive constant{.name = "constant",
                                    .type = rules::constant::type,
                                    .jvp = rules::constant::jvp,
                                    .vjp = rules::constant::vjp,
                                    .batch = rules::constant::batch,
                                    .print = rules::constant::print,
                                    .evaluate = rules::constant::evaluate,
                                    .known = rules::constant::known,
                                    .split = rules::split::whole,
                                    .role = role::virtual_};
/// The position along one axis.
inline constexpr primitive iota{.name = "iota",
                                .type = rules::iota::type,
                                .jvp = rules::constant::jvp,
                                .vjp = rules::constant::vjp,
                                .batch = rules::constant::batch,
                                .print = rules::iota::print,
                                .evaluate = rules::iota::evaluate,
                                .known = rules::known::counts,
                                .split = rules::split::whole,
                                .role = role::virtual_};
/// Given elements.
inline constexpr primitive data{.name = "data",
                                .type = rules::data::type,
                                .jvp = rules::constant::jvp,
                                .vjp = rules::constant::vjp,
                                .batch = rules::constant::batch,
                                .print = rules::data::print,
                                .evaluate = rules::data::evaluate,
                                .known = rules::data::known,
                                .split = rules::split::whole};
/// For each member of a placement its number, from 0.
inline constexpr primitive member_index{.name = "partition_index",
                                        .type = rules::member_index::type,
                                        .jvp = rules::constant::jvp,
                                        .vjp = rules::constant::vjp,
                                        .batch = rules::constant::batch,
                                        .evaluate = rules::member_index::evaluate,
                                        .share = rules::member_index::share,
                                        .known = rules::known::counts};
}  // namespace prim

namespace emit {
constexpr int constant(builder& b, const abstract_value& type, double number) {
  attributes a;
  a.ints = prim::type_as_ints(type);
  a.number = prim::rounded_to(type.type, number);
  return b.add1(prim::constant, {}, a);
}
constexpr int iota(builder& b, const abstract_value& type, int axis) {
  attributes a;
  a.ints = {axis};
  a.ints.append(prim::type_as_ints(type));
  return b.add1(prim::iota, {}, a);
}
/// The elements of an array; a plain constant if they are all equal.
template <class T>
constexpr int data(builder& b, const abstract_value& type, const T* elements) {
  const auto n = static_cast<int>(type.shape.size());
  bool alike = true;
  for (int i = 1; i < n; ++i)
    alike = alike && prim::rules::data::stored(elements[i]) == prim::rules::data::stored(elements[0]);
  const bool exact = !std::is_same_v<T, std::int64_t>;  // as a double, which is how a constant is kept
  if (n == 0 || (alike && exact)) return constant(b, type, n == 0 ? 0 : static_cast<double>(elements[0]));
  attributes a;
  a.ints = {static_cast<std::int64_t>(type.type), type.shape.rank};
  for (int i = 0; i < type.shape.rank; ++i) a.ints.push_back(type.shape[i]);
  for (int i = 0; i < n; ++i) a.ints.push_back(prim::rules::data::stored(elements[i]));
  return b.add1(prim::data, {}, a);
}
constexpr int data(builder& b, const abstract_value& type, const traced_ref& r) {
  switch (type.type) {
    case dtype::boolean: return data(b, type, r.from.booleans);
    case dtype::int32: return data(b, type, r.from.int32s);
    case dtype::int64: return data(b, type, r.from.int64s);
    case dtype::float32: return data(b, type, r.from.floats);
    case dtype::bf16: return data(b, type, r.from.bfloat16s);
    case dtype::f16: return data(b, type, r.from.float16s);
    default: return data(b, type, r.from.doubles);
  }
}
constexpr bool is_constant(const builder& b, int id, double& number) {
  const entry* e = b.definition(id);
  if (!e || e->prim != &prim::constant) return false;
  number = e->attrs.number;
  return true;
}

constexpr int constant_like(builder& b, int x, double number) { return constant(b, b.type(x), number); }
constexpr int constant_of(builder& b, const traced_ref& r, const abstract_value& type) {
  switch (r.what) {
    case traced_ref::kind::splat: return constant(b, type, r.from.number);
    case traced_ref::kind::iota: return iota(b, type, r.id);
    case traced_ref::kind::identity: return identity(b, type);
    case traced_ref::kind::data: return data(b, type, r);
    case traced_ref::kind::seed: {
      const std::int32_t words[] = {static_cast<std::int32_t>(r.from.seed >> 32),
                                    static_cast<std::int32_t>(r.from.seed)};
      return data(b, type, words);
    }
    case traced_ref::kind::member_index: {
      attributes a;
      a.placement = r.from.placement;
      return b.add1(prim::member_index, {}, a);
    }
    default: throw "drx: a value is used that was never given one";
  }
}
}  // namespace emit

namespace detail {
/// At run time: an array whose element at each index is f(index).
template <class A, class F>
A array_of_elements(const F& f) {
  A x;
  for_each_index(A::shape,
                 [&, i = 0](const std::int64_t* at) mutable { x[i++] = static_cast<typename A::value_type>(f(at)); });
  return x;
}
}  // namespace detail

// Constants are values on a tape in a traced function, and plain arrays outside programs.

/// An array with the same number everywhere.  full<array<float, 3>>(2) = {2, 2, 2}
template <class A>
  requires(Array<A>)
constexpr A full(typename A::value_type number) {
  if (!detail::is_tracing()) return detail::array_of_elements<A>([=](const std::int64_t*) { return number; });
  traced_ref r;
  r.what = traced_ref::kind::splat;
  r.from.number = static_cast<double>(number);
  return A(r);
}
/// An array of zeros; for bool, of false.
template <class A>
  requires(Array<A>)
constexpr A zeros() {
  return full<A>(typename A::value_type{});
}
/// An array of ones; for bool, of true.
template <class A>
  requires(Array<A>)
constexpr A ones() {
  return full<A>(static_cast<typename A::value_type>(1));
}
/// The elements of an array that is known at compile time, inside a traced function:
///     constexpr drx::array<float, 3> weights{0.25f, 0.5f, 0.25f};  ... x * drx::constant(weights)
/// It refers to the array until it meets a traced value, so return the sum or product, not the constant itself.
template <Element T, std::int64_t... E>
constexpr array<T, E...> constant(const array<T, E...>& elements) {
  if (!detail::is_tracing()) return elements;
  return array<T, E...>(reference_to(elements.data()));
}
/// The position along Axis in each element.  iota<array<int, 3>>() = {0, 1, 2}
template <class A, int Axis = 0>
  requires(Array<A> && Axis >= -A::rank && Axis < A::rank)
constexpr A iota() {
  constexpr int axis = normal_axis(Axis, A::rank);
  if (!detail::is_tracing()) return detail::array_of_elements<A>([=](const std::int64_t* at) { return at[axis]; });
  traced_ref r;
  r.what = traced_ref::kind::iota;
  r.id = axis;
  return A(r);
}
/// The number of each member of placement P, from 0, an int64.
template <class P>
  requires(Placement<P>)
constexpr placed<array<std::int64_t>, P> partition_index() {
  placed<array<std::int64_t>, P> x;
  x.leaf[0].what = traced_ref::kind::member_index;
  x.leaf[0].from.placement = &placement_of<P>;
  return x;
}

}  // namespace drx
