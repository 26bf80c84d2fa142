// drx/scalar/pack.hpp: packs of W numbers that one instruction computes. With them, code without branches on values
// runs W elements at once; dual<pack> and var<pack> differentiate such code.
#pragma once

#include <drx/scalar/arithmetic.hpp>
#include <drx/scalar/lanes.hpp>
#include <drx/scalar/math.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace drx::ad {

/// The result of comparing packs: true or false in each lane.
template <class T, int W>
struct mask {
  using lane = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;  // 0 or -1
  typedef lane native __attribute__((vector_size(sizeof(T) * static_cast<std::size_t>(W))));
  native lanes;

  [[nodiscard]] bool operator[](int i) const { return lanes[i] != 0; }
  friend mask operator&&(const mask& a, const mask& b) { return {a.lanes & b.lanes}; }
  friend mask operator||(const mask& a, const mask& b) { return {a.lanes | b.lanes}; }
  friend mask operator!(const mask& a) { return {~a.lanes}; }
  friend mask operator&(const mask& a, const mask& b) { return {a.lanes & b.lanes}; }
  friend mask operator|(const mask& a, const mask& b) { return {a.lanes | b.lanes}; }
  template <class Why = error::branch_on_a_pack>
  explicit operator bool() const = delete;  // drx: lanes may differ: use drx::ad::select(condition, a, b), any_lane or all_lanes, or one lane (without packs)
};
template <class T, int W>
bool any_lane(const mask<T, W>& m) {
  typename mask<T, W>::lane any = 0;
  for (int i = 0; i < W; ++i) any |= m.lanes[i];
  return any != 0;
}
template <class T, int W>
bool no_lane(const mask<T, W>& m) {
  return !any_lane(m);
}
template <class T, int W>
bool all_lanes(const mask<T, W>& m) {
  return !any_lane(!m);
}
inline bool any_lane(bool b) { return b; }
inline bool all_lanes(bool b) { return b; }

/// W numbers of type float or double, W a power of two.
template <class T, int W>
struct pack {
  static_assert(std::is_floating_point_v<T>, "drx::ad::pack<T, W>: T is float or double");
  static_assert(W > 0 && (W & (W - 1)) == 0, "drx::ad::pack<T, W>: W is a power of two");
  using value_type = T;
  static constexpr int width = W;
  typedef T native __attribute__((vector_size(sizeof(T) * static_cast<std::size_t>(W))));
  native lanes{};

  pack() = default;
  pack(const native& n) : lanes(n) {}
  /// The same number in all lanes.
  template <class U>
    requires std::is_arithmetic_v<U>
  pack(U x) : lanes(static_cast<T>(x) - native{}) {}
  static pack load(const T* from) {
    pack p;
    __builtin_memcpy(&p.lanes, from, sizeof(native));
    return p;
  }
  /// A pack of the first n lanes from memory; the others are zero.
  static pack load(const T* from, int n) {
    T lane[static_cast<std::size_t>(W)]{};
    for (int i = 0; i < n && i < W; ++i) lane[i] = from[i];
    return load(lane);
  }
  void store(T* to) const { __builtin_memcpy(to, &lanes, sizeof(native)); }
  void store(T* to, int n) const {
    for (int i = 0; i < n && i < W; ++i) to[i] = lanes[i];
  }
  [[nodiscard]] T operator[](int i) const { return lanes[i]; }
  void set(int i, T x) { lanes[i] = x; }

  template <class Why = error::a_drx_scalar_is_not_converted_to_a_plain_number>
  operator double() const = delete;  // drx: call exp(x), not std::exp(x); p[i] gives one lane

  // clang-format off
#define DRX_LANES(R, op)                                                                                                    \
  friend R operator op(const pack& a, const pack& b) { return {a.lanes op b.lanes}; }                                       \
  template <class B> requires std::is_arithmetic_v<B> friend R operator op(const pack& a, B b) { return a op pack(b); }     \
  template <class B> requires std::is_arithmetic_v<B> friend R operator op(B a, const pack& b) { return pack(a) op b; }
  using truth = mask<T, W>;
  DRX_LANES(pack, +) DRX_LANES(pack, -) DRX_LANES(pack, *) DRX_LANES(pack, /)
  DRX_LANES(truth, <) DRX_LANES(truth, <=) DRX_LANES(truth, >) DRX_LANES(truth, >=) DRX_LANES(truth, ==) DRX_LANES(truth, !=)
#undef DRX_LANES
  friend pack operator+(const pack& a) { return a; }
  friend pack operator-(const pack& a) { return {-a.lanes}; }
  friend pack& operator+=(pack& a, const pack& b) { a.lanes += b.lanes; return a; }
  friend pack& operator-=(pack& a, const pack& b) { a.lanes -= b.lanes; return a; }
  friend pack& operator*=(pack& a, const pack& b) { a.lanes *= b.lanes; return a; }
  friend pack& operator/=(pack& a, const pack& b) { a.lanes /= b.lanes; return a; }
  // clang-format on
};

