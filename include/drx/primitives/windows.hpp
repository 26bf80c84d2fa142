// drx/primitives/windows.hpp: the options for windows that move over the spatial axes of an array, in convolutions and
// pooling: each has one number per spatial axis.
#pragma once

#include <drx/primitives/declarations.hpp>
#include <drx/primitives/pad.hpp>

namespace drx {

/// The extents of a window, for pooling.
template <std::int64_t... N>
struct window {
  static_assert(((N >= 1) && ...), "drx::window: the extents must be positive");
};
/// The distance of a window's places for neighbouring results.
template <std::int64_t... N>
struct strides {
  static_assert(((N >= 1) && ...), "drx::strides: must be positive");
};
/// The distance of the elements that a kernel's taps meet.
template <std::int64_t... N>
struct dilations {
  static_assert(((N >= 1) && ...), "drx::dilations: must be positive");
};
/// The distance between the input's elements, with zeros between them: the strides of the transposed convolution.
template <std::int64_t... N>
struct input_dilations {
  static_assert(((N >= 1) && ...), "drx::input_dilations: must be positive");
};
/// Pads so that the result's extents are those of the input, divided by the strides and rounded up; if the padding is
/// odd, the larger half comes after.
struct same {};

namespace detail {
/// The values of the option Option<...> among O..., or all ones.
template <template <std::int64_t...> class Option>
struct window_values {
  int given = 0;
  std::int64_t values[shape::max_rank] = {1, 1, 1, 1, 1, 1, 1, 1};
  template <class O>
  constexpr void read(O) {}
  template <std::int64_t... N>
  constexpr void read(Option<N...>) {
    given = static_cast<int>(sizeof...(N));
    int i = 0;
    ((values[i++] = N), ...);
  }
};
template <class O>
inline constexpr bool is_window_option = is_padding<O> || std::is_same_v<O, same>;
template <std::int64_t... N>
inline constexpr bool is_window_option<window<N...>> = true;
template <std::int64_t... N>
inline constexpr bool is_window_option<strides<N...>> = true;
template <std::int64_t... N>
inline constexpr bool is_window_option<dilations<N...>> = true;
template <std::int64_t... N>
inline constexpr bool is_window_option<input_dilations<N...>> = true;

/// Options O... for D spatial axes; `size` is the extent of the input and `reach` that of the window.
template <int D, class... O>
struct windows {
  template <template <std::int64_t...> class Option>
  static constexpr window_values<Option> option() {
    window_values<Option> v;
    (v.read(O{}), ...);
    return v;
  }
  static constexpr auto stride = option<strides>();
  static constexpr auto kernel_dilation = option<dilations>();
  static constexpr auto input_dilation = option<input_dilations>();
  static constexpr bool is_same = (std::is_same_v<O, same> || ...);
  static constexpr int paddings = (0 + ... + (is_padding<O> ? 1 : 0));
  static constexpr auto given_padding = [] {
    struct {
      std::int64_t low[sizeof...(O) + D + 1] = {}, high[sizeof...(O) + D + 1] = {};
      bool spread = false;
    } p;
    [[maybe_unused]] int i = 0;
    [[maybe_unused]] const auto read = [&]<class X>(X) {
      if constexpr (is_padding<X>) {
        p.low[i] = X::low;
        p.high[i++] = X::high;
        p.spread = p.spread || X::interior != 0;
      }
    };
    (read(O{}), ...);
    return p;
  }();
  /// Whether each option has D numbers, and there is at most one kind of padding.
  static constexpr bool complete = [] {
    const int given[] = {stride.given, kernel_dilation.given, input_dilation.given, paddings};
    for (int n : given)
      if (n != 0 && n != D) return false;
    return !(is_same && paddings != 0) && !given_padding.spread;
  }();
  static constexpr std::int64_t covered(std::int64_t n, std::int64_t dilation) {
    return n == 0 ? 0 : (n - 1) * dilation + 1;
  }
  static constexpr std::int64_t total_same(int i, std::int64_t size, std::int64_t reach) {
    const std::int64_t s = stride.values[i], in = covered(size, input_dilation.values[i]), out = (in + s - 1) / s;
    const std::int64_t n = (out - 1) * s + covered(reach, kernel_dilation.values[i]) - in;
    return n > 0 ? n : 0;
  }
  static constexpr std::int64_t low(int i, std::int64_t size, std::int64_t reach) {
    return is_same ? total_same(i, size, reach) / 2 : given_padding.low[i];
  }
  static constexpr std::int64_t high(int i, std::int64_t size, std::int64_t reach) {
    return is_same ? total_same(i, size, reach) - low(i, size, reach) : given_padding.high[i];
  }
  /// The number of results along axis i; negative if the window does not fit.
  static constexpr std::int64_t count(int i, std::int64_t size, std::int64_t reach) {
    const std::int64_t room = covered(size, input_dilation.values[i]) + low(i, size, reach) + high(i, size, reach) -
                              covered(reach, kernel_dilation.values[i]);
    return room < 0 ? -1 : room / stride.values[i] + 1;
  }
};
}  // namespace detail
}  // namespace drx
