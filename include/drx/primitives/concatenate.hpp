// drx/primitives/concatenate.hpp: arrays joined along an axis that they have, or stacked along a new one.
#pragma once

#include <drx/primitives/constant.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct concatenate {  // any number of operands, which differ in their extents along the axis only
  struct view {       // ints: {axis}
    int axis;
    constexpr explicit view(int_list a) : axis(a.number(0)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(!t.operands.empty(), "concatenate: of nothing");
    const int axis = view(t.attrs).axis;
    abstract_value r = t.operands[0];
    typing::require(axis >= 0 && axis < r.shape.rank, "concatenate: no such axis");
    for (int i = 1; i < t.operands.size(); ++i) {
      abstract_value x = t.operands[i];
      typing::require(x.shape.rank == r.shape.rank, "concatenate: ranks differ");
      const auto n = x.shape[axis];
      x.shape[axis] = r.shape[axis];
      typing::require(x == r, "concatenate: element types or other extents differ");
      r.shape[axis] += n;
    }
    return {r};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    vec<int> moved;
    for (int i = 0; i < t.size(); ++i) moved.push_back(emit::instantiate_zeros(s.b, t[i], s.operands[i]));
    return {s.b.add1(*s.e.prim, moved, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(s.operands.size(), zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const int axis = view(s.e).axis;
    std::int64_t at = 0;
    for (int i = 0; i < r.size(); ++i) {
      const std::int64_t n = s.b.shape(s.operands[i])[axis];
      if (wanted[i]) r[i] = emit::part_of_axis(s.b, ct[0], axis, at, n);
      at += n;
    }
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {emit::concatenate(s.b, operands, view(s.e).axis + 1)};
  }
  static constexpr int simplify(builder&, const vec<int>& o, const attributes&) { return o.size() == 1 ? o[0] : -1; }
  static std::string print(const attributes& a) { return "axis=" + std::to_string(view(a).axis); }
  static constexpr known_values known(const known_site& s) {
    known_value all = s.operands[0];
    for (const known_value& x : s.operands) all = either(all, x);
    return {all};
  }
  static void evaluate(evaluation& v) {
    const int axis = view(v.e).axis;
    const shape to = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::int64_t before = 0;
    for (const tensor* x : v.in) {
      std::size_t i = 0;
      for_each_index(x->type.shape, [&](const std::int64_t* at) {
        std::int64_t target[shape::max_rank] = {};
        for (int k = 0; k < to.rank; ++k) target[k] = at[k] + (k == axis ? before : 0);
        std::memcpy(&v.out[0].bytes[width * static_cast<std::size_t>(flat_index(to, target))], &x->bytes[width * i++],
                    width);
      });
      before += x->type.shape[axis];
    }
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive concatenate{.name = "concatenate",
                                       .type = rules::concatenate::type,
                                       .jvp = rules::concatenate::jvp,
                                       .vjp = rules::concatenate::vjp,
                                       .batch = rules::concatenate::batch,
                                       .simplify = rules::concatenate::simplify,
                                       .print = rules::concatenate::print,
                                       .evaluate = rules::concatenate::evaluate,
                                       .known = rules::concatenate::known,
                                       .lanes = rules::lanes::same,
                                       .split = rules::split::but_along<rules::concatenate>,
                                       .role = role::rearranged,
                                       .takes_halves = true};
}
namespace emit {
constexpr int concatenate(builder& b, const vec<int>& x, int axis) {
  attributes a;
  a.ints = {axis};
  return b.add1(prim::concatenate, x, a);
}
}  // namespace emit

namespace detail {
template <int Axis, class... X>
struct joined : not_arrays<X...> {};
template <int Axis, Array A, Array... X>
struct joined<Axis, A, X...> {
  static constexpr int axis = normal_axis(Axis, A::rank);
  template <class B>
  static constexpr bool fits() {
    for (int i = 0; i < A::rank; ++i)
      if (i != axis && A::shape[i] != B::shape[i]) return false;
    return true;
  }
  static constexpr auto misuse() {
    if constexpr (!(std::is_same_v<typename A::value_type, typename X::value_type> && ...)) {
      return error::element_types_differ{};
    } else if constexpr (!((A::rank == X::rank) && ...)) {
      return error::wrong_rank{};
    } else if constexpr (axis < 0 || axis >= A::rank) {
      return error::axis_out_of_range{};
    } else if constexpr (!(fits<X>() && ...)) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr shape value = [] {
    shape s = A::shape;
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) ((s[axis] += X::shape[axis]), ...);
    return s;
  }();
};
template <int Axis, class... X>
concept Joinable = std::is_same_v<decltype(joined<Axis, X...>::misuse()), no_misuse>;

/// The checks and the result of stacking arrays of one type along a new axis Axis.
template <int Axis, class... X>
struct stacking : not_arrays<X...> {};
template <int Axis, Array A, Array... X>
struct stacking<Axis, A, X...> {
  static constexpr int axis = normal_axis(Axis, A::rank + 1);
  static constexpr auto misuse() {
    if constexpr (!(std::is_same_v<typename A::value_type, typename X::value_type> && ...)) {
      return error::element_types_differ{};
    } else if constexpr (!(std::is_same_v<A, X> && ...)) {
      return error::extents_differ{};
    } else if constexpr (axis < 0 || axis > A::rank) {
      return error::axis_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr shape with_axis(std::int64_t n) {
    shape s;
    for (int i = 0; i <= A::rank; ++i) {
      if (i == axis) s.push_back(n);
      if (i < A::rank) s.push_back(A::shape[i]);
    }
    return s;
  }
  static constexpr shape value = with_axis(1 + static_cast<std::int64_t>(sizeof...(X)));
};
template <int Axis, class... X>
concept Stackable = std::is_same_v<decltype(stacking<Axis, X...>::misuse()), no_misuse>;

}  // namespace detail

/// Arrays joined along an axis.  concatenate(x, y), concatenate<-1>(x, y, z)
template <int Axis = 0, class... X>
  requires(sizeof...(X) > 0 && detail::Joinable<Axis, X...>)
constexpr auto concatenate(const X&... x) {
  using J = detail::joined<Axis, X...>;
  using T = std::common_type_t<typename X::value_type...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
  return array_of<T, J>(detail::at(b, emit::concatenate(b, {detail::id_on(b, x)...}, J::axis)));
}
template <int Axis = 0, class... X, class Why = decltype(detail::joined<Axis, X...>::misuse())>
  requires(((Array<X> || Placed<X>) && ...) && sizeof...(X) > 0 && !detail::Joinable<Axis, X...>)
Why concatenate(const X&...) = delete;  // drx: arrays of one element type and rank whose extents differ along the axis only; of placed values in a map

/// Arrays of one shape stacked along a new axis.  stack(x, y) has the shape {2, ...}
template <int Axis = 0, class... X>
  requires(sizeof...(X) > 0 && detail::Stackable<Axis, X...>)
constexpr auto stack(const X&... x) {
  using S = detail::stacking<Axis, X...>;
  using T = std::common_type_t<typename X::value_type...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
  return array_of<T, S>(
      detail::at(b, emit::concatenate(b, {emit::reshape(b, detail::id_on(b, x), S::with_axis(1))...}, S::axis)));
}
namespace detail {
/// The first array among X....
template <class X, class... Rest>
constexpr auto first_array() {
  if constexpr (Array<X> || sizeof...(Rest) == 0) {
    return std::type_identity<X>{};
  } else {
    return first_array<Rest...>();
  }
}
template <class... X>
concept NumbersBesideArrays = (Array<X> || ...) && (Literal<X> || ...) && ((Array<X> || Literal<X>) && ...);
template <class A, class X>
struct array_for_number_of {
  using type = X;
};
template <class A, Literal X>
struct array_for_number_of<A, X> {
  using type = std::conditional_t<literal_fits(dtype_of<X>, dtype_of<typename A::value_type>), A,
                                  error::a_literal_does_not_fit_the_element_type>;
};
template <class A, class X>
using array_for_number = typename array_for_number_of<A, X>::type;
/// x, or the array A that has the number x everywhere.
template <class A, class X>
constexpr A as_array(const X& x) {
  if constexpr (Array<X>) {
    return x;
  } else {
    return full<A>(static_cast<typename A::value_type>(x));
  }
}
template <class... X>
using array_beside = typename decltype(first_array<X...>())::type;
}  // namespace detail
/// A plain number beside arrays stands for an array like the first one.  stack(x, 0.5, y)
template <int Axis = 0, class... X>
  requires(detail::NumbersBesideArrays<X...> &&
           detail::Stackable<Axis, detail::array_for_number<detail::array_beside<X...>, X>...>)
constexpr auto stack(const X&... x) {
  return drx::stack<Axis>(detail::as_array<detail::array_for_number<detail::array_beside<X...>, X>>(x)...);
}
template <int Axis = 0, class... X, class Why = decltype(detail::stacking<Axis, X...>::misuse())>
  requires(((Array<X> || Placed<X>) && ...) && sizeof...(X) > 0 && !detail::Stackable<Axis, X...>)
Why stack(const X&...) = delete;  // drx: arrays of one element type and shape; of placed values in a map

DRX_SILENT(concatenate)
DRX_SILENT(stack)

}  // namespace drx
