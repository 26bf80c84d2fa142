// drx/primitives/slice.hpp: parts of an array: a range of each axis with a stride, and one index of an axis.
#pragma once

#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/tracing/values.hpp>

#include <limits>

namespace drx {
namespace prim::rules {
// cut-begin slice_rules
struct slice {
  struct view {  // ints: {starts..., stops..., strides...}, one of each per axis
    int_list starts, stops, strides;
    constexpr explicit view(int_list a) : view(a, a.size() / 3) {}
    [[nodiscard]] constexpr int rank() const { return starts.size(); }
    [[nodiscard]] constexpr std::int64_t start(int axis) const { return starts[axis]; }
    [[nodiscard]] constexpr std::int64_t stop(int axis) const { return stops[axis]; }
    [[nodiscard]] constexpr std::int64_t stride(int axis) const { return strides[axis]; }
    /// Whether it is the whole axis, of extent n.
    [[nodiscard]] constexpr bool takes_all(int axis, std::int64_t n) const {
      return start(axis) == 0 && stop(axis) == n && stride(axis) == 1;
    }

   private:
    constexpr view(int_list a, int rank)
        : starts(a.part(0, rank)), stops(a.part(rank, rank)), strides(a.part(2 * rank, rank)) {}
  };
  static constexpr attributes make(const vec<std::int64_t>& starts, const vec<std::int64_t>& stops,
                                   const vec<std::int64_t>& strides) {
    attributes a;
    a.ints = starts;
    a.ints.append(stops);
    a.ints.append(strides);
    return a;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape from = t.operands[0].shape;
    typing::require(t.attrs.ints.size() == 3 * from.rank, "slice: not a range for each axis");
    shape to;
    const view range(t.attrs);
    for (int i = 0; i < from.rank; ++i) {
      const auto start = range.start(i), stop = range.stop(i), stride = range.stride(i);
      typing::require(0 <= start && start <= stop && stop <= from[i] && stride >= 1, "slice: out of range");
      to.push_back((stop - start + stride - 1) / stride);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]), to = s.b.shape(s.results[0]);
    vec<std::int64_t> low, high, interior;
    for (int i = 0; i < from.rank; ++i) {
      const auto start = view(s.e).start(i), stride = view(s.e).stride(i);
      const auto covered = to[i] == 0 ? 0 : (to[i] - 1) * stride + 1;
      low.push_back(start);
      high.push_back(from[i] - start - covered);
      interior.push_back(stride - 1);
    }
    return {emit::pad(s.b, ct[0], low, high, interior)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    const view range(s.e);
    vec<std::int64_t> start{0}, stop{n}, stride{1};
    start.append(range.starts);
    stop.append(range.stops);
    stride.append(range.strides);
    return {emit::slice(s.b, s.operands[0], start, stop, stride)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[0]) return o[0];
    double x = 0;
    return emit::is_constant(b, o[0], x) ? emit::constant(b, to, x) : -1;
  }
  static std::string print(const attributes& a) {
    const view range(a);
    std::string text;
    for (int i = 0; i < range.rank(); ++i) {
      text += (i ? ", " : "") + std::to_string(range.start(i)) + ":" + std::to_string(range.stop(i));
      if (range.stride(i) != 1) text += ":" + std::to_string(range.stride(i));
    }
    return text;
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const view range(s.e);
    return {emit::slice(s.b, s.operands[0], rules::lanes::and_last(range.starts, 0),
                        rules::lanes::and_last(range.stops, s.n), rules::lanes::and_last(range.strides, 1))};
  }
  static constexpr vec<split_result> split(split_site& s) {  // along axes of which it takes all
    const int k = s.first_axis();
    const view range(s.e);
    if (k == split_site::whole || !range.takes_all(k, s.whole_shape(0)[k])) return {};
    vec<std::int64_t> stops = range.stops;
    stops[k] /= s.mesh.count;
    return s.apart(make(range.starts, stops, range.strides));
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    const view range(v.e);
    std::size_t i = 0;
    for_each_index(v.out[0].type.shape, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < from.rank; ++k) source[k] = range.start(k) + at[k] * range.stride(k);
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
// cut-end slice_rules
}  // namespace prim::rules

// cut-begin slice_object
namespace prim {
inline constexpr primitive slice{.name = "slice",
                                 .type = rules::slice::type,
                                 .jvp = rules::broadcast_to::jvp,
                                 .vjp = rules::slice::vjp,
                                 .batch = rules::slice::batch,
                                 .simplify = rules::slice::simplify,
                                 .print = rules::slice::print,
                                 .evaluate = rules::slice::evaluate,
                                 .known = rules::known::handed_on,
                                 .lanes = rules::slice::lanes,
                                 .split = rules::slice::split,
                                 .role = role::rearranged,
                                 .takes_halves = true};
}
namespace emit {
constexpr int slice(builder& b, int x, const vec<std::int64_t>& start, const vec<std::int64_t>& stop,
                    const vec<std::int64_t>& stride) {
  return b.add1(prim::slice, {x}, prim::rules::slice::make(start, stop, stride));
}
}  // namespace emit
// cut-end slice_object

namespace emit {
/// Positions first to first + n - 1 of one axis.
constexpr int part_of_axis(builder& b, int x, int axis, std::int64_t first, std::int64_t n) {
  const shape s = b.shape(x);
  vec<std::int64_t> start(s.rank, 0), stop;
  for (int i = 0; i < s.rank; ++i) stop.push_back(s[i]);
  start[axis] = first;
  stop[axis] = first + n;
  return slice(b, x, start, stop, vec<std::int64_t>(s.rank, 1));
}
}  // namespace emit

/// The positions of one axis from Start to before Stop, every Stride-th. Negative ones count from the end.
template <std::int64_t Start, std::int64_t Stop = std::numeric_limits<std::int64_t>::max(), std::int64_t Stride = 1>
struct range {
  static_assert(Stride >= 1, "drx::range: the stride must be positive");
  static constexpr std::int64_t start(std::int64_t n) { return Start < 0 ? Start + n : Start; }
  static constexpr std::int64_t stop(std::int64_t n) {
    return Stop < 0 ? Stop + n : Stop == std::numeric_limits<std::int64_t>::max() ? n : Stop;
  }
  static constexpr std::int64_t stride = Stride;
  static constexpr bool fits(std::int64_t n) { return 0 <= start(n) && start(n) <= stop(n) && stop(n) <= n; }
};
/// The whole of an axis.
using all = range<0>;

namespace detail {
template <class R>
inline constexpr bool is_range = false;
template <std::int64_t Start, std::int64_t Stop, std::int64_t Stride>
inline constexpr bool is_range<range<Start, Stop, Stride>> = true;

/// The checks and the result of ranges R... of the first axes of A; the other axes are whole.
template <class A, class... R>
struct sliced {
  static constexpr int given = static_cast<int>(sizeof...(R));
  static constexpr bool fits = [] {
    if (given > A::rank) return false;
    [[maybe_unused]] int axis = 0;
    return (R::fits(A::shape[axis++]) && ...);
  }();
  struct spans {
    std::int64_t start[static_cast<std::size_t>(A::rank) + 1] = {}, stop[static_cast<std::size_t>(A::rank) + 1] = {},
                                                           stride[static_cast<std::size_t>(A::rank) + 1] = {};
  };
  static constexpr spans of_axes = [] {
    spans s;
    if (!fits) return s;
    for (int i = 0; i < A::rank; ++i) {
      s.stop[i] = A::shape[i];
      s.stride[i] = 1;
    }
    [[maybe_unused]] int axis = 0;
    ((s.start[axis] = R::start(A::shape[axis]), s.stop[axis] = R::stop(A::shape[axis]), s.stride[axis] = R::stride,
      ++axis),
     ...);
    return s;
  }();
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; fits && i < A::rank; ++i)
      s.push_back((of_axes.stop[i] - of_axes.start[i] + of_axes.stride[i] - 1) / of_axes.stride[i]);
    return s;
  }();
};
template <class A, class... R>
struct sliceable : std::false_type {};
template <Array A, class... R>
struct sliceable<A, R...> : std::bool_constant<sliced<A, R...>::fits> {};
template <class A, class... R>
concept Sliceable = sliceable<A, R...>::value;

template <class A, class... R>
constexpr auto slice_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (static_cast<int>(sizeof...(R)) > A::rank) {
    return error::wrong_rank{};
  } else {
    return error::slice_out_of_range{};
  }
}

template <class A, class... R>
constexpr int sliced_id(builder& b, int id) {
  using S = sliced<A, R...>;
  vec<std::int64_t> start, stop, stride;
  for (int i = 0; i < A::rank; ++i) {
    start.push_back(S::of_axes.start[i]);
    stop.push_back(S::of_axes.stop[i]);
    stride.push_back(S::of_axes.stride[i]);
  }
  return emit::slice(b, id, start, stop, stride);
}
}  // namespace detail

