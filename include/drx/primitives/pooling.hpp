// drx/primitives/pooling.hpp: sums and maxima over windows that move over the spatial axes, channel by channel.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/windows.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
/// Windows over the D axes before the last one, of x: [..., spatial..., channels]. Position k of the window at o is the
/// input's o stride + k - low, which may lie outside.
struct pooling {
  struct view {  // ints: {spatial axes D, transposed, windows, strides, low paddings, extents of the result}
    int axes;
    bool transposed;
    constexpr explicit view(int_list a) : axes(a.number(0)), transposed(a.flag(1)), ints(a) {}
    constexpr std::int64_t window(int i) const { return ints[2 + i]; }
    constexpr std::int64_t stride(int i) const { return ints[2 + axes + i]; }
    constexpr std::int64_t low(int i) const { return ints[2 + 2 * axes + i]; }
    constexpr std::int64_t extent(int i) const { return ints[2 + 3 * axes + i]; }

   private:
    int_list ints;
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const view w(t.attrs);
    shape s = t.operands[0].shape;
    typing::require(s.rank >= w.axes + 1, "pooling: rank");
    typing::require(t.operands[0].type != dtype::boolean, "pooling: of bool");
    for (int i = 0; i < w.axes; ++i) {
      typing::require(w.window(i) >= 1 && w.stride(i) >= 1 && w.extent(i) >= 0, "pooling: windows");
      s[s.rank - 1 - w.axes + i] = w.extent(i);
    }
    return {t.operands[0].with_shape(s)};
  }
  /// The attributes of the transpose, whose result has the spatial extents of s.
  static constexpr attributes turned(const attributes& a, const shape& s) {
    const int axes = view(a).axes;
    attributes r = a;
    r.ints[1] = 1 - a.ints[1];
    for (int i = 0; i < axes; ++i) r.ints[2 + 3 * axes + i] = s[s.rank - 1 - axes + i];
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  static std::string print(const attributes& a) {
    const view w(a);
    std::string text = w.transposed ? "T" : "";
    for (int i = 0; i < w.axes; ++i)
      text += (i              ? ", "
               : text.empty() ? ""
                              : " ") +
              std::to_string(w.extent(i)) + " of " + std::to_string(w.window(i)) + " every " +
              std::to_string(w.stride(i)) + " from " + std::to_string(-w.low(i));
    return text;
  }
  /// Calls f(element of the input, element of the output, position in the window) for each that is inside, window by
  /// window.
  template <class F>
  static void for_each(const view& w, const shape& in, const shape& out, F f) {
    shape outputs, inputs, windows;
    std::int64_t leading = 1;
    for (int i = 0; i < in.rank - 1 - w.axes; ++i) leading *= in[i];
    for (int i = 0; i < w.axes; ++i) {
      inputs.push_back(in[in.rank - 1 - w.axes + i]);
      outputs.push_back(out[out.rank - 1 - w.axes + i]);
      windows.push_back(w.window(i));
    }
    const auto channels = in.last();
    for (std::int64_t n = 0; n < leading; ++n)
      for_each_index(outputs, [&](const std::int64_t* o) {
        std::int32_t position = -1;
        for_each_index(windows, [&](const std::int64_t* k) {
          ++position;
          std::int64_t at[shape::max_rank] = {};
          for (int i = 0; i < w.axes; ++i) {
            at[i] = o[i] * w.stride(i) + k[i] - w.low(i);
            if (at[i] < 0 || at[i] >= inputs[i]) return;
          }
          for (std::int64_t c = 0; c < channels; ++c)
            f((n * inputs.size() + flat_index(inputs, at)) * channels + c,
              (n * outputs.size() + flat_index(outputs, o)) * channels + c, position);
        });
      });
  }
};

struct window_sum : pooling {  // or, transposed, each element added to all elements of its window
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {s.b.add1(*s.e.prim, {ct[0]}, turned(s.e.attrs, s.b.shape(s.operands[0])))};
  }
  static void evaluate(evaluation& v) {
    const view w(v.e);
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each(w, w.transposed ? to : from, w.transposed ? from : to, [&](auto i, auto o, std::int32_t) {
        T& sum = v.out[0].data<T>()[w.transposed ? i : o];
        sum = wrapping_sum(sum, v.in[0]->data<T>()[w.transposed ? o : i]);
      });
    });
  }
};

