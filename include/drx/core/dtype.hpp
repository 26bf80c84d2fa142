// drx/core/dtype.hpp: the element types that arrays hold.
#pragma once

#include <drx/config.hpp>
#include <drx/core/half.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace drx {

/// The element types, as tapes record them.
enum class dtype : std::int8_t { boolean, int32, int64, float32, float64, bf16, f16 };

/// An element type of drx: bool, std::int32_t, std::int64_t, float, double, bfloat16 or float16.
template <class T>
concept Element = std::same_as<T, bool> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
                  std::same_as<T, float> || std::same_as<T, double> || is_half<T>;

/// The dtype of a C++ type.
template <Element T>
inline constexpr dtype dtype_of = std::same_as<T, bool>           ? dtype::boolean
                                  : std::same_as<T, std::int32_t> ? dtype::int32
                                  : std::same_as<T, std::int64_t> ? dtype::int64
                                  : std::same_as<T, float>        ? dtype::float32
                                  : std::same_as<T, bfloat16>     ? dtype::bf16
                                  : std::same_as<T, float16>      ? dtype::f16
                                                                  : dtype::float64;

/// Bytes of one element.
constexpr int byte_size(dtype t) {
  switch (t) {
    case dtype::boolean: return 1;
    case dtype::bf16:
    case dtype::f16: return 2;
    case dtype::int32:
    case dtype::float32: return 4;
    default: return 8;
  }
}
/// Whether elements have 16 bits: they are held and moved, and what computes with them computes in float.
constexpr bool is_half_type(dtype t) { return t == dtype::bf16 || t == dtype::f16; }
constexpr bool is_floating(dtype t) { return t == dtype::float32 || t == dtype::float64 || is_half_type(t); }
constexpr bool is_integer(dtype t) { return t == dtype::int32 || t == dtype::int64; }
/// The name that `show` prints.
constexpr const char* name_of(dtype t) {
  switch (t) {
    case dtype::boolean: return "bool";
    case dtype::int32: return "i32";
    case dtype::int64: return "i64";
    case dtype::float32: return "f32";
    case dtype::bf16: return "bf16";
    case dtype::f16: return "f16";
    default: return "f64";
  }
}

namespace detail {
template <dtype D>
struct element_of_type {
  using type = double;
};
template <>
struct element_of_type<dtype::boolean> {
  using type = bool;
};
template <>
struct element_of_type<dtype::int32> {
  using type = std::int32_t;
};
template <>
struct element_of_type<dtype::int64> {
  using type = std::int64_t;
};
template <>
struct element_of_type<dtype::float32> {
  using type = float;
};
template <>
struct element_of_type<dtype::bf16> {
  using type = bfloat16;
};
template <>
struct element_of_type<dtype::f16> {
  using type = float16;
};
}  // namespace detail
/// The C++ type of a dtype.
template <dtype D>
using element_t = typename detail::element_of_type<D>::type;

/// The element type of a mean: double for integers and bool, else the same.
template <Element T>
using mean_element = std::conditional_t<is_floating(dtype_of<T>), T, double>;

namespace detail {
/// What numbers of a type are computed in: float for those of 16 bits.
template <Element T>
using computed_element = std::conditional_t<is_half<T>, float, T>;
constexpr dtype computed_type(dtype t) { return is_half_type(t) ? dtype::float32 : t; }
}  // namespace detail

/// visit_element for types that are computed with: numbers of 16 bits have become floats before.
template <class F>
constexpr decltype(auto) visit_dtype(dtype t, F&& f) {
  switch (t) {
    case dtype::boolean: return f(bool{});
    case dtype::int32: return f(std::int32_t{});
    case dtype::int64: return f(std::int64_t{});
    case dtype::float32: return f(float{});
    case dtype::bf16:
    case dtype::f16: throw "drx: a kernel computes with numbers of 16 bits";
    default: return f(double{});
  }
}
/// Calls f with a value of the C++ type that t stands for.
template <class F>
constexpr decltype(auto) visit_element(dtype t, F&& f) {
  if (t == dtype::bf16) return f(bfloat16{});
  if (t == dtype::f16) return f(float16{});
  return visit_dtype(t, f);
}

/// A value that no number is less than: minus infinity, unless T has none or the compiler was told that there is none
/// (-ffinite-math-only).
template <class T>
constexpr T least_number() {
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
  return std::numeric_limits<T>::lowest();
#else
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
#endif
}
/// A value that no number is greater than.
template <class T>
constexpr T greatest_number() {
  return std::numeric_limits<T>::has_infinity ? -least_number<T>() : std::numeric_limits<T>::max();
}

}  // namespace drx
