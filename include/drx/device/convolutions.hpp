// drx/device/convolutions.hpp: convolutions and pooling by a team: an element of the result to each lane, or a channel
// of an image.
// Tested by tests/unit/device/convolution.cpp.
#pragma once

#include <drx/device/kernel.hpp>

namespace drx::device {

/// A convolution of one or two spatial axes, or one of its derivatives (run/kernels/convolutions.hpp names the arrays).
template <class C, int E>
struct team_kernel<C, E, &prim::convolution> {
  using of = run::detail::convolved<C, E>;
  using T = element_of<C, of::y>;

  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    if constexpr (of::axes != 1 && of::axes != 2) {
      if (team.lane() == 0) run::kernel<C, E, &prim::convolution>::run(f);
    } else {
      constexpr int to = C::result(E, 0);
      T* const out = elements<T, C, to>(f);
      for_each(team, C::values[to].shape.size(), [&](std::int64_t i) {
        if constexpr (of::xs.size() == 0 || of::ws.size() == 0 || of::ys.size() == 0)
          out[i] = T{};
        else if constexpr (of::result == of::role::y)
          out[i] = response(f, i);
        else if constexpr (of::result == of::role::x)
          out[i] = input(f, i);
        else
          out[i] = weight(f, i);
      });
    }
  }

 private:
  static constexpr std::int64_t ci = of::ci, co = of::co;
  /// Element i of y: over the taps, sums over the input's channels.
  DRX_INLINE static T response(const frame& f, std::int64_t i) {
    constexpr run::axis h = of::forward::height, w = of::forward::width;
    const std::int64_t to = i % co, ow = i / co % w.out, oh = i / co / w.out % h.out, n = i / co / w.out / h.out;
    const T* const x = elements<const T, C, of::x>(f) + n * of::image;
    const T* const weights = elements<const T, C, of::w>(f) + n / of::examples * of::kernel + to;
    return over_taps(h, w, oh, ow, [&](int kh, int kw, int ih, int iw) {
      T sum{};
      for (std::int64_t c = 0; c < ci; ++c)
        sum = wrapping_product_sum(x[(ih * w.in + iw) * ci + c], weights[((kh * w.taps + kw) * ci + c) * co], sum);
      return sum;
    });
  }
  /// Element i of x's derivative: the same on the kernel with its taps reversed and its channels exchanged.
  DRX_INLINE static T input(const frame& f, std::int64_t i) {
    constexpr run::axis h = of::backward::height, w = of::backward::width;
    const std::int64_t to = i % ci, ow = i / ci % w.out, oh = i / ci / w.out % h.out, n = i / ci / w.out / h.out;
    const T* const y = elements<const T, C, of::y>(f) + n * of::response;
    const T* const weights = elements<const T, C, of::w>(f) + n / of::examples * of::kernel + to * co;
    return over_taps(h, w, oh, ow, [&](int kh, int kw, int ih, int iw) {
      const T* const tap = weights + ((h.taps - 1 - kh) * w.taps + w.taps - 1 - kw) * ci * co;
      T sum{};
      for (std::int64_t c = 0; c < co; ++c) sum = wrapping_product_sum(y[(ih * w.in + iw) * co + c], tap[c], sum);
      return sum;
    });
  }
  /// Sums term(tap, tap, input, input) over the taps at which an output meets an input.
  template <class Term>
  DRX_INLINE static T over_taps(const run::axis& h, const run::axis& w, std::int64_t oh, std::int64_t ow,
                                const Term& term) {
    T total{};
    for (int kh = 0; kh < h.taps; ++kh) {
      const int ih = h.input(static_cast<int>(oh), kh);
      for (int kw = 0; kw < w.taps && ih >= 0; ++kw)
        if (const int iw = w.input(static_cast<int>(ow), kw); iw >= 0)
          total = wrapping_sum(total, term(kh, kw, ih, iw));
    }
    return total;
  }
  /// Element i of the kernel's derivative: over the examples, sums over rows of sums over their columns.
  DRX_INLINE static T weight(const frame& f, std::int64_t i) {
    constexpr run::axis h = of::forward::height, w = of::forward::width;
    const std::int64_t to = i % co, from = i / co % ci, tap = i / co / ci % (h.taps * w.taps),
                       batch = i / co / ci / (h.taps * w.taps);
    const int kh = static_cast<int>(tap / w.taps), kw = static_cast<int>(tap % w.taps);
    T total{};
    for (std::int64_t n = batch * of::examples; n < (batch + 1) * of::examples; ++n) {
      const T* const x = elements<const T, C, of::x>(f) + n * of::image + from;
      const T* const y = elements<const T, C, of::y>(f) + n * of::response + to;
      T of_example{};
      for (int oh = 0; oh < h.out; ++oh) {
        const int ih = h.input(oh, kh);
        if (ih < 0) continue;
        T of_row{};
        for (int ow = 0; ow < w.out; ++ow)
          if (const int iw = w.input(ow, kw); iw >= 0)
            of_row = wrapping_product_sum(x[(ih * w.in + iw) * ci], y[(oh * w.out + ow) * co], of_row);
        of_example = wrapping_sum(of_example, of_row);
      }
      total = wrapping_sum(total, of_example);
    }
    return total;
  }
};

/// Adds up, window by window; if Chosen, only the elements at the positions in operand 1. A lane takes a channel of an
/// image, since windows overlap.
template <class C, int E, bool Chosen>
struct team_window_adder {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    using of = run::detail::pooled<C, E>;
    if constexpr (of::axes > 2) {
      if (team.lane() == 0) run::detail::window_adder<C, E, Chosen>::run(f);
    } else if constexpr (of::channels > 0) {
      using T = element_of<C, of::to>;
      const T* const x = elements<const T, C, of::from>(f);
      T* const y = elements<T, C, of::to>(f);
      fill(team, y, C::values[of::to].shape.size(), T{});
      team.barrier();
      for_each(team, of::images * of::channels, [&](std::int64_t i) {
        const std::int64_t c = i % of::channels;
        of::for_each_of_image(i / of::channels, [&](std::int64_t in, std::int64_t out, [[maybe_unused]] int position) {
          const T from = x[(of::transposed ? out : in) + c];
          T& to = y[(of::transposed ? in : out) + c];
          if constexpr (Chosen)
            to = wrapping_sum(to,
                              elements<const std::int32_t, C, C::operand(E, 1)>(f)[out + c] == position ? from : T(0));
          else
            to = wrapping_sum(to, from);
        });
      });
    }
  }
};
template <class C, int E>
struct team_kernel<C, E, &prim::window_sum> : team_window_adder<C, E, false> {};
template <class C, int E>
struct team_kernel<C, E, &prim::window_select> : team_window_adder<C, E, true> {};

}  // namespace drx::device
