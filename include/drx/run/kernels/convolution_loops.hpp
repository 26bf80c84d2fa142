// drx/run/kernels/convolution_loops.hpp: convolutions of one or two spatial axes, of constant extents.
//
// A convolution is computed in register tiles, as in run/gemm/tiles.hpp: R neighbouring positions times P packs of
// output channels, over all taps and input channels, without a copy of the patches. Its derivative with respect to the
// input is the same code on the kernel with its channels exchanged, a copy in the entry's scratch memory. The
// derivative with respect to the kernel has tiles of R input channels times P packs of output channels, over all
// positions.
// Tested by tests/unit/run/convolution.cpp.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/run/packs/pack.hpp>
#include <drx/run/packs/inlining.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace drx::run {

/// One axis of a convolution: output o meets input i at tap k where o stride + k kernel_dilation - low = i
/// input_dilation.
struct axis {
  int in = 1, out = 1, taps = 1, stride = 1, low = 0, input_dilation = 1, kernel_dilation = 1;

  constexpr bool operator==(const axis&) const = default;
  constexpr int place(int o, int k) const { return o * stride + k * kernel_dilation - low; }
  /// The input that output o meets at tap k, or -1.
  constexpr int input(int o, int k) const {
    const int p = place(o, k);
    return p < 0 || p % input_dilation != 0 || p / input_dilation >= in ? -1 : p / input_dilation;
  }
  /// Outputs this far apart meet the same taps, at inputs `advance` apart.
  constexpr int period() const { return input_dilation / std::gcd(stride, input_dilation); }
  constexpr int advance() const { return period() * stride / input_dilation; }
  /// The axis of the derivative with respect to the input, for the kernel's taps in reverse.
  constexpr axis turned() const {
    return {out, in, taps, input_dilation, (taps - 1) * kernel_dilation - low, stride, kernel_dilation};
  }
};
/// Spatial axis i of the convolution that a view tells of, of these extents.
template <class View>
constexpr axis axis_of(const View& c, int i, std::int64_t in, std::int64_t out, std::int64_t taps) {
  const auto number = [](std::int64_t n) { return static_cast<int>(n); };
  return {number(in),
          number(out),
          number(taps),
          number(c.stride(i)),
          number(c.low(i)),
          number(c.input_dilation(i)),
          number(c.kernel_dilation(i))};
}

/// W neighbouring channels in one register, or in part of one.
template <class T, int W>
struct short_pack {
  typedef T type __attribute__((vector_size(W * sizeof(T))));
  typedef T anywhere
      __attribute__((vector_size(W * sizeof(T)), aligned(alignof(T)), may_alias));  // unaligned in memory
  DRX_HOST_INLINE static type load(const T* p) { return *reinterpret_cast<const anywhere*>(p); }
  DRX_HOST_INLINE static void save(T* p, type v) { *reinterpret_cast<anywhere*>(p) = v; }
};

/// A convolution from CI to CO channels over two spatial axes, height H and width W (a struct with `static constexpr
/// axis height, width`).
template <class T, class Axes, int CI, int CO>
struct convolution {
  static constexpr axis h = Axes::height, w = Axes::width;
  static constexpr bool vectorised = std::same_as<T, float> || std::same_as<T, double>;
  static constexpr int width_of_pack =
      CO >= pack_width<T> ? pack_width<T> : static_cast<int>(std::bit_floor(static_cast<unsigned>(CO)));
  using part = short_pack<T, width_of_pack>;
  using pack = typename part::type;
  static constexpr int packs = (CO + width_of_pack - 1) / width_of_pack;
  // Registers: sums of `rows` positions times most_packs packs, as many packs of the kernel, one element of the image.
  // More than eight positions in a row seldom lie inside together.
  static constexpr int most_packs = std::min(packs, many_registers ? 4 : 2);
  static constexpr int rows = std::min((vector_registers - 1 - most_packs) / most_packs, 8);