/// The position in its window of each maximum: the first of equal ones, or the first NaN; -1 if the whole window is
/// padding.
struct window_argmax : pooling {
  static constexpr vec<abstract_value> type(const typing& t) { return {pooling::type(t)[0].with_type(dtype::int32)}; }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    return operands[0].shape.last() * byte_size(operands[0].type);
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    std::int32_t* winner = v.out[0].data<std::int32_t>();
    for (std::int64_t o = 0; o < v.out[0].size(); ++o) winner[o] = -1;
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      std::vector<T> best(static_cast<std::size_t>(v.out[0].size()));
      for_each(view(v.e), from, to, [&](auto i, auto o, std::int32_t position) {
        const T x = v.in[0]->data<T>()[i], y = best[static_cast<std::size_t>(o)];
        if (winner[o] >= 0 && !(x > y) && (x == x || y != y)) return;
        winner[o] = position;
        best[static_cast<std::size_t>(o)] = x;
      });
    });
  }
};

struct window_select
    : pooling {  // operands x, positions: of each window the element at that position, 0 for -1; or its transpose
  static constexpr vec<abstract_value> type(const typing& t) {
    const vec<abstract_value> r = pooling::type(t);
    typing::require(t.operands[1].type == dtype::int32 &&
                        t.operands[1].shape == (view(t.attrs).transposed ? t.operands[0] : r[0]).shape,
                    "window_select: not a position for each window");
    return r;
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[0]) return {zero_tangent, zero_tangent};
    return {s.b.add1(*s.e.prim, {ct[0], s.operands[1]}, turned(s.e.attrs, s.b.shape(s.operands[0]))), zero_tangent};
  }
  static void evaluate(evaluation& v) {
    const view w(v.e);
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const std::int32_t* winner = v.in[1]->data<std::int32_t>();
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each(w, w.transposed ? to : from, w.transposed ? from : to, [&](auto i, auto o, std::int32_t position) {
        if (winner[o] != position) return;
        T& sum = v.out[0].data<T>()[w.transposed ? i : o];
        sum = wrapping_sum(sum, v.in[0]->data<T>()[w.transposed ? o : i]);
      });
    });
  }
};

struct window_max : pooling {
  template <class T>
  static constexpr T least() {
    return least_number<T>();
  }
  static constexpr int selected(const rule_site& s, int t, bool transposed);
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : selected(s, t[0], false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : selected(s, ct[0], true)};
  }
  static void evaluate(evaluation& v) {
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      T* best = v.out[0].data<T>();
      for (std::int64_t o = 0; o < v.out[0].size(); ++o) best[o] = least<T>();
      for_each(view(v.e), v.in[0]->type.shape, v.out[0].type.shape, [&](auto i, auto o, std::int32_t) {
        const T x = v.in[0]->data<T>()[i];
        if (x > best[o] || x != x) best[o] = x;
      });
    });
  }
};
/// Windows go channel by channel: lanes are more of them.
constexpr vec<int> pooling_in_lanes(const lane_site& l) {
  if (l.operands.size() != 1) return {};
  shape s = l.b.shape(l.operands[0]);
  s = without_axis(s, s.rank - 1);
  s[s.rank - 1] *= l.n;
  const int all = l.same_on({emit::reshape(l.b, l.operands[0], s)})[0];
  shape to = l.b.shape(all);
  to[to.rank - 1] /= l.n;
  return {emit::reshape(l.b, all, with_last(to, l.n))};
}
}  // namespace prim::rules

