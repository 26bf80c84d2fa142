// drx/primitives/flip.hpp: reverses the order along axes.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct flip {
  struct view {  // ints: the axes, ascending
    int_list axes;
    constexpr explicit view(int_list a) : axes(a) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    for (int i = 0; i < t.attrs.ints.size(); ++i)
      typing::require(t.attrs.ints[i] >= 0 && t.attrs.ints[i] < t.operands[0].shape.rank &&
                          (i == 0 || t.attrs.ints[i - 1] < t.attrs.ints[i]),
                      "flip: the axes are not ascending and in range");
    return {t.operands[0]};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::flip(s.b, ct[0], s.e.attrs.ints)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return o[0];
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr() && view(*e).axes == view(a).axes) return e->operands[0];
    vec<std::int64_t> turned;
    for (auto axis : a.ints)
      if (b.shape(o[0])[static_cast<int>(axis)] > 1) turned.push_back(axis);
    if (turned.empty()) return o[0];
    return turned == a.ints ? -1 : emit::flip(b, o[0], turned);
  }
  static constexpr const primitive* prim_ptr();
  static constexpr vec<split_result> split(split_site& s) {
    if (view(s.e).axes.contains(s.first_axis())) return {};
    return s.apart(s.e.attrs);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(s, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < s.rank; ++k) source[k] = v.e.attrs.ints.find(k) >= 0 ? s[k] - 1 - at[k] : at[k];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(s, source))], width);
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive flip{.name = "flip",
                                .type = rules::flip::type,
                                .jvp = rules::broadcast_to::jvp,
                                .vjp = rules::flip::vjp,
                                .batch = rules::over_axes::batch,
                                .simplify = rules::flip::simplify,
                                .print = rules::over_axes::print,
                                .evaluate = rules::flip::evaluate,
                                .known = rules::known::handed_on,
                                .lanes = rules::lanes::same,
                                .split = rules::flip::split,
                                .role = role::rearranged,
                                .takes_halves = true};
constexpr const primitive* rules::flip::prim_ptr() { return &prim::flip; }
}  // namespace prim
namespace emit {
constexpr int flip(builder& b, int x, const vec<std::int64_t>& axes) {
  attributes a;
  a.ints = axes;
  return b.add1(prim::flip, {x}, a);
}
}  // namespace emit

namespace detail {
template <class A, int... Axes>
concept Flippable = Array<A> && reduced_axes<A, Axes...>::in_range;
}  // namespace detail

/// x with the order reversed along the given axes, or along all.  flip(x), flip<0>(x), flip<0, -1>(x)
template <int... Axes, class A>
  requires detail::Flippable<A, Axes...>
constexpr A flip(const A& x) {
  return detail::unary<A>(
      x, [](builder& b, int id) { return emit::flip(b, id, detail::reduced_axes<A, Axes...>::list()); });
}
template <int... Axes, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>>
  requires((Array<A> || Placed<A>) && !detail::Flippable<A, Axes...>)
Why flip(const A&) = delete;  // drx: flip<axes...>(array), the axes below its rank; of a placed value in a map

DRX_SILENT(flip)

}  // namespace drx