/// a in the lanes where the mask is true, b in the others.
template <class T, int W>
pack<T, W> select(const mask<T, W>& m, const pack<T, W>& a, const pack<T, W>& b) {
  using N = typename mask<T, W>::native;
  const N chosen = ((N)a.lanes & m.lanes) | ((N)b.lanes & ~m.lanes);  // casts of vectors keep the bits
  return {(typename pack<T, W>::native)chosen};
}
template <class T, int W, class B>
  requires std::is_arithmetic_v<B>
pack<T, W> select(const mask<T, W>& m, const pack<T, W>& a, B b) {
  return select(m, a, pack<T, W>(b));
}
template <class T, int W, class B>
  requires std::is_arithmetic_v<B>
pack<T, W> select(const mask<T, W>& m, B a, const pack<T, W>& b) {
  return select(m, pack<T, W>(a), b);
}

/// The sum of the lanes of a pack, one number, in a fixed order.
template <class T, int W>
T sum_of_lanes(const pack<T, W>& p) {
  T lane[static_cast<std::size_t>(W)];
  p.store(lane);
  for (int width = W / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lane[i] += lane[i + width];
  return lane[0];
}
template <class T>
  requires std::is_floating_point_v<T>
DRX_FN constexpr T sum_of_lanes(T x) {
  return x;
}

/// Rows of N numbers side by side in packs: (N + W - 1) / W packs for each row, zero in the lanes beyond.
template <int W, std::size_t N, class T, std::size_t Size>
auto pack_rows(const std::array<T, Size>& x) {
  static_assert(Size % N == 0, "drx::ad::pack_rows<W, N>: of rows of N numbers");
  constexpr std::size_t width = static_cast<std::size_t>(W), packs = (N + width - 1) / width;
  std::array<pack<T, W>, Size / N * packs> r;
  for (std::size_t i = 0; i < r.size(); ++i) {
    const std::size_t first = i % packs * width;
    r[i] = pack<T, W>::load(x.data() + i / packs * N + first, static_cast<int>(N - first));
  }
  return r;
}
/// Writes the numbers of such rows to x.
template <std::size_t N, class T, std::size_t Size, int W, std::size_t Packs>
void unpack_rows(std::array<T, Size>& x, const std::array<pack<T, W>, Packs>& rows) {
  constexpr std::size_t width = static_cast<std::size_t>(W), packs = (N + width - 1) / width;
  static_assert(Size % N == 0 && Size / N * packs == Packs,
                "drx::ad::unpack_rows<N>: as many rows of N numbers as there are rows of packs");
  for (std::size_t i = 0; i < Packs; ++i) {
    const std::size_t first = i % packs * width;
    rows[i].store(x.data() + i / packs * N + first, static_cast<int>(N - first));
  }
}

namespace detail {
/// f of each lane. The loop vectorises if f has neither branches nor calls, like the functions of drx/scalar/math.hpp.
template <class T, int W, class F>
__attribute__((always_inline)) inline pack<T, W> lanewise(const pack<T, W>& x, F f) {
  T lane[static_cast<std::size_t>(W)];
  x.store(lane);
#if !defined(__clang__)
#pragma GCC ivdep
#endif
  for (int i = 0; i < W; ++i) lane[i] = f(lane[i]);
  return pack<T, W>::load(lane);
}
template <class T, int W, class F>
pack<T, W> lanewise(const pack<T, W>& x, const pack<T, W>& y, F f) {
  pack<T, W> r;
  for (int i = 0; i < W; ++i) r.set(i, f(x[i], y[i]));
  return r;
}
}  // namespace detail

// The vectorised functions.
#define DRX_LANEWISE(name)                                              \
  template <class T, int W>                                             \
  pack<T, W> name(const pack<T, W>& x) {                                \
    return detail::lanewise(x, [](T v) { return drx::math::name(v); }); \
  }
DRX_LANEWISE(exp)
DRX_LANEWISE(exp2)
DRX_LANEWISE(expm1)
DRX_LANEWISE(log)
DRX_LANEWISE(log1p)
DRX_LANEWISE(tanh)
DRX_LANEWISE(sigmoid)
DRX_LANEWISE(abs)
DRX_LANEWISE(sqrt)
DRX_LANEWISE(floor)
DRX_LANEWISE(ceil)
DRX_LANEWISE(trunc)
#undef DRX_LANEWISE
// libm's functions, one lane after the other; for sin and cos this holds only if a lane is too large for those of
// drx/scalar/math.hpp.
#define DRX_LANEWISE(name)                                        \
  template <class T, int W>                                       \
  pack<T, W> name(const pack<T, W>& x) {                          \
    return detail::lanewise(x, [](T v) { return std::name(v); }); \
  }
DRX_LANEWISE(log2)
DRX_LANEWISE(log10)
DRX_LANEWISE(cbrt)
DRX_LANEWISE(tan)
DRX_LANEWISE(asin)
DRX_LANEWISE(acos)
DRX_LANEWISE(atan)
DRX_LANEWISE(sinh)
DRX_LANEWISE(cosh)
DRX_LANEWISE(asinh)
DRX_LANEWISE(acosh)
DRX_LANEWISE(atanh)
DRX_LANEWISE(erf)
DRX_LANEWISE(erfc)
DRX_LANEWISE(lgamma)
DRX_LANEWISE(round)
DRX_LANEWISE(rint)
DRX_LANEWISE(nearbyint)
#undef DRX_LANEWISE
#define DRX_LANEWISE(name)                                              \
  template <class T, int W>                                             \
  pack<T, W> name(const pack<T, W>& x) {                                \
    if (any_lane(abs(x) > pack<T, W>(drx::math::sin_limit)))            \
      return detail::lanewise(x, [](T v) { return std::name(v); });     \
    return detail::lanewise(x, [](T v) { return drx::math::name(v); }); \
  }
DRX_LANEWISE(sin)
DRX_LANEWISE(cos)
#undef DRX_LANEWISE
#define DRX_LANEWISE(name)                                                   \
  template <class T, int W>                                                  \
  pack<T, W> name(const pack<T, W>& x, const pack<T, W>& y) {                \
    return detail::lanewise(x, y, [](T a, T b) { return std::name(a, b); }); \
  }                                                                          \
  template <class T, int W, class B>                                         \
    requires std::is_arithmetic_v<B>                                         \
  pack<T, W> name(const pack<T, W>& x, B y) {                                \
    return name(x, pack<T, W>(y));                                           \
  }                                                                          \
  template <class T, int W, class B>                                         \
    requires std::is_arithmetic_v<B>                                         \
  pack<T, W> name(B x, const pack<T, W>& y) {                                \
    return name(pack<T, W>(x), y);                                           \
  }
DRX_LANEWISE(pow)
DRX_LANEWISE(atan2)
DRX_LANEWISE(hypot)
DRX_LANEWISE(fmod)
#undef DRX_LANEWISE
template <class T, int W>
pack<T, W> max(const pack<T, W>& a, const pack<T, W>& b) {
  return select(a > b || a != a, a, b);
}
template <class T, int W>
pack<T, W> min(const pack<T, W>& a, const pack<T, W>& b) {
  return select(a < b || a != a, a, b);
}
template <class T, int W, class B>
  requires std::is_arithmetic_v<B>
pack<T, W> max(const pack<T, W>& a, B b) {
  return max(a, pack<T, W>(b));
}
template <class T, int W, class B>
  requires std::is_arithmetic_v<B>
pack<T, W> min(const pack<T, W>& a, B b) {
  return min(a, pack<T, W>(b));
}
template <class T, int W, class B>
  requires std::is_arithmetic_v<B>
pack<T, W> max(B a, const pack<T, W>& b) {
  return max(pack<T, W>(a), b);
}
template <class T, int W, class B>
  requires std::is_arithmetic_v<B>
pack<T, W> min(B a, const pack<T, W>& b) {
  return min(pack<T, W>(a), b);
}

template <class T, int W>
DRX_FN auto isnan(const pack<T, W>& x) {
  return x != x;
}
template <class T, int W>
DRX_FN auto isfinite(const pack<T, W>& x) {
  return x - x == pack<T, W>(0);
}

}  // namespace drx::ad