namespace prim {
inline constexpr primitive window_sum{.name = "window_sum",
                                      .type = rules::pooling::type,
                                      .jvp = rules::broadcast_to::jvp,
                                      .vjp = rules::window_sum::vjp,
                                      .batch = rules::pooling::batch,
                                      .print = rules::pooling::print,
                                      .evaluate = rules::window_sum::evaluate,
                                      .known = rules::known::sums,
                                      .lanes = rules::pooling_in_lanes,
                                      .split = rules::split::whole};
inline constexpr primitive window_argmax{.name = "window_argmax",
                                         .type = rules::window_argmax::type,
                                         .jvp = rules::window_argmax::jvp,
                                         .vjp = rules::window_argmax::vjp,
                                         .batch = rules::pooling::batch,
                                         .print = rules::pooling::print,
                                         .evaluate = rules::window_argmax::evaluate,
                                         .known = rules::known::nothing,
                                         .split = rules::split::whole,
                                         .scratch = rules::window_argmax::scratch};
inline constexpr primitive window_select{.name = "window_select",
                                         .type = rules::window_select::type,
                                         .jvp = rules::window_select::jvp,
                                         .vjp = rules::window_select::vjp,
                                         .batch = rules::pooling::batch,
                                         .print = rules::pooling::print,
                                         .evaluate = rules::window_select::evaluate,
                                         .known = rules::known::sums,
                                         .split = rules::split::whole};
inline constexpr primitive window_max{.name = "window_max",
                                      .type = rules::pooling::type,
                                      .jvp = rules::window_max::jvp,
                                      .vjp = rules::window_max::vjp,
                                      .batch = rules::pooling::batch,
                                      .print = rules::pooling::print,
                                      .evaluate = rules::window_max::evaluate,
                                      .known = rules::known::nothing,
                                      .lanes = rules::pooling_in_lanes,
                                      .split = rules::split::whole};
constexpr int rules::window_max::selected(const rule_site& s, int t, bool transposed) {
  const int winners = s.b.add1(prim::window_argmax, {s.operands[0]}, s.e.attrs);
  if (transposed) return s.b.add1(prim::window_select, {t, winners}, turned(s.e.attrs, s.b.shape(s.operands[0])));
  return s.b.add1(prim::window_select, {t, winners}, s.e.attrs);
}
}  // namespace prim
namespace emit {
/// ints as prim::rules::pooling says.
constexpr int window_sum(builder& b, int x, const vec<std::int64_t>& ints) {
  attributes a;
  a.ints = ints;
  return b.add1(prim::window_sum, {x}, a);
}
constexpr int window_max(builder& b, int x, const vec<std::int64_t>& ints) {
  attributes a;
  a.ints = ints;
  return b.add1(prim::window_max, {x}, a);
}
}  // namespace emit

