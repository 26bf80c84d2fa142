// drx/run/kernels/lanes.hpp: products of small matrices, and convolutions, of several members at once, one in each lane
// (see plan/staging/lanes.hpp). Register tiles are R times P sums, each a pack over members.
#pragma once

#include <drx/run/kernels/convolution_loops.hpp>
#include <drx/run/kernels/kernel.hpp>
#include <drx/run/packs/long_sums.hpp>

namespace drx::run {

/// The number of members side by side: as many as a vector register has lanes, if there are so many.
template <class T, int L>
using lane_pack = short_pack<T, (L < pack_width<T> ? L : pack_width<T>)>;
inline constexpr int lane_tile = many_registers ? 4 : 2;  // rows and columns of sums, in at most half of the registers
inline constexpr int lane_channels = many_registers ? 8 : 4;  // sums of a convolution, one for each channel

/// Element i of an operand: a pack of it from lane `from` on, or the same number for all members.
template <class T, int L, bool InLanes>
DRX_HOST_INLINE auto of_lanes(const T* p, int i, int from) {
  if constexpr (InLanes)
    return lane_pack<T, L>::load(p + i * L + from);
  else
    return p[i];
}

/// z[i, j] = sum over k of x[i, k] y[k, j], in each of L lanes; x [K, M] if TX, y [N, K] if TY, in lanes if LX, LY.
template <class T, int M, int N, int K, int L, bool TX, bool TY, bool LX, bool LY>
struct lane_product {
  using part = lane_pack<T, L>;
  static constexpr int width = static_cast<int>(sizeof(typename part::type) / sizeof(T));

  template <int R, int P>
  DRX_HOST_INLINE static void tile(const T* x, const T* y, T* z, int row, int column, int from) {
    typename part::type sum[R][P] = {};
    detail::add_up<K>(sum, [&](int first, int depth) __attribute__((always_inline)) {
      for (int k = first; k < first + depth; ++k) {
        DRX_UNROLL
        for (int r = 0; r < R; ++r) {
          const auto a = of_lanes<T, L, LX>(x, TX ? k * M + row + r : (row + r) * K + k, from);
          DRX_UNROLL
          for (int p = 0; p < P; ++p)
            sum[r][p] += a * of_lanes<T, L, LY>(y, TY ? (column + p) * K + k : k * N + column + p, from);
        }
      }
    });
    DRX_UNROLL
    for (int r = 0; r < R; ++r) DRX_UNROLL
    for (int p = 0; p < P; ++p) part::save(z + ((row + r) * N + column + p) * L + from, sum[r][p]);
  }
  template <int R>
  DRX_HOST_INLINE static void rows(const T* x, const T* y, T* z, int row, int from) {
    int column = 0;
    for (; column + lane_tile <= N; column += lane_tile) tile<R, lane_tile>(x, y, z, row, column, from);
    if constexpr (N % lane_tile > 0) tile<R, N % lane_tile>(x, y, z, row, column, from);
  }
  static void run(const T* x, const T* y, T* z) {
    for (int from = 0; from < L; from += width) {
      int row = 0;
      for (; row + lane_tile <= M; row += lane_tile) rows<lane_tile>(x, y, z, row, from);
      if constexpr (M % lane_tile > 0) rows<M % lane_tile>(x, y, z, row, from);
    }
  }
};

/// A convolution from CI to CO channels over two spatial axes (one may be of extent 1), in each of L lanes.
template <class T, class Axes, int CI, int CO, int L, bool KernelsInLanes>
struct lane_convolution {
  static constexpr axis h = Axes::height, w = Axes::width;
  using part = lane_pack<T, L>;
  static constexpr int width = static_cast<int>(sizeof(typename part::type) / sizeof(T)), most = lane_channels;
  static constexpr int packs = L / width > 1 ? 2 : 1;  // of members, which share the values that are the same for all

