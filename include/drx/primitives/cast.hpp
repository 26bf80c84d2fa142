// drx/primitives/cast.hpp: conversion of the element type, and stop_gradient.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/scalar/math.hpp>
#include <drx/tracing/values.hpp>

#include <cstdint>
#include <limits>

namespace drx {
namespace prim::rules {
struct cast {
  struct view {  // ints: {dtype}
    dtype type;
    constexpr explicit view(dtype to) : type(to) {}
    constexpr explicit view(int_list a) : type(static_cast<dtype>(a[0])) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {static_cast<std::int64_t>(type)};
      return a;
    }
  };
  static constexpr const primitive* prim_ptr();
  static constexpr vec<abstract_value> type(const typing& t) { return {t.operands[0].with_type(view(t.attrs).type)}; }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const bool floats = is_floating(view(s.e).type);
    return {t[0] == zero_tangent || !floats ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    const dtype from = s.b.type(s.operands[0]).type;
    return {ct[0] == zero_tangent || !is_floating(from) ? zero_tangent : emit::cast(s.b, ct[0], from)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const dtype to = view(a).type;
    if (b.type(o[0]).type == to) return o[0];
    double x = 0;
    const entry* e = b.definition(o[0]);
    if (is_half_type(to) && e && e->prim == prim_ptr() && b.type(e->operands[0]).type == to &&
        is_floating(b.type(o[0]).type) && !is_half_type(b.type(o[0]).type))
      return e->operands[0];  // (there and back)
    if (to != dtype::boolean && emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_type(to), x);
    return -1;
  }
  static std::string print(const attributes& a) { return name_of(view(a).type); }
  static constexpr known_values known(const known_site& s) {
    known_value x =
        s.type(s.e.operands[0]).type == dtype::boolean ? finite_and_not_negative() : s.operands[0].but_zero();
    if (view(s.e).type == dtype::f16) x.finite = false;  // (beyond 65504)
    return {x};
  }
  static void evaluate(evaluation& v) {
    const dtype half = is_half_type(v.out[0].type.type) ? v.out[0].type.type : dtype::float32;
    const tensor from = to_floats(*v.in[0]);
    tensor& to = v.out[0];
    if (half != dtype::float32) to = tensor(to.type.with_type(dtype::float32));
    visit_dtype(from.type.type, [&]<class From>(From) {
      visit_dtype(to.type.type, [&]<class To>(To) {
        for (std::int64_t i = 0; i < to.size(); ++i) to.data<To>()[i] = convert<To>(from.data<From>()[i]);
      });
    });
    if (half != dtype::float32) to = to_halves(to, half);
  }
  /// Like static_cast, but defined for each input: floating values out of an integer's range give its nearest end, NaN
  /// gives 0.
  template <class To, class From>
  DRX_FN static constexpr To convert(From x) {
    if constexpr (is_half<From>) {
      return convert<To>(static_cast<float>(x));
    } else if constexpr (is_half<To>) {
      return To(convert<float>(x));
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
      constexpr From low = static_cast<From>(-(To(1) << (8 * sizeof(To) - 2))) * 2, end = -low;
      constexpr From last = end - end / static_cast<From>(std::uint64_t{1} << std::numeric_limits<From>::digits);
      constexpr To highest = static_cast<To>(~(static_cast<std::make_unsigned_t<To>>(1) << (8 * sizeof(To) - 1)));
      const From above = math::chosen(x > low, x, low);  // (chosen without branches: then loops have vectors)
      const To inside = static_cast<To>(math::chosen(above < end, above, last));
      const To is_number = static_cast<To>(-static_cast<To>(x == x)),
               is_beyond = static_cast<To>(-static_cast<To>(x >= end));
      return static_cast<To>(((inside & ~is_beyond) | (highest & is_beyond)) & is_number);
    } else if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (std::is_same_v<From, bool> && std::is_floating_point_v<To>) {
      return math::chosen(x, To(1), To(0));  // (g++ converts single numbers only)
    } else {
      return static_cast<To>(x);
    }
  }
};
struct stop_gradient {
  static constexpr vec<abstract_value> type(const typing& t) { return {t.operands[0]}; }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static void evaluate(evaluation& v) { v.out[0] = *v.in[0]; }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive cast{.name = "cast",
                                .type = rules::cast::type,
                                .jvp = rules::cast::jvp,
                                .vjp = rules::cast::vjp,
                                .batch = rules::cast::batch,
                                .simplify = rules::cast::simplify,
                                .print = rules::cast::print,
                                .evaluate = rules::cast::evaluate,
                                .known = rules::cast::known,
                                .lanes = rules::lanes::same,
                                .split = rules::split::by_element,
                                .role = role::fused,
                                .pointwise = true,
                                .takes_halves = true};
constexpr const primitive* rules::cast::prim_ptr() { return &prim::cast; }
inline constexpr primitive stop_gradient{.name = "stop_gradient",
                                         .type = rules::stop_gradient::type,
                                         .jvp = rules::stop_gradient::jvp,
                                         .vjp = rules::stop_gradient::vjp,
                                         .batch = rules::cast::batch,
                                         .evaluate = rules::stop_gradient::evaluate,
                                         .known = rules::known::handed_on,
                                         .lanes = rules::lanes::batched,
                                         .split = rules::split::by_element,
                                         .role = role::alias,
                                         .pointwise = true,
                                         .takes_halves = true};
}  // namespace prim

namespace emit {
constexpr int cast(builder& b, int x, dtype type) {
  return b.add1(prim::cast, {x}, prim::rules::cast::view(type).make());
}
constexpr vec<int> in_float(builder& b, const primitive& p, const vec<int>& operands, const attributes& a) {
  dtype half = dtype::float32;
  vec<int> wide = operands;
  for (int& x : wide) {
    if (!is_half_type(b.type(x).type)) continue;
    half = b.type(x).type;
    x = cast_of_members(b, x, dtype::float32);
  }
  vec<int> results = b.add(p, wide, a);
  for (int& x : results)
    if (b.type(x).type == dtype::float32) x = cast_of_members(b, x, half);
  return results;
}
}  // namespace emit

/// x with elements of type T. Floating to integer rounds towards zero and saturates; NaN gives 0.
template <Element T, class A>
  requires(Array<A>)
constexpr auto cast(const A& x) {
  return detail::unary<array_of<T, shape_of<A>>>(x, [](builder& b, int id) { return emit::cast(b, id, dtype_of<T>); });
}
namespace detail {
/// f(x...), computed in float if x are of 16 bits, and rounded to these at the end alone.
template <class F, class A, class... B>
constexpr auto rounded_once(const F& f, const A& a, const B&... b) {
  using T = typename A::value_type;
  if constexpr (is_half<T>) {
    return cast<T>(f(cast<float>(a), cast<float>(b)...));
  } else {
    return f(a, b...);
  }
}
}  // namespace detail
/// x, with derivative 0.
template <class A>
  requires(Array<A>)
constexpr A stop_gradient(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return b.add1(prim::stop_gradient, {id}); });
}
template <class T, class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why cast(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::cast<T>(x); }, placed); of a structure leaf by leaf: tree_map
template <class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why stop_gradient(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::stop_gradient(x); }, placed); of a structure leaf by leaf: tree_map

DRX_SILENT(stop_gradient)
DRX_SILENT_OF_TYPE(cast)

}  // namespace drx
