// drx/run/kernels/one_channel.hpp: convolutions from one channel to one, with packs of neighbouring positions.
//
// The tiles of convolution_loops.hpp have packs of output channels, and where there is one channel (blurs and other
// filters of images and signals) they are single numbers. Here a tile is of some rows times some packs of neighbouring
// columns, over all taps: a pack of inputs is read where it lies, at any alignment. Packs in which a tap meets padding
// keep their sums in those lanes.
// Tested by tests/unit/run/convolution.cpp.
#pragma once

#include <drx/run/kernels/convolution_loops.hpp>
#include <drx/run/packs/inlining.hpp>
#include <drx/run/packs/pack.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace drx::run {
#if !defined(__CUDACC__)  // whose front end does not know all of what is done with vectors here

/// A convolution of height H and width W from one channel to one. Along the width, neighbouring outputs meet
/// neighbouring inputs.
template <class T, axis H, axis W>
struct one_channel {
  static constexpr int lanes =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(std::min(pack_width<T>, std::min(W.in, W.out)))));
  using part = short_pack<T, lanes>;
  using pack = typename part::type;
  using place = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using places = typename short_pack<place, lanes>::type;
  static constexpr int taps = H.taps * W.taps, image = H.in * W.in;

  // Outputs [begin, end) of a row meet no padding along the width.
  static constexpr int begin = std::clamp(W.low, 0, W.out),
                       end = std::clamp(W.in + W.low - (W.taps - 1) * W.kernel_dilation, begin, W.out);

  /// The numbers of the lanes.
  DRX_HOST_INLINE static places numbers() {
    return []<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return places{static_cast<place>(I)...};
    }(std::make_integer_sequence<int, lanes>{});
  }
  /// The lanes that are inputs of a row, of the pack from column `from` on.
  DRX_HOST_INLINE static auto in_row(int from) {
    return numbers() + static_cast<place>(from) < places{} + static_cast<place>(W.in);
  }
  static constexpr bool meets_row(int from) { return from > -lanes && from < W.in; }
  /// The input column that output column 0 meets at tap kw, if it is one.
  static constexpr int offset(int kw) { return W.place(0, kw); }

  /// An image of which packs are read that begin before a row or end after it. (No row is shorter than a pack: beyond
  /// its ends are its neighbours, or the ends of the image, which have copies with room around them.)
  struct padded {
    const T* x;
    T first[2 * lanes] = {}, last[2 * lanes] = {};
    explicit padded(const T* p) : x(p) {
      for (int i = 0; i < lanes; ++i) first[lanes + i] = x[i], last[i] = x[image - lanes + i];
    }
    DRX_HOST_INLINE pack load(int row, int from) const {
      const int at = row * W.in + from;
      return part::load(at < 0 ? first + (lanes + at) : at > image - lanes ? last + (at - (image - lanes)) : x + at);
    }
  };

  // ---- the convolution, and its derivative with respect to the input ----

  // A row of outputs: packs that meet padding, or have no neighbours of their kind, at the left and at the right, and
  // between them a middle without padding.
  static constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
  static constexpr int left_at_least = ceil_div(begin, lanes);
  static constexpr int right =
      std::min(ceil_div(W.out - end, lanes), ceil_div(std::max(W.out - left_at_least * lanes, 0), lanes));
  static constexpr int middle_at_most = W.out - (left_at_least + right) * lanes;
  static constexpr int left = left_at_least + (middle_at_most > 0 && middle_at_most < lanes ? 1 : 0);
  static constexpr int middle = std::max(W.out - (left + right) * lanes, 0);
  static constexpr int middle_packs = ceil_div(middle, lanes), most_packs = 8;
  static constexpr int panels = std::max(ceil_div(middle_packs, most_packs), 1);
  static constexpr int packs = std::max(ceil_div(middle_packs, panels), 1);  // of a panel
  // Sums enough to hide the latency of an addition.
  static constexpr int rows =
      H.input_dilation == 1 ? std::clamp((many_registers ? 16 : 8) / packs, 1, std::min(H.out, 4)) : 1;

  /// y = x * kernel for one image. Reversed: the kernel's taps in reverse order.
  template <bool Reversed>
  static void forward(const T* x, const T* kernel, T* y) {
    if constexpr (left + right > 0) {
      const padded p(x);
      all_rows([&]<int R>(int oh, std::integral_constant<int, R>) {
        for (int j = 0; j < left + right; ++j) {
          const int at = j < left ? std::min(j * lanes, W.out - lanes) : std::max(W.out - (j - left + 1) * lanes, 0);
          at_border<R, Reversed>(p, kernel, y, oh, at);
        }
      });
    }
    if constexpr (middle > 0)
      all_rows([&]<int R>(int oh, std::integral_constant<int, R>) {
        for (int panel = 0; panel < panels; ++panel) inside<R, Reversed>(x, kernel, y, oh, panel);
      });
  }
  /// Calls f(first row, number of rows) for blocks of rows: several rows only where none meets padding.
  template <class F>
  DRX_HOST_INLINE static void all_rows(F f) {
    for (int oh = 0; oh < H.out;)
      if (rows > 1 && oh + rows <= H.out && H.place(oh, 0) >= 0 && H.place(oh + rows - 1, H.taps - 1) < H.in)
        f(oh, std::integral_constant<int, rows>{}), oh += rows;
      else
        f(oh, std::integral_constant<int, 1>{}), ++oh;
  }
  template <bool Reversed>
  static constexpr int tap(int kh, int kw) {
    const int t = kh * W.taps + kw;
    return Reversed ? taps - 1 - t : t;
  }
  /// Where a panel of the middle begins, and pack p in it. The last panel, or the last pack of the only one, is moved
  /// back to end with the middle.
  DRX_HOST_INLINE static int first_column(int panel) {
    return panels == 1 ? left * lanes : left * lanes + std::min(panel * packs * lanes, middle - packs * lanes);
  }
  static constexpr int column(int p) { return panels == 1 ? std::min(p * lanes, middle - lanes) : p * lanes; }
  template <int R, bool Reversed>
  static void inside(const T* x, const T* kernel, T* y, int oh, int panel) {
    const int at = first_column(panel);
    pack sum[R][packs];
    DRX_UNROLL
    for (int r = 0; r < R; ++r) DRX_UNROLL
    for (int p = 0; p < packs; ++p) sum[r][p] = pack{};
    for (int kh = 0; kh < H.taps; ++kh) {
      const int ih = H.input(oh, kh);
      if (ih < 0) continue;
      for (int kw = 0; kw < W.taps; ++kw) {
        const T weight = kernel[tap<Reversed>(kh, kw)];
        const T* const in = x + (ih * W.in + at + offset(kw));
        DRX_UNROLL
        for (int r = 0; r < R; ++r) DRX_UNROLL
        for (int p = 0; p < packs; ++p) sum[r][p] += weight * part::load(in + (r * H.stride * W.in + column(p)));
      }
    }
    T* const out = y + (oh * W.out + at);
    DRX_UNROLL
    for (int r = 0; r < R; ++r) DRX_UNROLL
    for (int p = 0; p < packs; ++p) part::save(out + (r * W.out + column(p)), sum[r][p]);
  }
  template <int R, bool Reversed>
  static void at_border(const padded& x, const T* kernel, T* y, int oh, int at) {
    pack sum[R];
    DRX_UNROLL
    for (int r = 0; r < R; ++r) sum[r] = pack{};
    for (int kh = 0; kh < H.taps; ++kh) {
      const int ih = H.input(oh, kh);
      if (ih < 0) continue;
      for (int kw = 0; kw < W.taps; ++kw) {
        const int from = at + offset(kw);
        if (!meets_row(from)) continue;
        const T weight = kernel[tap<Reversed>(kh, kw)];
        const auto meets = in_row(from);
        DRX_UNROLL
        for (int r = 0; r < R; ++r) {
          const pack more = sum[r] + weight * x.load(ih + r * H.stride, from);
          sum[r] = meets ? more : sum[r];
        }
      }
    }
    DRX_UNROLL
    for (int r = 0; r < R; ++r) part::save(y + ((oh + r) * W.out + at), sum[r]);
  }

  // ---- the derivative with respect to the kernel ----

  // Packs of a row of y: those in [clear_begin, clear_end) meet no padding. The numbers after the last whole pack are
  // the last lanes of one more.
  static constexpr int whole = W.out / lanes, rest = W.out % lanes;
  static constexpr int clear_begin = ceil_div(begin, lanes), clear_end = std::max(end / lanes, clear_begin);
  static constexpr int taps_together = many_registers ? 8 : 4;

  /// kernel += sum over the positions of `images` images of x times y.
  static void of_kernel(const T* x, const T* y, T* kernel, std::int64_t images) {
    constexpr int groups = ceil_div(taps, taps_together), each = ceil_div(taps, groups), after = taps % each;
    int t = 0;
    for (; t + each <= taps; t += each) of_taps<each>(x, y, kernel, images, t);
    if constexpr (after > 0) of_taps<after>(x, y, kernel, images, t);
  }
  /// The same for G taps from tap t on.
  template <int G>
  static void of_taps(const T* x, const T* y, T* kernel, std::int64_t images, int t) {
    pack sum[G];
    int from[G];
    DRX_UNROLL
    for (int g = 0; g < G; ++g) sum[g] = pack{}, from[g] = offset((t + g) % W.taps);
    for (std::int64_t n = 0; n < images; ++n) {
      const padded p(x + n * image);
      for (int oh = 0; oh < H.out; ++oh) {
        const T* const out = y + (n * H.out + oh) * W.out;
        int row[G];
        bool all = true;
        DRX_UNROLL
        for (int g = 0; g < G; ++g) row[g] = H.input(oh, (t + g) / W.taps), all = all && row[g] >= 0;
        if (all) {
          of_row<G>(sum, p, out, row, from);
        } else {
          DRX_UNROLL
          for (int g = 0; g < G; ++g)
            if (row[g] >= 0) of_row<1>(sum + g, p, out, row + g, from + g);
        }
      }
    }
    for (int g = 0; g < G; ++g) {
      T lane[lanes];
      part::save(lane, sum[g]);
      for (int half = lanes / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) lane[i] += lane[half + i];
      kernel[t + g] += lane[0];
    }
  }
  /// sum[g] += a row of y times the row of x that it meets at tap g.
  template <int G>
  DRX_HOST_INLINE static void of_row(pack* sum, const padded& x, const T* y, const int* row, const int* from) {
    const auto at_border = [&](int at, int skip) __attribute__((always_inline)) {
      const pack v = part::load(y + at);
      DRX_UNROLL
      for (int g = 0; g < G; ++g) {
        if (!meets_row(at + from[g])) continue;
        const pack more = sum[g] + v * x.load(row[g], at + from[g]);
        const auto meets = in_row(at + from[g]) & (numbers() >= places{} + static_cast<place>(skip));
        sum[g] = meets ? more : sum[g];
      }
    };
    for (int i = 0; i < std::min(clear_begin, whole); ++i) at_border(i * lanes, 0);
    for (int i = clear_begin; i < clear_end; ++i) {
      const pack v = part::load(y + i * lanes);
      DRX_UNROLL
      for (int g = 0; g < G; ++g) sum[g] += v * part::load(x.x + (row[g] * W.in + i * lanes + from[g]));
    }
    for (int i = clear_end; i < whole; ++i) at_border(i * lanes, 0);
    if constexpr (rest > 0) at_border(W.out - lanes, lanes - rest);
  }
};