  /// The position of the kernel's number for tap k from input channel ci to output channel co; if Turned, in the
  /// transposed convolution.
  template <bool Turned>
  DRX_HOST_INLINE static int weight(int kh, int kw, int ci, int co) {
    if constexpr (Turned)
      return (((h.taps - 1 - kh) * w.taps + w.taps - 1 - kw) * CO + co) * CI + ci;
    else
      return ((kh * w.taps + kw) * CI + ci) * CO + co;
  }
  template <bool Turned, int P>
  DRX_HOST_INLINE static void tile(const T* x, const T* kernel, T* y, int oh, int ow, int channel, int from) {
    typename part::type sum[P][packs] = {};
    for (int kh = 0; kh < h.taps; ++kh) {
      const int ih = h.input(oh, kh);
      if (ih < 0) continue;
      for (int kw = 0; kw < w.taps; ++kw) {
        const int iw = w.input(ow, kw);
        if (iw < 0) continue;
        for (int ci = 0; ci < CI; ++ci) {
          const T* in = x + ((ih * w.in + iw) * CI + ci) * L + from;
          DRX_UNROLL
          for (int p = 0; p < P; ++p) DRX_UNROLL
          for (int i = 0; i < packs; ++i)
            sum[p][i] +=
                part::load(in + i * width) *
                of_lanes<T, L, KernelsInLanes>(kernel, weight<Turned>(kh, kw, ci, channel + p), from + i * width);
        }
      }
    }
    DRX_UNROLL
    for (int p = 0; p < P; ++p) DRX_UNROLL
    for (int i = 0; i < packs; ++i)
      part::save(y + ((oh * w.out + ow) * CO + channel + p) * L + from + i * width, sum[p][i]);
  }
  /// y = x * kernel for one image of each lane.
  template <bool Turned>
  static void forward(const T* x, const T* kernel, T* y) {
    for (int oh = 0; oh < h.out; ++oh)
      for (int ow = 0; ow < w.out; ++ow)
        for (int from = 0; from < L; from += packs * width) {
          int channel = 0;
          for (; channel + most <= CO; channel += most) tile<Turned, most>(x, kernel, y, oh, ow, channel, from);
          if constexpr (CO % most > 0) tile<Turned, CO % most>(x, kernel, y, oh, ow, channel, from);
        }
  }
  template <int P>
  DRX_HOST_INLINE static void tile_of_kernel(const T* x, const T* y, T* to, int kh, int kw, int ci, int channel,
                                             int from, int images) {
    typename part::type sum[P][packs] = {};
    for (int n = 0; n < images; ++n)
      for (int oh = 0; oh < h.out; ++oh) {
        const int ih = h.input(oh, kh);
        if (ih < 0) continue;
        for (int ow = 0; ow < w.out; ++ow) {
          const int iw = w.input(ow, kw);
          if (iw < 0) continue;
          const T* in = x + (((n * h.in + ih) * w.in + iw) * CI + ci) * L + from;
          const T* out = y + (((n * h.out + oh) * w.out + ow) * CO + channel) * L + from;
          DRX_UNROLL
          for (int p = 0; p < P; ++p) DRX_UNROLL
          for (int i = 0; i < packs; ++i) sum[p][i] += part::load(in + i * width) * part::load(out + p * L + i * width);
        }
      }
    DRX_UNROLL
    for (int p = 0; p < P; ++p) DRX_UNROLL
    for (int i = 0; i < packs; ++i)
      part::save(to + (((kh * w.taps + kw) * CI + ci) * CO + channel + p) * L + from + i * width, sum[p][i]);
  }
  /// The kernel's derivative: sums over all positions of `images` images in each lane.
  static void of_kernel(const T* x, const T* y, T* to, int images) {
    for (int kh = 0; kh < h.taps; ++kh)
      for (int kw = 0; kw < w.taps; ++kw)
        for (int ci = 0; ci < CI; ++ci)
          for (int from = 0; from < L; from += packs * width) {
            int channel = 0;
            for (; channel + most <= CO; channel += most)
              tile_of_kernel<most>(x, y, to, kh, kw, ci, channel, from, images);
            if constexpr (CO % most > 0) tile_of_kernel<CO % most>(x, y, to, kh, kw, ci, channel, from, images);
          }
  }
};

template <class C, int E>
struct kernel<C, E, &prim::lane_matmul> {
  static void run(frame& f) {
    constexpr int x = C::operand(E, 0), y = C::operand(E, 1), z = C::result(E, 0);
    constexpr shape to = C::values[z].shape, from = C::values[x].shape;
    constexpr prim::rules::lane_matmul::view product_of(C::attributes(E));
    constexpr int batch = to.rank - 3;
    constexpr std::int64_t m = to[batch], n = to[batch + 1], lanes = to.last(),
                           k = from[product_of.transposes_first ? batch : batch + 1];
    using whole = element_of<C, z>;
    using T = decltype(wrapping(whole{}));
    using product = lane_product<T, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k),
                                 static_cast<int>(lanes), product_of.transposes_first, product_of.transposes_second,
                                 product_of.first_in_lanes, product_of.second_in_lanes>;
    constexpr std::int64_t step_x = m * k * (product_of.first_in_lanes ? lanes : 1),
                           step_y = k * n * (product_of.second_in_lanes ? lanes : 1), step_z = m * n * lanes;
    constexpr std::int64_t products = step_z == 0 ? 0 : to.size() / step_z;
    for (std::int64_t i = 0; i < products; ++i)
      product::run(reinterpret_cast<const T*>(elements<const whole, C, x>(f)) + i * step_x,
                   reinterpret_cast<const T*>(elements<const whole, C, y>(f)) + i * step_y,
                   reinterpret_cast<T*>(elements<whole, C, z>(f)) + i * step_z);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::lane_convolution> {
  using view = prim::rules::lane_convolution::view;
  using role = prim::rules::convolution_role;
  static constexpr int axes = view(C::attributes(E)).axes;
  static constexpr role result = view(C::attributes(E)).result;
  static constexpr bool kernels_in_lanes = view(C::attributes(E)).kernels_in_lanes;
  static constexpr int x = result == role::x ? C::result(E, 0) : C::operand(E, 0);
  static constexpr int w = result == role::w ? C::result(E, 0) : C::operand(E, 1);
  static constexpr int y = result == role::y ? C::result(E, 0) : C::operand(E, result == role::x ? 0 : 1);
  static constexpr shape xs = C::values[x].shape, ws = C::values[w].shape, ys = C::values[y].shape;
  static constexpr int examples = static_cast<int>(xs[0]), lanes = static_cast<int>(xs.last());
  static constexpr int ci = static_cast<int>(xs[axes + 1]), co = static_cast<int>(ys[axes + 1]);

  static constexpr axis along(int i) {
    if (i < 0) return {};
    return axis_of(view(C::attributes(E)), i, xs[1 + i], ys[1 + i], ws[i]);
  }
  struct there {
    static constexpr axis height = along(axes - 2), width = along(axes - 1);
  };
  struct back {
    static constexpr axis height = along(axes - 2).turned(), width = along(axes - 1).turned();
  };
  static void run(frame& f) {
    using T = element_of<C, y>;
    if constexpr (xs.size() == 0 || ws.size() == 0 || ys.size() == 0) {
      constexpr int to = C::result(E, 0);
      std::memset(elements<T, C, to>(f), 0, static_cast<std::size_t>(C::bytes(to)));
    } else {
      constexpr std::int64_t image = xs.size() / examples, response = ys.size() / examples;
      if constexpr (result == role::w) {
        using run = lane_convolution<T, there, ci, co, lanes, false>;
        run::of_kernel(elements<const T, C, x>(f), elements<const T, C, y>(f), elements<T, C, w>(f), examples);
      } else if constexpr (result == role::y) {
        using run = lane_convolution<T, there, ci, co, lanes, kernels_in_lanes>;
        for (int n = 0; n < examples; ++n)
          run::template forward<false>(elements<const T, C, x>(f) + n * image, elements<const T, C, w>(f),
                                       elements<T, C, y>(f) + n * response);
      } else {
        using run = lane_convolution<T, back, co, ci, lanes, kernels_in_lanes>;
        for (int n = 0; n < examples; ++n)
          run::template forward<true>(elements<const T, C, y>(f) + n * response, elements<const T, C, w>(f),
                                      elements<T, C, x>(f) + n * image);
      }
    }
  }
};

}  // namespace drx::run
