// drx/primitives/roll.hpp: elements moved round along an axis.
// Section of docs/reference.md: Shapes and layout.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
struct roll {
  struct view {  // ints: {axis, by how many places}; element i along the axis is the operand's at i - places
    int axis;
    std::int64_t places;  // from 0 to below the extent
    constexpr view(int along, std::int64_t by) : axis(along), places(by) {}
    constexpr explicit view(int_list a) : view(a.number(0), a[1]) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, places};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape& s = t.operands[0].shape;
    const auto [axis, places] = view(t.attrs);
    typing::require(axis >= 0 && axis < s.rank, "roll: no such axis");
    typing::require(places >= 0 && (places == 0 || places < s[axis]), "roll: more places than elements");
    return {t.operands[0]};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {written(s.b, *s.e.prim, ct[0], view(s.e).axis, -view(s.e).places)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {written(s.b, *s.e.prim, s.operands[0], view(s.e).axis + 1, view(s.e).places)};
  }
  static constexpr int written(builder& b, const primitive& p, int x, int axis, std::int64_t places) {
    const std::int64_t n = b.shape(x)[axis];
    return b.add1(p, {x}, view(axis, n == 0 ? 0 : (places % n + n) % n).make());
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    return view(a).places == 0 || emit::is_constant(b, o[0], x) ? o[0] : -1;
  }
  static std::string print(const attributes& a) {
    return "axis=" + std::to_string(view(a).axis) + " by " + std::to_string(view(a).places);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    const view by(v.e);
    std::size_t i = 0;
    for_each_index(s, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < s.rank; ++k) source[k] = at[k];
      source[by.axis] = (at[by.axis] - by.places + s[by.axis]) % s[by.axis];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(s, source))], width);
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive roll{.name = "roll",
                                .type = rules::roll::type,
                                .jvp = rules::broadcast_to::jvp,
                                .vjp = rules::roll::vjp,
                                .batch = rules::roll::batch,
                                .simplify = rules::roll::simplify,
                                .print = rules::roll::print,
                                .evaluate = rules::roll::evaluate,
                                .known = rules::known::handed_on,
                                .lanes = rules::lanes::same,
                                .split = rules::split::but_along<rules::roll>,
                                .role = role::rearranged,
                                .takes_halves = true};
}  // namespace prim
namespace emit {
/// By any number of places.
constexpr int roll(builder& b, int x, int axis, std::int64_t places) {
  return prim::rules::roll::written(b, prim::roll, x, axis, places);
}
}  // namespace emit

namespace detail {
template <class A, int Axis>
concept Rollable = Array<A> && reduced_axes<A, Axis>::in_range;
}  // namespace detail

/// x with its elements moved by so many places along an axis, or back where Places is negative; what leaves at one end
/// comes in at the other. roll<2>(x), roll<-1, 1>(x)
template <std::int64_t Places, int Axis = 0, class A>
  requires detail::Rollable<A, Axis>
constexpr A roll(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return emit::roll(b, id, normal_axis(Axis, A::rank), Places); });
}
template <std::int64_t Places, int Axis = 0, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>>
  requires((Array<A> || Placed<A>) && !detail::Rollable<A, Axis>)
Why roll(const A&) = delete;  // drx: roll<places, axis>(array), the axis below its rank; of a placed value in a map

DRX_SILENT(roll)

}  // namespace drx