namespace detail {
/// Whether the tiles of one_channel fit, and rows are long enough to gain.
template <class T>
constexpr bool has_packs_along(axis w) {
  return (std::same_as<T, float> || std::same_as<T, double>) && std::min(w.in, w.out) >= 4 && w.stride == 1 &&
         w.input_dilation == 1;
}
template <class T, class Axes, int CI, int CO>
constexpr auto convolution_of() {
  constexpr axis h = Axes::height, w = Axes::width;
  if constexpr (CI == 1 && CO == 1 && has_packs_along<T>(w))
    return std::type_identity<one_channel<T, h, w>>{};
  else if constexpr (CI == 1 && CO == 1 && w == axis{} && has_packs_along<T>(h))  // a column
    return std::type_identity<one_channel<T, axis{}, h>>{};
  else
    return std::type_identity<convolution<T, Axes, CI, CO>>{};
}
}  // namespace detail

/// The convolution from CI to CO channels with these axes, by the tiles that suit it.
template <class T, class Axes, int CI, int CO>
using convolution_of = typename decltype(detail::convolution_of<T, Axes, CI, CO>())::type;

#else
template <class T, class Axes, int CI, int CO>
using convolution_of = convolution<T, Axes, CI, CO>;
#endif

}  // namespace drx::run
