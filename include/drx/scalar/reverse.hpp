// drx/scalar/reverse.hpp: variables whose operations are recorded on a local tape: reverse differentiation of ordinary
// code.
#pragma once

#include <drx/scalar/dual.hpp>
#include <drx/scalar/recording.hpp>

#include <bit>
#include <cstddef>

namespace drx::ad {

/// A value, and its number on a recording, whose address it carries: there is no global tape. A var without a tape is a
/// constant, and operations on constants are not recorded. T is float, double, a pack, a dual (derivatives of the
/// gradient in directions) or again a var.
template <class T>
struct var {
  static_assert(Number<T> && !std::is_integral_v<T>, "drx::ad::var<T>: T is float, double, a pack, a dual or a var");
  using value_type = T;

  T value{};
  recording<T>* tape = nullptr;
  std::uint32_t index = 0;

  constexpr var() = default;
  template <class U>
    requires(Number<U> && level<U> <= level<T> && std::is_constructible_v<T, U>)
  DRX_FN constexpr var(const U& constant) : value(static_cast<T>(constant)) {}
  DRX_FN constexpr var(const T& y, recording<T>* on, std::uint32_t number) : value(y), tape(on), index(number) {}

  template <class Why = error::a_drx_scalar_is_not_converted_to_a_plain_number>
  operator double() const = delete;  // drx: call exp(x), not std::exp(x); a comparison or x.value gives the plain number
};

// A partial derivative of type int is 1 or -1: that of a sum, a difference, a change of sign.
// clang-format off
template <class T, class P>
DRX_FN constexpr var<T> chain(const var<T>& x, const std::type_identity_t<T>& y, const P& p) {
  if (!x.tape) return var<T>(y);
  if constexpr (std::is_same_v<P, int>) {
    return {y, x.tape, x.tape->push_signed(x.index, p)};
  } else {
    return {y, x.tape, x.tape->push(x.index, static_cast<T>(p))};
  }
}
template <class T, class P, class Q>
DRX_FN constexpr var<T> chain(const var<T>& a, const var<T>& b, const std::type_identity_t<T>& y, const P& p, const Q& q) {
  if (!b.tape) return chain(a, y, p);
  if (!a.tape) return chain(b, y, q);
  if constexpr (std::is_same_v<Q, int>) {
    return {y, a.tape, a.tape->push_sum(a.index, b.index, q)};
  } else {
    return {y, a.tape, a.tape->push(a.index, b.index, static_cast<T>(p), static_cast<T>(q))};
  }
}
template <class T>
DRX_FN constexpr var<T> chain(const var<T>& a, const var<T>& b, const var<T>& c, const std::type_identity_t<T>& y, const T& p, const T& q, const T& r) {
  if (!a.tape) return chain(b, c, y, q, r);
  if (!b.tape) return chain(a, c, y, p, r);
  if (!c.tape) return chain(a, b, y, p, q);
  return {y, a.tape, a.tape->push(a.index, b.index, c.index, p, q, r)};
}
template <class T, class P>
DRX_FN constexpr var<T> strict_chain(const var<T>& x, const std::type_identity_t<T>& y, const P& p) { return chain(x, y, p); }
template <class T, class P, class Q>
DRX_FN constexpr var<T> strict_chain(const var<T>& a, const var<T>& b, const std::type_identity_t<T>& y, const P& p, const Q& q) { return chain(a, b, y, p, q); }
// clang-format on
/// The sum of the lanes of x, in all lanes.
template <class T>
DRX_FN constexpr var<T> sum_of_lanes(const var<T>& x) {
  if constexpr (lane_count<T> == 1) {
    return x;
  } else {
    const T y(sum_of_lanes(x.value));
    return x.tape ? var<T>(y, x.tape, x.tape->push_sum_of_lanes(x.index)) : var<T>(y);
  }
}
template <class Mask, class T>
DRX_FN constexpr var<T> select_lanes(const Mask& mask, const var<T>& a, const var<T>& b) {
  const T one(1), zero(0);
  return chain(a, b, select(mask, a.value, b.value), select(mask, one, zero), select(mask, zero, one));
}

/// A new variable on a recording: an input, of which only the value is known.
template <class T>
DRX_FN var<T> variable(recording<T>& on, const std::type_identity_t<T>& x) {
  return {x, &on, on.leaf()};
}
/// The cotangent of x on its recording; 0 for a constant.
template <class T>
DRX_FN T cotangent(const var<T>& x) {
  return x.tape ? x.tape->cotangent(x.index) : T{};
}
/// Adds g to the cotangent of x; does nothing for a constant.
template <class T>
DRX_FN void add_cotangent(const var<T>& x, const std::type_identity_t<T>& g) {
  if (x.tape) x.tape->cotangent(x.index) += g;
}

namespace detail {

// Many variables side by side are written and read word by word: loops over words are vectorised, those over structs
// are not.
typedef std::uint64_t __attribute__((may_alias)) word;
template <class T>
inline constexpr bool of_three_words =
    std::endian::native == std::endian::little && std::is_same_v<T, double> && sizeof(var<T>) == 3 * sizeof(word) &&
    offsetof(var<double>, tape) == sizeof(word) && offsetof(var<double>, index) == 2 * sizeof(word);

/// Makes the variables first, ..., first + n - 1 of a recording, with the values x.
template <class T>
DRX_FN void make_variables(var<T>* to, const T* x, std::size_t n, recording<T>* tape, std::uint32_t first) {
  if constexpr (of_three_words<T>) {
    auto* const words = reinterpret_cast<word*>(to);
    const auto* const values = reinterpret_cast<const word*>(x);
    for (std::size_t i = 0; i < n; ++i) {
      words[3 * i] = values[i];
      words[3 * i + 1] = reinterpret_cast<word>(tape);
      words[3 * i + 2] = first + i;
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) std::construct_at(to + i, x[i], tape, first + static_cast<std::uint32_t>(i));
  }
}
/// Copies the values of n variables. Returns true if they are numbered one after the other on the recording of the
/// first.
template <class T>
DRX_FN bool values_in_order(T* to, const var<T>* x, std::size_t n) {
  word others = 0;
  if constexpr (of_three_words<T>) {
    const auto* const words = reinterpret_cast<const word*>(x);
    auto* const values = reinterpret_cast<word*>(to);
    const word tape = words[1], first = x->index;
    for (std::size_t i = 0; i < n; ++i) {
      values[i] = words[3 * i];
      others |= (words[3 * i + 1] ^ tape) |
                ((words[3 * i + 2] ^ (first + i)) & ~std::uint32_t{0});  // the upper half is unused
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      std::construct_at(to + i, x[i].value);
      others |= static_cast<word>(x[i].index ^ (x->index + static_cast<std::uint32_t>(i))) | (x[i].tape != x->tape);
    }
  }
  return others == 0;
}

}  // namespace detail

/// A recording with its memory inside, for the stack for instance: room for Capacity statements.
template <class T, std::size_t Capacity>
class local_tape : public recording<T> {
 public:
  DRX_FN local_tape() : recording<T>(std::span<std::byte>(memory_, sizeof(memory_))) {}

 private:
  alignas(T) std::byte memory_[recording<T>::bytes_for(Capacity)];
};

}  // namespace drx::ad