/// The part of an array in a range of each of its first axes.  slice<range<0, 3>, all, range<2, 8, 2>>(x)
template <class... Ranges, class A>
  requires(sizeof...(Ranges) > 0 && (detail::is_range<Ranges> && ...) && detail::Sliceable<A, Ranges...>)
constexpr auto slice(const A& x) {
  return detail::unary<array_of<typename A::value_type, detail::sliced<A, Ranges...>>>(
      x, [](builder& b, int id) { return detail::sliced_id<A, Ranges...>(b, id); });
}
// cut-begin slice_front
/// The positions from Start to before Stop of axis 0.  slice<2, 5>(x)
template <std::int64_t Start, std::int64_t Stop, std::int64_t Stride = 1, class A>
  requires detail::Sliceable<A, range<Start, Stop, Stride>>
constexpr auto slice(const A& x) {
  return drx::slice<range<Start, Stop, Stride>>(x);
}
// cut-end slice_front
template <class... Ranges, class A, class Why = decltype(detail::slice_misuse<A, Ranges...>())>
  requires(sizeof...(Ranges) > 0 && (detail::is_range<Ranges> && ...) && (Array<A> || Placed<A>) &&
           !detail::Sliceable<A, Ranges...>)
Why slice(const A&) = delete;  // drx: 0 <= start <= stop <= extent, for at most as many axes as the array has; of a placed value in a map
// cut-begin slice_misuse
template <std::int64_t Start, std::int64_t Stop, std::int64_t Stride = 1, class A,
          class Why = decltype(detail::slice_misuse<A, range<Start, Stop, Stride>>())>
  requires((Array<A> || Placed<A>) && !detail::Sliceable<A, range<Start, Stop, Stride>>)
