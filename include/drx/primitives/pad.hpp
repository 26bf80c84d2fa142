// drx/primitives/pad.hpp: zeros around and between the elements of an array. The transpose of slice.
#pragma once

#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

#include <initializer_list>

namespace drx {
namespace prim::rules {
struct pad {
  struct view {  // ints: {low..., high..., interior...}, one of each per axis
    int_list lows, highs, interiors;
    constexpr explicit view(int_list a) : view(a, a.size() / 3) {}
    [[nodiscard]] constexpr int rank() const { return lows.size(); }
    [[nodiscard]] constexpr std::int64_t low(int axis) const { return lows[axis]; }
    [[nodiscard]] constexpr std::int64_t high(int axis) const { return highs[axis]; }
    [[nodiscard]] constexpr std::int64_t interior(int axis) const { return interiors[axis]; }
    [[nodiscard]] constexpr bool pads(int axis) const {
      return low(axis) != 0 || high(axis) != 0 || interior(axis) != 0;
    }

   private:
    constexpr view(int_list a, int rank)
        : lows(a.part(0, rank)), highs(a.part(rank, rank)), interiors(a.part(2 * rank, rank)) {}
  };
  static constexpr std::int64_t covered(std::int64_t n, std::int64_t interior) {
    return n == 0 ? 0 : n + (n - 1) * interior;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape from = t.operands[0].shape;
    typing::require(t.attrs.ints.size() == 3 * from.rank, "pad: not a padding for each axis");
    shape to;
    const view zeros(t.attrs);
    for (int i = 0; i < from.rank; ++i) {
      const auto low = zeros.low(i), high = zeros.high(i), interior = zeros.interior(i);
      typing::require(low >= 0 && high >= 0 && interior >= 0, "pad: negative");
      to.push_back(low + covered(from[i], interior) + high);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]);
    vec<std::int64_t> start, stop, stride;
    for (int i = 0; i < from.rank; ++i) {
      const auto low = view(s.e).low(i), interior = view(s.e).interior(i);
      start.push_back(low);
      stop.push_back(low + covered(from[i], interior));
      stride.push_back(interior + 1);
    }
    return {emit::slice(s.b, ct[0], start, stop, stride)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    const view zeros(s.e);
    vec<std::int64_t> low{0}, high{0}, interior{0};
    low.append(zeros.lows);
    high.append(zeros.highs);
    interior.append(zeros.interiors);
    return {emit::pad(s.b, s.operands[0], low, high, interior)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[0]) return o[0];
    double x = 0;
    return emit::is_constant(b, o[0], x) && x == 0 ? emit::constant(b, to, 0) : -1;
  }
  static std::string print(const attributes& a) {
    const view zeros(a);
    std::string text;
    for (int i = 0; i < zeros.rank(); ++i) {
      text += (i ? ", " : "") + std::to_string(zeros.low(i)) + "+" + std::to_string(zeros.high(i));
      if (zeros.interior(i) != 0) text += " every " + std::to_string(zeros.interior(i) + 1);
    }
    return text;
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const view zeros(s.e);
    return {emit::pad(s.b, s.operands[0], rules::lanes::and_last(zeros.lows, 0), rules::lanes::and_last(zeros.highs, 0),
                      rules::lanes::and_last(zeros.interiors, 0))};
  }
  static constexpr vec<split_result> split(split_site& s) {  // along axes to which it adds nothing
    const int k = s.first_axis();
    if (k == split_site::whole || view(s.e).pads(k)) return {};
    return s.apart(s.e.attrs);
  }
  static void evaluate(evaluation& v) {
    const shape to = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(v.in[0]->type.shape, [&](const std::int64_t* at) {
      std::int64_t target[shape::max_rank] = {};
      for (int k = 0; k < to.rank; ++k) target[k] = view(v.e).low(k) + at[k] * (view(v.e).interior(k) + 1);
      std::memcpy(&v.out[0].bytes[width * static_cast<std::size_t>(flat_index(to, target))],
                  &v.in[0]->bytes[width * i++], width);
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive pad{.name = "pad",
                               .type = rules::pad::type,
                               .jvp = rules::broadcast_to::jvp,
                               .vjp = rules::pad::vjp,
                               .batch = rules::pad::batch,
                               .simplify = rules::pad::simplify,
                               .print = rules::pad::print,
                               .evaluate = rules::pad::evaluate,
                               .known = rules::known::sums,
                               .lanes = rules::pad::lanes,
                               .split = rules::pad::split,
                               .role = role::rearranged,
                               .takes_halves = true};
}
namespace emit {
constexpr int pad(builder& b, int x, const vec<std::int64_t>& low, const vec<std::int64_t>& high,
                  const vec<std::int64_t>& interior) {
  attributes a;
  a.ints = low;
  a.ints.append(high);
  a.ints.append(interior);
  return b.add1(prim::pad, {x}, a);
}
}  // namespace emit

/// Zeros along one axis: Low before, High after, Interior between neighbouring elements.
template <std::int64_t Low, std::int64_t High = Low, std::int64_t Interior = 0>
struct padding {
  static_assert(Low >= 0 && High >= 0 && Interior >= 0, "drx::padding: negative; drx::slice takes away");
  static constexpr std::int64_t low = Low, high = High, interior = Interior;
};

namespace detail {
template <class P>
inline constexpr bool is_padding = false;
template <std::int64_t Low, std::int64_t High, std::int64_t Interior>
inline constexpr bool is_padding<padding<Low, High, Interior>> = true;

template <class A, class... P>
struct padded {  // P... of the first axes of A
  static constexpr vec<std::int64_t> list(std::int64_t (*of)(int)) {
    vec<std::int64_t> v;
    for (int i = 0; i < A::rank; ++i) v.push_back(of(i));
    return v;
  }
  static constexpr int given = static_cast<int>(sizeof...(P));
  static constexpr std::int64_t nth(int i, std::initializer_list<std::int64_t> of) {
    return i < given ? of.begin()[i] : 0;
  }
  static constexpr std::int64_t low(int i) { return nth(i, {P::low...}); }
  static constexpr std::int64_t high(int i) { return nth(i, {P::high...}); }
  static constexpr std::int64_t interior(int i) { return nth(i, {P::interior...}); }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i)
      s.push_back(low(i) + prim::rules::pad::covered(A::shape[i], interior(i)) + high(i));
    return s;
  }();
};
template <class A, int N>
struct has_axes : std::false_type {};
template <Array A, int N>
struct has_axes<A, N> : std::bool_constant<(N <= A::rank)> {};
}  // namespace detail

/// Zeros around each of the first axes of x.  pad<padding<1>, padding<0, 2>>(x)
template <class... Paddings, class A>
  requires(sizeof...(Paddings) > 0 && (detail::is_padding<Paddings> && ...) &&
           detail::has_axes<A, static_cast<int>(sizeof...(Paddings))>::value)
constexpr auto pad(const A& x) {
  using S = detail::padded<A, Paddings...>;
  return detail::unary<array_of<typename A::value_type, S>>(
      x, [](builder& b, int id) { return emit::pad(b, id, S::list(S::low), S::list(S::high), S::list(S::interior)); });
}
/// Low zeros before axis 0 and High after it.  pad<1, 2>(x)
template <std::int64_t Low, std::int64_t High = Low, std::int64_t Interior = 0, class A>
  requires(detail::has_axes<A, 1>::value)
constexpr auto pad(const A& x) {
  return drx::pad<padding<Low, High, Interior>>(x);
}
template <class... Paddings, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_rank>>
  requires(sizeof...(Paddings) > 0 && (detail::is_padding<Paddings> && ...) && (Array<A> || Placed<A>) &&
           !detail::has_axes<A, static_cast<int>(sizeof...(Paddings))>::value)
Why pad(const A&) = delete;  // drx: at most as many paddings as the array has axes; of a placed value in a map
template <std::int64_t Low, std::int64_t High = Low, std::int64_t Interior = 0, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_rank>>
  requires((Array<A> || Placed<A>) && !detail::has_axes<A, 1>::value)
Why pad(const A&) = delete;  // drx: of an array of at least one axis; of a placed value in a map

DRX_SILENT(pad)

}  // namespace drx
