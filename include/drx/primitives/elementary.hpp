// drx/primitives/elementary.hpp: elementary functions: one table, one row each: value, reference value, derivative.
#ifndef DRX_CATALOGUE
#include <drx/primitives/emit.hpp>  // includes all primitives, each in its turn
#else
#pragma once

#include <drx/scalar/math.hpp>

#include <cmath>

namespace drx {
namespace prim {
namespace rows {

struct floating_function : same_type, on_floating {
  static constexpr int arity = 1;
};
struct number_function : same_type, on_numbers {
  static constexpr int arity = 1;
};

struct exp : floating_function {
  static constexpr const char* name = "exp";
  template <class T>
  DRX_FN static T apply(T x) { return math::exp(x); }
  template <class T>
  static T reference(T x) { return std::exp(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) { return emit::mul(b, t, s.results[0]); }
};
struct log : floating_function {
  static constexpr const char* name = "log";
  template <class T>
  DRX_FN static T apply(T x) { return math::log(x); }
  template <class T>
  static T reference(T x) { return std::log(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) { return emit::div(b, t, s.operands[0]); }
};
struct log1p : floating_function {
  static constexpr const char* name = "log1p";
  template <class T>
  DRX_FN static T apply(T x) { return math::log1p(x); }
  template <class T>
  static T reference(T x) { return std::log1p(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::div(b, t, emit::add(b, s.operands[0], emit::constant_like(b, t, 1)));
  }
};
struct expm1 : floating_function {
  static constexpr const char* name = "expm1";
  template <class T>
  DRX_FN static T apply(T x) { return math::expm1(x); }
  template <class T>
  static T reference(T x) { return std::expm1(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::mul(b, t, emit::add(b, s.results[0], emit::constant_like(b, t, 1)));
  }
};
struct sqrt : floating_function {  // derivative at 0: infinite
  static constexpr const char* name = "sqrt";
  template <class T>
  DRX_FN static T apply(T x) { return math::sqrt(x); }
  template <class T>
  static T reference(T x) { return std::sqrt(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::div(b, emit::mul(b, t, emit::constant_like(b, t, 0.5)), s.results[0]);
  }
};
struct rsqrt : floating_function {
  static constexpr const char* name = "rsqrt";
  template <class T>
  DRX_FN static T apply(T x) { return math::rsqrt(x); }
  template <class T>
  static T reference(T x) { return 1 / std::sqrt(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int half = emit::mul(b, t, emit::constant_like(b, t, -0.5));
    return emit::div(b, emit::mul(b, half, s.results[0]), s.operands[0]);
  }
};
// cut-begin tanh_row
struct tanh : floating_function {
  static constexpr const char* name = "tanh";
  template <class T>
  DRX_FN static T apply(T x) { return math::tanh(x); }
  template <class T>
  static T reference(T x) { return std::tanh(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    return emit::mul(b, t, emit::sub(b, emit::constant_like(b, t, 1), emit::mul(b, y, y)));
  }
};
// cut-end tanh_row
struct sigmoid : floating_function {
  static constexpr const char* name = "sigmoid";
  template <class T>
  DRX_FN static T apply(T x) { return math::sigmoid(x); }
  template <class T>
  static T reference(T x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    return emit::mul(b, t, emit::mul(b, y, emit::sub(b, emit::constant_like(b, t, 1), y)));
  }
};
struct sin : floating_function {
  static constexpr const char* name = "sin";
  template <class T>
  DRX_FN static T apply(T x) { return math::sin(x); }
  template <class T>
  static T reference(T x) { return std::sin(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::mul(b, t, emit::cos(b, s.operands[0]));
  }
};
struct cos : floating_function {
  static constexpr const char* name = "cos";
  template <class T>
  DRX_FN static T apply(T x) { return math::cos(x); }
  template <class T>
  static T reference(T x) { return std::cos(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::neg(b, emit::mul(b, t, emit::sin(b, s.operands[0])));
  }
};
struct tan : floating_function {
  static constexpr const char* name = "tan";
  template <class T>
  DRX_FN static T apply(T x) { return math::sin(x) / math::cos(x); }
  template <class T>
  static T reference(T x) { return std::tan(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    return emit::mul(b, t, emit::add(b, emit::constant_like(b, t, 1), emit::mul(b, y, y)));
  }
};
struct floor : floating_function, not_differentiable {
  static constexpr const char* name = "floor";
  template <class T>
  DRX_FN static T apply(T x) { return math::floor(x); }
  template <class T>
  static T reference(T x) { return std::floor(x); }
};
struct ceil : floating_function, not_differentiable {
  static constexpr const char* name = "ceil";
  template <class T>
  DRX_FN static T apply(T x) { return math::ceil(x); }
  template <class T>
  static T reference(T x) { return std::ceil(x); }
};
struct sign : number_function, not_differentiable {  // -1, 0 or 1; of NaN 0
  static constexpr const char* name = "sign";
  template <class T>
  DRX_FN static constexpr T apply(T x) { return static_cast<T>(static_cast<T>(x > 0) - static_cast<T>(x < 0)); }
  template <class T>
  static T reference(T x) { return apply(x); }
};
struct abs : number_function {  // derivative at 0: 0
  static constexpr const char* name = "abs";
  template <class T>
  DRX_FN static T apply(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return math::abs(x);
    } else {
      return x < 0 ? -x : x;
    }
  }
  template <class T>
  static T reference(T x) { return std::abs(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::mul(b, t, b.add1(prim_sign(), {s.operands[0]}));
  }
  static constexpr const primitive& prim_sign();
};
struct relu : number_function {  // max(x, 0), but the derivative at 0 is 0; NaN stays
  static constexpr const char* name = "relu";
  template <class T>
  DRX_FN static constexpr T apply(T x) { return x < 0 ? T(0) : x; }
  template <class T>
  static T reference(T x) { return apply(x); }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int zero = emit::constant_like(b, t, 0);
    return emit::where(b, emit::less(b, zero, s.operands[0]), t, zero);
  }
};
struct pow : same_type, on_floating {
  static constexpr const char* name = "pow";
  static constexpr int arity = 2;
  template <class T>
  DRX_FN static T apply(T x, T y) { return math::pow(x, y); }
  template <class T>
  static T reference(T x, T y) { return std::pow(x, y); }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    const int x = s.operands[0], y = s.operands[1];
    const int zero = emit::constant_like(b, t, 0), one = emit::constant_like(b, t, 1);
    if (i == 0) {  // y x^(y-1), but 0 where y = 0: there x^(y-1) may be infinite
      double c = 0;
      if (emit::is_constant(b, y, c))
        return c == 0 ? zero_tangent : emit::mul(b, t, emit::mul(b, y, emit::pow(b, x, emit::constant_like(b, y, c - 1))));
      const int lower = emit::where(b, emit::equal(b, y, zero), one, emit::sub(b, y, one));
      return emit::mul(b, t, emit::mul(b, y, emit::pow(b, x, lower)));
    }
    const int at_zero = emit::equal(b, x, zero);  // log(x) x^y, but 0 where x = 0
    const int slope = emit::mul(b, emit::log(b, emit::where(b, at_zero, one, x)), s.results[0]);
    return emit::mul(b, t, emit::where(b, at_zero, zero, slope));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double y = 0;
    if (!emit::is_constant(b, o[1], y)) return -1;
    return y == 0 ? emit::constant_like(b, o[0], 1) : y == 1 ? o[0] : y == 2 ? emit::mul(b, o[0], o[0]) : -1;
  }
};

}  // namespace rows

inline constexpr primitive exp = elementwise_primitive<rows::exp>();
inline constexpr primitive log = elementwise_primitive<rows::log>();
inline constexpr primitive log1p = elementwise_primitive<rows::log1p>();
inline constexpr primitive expm1 = elementwise_primitive<rows::expm1>();
inline constexpr primitive sqrt = elementwise_primitive<rows::sqrt>();
inline constexpr primitive rsqrt = elementwise_primitive<rows::rsqrt>();
inline constexpr primitive tanh = elementwise_primitive<rows::tanh>();
inline constexpr primitive sigmoid = elementwise_primitive<rows::sigmoid>();
inline constexpr primitive sin = elementwise_primitive<rows::sin>();
inline constexpr primitive cos = elementwise_primitive<rows::cos>();
inline constexpr primitive tan = elementwise_primitive<rows::tan>();
inline constexpr primitive floor = elementwise_primitive<rows::floor>();
inline constexpr primitive ceil = elementwise_primitive<rows::ceil>();
inline constexpr primitive sign = elementwise_primitive<rows::sign>();
inline constexpr primitive abs = elementwise_primitive<rows::abs>();
inline constexpr primitive relu = elementwise_primitive<rows::relu>();
inline constexpr primitive pow = elementwise_primitive<rows::pow>();
template <> struct row_of<&exp> : rows::exp {};
template <> struct row_of<&log> : rows::log {};
template <> struct row_of<&log1p> : rows::log1p {};
template <> struct row_of<&expm1> : rows::expm1 {};
template <> struct row_of<&sqrt> : rows::sqrt {};
template <> struct row_of<&rsqrt> : rows::rsqrt {};
template <> struct row_of<&tanh> : rows::tanh {};
template <> struct row_of<&sigmoid> : rows::sigmoid {};
template <> struct row_of<&sin> : rows::sin {};
template <> struct row_of<&cos> : rows::cos {};
template <> struct row_of<&tan> : rows::tan {};
template <> struct row_of<&floor> : rows::floor {};
template <> struct row_of<&ceil> : rows::ceil {};
template <> struct row_of<&sign> : rows::sign {};
template <> struct row_of<&abs> : rows::abs {};
template <> struct row_of<&relu> : rows::relu {};
template <> struct row_of<&pow> : rows::pow {};

constexpr const primitive& rows::abs::prim_sign() { return prim::sign; }
}  // namespace prim

namespace emit {
constexpr int exp(builder& b, int x) { return b.add1(prim::exp, {x}); }
constexpr int log(builder& b, int x) { return b.add1(prim::log, {x}); }
constexpr int sin(builder& b, int x) { return b.add1(prim::sin, {x}); }
constexpr int cos(builder& b, int x) { return b.add1(prim::cos, {x}); }
constexpr int pow(builder& b, int x, int y) { return b.add1(prim::pow, {x, y}); }
/// x^n by repeated squaring: exact for integers, and its derivative has no case to except.
constexpr int integer_pow(builder& b, int x, std::int64_t n) {
  const int one = constant_like(b, x, 1);
  if (n < 0) {
    if (!is_floating(b.type(x).type)) throw "drx: pow: an integer array to a negative power; cast it to double first";
    return div(b, one, integer_pow(b, x, -n));
  }
  int result = one;
  for (int power = x; n > 0; n /= 2) {
    if (n % 2 != 0) result = mul(b, result, power);
    if (n > 1) power = mul(b, power, power);
  }
  return result;
}
}  // namespace emit

namespace detail {
template <class A>
constexpr A elementary(const primitive& p, const A& x) { return elementwise<A, typename A::value_type>(p, x); }
template <class A>
concept NumberArray = Array<A> && !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A>
concept NotFloating = (Array<A> || Placed<A>) && !FloatingArray<A>;
template <class A>
concept NotNumbers = (Array<A> || Placed<A>) && !NumberArray<A>;
template <class A>
using not_floating_t = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_floating_values>;
template <class A>
using not_numbers_t = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_numbers>;
}  // namespace detail

// Elementwise, of float or double. sin, cos and tan are accurate for |x| <= 131072; a program that has been compiled
// gives NaN beyond.
// clang-format off
template <class A> requires FloatingArray<A>
constexpr A exp(const A& x) { return detail::elementary(prim::exp, x); }
template <class A> requires FloatingArray<A>
constexpr A log(const A& x) { return detail::elementary(prim::log, x); }
/// log(1 + x), accurate for small x.
template <class A> requires FloatingArray<A>
constexpr A log1p(const A& x) { return detail::elementary(prim::log1p, x); }
/// exp(x) - 1, accurate for small x.
template <class A> requires FloatingArray<A>
constexpr A expm1(const A& x) { return detail::elementary(prim::expm1, x); }
template <class A> requires FloatingArray<A>
constexpr A sqrt(const A& x) { return detail::elementary(prim::sqrt, x); }
/// 1 / sqrt(x)
template <class A> requires FloatingArray<A>
constexpr A rsqrt(const A& x) { return detail::elementary(prim::rsqrt, x); }
template <class A> requires FloatingArray<A>
constexpr A tanh(const A& x) { return detail::elementary(prim::tanh, x); }
/// 1 / (1 + exp(-x)), without overflow.
template <class A> requires FloatingArray<A>
constexpr A sigmoid(const A& x) { return detail::elementary(prim::sigmoid, x); }
template <class A> requires FloatingArray<A>
constexpr A sin(const A& x) { return detail::elementary(prim::sin, x); }
template <class A> requires FloatingArray<A>
constexpr A cos(const A& x) { return detail::elementary(prim::cos, x); }
template <class A> requires FloatingArray<A>
constexpr A tan(const A& x) { return detail::elementary(prim::tan, x); }
template <class A> requires FloatingArray<A>
constexpr A floor(const A& x) { return detail::elementary(prim::floor, x); }
template <class A> requires FloatingArray<A>
constexpr A ceil(const A& x) { return detail::elementary(prim::ceil, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why exp(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why log(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why log1p(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why expm1(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sqrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why rsqrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sigmoid(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sin(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cos(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tan(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why floor(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why ceil(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map

// Elementwise, of any numbers.
/// -1, 0 or 1.
template <class A> requires detail::NumberArray<A>
constexpr A sign(const A& x) { return detail::elementary(prim::sign, x); }
/// Derivative: sign(x), which is 0 at 0.
template <class A> requires detail::NumberArray<A>
constexpr A abs(const A& x) { return detail::elementary(prim::abs, x); }
/// max(x, 0), with derivative 0 at 0.
template <class A> requires detail::NumberArray<A>
constexpr A relu(const A& x) { return detail::elementary(prim::relu, x); }
template <class A> requires detail::NumberArray<A>
constexpr A square(const A& x) { return x * x; }

template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why sign(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why abs(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why relu(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why square(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map
// clang-format on

namespace detail {
template <class X>
concept IntegerLiteral = Literal<X> && std::is_integral_v<X> && !std::is_same_v<X, bool>;
template <class A, class B>
struct is_power : std::false_type {};
template <class A, class B>
  requires Compatible<A, B>
struct is_power<A, B> : std::is_floating_point<common_element<A, B>> {};
template <class A, class B>
concept Power = is_power<A, B>::value && !IntegerLiteral<B>;
template <class A, class B>
concept IntegerPower = NumberArray<A> && IntegerLiteral<B>;
template <class A, class B>
concept NoPower = ((Array<A> || Literal<A> || Placed<A>)&&(Array<B> || Literal<B> || Placed<B>)&&!(
                      Literal<A>&& Literal<B>)) &&
                  !Power<A, B> && !IntegerPower<A, B>;
template <class A, class B>
constexpr auto power_misuse() {
  if constexpr (Placed<A> || Placed<B>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (Incompatible<A, B>) {
    return mismatch<A, B>();
  } else {
    return error::needs_floating_values{};
  }
}
}  // namespace detail

/// x to the power y, elementwise, as in C. With respect to y the derivative at x = 0 is 0.
template <class A, class B>
  requires detail::Power<A, B>
constexpr auto pow(const A& x, const B& y) {
  return detail::binary(prim::pow, x, y);
}
/// x to a whole power by repeated multiplication, also of integers.  pow(x, 3), pow(x, -2)
template <class A, class B>
  requires detail::IntegerPower<A, B>
constexpr A pow(const A& x, const B& n) {
  return detail::unary<A>(x, [=](builder& b, int id) { return emit::integer_pow(b, id, n); });
}
template <class A, class B, class Why = decltype(detail::power_misuse<A, B>())>
  requires detail::NoPower<A, B>
Why pow(const A&, const B&) = delete;  // drx: pow(floating array, floating array or number), pow(array of numbers, 3); of placed values in a map

namespace detail {
template <class A, class L, class H>
concept Clampable = Array<A> && Compatible<A, L> && Compatible<A, H> &&
                    !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A, class L, class H>
constexpr auto clamp_misuse() {
  if constexpr (Placed<A> || Placed<L> || Placed<H>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (Incompatible<A, L>) {
    return mismatch<A, L>();
  } else if constexpr (Incompatible<A, H>) {
    return mismatch<A, H>();
  } else {
    return error::needs_numbers{};
  }
}
}  // namespace detail

/// x limited to [low, high], elementwise; NaN stays. On the bounds the derivative is x's.
template <class A, class L, class H>
  requires detail::Clampable<A, L, H>
constexpr auto clamp(const A& x, const L& low, const H& high) {
  return where(x < low, low, where(x > high, high, x));
}
template <class A, class L, class H, class Why = decltype(detail::clamp_misuse<A, L, H>())>
  requires((Array<A> || Placed<A>) && !detail::Clampable<A, L, H>)
Why clamp(const A&, const L&, const H&) = delete;  // drx: clamp(array of numbers, low, high): bounds of its element type; of a placed value in a map

}  // namespace drx

#endif
