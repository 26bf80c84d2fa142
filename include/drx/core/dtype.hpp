// drx/core/dtype.hpp: the element types that arrays hold.
#pragma once

#include <drx/config.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace drx {

/// The element types, as tapes record them.
enum class dtype : std::int8_t { boolean, int32, int64, float32, float64 };

/// An element type of drx: bool, std::int32_t, std::int64_t, float or double.
template <class T>
concept Element = std::same_as<T, bool> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
                  std::same_as<T, float> || std::same_as<T, double>;

/// The dtype of a C++ type.
template <Element T>
inline constexpr dtype dtype_of = std::same_as<T, bool>           ? dtype::boolean
                                  : std::same_as<T, std::int32_t> ? dtype::int32
                                  : std::same_as<T, std::int64_t> ? dtype::int64
                                  : std::same_as<T, float>        ? dtype::float32
                                                                  : dtype::float64;

/// Bytes of one element.
constexpr int byte_size(dtype t) {
  return t == dtype::boolean ? 1 : (t == dtype::int32 || t == dtype::float32) ? 4 : 8;
}
constexpr bool is_floating(dtype t) { return t == dtype::float32 || t == dtype::float64; }
constexpr bool is_integer(dtype t) { return t == dtype::int32 || t == dtype::int64; }
/// The name that `show` prints.
constexpr const char* name_of(dtype t) {
  switch (t) {
    case dtype::boolean: return "bool";
    case dtype::int32: return "i32";
    case dtype::int64: return "i64";
    case dtype::float32: return "f32";
    default: return "f64";
  }
}

/// The C++ type of a dtype.
template <dtype D>
using element_t =
    std::conditional_t<D == dtype::boolean, bool,
                       std::conditional_t<D == dtype::int32, std::int32_t,
                                          std::conditional_t<D == dtype::int64, std::int64_t,
                                                             std::conditional_t<D == dtype::float32, float, double>>>>;

/// The element type of a mean: double for integers and bool, else the same.
template <Element T>
using mean_element = std::conditional_t<std::is_floating_point_v<T>, T, double>;

/// Calls f with a value of the C++ type that t stands for.
template <class F>
constexpr decltype(auto) visit_dtype(dtype t, F&& f) {
  switch (t) {
    case dtype::boolean: return f(bool{});
    case dtype::int32: return f(std::int32_t{});
    case dtype::int64: return f(std::int64_t{});
    case dtype::float32: return f(float{});
    default: return f(double{});
  }
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
