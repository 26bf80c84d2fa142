// drx/run/kernels/pooling.hpp: the kernels of pooling: sums and extrema of windows, and of elements at chosen positions
// in them.
// Tested by tests/unit/run/convolution.cpp.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/run/kernels/convolution_loops.hpp>
#include <drx/run/kernels/fold_operations.hpp>
#include <drx/run/kernels/kernel.hpp>
#include <drx/run/packs/inlining.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace drx::run {

namespace detail {
/// Pooling over one or two spatial axes: windows meet inputs as a kernel's taps do, in all channels alike.
template <class C, int E>
struct pooled {
  static constexpr int axes = prim::rules::pooling::view(C::attributes(E)).axes;
  static constexpr bool transposed = prim::rules::pooling::view(C::attributes(E)).transposed;
  static constexpr int from = C::operand(E, 0), to = C::result(E, 0);
  static constexpr shape in = C::values[transposed ? to : from].shape, out = C::values[transposed ? from : to].shape;
  static constexpr int channels = static_cast<int>(in.last());
  static constexpr std::int64_t images = [] {
    std::int64_t n = 1;
    for (int i = 0; i < in.rank - 1 - axes; ++i) n *= in[i];
    return n;
  }();
  static constexpr axis along(int i) {
    if (i < 0) return {};
    const int at = in.rank - 1 - axes + i;
    const prim::rules::pooling::view w(C::attributes(E));
    return {static_cast<int>(in[at]),
            static_cast<int>(out[at]),
            static_cast<int>(w.window(i)),
            static_cast<int>(w.stride(i)),
            static_cast<int>(w.low(i)),
            1,
            1};
  }
  /// Calls f(first channel of the output, visit) for each window, where visit(g) calls g(first channel of the input,
  /// position in the window) for each position inside.
  template <class F>
  DRX_FN static void for_each_window(F f) {
    for (std::int64_t n = 0; n < images; ++n) for_each_window_of_image(n, f);
  }
  /// The same for image n.
  template <class F>
  DRX_INLINE static void for_each_window_of_image(std::int64_t n, const F& f) {
    constexpr axis h = along(axes - 2), w = along(axes - 1);
    for (int oh = 0; oh < h.out; ++oh)
      for (int ow = 0; ow < w.out; ++ow)
        f(((n * h.out + oh) * w.out + ow) * channels, [&](const auto& g) __attribute__((always_inline)) {
          for (int kh = 0; kh < h.taps; ++kh) {
            const int ih = h.input(oh, kh);
            for (int kw = 0; kw < w.taps && ih >= 0; ++kw)
              if (const int iw = w.input(ow, kw); iw >= 0)
                g(((n * h.in + ih) * w.in + iw) * channels, kh * w.taps + kw);
          }
        });
  }
  /// Calls f(first channel of the input, first channel of the output, position in the window) for each position inside,
  /// window by window.
  template <class F>
  DRX_FN static void for_each(F f) {
    for (std::int64_t n = 0; n < images; ++n) for_each_of_image(n, f);
  }
  /// The same for image n.
  template <class F>
  DRX_INLINE static void for_each_of_image(std::int64_t n, const F& f) {
    for_each_window_of_image(n, [&](std::int64_t out, const auto& visit) __attribute__((always_inline)) {
      visit([&](std::int64_t in, int position) __attribute__((always_inline)) { f(in, out, position); });
    });
  }
};

/// Neighbouring channels in packs, of which the last one ends with the channels. (Numbers that are no vectors' go one
/// by one, as in device code.)
template <class T, int Channels>
struct channel_packs {
#if defined(__CUDACC__)
  static constexpr bool are_there = false;
};
#else
  static constexpr bool are_there = (std::same_as<T, float> || std::same_as<T, double>) && Channels > 1;
  static constexpr int lanes =
      std::min(pack_width<T>, static_cast<int>(std::bit_floor(static_cast<unsigned>(Channels))));
  using part = short_pack<T, lanes>;
  using pack = typename part::type;
  using positions = short_pack<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, lanes>;
  /// Calls f(first channel) for each pack.
  template <class F>
  DRX_HOST_INLINE static void for_each(F f) {
    for (int c = 0; c < Channels; c += lanes) f(std::min(c, Channels - lanes));
  }
  DRX_HOST_INLINE static void save(std::int32_t* to, typename positions::type at) {
    short_pack<std::int32_t, lanes>::save(to,
                                          __builtin_convertvector(at, typename short_pack<std::int32_t, lanes>::type));
  }
};
#endif

