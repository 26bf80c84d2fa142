// drx/scalar/lanes.hpp: arithmetic on the tangents of a dual number, as many at once as one instruction computes. A
// plain loop over them is vectorised too late: the compiler then keeps each tangent of each intermediate result in
// memory.
#pragma once

#include <drx/scalar/number.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace drx::ad {

/// The widest pack that one instruction of the target computes.
template <class T>
inline constexpr int native_width =
#if defined(__AVX512F__)
    64 / sizeof(T);
#elif defined(__AVX__)
    32 / sizeof(T);
#else
    16 / sizeof(T);
#endif

namespace detail {

/// The number of tangents of N that are computed at once, and the number stored for that.
template <class T, int N>
inline constexpr int tangent_lanes = 1;
template <class T, int N>
  requires std::is_floating_point_v<T>
inline constexpr int tangent_lanes<T, N> =
    N < native_width<T> ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(N))) : native_width<T>;
template <class T, int N>
inline constexpr std::size_t stored_tangents =
    static_cast<std::size_t>((N + tangent_lanes<T, N> - 1) / tangent_lanes<T, N> * tangent_lanes<T, N>);

/// y[i] = f(x[i]...) for all i. f takes a T, or lanes of them: a vector of the compiler. All of it is inlined by force.
/// In a large file the compiler would not inline it by itself, and each result would pass through memory.
template <int Lanes, class T, std::size_t N, class F, class... X>
DRX_INLINE constexpr void for_lanes(T (&y)[N], F f, const X (&... x)[N]) {
#if !defined(__CUDACC__) && !defined(__HIPCC__)
  if constexpr (Lanes > 1) {
    if (!std::is_constant_evaluated()) {
      typedef T native __attribute__((vector_size(sizeof(T) * static_cast<std::size_t>(Lanes))));
      const auto load = [](const T* from) __attribute__((always_inline)) {
        native v;
        __builtin_memcpy(&v, from, sizeof(v));
        return v;
      };
      [&]<std::size_t... Chunk>(std::index_sequence<Chunk...>) __attribute__((always_inline)) {
        const auto at = [&](std::size_t first) __attribute__((always_inline)) {
          const native v = f(load(x + first)...);
          __builtin_memcpy(y + first, &v, sizeof(v));
        };
        (at(Chunk * static_cast<std::size_t>(Lanes)), ...);
      }(std::make_index_sequence<N / static_cast<std::size_t>(Lanes)>{});
      return;
    }
  }
#endif
  for (std::size_t i = 0; i < N; ++i) y[i] = f(x[i]...);
}

/// y[i] = one, and zero elsewhere.
template <int Lanes, class T, std::size_t N>
DRX_FN constexpr void unit_tangent(T (&y)[N], int i, const T& one) {
#if defined(__AVX__) && !defined(__CUDACC__) && \
    !defined(__HIPCC__)  // without AVX g++ 12 stops at this comparison with an internal error
  if constexpr (Lanes > 1) {
    if (!std::is_constant_evaluated()) {  // in the pieces in which they are read: a load from two stores waits for both
      using integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
      typedef integer places __attribute__((vector_size(sizeof(T) * static_cast<std::size_t>(Lanes))));
      places here;
      for (int k = 0; k < Lanes; ++k) here[k] = k;
      for (std::size_t first = 0; first < N; first += static_cast<std::size_t>(Lanes)) {
        const places lanes = (here == static_cast<integer>(i) - static_cast<integer>(first)) &
                             (places{} + __builtin_bit_cast(integer, one));
        __builtin_memcpy(y + first, &lanes, sizeof(lanes));
      }
      return;
    }
  }
#endif
  y[i] = one;
}

/// t * p for lanes of tangents; zero in the lanes where t is zero, whatever p is.
template <class V, class T>
DRX_INLINE constexpr V lanes_times(const V& t, const T& p) {
  using mask = decltype(t == 0);
  return (V)(~(t == 0) & (mask)(t * p));  // casts of vectors keep the bits
}

}  // namespace detail
}  // namespace drx::ad