  struct column_taps {  // the taps that outputs of one phase meet, and the first input of each
    int count = 0;
    int tap[w.taps + 1] = {};
    int first[w.taps + 1] = {};
  };
  static column_taps taps_of(int phase) {
    column_taps t;
    for (int k = 0; k < w.taps; ++k) {
      const int p = w.place(phase, k);
      if (p % w.input_dilation != 0) continue;
      t.tap[t.count] = k;
      t.first[t.count++] = p / w.input_dilation;
    }
    return t;
  }
  /// The column where pack p of a panel begins; the last one is moved back to end at CO.
  DRX_HOST_INLINE static int column(int panel, int p) {
    const int at = (panel * most_packs + p) * width_of_pack;
    return at < CO - width_of_pack ? at : CO - width_of_pack;
  }

  template <int R>
  struct tile {
    pack sum[R][most_packs];
    DRX_HOST_INLINE void clear() {
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < most_packs; ++p) sum[r][p] = pack{};
    }
    /// sum[r] += x[r step] row, for one row of the kernel.
    DRX_HOST_INLINE void multiply(const T* x, int step, const T* row, int panel) {
      pack v[most_packs];
      DRX_UNROLL
      for (int p = 0; p < most_packs; ++p) v[p] = part::load(row + column(panel, p));
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < most_packs; ++p) sum[r][p] += x[r * step] * v[p];
    }
    DRX_HOST_INLINE void store(T* y, int step, int panel) const {
      DRX_UNROLL
      for (int r = 0; r < R; ++r) DRX_UNROLL
      for (int p = 0; p < most_packs; ++p) part::save(y + r * step + column(panel, p), sum[r][p]);
    }
    /// Adds the sums to y: columns that two packs cover are added once.
    DRX_HOST_INLINE void add(T* y, int step, int panel) const {
      for (int r = 0; r < R; ++r)
        for (int p = 0; p < most_packs; ++p) {
          const int at = (panel * most_packs + p) * width_of_pack, begin = column(panel, p);
          for (int j = at > begin ? at - begin : 0; j < width_of_pack; ++j) y[r * step + begin + j] += sum[r][p][j];
        }
    }
  };
  static constexpr int panels = (packs + most_packs - 1) / most_packs;

  /// y = x * kernel for one image. Reversed: the kernel's taps in reverse order.
  template <bool Reversed>
  static void forward(const T* x, const T* kernel, T* y) {
    for (int oh = 0; oh < h.out; ++oh)
      for (int phase = 0; phase < w.period() && phase < w.out; ++phase) {
        const column_taps t = taps_of(phase);
        const int count = (w.out - phase + w.period() - 1) / w.period();
        T* row = y + (oh * w.out + phase) * CO;
        for (int at = 0; at < count;) {
          if constexpr (vectorised) {
            const auto run = [&]<int R>(std::integral_constant<int, R>) {
              const bool fits = at + R <= count && (R == 1 || inside<R>(t, at));
              if (fits) positions<R, Reversed>(x, kernel, row + at * w.period() * CO, oh, t, at), at += R;
              return fits;
            };
            if (run(std::integral_constant<int, rows>{})) continue;
            if (rows > 3 && run(std::integral_constant<int, (rows + 1) / 2>{})) continue;
            if (rows > 2 && run(std::integral_constant<int, 2>{})) continue;
            run(std::integral_constant<int, 1>{});
          } else {
            plain_position<Reversed>(x, kernel, row + at * w.period() * CO, oh, t, at);
            ++at;
          }
        }
      }
  }
  template <int R>
  static bool inside(const column_taps& t, int at) {
    for (int i = 0; i < t.count; ++i)
      if (t.first[i] + at * w.advance() < 0 || t.first[i] + (at + R - 1) * w.advance() >= w.in) return false;
    return true;
  }
  /// Calls f(first input element, first kernel element) for each pair of taps that position `at` meets in row oh.
  template <bool Reversed, class F>
  DRX_HOST_INLINE static void for_each_tap(const T* x, const T* kernel, int oh, const column_taps& t, int at, F f) {
    for (int kh = 0; kh < h.taps; ++kh) {
      const int ih = h.input(oh, kh);
      if (ih < 0) continue;
      for (int i = 0; i < t.count; ++i) {
        const int iw = t.first[i] + at * w.advance();
        if (iw < 0 || iw >= w.in) continue;
        const int tap = kh * w.taps + t.tap[i];
        f(x + (ih * w.in + iw) * CI, kernel + (Reversed ? h.taps * w.taps - 1 - tap : tap) * CI * CO);
      }
    }
  }
  template <int R, bool Reversed>
  static void positions(const T* x, const T* kernel, T* y, int oh, const column_taps& t, int at) {
    for (int panel = 0; panel < panels; ++panel) {
      tile<R> sums;
      sums.clear();
      for_each_tap<Reversed>(x, kernel, oh, t, at, [&](const T* in, const T* row) __attribute__((always_inline)) {
        for (int ci = 0; ci < CI; ++ci) sums.multiply(in + ci, w.advance() * CI, row + ci * CO, panel);
      });
      sums.store(y, w.period() * CO, panel);
    }
  }
  template <bool Reversed>
  static void plain_position(const T* x, const T* kernel, T* y, int oh, const column_taps& t, int at) {
    for (int co = 0; co < CO; ++co) y[co] = 0;
    for_each_tap<Reversed>(x, kernel, oh, t, at, [&](const T* in, const T* row) {
      for (int ci = 0; ci < CI; ++ci)
        for (int co = 0; co < CO; ++co) y[co] = wrapping_product_sum(in[ci], row[ci * CO + co], y[co]);
    });
  }

  /// How many taps are computed together where input channels are too few to hide the latency of an addition.
  static constexpr int taps = h.taps * w.taps;
  static constexpr int taps_together = [] {
    const int sums = many_registers ? 16 : 10;
    const int most = vectorised && w.input_dilation == 1 ? std::max(sums / (CI * most_packs), 1) : 1;
    const int groups = (taps + most - 1) / most;
    return (taps + groups - 1) / groups;
  }();

  /// kernel += sum over the positions of `images` images of x times y.
  static void of_kernel(const T* x, const T* y, T* kernel, std::int64_t images) {
    if constexpr (taps_together > 1) {
      constexpr int rest = taps % taps_together;
      for (int t = 0; t + taps_together <= taps; t += taps_together) of_taps<taps_together>(x, y, kernel, images, t);
      if constexpr (rest > 0) of_taps<rest>(x, y, kernel, images, taps - rest);
    } else {
      one_tap_after_another(x, y, kernel, images);
    }
  }
  /// The same for G taps from tap t on, in the order of the positions for each: they share what they read of y.
  template <int G>
  static void of_taps(const T* x, const T* y, T* kernel, std::int64_t images, int t) {
    int first[G], last[G], all_first = 0, all_last = w.out;  // the columns of y in which each tap meets inputs; and all
    for (int g = 0; g < G; ++g) {
      const int tap = (t + g) % w.taps;
      for (first[g] = 0; first[g] < w.out && w.input(first[g], tap) < 0;) ++first[g];
      for (last[g] = first[g]; last[g] < w.out && w.input(last[g], tap) >= 0;) ++last[g];
      all_first = std::max(all_first, first[g]);
      all_last = std::min(all_last, last[g]);
    }
    all_last = std::max(all_first, all_last);
    for (int panel = 0; panel < panels; ++panel) {
      tile<CI> sums[G];
      DRX_UNROLL
      for (int g = 0; g < G; ++g) sums[g].clear();
      for (std::int64_t n = 0; n < images; ++n)
        for (int oh = 0; oh < h.out; ++oh) {
          const T* const out = y + (n * h.out + oh) * w.out * CO;
          std::int64_t in[G];  // what each tap meets in column 0
          bool meets[G], all = true;
          DRX_UNROLL
          for (int g = 0; g < G; ++g) {
            const int ih = h.input(oh, (t + g) / w.taps);
            in[g] = ((n * h.in + ih) * w.in + w.place(0, (t + g) % w.taps)) * CI;
            meets[g] = ih >= 0;
            all = all && meets[g];
          }
          const auto alone = [&](int g, int begin, int end) __attribute__((always_inline)) {
            for (int i = begin; i < end; ++i) sums[g].multiply(x + (in[g] + i * w.stride * CI), 1, out + i * CO, panel);
          };
          if (all) {
            DRX_UNROLL
            for (int g = 0; g < G; ++g) alone(g, first[g], std::min(all_first, last[g]));
            for (int i = all_first; i < all_last; ++i) DRX_UNROLL
            for (int g = 0; g < G; ++g) sums[g].multiply(x + (in[g] + i * w.stride * CI), 1, out + i * CO, panel);
            DRX_UNROLL
            for (int g = 0; g < G; ++g) alone(g, std::max(all_last, first[g]), last[g]);
          } else {
            DRX_UNROLL
            for (int g = 0; g < G; ++g)
              if (meets[g]) alone(g, first[g], last[g]);
          }
        }
      DRX_UNROLL
      for (int g = 0; g < G; ++g) sums[g].add(kernel + (t + g) * CI * CO, CO, panel);
    }
  }
  static void one_tap_after_another(const T* x, const T* y, T* kernel, std::int64_t images) {
    for (int kh = 0; kh < h.taps; ++kh)
      for (int kw = 0; kw < w.taps; ++kw, kernel += CI * CO) {
        if constexpr (vectorised) {
          int ci = 0;
          for (; ci + rows <= CI; ci += rows) channels<rows>(x + ci, y, kernel + ci * CO, images, kh, kw);
          constexpr int rest = CI % rows;
          if constexpr (rest > 0) channels<rest>(x + ci, y, kernel + ci * CO, images, kh, kw);
        } else {
          for_each_position(x, y, images, kh, kw, [&](const T* in, const T* out) {
            for (int ci = 0; ci < CI; ++ci)
              for (int co = 0; co < CO; ++co)
                kernel[ci * CO + co] = wrapping_product_sum(in[ci], out[co], kernel[ci * CO + co]);
          });
        }
      }
  }
  template <int R>
  static void channels(const T* x, const T* y, T* kernel, std::int64_t images, int kh, int kw) {
    for (int panel = 0; panel < panels; ++panel) {
      tile<R> sums;
      sums.clear();
      for_each_position(x, y, images, kh, kw, [&](const T* in, const T* out) __attribute__((always_inline)) {
        sums.multiply(in, 1, out, panel);
      });
      sums.add(kernel, CO, panel);
    }
  }
  /// Calls f(input element, output element) for each pair of positions that meet at one tap.
  template <class F>
  DRX_HOST_INLINE static void for_each_position(const T* x, const T* y, std::int64_t images, int kh, int kw, F f) {
    int first = 0;
    while (first < w.out && w.input(first, kw) < 0) ++first;
    if (first == w.out) return;
    const int begin = w.input(first, kw);
    int count = (w.out - first + w.period() - 1) / w.period();
    if (w.advance() > 0) count = std::min(count, (w.in - begin + w.advance() - 1) / w.advance());
    for (std::int64_t n = 0; n < images; ++n)
      for (int oh = 0; oh < h.out; ++oh) {
        const int ih = h.input(oh, kh);
        if (ih < 0) continue;
        const T* in = x + ((n * h.in + ih) * w.in + begin) * CI;
        const T* out = y + ((n * h.out + oh) * w.out + first) * CO;
        for (int i = 0; i < count; ++i) f(in + i * w.advance() * CI, out + i * w.period() * CO);
      }
  }
};

}  // namespace drx::run