namespace detail {
template <class A, class... O>
struct pooled {
  static constexpr auto extents = windows<0, O...>::template option<window>();
  static constexpr int D = extents.given;
  using moves = windows<D, O...>;
  static constexpr auto misuse() {
    if constexpr (Placed<A>) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (!Array<A>) {
      return error::not_a_value_of_drx{};
    } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
      return error::needs_numbers{};
    } else if constexpr (D == 0 || !moves::complete || moves::kernel_dilation.given != 0 ||
                         moves::input_dilation.given != 0) {
      return error::options_do_not_fit_the_spatial_axes{};
    } else if constexpr (A::rank < D + 1) {
      return error::wrong_rank{};
    } else if constexpr (!fits()) {
      return error::window_exceeds_the_padded_input{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr std::int64_t size(int i) { return A::shape[A::rank - 1 - D + i]; }
  static constexpr std::int64_t stride(int i) {
    return moves::stride.given != 0 ? moves::stride.values[i] : extents.values[i];
  }
  static constexpr std::int64_t padding(int i) {  // before and after
    const std::int64_t n = (size(i) + stride(i) - 1) / stride(i) * stride(i) - stride(i) + extents.values[i] - size(i);
    return moves::is_same ? (n > 0 ? n : 0) : moves::given_padding.low[i] + moves::given_padding.high[i];
  }
  static constexpr std::int64_t low(int i) { return moves::is_same ? padding(i) / 2 : moves::given_padding.low[i]; }
  static constexpr std::int64_t count(int i) {
    const std::int64_t room = size(i) + padding(i) - extents.values[i];
    return room < 0 ? -1 : room / stride(i) + 1;
  }
  static constexpr bool fits() {
    for (int i = 0; i < D; ++i)
      if (count(i) < 0) return false;
    return true;
  }
  static constexpr shape value_of() {
    shape s = A::shape;
    for (int i = 0; i < D; ++i) s[s.rank - 1 - D + i] = count(i);
    return s;
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return value_of();
    } else {
      return shape{};
    }
  }();
  static constexpr vec<std::int64_t> ints() {
    vec<std::int64_t> v{D, 0};
    for (int i = 0; i < D; ++i) v.push_back(extents.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(stride(i));
    for (int i = 0; i < D; ++i) v.push_back(low(i));
    for (int i = 0; i < D; ++i) v.push_back(count(i));
    return v;
  }
  static constexpr double elements() {
    double n = 1;
    for (int i = 0; i < D; ++i) n *= static_cast<double>(extents.values[i]);
    return n;
  }
};
template <class A, class... O>
concept Poolable = std::is_same_v<decltype(pooled<A, O...>::misuse()), no_misuse>;
template <class A, class... O>
concept NotPoolable = (Array<A> || Placed<A>) && !Poolable<A, O...>;
}  // namespace detail

/// The maximum over each window of x, of shape {..., spatial axes..., channels}; there are as many spatial axes as the
/// window has extents. Options: strides (by default, windows do not overlap), and a padding for each axis, or same;
/// padding is minus infinity. The first of equal elements of a window gets the derivative, as in JAX.
/// max_pool<window<2, 2>>(x)
template <class... Options, class A>
  requires((detail::is_window_option<Options> && ...) && detail::Poolable<A, Options...>)
constexpr auto max_pool(const A& x) {
  using P = detail::pooled<A, Options...>;
  return detail::unary<array_of<typename A::value_type, P>>(
      x, [](builder& b, int id) { return emit::window_max(b, id, P::ints()); });
}
/// The sum over each window divided by the number of its elements, with padding counted as zeros, for float or double.
///     avg_pool<window<3, 3>, strides<2, 2>, same>(x)
template <class... Options, class A>
  requires((detail::is_window_option<Options> && ...) && detail::Poolable<A, Options...> && FloatingArray<A>)
constexpr auto avg_pool(const A& x) {
  using P = detail::pooled<A, Options...>;
  using T = typename A::value_type;
  return detail::unary<array_of<T, P>>(x, [](builder& b, int id) { return emit::window_sum(b, id, P::ints()); }) *
         static_cast<T>(1 / P::elements());
}
template <class... Options, class A, class Why = decltype(detail::pooled<A, Options...>::misuse())>
  requires((detail::is_window_option<Options> && ...) && detail::NotPoolable<A, Options...>)
Why max_pool(const A&) = delete;  // drx: max_pool<window<...>>(x), x {..., spatial axes..., channels} no smaller than the window; one number per spatial axis in each option; of a placed value in a map
template <class... Options, class A,
          class Why = std::conditional_t<detail::Poolable<A, Options...>, error::needs_floating_values,
                                         decltype(detail::pooled<A, Options...>::misuse())>>
  requires((detail::is_window_option<Options> && ...) &&
           (detail::NotPoolable<A, Options...> || (detail::Poolable<A, Options...> && !FloatingArray<A>)))
Why avg_pool(const A&) = delete;  // drx: avg_pool<window<...>>(x), x {..., spatial axes..., channels} of float or double, no smaller than the window; one number per spatial axis in each option; of a placed value in a map

DRX_SILENT_OF_TYPES(avg_pool)
DRX_SILENT_OF_TYPES(max_pool)

}  // namespace drx