Why slice(const A&) = delete;  // drx: 0 <= start <= stop <= extent of axis 0; of a placed value in a map
// cut-end slice_misuse

namespace detail {
template <std::int64_t I>
using just = range<I, I == -1 ? std::numeric_limits<std::int64_t>::max() : I + 1>;
template <class A, int N>
struct without_first_axes {
  static constexpr shape value = [] {
    shape s;
    for (int i = N; i < A::rank; ++i) s.push_back(A::shape[i]);
    return s;
  }();
};
}  // namespace detail

/// The part at one position of each of the first axes, which are dropped.  index<2>(x), index<0, -1>(x)
template <std::int64_t... I, class A>
  requires(sizeof...(I) > 0 && detail::Sliceable<A, detail::just<I>...>)
constexpr auto index(const A& x) {
  using S = detail::without_first_axes<A, static_cast<int>(sizeof...(I))>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    return emit::reshape(b, detail::sliced_id<A, detail::just<I>...>(b, id), S::value);
  });
}
template <std::int64_t... I, class A, class Why = decltype(detail::slice_misuse<A, detail::just<I>...>())>
  requires(sizeof...(I) > 0 && (Array<A> || Placed<A>) && !detail::Sliceable<A, detail::just<I>...>)
Why index(const A&) = delete;  // drx: each index below its axis' extent, not more of them than axes; of a placed value in a map

DRX_SILENT(slice)
DRX_SILENT(index)

}  // namespace drx