/// Adds up, window by window; if Chosen, only the elements at the positions in operand 1.
template <class C, int E, bool Chosen>
struct window_adder {
  static void run(frame& f) {
    using p = pooled<C, E>;
    if constexpr (p::axes > 2) {
      plain_kernel<C, E>::run(f);
    } else {
      using T = element_of<C, p::to>;
      const T* x = elements<const T, C, p::from>(f);
      T* y = elements<T, C, p::to>(f);
      std::memset(y, 0, static_cast<std::size_t>(C::bytes(p::to)));
      p::for_each([&](std::int64_t in, std::int64_t out, [[maybe_unused]] int position) {
        const T* __restrict from = x + (p::transposed ? out : in);  // (operands and result lie apart)
        T* __restrict to = y + (p::transposed ? in : out);
        if constexpr (Chosen) {
          const std::int32_t* __restrict at = elements<const std::int32_t, C, C::operand(E, 1)>(f) + out;
          DRX_INDEPENDENT_VECTORS
          for (int c = 0; c < p::channels; ++c) to[c] = wrapping_sum(to[c], chosen(at[c] == position, from[c], T(0)));
        } else {
          DRX_INDEPENDENT_VECTORS
          for (int c = 0; c < p::channels; ++c) to[c] = wrapping_sum(to[c], from[c]);
        }
      });
    }
  }
};
}  // namespace detail

template <class C, int E>
struct kernel<C, E, &prim::window_sum> : detail::window_adder<C, E, false> {};
template <class C, int E>
struct kernel<C, E, &prim::window_select> : detail::window_adder<C, E, true> {};

template <class C, int E>
struct kernel<C, E, &prim::window_max> {
  DRX_FN static void run(frame& f) {
    using p = detail::pooled<C, E>;
    if constexpr (p::axes > 2) {
      plain_kernel<C, E>::run(f);
    } else {
      using T = element_of<C, p::to>;
      const T* x = elements<const T, C, p::from>(f);
      T* y = elements<T, C, p::to>(f);
      using packs = detail::channel_packs<T, p::channels>;
      if constexpr (packs::are_there)
        return p::for_each_window([&](std::int64_t out, const auto& visit) {
          packs::for_each([&](int c) {
            auto best = typename packs::pack{} + prim::rules::window_max::least<T>();
            visit([&](std::int64_t in, int) __attribute__((always_inline)) {
              const auto now = packs::part::load(x + in + c);
              best = ((now > best) | (now != now)) ? now : best;
            });
            packs::part::save(y + out + c, best);
          });
        });
      for (std::int64_t i = 0; i < p::out.size(); ++i) y[i] = prim::rules::window_max::least<T>();
      p::for_each([&](std::int64_t in, std::int64_t out, int) {
        T* __restrict to = y + out;
        const T* __restrict from = x + in;
        DRX_INDEPENDENT_VECTORS
        for (int c = 0; c < p::channels; ++c) to[c] = detail::max_op{}(to[c], from[c]);
      });
    }
  }
};

template <class C, int E>
struct kernel<C, E, &prim::window_argmax> {
  DRX_FN static void run(frame& f) {
    using p = detail::pooled<C, E>;
    if constexpr (p::axes > 2) {
      plain_kernel<C, E>::run(f);
    } else {
      using T = element_of<C, p::from>;
      const T* x = elements<const T, C, p::from>(f);
      std::int32_t* y = elements<std::int32_t, C, p::to>(f);
      using packs = detail::channel_packs<T, p::channels>;
      if constexpr (packs::are_there)
        return p::for_each_window([&](std::int64_t out, const auto& visit) {
          packs::for_each([&](int c) {
            typename packs::pack best{};
            auto at = typename packs::positions::type{} - 1;
            bool first = true;
            visit([&](std::int64_t in, int position) __attribute__((always_inline)) {
              const auto now = packs::part::load(x + in + c);
              const auto here = typename packs::positions::type{} + position;
              const auto wins = (now > best) | ((now != now) & (best == best));
              at = first ? here : wins ? here : at;
              best = first ? now : wins ? now : best;
              first = false;
            });
            packs::save(y + out + c, at);
          });
        });
      T* best = reinterpret_cast<T*>(scratch<C, E>(f));
      std::int64_t window = -1;
      for (std::int64_t i = 0; i < p::out.size(); ++i) y[i] = -1;
      p::for_each([&](std::int64_t in, std::int64_t out, int position) {
        const bool first = out != window;
        window = out;
        const T* __restrict from = x + in;
        T* __restrict so_far = best;
        std::int32_t* __restrict at = y + out;
        DRX_INDEPENDENT_VECTORS
        for (int c = 0; c < p::channels; ++c) {
          const T now = from[c], before = so_far[c];
          const bool wins = first | (now > before) | ((now != now) & (before == before));
          so_far[c] = detail::chosen(wins, now, before);
          at[c] = wins ? position : at[c];
        }
      });
    }
  }
};

}  // namespace drx::run
