// drx/scalar/arithmetic.hpp: operators and functions of numbers that carry derivatives. Each computes the value and the
// partial derivatives and hands them to `chain`. dual and var define that as the chain rule, applied forward or
// recorded.
//
// Kinks and edges are the same in both modes: max and min share the derivative between equal arguments; abs'(0) = 0;
// piecewise constant functions have derivative 0. A tangent or cotangent that is zero stays zero where a partial
// derivative is infinite, so that y * sqrt(x) at x = 0 has a derivative by y.
#pragma once

#include <drx/scalar/derivatives.hpp>

#include <compare>
#include <iosfwd>

namespace drx::ad {

namespace detail {

/// t * p; zero where t is, whatever p is.
template <class T, class P>
DRX_FN constexpr T times(const T& t, const P& p) {
  if constexpr (Active<T>) {
    if constexpr (level<P> < level<T>) {
      return chain(t, times(t.value, p), p);
    } else {
      return chain(t, p, times(t.value, p.value), p.value, t.value);
    }
  } else {
    return select(t == 0, T(0), static_cast<T>(t * p));
  }
}
/// t * p, where p may be a plain number of any type.
template <class T, class P>
DRX_FN constexpr T scaled(const T& t, const P& p) {
  return t * lowered<T>(p);
}

}  // namespace detail

// clang-format off
template <Active A> DRX_INLINE constexpr A operator+(const A& a, const A& b) { return chain(a, b, a.value + b.value, 1, 1); }
template <Active A, Below<A> B> DRX_INLINE constexpr A operator+(const A& a, const B& b) { return chain(a, a.value + detail::lowered<A>(b), 1); }
template <Active A, Below<A> B> DRX_INLINE constexpr A operator+(const B& b, const A& a) { return chain(a, detail::lowered<A>(b) + a.value, 1); }

template <Active A> DRX_INLINE constexpr A operator-(const A& a, const A& b) { return chain(a, b, a.value - b.value, 1, -1); }
template <Active A, Below<A> B> DRX_INLINE constexpr A operator-(const A& a, const B& b) { return chain(a, a.value - detail::lowered<A>(b), 1); }
template <Active A, Below<A> B> DRX_INLINE constexpr A operator-(const B& b, const A& a) { return chain(a, detail::lowered<A>(b) - a.value, -1); }

template <Active A> DRX_INLINE constexpr A operator*(const A& a, const A& b) { return chain(a, b, a.value * b.value, b.value, a.value); }
template <Active A, Below<A> B> DRX_INLINE constexpr A operator*(const A& a, const B& b) { return chain(a, a.value * detail::lowered<A>(b), detail::lowered<A>(b)); }
template <Active A, Below<A> B> DRX_INLINE constexpr A operator*(const B& b, const A& a) { return chain(a, detail::lowered<A>(b) * a.value, detail::lowered<A>(b)); }

template <Active A> DRX_FN constexpr A operator/(const A& a, const A& b) {
  const auto inverse = 1 / b.value;
  const auto y = a.value / b.value;
  return chain(a, b, y, inverse, -y * inverse);
}
template <Active A, Below<A> B> DRX_FN constexpr A operator/(const A& a, const B& b) { return chain(a, a.value / detail::lowered<A>(b), 1 / detail::lowered<A>(b)); }
template <Active A, Below<A> B> DRX_FN constexpr A operator/(const B& b, const A& a) {
  const auto y = detail::lowered<A>(b) / a.value;
  return chain(a, y, -y / a.value);
}

template <Active A> DRX_INLINE constexpr A operator+(const A& a) { return a; }
template <Active A> DRX_INLINE constexpr A operator-(const A& a) { return chain(a, -a.value, -1); }

template <Active A, class B> requires(std::same_as<A, B> || Below<B, A>) DRX_INLINE constexpr A& operator+=(A& a, const B& b) { return a = a + b; }
template <Active A, class B> requires(std::same_as<A, B> || Below<B, A>) DRX_INLINE constexpr A& operator-=(A& a, const B& b) { return a = a - b; }
template <Active A, class B> requires(std::same_as<A, B> || Below<B, A>) DRX_INLINE constexpr A& operator*=(A& a, const B& b) { return a = a * b; }
template <Active A, class B> requires(std::same_as<A, B> || Below<B, A>) DRX_FN constexpr A& operator/=(A& a, const B& b) { return a = a / b; }

// Comparisons look at values only. (They are in parentheses, since g++ 12 takes `a.value <` for the start of the
// template arguments of drx::value.)
#define DRX_COMPARISON(op) \
  template <Active A> DRX_FN constexpr auto operator op(const A& a, const A& b) { return (a.value)op(b.value); } \
  template <Active A, Below<A> B> DRX_FN constexpr auto operator op(const A& a, const B& b) { return (a.value)op(detail::lowered<A>(b)); } \
  template <Active A, Below<A> B> DRX_FN constexpr auto operator op(const B& b, const A& a) { return (detail::lowered<A>(b))op(a.value); }
DRX_COMPARISON(<) DRX_COMPARISON(<=) DRX_COMPARISON(>) DRX_COMPARISON(>=) DRX_COMPARISON(==) DRX_COMPARISON(!=)
#undef DRX_COMPARISON

namespace detail {
/// Misuse: two scalars that carry one derivative each, but different ones; neither can be the constant.
template <class A, class B>
concept Foreign = Active<A> && Active<B> && level<A> == level<B> && !std::same_as<A, B>;
}  // namespace detail
#define DRX_FOREIGN(op) \
  template <class A, class B, class Why = error::scalars_of_one_level_but_two_types_do_not_mix> requires detail::Foreign<A, B> \
  A operator op(const A&, const B&) = delete;  // drx: take the inner derivative with drx::ad::derivative, which chooses a level above all that its function sees
DRX_FOREIGN(+) DRX_FOREIGN(-) DRX_FOREIGN(*) DRX_FOREIGN(/)
#undef DRX_FOREIGN
// clang-format on

// The functions of the table.
namespace detail {
template <class Row, class A>
DRX_FN constexpr A elementary(const A& x) {
  const auto y = Row::value(x.value);
  return strict_chain(x, y, Row::partial(x.value, y));
}
}  // namespace detail
#define DRX_ACTIVE(name, ...)                       \
  template <Active A>                               \
  DRX_FN constexpr A name(const A& x) {             \
    return detail::elementary<rows::name##_row>(x); \
  }
DRX_ELEMENTARY_TABLE(DRX_ACTIVE)
#undef DRX_ACTIVE
#define DRX_ACTIVE_STEP(name)           \
  template <Active A>                   \
  DRX_FN constexpr A name(const A& x) { \
    return A(name(x.value));            \
  }
DRX_STEP_TABLE(DRX_ACTIVE_STEP)
#undef DRX_ACTIVE_STEP
/// abs, under its name in <cmath>.
template <class X>
  requires Number<X>
DRX_FN constexpr auto fabs(const X& x) {
  return abs(x);
}

// Functions of two arguments, for equal types and for a constant on either side.
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
DRX_FN constexpr auto pow(A a, B b) {
  return std::pow(a, b);
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
DRX_FN constexpr auto atan2(A a, B b) {
  return std::atan2(a, b);
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
DRX_FN constexpr auto hypot(A a, B b) {
  return std::hypot(a, b);
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
DRX_FN constexpr auto fmod(A a, B b) {
  return std::fmod(a, b);
}

namespace detail {
struct pow_rule {
  template <class A, class B>
  DRX_FN static constexpr auto value(const A& x, const B& y) {
    return pow(x, y);
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto first(const A& x, const B& y, const Z&) {
    using T = std::remove_cvref_t<decltype(y * pow(x, y - 1))>;
    if constexpr (std::is_arithmetic_v<B>) {
      if (y == 0) return T(0);  // x^0 is 1, also at 0, where x^-1 is infinite
    }
    return T(y * pow(x, y - 1));
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto second(const A& x, const B&, const Z& z) {
    using T = std::remove_cvref_t<decltype(z * log(x))>;
    return select(value_of(value_of(x)) == 0, T(0), T(z * log(select(value_of(value_of(x)) == 0, A(1), A(x)))));
  }
};
struct atan2_rule {
  template <class A, class B>
  DRX_FN static constexpr auto value(const A& y, const B& x) {
    return atan2(y, x);
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto first(const A& y, const B& x, const Z&) {
    return x / (x * x + y * y);
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto second(const A& y, const B& x, const Z&) {
    return -y / (x * x + y * y);
  }
};
struct hypot_rule {
  template <class A, class B>
  DRX_FN static constexpr auto value(const A& x, const B& y) {
    return hypot(x, y);
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto first(const A& x, const B&, const Z& z) {
    return x / z;
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto second(const A&, const B& y, const Z& z) {
    return y / z;
  }
};
struct fmod_rule {
  template <class A, class B>
  DRX_FN static constexpr auto value(const A& x, const B& y) {
    return fmod(x, y);
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto first(const A&, const B&, const Z&) {
    return std::remove_cvref_t<Z>(1);
  }
  template <class A, class B, class Z>
  DRX_FN static constexpr auto second(const A& x, const B& y, const Z&) {
    return -trunc(x / y);
  }
};
template <class Rule, Active A>
DRX_FN constexpr A apply2(const A& a, const A& b) {
  const auto z = Rule::value(a.value, b.value);
  return strict_chain(a, b, z, Rule::first(a.value, b.value, z), Rule::second(a.value, b.value, z));
}
template <class Rule, Active A, Below<A> B>
DRX_FN constexpr A apply2(const A& a, const B& b) {
  const auto c = lowered<A>(b);
  const auto z = Rule::value(a.value, c);
  return strict_chain(a, z, Rule::first(a.value, c, z));
}
template <class Rule, Active A, Below<A> B>
DRX_FN constexpr A apply2(const B& b, const A& a) {
  const auto c = lowered<A>(b);
  const auto z = Rule::value(c, a.value);
  return strict_chain(a, z, Rule::second(c, a.value, z));
}
}  // namespace detail
#define DRX_BINARY(name)                              \
  template <Active A>                                 \
  DRX_FN constexpr A name(const A& a, const A& b) {   \
    return detail::apply2<detail::name##_rule>(a, b); \
  }                                                   \
  template <Active A, Below<A> B>                     \
  DRX_FN constexpr A name(const A& a, const B& b) {   \
    return detail::apply2<detail::name##_rule>(a, b); \
  }                                                   \
  template <Active A, Below<A> B>                     \
  DRX_FN constexpr A name(const B& b, const A& a) {   \
    return detail::apply2<detail::name##_rule>(b, a); \
  }
DRX_BINARY(pow)
DRX_BINARY(atan2)
DRX_BINARY(hypot)
DRX_BINARY(fmod)
#undef DRX_BINARY

/// a where the condition holds, b elsewhere. Code that says select instead of if runs on packs too.
template <Active A>
DRX_FN constexpr A select(bool condition, const A& a, const A& b) {
  if (condition) return a;
  return b;
}
template <class Mask, Active A>
  requires(!std::is_arithmetic_v<Mask>)
DRX_FN constexpr A select(const Mask& mask, const A& a, const A& b) {
  return select_lanes(mask, a, b);
}
template <class Condition, Active A, Below<A> B>
DRX_FN constexpr A select(const Condition& condition, const A& a, const B& b) {
  return select(condition, a, A(b));
}
template <class Condition, Active A, Below<A> B>
DRX_FN constexpr A select(const Condition& condition, const B& b, const A& a) {
  return select(condition, A(b), a);
}

// max and min: a NaN wins; on a tie each argument gets half of the derivative.
namespace detail {
/// Chooses the larger or smaller of a and b as y; `first` tells where that is a.
template <class A, class First>
DRX_FN constexpr A extremum(const A& a, const A& b, const First& first) {
  if constexpr (std::is_same_v<First, bool>) {
    if (a.value == b.value) return chain(a, b, a.value, real_t<A>(0.5), real_t<A>(0.5));
    return first ? a : b;
  } else {
    using T = std::remove_cvref_t<decltype(a.value)>;
    const T half(real_t<A>(0.5)), one(real_t<A>(1)), zero(real_t<A>(0));
    const T share = select(a.value == b.value, half, select(first, one, zero));
    return chain(a, b, select(first, a.value, b.value), share, one - share);
  }
}
}  // namespace detail
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
DRX_FN constexpr auto max(const A& a, const B& b) {
  const auto x = static_cast<std::common_type_t<A, B>>(a), y = static_cast<std::common_type_t<A, B>>(b);
  return x > y || x != x ? x : y;
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B>)
DRX_FN constexpr auto min(const A& a, const B& b) {
  const auto x = static_cast<std::common_type_t<A, B>>(a), y = static_cast<std::common_type_t<A, B>>(b);
  return x < y || x != x ? x : y;
}
template <Active A>
DRX_FN constexpr A max(const A& a, const A& b) {
  return detail::extremum(a, b, (a.value) > (b.value) || (a.value) != (a.value));
}
template <Active A>
DRX_FN constexpr A min(const A& a, const A& b) {
  return detail::extremum(a, b, (a.value) < (b.value) || (a.value) != (a.value));
}
#define DRX_MIXED(name)                             \
  template <Active A, Below<A> B>                   \
  DRX_FN constexpr A name(const A& a, const B& b) { \
    return name(a, A(b));                           \
  }                                                 \
  template <Active A, Below<A> B>                   \
  DRX_FN constexpr A name(const B& b, const A& a) { \
    return name(A(b), a);                           \
  }
DRX_MIXED(max)
DRX_MIXED(min)
#undef DRX_MIXED
/// max and min, under their names in <cmath>; a NaN wins here too.
template <class A, class B>
  requires(Active<A> || Active<B>)
DRX_FN constexpr auto fmax(const A& a, const B& b) {
  return max(a, b);
}
template <class A, class B>
  requires(Active<A> || Active<B>)
DRX_FN constexpr auto fmin(const A& a, const B& b) {
  return min(a, b);
}

/// a * b + c. Plain numbers are rounded once, numbers with derivatives twice. For variables it is one statement, not
/// two.
template <Active A>
DRX_FN constexpr A fma(const A& a, const A& b, const A& c) {
  using T = std::remove_cvref_t<decltype(a.value)>;
  return chain(a, b, c, T(a.value * b.value + c.value), b.value, a.value, T(real_t<A>(1)));
}
template <class A, class B, class C>
  requires(Number<A> && Number<B> && Number<C>)
DRX_FN constexpr auto fma(const A& a, const B& b, const C& c) {
  if constexpr (std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && std::is_arithmetic_v<C>) {
    return std::fma(a, b, c);
  } else {
    return a * b + c;
  }
}

/// Classification of the value, whatever the derivatives are.
template <Active A>
DRX_FN constexpr auto isnan(const A& x) {
  return x.value != x.value;
}
template <Active A>
DRX_FN constexpr auto isfinite(const A& x) {
  return x.value - x.value == 0;
}

template <class Char, class Traits, Active A>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, const A& x) {
  return out << x.value;
}

}  // namespace drx::ad

/// The limits of the type that X is made of.
template <drx::ad::Active X>
struct std::numeric_limits<X> : std::numeric_limits<drx::ad::real_t<X>> {};
