// drx/primitives/convolution.hpp: convolutions over any number of spatial axes, and their derivatives.
//
// All are one sum over products x[n, i, ci] w[k, ci, co] y[n, o, co] at positions with
//     o stride + k kernel dilation - low = i input dilation
// Two of these arrays are given, and the third is computed: the convolution (y), its derivative with respect to the
// input (x) or to the kernel (w). So the derivatives of each are the other two, and nothing is flipped or padded.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/reported.hpp>
#include <drx/primitives/windows.hpp>
#include <drx/tracing/values.hpp>

namespace drx {
namespace prim::rules {
enum class convolution_role { y, x, w };  // the result; the operands are the other two: (x, w), (y, w), (x, y)

struct convolution {
  using role = convolution_role;
  struct view {  // ints: {spatial axes D, role, strides, low paddings, input dilations, kernel dilations, extents of
                 // the result}
    int axes;
    role result;
    constexpr explicit view(int_list a) : axes(a.number(0)), result(static_cast<role>(a[1])), ints(a) {}
    constexpr std::int64_t stride(int i) const { return ints[2 + i]; }
    constexpr std::int64_t low(int i) const { return ints[2 + axes + i]; }
    constexpr std::int64_t input_dilation(int i) const { return ints[2 + 2 * axes + i]; }
    constexpr std::int64_t kernel_dilation(int i) const { return ints[2 + 3 * axes + i]; }
    constexpr std::int64_t extent(int i) const { return ints[2 + 4 * axes + i]; }  // of the result
   private:
    int_list ints;
  };
  /// The attributes of the same sum with another array as result.
  static constexpr attributes turned(const attributes& a, role result, const shape& s) {
    const int axes = view(a).axes, leading = s.rank - axes - 2 + (result != role::w);
    attributes r = a;
    r.ints[1] = static_cast<std::int64_t>(result);
    for (int i = 0; i < axes; ++i) r.ints[2 + 4 * axes + i] = s[leading + i];
    return r;
  }
  /// x: [batch..., n, spatial..., ci], w: [batch..., spatial..., ci, co], y: [batch..., n, spatial..., co]; all of one
  /// rank.
  static constexpr vec<abstract_value> type(const typing& t) {
    const view c(t.attrs);
    const shape p = t.operands[0].shape, q = t.operands[1].shape;
    const int batch = p.rank - c.axes - 2, r = p.rank;
    typing::require(batch >= 0 && q.rank == r, "convolution: ranks");
    typing::require(t.operands[0].type == t.operands[1].type && t.operands[0].type != dtype::boolean,
                    "convolution: types");
    for (int i = 0; i < batch; ++i) typing::require(p[i] == q[i], "convolution: batch extents");
    for (int i = 0; i < c.axes; ++i)
      typing::require(c.stride(i) >= 1 && c.input_dilation(i) >= 1 && c.kernel_dilation(i) >= 1 && c.extent(i) >= 0,
                      "convolution: windows");
    shape s = p;
    if (c.result == role::w) {
      typing::require(p[batch] == q[batch], "convolution: numbers of examples");
      for (int i = 0; i < c.axes; ++i) s[batch + i] = c.extent(i);
      s[r - 2] = p[r - 1];
      s[r - 1] = q[r - 1];
    } else {
      const bool forward = c.result == role::y;
      typing::require(p[r - 1] == q[forward ? r - 2 : r - 1], "convolution: channels");
      for (int i = 0; i < c.axes; ++i) s[batch + 1 + i] = c.extent(i);
      s[r - 1] = q[forward ? r - 1 : r - 2];
    }
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    int r = zero_tangent;
    if (t[0] != zero_tangent) r = s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs);
    if (t[1] != zero_tangent) r = emit::accumulate(s.b, r, s.b.add1(*s.e.prim, {s.operands[0], t[1]}, s.e.attrs));
    return {r};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(2, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const role result = view(s.e).result, first = result == role::x ? role::y : role::x,
               second = result == role::w ? role::y : role::w;
    int value[3] = {};  // by role
    value[static_cast<int>(result)] = ct[0];
    value[static_cast<int>(first)] = s.operands[0];
    value[static_cast<int>(second)] = s.operands[1];
    const int x = value[static_cast<int>(role::x)], w = value[static_cast<int>(role::w)],
              y = value[static_cast<int>(role::y)];
    for (int i = 0; i < 2; ++i) {
      if (!wanted[i]) continue;
      const role of_operand = i == 0 ? first : second;
      const int p = of_operand == role::x ? y : x, q = of_operand == role::w ? y : w;
      r[i] = s.b.add1(*s.e.prim, {p, q}, turned(s.e.attrs, of_operand, s.b.shape(s.operands[i])));
    }
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const view c(s.e);
    const shape from = s.b.shape(s.operands[0]);
    if (c.result != role::w && batched[0] && !batched[1] && from.rank == c.axes + 3) {  // one kernel: more examples
      shape tall = without_axis(from, 0);
      tall[0] *= n;
      const int all = s.b.add1(*s.e.prim, {emit::reshape(s.b, s.operands[0], tall), s.operands[1]}, s.e.attrs);
      shape to = s.b.shape(all);
      to[0] = from[1];
      return {emit::reshape(s.b, all, with_front(to, n))};
    }
    vec<int> operands = s.operands;
    for (int i = 0; i < 2; ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    for (int operand : o) {
      double x = 1;
      if (!emit::is_constant(b, operand, x) || x != 0) continue;
      const vec<abstract_value> types{b.type(o[0]), b.type(o[1])};
      return emit::constant(b, type({types, a, {}})[0], 0);
    }
    return -1;
  }
  static std::string print(const attributes& a) {
    const view c(a);
    std::string text = c.result == role::y ? "y" : c.result == role::x ? "x" : "w";
    for (int i = 0; i < c.axes; ++i) {
      text += (i ? ", " : " ") + std::to_string(c.extent(i)) + " every " + std::to_string(c.stride(i)) + " from " +
              std::to_string(-c.low(i));
      if (c.input_dilation(i) != 1 || c.kernel_dilation(i) != 1)
        text += " dilated " + std::to_string(c.input_dilation(i)) + "," + std::to_string(c.kernel_dilation(i));
    }
    return text;
  }
  static constexpr known_values known(const known_site& s) { return {s.operands[0] * s.operands[1]}; }
  static constexpr vec<int> lanes(const lane_site& s) {
    const view c(s.e);
    if (c.axes > 2 || s.b.shape(s.operands[0]).rank != c.axes + 2 + s.in_lanes[0]) return {};
    const bool of_kernel = c.result == role::w;
    return {emit::lane_convolution(s.b, s.operand(0), of_kernel ? s.operand(1) : s.operands[1],
                                   s.in_lanes[1] && !of_kernel, s.e.attrs)};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list ints) {
    return view(ints).result == role::x ? operands[1].shape.size() * byte_size(operands[1].type) : 0;
  }
  static constexpr entry_cost cost(const tape&, const entry&) { return {.suits_lanes = true}; }
  static void evaluate(evaluation& v) {
    const view c(v.e);
    const abstract_value &p = v.in[0]->type, &q = v.in[1]->type, &result = v.out[0].type;
    const shape xs = (c.result == role::x ? result : p).shape, ws = (c.result == role::w ? result : q).shape;
    const shape ys = (c.result == role::y ? result : c.result == role::x ? p : q).shape;
    const int batch = xs.rank - c.axes - 2;
    std::int64_t batches = 1;
    for (int i = 0; i < batch; ++i) batches *= xs[i];
    shape inputs, outputs, taps;
    for (int i = 0; i < c.axes; ++i) {
      inputs.push_back(xs[batch + 1 + i]);
      outputs.push_back(ys[batch + 1 + i]);
      taps.push_back(ws[batch + i]);
    }
    const auto examples = xs[batch], ci = xs.last(), co = ys.last();
    visit_dtype(result.type, [&]<class T>(T) {
      const T *p_data = v.in[0]->data<T>(), *q_data = v.in[1]->data<T>();
      T* to = v.out[0].data<T>();
      for (std::int64_t n = 0; n < batches * examples; ++n)
        for_each_index(outputs, [&](const std::int64_t* o) {
          for_each_index(taps, [&](const std::int64_t* k) {
            std::int64_t at[shape::max_rank] = {};
            for (int i = 0; i < c.axes; ++i) {
              const auto place = o[i] * c.stride(i) + k[i] * c.kernel_dilation(i) - c.low(i);
              if (place < 0 || place % c.input_dilation(i) != 0 || place / c.input_dilation(i) >= inputs[i]) return;
              at[i] = place / c.input_dilation(i);
            }
            const auto x = (n * inputs.size() + flat_index(inputs, at)) * ci,
                       y = (n * outputs.size() + flat_index(outputs, o)) * co;
            const auto w = (n / examples * taps.size() + flat_index(taps, k)) * ci * co;
            for (std::int64_t i = 0; i < ci; ++i)
              for (std::int64_t j = 0; j < co; ++j) {
                const auto first = c.result == role::x ? y + j : x + i,
                           second = c.result == role::w ? y + j : w + i * co + j;
                T& sum = to[c.result == role::y ? y + j : c.result == role::x ? x + i : w + i * co + j];
                sum = wrapping_product_sum(p_data[first], q_data[second], sum);
              }
          });
        });
    });
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive convolution{.name = "convolution",
                                       .type = rules::convolution::type,
                                       .jvp = rules::convolution::jvp,
                                       .vjp = rules::convolution::vjp,
                                       .batch = rules::convolution::batch,
                                       .simplify = rules::convolution::simplify,
                                       .print = rules::convolution::print,
                                       .evaluate = rules::convolution::evaluate,
                                       .known = rules::convolution::known,
                                       .lanes = rules::convolution::lanes,
                                       .split = rules::split::whole,
                                       .scratch = rules::convolution::scratch,
                                       .cost = rules::convolution::cost};
}
namespace emit {
/// ints as prim::rules::convolution says, with role y.
constexpr int convolution(builder& b, int x, int w, const vec<std::int64_t>& ints) {
  attributes a;
  a.ints = ints;
  return b.add1(prim::convolution, {x, w}, a);
}
}  // namespace emit

namespace detail {
template <int D, class A, class W, class... O>
struct convolved {
  using moves = windows<D, O...>;
  static constexpr auto misuse() {
    if constexpr (Placed<A> || Placed<W>) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (!Array<A> || !Array<W>) {
      return error::not_a_value_of_drx{};
    } else if constexpr (!std::is_same_v<typename A::value_type, typename W::value_type>) {
      return error::element_types_differ{};
    } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
      return error::needs_numbers{};
    } else if constexpr (A::rank < D + 1 || W::rank != D + 2) {
      return error::wrong_rank{};
    } else if constexpr (!moves::complete) {
      return error::options_do_not_fit_the_spatial_axes{};
    } else if constexpr (A::shape[A::rank - 1] != W::shape[D]) {
      return error::inner_extents_differ{};
    } else if constexpr (!fits()) {
      return error::window_exceeds_the_padded_input{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr std::int64_t size(int i) { return A::shape[A::rank - 1 - D + i]; }
  static constexpr bool fits() {
    for (int i = 0; i < D; ++i)
      if (W::shape[i] < 1 || moves::count(i, size(i), W::shape[i]) < 0) return false;
    return true;
  }
  static constexpr shape value_of() {
    shape s = A::shape;
    for (int i = 0; i < D; ++i) s[s.rank - 1 - D + i] = moves::count(i, size(i), W::shape[i]);
    s[s.rank - 1] = W::shape[D + 1];
    return s;
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return value_of();
    } else {
      return shape{};
    }
  }();
  /// A's leading axes as one axis.
  static constexpr shape examples() {
    shape s = make_shape(1);
    for (int i = 0; i < A::rank; ++i) {
      if (i < A::rank - 1 - D)
        s[0] *= A::shape[i];
      else
        s.push_back(A::shape[i]);
    }
    return s;
  }
  static constexpr vec<std::int64_t> ints() {
    vec<std::int64_t> v{D, 0};
    for (int i = 0; i < D; ++i) v.push_back(moves::stride.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(moves::low(i, size(i), W::shape[i]));
    for (int i = 0; i < D; ++i) v.push_back(moves::input_dilation.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(moves::kernel_dilation.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(moves::count(i, size(i), W::shape[i]));
    return v;
  }
};
template <int D, class A, class W, class... O>
concept Convolvable = std::is_same_v<decltype(convolved<D, A, W, O...>::misuse()), no_misuse>;
template <int D, class A, class W, class... O>
concept NotConvolvable = (Array<A> || Placed<A>) && (Array<W> || Placed<W>) && !Convolvable<D, A, W, O...>;

template <int D, class... O, class A, class W>
constexpr auto convolve(const A& x, const W& w) {
  using C = convolved<D, A, W, O...>;
  using T = typename A::value_type;
  tracing_builder& b = tape_of(ref_of(x), ref_of(w));
  const int p = emit::reshape(b, emit::resolve(b, ref_of(x), {dtype_of<T>, A::shape}), C::examples());
  const int q = emit::resolve(b, ref_of(w), {dtype_of<T>, W::shape});
  using R = array_of<T, C>;
  return R(at(b, emit::reshape(b, emit::convolution(b, p, q, C::ints()), R::shape)));
}
}  // namespace detail

/// The convolution of x, of shape {..., length, channels}, with a kernel w of shape {taps, channels, outputs}, as in
/// machine learning: the kernel is not flipped. JAX's dimension numbers are ("NWC", "WIO", "NWC"). Options in any
/// order: strides<s>, padding<low, high> or same, dilations<d> (of the kernel), input_dilations<d>. Without padding,
/// the result has the positions at which the kernel lies inside the input. Both have numbers of one element type.
///     conv1d<strides<2>, padding<1>>(x, w)
template <class... Options, class A, class W>
  requires((detail::is_window_option<Options> && ...) && detail::Convolvable<1, A, W, Options...>)
constexpr auto conv1d(const A& x, const W& w) {
  return detail::convolve<1, Options...>(x, w);
}
/// The convolution of images x, of shape {..., height, width, channels}, with a kernel of shape {rows, columns,
/// channels, outputs}, like conv1d: ("NHWC", "HWIO", "NHWC"). Options have two numbers; a padding is given for each
/// axis.
///     conv2d<strides<2, 2>, padding<1>, padding<0, 1>>(x, w), conv2d<same>(x, w)
template <class... Options, class A, class W>
  requires((detail::is_window_option<Options> && ...) && detail::Convolvable<2, A, W, Options...>)
constexpr auto conv2d(const A& x, const W& w) {
  return detail::convolve<2, Options...>(x, w);
}
template <class... Options, class A, class W, class Why = decltype(detail::convolved<1, A, W, Options...>::misuse())>
  requires((detail::is_window_option<Options> && ...) && detail::NotConvolvable<1, A, W, Options...>)
Why conv1d(const A&, const W&) = delete;  // drx: x {..., length, channels}, w {taps, channels, outputs} of one element type, no longer than the padded input; one number per option; of placed values in a map
template <class... Options, class A, class W, class Why = decltype(detail::convolved<2, A, W, Options...>::misuse())>
  requires((detail::is_window_option<Options> && ...) && detail::NotConvolvable<2, A, W, Options...>)
Why conv2d(const A&, const W&) = delete;  // drx: x {..., height, width, channels}, w {rows, columns, channels, outputs} of one element type, no larger than the padded input; two numbers per option; of placed values in a map

DRX_SILENT_OF_TYPES(conv1d)
DRX_SILENT_OF_TYPES(conv2d)

}  // namespace drx
