// drx in one file: what <drx/drx.hpp> includes. It traces, checks, differentiates and prints programs; running them needs
// the library. Made by scripts/single_include.py from include/drx; see LICENSE.
#pragma once
#define DRX_VERSION_MAJOR 0
#define DRX_VERSION_MINOR 1
#define DRX_VERSION_PATCH 0

#if defined(_MSVC_LANG) ? (_MSVC_LANG < 202002L) : (__cplusplus < 202002L)
#error "drx needs C++20: compile with -std=c++20 (or link the CMake target drx::drx, which asks for it)"
#endif
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12
#error "drx needs g++ 12 or newer"
#endif
#if defined(__clang__) && __clang_major__ < 14
#error "drx needs clang 14 or newer"
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define DRX_FN __host__ __device__
#define DRX_INLINE __host__ __device__ __forceinline__
#else
#define DRX_FN
#define DRX_INLINE inline __attribute__((always_inline))
#endif

#include <type_traits>

namespace drx {

template <class T>
DRX_INLINE constexpr auto wrapping(T x) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    return static_cast<std::make_unsigned_t<T>>(x);
  } else {
    return x;
  }
}
template <class T>
DRX_INLINE constexpr T wrapping_sum(T a, T b) {
  return static_cast<T>(wrapping(a) + wrapping(b));
}
template <class T>
DRX_INLINE constexpr T wrapping_product(T a, T b) {
  return static_cast<T>(wrapping(a) * wrapping(b));
}

template <class T>
DRX_INLINE constexpr T wrapping_product_sum(T a, T b, T c) {
  return static_cast<T>(wrapping(a) * wrapping(b) + wrapping(c));
}

}

#include <bit>
#include <cstdint>

namespace drx {
namespace detail {

DRX_FN constexpr std::uint32_t chosen_bits(bool c, std::uint32_t x, std::uint32_t y) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(c);
  return (x & mask) | (y & ~mask);
}
DRX_FN constexpr std::uint32_t rounded_right(std::uint32_t x, int bits) {
  return (x + ((1U << (bits - 1)) - 1) + ((x >> bits) & 1)) >> bits;
}

struct bfloat16_format {
  DRX_FN static constexpr float widened(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }
  DRX_FN static constexpr std::uint16_t rounded(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    const bool nan = (u & 0x7fffffffU) > 0x7f800000U;
    return static_cast<std::uint16_t>(chosen_bits(nan, u >> 16 | 0x40U, rounded_right(u, 16)));
  }
};
struct float16_format {
  DRX_FN static constexpr float widened(std::uint16_t h) {
    const std::uint32_t a = h & 0x7fffU;
    const auto subnormal = std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(a)) * 0x1p-24F);
    const std::uint32_t finite = chosen_bits(a < 0x400U, subnormal, (a << 13) + (112U << 23));
    const std::uint32_t magnitude = chosen_bits(a >= 0x7c00U, a << 13 | 0x7f800000U, finite);
    return std::bit_cast<float>(magnitude | (h & 0x8000U) << 16);
  }
  DRX_FN static constexpr std::uint16_t rounded(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t a = u & 0x7fffffffU;
    constexpr float last = 0.5F;
    const bool tiny = a < 0x38800000U, huge = a >= 0x477ff000U, nan = a > 0x7f800000U;
    const auto small = std::bit_cast<float>(chosen_bits(tiny, a, 0U));
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(small + last) - std::bit_cast<std::uint32_t>(last);
    const std::uint32_t finite = chosen_bits(tiny, subnormal, rounded_right(a - (112U << 23), 13));
    const std::uint32_t magnitude = chosen_bits(nan, 0x7e00U, chosen_bits(huge, 0x7c00U, finite));
    return static_cast<std::uint16_t>(magnitude | (u >> 16 & 0x8000U));
  }
};

}

template <class Format>
class half {
 public:
  half() = default;
  template <class X>
    requires std::is_convertible_v<X, float>
  DRX_FN constexpr explicit half(X x) : bits_(Format::rounded(static_cast<float>(x))) {}
  DRX_FN constexpr operator float() const { return Format::widened(bits_); }
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }
  static constexpr half from_bits(std::uint16_t bits) {
    half h{};
    h.bits_ = bits;
    return h;
  }

 private:
  std::uint16_t bits_;
};

using bfloat16 = half<detail::bfloat16_format>;
using float16 = half<detail::float16_format>;

template <class T>
inline constexpr bool is_half = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;

}

#include <concepts>
#include <limits>

namespace drx {

enum class dtype : std::int8_t { boolean, int32, int64, float32, float64, bf16, f16 };

template <class T>
concept Element = std::same_as<T, bool> || std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> ||
                  std::same_as<T, float> || std::same_as<T, double> || is_half<T>;

template <Element T>
inline constexpr dtype dtype_of = std::same_as<T, bool>           ? dtype::boolean
                                  : std::same_as<T, std::int32_t> ? dtype::int32
                                  : std::same_as<T, std::int64_t> ? dtype::int64
                                  : std::same_as<T, float>        ? dtype::float32
                                  : std::same_as<T, bfloat16>     ? dtype::bf16
                                  : std::same_as<T, float16>      ? dtype::f16
                                                                  : dtype::float64;

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
constexpr bool is_half_type(dtype t) { return t == dtype::bf16 || t == dtype::f16; }
constexpr bool is_floating(dtype t) { return t == dtype::float32 || t == dtype::float64 || is_half_type(t); }
constexpr bool is_integer(dtype t) { return t == dtype::int32 || t == dtype::int64; }
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
}
template <dtype D>
using element_t = typename detail::element_of_type<D>::type;

template <Element T>
using mean_element = std::conditional_t<is_floating(dtype_of<T>), T, double>;

namespace detail {
template <Element T>
using computed_element = std::conditional_t<is_half<T>, float, T>;
constexpr dtype computed_type(dtype t) { return is_half_type(t) ? dtype::float32 : t; }
}

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
template <class F>
constexpr decltype(auto) visit_element(dtype t, F&& f) {
  if (t == dtype::bf16) return f(bfloat16{});
  if (t == dtype::f16) return f(float16{});
  return visit_dtype(t, f);
}

template <class T>
constexpr T least_number() {
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
  return std::numeric_limits<T>::lowest();
#else
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
#endif
}
template <class T>
constexpr T greatest_number() {
  return std::numeric_limits<T>::has_infinity ? -least_number<T>() : std::numeric_limits<T>::max();
}

}

#include <cstddef>
#include <string_view>

namespace drx::meta {

template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const auto start = text.find("T = ") + 4;
  auto stop = text.find(';', start);
  if (stop == std::string_view::npos) stop = text.rfind(']');
  text = text.substr(start, stop - start);
  const auto colons = text.rfind("::");
  return colons == std::string_view::npos ? text : text.substr(colons + 2);
}

template <std::size_t N>
struct literal {
  char text[N] = {};
  constexpr literal(const char (&from)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = from[i];
  }
};

}

namespace drx {

template <class Self>
struct placement {};

template <class P>
concept Placement = std::is_base_of_v<placement<P>, P>;

struct placement_info {
  static constexpr std::int64_t any_number = std::numeric_limits<std::int64_t>::max();
  std::string_view name;
  std::int64_t most_members = any_number;
};

namespace detail {
template <class P>
constexpr std::int64_t most_members_of() {
  if constexpr (requires { P::most_members; }) {
    static_assert(std::integral<std::remove_cvref_t<decltype(P::most_members)>> && P::most_members > 0,
                  "drx: most_members is an integer above 0");
    return P::most_members;
  } else {
    return placement_info::any_number;
  }
}
}

template <class P>
inline constexpr placement_info placement_of{meta::type_name<P>(), detail::most_members_of<P>()};

struct member_count {
  const placement_info* placement;
  std::int64_t count;
};
template <class P>
  requires(Placement<P>)
constexpr member_count members(std::int64_t n) {
  return {&placement_of<P>, n};
}

}

namespace drx {

struct shape {
  static constexpr int max_rank = 8;
  int rank = 0;
  std::int64_t extent[max_rank] = {};

  constexpr std::int64_t operator[](int axis) const { return extent[axis]; }
  constexpr std::int64_t& operator[](int axis) { return extent[axis]; }
  [[nodiscard]] constexpr std::int64_t size() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= extent[i];
    return n;
  }
  constexpr void push_back(std::int64_t n) { extent[rank++] = n; }
  [[nodiscard]] constexpr std::int64_t last() const { return rank == 0 ? 1 : extent[rank - 1]; }
  friend constexpr bool operator==(const shape& a, const shape& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.extent[i] != b.extent[i]) return false;
    return true;
  }
};

template <class... N>
constexpr shape make_shape(N... n) {
  shape s;
  (s.push_back(static_cast<std::int64_t>(n)), ...);
  return s;
}

constexpr int normal_axis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

constexpr bool broadcastable(const shape& a, const shape& b) {
  for (int i = 1; i <= a.rank && i <= b.rank; ++i) {
    const auto x = a[a.rank - i];
    const auto y = b[b.rank - i];
    if (x != y && x != 1 && y != 1) return false;
  }
  return true;
}

constexpr shape broadcast_shapes(const shape& a, const shape& b) {
  shape s = a.rank >= b.rank ? a : b;
  const shape& small = a.rank >= b.rank ? b : a;
  for (int i = 1; i <= small.rank; ++i)
    if (s[s.rank - i] == 1) s[s.rank - i] = small[small.rank - i];
  return s;
}

constexpr shape without_axis(const shape& s, int axis) {
  shape r;
  for (int i = 0; i < s.rank; ++i)
    if (i != axis) r.push_back(s[i]);
  return r;
}

constexpr shape with_front(const shape& s, std::int64_t n) {
  shape r = make_shape(n);
  for (int i = 0; i < s.rank; ++i) r.push_back(s[i]);
  return r;
}

constexpr shape with_last(shape s, std::int64_t n) {
  s.push_back(n);
  return s;
}

constexpr shape with_axis(const shape& s, int axis, std::int64_t n) {
  shape r;
  for (int i = 0; i <= s.rank; ++i) {
    if (i == axis) r.push_back(n);
    if (i < s.rank) r.push_back(s[i]);
  }
  return r;
}

}

namespace drx {

struct abstract_value {
  static constexpr int max_depth = 4;
  dtype type = dtype::float32;
  drx::shape shape = {};
  int depth = 0;
  const placement_info* placements[max_depth] = {};

  constexpr abstract_value() = default;
  constexpr abstract_value(dtype t, const drx::shape& s) : type(t), shape(s) {}

  friend constexpr bool operator==(const abstract_value& a, const abstract_value& b) {
    if (a.type != b.type || !(a.shape == b.shape) || a.depth != b.depth) return false;
    for (int i = 0; i < a.depth; ++i)
      if (a.placements[i] != b.placements[i]) return false;
    return true;
  }
  [[nodiscard]] constexpr abstract_value placed_at(const placement_info* p) const {
    abstract_value v = *this;
    for (int i = depth; i > 0; --i) v.placements[i] = placements[i - 1];
    v.placements[0] = p;
    ++v.depth;
    return v;
  }
  [[nodiscard]] constexpr bool placed_like(const abstract_value& other) const {
    bool same = depth == other.depth;
    for (int i = 0; i < depth && same; ++i) same = placements[i] == other.placements[i];
    return same;
  }
  [[nodiscard]] constexpr abstract_value of_member() const {
    abstract_value v = *this;
    for (int i = 1; i < depth; ++i) v.placements[i - 1] = placements[i];
    v.depth = depth > 0 ? depth - 1 : 0;
    v.placements[v.depth] = nullptr;
    return v;
  }
  [[nodiscard]] constexpr abstract_value with_type(dtype t) const {
    abstract_value v = *this;
    v.type = t;
    return v;
  }
  [[nodiscard]] constexpr abstract_value with_shape(const drx::shape& s) const {
    abstract_value v = *this;
    v.shape = s;
    return v;
  }
};

}

#include <stdexcept>

namespace drx::error {

struct reported {
  template <class... X>
  constexpr reported operator()(const X&...) const {
    return {};
  }
};

template <class T>
inline constexpr bool is_reported = std::is_base_of_v<reported, T>;
template <class T>
concept Reported = is_reported<std::remove_cvref_t<T>>;
template <class... T>
concept AnyReported = (Reported<T> || ...);

struct placed_and_unplaced_values_do_not_mix : reported {};
struct values_of_two_placements_do_not_mix : reported {};
struct element_types_differ : reported {};
struct shapes_do_not_broadcast : reported {};
struct a_literal_does_not_fit_the_element_type : reported {};
struct needs_floating_values : reported {};
struct needs_integer_values : reported {};
struct needs_boolean_values : reported {};
struct needs_numbers : reported {};
struct needs_a_random_key : reported {};
struct structures_differ : reported {};
struct map_needs_placed_arguments : reported {};
struct map_over_two_placements : reported {};
struct broadcast_needs_an_unplaced_value : reported {};
struct reduce_needs_a_placed_value : reported {};
struct array_operation_on_a_placed_value : reported {};
struct array_operation_on_a_structure : reported {};
struct function_of_numbers_on_an_array : reported {};
struct a_function_of_numbers_has_no_numbers_of_16_bits : reported {};
struct placed_results_would_outlive_their_program : reported {};
struct wrong_rank : reported {};
struct inner_extents_differ : reported {};
struct matrix_is_not_square : reported {};
struct window_exceeds_the_padded_input : reported {};
struct options_do_not_fit_the_spatial_axes : reported {};
struct axis_out_of_range : reported {};
struct axis_does_not_divide : reported {};
struct axis_has_more_than_one_element : reported {};
struct wrong_number_of_repetitions : reported {};
struct not_more_elements_than_ddof : reported {};
struct not_an_einsum_specification : reported {};
struct more_than_eight_axes : reported {};
struct matrix_has_more_columns_than_rows : reported {};
struct number_of_elements_differs : reported {};
struct extents_differ : reported {};
struct slice_out_of_range : reported {};
struct loop_body_changes_the_type_of_its_carry : reported {};
struct loop_has_more_steps_than_an_int32_counts : reported {};
struct condition_is_not_one_bool : reported {};
template <class Then, class Otherwise>
struct branches_return_different_types : reported {};
struct grad_needs_a_scalar_result : reported {};
struct grad_needs_floating_arguments : reported {};
struct batch_axes_do_not_fit_the_structure : reported {};
struct nothing_is_batched : reported {};
struct jacobian_needs_arrays : reported {};
struct custom_rule_returns_another_type : reported {};
struct branch_on_a_traced_value : reported {};
struct numbers_alone_have_no_element_type : reported {};
struct axes_and_extents_are_template_arguments : reported {};
struct placed_value_where_an_unplaced_one_is_declared : reported {};
struct traced_lambda_captures_a_runtime_value : reported {};
struct structure_members_must_be_arrays : reported {};
struct not_a_value_of_drx : reported {};
struct struct_is_not_adapted : reported {};
struct not_a_program : reported {};
struct no_pass_has_this_name : reported {};
struct function_does_not_take_these_arguments : reported {};
struct function_of_a_call_does_not_take_these_numbers : reported {};
struct wrong_number_of_arguments : reported {};
struct argument_is_not_the_input_of_the_program : reported {};
struct reduce_the_inner_placement_first : reported {};

template <class Why>
struct refused : reported {};
template <class R>
inline constexpr bool is_unsaid = std::is_same_v<R, function_does_not_take_these_arguments>;
template <class Why>
inline constexpr bool is_unsaid<refused<Why>> = true;

#if defined(__NVCC__)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1301
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class Why>
struct note {
  friend constexpr auto read(note);
};
template <class Why>
struct leave_note {
  friend constexpr auto read(note<Why>) { return true; }
};
#if defined(__NVCC__)
#pragma nv_diagnostic pop
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <class Why>
inline constexpr int noted = sizeof(leave_note<Why>);
template <class Why, class AskedBy>
concept NotedAs = requires { read(note<std::enable_if_t<!std::is_void_v<AskedBy>, Why>>{}); };
template <class AskedBy>
concept Noted =
    NotedAs<branch_on_a_traced_value, AskedBy> || NotedAs<placed_value_where_an_unplaced_one_is_declared, AskedBy>;

template <class R, class F, class... X>
inline constexpr bool is_number_of_std = false;
template <class F, class... X>
inline constexpr bool is_number_of_std<long double, F, X...> =
    NotedAs<function_of_numbers_on_an_array, note<void(F, X...)>>;

template <class Axis>
void no_map_pmap_or_vmap_around_this_has_the_axis() {
  throw std::logic_error("drx: no map, pmap or vmap around this has the axis");
}

class not_traced : public std::logic_error {
 public:
  not_traced()
      : std::logic_error(
            "drx: this operation runs inside a program; compile one and call it (elementwise ones of arrays compute outside too)") {
  }
};

}

namespace drx {
namespace detail {
#if defined(DRX_NATIVE_TRACING)
inline thread_local bool traces_natively = false;
constexpr bool is_tracing() { return std::is_constant_evaluated() || traces_natively; }
#else
constexpr bool is_tracing() { return std::is_constant_evaluated(); }
#endif
}

#if defined(DRX_NATIVE_TRACING)
class native_tracing {
 public:
  native_tracing() : before_(detail::traces_natively) { detail::traces_natively = true; }
  ~native_tracing() { detail::traces_natively = before_; }
  native_tracing(const native_tracing&) = delete;
  native_tracing& operator=(const native_tracing&) = delete;

 private:
  bool before_;
};
#endif

}

#include <initializer_list>
#include <string>
#include <utility>
#if defined(DRX_NATIVE_TRACING)
#include <memory>
#endif

namespace drx {

class tracing_builder;

struct traced_ref {
  enum class kind : std::int8_t { none, value, splat, iota, identity, member_index, data, seed };
  union source {
    tracing_builder* tape;
    double number;
    const placement_info* placement;
    const bool* booleans;
    const std::int32_t* int32s;
    const std::int64_t* int64s;
    const float* floats;
    const double* doubles;
    const bfloat16* bfloat16s;
    const float16* float16s;
    std::int64_t seed;
  };
  source from = {nullptr};
  int id = -1;
  kind what = kind::none;
};

template <class T, class P>
struct placed;

template <class T>
constexpr traced_ref reference_to(const T* elements) {
  traced_ref r;
  r.what = traced_ref::kind::data;
  if constexpr (std::is_same_v<T, bool>) {
    r.from.booleans = elements;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    r.from.int32s = elements;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    r.from.int64s = elements;
  } else if constexpr (std::is_same_v<T, float>) {
    r.from.floats = elements;
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    r.from.bfloat16s = elements;
  } else if constexpr (std::is_same_v<T, float16>) {
    r.from.float16s = elements;
  } else {
    r.from.doubles = elements;
  }
  return r;
}

template <Element T, std::int64_t... Extents>
class array;
namespace detail {
template <class T, std::int64_t...>
struct row_of {
  struct type {};
};
template <class T, std::int64_t First, std::int64_t Second, std::int64_t... Rest>
struct row_of<T, First, Second, Rest...> {
  using type = array<T, Second, Rest...>;
};
}

template <Element T, std::int64_t... Extents>
class array {
  static_assert(((Extents >= 0) && ...), "drx::array: an extent is negative");
  static_assert(sizeof...(Extents) <= drx::shape::max_rank, "drx::array: more than eight axes");

 public:
  using value_type = T;
  static constexpr int rank = sizeof...(Extents);
  static constexpr drx::shape shape = make_shape(Extents...);
  static constexpr std::int64_t size = (Extents * ... * 1);

  constexpr array() : data_{} {}
  constexpr array(T value)
    requires(rank == 0)
      : data_{value} {}
  template <class... U>
    requires(sizeof...(U) == size && sizeof...(U) > 1 && ((std::is_arithmetic_v<U> || is_half<U>) && ...))
  constexpr array(U... element) : data_{static_cast<T>(element)...} {}
  constexpr explicit array(T element)
    requires(rank > 0 && size == 1)
      : data_{element} {}
  constexpr array(std::initializer_list<T> element)
    requires(rank == 1 && size == 1)
      : data_{} {
    require_extent(element.size(), 1);
    data_[0] = *element.begin();
  }
  constexpr array(std::initializer_list<typename detail::row_of<T, Extents...>::type> rows)
    requires(rank > 1)
      : data_{} {
    require_extent(rows.size(), shape[0]);
    T* to = data_;
    for (const auto& row : rows)
      for (const T& element : row) *to++ = element;
  }
#if defined(DRX_NATIVE_TRACING)
  constexpr explicit array(const traced_ref& r) : ref_(r), traced_(true) {}
  constexpr array(const array& other) : traced_(other.traced_) { take(other); }
  constexpr array& operator=(const array& other) {
    traced_ = other.traced_;
    take(other);
    return *this;
  }
#else
  constexpr explicit array(const traced_ref& r) : ref_(r) {}
#endif
  template <class U, class P, class Why = error::placed_value_where_an_unplaced_one_is_declared,
            int = error::noted<Why>>
  array(const placed<U, P>&) = delete;  // drx: reduce it first (reduce_sum, reduce_mean, select), or declare drx::placed

  template <class... I>
  constexpr T& operator()(I... i)
    requires(sizeof...(I) == rank)
  {
    return data()[offset(i...)];
  }
  template <class... I>
  constexpr const T& operator()(I... i) const
    requires(sizeof...(I) == rank)
  {
    return data()[offset(i...)];
  }
  constexpr T& operator[](std::int64_t i) { return data()[i]; }
  constexpr const T& operator[](std::int64_t i) const { return data()[i]; }
  constexpr T* data() {
    require_elements();
    return data_;
  }
  constexpr const T* data() const {
    require_elements();
    return data_;
  }
  constexpr T* begin() { return data(); }
  constexpr T* end() { return data() + size; }
  constexpr const T* begin() const { return data(); }
  constexpr const T* end() const { return data() + size; }
  [[nodiscard]] constexpr T item() const
    requires(rank == 0)
  {
    return data()[0];
  }
  template <std::same_as<T> U>
  constexpr explicit operator U() const
    requires(rank == 0 && !std::same_as<T, bool>)
  {
    return data()[0];
  }
  template <class U,
            class Why = std::enable_if_t<std::is_same_v<U, long double>, error::function_of_numbers_on_an_array>,
            int = error::noted<Why>>
  operator U() const = delete;  // drx: drx::sin(x), drx::exp(x), drx::pow(x, y), not std's, of arrays; of one that has elements x[0], or x.item(), is a number
  template <class Why = error::branch_on_a_traced_value, int = error::noted<Why>>
  explicit operator bool() const = delete;  // drx: use drx::where(condition, a, b); outside of a program, .item()

  [[nodiscard]] constexpr traced_ref ref() const { return is_traced() ? ref_ : reference_to(data_); }

 private:
#if defined(DRX_NATIVE_TRACING)
  constexpr void take(const array& other) {
    if (traced_) {
      std::construct_at(&ref_, other.ref_);
    } else {
      for (std::int64_t i = 0; i < size; ++i) data_[i] = other.data_[i];
    }
  }
#endif
  static constexpr void require_extent(std::size_t given, std::int64_t extent) {
    if (static_cast<std::int64_t>(given) == extent) return;
    if (detail::is_tracing()) throw "drx: an array's initialiser has more or fewer parts than its first axis";
    throw std::invalid_argument("drx: an initialiser of " + std::to_string(given) + " for an axis of " +
                                std::to_string(extent));
  }
#if defined(__CUDACC__)
  [[nodiscard]] static constexpr bool is_traced() { return true; }
  static constexpr void require_elements() {}
#else
#if defined(DRX_NATIVE_TRACING)
  [[nodiscard]] constexpr bool is_traced() const { return traced_; }
#else
  [[nodiscard]] constexpr bool is_traced() const { return __builtin_constant_p(ref_.what); }
#endif
  constexpr void require_elements() const {
    if (detail::is_tracing())
      if (is_traced())
        throw "drx: a traced array has no elements yet: index<0>(x) or index(x, i) is one of them; of the whole array: sum, slice, x * y";
  }
#endif
  template <class... I>
  static constexpr std::int64_t offset(I... i) {
    std::int64_t at = 0;
    [[maybe_unused]] int axis = 0;
    ((at = at * shape[axis++] + static_cast<std::int64_t>(i)), ...);
    return at;
  }
  union {
    T data_[size > 0 ? static_cast<std::size_t>(size) : 1];
    traced_ref ref_;
  };
#if defined(DRX_NATIVE_TRACING)
  bool traced_ = false;
#endif
};

template <Element T>
using scalar = array<T>;

namespace detail {
template <class T, class S, class = std::make_integer_sequence<int, S::value.rank>>
struct array_with;
template <class T, class S, int... I>
struct array_with<T, S, std::integer_sequence<int, I...>> {
  using type = array<T, S::value.extent[I]...>;
};
template <class T>
inline constexpr bool is_array = false;
template <class T, std::int64_t... E>
inline constexpr bool is_array<array<T, E...>> = true;
template <class T>
inline constexpr bool is_placed = false;
template <class T, class P>
inline constexpr bool is_placed<placed<T, P>> = true;
}

template <class T, class S>
using array_of = typename detail::array_with<T, S>::type;
template <class A>
struct shape_of {
  static constexpr shape value = A::shape;
};

template <class X>
concept Array = detail::is_array<std::remove_cvref_t<X>>;
template <class X>
concept Placed = detail::is_placed<std::remove_cvref_t<X>>;
template <class X>
concept ScalarArray = Array<X> && std::remove_cvref_t<X>::rank == 0;
template <class X>
concept FloatingArray = Array<X> && is_floating(dtype_of<typename std::remove_cvref_t<X>::value_type>);

}

#include <array>
#include <tuple>

namespace drx {

template <class X>
struct structure;

template <class X>
concept Structured = requires { structure<std::remove_cvref_t<X>>::leaves; };

template <Structured X>
inline constexpr int leaf_count = structure<std::remove_cvref_t<X>>::leaves;
template <Structured X>
using traced_t = typename structure<std::remove_cvref_t<X>>::traced;
template <Structured X>
using canonical_t = typename structure<std::remove_cvref_t<X>>::canonical;
template <Structured X>
using host_t = typename structure<std::remove_cvref_t<X>>::host;

template <class S>
struct value : S {};

template <Element T>
struct structure<T> {
  static constexpr int leaves = 1;
  using canonical = array<T>;
  using traced = array<T>;
  using host = T;
  static constexpr void types(abstract_value* out) { *out = {dtype_of<T>, {}}; }
  static constexpr void refs(T x, traced_ref* out) {
    out->what = traced_ref::kind::splat;
    out->from.number = static_cast<double>(x);
  }
  static constexpr traced bind(const traced_ref* in) { return traced(*in); }
  template <class X, class F>
  static constexpr void visit(X& x, F&& f) {
    f(&x, drx::shape{});
  }
};

template <class T, std::int64_t... E>
struct structure<array<T, E...>> {
  static constexpr int leaves = 1;
  using canonical = array<T, E...>;
  using traced = array<T, E...>;
  using host = std::conditional_t<sizeof...(E) == 0, T, array<T, E...>>;
  static constexpr void types(abstract_value* out) { *out = {dtype_of<T>, canonical::shape}; }
  static constexpr void refs(const canonical& x, traced_ref* out) { *out = x.ref(); }
  static constexpr traced bind(const traced_ref* in) { return traced(*in); }
  template <class X, class F>
  static constexpr void visit(X& x, F&& f) {
    f(x.data(), canonical::shape);
  }
};

template <class S, class P>
struct placed {
  static_assert(Structured<S>, "drx::placed<S, P>: S is not a structure of arrays");
  static_assert(Placement<P>, "drx::placed<S, P>: P is not a placement (struct P : drx::placement<P> {})");
  using member = S;
  using placement = P;
  traced_ref leaf[leaf_count<S> > 0 ? leaf_count<S> : 1] = {};
};

template <class S, class P>
class partitions;

template <class S, class P>
struct structure<placed<S, P>> {
  static constexpr int leaves = leaf_count<S>;
  using canonical = placed<canonical_t<S>, P>;
  using traced = placed<canonical_t<S>, P>;
  using host = partitions<canonical_t<S>, P>;
  static constexpr void types(abstract_value* out) {
    structure<S>::types(out);
    for (int i = 0; i < leaves; ++i) out[i] = out[i].placed_at(&placement_of<P>);
  }
  static constexpr void refs(const placed<S, P>& x, traced_ref* out) {
    for (int i = 0; i < leaves; ++i) out[i] = x.leaf[i];
  }
  static constexpr traced bind(const traced_ref* in) {
    traced x;
    for (int i = 0; i < leaves; ++i) x.leaf[i] = in[i];
    return x;
  }
};

namespace detail {

template <template <class...> class Tuple, class Get, class... X>
struct tuple_structure {
  static constexpr int leaves = (leaf_count<X> + ... + 0);
  static constexpr std::array<int, sizeof...(X)> offset = [] {
    std::array<int, sizeof...(X)> at{};
    int next = 0;
    std::size_t i = 0;
    ((at[i++] = next, next += leaf_count<X>), ...);
    return at;
  }();
  using parts = std::tuple<canonical_t<X>...>;
  using canonical = Tuple<canonical_t<X>...>;
  using traced = Tuple<traced_t<X>...>;
  using host = Tuple<host_t<X>...>;
  static constexpr void types([[maybe_unused]] abstract_value* out) {
    ((structure<X>::types(out), out += leaf_count<X>), ...);
  }
  template <class V>
  static constexpr void refs(const V& x, traced_ref* out) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((structure<X>::refs(Get::template at<I>(x), out), out += leaf_count<X>), ...);
    }(std::index_sequence_for<X...>{});
  }
  static constexpr traced bind([[maybe_unused]] const traced_ref* in) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return traced{structure<X>::bind(in + offset[I])...};
    }(std::index_sequence_for<X...>{});
  }
  template <class V, class F>
  static constexpr void visit(V& x, F&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (structure<X>::visit(Get::template at<I>(x), f), ...);
    }(std::index_sequence_for<X...>{});
  }
};

struct std_get {
  template <std::size_t I, class V>
  static constexpr decltype(auto) at(V& x) {
    return std::get<I>(x);
  }
};

}

template <Structured... X>
struct structure<std::tuple<X...>> : detail::tuple_structure<std::tuple, detail::std_get, X...> {};
template <Structured X, Structured Y>
struct structure<std::pair<X, Y>> : detail::tuple_structure<std::pair, detail::std_get, X, Y> {};

template <Structured X, std::size_t N>
struct structure<std::array<X, N>> {
  static constexpr int leaves = static_cast<int>(N) * leaf_count<X>;
  using canonical = std::array<canonical_t<X>, N>;
  using traced = std::array<traced_t<X>, N>;
  using host = std::array<host_t<X>, N>;
  static constexpr void types(abstract_value* out) {
    for (std::size_t i = 0; i < N; ++i, out += leaf_count<X>) structure<X>::types(out);
  }
  template <class V>
  static constexpr void refs(const V& x, traced_ref* out) {
    for (std::size_t i = 0; i < N; ++i, out += leaf_count<X>) structure<X>::refs(x[i], out);
  }
  static constexpr traced bind(const traced_ref* in) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return traced{structure<X>::bind(in + static_cast<int>(I) * leaf_count<X>)...};
    }(std::make_index_sequence<N>{});
  }
  template <class V, class F>
  static constexpr void visit(V& x, F&& f) {
    for (auto& part : x) structure<X>::visit(part, f);
  }
};

template <class S>
struct structure<value<S>> : structure<S> {};

template <error::Reported X>
struct structure<X> {
  static constexpr int leaves = 0;
  using canonical = X;
  using traced = X;
  using host = X;
  static constexpr void types(abstract_value*) {}
  static constexpr void refs(const X&, traced_ref*) {}
  static constexpr traced bind(const traced_ref*) { return {}; }
  template <class V, class F>
  static constexpr void visit(V&, F&&) {}
};
namespace error {
template <class... X>
inline constexpr bool is_reported<std::tuple<X...>> = AnyReported<X...>;
template <class X, class Y>
inline constexpr bool is_reported<std::pair<X, Y>> = AnyReported<X, Y>;
template <class X, std::size_t N>
inline constexpr bool is_reported<std::array<X, N>> = Reported<X>;
template <class S, class P>
inline constexpr bool is_reported<placed<S, P>> = Reported<S>;
}

namespace detail {

template <class F>
struct or_no_match : F {
  using F::operator();
  error::function_does_not_take_these_arguments operator()(...) const;
};
template <class F, class... X>
constexpr auto call_result() {
  if constexpr (sizeof...(X) > 0 && std::is_class_v<F> && !std::is_final_v<F>) {
    if constexpr (requires(const or_no_match<F>& f) { f(std::declval<X>()...); }) {
      using R = decltype(std::declval<const or_no_match<F>&>()(std::declval<X>()...));
      if constexpr (error::is_unsaid<R> && requires { F::template misuse<X...>(); }) {
        return std::type_identity<error::refused<decltype(F::template misuse<X...>())>>{};
      } else if constexpr (error::is_number_of_std<R, F, X...>) {
        return std::type_identity<error::reported>{};
      } else {
        return std::type_identity<R>{};
      }
    } else {
      return std::type_identity<error::reported>{};
    }
  } else if constexpr (requires(const F& f) { f(std::declval<X>()...); }) {
    return std::type_identity<decltype(std::declval<const F&>()(std::declval<X>()...))>{};
  } else {
    return std::type_identity<error::function_does_not_take_these_arguments>{};
  }
}
template <class F, class... X>
using call_result_type = decltype(call_result<F, X...>());
template <class F, class... X>
using call_result_t = typename call_result_type<F, X...>::type;

struct no_misuse {};

template <class... X>
struct not_arrays {
  static constexpr auto misuse() {
    if constexpr ((Placed<X> || ...)) {
      return error::array_operation_on_a_placed_value{};
    } else {
      return error::not_a_value_of_drx{};
    }
  }
};

template <class Why>
concept NoMisuse = !error::Reported<Why>;

template <class R>
concept TracedResult = Structured<R> && !error::is_unsaid<R>;

template <class X>
struct refusal {
  static constexpr bool sized = requires { std::tuple_size<X>::value; };
  using type = std::conditional_t<std::is_aggregate_v<X> && std::is_class_v<X> && !sized, error::struct_is_not_adapted,
                                  error::not_a_value_of_drx>;
};
template <class X>
  requires requires { typename structure<X>::why; }
struct refusal<X> {
  using type = typename structure<X>::why;
};
template <error::Reported X>
struct refusal<X> {
  using type = X;
};
template <class Why>
struct refusal<error::refused<Why>> {
  using type = Why;
};
template <class R>
constexpr auto result_misuse() {
  if constexpr (TracedResult<R>) {
    return no_misuse{};
  } else {
    return typename refusal<R>::type{};
  }
}

}

template <Structured X>
struct leaf_types {
  abstract_value value[leaf_count<X> > 0 ? leaf_count<X> : 1];
  constexpr leaf_types() { structure<std::remove_cvref_t<X>>::types(value); }
  constexpr const abstract_value& operator[](int i) const { return value[i]; }
};

template <Structured X>
inline constexpr bool all_floating = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (!is_floating(t[i].type)) return false;
  return true;
}();
namespace detail {
template <class X>
inline constexpr bool all_unplaced = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (t[i].depth > 0) return false;
  return true;
}();
template <class X>
inline constexpr bool all_numbers = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (t[i].type == dtype::boolean) return false;
  return true;
}();
}

}

#include <algorithm>

namespace drx {
namespace detail {

template <class S, int I, std::int64_t N>
struct batched_leaf_shape {
  static constexpr leaf_types<S> types{};
  static_assert(types[I].depth == 0, "drx: placed values in a struct that is batched");
  static constexpr shape value = with_front(types[I].shape, N);
  using type = array_of<element_t<types[I].type>, batched_leaf_shape>;
};
template <class S, std::int64_t N, class = std::make_integer_sequence<int, leaf_count<S>>>
struct batched_leaves;
template <class S, std::int64_t N, int... I>
struct batched_leaves<S, N, std::integer_sequence<int, I...>> {
  using type = std::tuple<typename batched_leaf_shape<S, I, N>::type...>;
};

template <class S, class F>
constexpr void for_each_member(const F& f, const S& s) {
  using members = typename structure<S>::members;
  [&]<int... I>(std::integer_sequence<int, I...>) {
    constexpr auto first = [](int member) {
      const int counts[] = {leaf_count<typename members::template type<I>>..., 0};
      int n = 0;
      for (int i = 0; i < member; ++i) n += counts[i];
      return n;
    };
    (f(std::integral_constant<int, first(I)>{}, members::template at<I>(s)), ...);
  }(std::make_integer_sequence<int, members::count>{});
}

template <class X, std::int64_t N, int Axis>
struct add_axis;

}

template <class S, std::int64_t N>
struct batched {
  using element = S;
  static constexpr std::int64_t size = N;
  typename detail::batched_leaves<S, N>::type leaf;

  [[nodiscard]] constexpr traced_t<S> operator[](std::int64_t i) const {
    require_value(i);
    if (detail::is_tracing()) return index(*this, i);
    traced_t<S> one{};
    const leaf_addresses<const void> from(*this);
    structure<S>::visit(one, [&, k = 0](auto* to, const shape& s) mutable {
      const auto* p = static_cast<const std::remove_pointer_t<decltype(to)>*>(from.at[k++]);
      std::copy_n(p + i * s.size(), s.size(), to);
    });
    return one;
  }
  template <class I>
    requires Array<I>
  constexpr auto operator[](const I& i) const {
    return index(*this, i);
  }
  template <class M>
    requires requires { structure<S>::members::count; }
  [[nodiscard]] constexpr auto operator[](M S::* member) const {
    typename detail::add_axis<M, N, 0>::type all{};
    const S names{};
    detail::for_each_member<S>(
        [&]<int First, class Of>(std::integral_constant<int, First>, const Of& one) {
          if constexpr (std::is_same_v<Of, M>)
            if (&one == &(names.*member)) take<First>(all);
        },
        names);
    return all;
  }
  void set(std::int64_t i, const S& value) {
    require_value(i);
    const leaf_addresses<void> to(*this);
    structure<S>::visit(value, [&, k = 0](const auto* from, const shape& s) mutable {
      auto* p = static_cast<std::remove_const_t<std::remove_pointer_t<decltype(from)>>*>(to.at[k++]);
      std::copy_n(from, s.size(), p + i * s.size());
    });
  }

 private:
  static constexpr void require_value(std::int64_t i) {
    if (i >= 0 && i < N) return;
    if (detail::is_tracing()) throw "drx: a batch of n has the values 0 to n - 1";
    throw std::out_of_range("drx: value " + std::to_string(i) + " of a batch of " + std::to_string(N));
  }
  template <class Byte>
  struct leaf_addresses {
    Byte* at[leaf_count<S> + 1] = {};
    template <class X>
    constexpr explicit leaf_addresses(X& x) {
      structure<batched>::visit(x, [&, k = 0](auto* p, const shape&) mutable { at[k++] = p; });
    }
  };
  template <int First, class R>
  constexpr void take(R& to) const {
    if (detail::is_tracing()) {
      traced_ref r[leaf_count<S> + 1] = {};
      structure<batched>::refs(*this, r);
      to = structure<R>::bind(r + First);
    } else {
      const leaf_addresses<const void> from(*this);
      structure<R>::visit(to, [&, k = First](auto* p, const shape& s) mutable {
        std::copy_n(static_cast<const std::remove_pointer_t<decltype(p)>*>(from.at[k++]), s.size(), p);
      });
    }
  }
};

template <class S, std::int64_t N>
struct structure<batched<S, N>> {
  using parts = structure<typename detail::batched_leaves<S, N>::type>;
  static constexpr int leaves = parts::leaves;
  using canonical = batched<S, N>;
  using traced = batched<S, N>;
  using host = batched<S, N>;
  static constexpr void types(abstract_value* out) { parts::types(out); }
  static constexpr void refs(const batched<S, N>& x, traced_ref* out) { parts::refs(x.leaf, out); }
  static constexpr traced bind(const traced_ref* in) { return {parts::bind(in)}; }
  template <class X, class F>
  static constexpr void visit(X& x, F&& f) {
    parts::visit(x.leaf, f);
  }
};

namespace detail {

template <class X, std::int64_t N, int Axis>
struct add_axis {
  static_assert(Axis == 0, "drx: the batch axis of a struct is axis 0");
  using type = batched<X, N>;
};
template <Element T, std::int64_t N, int Axis>
struct add_axis<T, N, Axis> : add_axis<array<T>, N, Axis> {};
template <class T, std::int64_t... E, std::int64_t N, int Axis>
struct add_axis<array<T, E...>, N, Axis> {
  static constexpr shape value = with_axis(make_shape(E...), normal_axis(Axis, sizeof...(E) + 1), N);
  using type = array_of<T, add_axis>;
};
template <class S, class P, std::int64_t N, int Axis>
struct add_axis<placed<S, P>, N, Axis> {
  using type = placed<typename add_axis<S, N, Axis>::type, P>;
};
template <class... X, std::int64_t N, int Axis>
struct add_axis<std::tuple<X...>, N, Axis> {
  using type = std::tuple<typename add_axis<X, N, Axis>::type...>;
};
template <class X, class Y, std::int64_t N, int Axis>
struct add_axis<std::pair<X, Y>, N, Axis> {
  using type = std::pair<typename add_axis<X, N, Axis>::type, typename add_axis<Y, N, Axis>::type>;
};
template <class X, std::size_t M, std::int64_t N, int Axis>
struct add_axis<std::array<X, M>, N, Axis> {
  using type = std::array<typename add_axis<X, N, Axis>::type, M>;
};

template <class X, int Axis>
struct drop_axis;
template <class T, std::int64_t... E, int Axis>
struct drop_axis<array<T, E...>, Axis> {
  static constexpr int axis = normal_axis(Axis, sizeof...(E));
  static constexpr shape value = without_axis(make_shape(E...), axis);
  using type = array_of<T, drop_axis>;
};
template <class S, std::int64_t N>
struct drop_axis<batched<S, N>, 0> {
  using type = S;
};
template <class S, class P, int Axis>
struct drop_axis<placed<S, P>, Axis> {
  using type = placed<typename drop_axis<S, Axis>::type, P>;
};
template <class... X, int Axis>
struct drop_axis<std::tuple<X...>, Axis> {
  using type = std::tuple<typename drop_axis<X, Axis>::type...>;
};
template <class X, class Y, int Axis>
struct drop_axis<std::pair<X, Y>, Axis> {
  using type = std::pair<typename drop_axis<X, Axis>::type, typename drop_axis<Y, Axis>::type>;
};
template <class X, std::size_t M, int Axis>
struct drop_axis<std::array<X, M>, Axis> {
  using type = std::array<typename drop_axis<X, Axis>::type, M>;
};

}

template <class X, std::int64_t N, int Axis = 0>
using stacked_t = typename detail::add_axis<canonical_t<X>, N, Axis>::type;

}

namespace drx {

namespace detail {
template <class S>
concept HasParts = Structured<S> && requires { std::tuple_size<S>::value; };

template <class S, std::size_t I>
inline constexpr int leaves_before = []<std::size_t... J>(std::index_sequence<J...>) {
  return (leaf_count<std::tuple_element_t<J, S>> + ... + 0);
}(std::make_index_sequence<I>{});
}

template <std::size_t I, class S, class P>
  requires detail::HasParts<S>
constexpr auto get(const placed<S, P>& x) {
  placed<std::tuple_element_t<I, S>, P> part;
  for (int i = 0; i < leaf_count<std::tuple_element_t<I, S>>; ++i)
    part.leaf[i] = x.leaf[detail::leaves_before<S, I> + i];
  return part;
}

}

template <class S, class P>
  requires drx::detail::HasParts<S>
struct std::tuple_size<drx::placed<S, P>> : std::tuple_size<S> {};
template <std::size_t I, class S, class P>
  requires drx::detail::HasParts<S>
struct std::tuple_element<I, drx::placed<S, P>> {
  using type = drx::placed<std::tuple_element_t<I, S>, P>;
};

namespace drx::meta {

template <class T>
class vec {
 public:
  constexpr vec() = default;
  constexpr explicit vec(int n, const T& fill = T{}) { resize(n, fill); }
  constexpr vec(std::initializer_list<T> values) {
    reserve(static_cast<int>(values.size()));
    for (const T& v : values) push_back(v);
  }
  constexpr vec(const vec& other) {
    if (other.size_ == 0) return;
    size_ = capacity_ = other.size_;
    data_ = new T[static_cast<unsigned long>(size_)]{};
    for (int i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  constexpr vec(vec&& other) noexcept : data_(other.data_), size_(other.size_), capacity_(other.capacity_) {
    other.data_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  constexpr vec& operator=(const vec& other) {
    if (this == &other) return *this;
    if (capacity_ < other.size_) {
      delete[] data_;
      capacity_ = other.size_;
      data_ = new T[static_cast<unsigned long>(capacity_)]{};
    }
    size_ = other.size_;
    for (int i = 0; i < size_; ++i) data_[i] = other.data_[i];
    return *this;
  }
  constexpr vec& operator=(vec&& other) noexcept {
    T* const data = data_;
    const int size = size_, capacity = capacity_;
    data_ = other.data_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.data_ = data;
    other.size_ = size;
    other.capacity_ = capacity;
    return *this;
  }
  constexpr ~vec() { delete[] data_; }

  [[nodiscard]] constexpr int size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

  constexpr void push_back(T value) {
    if (size_ == capacity_) reserve(capacity_ == 0 ? 4 : 2 * capacity_);
    data_[size_++] = static_cast<T&&>(value);
  }
  constexpr void append(const vec& other) {
    for (int i = 0; i < other.size_; ++i) push_back(other.data_[i]);
  }
  constexpr void pop_back() { --size_; }
  constexpr void resize(int n, const T& fill = T{}) {
    if (n > capacity_) reserve(n < 2 * capacity_ ? 2 * capacity_ : n);
    for (int i = size_; i < n; ++i) data_[i] = fill;
    size_ = n;
  }
  constexpr void reserve(int n) {
    if (n <= capacity_) return;
    T* grown = new T[static_cast<unsigned long>(n)]{};
    for (int i = 0; i < size_; ++i) grown[i] = static_cast<T&&>(data_[i]);
    delete[] data_;
    data_ = grown;
    capacity_ = n;
  }
  [[nodiscard]] constexpr int find(const T& value) const {
    for (int i = 0; i < size_; ++i)
      if (data_[i] == value) return i;
    return -1;
  }
  friend constexpr bool operator==(const vec& a, const vec& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

 private:
  T* data_ = nullptr;
  int size_ = 0;
  int capacity_ = 0;
};

}

namespace drx {

struct primitive;
using meta::vec;

struct attributes {
  vec<std::int64_t> ints;
  double number = 0;
  const placement_info* placement = nullptr;

  friend constexpr bool operator==(const attributes& a, const attributes& b) {
    return a.number == b.number && a.placement == b.placement && a.ints == b.ints;
  }
};

struct entry;

struct tape {
  vec<abstract_value> values;
  vec<entry> entries;
  vec<int> inputs;
  vec<int> outputs;

  [[nodiscard]] constexpr vec<abstract_value> types_of(const vec<int>& ids) const {
    vec<abstract_value> r;
    r.reserve(ids.size());
    for (int id : ids) r.push_back(values[id]);
    return r;
  }
};

struct entry {
  const primitive* prim = nullptr;
  vec<int> operands;
  vec<int> results;
  attributes attrs;
  vec<tape> regions;
  unsigned hash = 0;
};

constexpr bool same_regions(const vec<tape>& a, const vec<tape>& b);

constexpr bool same_work(const entry& a, const entry& b) {
  return a.prim == b.prim && a.attrs == b.attrs && same_regions(a.regions, b.regions);
}
constexpr bool same_tape(const tape& a, const tape& b) {
  if (!(a.inputs == b.inputs && a.outputs == b.outputs && a.values == b.values) || a.entries.size() != b.entries.size())
    return false;
  for (int i = 0; i < a.entries.size(); ++i) {
    const entry &x = a.entries[i], &y = b.entries[i];
    if (!(x.operands == y.operands && x.results == y.results && same_work(x, y))) return false;
  }
  return true;
}
constexpr bool same_regions(const vec<tape>& a, const vec<tape>& b) {
  if (a.size() != b.size()) return false;
  for (int i = 0; i < a.size(); ++i)
    if (!same_tape(a[i], b[i])) return false;
  return true;
}

}

namespace drx {

struct int_list {
  const std::int64_t* first = nullptr;
  int count = 0;

  constexpr int_list() = default;
  constexpr int_list(const std::int64_t* at, int n) : first(at), count(n) {}
  constexpr int_list(const vec<std::int64_t>& ints) : first(ints.begin()), count(ints.size()) {}
  constexpr int_list(const attributes& a) : int_list(a.ints) {}
  constexpr int_list(const entry& e) : int_list(e.attrs.ints) {}

  [[nodiscard]] constexpr int size() const { return count; }
  constexpr std::int64_t operator[](int i) const { return first[i]; }
  [[nodiscard]] constexpr int number(int i) const { return static_cast<int>(first[i]); }
  [[nodiscard]] constexpr bool flag(int i) const { return first[i] != 0; }
  [[nodiscard]] constexpr const std::int64_t* begin() const { return first; }
  [[nodiscard]] constexpr const std::int64_t* end() const { return first + count; }
  [[nodiscard]] constexpr bool contains(std::int64_t value) const {
    for (int i = 0; i < count; ++i)
      if (first[i] == value) return true;
    return false;
  }
  [[nodiscard]] constexpr int_list part(int from, int n) const { return {first + from, n}; }
  [[nodiscard]] constexpr int_list from(int at) const { return {first + at, count - at}; }

  constexpr operator vec<std::int64_t>() const {
    vec<std::int64_t> r;
    r.reserve(count);
    for (int i = 0; i < count; ++i) r.push_back(first[i]);
    return r;
  }
  friend constexpr bool operator==(const int_list& a, const int_list& b) {
    if (a.count != b.count) return false;
    for (int i = 0; i < a.count; ++i)
      if (a.first[i] != b.first[i]) return false;
    return true;
  }
};

}

#include <optional>

namespace drx {

class builder;
struct evaluation;
struct known_value;
struct known_site;
struct int_list;
struct share_site;
struct split_site;
struct split_result;
struct lane_site;

struct typing {
  const vec<abstract_value>& operands;
  const attributes& attrs;
  const vec<tape>& regions;

  static constexpr void require(bool ok, const char* sentence) {
    if (!ok) throw sentence;
  }
};

struct region_drivers {
  tape (*jvp)(const tape& t, const vec<bool>& moving);
  tape (*vjp)(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
  tape (*vjp_of_member)(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
  tape (*value_and_vjp)(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
  tape (*batch_along)(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                      vec<bool>& outputs_with_axis, const placement_info* axis);
  const placement_info* axis = nullptr;
  [[nodiscard]] constexpr tape batch(const tape& t, const vec<bool>& batched, std::int64_t n) const;
  [[nodiscard]] constexpr tape batch(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                                     vec<bool>& outputs_with_axis) const;
};

struct rule_site {
  builder& b;
  const entry& e;
  const vec<int>& operands;
  const vec<int>& results;
  const region_drivers& drivers;
  const vec<int>& residuals = {};
};

inline constexpr int zero_tangent = -1;

enum class fold : std::int8_t {
  none = -1,
  sum,
  mean,
  max,
  min,
  collect,
  monoid,
  gather,
  shards,
  permute,
  transpose,
  shard_sum
};

enum class role : std::int8_t {
  step,
  fused,
  virtual_,
  rearranged,
  alias
};

struct along_axis_result {
  int id;
  bool has_axis;
};

struct entry_cost {
  double multiplications =
      0;
  double repeats = 1;
  bool suits_lanes = false;
};

struct primitive {
  const char* name;
  vec<abstract_value> (*type)(const typing&);
  vec<int> (*jvp)(const rule_site&, const vec<int>& tangents) = nullptr;
  vec<int> (*vjp)(const rule_site&, const vec<int>& cotangents, const vec<bool>& wanted) = nullptr;
  vec<int> (*augmented)(const rule_site&, const vec<bool>& wanted) = nullptr;
  vec<int> (*batch)(const rule_site&, const vec<bool>& batched, std::int64_t n) = nullptr;
  along_axis_result (*along_axis)(const rule_site&, bool operands_have_axis, std::int64_t n) = nullptr;
  int (*simplify)(builder&, const vec<int>& operands, const attributes&) = nullptr;
  vec<int> (*unfold)(builder&, const vec<int>& operands, const vec<tape>& regions) = nullptr;
  void (*prune)(entry&, const vec<bool>& wanted) = nullptr;
  std::string (*print)(const attributes&) = nullptr;
  void (*evaluate)(evaluation&) = nullptr;
  void (*native)(const std::int64_t* ints, const void* const* in, void* const* out) = nullptr;
  drx::fold fold = drx::fold::none;
  vec<int> (*share)(share_site&) = nullptr;
  std::optional<std::int64_t> (*members)(const tape&, const entry&) = nullptr;
  vec<known_value> (*known)(const known_site&) = nullptr;
  vec<known_value> (*known_inside)(const known_site&, int i) = nullptr;
  vec<int> (*lanes)(const lane_site&) = nullptr;
  vec<split_result> (*split)(split_site&) = nullptr;
  drx::role role = drx::role::step;
  std::int64_t (*scratch)(const vec<abstract_value>& operands, int_list) = nullptr;
  entry_cost (*cost)(const tape&, const entry&) = nullptr;
  bool transparent = false;
  bool elementwise = false;
  bool pointwise = false;
  bool in_place =
      false;
  bool takes_halves = false;
};

constexpr entry_cost cost_of(const tape& t, const entry& e) { return e.prim->cost ? e.prim->cost(t, e) : entry_cost(); }

constexpr tape region_drivers::batch(const tape& t, const vec<bool>& batched, std::int64_t n) const {
  vec<bool> all;
  return batch_along(t, batched, n, vec<bool>(t.outputs.size(), true), all, axis);
}
constexpr tape region_drivers::batch(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                                     vec<bool>& outputs_with_axis) const {
  return batch_along(t, batched, n, must, outputs_with_axis, axis);
}

}

namespace drx::emit {

constexpr vec<int> in_float(builder& b, const primitive& p, const vec<int>& operands, const attributes& a);

}

namespace drx {

class builder {
 public:
  constexpr builder() = default;
  builder(const builder&) = delete;
  builder& operator=(const builder&) = delete;

  constexpr int input(const abstract_value& type) {
    const int id = new_value(type);
    tape_.inputs.push_back(id);
    return id;
  }

  constexpr vec<int> add(const primitive& prim, const vec<int>& operands, const attributes& attrs = {},
                         vec<tape> regions = {}) {
    if (halves_ && !prim.takes_halves && regions.empty() && has_halves(operands))
      return emit::in_float(*this, prim, operands, attrs);
    if (regions.empty() && prim.simplify) {
      const int known = prim.simplify(*this, operands, attrs);
      if (known >= 0) return {known};
    }
    if (prim.unfold) {
      vec<int> known = prim.unfold(*this, operands, regions);
      if (!known.empty()) return known;
    }
    const unsigned h = hash(prim, operands, attrs);
    if (regions.empty()) {
      const int known = find(h, prim, operands, attrs);
      if (known >= 0) return tape_.entries[known].results;
    }
    entry e;
    e.prim = &prim;
    e.operands = operands;
    e.attrs = attrs;
    e.hash = h;
    const vec<abstract_value> operand_types = tape_.types_of(operands);
    const vec<abstract_value> types = prim.type({operand_types, attrs, regions});
    e.regions = static_cast<vec<tape>&&>(regions);
    for (const auto& t : types) e.results.push_back(new_value(t));
    definition_.resize(tape_.values.size(), -1);
    for (int r : e.results) definition_[r] = tape_.entries.size();
    vec<int> results = e.results;
    remember(e);
    tape_.entries.push_back(static_cast<entry&&>(e));
    return results;
  }
  constexpr vec<int> add_shared(const entry& other, const vec<int>& operands) {
    if (!other.regions.empty())
      for (const entry& e : tape_.entries)
        if (e.operands == operands && same_work(e, other)) return e.results;
    return add(*other.prim, operands, other.attrs, other.regions);
  }
  constexpr int add1(const primitive& prim, const vec<int>& operands, const attributes& attrs = {},
                     vec<tape> regions = {}) {
    return add(prim, operands, attrs, static_cast<vec<tape>&&>(regions))[0];
  }

  [[nodiscard]] constexpr abstract_value type(int id) const { return tape_.values[id]; }
  [[nodiscard]] constexpr drx::shape shape(int id) const { return tape_.values[id].shape; }
  [[nodiscard]] constexpr const entry* definition(int id) const {
    const int at = id < definition_.size() ? definition_[id] : -1;
    return at < 0 ? nullptr : &tape_.entries[at];
  }

  constexpr void output(int id) { tape_.outputs.push_back(id); }
  [[nodiscard]] constexpr const tape& result() const { return tape_; }
  [[nodiscard]] constexpr tape take() { return static_cast<tape&&>(tape_); }

 private:
  constexpr int new_value(const abstract_value& type) {
    tape_.values.push_back(type);
    halves_ = halves_ || is_half_type(type.type);
    return tape_.values.size() - 1;
  }
  [[nodiscard]] constexpr bool has_halves(const vec<int>& values) const {
    for (int v : values)
      if (is_half_type(tape_.values[v].type)) return true;
    return false;
  }
  static constexpr unsigned hash(const primitive& prim, const vec<int>& operands, const attributes& attrs) {
    unsigned h = static_cast<unsigned>(prim.name[0]) * 31U + static_cast<unsigned>(prim.name[1]);
    for (int o : operands) h = h * 31U + static_cast<unsigned>(o);
    for (auto i : attrs.ints) h = h * 31U + static_cast<unsigned>(i);
    const auto number = __builtin_bit_cast(unsigned long long, attrs.number);
    h = h * 31U + static_cast<unsigned>(number ^ number >> 32);
    return h ^ h >> 15;
  }

  constexpr int find(unsigned h, const primitive& prim, const vec<int>& operands, const attributes& attrs) const {
    if (first_.empty()) return -1;
    for (int i = first_[bucket(h)]; i >= 0; i = same_bucket_[i]) {
      const entry& e = tape_.entries[i];
      if (e.hash == h && e.prim == &prim && e.operands == operands && e.attrs == attrs) return i;
    }
    return -1;
  }
  constexpr void remember(const entry& e) {
    const int next = tape_.entries.size();
    same_bucket_.push_back(-1);
    if (!e.regions.empty()) return;
    if (next >= first_.size()) {
      first_ = vec<int>(first_.empty() ? 16 : 4 * first_.size(), -1);
      for (int i = 0; i < next; ++i)
        if (tape_.entries[i].regions.empty()) chain(tape_.entries[i].hash, i);
    }
    chain(e.hash, next);
  }
  constexpr void chain(unsigned h, int i) {
    same_bucket_[i] = first_[bucket(h)];
    first_[bucket(h)] = i;
  }
  [[nodiscard]] constexpr int bucket(unsigned h) const {
    return static_cast<int>(h & static_cast<unsigned>(first_.size() - 1));
  }

  tape tape_;
  bool halves_ = false;
  vec<int> first_, same_bucket_;
  vec<int> definition_;
};

}

namespace drx {

constexpr tape without_dead_entries(tape t);

constexpr vec<int> renamed(const vec<int>& ids, const vec<int>& names) {
  vec<int> r;
  r.reserve(ids.size());
  for (int id : ids) r.push_back(id < 0 ? -1 : names[id]);
  return r;
}

constexpr vec<int> inputs_like(builder& b, const tape& t) {
  vec<int> r;
  for (int i : t.inputs) r.push_back(b.input(t.values[i]));
  return r;
}

struct rewriter {
  builder& b;
  const tape& t;
  vec<int> names;

  constexpr rewriter(builder& on, const tape& source, const vec<int>& inputs)
      : b(on), t(source), names(t.values.size(), -1) {
    for (int i = 0; i < inputs.size(); ++i) names[t.inputs[i]] = inputs[i];
  }
  [[nodiscard]] constexpr vec<int> operands(const entry& e) const { return renamed(e.operands, names); }
  [[nodiscard]] constexpr vec<int> outputs() const { return renamed(t.outputs, names); }

  constexpr vec<int> copied(const entry& e) { return copied(e, e.regions); }
  constexpr vec<int> copied(const entry& e, vec<tape> regions) {
    return b.add(*e.prim, operands(e), e.attrs, static_cast<vec<tape>&&>(regions));
  }
  template <class Pass>
  constexpr vec<int> copied_with(const Pass& pass, const entry& e) {
    vec<tape> regions;
    for (const tape& r : e.regions) regions.push_back(pass(r));
    return copied(e, static_cast<vec<tape>&&>(regions));
  }
  constexpr void name(const entry& e, const vec<int>& results) {
    for (int i = 0; i < e.results.size() && i < results.size(); ++i) names[e.results[i]] = results[i];
  }
  template <class Written>
  constexpr void write(const Written& written) {
    for (const entry& e : t.entries) name(e, written(e));
  }
};

template <class Pass>
constexpr tape rewritten(const tape& t, const Pass& pass) {
  builder b;
  rewriter w(b, t, inputs_like(b, t));
  for (const entry& e : t.entries) w.name(e, pass(w, e));
  for (int o : w.outputs()) b.output(o);
  return without_dead_entries(b.take());
}

constexpr vec<int> inline_tape(builder& b, const tape& t, const vec<int>& inputs) {
  rewriter w(b, t, inputs);
  for (const entry& e : t.entries) w.name(e, w.copied(e));
  return w.outputs();
}

constexpr bool is_all_used(const tape& t, bool inputs_too, bool has_index) {
  vec<bool> used(t.values.size(), false);
  for (int o : t.outputs) used[o] = true;
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    for (int r : e.results)
      if (!used[r]) return false;
    for (const tape& r : e.regions)
      if (!is_all_used(r, true, r.inputs.size() == e.operands.size() + 1)) return false;
    for (int o : e.operands) used[o] = true;
  }
  for (int i = has_index; inputs_too && i < t.inputs.size(); ++i)
    if (!used[t.inputs[i]]) return false;
  return true;
}

constexpr tape without_dead_entries(tape t) {
  if (is_all_used(t, false, false)) return t;
  vec<bool> used(t.values.size(), false);
  for (int o : t.outputs) used[o] = true;
  vec<entry> kept;
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    entry& e = t.entries[i];
    bool any = false;
    for (int r : e.results) any = any || used[r];
    if (!any) continue;
    if (e.prim->prune) {
      vec<bool> wanted;
      for (int r : e.results) wanted.push_back(used[r]);
      e.prim->prune(e, wanted);
    }
    for (int o : e.operands) used[o] = true;
    kept.push_back(static_cast<entry&&>(e));
  }
  tape r;
  vec<int> names(t.values.size(), -1);
  auto declare = [&](int id) {
    names[id] = r.values.size();
    r.values.push_back(t.values[id]);
    return names[id];
  };
  for (int i : t.inputs) r.inputs.push_back(declare(i));
  for (int i = kept.size() - 1; i >= 0; --i) {
    entry& e = kept[i];
    e.operands = renamed(e.operands, names);
    for (int& result : e.results) result = declare(result);
    r.entries.push_back(static_cast<entry&&>(e));
  }
  r.outputs = renamed(t.outputs, names);
  return r;
}

template <class F>
constexpr bool any_entry(const tape& t, F holds) {
  for (const entry& e : t.entries) {
    if (holds(e)) return true;
    for (const tape& r : e.regions)
      if (any_entry(r, holds)) return true;
  }
  return false;
}

constexpr tape without_transparent_entries(tape t) {
  if (!any_entry(t, [](const entry& e) { return e.prim->transparent; })) return t;
  return rewritten(t, [](rewriter& w, const entry& e) {
    if (e.prim->transparent) return inline_tape(w.b, without_transparent_entries(e.regions[0]), w.operands(e));
    return w.copied_with(without_transparent_entries, e);
  });
}

constexpr vec<bool> needed_inputs(const tape& t, const vec<bool>& wanted_outputs) {
  vec<bool> used(t.values.size(), false), inputs;
  for (int i = 0; i < t.outputs.size(); ++i)
    if (wanted_outputs[i]) used[t.outputs[i]] = true;
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    if (!e.regions.empty()) continue;
    bool any = false;
    for (int r : e.results) any = any || used[r];
    if (any)
      for (int o : e.operands) used[o] = true;
  }
  for (int i : t.inputs) inputs.push_back(used[i]);
  return inputs;
}

constexpr tape pruned_region(tape region, const vec<bool>& wanted_outputs, const vec<bool>& keep_inputs,
                             vec<bool>& used_inputs) {
  vec<int> outputs;
  for (int i = 0; i < region.outputs.size(); ++i)
    if (wanted_outputs[i]) outputs.push_back(region.outputs[i]);
  region.outputs = outputs;
  region = without_dead_entries(static_cast<tape&&>(region));
  vec<bool> used(region.values.size(), false);
  for (const entry& e : region.entries)
    for (int o : e.operands) used[o] = true;
  for (int o : region.outputs) used[o] = true;
  used_inputs = vec<bool>();
  vec<int> inputs;
  for (int i = 0; i < region.inputs.size(); ++i) {
    used_inputs.push_back(keep_inputs[i] || used[region.inputs[i]]);
    if (used_inputs.back()) inputs.push_back(region.inputs[i]);
  }
  region.inputs = inputs;
  return region;
}

template <class T>
constexpr vec<T> filtered(const vec<T>& all, const vec<bool>& keep) {
  vec<T> r;
  for (int i = 0; i < all.size(); ++i)
    if (keep[i]) r.push_back(all[i]);
  return r;
}

}

namespace drx {

namespace emit {
constexpr int broadcast_to(builder& b, int x, const shape& s);
constexpr int reshape(builder& b, int x, const shape& s);
}

struct lane_site {
  builder& b;
  const entry& e;
  const vec<int>& operands;
  const vec<bool>& in_lanes;
  std::int64_t n;
  vec<bool>& results;
  vec<int> (*write)(builder& b, std::int64_t n, const tape& t, const vec<int>& inputs, vec<bool>& lanes);

  [[nodiscard]] constexpr int spread(int x) const { return spread(b, x); }
  constexpr int spread(builder& on, int x) const {
    const shape s = on.shape(x);
    return emit::broadcast_to(on, emit::reshape(on, x, with_last(s, 1)), with_last(s, n));
  }
  [[nodiscard]] constexpr int operand(int i) const { return in_lanes[i] ? operands[i] : spread(operands[i]); }
  [[nodiscard]] constexpr vec<int> all_operands() const {
    vec<int> r;
    for (int i = 0; i < operands.size(); ++i) r.push_back(operand(i));
    return r;
  }
  [[nodiscard]] constexpr vec<int> same_on(const vec<int>& o) const { return {b.add1(*e.prim, o, e.attrs)}; }
  constexpr tape region(const tape& t, const vec<bool>& in, const vec<bool>& must, vec<bool>& lanes) const {
    builder r;
    vec<int> inputs;
    for (int i = 0; i < t.inputs.size(); ++i) {
      const abstract_value v = t.values[t.inputs[i]];
      inputs.push_back(r.input(in[i] ? v.with_shape(with_last(v.shape, n)) : v));
    }
    lanes = in;
    const vec<int> out = write(r, n, t, inputs, lanes);
    for (int i = 0; i < out.size(); ++i) {
      r.output(must[i] && !lanes[i] ? spread(r, out[i]) : out[i]);
      lanes[i] = lanes[i] || must[i];
    }
    return r.result();
  }
};

namespace prim::rules::lanes {
constexpr vec<int> batched(const lane_site&) { return {}; }
constexpr vec<int> same(const lane_site& s) { return s.same_on(s.all_operands()); }
template <int I>
constexpr vec<int> same_places(const lane_site& s) {
  if (s.in_lanes[I]) return {};
  vec<int> operands = s.operands;
  for (int i = 0; i < I; ++i) operands[i] = s.operand(i);
  return s.same_on(operands);
}
constexpr vec<std::int64_t> and_last(int_list of_axes, std::int64_t of_lanes) {
  vec<std::int64_t> r = of_axes;
  r.push_back(of_lanes);
  return r;
}
}

}

namespace drx {

struct known_value {
  bool finite = false;
  bool not_negative = false, not_positive = false;
  bool not_zero = false;

  [[nodiscard]] constexpr bool positive() const { return not_negative && not_zero; }
  [[nodiscard]] constexpr bool negative() const { return not_positive && not_zero; }
  [[nodiscard]] constexpr known_value but_zero() const {
    known_value r = *this;
    r.not_zero = false;
    return r;
  }
  friend constexpr bool operator==(const known_value&, const known_value&) = default;

  friend constexpr known_value operator-(const known_value& x) {
    return {x.finite, x.not_positive, x.not_negative, x.not_zero};
  }
  friend constexpr known_value operator+(const known_value& x, const known_value& y) {
    const bool up = x.not_negative && y.not_negative, down = x.not_positive && y.not_positive;
    return {x.finite && y.finite, up, down, (up || down) && (x.not_zero || y.not_zero)};
  }
  friend constexpr known_value operator*(const known_value& x, const known_value& y) {
    const bool same = (x.not_negative && y.not_negative) || (x.not_positive && y.not_positive);
    const bool opposite = (x.not_negative && y.not_positive) || (x.not_positive && y.not_negative);
    return {x.finite && y.finite, same, opposite, false};
  }
  friend constexpr known_value operator/(const known_value& x, const known_value& y) {
    known_value r = x * y;
    r.finite = r.finite && y.not_zero;
    return r;
  }
};
using known_values = vec<known_value>;

constexpr known_value either(const known_value& x, const known_value& y) {
  return {x.finite && y.finite, x.not_negative && y.not_negative, x.not_positive && y.not_positive,
          x.not_zero && y.not_zero};
}
constexpr known_value larger_of(const known_value& x, const known_value& y) {
  return {x.finite && y.finite, x.not_negative || y.not_negative, x.not_positive && y.not_positive,
          x.positive() || y.positive() || (x.negative() && y.negative())};
}
constexpr known_value any_finite() { return {true, false, false, false}; }
constexpr known_value finite_and_not_negative() { return {true, true, false, false}; }
constexpr bool is_finite(double x) {
  return x >= -std::numeric_limits<double>::max() && x <= std::numeric_limits<double>::max();
}
constexpr known_value known_number(double x) { return {is_finite(x), !(x < 0), !(x > 0), x != 0}; }

struct definitions {
  const tape& t;
  vec<int> at;
  constexpr explicit definitions(const tape& of) : t(of), at(of.values.size(), -1) {
    for (int i = 0; i < t.entries.size(); ++i)
      for (int r : t.entries[i].results) at[r] = i;
  }
  [[nodiscard]] constexpr const entry* of(int v) const { return at[v] < 0 ? nullptr : &t.entries[at[v]]; }
};

struct known_site {
  const definitions& definition;
  const entry& e;
  const known_values& operands;
  known_values (*outputs)(const tape& region, const known_values& inputs);

  [[nodiscard]] constexpr const abstract_value& type(int v) const { return definition.t.values[v]; }
};

namespace prim::rules::known {
constexpr known_values nothing(const known_site&) { return {}; }
constexpr known_values handed_on(const known_site& s) { return {s.operands[0]}; }
constexpr known_values sums(const known_site& s) { return {s.operands[0].but_zero()}; }
constexpr known_values products(const known_site& s) {
  return {{s.operands[0].finite, s.operands[0].not_negative, false, false}};
}
constexpr known_values polynomials(const known_site& s) { return {{s.operands[0].finite, false, false, false}}; }
constexpr known_values of_region(const known_site& s) { return s.outputs(s.e.regions[0], s.operands); }
constexpr known_values operands_inside(const known_site& s, int i) {
  if (i != 0) return {};
  return s.operands;
}
constexpr known_values counts(const known_site& s) {
  known_value r = finite_and_not_negative();
  if (s.type(s.e.results[0]).type == dtype::f16) r.finite = false;
  return {r};
}
}

}

namespace drx::patterns {

constexpr int behind(const definitions& d, int v, const primitive& p);
constexpr const entry* extremum_of(const definitions& d, int v, int x);
constexpr std::optional<int_list> below_maximum(const definitions& d, const entry& e);
constexpr bool is_softmax_sum(const definitions& d, const entry& e);
constexpr bool is_share(const definitions& d, const entry& e);
constexpr bool is_of_uniform(const definitions& d, const entry& e);
constexpr bool is_squared_norm(const definitions& d, const entry& e);

}

namespace drx {

struct share_site {
  builder& b;
  const entry& e;
  int index;

  constexpr share_site(builder& on, const entry& of, int number) : b(on), e(of), index(number) {}
  constexpr virtual int share(int i) = 0;
  constexpr virtual int common(int i) = 0;
};

}

namespace drx {

struct mesh_axes {
  const placement_info* members = nullptr;
  const placement_info* shards = nullptr;
  std::int64_t count = 0;
};

struct split_result {
  int id;
  int axis;
};

struct split_site {
  static constexpr int whole = -1;

  builder& b;
  const tape& t;
  const entry& e;
  const mesh_axes& mesh;

  constexpr split_site(builder& on, const tape& source, const entry& of, const mesh_axes& axes)
      : b(on), t(source), e(of), mesh(axes) {}
  [[nodiscard]] constexpr virtual int axis(int i) const = 0;
  constexpr virtual int at(int i, int k) = 0;
  constexpr virtual int from_shards(int x) = 0;

  constexpr int operand(int i) { return at(i, axis(i)); }
  [[nodiscard]] constexpr const shape& whole_shape(int i) const { return t.values[e.operands[i]].shape; }
  [[nodiscard]] constexpr const abstract_value& whole_result() const { return t.values[e.results[0]]; }
  [[nodiscard]] constexpr bool divides(const shape& s, int k) const {
    return k >= 0 && k < s.rank && s[k] % mesh.count == 0;
  }
  [[nodiscard]] constexpr shape part_of(shape s, int k) const {
    if (k != whole) s[k] /= mesh.count;
    return s;
  }
  [[nodiscard]] constexpr int first_split() const {
    for (int i = 0; i < e.operands.size(); ++i)
      if (axis(i) != whole) return i;
    return -1;
  }
  [[nodiscard]] constexpr int first_axis() const {
    const int first = first_split();
    return first < 0 ? whole : axis(first);
  }
  constexpr vec<split_result> apart(const attributes& a) {
    const int first = first_split();
    if (first < 0) return {};
    const int k = axis(first);
    const shape& s = whole_shape(first);
    vec<int> operands;
    for (int i = 0; i < e.operands.size(); ++i) {
      const shape& other = whole_shape(i);
      const bool along = k < other.rank && other[k] == s[k];
      if (!along && k < other.rank && other[k] != 1) return {};
      operands.push_back(at(i, along ? k : whole));
    }
    vec<split_result> r;
    for (int id : b.add(*e.prim, operands, a)) r.push_back({id, k});
    return r;
  }
};

namespace prim::rules::split {
constexpr vec<split_result> whole(split_site&) { return {}; }
constexpr vec<split_result> by_element(split_site& s) {
  const int k = s.first_axis();
  vec<int> operands;
  for (int i = 0; i < s.e.operands.size(); ++i) operands.push_back(s.at(i, k));
  return {{s.b.add1(*s.e.prim, operands, s.e.attrs), k}};
}
template <class Rules>
constexpr vec<split_result> but_along(split_site& s) {
  if (s.first_axis() == typename Rules::view(s.e).axis) return {};
  return s.apart(s.e.attrs);
}
template <class Rules>
constexpr vec<split_result> along_batch(split_site& s) {
  if (s.first_axis() >= typename Rules::view(s.e).batch) return {};
  return s.apart(s.e.attrs);
}
constexpr vec<split_result> along_matrices(split_site& s) {
  const int first = s.first_split();
  if (first < 0 || s.axis(first) >= s.whole_shape(first).rank - 2) return {};
  return s.apart(s.e.attrs);
}
}

}

#include <cstring>
#include <vector>

namespace drx {

struct tensor {
  abstract_value type;
  std::vector<std::byte> bytes;
  std::vector<tensor> members;

  tensor() = default;
  explicit tensor(const abstract_value& t) : type(t) {
    if (t.depth == 0) bytes.resize(static_cast<std::size_t>(t.shape.size() * byte_size(t.type)));
  }
  template <Element T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <Element T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  [[nodiscard]] std::int64_t size() const { return type.shape.size(); }
};

inline tensor to_floats(const tensor& x) {
  if (!is_half_type(x.type.type)) return x;
  tensor y(x.type.with_type(dtype::float32));
  visit_element(x.type.type, [&]<class H>(H) {
    if constexpr (is_half<H>)
      for (std::int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = x.data<H>()[i];
  });
  return y;
}
inline tensor to_halves(const tensor& x, dtype half) {
  tensor y(x.type.with_type(half));
  visit_element(half, [&]<class H>(H) {
    if constexpr (is_half<H>)
      for (std::int64_t i = 0; i < x.size(); ++i) y.data<H>()[i] = H(x.data<float>()[i]);
  });
  return y;
}

template <class F>
void for_each_index(const shape& s, F&& f) {
  std::int64_t index[shape::max_rank] = {};
  const std::int64_t n = s.size();
  for (std::int64_t i = 0; i < n; ++i) {
    f(static_cast<const std::int64_t*>(index));
    for (int axis = s.rank - 1; axis >= 0 && ++index[axis] == s[axis]; --axis) index[axis] = 0;
  }
}

inline std::int64_t flat_index(const shape& s, const std::int64_t* index) {
  std::int64_t at = 0;
  for (int axis = 0; axis < s.rank; ++axis) at = at * s[axis] + index[axis];
  return at;
}

}

namespace drx {

struct evaluation {
  const entry& e;
  std::vector<const tensor*> in;
  std::vector<tensor> out;

  virtual ~evaluation() = default;
  evaluation(const entry& of) : e(of) {}
  virtual std::vector<tensor> run(const tape& region, std::vector<tensor> inputs) = 0;
  virtual std::vector<tensor> run_member(const tape& region, std::vector<tensor> inputs, std::int64_t index) = 0;
  virtual std::int64_t members(const placement_info* p) = 0;
};

}

namespace drx::emit {

constexpr int constant(builder& b, const abstract_value& type, double number);
constexpr int iota(builder& b, const abstract_value& type, int axis);
constexpr int identity(builder& b, const abstract_value& type);
constexpr bool is_constant(const builder& b, int id, double& number);

constexpr int add(builder& b, int x, int y);
constexpr int sub(builder& b, int x, int y);
constexpr int mul(builder& b, int x, int y);
constexpr int div(builder& b, int x, int y);
constexpr int neg(builder& b, int x);
constexpr int azmul(builder& b, int x, int y);
constexpr int azdiv(builder& b, int x, int y);
constexpr int times(builder& b, int t, int d);
constexpr int equal(builder& b, int x, int y);
constexpr int less(builder& b, int x, int y);
constexpr int where(builder& b, int condition, int x, int y);
constexpr int choose(builder& b, int condition, int x, int y);
constexpr int cast(builder& b, int x, dtype type);
constexpr int cast_of_members(builder& b, int x, dtype type);

constexpr int exp(builder& b, int x);
constexpr int log(builder& b, int x);
constexpr int sin(builder& b, int x);
constexpr int cos(builder& b, int x);
constexpr int sinh(builder& b, int x);
constexpr int cosh(builder& b, int x);
constexpr int rsqrt(builder& b, int x);
constexpr int pow(builder& b, int x, int y);

constexpr int broadcast_to(builder& b, int x, const shape& s);
constexpr int reshape(builder& b, int x, const shape& s);
constexpr int transpose(builder& b, int x, const vec<std::int64_t>& permutation);
constexpr int over_axes(builder& b, const primitive& reduction, int x, const vec<std::int64_t>& axes);
constexpr int sum(builder& b, int x, const vec<std::int64_t>& axes);
constexpr int matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y);
constexpr int times_matrix(builder& b, int x, int y, bool transpose_x, bool transpose_y);
constexpr int slice(builder& b, int x, const vec<std::int64_t>& start, const vec<std::int64_t>& stop,
                    const vec<std::int64_t>& stride);
constexpr int part_of_axis(builder& b, int x, int axis, std::int64_t first, std::int64_t n);
constexpr int pad(builder& b, int x, const vec<std::int64_t>& low, const vec<std::int64_t>& high,
                  const vec<std::int64_t>& interior);
constexpr int concatenate(builder& b, const vec<int>& x, int axis);
constexpr int flip(builder& b, int x, const vec<std::int64_t>& axes);

constexpr int dynamic_slice(builder& b, int x, int starts, const vec<std::int64_t>& sizes, int batch);
constexpr int update_slice(builder& b, int x, int piece, int starts, int batch);
constexpr int take(builder& b, int x, int indices, int axis, int batch);
constexpr int scatter(builder& b, int indices, int updates, int axis, int batch, std::int64_t n);
constexpr int sum_of_scattered(builder& b, int x);

constexpr int cumsum(builder& b, int x, int axis, bool backwards);
constexpr int cumprod(builder& b, int x, int axis, bool backwards);
constexpr int recurrence(builder& b, int factor, int x, int axis, bool backwards);

constexpr int triangular_solve(builder& b, int a, int y, bool right, bool lower, bool transposed, bool unit);
constexpr int cholesky(builder& b, int a);
constexpr int solve(builder& b, int a, int y, bool transposed);
constexpr int logdet(builder& b, int a);
constexpr int minors(builder& b, int x, bool transposed, bool with_sign);
constexpr int cofactors(builder& b, int a);
constexpr int determinant(builder& b, int a);

constexpr int convolution(builder& b, int x, int w, const vec<std::int64_t>& ints);
constexpr int lane_matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y, bool x_in_lanes,
                          bool y_in_lanes);
constexpr int lane_convolution(builder& b, int x, int y, bool kernels_in_lanes, const attributes& single);
constexpr vec<int> lane_cholesky(builder& b, int a);
constexpr vec<int> lane_lu_factors(builder& b, int a);
constexpr int lane_triangular_solve(builder& b, int a, int y, const attributes& single, bool side_in_lanes);
constexpr int lane_lu_solve(builder& b, int lu, int exchanged, int y, bool transposed, bool side_in_lanes);
constexpr int window_sum(builder& b, int x, const vec<std::int64_t>& ints);
constexpr int window_max(builder& b, int x, const vec<std::int64_t>& ints);

constexpr int broadcast(builder& b, int x, const placement_info* p);
constexpr int members(builder& b, const placement_info* p, dtype type);
constexpr int reduce_sum(builder& b, int x, const placement_info* p);
constexpr int first_to_attain(builder& b, int x, int number, const placement_info* p, bool maximum);
constexpr int psum(builder& b, int x, const placement_info* axis);
constexpr int axis_index(builder& b, const placement_info* axis);
constexpr int first_member(builder& b, int x, const placement_info* axis, bool largest);
constexpr int at_axis_index(builder& b, int x, const placement_info* axis);
constexpr int distribute(builder& b, int x, const placement_info* p);
constexpr int gather(builder& b, int x, std::int64_t members, const placement_info* p);
constexpr int shard_gather(builder& b, int x, std::int64_t n, const placement_info* p);
constexpr int shard_sum(builder& b, int x, std::int64_t shards, const placement_info* p);
constexpr int with_layout(builder& b, int x, const placement_info* mesh_axis, std::int64_t shards,
                          std::optional<int> axis);

constexpr int constant_like(builder& b, int x, double number);

constexpr int accumulate(builder& b, int x, int y);

constexpr int zeros_like(builder& b, int x);
constexpr int instantiate_zeros(builder& b, int tangent, int like);

constexpr int repeated(builder& b, int x, std::int64_t n);

constexpr int first_axes_exchanged(builder& b, int x);

}

namespace drx {
namespace emit {
constexpr int constant_of(builder& b, const traced_ref& r, const abstract_value& type);
}
namespace detail {
constexpr tape with_broadcasts_inside(tape t);
}
}

namespace drx {
namespace prim {

constexpr vec<std::int64_t> type_as_ints(const abstract_value& t) {
  vec<std::int64_t> ints{static_cast<std::int64_t>(t.type)};
  for (int i = 0; i < t.shape.rank; ++i) ints.push_back(t.shape[i]);
  return ints;
}
constexpr abstract_value type_from_ints(int_list ints) {
  abstract_value t;
  t.type = static_cast<dtype>(ints[0]);
  for (int i = 1; i < ints.size(); ++i) t.shape.push_back(ints[i]);
  return t;
}

constexpr double rounded_to(dtype type, double number) {
  switch (type) {
    case dtype::float64: return number;
    case dtype::float32: return static_cast<double>(static_cast<float>(number));
    case dtype::bf16: return static_cast<double>(static_cast<float>(bfloat16(number)));
    case dtype::f16: return static_cast<double>(static_cast<float>(float16(number)));
    default: return static_cast<double>(static_cast<std::int64_t>(number));
  }
}

namespace rules {
struct constant {
  static constexpr vec<abstract_value> type(const typing& t) { return {type_from_ints(t.attrs.ints)}; }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {}; }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    return {emit::repeated(s.b, s.b.add1(*s.e.prim, {}, s.e.attrs), n)};
  }
  static std::string print(const attributes& a) {
    std::string text = std::to_string(a.number);
    if (text.find('.') != std::string::npos) {
      while (text.back() == '0') text.pop_back();
      if (text.back() == '.') text.pop_back();
    }
    if (std::stod(text) != a.number) {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.17g", a.number);
      text = buffer;
    }
    return text;
  }
  static constexpr known_values known(const known_site& s) { return {known_number(s.e.attrs.number)}; }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] = static_cast<T>(v.e.attrs.number);
    });
  }
};
struct iota {
  struct view {
    int axis;
    int_list type;
    constexpr explicit view(int_list a) : axis(a.number(0)), type(a.from(1)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) { return {type_from_ints(view(t.attrs).type)}; }
  static std::string print(const attributes& a) { return "axis=" + std::to_string(view(a).axis); }
  static void evaluate(evaluation& v) {
    const int axis = view(v.e).axis;
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for_each_index(v.out[0].type.shape, [&, i = 0](const std::int64_t* at) mutable {
        v.out[0].data<T>()[i++] = static_cast<T>(at[axis]);
      });
    });
  }
};
struct data {
  struct view {
    dtype type;
    int_list extents, stored;
    constexpr explicit view(int_list a)
        : type(static_cast<dtype>(a[0])), extents(a.part(2, a.number(1))), stored(a.from(2 + a.number(1))) {}
    template <class T>
    [[nodiscard]] constexpr T element(int i) const {
      return data::element<T>(stored[i]);
    }
  };
  template <class T>
  static constexpr std::int64_t stored(T x) {
    if constexpr (is_floating(dtype_of<T>)) {
      return std::bit_cast<std::int64_t>(static_cast<double>(x));
    } else {
      return static_cast<std::int64_t>(x);
    }
  }
  template <class T>
  static constexpr T element(std::int64_t x) {
    if constexpr (is_floating(dtype_of<T>)) {
      return static_cast<T>(std::bit_cast<double>(x));
    } else {
      return static_cast<T>(x);
    }
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const view d(t.attrs);
    abstract_value r(d.type, {});
    for (auto n : d.extents) r.shape.push_back(n);
    typing::require(d.stored.size() == r.shape.size(), "data: not as many elements as the shape has");
    return {r};
  }
  static std::string print(const attributes& a) {
    const view d(a);
    const int shown = d.stored.size() < 8 ? d.stored.size() : 8;
    std::string text;
    for (int i = 0; i < shown; ++i) {
      attributes one;
      one.number = is_floating(d.type) ? d.element<double>(i) : static_cast<double>(d.stored[i]);
      text += (i ? ", " : "") + constant::print(one);
    }
    return text + (shown < d.stored.size() ? ", ..." : "");
  }
  static constexpr known_values known(const known_site& s) {
    if (!is_floating(view(s.e).type)) return {};
    known_value all{true, true, true, true};
    for (auto stored : view(s.e).stored) all = either(all, known_number(element<double>(stored)));
    return {all};
  }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for (int i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] = view(v.e).template element<T>(i);
    });
  }
};
struct member_index {
  static constexpr vec<abstract_value> type(const typing& t) {
    return {abstract_value(dtype::int64, {}).placed_at(t.attrs.placement)};
  }
  static constexpr vec<int> share(share_site& s) { return {s.index}; }
  static void evaluate(evaluation& v) {
    for (std::int64_t i = 0; i < v.members(v.e.attrs.placement); ++i) {
      v.out[0].members.emplace_back(v.out[0].type.of_member());
      v.out[0].members.back().data<std::int64_t>()[0] = i;
    }
  }
};
}

inline constexpr primitive constant{.name = "constant",
                                    .type = rules::constant::type,
                                    .jvp = rules::constant::jvp,
                                    .vjp = rules::constant::vjp,
                                    .batch = rules::constant::batch,
                                    .print = rules::constant::print,
                                    .evaluate = rules::constant::evaluate,
                                    .known = rules::constant::known,
                                    .split = rules::split::whole,
                                    .role = role::virtual_};
inline constexpr primitive iota{.name = "iota",
                                .type = rules::iota::type,
                                .jvp = rules::constant::jvp,
                                .vjp = rules::constant::vjp,
                                .batch = rules::constant::batch,
                                .print = rules::iota::print,
                                .evaluate = rules::iota::evaluate,
                                .known = rules::known::counts,
                                .split = rules::split::whole,
                                .role = role::virtual_};
inline constexpr primitive data{.name = "data",
                                .type = rules::data::type,
                                .jvp = rules::constant::jvp,
                                .vjp = rules::constant::vjp,
                                .batch = rules::constant::batch,
                                .print = rules::data::print,
                                .evaluate = rules::data::evaluate,
                                .known = rules::data::known,
                                .split = rules::split::whole};
inline constexpr primitive member_index{.name = "partition_index",
                                        .type = rules::member_index::type,
                                        .jvp = rules::constant::jvp,
                                        .vjp = rules::constant::vjp,
                                        .batch = rules::constant::batch,
                                        .evaluate = rules::member_index::evaluate,
                                        .share = rules::member_index::share,
                                        .known = rules::known::counts};
}

namespace emit {
constexpr int constant(builder& b, const abstract_value& type, double number) {
  attributes a;
  a.ints = prim::type_as_ints(type);
  a.number = prim::rounded_to(type.type, number);
  return b.add1(prim::constant, {}, a);
}
constexpr int iota(builder& b, const abstract_value& type, int axis) {
  attributes a;
  a.ints = {axis};
  a.ints.append(prim::type_as_ints(type));
  return b.add1(prim::iota, {}, a);
}
template <class T>
constexpr int data(builder& b, const abstract_value& type, const T* elements) {
  const auto n = static_cast<int>(type.shape.size());
  bool alike = true;
  for (int i = 1; i < n; ++i)
    alike = alike && prim::rules::data::stored(elements[i]) == prim::rules::data::stored(elements[0]);
  const bool exact = !std::is_same_v<T, std::int64_t>;
  if (n == 0 || (alike && exact)) return constant(b, type, n == 0 ? 0 : static_cast<double>(elements[0]));
  attributes a;
  a.ints = {static_cast<std::int64_t>(type.type), type.shape.rank};
  for (int i = 0; i < type.shape.rank; ++i) a.ints.push_back(type.shape[i]);
  for (int i = 0; i < n; ++i) a.ints.push_back(prim::rules::data::stored(elements[i]));
  return b.add1(prim::data, {}, a);
}
constexpr int data(builder& b, const abstract_value& type, const traced_ref& r) {
  switch (type.type) {
    case dtype::boolean: return data(b, type, r.from.booleans);
    case dtype::int32: return data(b, type, r.from.int32s);
    case dtype::int64: return data(b, type, r.from.int64s);
    case dtype::float32: return data(b, type, r.from.floats);
    case dtype::bf16: return data(b, type, r.from.bfloat16s);
    case dtype::f16: return data(b, type, r.from.float16s);
    default: return data(b, type, r.from.doubles);
  }
}
constexpr bool is_constant(const builder& b, int id, double& number) {
  const entry* e = b.definition(id);
  if (!e || e->prim != &prim::constant) return false;
  number = e->attrs.number;
  return true;
}

constexpr int constant_like(builder& b, int x, double number) { return constant(b, b.type(x), number); }
constexpr int constant_of(builder& b, const traced_ref& r, const abstract_value& type) {
  switch (r.what) {
    case traced_ref::kind::splat: return constant(b, type, r.from.number);
    case traced_ref::kind::iota: return iota(b, type, r.id);
    case traced_ref::kind::identity: return identity(b, type);
    case traced_ref::kind::data: return data(b, type, r);
    case traced_ref::kind::seed: {
      const std::int32_t words[] = {static_cast<std::int32_t>(r.from.seed >> 32),
                                    static_cast<std::int32_t>(r.from.seed)};
      return data(b, type, words);
    }
    case traced_ref::kind::member_index: {
      attributes a;
      a.placement = r.from.placement;
      return b.add1(prim::member_index, {}, a);
    }
    default: throw "drx: a value is used that was never given one";
  }
}
}

namespace detail {
template <class A, class F>
A array_of_elements(const F& f) {
  A x;
  for_each_index(A::shape,
                 [&, i = 0](const std::int64_t* at) mutable { x[i++] = static_cast<typename A::value_type>(f(at)); });
  return x;
}
}

template <class A>
  requires(Array<A>)
constexpr A full(typename A::value_type number) {
  if (!detail::is_tracing()) return detail::array_of_elements<A>([=](const std::int64_t*) { return number; });
  traced_ref r;
  r.what = traced_ref::kind::splat;
  r.from.number = static_cast<double>(number);
  return A(r);
}
template <class A>
  requires(Array<A>)
constexpr A zeros() {
  return full<A>(typename A::value_type{});
}
template <class A>
  requires(Array<A>)
constexpr A ones() {
  return full<A>(static_cast<typename A::value_type>(1));
}
template <Element T, std::int64_t... E>
constexpr array<T, E...> constant(const array<T, E...>& elements) {
  if (!detail::is_tracing()) return elements;
  return array<T, E...>(reference_to(elements.data()));
}
template <class A, int Axis = 0>
  requires(Array<A> && Axis >= -A::rank && Axis < A::rank)
constexpr A iota() {
  constexpr int axis = normal_axis(Axis, A::rank);
  if (!detail::is_tracing()) return detail::array_of_elements<A>([=](const std::int64_t* at) { return at[axis]; });
  traced_ref r;
  r.what = traced_ref::kind::iota;
  r.id = axis;
  return A(r);
}
template <class P>
  requires(Placement<P>)
constexpr placed<array<std::int64_t>, P> partition_index() {
  placed<array<std::int64_t>, P> x;
  x.leaf[0].what = traced_ref::kind::member_index;
  x.leaf[0].from.placement = &placement_of<P>;
  return x;
}

}

#define DRX_SILENT(name) \
  template <auto..., class... X> requires error::AnyReported<X...> error::reported name(const X&...);
#define DRX_SILENT_OF_TYPE(name) \
  template <class, auto..., class... X> requires error::AnyReported<X...> error::reported name(const X&...);
#define DRX_SILENT_OF_TYPES(name) \
  template <class..., class X> requires error::AnyReported<X> error::reported name(const X&); \
  template <class..., class X, class Y> requires error::AnyReported<X, Y> error::reported name(const X&, const Y&);
#define DRX_SILENT_OPERATOR(op) \
  template <class A, class B> requires AnyReported<A, B> reported operator op(const A&, const B&);

namespace drx::error {
DRX_SILENT_OPERATOR(+) DRX_SILENT_OPERATOR(-) DRX_SILENT_OPERATOR(*) DRX_SILENT_OPERATOR(/) DRX_SILENT_OPERATOR(%)
DRX_SILENT_OPERATOR(<) DRX_SILENT_OPERATOR(<=) DRX_SILENT_OPERATOR(>) DRX_SILENT_OPERATOR(>=)
DRX_SILENT_OPERATOR(+=) DRX_SILENT_OPERATOR(-=) DRX_SILENT_OPERATOR(*=) DRX_SILENT_OPERATOR(/=)
DRX_SILENT_OPERATOR(==) DRX_SILENT_OPERATOR(!=) DRX_SILENT_OPERATOR(&&) DRX_SILENT_OPERATOR(||)
template <Reported A> reported operator-(const A&);
template <Reported A> reported operator!(const A&);
}

#undef DRX_SILENT_OPERATOR

namespace drx {

class tracing_builder;
class constants_trace;

namespace detail {
enum class region_kind : std::int8_t { loop, member, branch, parallel, function };
}

class tracing_context {
 public:
  struct place {
    tracing_builder* function = nullptr;
    tracing_builder* member_body = nullptr;
    tracing_builder* branch = nullptr;
    bool parallel = false;
  };

  constexpr tracing_context() = default;
  constexpr explicit tracing_context(constants_trace* constants) : constants_(constants) {}
  tracing_context(const tracing_context&) = delete;
  tracing_context& operator=(const tracing_context&) = delete;
  constexpr ~tracing_context();

  [[nodiscard]] constexpr const place& now() const { return now_; }
  [[nodiscard]] constexpr constants_trace* constants() const { return constants_; }
  constexpr int next_serial() { return opened_++; }

  [[nodiscard]] constexpr tracing_builder* member_of_axis(const placement_info* name) const {
    for (int i = axes_.size() - 1; i >= 0; --i)
      if (axes_[i].name == name) return axes_[i].member;
    return nullptr;
  }

 private:
  friend class region_scope;
  friend class constants_trace;
  struct named_axis {
    const placement_info* name = nullptr;
    tracing_builder* member = nullptr;
  };
  place now_;
  vec<named_axis> axes_;
  constants_trace* constants_ = nullptr;
  vec<constants_trace*> adopted_;
  int opened_ = 0;
};

class region_scope {
 public:
  constexpr region_scope(tracing_context& context, tracing_builder& region, detail::region_kind kind,
                         const placement_info* axis)
      : context_(context), before_(context.now_), has_axis_(axis != nullptr) {
    using detail::region_kind;
    tracing_context::place& now = context.now_;
    if (kind == region_kind::function) now.function = &region;
    if (kind == region_kind::member) now.member_body = &region;
    if (kind == region_kind::branch) now.branch = &region;
    if (kind == region_kind::parallel) now.parallel = true;
    if (axis) context.axes_.push_back({axis, &region});
  }
  region_scope(const region_scope&) = delete;
  region_scope& operator=(const region_scope&) = delete;
  constexpr ~region_scope() {
    context_.now_ = before_;
    if (has_axis_) context_.axes_.pop_back();
  }

 private:
  tracing_context& context_;
  const tracing_context::place before_;
  const bool has_axis_;
};

}

namespace drx {

class tracing_builder : public builder {
 public:
  constexpr explicit tracing_builder(tracing_context& context) : context_(context), serial_(context.next_serial()) {}

  [[nodiscard]] constexpr tracing_context& context() const { return context_; }
  [[nodiscard]] constexpr bool of_constants() const { return context_.constants() && serial_ == 0; }
  [[nodiscard]] constexpr bool is_inside(const tracing_builder& b) const { return serial_ >= b.serial_; }

  [[nodiscard]] constexpr const vec<traced_ref>& captures() const { return captures_; }
  constexpr int capture(const traced_ref& outer) {
    for (int i = 0; i < captures_.size(); ++i)
      if (captures_[i].from.tape == outer.from.tape && captures_[i].id == outer.id) return captured_[i];
    const int id = input(outer.from.tape->type(outer.id));
    captures_.push_back(outer);
    captured_.push_back(id);
    return id;
  }

 private:
  tracing_context& context_;
  int serial_;
  vec<traced_ref> captures_;
  vec<int> captured_;
};

}

namespace drx {

class constants_trace {
 public:
  static constexpr constants_trace& open() {
    return *new constants_trace;  // drx: allocated here: something is computed of constants only and never used. Use or remove it
  }
  static constexpr constants_trace& open(tracing_context& by) {
    constants_trace& opened = open();
    adopt(by, opened.context_);
    return opened;
  }
  constants_trace(const constants_trace&) = delete;
  constants_trace& operator=(const constants_trace&) = delete;
  constexpr ~constants_trace() {
    for (tracing_builder* b : regions_) delete b;
  }

  constexpr tracing_context& context() { return context_; }
  constexpr tracing_builder& entries() { return entries_; }
  constexpr tracing_builder& open_region() {
    regions_.push_back(new tracing_builder(context_));  // drx: allocated here: something is computed of constants only and never used. Use or remove it
    return *regions_.back();
  }

  static constexpr void adopt(tracing_context& by, tracing_context& constants) {
    tracing_context *mine = last_adopter(by), *its = last_adopter(constants);
    if (mine == its) return;
    if (!its->constants_) std::swap(mine, its);
    if (!its->constants_) return;
    its->constants_->adopter_ = mine;
    mine->adopted_.push_back(its->constants_);
  }

  [[nodiscard]] constexpr bool is_ambiguous() const { return ambiguous_; }
  constexpr void set_depth_by(const constants_trace& first_attempt) { depth_ = first_attempt.around_ + 1; }
  static constexpr bool is_inner(constants_trace& x, constants_trace& y) {
    if (!x.is_known() && !y.is_known()) x.ambiguous_ = y.ambiguous_ = true;
    if (x.is_known() && x.depth_ == y.depth_)
      throw "drx: of two loops over constants it is not known which is the inner one; let one meet a traced value";
    if (x.is_known() && !y.is_known()) y.around_ = x.depth_ > y.around_ ? x.depth_ : y.around_;
    if (y.is_known() && !x.is_known()) x.around_ = y.depth_ > x.around_ ? y.depth_ : x.around_;
    return !x.is_known() || (y.is_known() && x.depth_ > y.depth_);
  }

 private:
  constexpr constants_trace() : context_(this), entries_(context_) {}
  [[nodiscard]] constexpr bool is_known() const { return depth_ > 0; }
  static constexpr tracing_context* last_adopter(tracing_context& of) {
    tracing_context* c = &of;
    while (c->constants_ && c->constants_->adopter_) c = c->constants_->adopter_;
    return c;
  }

  tracing_context context_;
  tracing_builder entries_;
  vec<tracing_builder*> regions_;
  tracing_context* adopter_ = nullptr;
  bool ambiguous_ = false;
  int depth_ = 0;
  int around_ = 0;
};

constexpr tracing_context::~tracing_context() {
  for (constants_trace* c : adopted_) delete c;
}

}

namespace drx::detail {

constexpr tracing_builder* inner_of(tracing_builder* a, tracing_builder* b) {
  if (!a || (b && a->of_constants())) return b;
  if (!b || b->of_constants()) return a;
  const tracing_context &x = a->context(), &y = b->context();
  if (&x == &y) return a->is_inside(*b) ? a : b;
  if (!x.constants() || !y.constants()) return x.constants() ? a : b;
  return constants_trace::is_inner(*x.constants(), *y.constants()) ? a : b;
}

constexpr tracing_builder* or_of_constants(tracing_builder* b) { return b ? b : &constants_trace::open().entries(); }

constexpr tracing_builder& at_work(tracing_builder& b) { return *inner_of(&b, b.context().now().branch); }

constexpr tracing_builder& around_loops(tracing_builder& b) {
  const tracing_context::place& now = b.context().now();
  if (now.member_body) return *now.member_body;
  return now.function ? *now.function : b.context().constants()->entries();
}

constexpr tracing_builder& in_member(tracing_builder& b) { return *inner_of(&b, b.context().now().member_body); }

}

namespace drx::emit {

constexpr int written_on(tracing_builder& b, const traced_ref& r) {
  constants_trace::adopt(b.context(), r.from.tape->context());
  const tape& t = r.from.tape->result();
  vec<bool> needed(t.values.size(), false);
  needed[r.id] = true;
  bool has_regions = false;
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    bool any = false;
    for (int result : e.results) any = any || needed[result];
    if (!any) continue;
    for (int o : e.operands) needed[o] = true;
    for (int result : e.results) needed[result] = true;
    has_regions = has_regions || !e.regions.empty();
  }
  tracing_builder* const to = has_regions ? &drx::detail::around_loops(b) : &b;
  int id = r.id;
  if (to != r.from.tape) {
    rewriter w(*to, t, {});
    w.write([&](const entry& e) {
      if (!needed[e.results[0]]) return vec<int>();
      return to->add_shared(e, w.operands(e));
    });
    id = w.names[r.id];
  }
  return to == &b ? id : b.capture({{to}, id, traced_ref::kind::value});
}

constexpr int resolve(tracing_builder& b, const traced_ref& r, const abstract_value& type) {
  if (r.what != traced_ref::kind::value) return constant_of(b, r, type);
  if (r.from.tape == &b) return r.id;
  return r.from.tape->of_constants() ? written_on(b, r) : b.capture(r);
}

}

namespace drx::detail {

template <class X>
constexpr traced_ref ref_of(const X& x) {
  if (!detail::is_tracing()) throw error::not_traced{};
  traced_ref r;
  structure<X>::refs(x, &r);
  return r;
}

template <class X>
struct leaf_refs {
  traced_ref ref[leaf_count<X> > 0 ? leaf_count<X> : 1] = {};
  constexpr explicit leaf_refs(const X& x) {
    if (!detail::is_tracing()) throw error::not_traced{};
    structure<X>::refs(x, ref);
  }
  constexpr tracing_builder* innermost() const {
    tracing_builder* b = nullptr;
    for (int i = 0; i < leaf_count<X>; ++i)
      if (ref[i].what == traced_ref::kind::value) b = inner_of(b, ref[i].from.tape);
    return b;
  }
  constexpr vec<int> on(tracing_builder& b) const {
    constexpr leaf_types<X> types;
    vec<int> ids;
    for (int i = 0; i < leaf_count<X>; ++i) ids.push_back(emit::resolve(b, ref[i], types[i]));
    return ids;
  }
};

template <class... X>
constexpr tracing_builder& common_tape(const leaf_refs<X>&... refs) {
  tracing_builder* b = nullptr;
  ((b = inner_of(b, refs.innermost())), ...);
  return at_work(*or_of_constants(b));
}

template <class... R>
constexpr tracing_builder& tape_of(const R&... refs) {
  tracing_builder* b = nullptr;
  ((b = refs.what == traced_ref::kind::value ? inner_of(b, refs.from.tape) : b), ...);
  return at_work(*or_of_constants(b));
}
template <class... X>
constexpr tracing_builder* meeting_builder(const X&... x) {
  tracing_builder* b = nullptr;
  ((b = inner_of(b, leaf_refs<X>(x).innermost())), ...);
  return or_of_constants(b);
}
template <class... X>
constexpr vec<int> leaves_on(tracing_builder& b, const X&... x) {
  vec<int> ids;
  (ids.append(leaf_refs<X>(x).on(b)), ...);
  return ids;
}

constexpr traced_ref at(tracing_builder& b, int id) { return {{&b}, id, traced_ref::kind::value}; }
template <class X>
constexpr traced_t<X> bound(tracing_builder& b, const vec<int>& ids, int first = 0) {
  traced_ref r[leaf_count<X> > 0 ? leaf_count<X> : 1] = {};
  for (int i = 0; i < leaf_count<X>; ++i) r[i] = at(b, ids[first + i]);
  return structure<X>::bind(r);
}

template <class A>
constexpr int id_on(tracing_builder& b, const A& x) {
  return emit::resolve(b, ref_of(x), {dtype_of<typename A::value_type>, A::shape});
}
template <class R, class A, class Emit>
constexpr R unary(const A& x, Emit emit_entry) {
  tracing_builder& b = tape_of(ref_of(x));
  return R(at(b, emit_entry(b, emit::resolve(b, ref_of(x), {dtype_of<typename A::value_type>, A::shape}))));
}

}

namespace drx {
namespace prim {

template <const primitive* P>
struct row_of;

namespace rules {
template <class Row>
struct elementwise {
  static constexpr int data = Row::arity - 1;
  static constexpr bool chooses = Row::arity == 3 && Row::accepts(dtype::boolean, 0);

  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands.size() == Row::arity, "wrong number of operands");
    for (int i = 0; i < Row::arity; ++i) {
      typing::require(t.operands[i].depth == 0, "an elementwise operand is placed");
      typing::require(t.operands[i].shape == t.operands[0].shape, "shapes differ");
      typing::require(Row::accepts(t.operands[i].type, i), "element type not accepted");
      typing::require((i == 0 && chooses) || t.operands[i].type == t.operands[data].type, "element types differ");
    }
    return {t.operands[data].with_type(Row::result(t.operands[data].type))};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    int sum = zero_tangent;
    for (int i = 0; i < Row::arity; ++i)
      if (tangents[i] != zero_tangent) sum = emit::accumulate(s.b, sum, Row::partial(s.b, s, i, tangents[i]));
    return {sum};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& cotangents, const vec<bool>& wanted) {
    vec<int> r(Row::arity, zero_tangent);
    for (int i = 0; i < Row::arity; ++i)
      if (wanted[i] && cotangents[0] != zero_tangent) r[i] = Row::partial(s.b, s, i, cotangents[0]);
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < Row::arity; ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  static constexpr known_values known(const known_site& s) {
    if constexpr (requires { Row::known(s); }) {
      return {Row::known(s)};
    } else if constexpr (requires { Row::known(s.operands[0], s.operands[1]); }) {
      return {Row::known(s.operands[0], s.operands[1])};
    } else if constexpr (requires { Row::known(s.operands[0]); }) {
      return {Row::known(s.operands[0])};
    } else {
      known_value r{!requires {Row::singular;
    }
    , false, false, false
  };
  for (const known_value& x : s.operands) r.finite = r.finite && x.finite;
  return {r};
}
}
static void evaluate(evaluation& v) {
  visit_dtype(v.in[data]->type.type, [&]<class T>(T) {
    if constexpr (Row::accepts(dtype_of<T>, data)) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) {
        if constexpr (Row::arity == 3) {
          using first = std::conditional_t<chooses, bool, T>;
          const auto y = Row::reference(v.in[0]->data<first>()[i], v.in[1]->data<T>()[i], v.in[2]->data<T>()[i]);
          v.out[0].data<std::remove_const_t<decltype(y)>>()[i] = y;
        } else if constexpr (Row::arity == 2) {
          const auto y = Row::reference(v.in[0]->data<T>()[i], v.in[1]->data<T>()[i]);
          v.out[0].data<std::remove_const_t<decltype(y)>>()[i] = y;
        } else {
          const auto y = Row::reference(v.in[0]->data<T>()[i]);
          v.out[0].data<std::remove_const_t<decltype(y)>>()[i] = y;
        }
      }
    }
  });
}
};
}

template <class Row>
constexpr primitive elementwise_primitive() {
  using rules_t = rules::elementwise<Row>;
  primitive p{.name = Row::name,
              .type = rules_t::type,
              .jvp = rules_t::jvp,
              .vjp = rules_t::vjp,
              .batch = rules_t::batch,
              .evaluate = rules_t::evaluate,
              .known = rules_t::known,
              .lanes = rules::lanes::same,
              .split = rules::split::by_element,
              .role = role::fused,
              .elementwise = true,
              .pointwise = true};
  if constexpr (requires { &Row::simplify; }) p.simplify = Row::simplify;
  return p;
}

struct same_type {
  static constexpr dtype result(dtype t) { return t; }
};
struct boolean_result {
  static constexpr dtype result(dtype) { return dtype::boolean; }
};
struct on_numbers {
  static constexpr bool accepts(dtype t, int) { return t != dtype::boolean; }
};
struct on_floating {
  static constexpr bool accepts(dtype t, int) { return is_floating(t); }
};
struct singular_value {
  static constexpr bool singular = true;
};
struct not_differentiable {
  static constexpr int partial(builder&, const rule_site&, int, int) { return zero_tangent; }
};

}

namespace detail {

template <class X>
concept Literal = Element<std::remove_cvref_t<X>>;
template <class A, class... I>
concept AxesAsArguments = Array<A> && sizeof...(I) > 0 && (std::is_integral_v<I> && ...);
template <class X>
concept Compound = Structured<X> && !Array<X> && !Placed<X> && !Literal<X> && !error::Reported<X>;
template <class X>
concept NoArray = Placed<X> || (Compound<X> && !Array<traced_t<X>>);
template <class... X>
using no_array_t = std::conditional_t<(Placed<X> || ...), error::array_operation_on_a_placed_value,
                                      error::array_operation_on_a_structure>;
template <class X>
concept ArrayOrLiteral = Array<X> || Literal<X>;

constexpr bool literal_fits(dtype literal, dtype element) {
  return is_floating(element) || (!is_floating(literal) && (literal == dtype::boolean) == (element == dtype::boolean));
}
template <class X, class T, bool IsLiteral>
inline constexpr bool number_fits = [] {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (!(IsLiteral ? literal_fits(dtype_of<T>, t[i].type) : dtype_of<T> == t[i].type)) return false;
  return true;
}();

template <class A, class B>
constexpr auto mismatch() {
  if constexpr (!ArrayOrLiteral<A> || !ArrayOrLiteral<B> || (Literal<A> && Literal<B>)) {
    return error::not_a_value_of_drx{};
  } else if constexpr (Literal<A>) {
    return std::conditional_t<literal_fits(dtype_of<A>, dtype_of<typename B::value_type>), no_misuse,
                              error::a_literal_does_not_fit_the_element_type>{};
  } else if constexpr (Literal<B>) {
    return std::conditional_t<literal_fits(dtype_of<B>, dtype_of<typename A::value_type>), no_misuse,
                              error::a_literal_does_not_fit_the_element_type>{};
  } else if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
    return error::element_types_differ{};
  } else if constexpr (!broadcastable(A::shape, B::shape)) {
    return error::shapes_do_not_broadcast{};
  } else {
    return no_misuse{};
  }
}

template <class A, class B>
constexpr shape common_shape() {
  if constexpr (Literal<A>) {
    return B::shape;
  } else if constexpr (Literal<B>) {
    return A::shape;
  } else {
    return broadcast_shapes(A::shape, B::shape);
  }
}
template <class A, class B>
struct common_element_of {
  using type = typename A::value_type;
};
template <Literal A, class B>
struct common_element_of<A, B> {
  using type = typename B::value_type;
};
template <class A, class B>
using common_element = typename common_element_of<A, B>::type;

template <class X>
traced_ref elements_of(const X& x) {
  traced_ref r;
  if constexpr (Literal<X>) {
    structure<X>::refs(x, &r);
  } else {
    r = reference_to(x.data());
  }
  return r;
}

struct host_evaluation final : evaluation {
  using evaluation::evaluation;
  std::vector<tensor> run(const tape&, std::vector<tensor>) override { throw error::not_traced{}; }
  std::vector<tensor> run_member(const tape&, std::vector<tensor>, std::int64_t) override { throw error::not_traced{}; }
  std::int64_t members(const placement_info*) override { throw error::not_traced{}; }
};
struct host_operand {
  traced_ref ref;
  drx::shape shape;
};
inline tensor broadcast_on_host(const host_operand& x, dtype type, const shape& to) {
  tensor all({type, to});
  visit_element(type, [&]<class T>(T) {
    T* out = all.data<T>();
    if (x.ref.what == traced_ref::kind::splat) {
      std::fill_n(out, all.size(), static_cast<T>(x.ref.from.number));
      return;
    }
    const auto* elements = static_cast<const T*>(static_cast<const void*>(x.ref.from.booleans));
    for_each_index(to, [&](const std::int64_t* at) {
      std::int64_t from = 0;
      for (int axis = 0; axis < x.shape.rank; ++axis)
        from = from * x.shape[axis] + (x.shape[axis] == 1 ? 0 : at[to.rank - x.shape.rank + axis]);
      *out++ = elements[from];
    });
  });
  return all;
}
inline void evaluate_on_host(const primitive& p, std::initializer_list<host_operand> x, dtype type,
                             const abstract_value& result, void* out) {
  entry e;
  e.prim = &p;
  host_evaluation v(e);
  std::vector<tensor> operands;
  for (const auto& one : x) operands.push_back(broadcast_on_host(one, type, result.shape));
  for (tensor& t : operands) {
    t = to_floats(t);
    v.in.push_back(&t);
  }
  v.out.emplace_back(is_half_type(result.type) ? result.with_type(dtype::float32) : result);
  p.evaluate(v);
  const tensor y = is_half_type(result.type) ? to_halves(v.out[0], result.type) : std::move(v.out[0]);
  std::memcpy(out, y.bytes.data(), y.bytes.size());
}

template <class Result, class T, class... X>
constexpr Result elementwise(const primitive& p, const X&... x) {
  if (!detail::is_tracing()) {
    Result r;
    evaluate_on_host(p, {{elements_of(x), structure<X>::canonical::shape}...}, dtype_of<T>,
                     {dtype_of<typename Result::value_type>, Result::shape}, r.data());
    return r;
  }
  tracing_builder& b = tape_of(ref_of(x)...);
  const shape s = Result::shape;
  auto operand = [&](const auto& v) {
    using V = std::remove_cvref_t<decltype(v)>;
    if constexpr (Literal<V>) {
      return emit::constant(b, {dtype_of<T>, s}, static_cast<double>(v));
    } else {
      const int id = emit::resolve(b, ref_of(v), {dtype_of<typename V::value_type>, V::shape});
      return emit::broadcast_to(b, id, s);
    }
  };
  return Result(at(b, b.add1(p, {operand(x)...})));
}

template <class A, class B>
concept ArrayPair = ArrayOrLiteral<A> && ArrayOrLiteral<B> && (Array<A> || Array<B>);
template <class A, class B>
concept Compatible = ArrayPair<A, B> && std::is_same_v<decltype(mismatch<A, B>()), no_misuse>;
template <class A, class B>
concept Incompatible = ArrayPair<A, B> && !Compatible<A, B>;
template <class A, class B>
using mismatch_t = decltype(mismatch<A, B>());
template <class... X>
concept PlacedOperands = (Placed<X> || ...) && (Structured<X> && ...) && !error::AnyReported<X...>;
template <class... X>
concept NoArrays = (NoArray<X> || ...) && (Structured<X> && ...) && !error::AnyReported<X...>;

template <class A, class B>
struct common_shape_of {
  static constexpr shape value = common_shape<A, B>();
};
template <class A, class B>
using binary_result = array_of<common_element<A, B>, common_shape_of<A, B>>;
template <class A, class B>
using comparison_result = array_of<bool, common_shape_of<A, B>>;

template <class A, class B>
constexpr auto binary(const primitive& p, const A& a, const B& b) {
  return elementwise<binary_result<A, B>, common_element<A, B>>(p, a, b);
}
template <class A, class B>
constexpr auto comparison(const primitive& p, const A& a, const B& b) {
  return elementwise<comparison_result<A, B>, common_element<A, B>>(p, a, b);
}

}
}

namespace drx {
namespace prim::rules {
struct broadcast_to {
  struct view {
    shape target;
    constexpr explicit view(int_list a) {
      for (auto n : a) target.push_back(n);
    }
  };
  static constexpr shape target(const attributes& a) { return view(a).target; }
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape to = target(t.attrs), from = t.operands[0].shape;
    typing::require(from.rank <= to.rank && broadcastable(from, to) && broadcast_shapes(from, to) == to,
                    "broadcast_to: the shapes do not fit");
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct,
                                const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]), to = s.b.shape(s.results[0]);
    vec<std::int64_t> axes;
    for (int i = 0; i < to.rank; ++i) {
      const int j = i - (to.rank - from.rank);
      if (j < 0 || (from[j] == 1 && to[i] != 1)) axes.push_back(i);
    }
    return {emit::reshape(s.b, emit::sum(s.b, ct[0], axes), from)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    const shape from = s.b.shape(s.operands[0]), to = target(s.e.attrs);
    shape aligned = make_shape(n);
    for (int i = 0; i < to.rank - (from.rank - 1); ++i) aligned.push_back(1);
    for (int i = 1; i < from.rank; ++i) aligned.push_back(from[i]);
    return {emit::broadcast_to(s.b, emit::reshape(s.b, s.operands[0], aligned), with_front(to, n))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const shape to = target(a);
    if (b.shape(o[0]) == to) return o[0];
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_shape(to), x);
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr()) return emit::broadcast_to(b, e->operands[0], to);
    return -1;
  }
  static constexpr const primitive* prim_ptr();
  static constexpr vec<int> lanes(const lane_site& s) {
    const shape from = s.b.shape(s.operands[0]), to = target(s.e.attrs);
    shape aligned;
    for (int i = 0; i < to.rank - (from.rank - 1); ++i) aligned.push_back(1);
    for (int i = 0; i < from.rank; ++i) aligned.push_back(from[i]);
    return {emit::broadcast_to(s.b, emit::reshape(s.b, s.operands[0], aligned), with_last(to, s.n))};
  }
  static constexpr vec<split_result> split(split_site& s) {
    const int from = s.axis(0),
              k = from == split_site::whole ? from : from + s.whole_result().shape.rank - s.whole_shape(0).rank;
    return {{emit::broadcast_to(s.b, s.operand(0), s.part_of(s.whole_result().shape, k)), k}};
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(to, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int j = 0; j < from.rank; ++j) source[j] = from[j] == 1 ? 0 : at[j + to.rank - from.rank];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
}

namespace prim {
inline constexpr primitive broadcast_to{.name = "broadcast_to",
                                        .type = rules::broadcast_to::type,
                                        .jvp = rules::broadcast_to::jvp,
                                        .vjp = rules::broadcast_to::vjp,
                                        .batch = rules::broadcast_to::batch,
                                        .simplify = rules::broadcast_to::simplify,
                                        .evaluate = rules::broadcast_to::evaluate,
                                        .known = rules::known::handed_on,
                                        .lanes = rules::broadcast_to::lanes,
                                        .split = rules::broadcast_to::split,
                                        .role = role::virtual_,
                                        .takes_halves = true};
constexpr const primitive* rules::broadcast_to::prim_ptr() { return &prim::broadcast_to; }
}
namespace emit {
constexpr int broadcast_to(builder& b, int x, const shape& s) {
  attributes a;
  for (int i = 0; i < s.rank; ++i) a.ints.push_back(s[i]);
  return b.add1(prim::broadcast_to, {x}, a);
}
}

namespace detail {
template <class A, std::int64_t... Extents>
inline constexpr bool repeats_to = false;
template <Array A, std::int64_t... Extents>
inline constexpr bool repeats_to<A, Extents...> =
    A::rank <= static_cast<int>(sizeof...(Extents)) && broadcastable(A::shape, make_shape(Extents...)) &&
    broadcast_shapes(A::shape, make_shape(Extents...)) == make_shape(Extents...);
}

template <std::int64_t... Extents, class A>
  requires detail::repeats_to<A, Extents...>
constexpr auto broadcast_to(const A& x) {
  using R = array<typename A::value_type, Extents...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x));
  const int id = emit::resolve(b, detail::ref_of(x), {dtype_of<typename A::value_type>, A::shape});
  return R(detail::at(b, emit::broadcast_to(b, id, R::shape)));
}
template <std::int64_t... Extents, class A, class Why = error::shapes_do_not_broadcast>
  requires(Array<A> && !detail::repeats_to<A, Extents...>)
Why broadcast_to(const A&) = delete;  // drx: from the last axis on, each extent of x must be 1 or the one asked for
template <std::int64_t... Extents, class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why broadcast_to(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::broadcast_to<extents...>(x); }, placed); of a structure leaf by leaf: tree_map

DRX_SILENT(broadcast_to)

}

#include <cmath>

namespace drx::math {

inline constexpr double sin_limit = 131072;
template <std::floating_point T>
DRX_INLINE bool within_sin_limit(T x) {
  return std::fabs(x) <= T(sin_limit);
}

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(exp)
DRX_FORWARD(exp2)
DRX_FORWARD(expm1)
DRX_FORWARD(log)
DRX_FORWARD(log1p)
DRX_FORWARD(tanh)
DRX_FORWARD(sin)
DRX_FORWARD(cos)
DRX_FORWARD(tan)
#undef DRX_FORWARD
template <std::floating_point T>
DRX_INLINE T sin_near(T x) {
  return std::sin(x);
}
template <std::floating_point T>
DRX_INLINE T cos_near(T x) {
  return std::cos(x);
}
template <std::floating_point T>
DRX_INLINE T tan_near(T x) {
  return std::tan(x);
}

template <std::floating_point T>
DRX_INLINE T sigmoid_begin(T x) {
  return std::exp(-std::fabs(x));
}
template <std::floating_point T>
DRX_INLINE T sigmoid_end(T z, T x) {
  return (x < 0 ? z : T(1)) / (1 + z);
}
template <std::floating_point T>
DRX_INLINE T sigmoid(T x) {
  return sigmoid_end(sigmoid_begin(x), x);
}
template <std::floating_point T>
DRX_INLINE T tanh_begin(T x) {
  return std::tanh(x);
}
template <std::floating_point T>
DRX_INLINE T tanh_end(T y, T) {
  return y;
}

#else

namespace detail {

template <class T>
struct format;

template <>
struct format<float> {
  using bits = std::uint32_t;
  static constexpr int mantissa = 23;
  static constexpr bits bias = 127;
  static constexpr float magic = 0x1.8p23f;
  static constexpr float ln2_hi = 0x1.62ep-1f, ln2_lo = 0x1.0bfbe8p-15f;
  static constexpr float exp_min = -104, exp_max = 89, expm1_min = -18, tanh_max = 10;
};

template <>
struct format<double> {
  using bits = std::uint64_t;
  static constexpr int mantissa = 52;
  static constexpr bits bias = 1023;
  static constexpr double magic = 0x1.8p52;
  static constexpr double ln2_hi = 0x1.62e42feep-1, ln2_lo = 0x1.a39ef35793c76p-33;
  static constexpr double exp_min = -746, exp_max = 710, expm1_min = -38, tanh_max = 20;
};

template <class T>
using bits_t = typename format<T>::bits;

template <class To, class From>
DRX_INLINE constexpr To cast(From x) {
  return __builtin_bit_cast(To, x);
}

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__)
[[gnu::used]] inline std::uint32_t no_bits_of_float = 0;
[[gnu::used]] inline std::uint64_t no_bits_of_double = 0;
template <class T>
DRX_INLINE T as_rounded(T x) {
  if constexpr (std::same_as<T, float>)
    return cast<T>(cast<bits_t<T>>(x) ^ no_bits_of_float);
  else
    return cast<T>(cast<bits_t<T>>(x) ^ no_bits_of_double);
}
#elif defined(__clang__) && __has_builtin(__arithmetic_fence) && \
    defined(__x86_64__)
template <class T>
DRX_INLINE T as_rounded(T x) {
  return __arithmetic_fence(x);
}
#else
template <class T>
DRX_INLINE T as_rounded(T x) {
  return x;
}
#endif

template <class T>
DRX_INLINE constexpr T blend(bits_t<T> mask, T yes, T no) {
  using U = bits_t<T>;
  return cast<T>((cast<U>(yes) & mask) | (cast<U>(no) & ~mask));
}
template <class T>
DRX_INLINE constexpr T select(bool condition, T yes, T no) {
  return blend(bits_t<T>{0} - static_cast<bits_t<T>>(condition), yes, no);
}

template <class T>
inline constexpr bits_t<T> sign_bit = bits_t<T>{1} << (sizeof(T) * 8 - 1);

template <class T>
DRX_INLINE constexpr T magnitude(T x) {
  return cast<T>(cast<bits_t<T>>(x) & ~sign_bit<T>);
}

template <class T>
DRX_INLINE constexpr T with_sign_of(T x, T sign) {
  return cast<T>((cast<bits_t<T>>(x) & ~sign_bit<T>) | (cast<bits_t<T>>(sign) & sign_bit<T>));
}
template <class T>
DRX_INLINE constexpr T clamp(T x, T low, T high) {
  x = select(x < low, low, x);
  return select(x > high, high, x);
}

template <class T>
DRX_INLINE T fma(T a, T b, T c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  if constexpr (std::same_as<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

template <class T>
DRX_INLINE T horner(T, T c) {
  return c;
}
template <class T, class... C>
DRX_INLINE T horner(T x, T c0, T c1, C... c) {
  return fma(x, horner(x, c1, c...), c0);
}

template <class T>
DRX_INLINE T exp_series(T r) {
  if constexpr (std::same_as<T, float>)
    return horner(r, 0.50000000465f, 0.16666666818f, 0.04166635416f, 0.00833327289f, 0.00139410504f, 0.00019914261f);
  else
    return horner(r, 0.5, 0.16666666666666676639, 0.041666666666666701787, 0.0083333333333215783367,
                  0.0013888888888866657868, 0.00019841269886266287934, 0.000024801587360873566846,
                  2.7557244061778923815e-6, 2.7557242510008704365e-7, 2.5109090490605079179e-8,
                  2.0924515921565005393e-9);
}

template <class T>
struct exp_parts {
  T r, lost;
  bits_t<T> n;
};

template <class T>
DRX_INLINE exp_parts<T> exp_split(T x) {
  using F = format<T>;
  const T rounded = as_rounded(fma(x, T(1.4426950408889634074), F::magic)), n = as_rounded(rounded - F::magic);
  const T exact = as_rounded(fma(n, -F::ln2_hi, x)), r = as_rounded(fma(n, -F::ln2_lo, exact));
  return {r, as_rounded(fma(n, -F::ln2_lo, as_rounded(exact - r))),
          cast<bits_t<T>>(rounded) - cast<bits_t<T>>(F::magic)};
}

template <class T>
DRX_INLINE T scaled(T y, bits_t<T> n) {
  using F = format<T>;
  const bits_t<T> both = n + 2 * F::bias, half = both >> 1;
  return as_rounded(y * cast<T>(half << F::mantissa)) * cast<T>((both - half) << F::mantissa);
}

template <class T>
DRX_INLINE T exp_join(T r, bits_t<T> n) {
  return scaled(1 + fma(r * r, exp_series(r), r), n);
}

template <class T>
DRX_INLINE T half_expm1(T x) {
  using F = format<T>;
  const exp_parts<T> e = exp_split(x);
  const T q = e.r + fma(e.r * e.r, exp_series(e.r), e.lost);
  const T scale = cast<T>((e.n + (F::bias - 1)) << F::mantissa);
  return fma(scale, q, as_rounded(scale - T(0.5)));
}

template <class T>
DRX_INLINE T half_expm1_twice(T x) {
  using F = format<T>;
  const T rounded = as_rounded(fma(x, T(2 * 1.4426950408889634074), F::magic)), n = as_rounded(rounded - F::magic);
  const T exact = as_rounded(fma(n, -F::ln2_hi / 2, x)), r = as_rounded(fma(n, -F::ln2_lo / 2, exact));
  const T r2 = r * r;
  T q;
  if constexpr (std::same_as<T, float>) {
    q = fma(r2, horner(r, 0.99999996266f, 0.66666170738f, 0.33333763136f, 0.13386634875f, 0.044423991728f), r);
  } else {
    const T r4 = r2 * r2;
    const T low = fma(r2, horner(r, 0.3333333333333336, 0.13333333333314526), horner(r, 1.0, 0.6666666666666671));
    const T middle = fma(r2, horner(r, 0.0031746031821918166, 0.0007054654479815405),
                         horner(r, 0.04444444444437331, 0.012698412727210425));
    const T high = horner(r, 0.00014109308165124456, 2.57117086623796e-05, 4.285340860736513e-06);
    q = r + fma(r2, fma(r4, fma(r4, high, middle), low), as_rounded(fma(n, -F::ln2_lo / 2, as_rounded(exact - r))));
  }
  const T scale = cast<T>((cast<bits_t<T>>(rounded) << F::mantissa) + (F::bias << F::mantissa));
  return fma(scale, q, as_rounded(fma(scale, T(0.5), T(-0.5))));
}

template <class T>
struct log_parts {
  T k, m;
};

template <class T>
DRX_INLINE log_parts<T> log_split(T x) {
  using F = format<T>;
  using U = bits_t<T>;
  constexpr U one = F::bias << F::mantissa, root = cast<U>(T(0.70710678118654752440));
  constexpr T integers = T(U{1} << F::mantissa);
  const U shifted = cast<U>(x) + (one - root);
  const T k = cast<T>((shifted >> F::mantissa) | cast<U>(integers)) - (integers + T(F::bias));
  return {k, cast<T>((shifted & ((U{1} << F::mantissa) - 1)) + root)};
}

template <class T>
DRX_INLINE T log_join(T k, T f, T correction) {
  using F = format<T>;
  const T s = f / (2 + f), z = s * s, half_f = T(0.5) * f;
  T p;
  if constexpr (std::same_as<T, float>)
    p = horner(z, 0.66666665641f, 0.40000336202f, 0.28537239477f, 0.23583547261f);
  else
    p = horner(z, 0.66666666666667348919, 0.39999999999411108185, 0.28571428743260394297, 0.22222198476120887193,
               0.18183569737550058136, 0.15313903190358410786, 0.14797509333985994349);
  const T tail = as_rounded(fma(s, fma(half_f, f, z * p), fma(k, F::ln2_lo, correction)));
  return fma(k, F::ln2_hi, f - fma(half_f, f, -tail));
}

template <class T>
DRX_INLINE T log_special(T result, T x) {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  return select(x > 0, select(x < inf, result, x), select(x == 0, -inf, select(x < 0, nan, x)));
}

template <class T>
struct quadrant {
  T r, tail;
  bits_t<T> n;
};

template <class T>
DRX_INLINE quadrant<T> reduce_quadrant(T x) {
  using F = format<T>;
  constexpr double p1 = 0x1.921fb544p+0, p2 = 0x1.0b4611a6p-34, p3 = 0x1.3198a2ep-69, p4 = 0x1.b839a252049c1p-104;
  const T rounded = as_rounded(fma(x, T(0.63661977236758134308), F::magic));
  const bits_t<T> n = cast<bits_t<T>>(rounded) - cast<bits_t<T>>(F::magic);
  const double m = static_cast<double>(as_rounded(rounded - F::magic));
  const double r1 = as_rounded(fma(-m, p1, static_cast<double>(x)));
  if constexpr (std::same_as<T, float>) {
    const double r = fma(-m, p2 + p3, r1);
    return {static_cast<float>(r), static_cast<float>(r - static_cast<double>(static_cast<float>(r))), n};
  } else {
    const double r2 = as_rounded(fma(-m, p2, r1)), e2 = as_rounded(fma(-m, p2, as_rounded(r1 - r2)));
    const double r3 = as_rounded(fma(-m, p3, r2)), e3 = as_rounded(fma(-m, p3, as_rounded(r2 - r3)));
    const double tail = as_rounded(fma(-m, p4, e2 + e3));
    const double r = as_rounded(r3 + tail);
    return {r, as_rounded(as_rounded(r3 - r) + tail), n};
  }
}

template <class T>
struct turned {
  T s, c, tail;
  bits_t<T> n;
};

template <class T>
DRX_INLINE turned<T> sin_and_cos(T x) {
  const quadrant<T> q = reduce_quadrant(x);
  const T r = q.r, z = r * r;
  const T w = as_rounded(fma(z, T(-0.5), T(1))), lost = as_rounded(fma(z, T(-0.5), as_rounded(1 - w)));
  T s, c;
  if constexpr (std::same_as<T, float>) {
    s = fma(z * r, horner(z, -0.16666666637f, 0.00833332889f, -0.00019839176f, 2.71681066e-6f), r);
    c = w + fma(z, z * horner(z, 0.041666666615f, -0.00138888831f, 0.0000247993504f, -2.71963075e-7f), lost);
  } else {
    s = r + fma(z * r,
                horner(z, -0.16666666666666666633, 0.0083333333333333200142, -0.00019841269841251921357,
                       2.755731921255484031e-6, -2.5052104485247256891e-8, 1.6058312335166117827e-10,
                       -7.5760102737155167729e-13),
                q.tail);
    c = w + fma(z,
                z * horner(z, 0.041666666666666666598, -0.0013888888888888870274, 0.000024801587301568093161,
                           -2.7557319213922533876e-7, 2.087675404090272368e-9, -1.1470256608904354318e-11,
                           4.7364675287465584959e-14),
                fma(-r, q.tail, lost));
  }
  return {s, c, std::same_as<T, float> ? q.tail : T(0), q.n};
}

template <class T>
DRX_INLINE T sin_turned(T x, bits_t<T> turn) {
  using U = bits_t<T>;
  const turned<T> t = sin_and_cos(x);
  const U n = t.n + turn;
  const T unsigned_result = blend(U{0} - (n & 1), t.c, t.s);
  return cast<T>(cast<U>(unsigned_result) ^ ((n << (sizeof(T) * 8 - 2)) & sign_bit<T>));
}

template <class T>
DRX_INLINE T in_sin_limit(T x, T result) {
  return select(magnitude(x) <= T(sin_limit), result, std::numeric_limits<T>::quiet_NaN());
}

}

template <std::floating_point T>
DRX_INLINE T exp(T x) {
  using F = detail::format<T>;
  const auto e = detail::exp_split(detail::clamp(x, F::exp_min, F::exp_max));
  return detail::exp_join(e.r, e.n);
}

template <std::floating_point T>
DRX_INLINE T exp2(T x) {
  using F = detail::format<T>;
  x = detail::clamp(x, T(-2) * T(F::bias), T(F::bias + 1));
  const T rounded = detail::as_rounded(x + F::magic),
          r = (x - detail::as_rounded(rounded - F::magic)) * T(0.69314718055994530942);
  using U = detail::bits_t<T>;
  return detail::exp_join(r, detail::cast<U>(rounded) - detail::cast<U>(F::magic));
}

template <std::floating_point T>
DRX_INLINE T expm1(T x) {
  using F = detail::format<T>;
  const T result = 2 * detail::half_expm1(detail::clamp(x, F::expm1_min, F::exp_max));
  return detail::select(detail::magnitude(x) < std::numeric_limits<T>::epsilon() / 4, x, result);
}

template <std::floating_point T>
DRX_INLINE T log(T x) {
  using F = detail::format<T>;
  const bool subnormal = x < std::numeric_limits<T>::min();
  constexpr T lift = F::mantissa + 2, scale = T(std::uint64_t{1} << (F::mantissa + 2));
  const auto [k, m] = detail::log_split(detail::select(subnormal, x * scale, x));
  return detail::log_special(detail::log_join(k - detail::select(subnormal, lift, T(0)), m - 1, T(0)), x);
}

template <std::floating_point T>
DRX_INLINE T log1p(T x) {
  const T u = detail::as_rounded(1 + x);
  const auto [k, m] = detail::log_split(u);
  const T lost =
      detail::select(x > 1, 1 - detail::as_rounded(u - x), x - detail::as_rounded(u - 1));
  const bool near = k == 0;
  const T f = detail::select(near, x, m - 1), correction = detail::select(near, T(0), lost / u);
  return detail::with_sign_of(detail::log_special(detail::log_join(k, f, correction), u), x);
}

template <std::floating_point T>
DRX_INLINE T tanh_begin(T x) {
  const T a = detail::magnitude(x), limit = detail::format<T>::tanh_max;
  return detail::half_expm1_twice(detail::select(a > limit, limit, a));
}
template <std::floating_point T>
DRX_INLINE T tanh_end(T h, T x) {
  const T m = detail::select(h < 1, h, T(1));
  return detail::with_sign_of(detail::fma(-m, m / (h + 1), m), x);
}
template <std::floating_point T>
DRX_INLINE T tanh(T x) {
  return tanh_end(tanh_begin(x), x);
}

template <std::floating_point T>
DRX_INLINE T sigmoid_begin(T x) {
  return drx::math::exp(-detail::magnitude(x));
}
template <std::floating_point T>
DRX_INLINE T sigmoid_end(T z, T x) {
  const T quotient = detail::select(x < 0, z, T(1)) / (1 + z);
  return detail::select(x < 0, detail::fma(-z, quotient, z), quotient);
}
template <std::floating_point T>
DRX_INLINE T sigmoid(T x) {
  return sigmoid_end(sigmoid_begin(x), x);
}

template <std::floating_point T>
DRX_INLINE T sin_near(T x) {
  using U = detail::bits_t<T>;
  const T result = detail::sin_turned(detail::magnitude(x), U{0});
  return detail::cast<T>(detail::cast<U>(result) ^ (detail::cast<U>(x) & detail::sign_bit<T>));
}

template <std::floating_point T>
DRX_INLINE T cos_near(T x) {
  return detail::sin_turned(detail::magnitude(x), detail::bits_t<T>{1});
}

template <std::floating_point T>
DRX_INLINE T tan_near(T x) {
  using U = detail::bits_t<T>;
  const T a = detail::magnitude(x);
  const detail::turned<T> t = detail::sin_and_cos(a);
  const U odd = U{0} - (t.n & 1);
  const T quotient = detail::blend(odd, t.c, t.s) / detail::blend(odd, t.s, t.c);
  const T turned = detail::cast<T>(detail::cast<U>(quotient) ^ (odd & detail::sign_bit<T>));
  const T exact = detail::fma(t.tail, detail::fma(turned, turned, T(1)), turned);
  return detail::cast<T>(detail::cast<U>(exact) ^ (detail::cast<U>(x) & detail::sign_bit<T>));
}

template <std::floating_point T>
DRX_INLINE T sin(T x) {
  return detail::in_sin_limit(x, sin_near(x));
}
template <std::floating_point T>
DRX_INLINE T cos(T x) {
  return detail::in_sin_limit(x, cos_near(x));
}
template <std::floating_point T>
DRX_INLINE T tan(T x) {
  return detail::in_sin_limit(x, tan_near(x));
}

#endif

template <std::floating_point T>
DRX_INLINE constexpr T chosen(bool condition, T yes, T no) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return condition ? yes : no;
#else
  return detail::select(condition, yes, no);
#endif
}
template <std::floating_point T>
DRX_INLINE T azmul(T x, T y) {
  return chosen((x != 0) & (y != 0), x * y, T(0));
}
template <std::floating_point T>
DRX_INLINE T azdiv(T x, T y) {
  return chosen(x != 0, x / y, T(0));
}

template <std::floating_point T>
DRX_INLINE T abs(T x) {
  return std::fabs(x);
}
template <std::floating_point T>
DRX_INLINE T sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
DRX_INLINE T rsqrt(T x) {
  return 1 / std::sqrt(x);
}
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
template <std::floating_point T>
DRX_INLINE T floor(T x) {
  return std::floor(x);
}
template <std::floating_point T>
DRX_INLINE T ceil(T x) {
  return std::ceil(x);
}
template <std::floating_point T>
DRX_INLINE T trunc(T x) {
  return std::trunc(x);
}
template <std::floating_point T>
DRX_INLINE T round(T x) {
  return std::nearbyint(x);
}
#else
namespace detail {
template <std::floating_point T>
inline constexpr T first_whole = T(std::uint64_t{1} << format<T>::mantissa);
template <std::floating_point T>
DRX_INLINE T nearest_whole(T x) {
  return with_sign_of(as_rounded(as_rounded(magnitude(x) + first_whole<T>) - first_whole<T>), x);
}
template <std::floating_point T>
DRX_INLINE T if_not_whole(T whole, T x) {
  return select(magnitude(x) < first_whole<T>, with_sign_of(whole, x), x);
}
}
template <std::floating_point T>
DRX_INLINE T floor(T x) {
  const T near = detail::nearest_whole(x);
  return detail::if_not_whole(detail::select(near > x, near - 1, near), x);
}
template <std::floating_point T>
DRX_INLINE T ceil(T x) {
  const T near = detail::nearest_whole(x);
  return detail::if_not_whole(detail::select(near < x, near + 1, near), x);
}
template <std::floating_point T>
DRX_INLINE T trunc(T x) {
  const T size = detail::magnitude(x), near = detail::nearest_whole(size);
  return detail::if_not_whole(detail::select(near > size, near - 1, near), x);
}
template <std::floating_point T>
DRX_INLINE T round(T x) {
  return detail::if_not_whole(detail::nearest_whole(x), x);
}
#endif

template <std::floating_point T>
DRX_INLINE T sin_of_any(T x) {
  return within_sin_limit(x) ? drx::math::sin(x) : std::sin(x);
}
template <std::floating_point T>
DRX_INLINE T cos_of_any(T x) {
  return within_sin_limit(x) ? drx::math::cos(x) : std::cos(x);
}
template <std::floating_point T>
DRX_INLINE T tan_of_any(T x) {
  return within_sin_limit(x) ? drx::math::tan(x) : std::tan(x);
}

template <std::floating_point T>
DRX_INLINE T fma(T x, T y, T z) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return std::fma(x, y, z);
#else
  return detail::fma(x, y, z);
#endif
}

template <std::floating_point T>
DRX_INLINE T pow(T x, T y) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::same_as<T, float>) {
    const double of = x, to = y;
    constexpr double even = 1 << 25;
    const double near = detail::clamp(to, -even, even), half = near / 2;
    const auto is_whole = [](double n) __attribute__((always_inline)) {
      constexpr double magic = detail::format<double>::magic;
      return detail::as_rounded(detail::as_rounded(n + magic) - magic) == n;
    };
    const bool whole = is_whole(near), odd = whole & !is_whole(half);
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    double r = drx::math::exp(to * drx::math::log(detail::magnitude(of)));
    r = detail::select(odd, detail::with_sign_of(r, of), r);
    r = detail::select((of < 0) & (of > -inf) & !whole, nan, r);
    r = detail::select((to == 0) | (of == 1) | ((of == -1) & (detail::magnitude(to) == inf)), 1.0, r);
    return static_cast<float>(r);
  }
#endif
  return std::pow(x, y);
}
template <std::floating_point T>
DRX_INLINE T fmod(T x, T y) {
  return std::fmod(x, y);
}

}

namespace drx {
namespace prim::rows {

struct floating_function : same_type, on_floating {
  static constexpr int arity = 1;
};
struct number_function : same_type, on_numbers {
  static constexpr int arity = 1;
};

}

namespace detail {
template <class A>
constexpr A elementary(const primitive& p, const A& x) {
  return elementwise<A, typename A::value_type>(p, x);
}
template <class A>
concept NumberArray = Array<A> && !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A>
concept IntegerArray = Array<A> && std::is_integral_v<typename std::remove_cvref_t<A>::value_type> && NumberArray<A>;
template <class A>
concept NotFloating = (Array<A> || NoArray<A>) && !FloatingArray<A>;
template <class A>
concept NotNumbers = (Array<A> || NoArray<A>) && !NumberArray<A>;
template <class A>
using not_floating_t = std::conditional_t<NoArray<A>, no_array_t<A>, error::needs_floating_values>;
template <class A>
using not_numbers_t = std::conditional_t<NoArray<A>, no_array_t<A>, error::needs_numbers>;
template <class A, class B>
struct is_floating_pair : std::false_type {};
template <class A, class B>
  requires Compatible<A, B>
struct is_floating_pair<A, B> : std::is_floating_point<common_element<A, B>> {};
template <class A, class B>
concept FloatingPair = is_floating_pair<A, B>::value;
template <class A, class B>
concept ArraysExpected =
    (Array<A> || Literal<A> || NoArray<A>) && (Array<B> || Literal<B> || NoArray<B>) && !(Literal<A> && Literal<B>);
template <class A, class B>
concept NoFloatingPair = ArraysExpected<A, B> && !FloatingPair<A, B>;
template <class A, class B>
constexpr auto floating_pair_misuse() {
  if constexpr (NoArray<A> || NoArray<B>) {
    return no_array_t<A, B>{};
  } else if constexpr (Incompatible<A, B>) {
    return mismatch<A, B>();
  } else {
    return error::needs_floating_values{};
  }
}
}

}

namespace drx {
namespace prim::rules {
struct along_axis {
  struct view {
    int axis;
    bool backwards;
    constexpr view(int along, bool from_last) : axis(along), backwards(from_last) {}
    constexpr explicit view(int_list a) : view(a.number(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, backwards};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const auto& x = t.operands[0];
    for (const auto& other : t.operands) typing::require(other == x, "cumulative: the operands differ");
    typing::require(view(t.attrs).axis >= 0 && view(t.attrs).axis < x.shape.rank, "cumulative: no such axis");
    typing::require(x.type != dtype::boolean, "cumulative: of bool");
    return {x};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    view a(s.e);
    ++a.axis;
    return {s.b.add1(*s.e.prim, operands, a.make())};
  }
  static constexpr bool single(builder& b, const vec<int>& o, const attributes& a) {
    return b.shape(o[0])[view(a).axis] <= 1;
  }
  static std::string print(const attributes& a) {
    return "axis=" + std::to_string(view(a).axis) + (view(a).backwards ? "; backwards" : "");
  }
  static constexpr int axis(const rule_site& s) { return view(s.e).axis; }
  static constexpr bool backwards(const rule_site& s) { return view(s.e).backwards; }
  static constexpr int previous(builder& b, int x, int axis, bool backwards, double first) {
    const abstract_value from = b.type(x);
    const int rank = from.shape.rank;
    if (from.shape[axis] == 0) return x;
    vec<std::int64_t> low(rank, 0), high(rank, 0);
    (backwards ? high : low)[axis] = 1;
    const int rest = emit::part_of_axis(b, x, axis, high[axis], from.shape[axis] - 1);
    if (first == 0) return emit::pad(b, rest, low, high, vec<std::int64_t>(rank, 0));
    shape one = from.shape;
    one[axis] = 1;
    const int edge = emit::constant(b, from.with_shape(one), first);
    if (backwards) return emit::concatenate(b, {rest, edge}, axis);
    return emit::concatenate(b, {edge, rest}, axis);
  }
  template <class F>
  static void walk(evaluation& v, F f) {
    const shape s = v.out[0].type.shape;
    const int axis = view(v.e).axis;
    const bool backwards = view(v.e).backwards;
    shape rows = s;
    rows[axis] = 1;
    if (s.size() == 0) return;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each_index(rows, [&](const std::int64_t* at) {
        std::int64_t here[shape::max_rank] = {};
        for (int i = 0; i < s.rank; ++i) here[i] = at[i];
        const T* before = nullptr;
        for (std::int64_t k = 0; k < s[axis]; ++k) {
          here[axis] = backwards ? s[axis] - 1 - k : k;
          T& y = v.out[0].data<T>()[flat_index(s, here)];
          y = static_cast<T>(f(before, flat_index(s, here)));
          before = &y;
        }
      });
    });
  }
};
struct cumsum : along_axis {
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::cumsum(s.b, ct[0], axis(s), !backwards(s))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? o[0] : -1;
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      return before ? wrapping_sum(*before, v.in[0]->data<T>()[i]) : v.in[0]->data<T>()[i];
    });
  }
};
struct recurrence : along_axis {
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    int moved = t[1];
    if (t[0] != zero_tangent)
      moved =
          emit::accumulate(s.b, moved, emit::times(s.b, t[0], previous(s.b, s.results[0], axis(s), backwards(s), 0)));
    return {moved == zero_tangent ? zero_tangent : emit::recurrence(s.b, s.operands[0], moved, axis(s), backwards(s))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const int next = previous(s.b, s.operands[0], axis(s), !backwards(s), 0);
    vec<int> r{zero_tangent, emit::recurrence(s.b, next, ct[0], axis(s), !backwards(s))};
    if (wanted[0]) r[0] = emit::times(s.b, r[1], previous(s.b, s.results[0], axis(s), backwards(s), 0));
    return r;
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    return single(b, o, a) || (emit::is_constant(b, o[1], x) && x == 0) ? o[1] : -1;
  }
  static constexpr known_values known(const known_site& s) {
    const known_value &factor = s.operands[0], &x = s.operands[1];
    return {{factor.finite && x.finite, factor.not_negative && x.not_negative, factor.not_negative && x.not_positive,
             false}};
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      const T* b = v.in[1]->data<T>();
      return before ? wrapping_product_sum(v.in[0]->data<T>()[i], *before, b[i]) : b[i];
    });
  }
};
struct cumprod : along_axis {
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const int before = previous(s.b, s.results[0], axis(s), backwards(s), 1);
    return {emit::recurrence(s.b, s.operands[0], emit::times(s.b, t[0], before), axis(s), backwards(s))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const int before = previous(s.b, s.results[0], axis(s), backwards(s), 1),
              next = previous(s.b, s.operands[0], axis(s), !backwards(s), 0);
    return {emit::times(s.b, before, emit::recurrence(s.b, next, ct[0], axis(s), !backwards(s)))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? o[0] : -1;
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      return before ? wrapping_product(*before, v.in[0]->data<T>()[i]) : v.in[0]->data<T>()[i];
    });
  }
};
}

namespace prim {
inline constexpr primitive cumsum{.name = "cumsum",
                                  .type = rules::cumsum::type,
                                  .jvp = rules::broadcast_to::jvp,
                                  .vjp = rules::cumsum::vjp,
                                  .batch = rules::cumsum::batch,
                                  .simplify = rules::cumsum::simplify,
                                  .print = rules::cumsum::print,
                                  .evaluate = rules::cumsum::evaluate,
                                  .known = rules::known::sums,
                                  .lanes = rules::lanes::same,
                                  .split = rules::split::but_along<rules::cumsum>};
inline constexpr primitive cumprod{.name = "cumprod",
                                   .type = rules::cumprod::type,
                                   .jvp = rules::cumprod::jvp,
                                   .vjp = rules::cumprod::vjp,
                                   .batch = rules::cumprod::batch,
                                   .simplify = rules::cumprod::simplify,
                                   .print = rules::cumprod::print,
                                   .evaluate = rules::cumprod::evaluate,
                                   .known = rules::known::products,
                                   .lanes = rules::lanes::same,
                                   .split = rules::split::but_along<rules::cumprod>};
inline constexpr primitive recurrence{.name = "recurrence",
                                      .type = rules::recurrence::type,
                                      .jvp = rules::recurrence::jvp,
                                      .vjp = rules::recurrence::vjp,
                                      .batch = rules::recurrence::batch,
                                      .simplify = rules::recurrence::simplify,
                                      .print = rules::recurrence::print,
                                      .evaluate = rules::recurrence::evaluate,
                                      .known = rules::recurrence::known,
                                      .lanes = rules::lanes::same,
                                      .split = rules::split::but_along<rules::recurrence>};
}
namespace emit {
constexpr int cumsum(builder& b, int x, int axis, bool backwards) {
  return b.add1(prim::cumsum, {x}, prim::rules::along_axis::view(axis, backwards).make());
}
constexpr int cumprod(builder& b, int x, int axis, bool backwards) {
  return b.add1(prim::cumprod, {x}, prim::rules::along_axis::view(axis, backwards).make());
}
constexpr int recurrence(builder& b, int factor, int x, int axis, bool backwards) {
  return b.add1(prim::recurrence, {factor, x}, prim::rules::along_axis::view(axis, backwards).make());
}
}

enum class direction : bool { forward, backward };

namespace detail {
template <class A, int Axis>
struct axis_of : std::false_type {};
template <Array A, int Axis>
struct axis_of<A, Axis> : std::bool_constant<(Axis >= -A::rank && Axis < A::rank)> {
  static constexpr int axis = normal_axis(Axis, A::rank);
};
template <class A, int Axis>
concept HasAxis = axis_of<A, Axis>::value;
template <class A, int Axis>
constexpr auto axis_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!NumberArray<A>) {
    return error::needs_numbers{};
  } else {
    return error::axis_out_of_range{};
  }
}
template <class A, int Axis>
concept Cumulative = NumberArray<A> && HasAxis<A, Axis>;
}

template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cumsum(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return emit::cumsum(b, id, normal_axis(Axis, A::rank), To == direction::backward); });
}
template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cumprod(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return emit::cumprod(b, id, normal_axis(Axis, A::rank), To == direction::backward); });
}
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cumsum(const A&) = delete;  // drx: cumsum<axis>(array of numbers); of a placed value in a map
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cumprod(const A&) = delete;  // drx: cumprod<axis>(array of numbers); of a placed value in a map

DRX_SILENT(cumprod)
DRX_SILENT(cumsum)

}

namespace drx {
namespace prim {
namespace rows {

struct add : same_type, on_numbers {
  static constexpr const char* name = "add";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) { return x + y; }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return static_cast<T>(wrapping(x) + wrapping(y));
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder&, const rule_site&, int, int t) { return t; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy) return emit::constant_like(b, o[0], x + y);
    return cx && x == 0 ? o[1] : cy && y == 0 ? o[0] : -1;
  }
};
struct sub : same_type, on_numbers {
  static constexpr const char* name = "sub";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) {
    known_value r = s.operands[0] + -s.operands[1];
    r.not_positive = r.not_positive || patterns::below_maximum(s.definition, s.e).has_value();
    return r;
  }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return static_cast<T>(wrapping(x) - wrapping(y));
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site&, int i, int t) { return i == 0 ? t : emit::neg(b, t); }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy) return emit::constant_like(b, o[0], x - y);
    return cy && y == 0 ? o[0] : cx && x == 0 ? emit::neg(b, o[1]) : -1;
  }
};
struct mul : same_type, on_numbers {
  static constexpr const char* name = "mul";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) {
    known_value r = s.operands[0] * s.operands[1];
    r.not_negative = r.not_negative || s.e.operands[0] == s.e.operands[1];
    return r;
  }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return static_cast<T>(wrapping(x) * wrapping(y));
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return emit::times(b, t, s.operands[1 - i]);
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy) return emit::constant_like(b, o[0], x * y);
    return cx && x == 1 ? o[1] : cy && y == 1 ? o[0] : -1;
  }
};
struct div : same_type, on_numbers, singular_value {
  static constexpr const char* name = "div";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) {
    known_value r = s.operands[0] / s.operands[1];
    r.finite = r.finite || (s.operands[0].finite && patterns::is_share(s.definition, s.e));
    return r;
  }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      return y == 0 ? T(0) : y == T(-1) ? static_cast<T>(-wrapping(x)) : x / y;
    } else {
      return x / y;
    }
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return emit::azdiv(b, t, s.operands[1]);
    return emit::neg(b, emit::azdiv(b, emit::azmul(b, t, s.results[0]), s.operands[1]));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    const bool cx = emit::is_constant(b, o[0], x), cy = emit::is_constant(b, o[1], y);
    if (cx && cy && y != 0 && is_floating(b.type(o[0]).type)) return emit::constant_like(b, o[0], x / y);
    return cy && y == 1 ? o[0] : -1;
  }
};
struct neg : same_type, on_numbers {
  static constexpr const char* name = "neg";
  static constexpr int arity = 1;
  static constexpr known_value known(const known_value& x) { return -x; }
  template <class T>
  DRX_INLINE static constexpr T apply(T x) {
    return static_cast<T>(-wrapping(x));
  }
  template <class T>
  static T reference(T x) {
    return apply(x);
  }
  static constexpr int partial(builder& b, const rule_site&, int, int t) { return emit::neg(b, t); }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&);
};
struct maximum : same_type, on_numbers {
  static constexpr const char* name = "max";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) { return larger_of(x, y); }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return x > y || x != x ? x : y;
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return share(b, s.operands[i], s.operands[1 - i], s.results[0], t);
  }
  static constexpr int share(builder& b, int mine, int other, int result, int t) {
    const int half = emit::mul(b, t, emit::constant_like(b, t, 0.5));
    const int wins = emit::equal(b, mine, result);
    const int won = emit::where(b, wins, t, emit::constant_like(b, t, 0));
    return emit::where(b, emit::equal(b, mine, other), half, won);
  }
};
struct minimum : same_type, on_numbers {
  static constexpr const char* name = "min";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) { return -larger_of(-x, -y); }
  template <class T>
  DRX_INLINE static constexpr T apply(T x, T y) {
    return x < y || x != x ? x : y;
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return maximum::share(b, s.operands[i], s.operands[1 - i], s.results[0], t);
  }
};

}

inline constexpr primitive add = elementwise_primitive<rows::add>();
inline constexpr primitive sub = elementwise_primitive<rows::sub>();
inline constexpr primitive mul = elementwise_primitive<rows::mul>();
inline constexpr primitive div = elementwise_primitive<rows::div>();
inline constexpr primitive neg = elementwise_primitive<rows::neg>();
inline constexpr primitive maximum = elementwise_primitive<rows::maximum>();
inline constexpr primitive minimum = elementwise_primitive<rows::minimum>();
template <>
struct row_of<&add> : rows::add {};
template <>
struct row_of<&sub> : rows::sub {};
template <>
struct row_of<&mul> : rows::mul {};
template <>
struct row_of<&div> : rows::div {};
template <>
struct row_of<&neg> : rows::neg {};
template <>
struct row_of<&maximum> : rows::maximum {};
template <>
struct row_of<&minimum> : rows::minimum {};

constexpr int rows::neg::simplify(builder& b, const vec<int>& o, const attributes&) {
  double x = 0;
  if (emit::is_constant(b, o[0], x)) return emit::constant_like(b, o[0], -x);
  const entry* e = b.definition(o[0]);
  return e && e->prim == &prim::neg ? e->operands[0] : -1;
}
}

namespace emit {
constexpr int add(builder& b, int x, int y) { return b.add1(prim::add, {x, y}); }
constexpr int sub(builder& b, int x, int y) { return b.add1(prim::sub, {x, y}); }
constexpr int mul(builder& b, int x, int y) { return b.add1(prim::mul, {x, y}); }
constexpr int div(builder& b, int x, int y) { return b.add1(prim::div, {x, y}); }
constexpr int neg(builder& b, int x) { return b.add1(prim::neg, {x}); }
}

template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator+(const A& a, const B& b) { return detail::binary(prim::add, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator-(const A& a, const B& b) { return detail::binary(prim::sub, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator*(const A& a, const B& b) { return detail::binary(prim::mul, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator/(const A& a, const B& b) { return detail::binary(prim::div, a, b); }
template <class A> requires Array<A>
constexpr A operator-(const A& a) { return detail::elementwise<A, typename A::value_type>(prim::neg, a); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto max(const A& a, const B& b) { return detail::binary(prim::maximum, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto min(const A& a, const B& b) { return detail::binary(prim::minimum, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto maximum(const A& a, const B& b) { return detail::binary(prim::maximum, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto minimum(const A& a, const B& b) { return detail::binary(prim::minimum, a, b); }

template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator+(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator-(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator*(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator/(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why max(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why maximum(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why min(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why minimum(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why max(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::max(a, b); }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why maximum(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::maximum(a, b); }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why min(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::min(a, b); }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why minimum(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::minimum(a, b); }, x, y); of a structure leaf by leaf: tree_map

DRX_SILENT(maximum)
DRX_SILENT(minimum)

}

namespace drx::math {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(cbrt)
#undef DRX_FORWARD

#else

template <std::floating_point T>
DRX_INLINE T cbrt(T x) {
  using F = detail::format<T>;
  using U = detail::bits_t<T>;
  constexpr T lift = T(std::uint64_t{1} << 54), third_of_lift = T(1) / T(std::uint64_t{1} << 18);
  const T a = detail::magnitude(x);
  const bool subnormal = a < std::numeric_limits<T>::min();
  const auto [k, m] = detail::log_split(detail::select(subnormal, a * lift, a));
  const T rounded = detail::as_rounded(detail::fma(k, T(1) / 3, F::magic)),
          q = detail::as_rounded(rounded - F::magic);
  const T step = k - 3 * q, r = m * detail::select(step > 0, T(2), detail::select(step < 0, T(0.5), T(1)));
  T t = detail::horner(r, T(0.414831462583), T(1.05319060211), T(-0.761281918271), T(0.386188443529),
                       T(-0.103882287151), T(0.0111665971011));
  if constexpr (!std::same_as<T, float>) {
    const T cube = t * t * t;
    t = t * (cube + 2 * r) / (2 * cube + r);
  }
  constexpr int half = sizeof(T) == 4 ? 12 : 28;
  t = detail::cast<T>(detail::cast<U>(t) & ~((U{1} << half) - 1));
  const T ratio = r / (t * t);
  t = t + t * ((ratio - t) / (t + t + ratio));
  const U exponent = detail::cast<U>(rounded) - detail::cast<U>(F::magic) + F::bias;
  const T scale = detail::cast<T>(exponent << F::mantissa) * detail::select(subnormal, third_of_lift, T(1));
  const bool ordinary = (a > 0) & (a < std::numeric_limits<T>::infinity());
  return detail::with_sign_of(detail::select(ordinary, t * scale, a), x);
}

#endif

}

namespace drx {
namespace prim {
namespace rows {

struct sqrt : floating_function, singular_value {
  static constexpr const char* name = "sqrt";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_negative, true, false, x.not_zero};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sqrt(x);
  }
  template <class T>
  static T reference(T x) {
    return std::sqrt(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azdiv(b, emit::mul(b, t, emit::constant_like(b, t, 0.5)), s.results[0]);
  }
};
struct rsqrt : floating_function, singular_value {
  static constexpr const char* name = "rsqrt";
  static constexpr known_value known(const known_value& x) { return {x.finite && x.positive(), true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::rsqrt(x);
  }
  template <class T>
  static T reference(T x) {
    return 1 / std::sqrt(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int half = emit::mul(b, t, emit::constant_like(b, t, -0.5));
    return emit::azdiv(b, emit::azmul(b, half, s.results[0]), s.operands[0]);
  }
};
struct pow : same_type, on_floating, singular_value {
  static constexpr const char* name = "pow";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_value& x, const known_value& y) {
    return {x.finite && x.not_negative && y.finite && (x.not_zero || y.positive()), x.not_negative, false, false};
  }
  template <class T>
  DRX_INLINE static T apply(T x, T y) {
    return math::pow(x, y);
  }
  template <class T>
  static T reference(T x, T y) {
    return std::pow(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    const int x = s.operands[0], y = s.operands[1];
    const int zero = emit::constant_like(b, t, 0), one = emit::constant_like(b, t, 1);
    if (i == 0) {
      double c = 0;
      if (emit::is_constant(b, y, c))
        return c == 0 ? zero_tangent
                      : emit::azmul(b, t, emit::mul(b, y, emit::pow(b, x, emit::constant_like(b, y, c - 1))));
      const int is_zero = emit::equal(b, y, zero);
      const int lower = emit::where(b, is_zero, one, emit::sub(b, y, one));
      return emit::azmul(b, t, emit::azmul(b, y, emit::pow(b, x, lower)));
    }
    const int at_zero = emit::equal(b, x, zero);
    const int slope = emit::azmul(b, emit::log(b, emit::where(b, at_zero, one, x)), s.results[0]);
    return emit::azmul(b, t, emit::where(b, at_zero, zero, slope));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double y = 0;
    if (!emit::is_constant(b, o[1], y)) return -1;
    return y == 0 ? emit::constant_like(b, o[0], 1) : y == 1 ? o[0] : y == 2 ? emit::mul(b, o[0], o[0]) : -1;
  }
};
struct cbrt : floating_function {
  static constexpr const char* name = "cbrt";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::cbrt(x);
  }
  template <class T>
  static T reference(T x) {
    return std::cbrt(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int third = emit::mul(b, t, emit::constant_like(b, t, 1.0 / 3));
    return emit::azdiv(b, emit::azdiv(b, third, s.results[0]), s.results[0]);
  }
};

}

inline constexpr primitive sqrt = elementwise_primitive<rows::sqrt>();
inline constexpr primitive rsqrt = elementwise_primitive<rows::rsqrt>();
inline constexpr primitive pow = elementwise_primitive<rows::pow>();
inline constexpr primitive cbrt = elementwise_primitive<rows::cbrt>();
template <>
struct row_of<&sqrt> : rows::sqrt {};
template <>
struct row_of<&rsqrt> : rows::rsqrt {};
template <>
struct row_of<&pow> : rows::pow {};
template <>
struct row_of<&cbrt> : rows::cbrt {};
}

namespace emit {
constexpr int rsqrt(builder& b, int x) { return b.add1(prim::rsqrt, {x}); }
constexpr int pow(builder& b, int x, int y) { return b.add1(prim::pow, {x, y}); }
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
}

template <class A> requires FloatingArray<A>
constexpr A sqrt(const A& x) { return detail::elementary(prim::sqrt, x); }
template <class A> requires FloatingArray<A>
constexpr A rsqrt(const A& x) { return detail::elementary(prim::rsqrt, x); }
template <class A> requires detail::NumberArray<A>
constexpr A square(const A& x) { return x * x; }
template <class A> requires FloatingArray<A>
constexpr A cbrt(const A& x) { return detail::elementary(prim::cbrt, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sqrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why rsqrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why square(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cbrt(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

namespace detail {
template <class X>
concept IntegerLiteral = Literal<X> && std::is_integral_v<X> && !std::is_same_v<X, bool>;
template <class A, class B>
concept Power = FloatingPair<A, B> && !IntegerLiteral<B>;
template <class A, class B>
concept IntegerPower = NumberArray<A> && IntegerLiteral<B>;
template <class A, class B>
concept NoPower = ArraysExpected<A, B> && !Power<A, B> && !IntegerPower<A, B>;
}

template <class A, class B>
  requires detail::Power<A, B>
constexpr auto pow(const A& x, const B& y) {
  return detail::binary(prim::pow, x, y);
}
template <class A, class B>
  requires detail::IntegerPower<A, B>
constexpr A pow(const A& x, const B& n) {
  return detail::unary<A>(x, [=](builder& b, int id) { return emit::integer_pow(b, id, n); });
}
template <class A, class B, class Why = decltype(detail::floating_pair_misuse<A, B>())>
  requires detail::NoPower<A, B>
Why pow(const A&, const B&) = delete;  // drx: pow(floating array, floating array or number), pow(array of numbers, 3); of placed values in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(pow)
DRX_SILENT(sqrt)
DRX_SILENT(square)
DRX_SILENT(rsqrt)
DRX_SILENT(cbrt)

}

namespace drx {
namespace prim::indexing {

DRX_FN constexpr std::int64_t position(std::int64_t i, std::int64_t n, std::int64_t size = 1) {
  const std::int64_t at = i < 0 ? i + n : i, last = n - size;
  return at < 0 ? 0 : at > last ? last : at;
}
inline std::int64_t integer_at(const tensor& x, const std::int64_t* index) {
  const auto i = flat_index(x.type.shape, index);
  return x.type.type == dtype::int32 ? x.data<std::int32_t>()[i] : x.data<std::int64_t>()[i];
}

constexpr shape common_batch(const shape& a, const shape& b, int batch) {
  typing::require(batch >= 0 && batch <= a.rank && batch <= b.rank, "indexing: not as many axes as the batch has");
  shape s;
  for (int i = 0; i < batch; ++i) {
    typing::require(a[i] == b[i] || a[i] == 1 || b[i] == 1, "indexing: the batches differ");
    s.push_back(a[i] == 1 ? b[i] : a[i]);
  }
  return s;
}
constexpr vec<int> on_batch(const rule_site& s, const vec<bool>& batched) {
  vec<int> operands = s.operands;
  for (int i = 0; i < operands.size(); ++i)
    if (!batched[i]) operands[i] = emit::reshape(s.b, operands[i], with_front(s.b.shape(operands[i]), 1));
  return operands;
}
constexpr int summed_to(builder& b, int x, const shape& to) {
  const shape from = b.shape(x);
  vec<std::int64_t> axes;
  for (int i = 0; i < from.rank; ++i)
    if (to[i] == 1 && from[i] != 1) axes.push_back(i);
  return emit::reshape(b, emit::sum(b, x, axes), to);
}
inline void own_index(const shape& s, int batch, const std::int64_t* at, std::int64_t* own) {
  for (int i = 0; i < s.rank; ++i) own[i] = i < batch && s[i] == 1 ? 0 : at[i];
}

}

namespace detail {
template <class I>
concept Position = IntegerLiteral<I> || (ScalarArray<I> && IntegerArray<I>);
template <class I>
struct position_element {
  using type = std::conditional_t<sizeof(I) <= 4, std::int32_t, std::int64_t>;
};
template <Array I>
struct position_element<I> {
  using type = typename I::value_type;
};
template <class... I>
constexpr int positions_on(tracing_builder& b, const I&... i) {
  constexpr dtype type = dtype_of<std::common_type_t<typename position_element<I>::type...>>;
  auto one = [&](const auto& x) {
    if constexpr (IntegerLiteral<std::remove_cvref_t<decltype(x)>>) {
      return emit::constant(b, {type, make_shape(1)}, static_cast<double>(x));
    } else {
      return emit::reshape(b, emit::cast(b, id_on(b, x), type), make_shape(1));
    }
  };
  return emit::concatenate(b, {one(i)...}, 0);
}
template <class... X>
constexpr tracing_builder& tape_among(const X&... x) {
  auto ref = [](const auto& v) {
    if constexpr (Literal<std::remove_cvref_t<decltype(v)>>) {
      return traced_ref{};
    } else {
      return ref_of(v);
    }
  };
  return tape_of(ref(x)...);
}
}
}

namespace drx {
namespace prim::rules {
inline std::string list_of(int_list ints) {
  std::string text;
  for (int i = 0; i < ints.size(); ++i) text += (i ? "," : "") + std::to_string(ints[i]);
  return text;
}
struct reshape {
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape s = broadcast_to::target(t.attrs);
    typing::require(s.size() == t.operands[0].shape.size(), "reshape: the number of elements differs");
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::reshape(s.b, ct[0], s.b.shape(s.operands[0]))};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    return {emit::reshape(s.b, s.operands[0], with_front(broadcast_to::target(s.e.attrs), n))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const shape to = broadcast_to::target(a);
    if (b.shape(o[0]) == to) return o[0];
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr()) return emit::reshape(b, e->operands[0], to);
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_shape(to), x);
    return -1;
  }
  static constexpr const primitive* prim_ptr();
  static constexpr vec<int> lanes(const lane_site& s) {
    return {emit::reshape(s.b, s.operands[0], with_last(broadcast_to::target(s.e.attrs), s.n))};
  }
  static constexpr int split_axis(const split_site& s, const shape& from, const shape& to, int k) {
    if (k == split_site::whole) return k;
    std::int64_t before = 1, at_axis = 1;
    for (int i = 0; i < k; ++i) before *= from[i];
    for (int i = 0; i < to.rank; at_axis *= to[i++])
      if (at_axis == before && to[i] > 1 && s.divides(to, i)) return i;
    return split_site::whole;
  }
  static constexpr vec<split_result> split(split_site& s) {
    const shape& to = s.whole_result().shape;
    const int k = split_axis(s, s.whole_shape(0), to, s.axis(0));
    const int x = k == split_site::whole ? s.at(0, k) : s.operand(0);
    return {{emit::reshape(s.b, x, s.part_of(to, k)), k}};
  }
  static void evaluate(evaluation& v) { v.out[0].bytes = v.in[0]->bytes; }
};
struct transpose {
  struct view {
    int_list permutation;
    constexpr explicit view(int_list a) : permutation(a) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape from = t.operands[0].shape;
    typing::require(t.attrs.ints.size() == from.rank, "transpose: the permutation's length is not the rank");
    shape s;
    for (auto axis : t.attrs.ints) s.push_back(from[static_cast<int>(axis)]);
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    vec<std::int64_t> inverse(s.e.attrs.ints.size(), 0);
    for (int i = 0; i < inverse.size(); ++i) inverse[static_cast<int>(s.e.attrs.ints[i])] = i;
    return {emit::transpose(s.b, ct[0], inverse)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    vec<std::int64_t> p{0};
    for (auto axis : s.e.attrs.ints) p.push_back(axis + 1);
    return {emit::transpose(s.b, s.operands[0], p)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    bool identity = true;
    for (int i = 0; i < a.ints.size(); ++i) identity = identity && a.ints[i] == i;
    if (identity) return o[0];
    const shape from = b.shape(o[0]);
    shape to;
    for (auto axis : a.ints) to.push_back(from[static_cast<int>(axis)]);
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_shape(to), x);
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr()) {
      const int inner = e->operands[0];
      vec<std::int64_t> both;
      for (auto axis : a.ints) both.push_back(view(*e).permutation[static_cast<int>(axis)]);
      return emit::transpose(b, inner, both);
    }
    return keeps_order(from, a.ints) ? emit::reshape(b, o[0], to) : -1;
  }
  static constexpr bool keeps_order(const shape& from, const vec<std::int64_t>& permutation) {
    std::int64_t last = -1;
    for (auto axis : permutation) {
      if (from[static_cast<int>(axis)] == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }
  static constexpr const primitive* prim_ptr();
  static std::string print(const attributes& a) { return list_of(a.ints); }
  static constexpr vec<int> lanes(const lane_site& s) {
    vec<std::int64_t> order = view(s.e).permutation;
    order.push_back(order.size());
    return {emit::transpose(s.b, s.operands[0], order)};
  }
  static constexpr vec<split_result> split(split_site& s) {
    const vec<std::int64_t> permutation = view(s.e).permutation;
    const int from = s.axis(0), k = from == split_site::whole ? from : permutation.find(from);
    return {{emit::transpose(s.b, s.operand(0), permutation), k}};
  }
  static void evaluate(evaluation& v) {
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(v.out[0].type.shape, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < v.e.attrs.ints.size(); ++k) source[v.e.attrs.ints[k]] = at[k];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(v.in[0]->type.shape, source))], width);
    });
  }
};
}

namespace prim {
inline constexpr primitive reshape{.name = "reshape",
                                   .type = rules::reshape::type,
                                   .jvp = rules::broadcast_to::jvp,
                                   .vjp = rules::reshape::vjp,
                                   .batch = rules::reshape::batch,
                                   .simplify = rules::reshape::simplify,
                                   .evaluate = rules::reshape::evaluate,
                                   .known = rules::known::handed_on,
                                   .lanes = rules::reshape::lanes,
                                   .split = rules::reshape::split,
                                   .role = role::alias,
                                   .takes_halves = true};
inline constexpr primitive transpose{.name = "transpose",
                                     .type = rules::transpose::type,
                                     .jvp = rules::broadcast_to::jvp,
                                     .vjp = rules::transpose::vjp,
                                     .batch = rules::transpose::batch,
                                     .simplify = rules::transpose::simplify,
                                     .print = rules::transpose::print,
                                     .evaluate = rules::transpose::evaluate,
                                     .known = rules::known::handed_on,
                                     .lanes = rules::transpose::lanes,
                                     .split = rules::transpose::split,
                                     .takes_halves = true};
constexpr const primitive* rules::reshape::prim_ptr() { return &prim::reshape; }
constexpr const primitive* rules::transpose::prim_ptr() { return &prim::transpose; }
}

namespace emit {
constexpr int reshape(builder& b, int x, const shape& s) {
  attributes a;
  for (int i = 0; i < s.rank; ++i) a.ints.push_back(s[i]);
  return b.add1(prim::reshape, {x}, a);
}
constexpr int transpose(builder& b, int x, const vec<std::int64_t>& permutation) {
  attributes a;
  a.ints = permutation;
  return b.add1(prim::transpose, {x}, a);
}
}

template <std::int64_t... Extents, class A>
  requires(Array<A> && (Extents * ... * 1) == A::size)
constexpr auto reshape(const A& x) {
  using R = array<typename A::value_type, Extents...>;
  return detail::unary<R>(x, [](builder& b, int id) { return emit::reshape(b, id, R::shape); });
}
template <std::int64_t... Extents, class A, class Why = error::number_of_elements_differs>
  requires(Array<A> && (Extents * ... * 1) != A::size)
Why reshape(const A&) = delete;  // drx: the product of the new extents must be the number of elements
template <class A, class... I, class Why = error::axes_and_extents_are_template_arguments>
  requires detail::AxesAsArguments<A, I...>
Why reshape(const A&, const I&...) = delete;  // drx: reshape<3, 4>(x)
template <auto..., class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why reshape(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::reshape<extents...>(x); }, placed); of a structure leaf by leaf: tree_map

namespace detail {
template <int Rank, int... P>
constexpr bool is_permutation() {
  if (sizeof...(P) != Rank) return false;
  [[maybe_unused]] int times[Rank + 1] = {};
  return ((P >= 0 && P < Rank && ++times[P >= 0 && P < Rank ? P : 0] == 1) && ...);
}
}

namespace detail {
template <class A, int... P>
struct transposed {
  static constexpr int axis(int i) {
    if constexpr (sizeof...(P) == 0) {
      return A::rank - 1 - i;
    } else {
      constexpr int p[] = {P...};
      return p[i];
    }
  }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i) s.push_back(A::shape[axis(i)]);
    return s;
  }();
};
}

template <int... P, class A>
  requires(Array<A> && (sizeof...(P) == 0 || detail::is_permutation<A::rank, P...>()))
constexpr auto transpose(const A& x) {
  using S = detail::transposed<A, P...>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    vec<std::int64_t> p;
    for (int i = 0; i < A::rank; ++i) p.push_back(S::axis(i));
    return emit::transpose(b, id, p);
  });
}
template <int... P, class A, class Why = error::axis_out_of_range>
  requires(Array<A> && sizeof...(P) != 0 && !detail::is_permutation<A::rank, P...>())
Why transpose(const A&) = delete;  // drx: transpose<P...>(x): P is a permutation of 0 .. rank-1
template <auto..., class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why transpose(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::transpose(x); }, placed); of a structure leaf by leaf: tree_map

DRX_SILENT(reshape)
DRX_SILENT(transpose)

}

namespace drx {
namespace prim::rules {
struct slice {
  struct view {
    int_list starts, stops, strides;
    constexpr explicit view(int_list a) : view(a, a.size() / 3) {}
    [[nodiscard]] constexpr int rank() const { return starts.size(); }
    [[nodiscard]] constexpr std::int64_t start(int axis) const { return starts[axis]; }
    [[nodiscard]] constexpr std::int64_t stop(int axis) const { return stops[axis]; }
    [[nodiscard]] constexpr std::int64_t stride(int axis) const { return strides[axis]; }
    [[nodiscard]] constexpr bool takes_all(int axis, std::int64_t n) const {
      return start(axis) == 0 && stop(axis) == n && stride(axis) == 1;
    }

   private:
    constexpr view(int_list a, int rank)
        : starts(a.part(0, rank)), stops(a.part(rank, rank)), strides(a.part(2 * rank, rank)) {}
  };
  static constexpr attributes make(const vec<std::int64_t>& starts, const vec<std::int64_t>& stops,
                                   const vec<std::int64_t>& strides) {
    attributes a;
    a.ints = starts;
    a.ints.append(stops);
    a.ints.append(strides);
    return a;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape from = t.operands[0].shape;
    typing::require(t.attrs.ints.size() == 3 * from.rank, "slice: not a range for each axis");
    shape to;
    const view range(t.attrs);
    for (int i = 0; i < from.rank; ++i) {
      const auto start = range.start(i), stop = range.stop(i), stride = range.stride(i);
      typing::require(0 <= start && start <= stop && stop <= from[i] && stride >= 1, "slice: out of range");
      to.push_back((stop - start + stride - 1) / stride);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]), to = s.b.shape(s.results[0]);
    vec<std::int64_t> low, high, interior;
    for (int i = 0; i < from.rank; ++i) {
      const auto start = view(s.e).start(i), stride = view(s.e).stride(i);
      const auto covered = to[i] == 0 ? 0 : (to[i] - 1) * stride + 1;
      low.push_back(start);
      high.push_back(from[i] - start - covered);
      interior.push_back(stride - 1);
    }
    return {emit::pad(s.b, ct[0], low, high, interior)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t n) {
    const view range(s.e);
    vec<std::int64_t> start{0}, stop{n}, stride{1};
    start.append(range.starts);
    stop.append(range.stops);
    stride.append(range.strides);
    return {emit::slice(s.b, s.operands[0], start, stop, stride)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[0]) return o[0];
    double x = 0;
    return emit::is_constant(b, o[0], x) ? emit::constant(b, to, x) : -1;
  }
  static std::string print(const attributes& a) {
    const view range(a);
    std::string text;
    for (int i = 0; i < range.rank(); ++i) {
      text += (i ? ", " : "") + std::to_string(range.start(i)) + ":" + std::to_string(range.stop(i));
      if (range.stride(i) != 1) text += ":" + std::to_string(range.stride(i));
    }
    return text;
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const view range(s.e);
    return {emit::slice(s.b, s.operands[0], rules::lanes::and_last(range.starts, 0),
                        rules::lanes::and_last(range.stops, s.n), rules::lanes::and_last(range.strides, 1))};
  }
  static constexpr vec<split_result> split(split_site& s) {
    const int k = s.first_axis();
    const view range(s.e);
    if (k == split_site::whole || !range.takes_all(k, s.whole_shape(0)[k])) return {};
    vec<std::int64_t> stops = range.stops;
    stops[k] /= s.mesh.count;
    return s.apart(make(range.starts, stops, range.strides));
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    const view range(v.e);
    std::size_t i = 0;
    for_each_index(v.out[0].type.shape, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < from.rank; ++k) source[k] = range.start(k) + at[k] * range.stride(k);
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
}

namespace prim {
inline constexpr primitive slice{.name = "slice",
                                 .type = rules::slice::type,
                                 .jvp = rules::broadcast_to::jvp,
                                 .vjp = rules::slice::vjp,
                                 .batch = rules::slice::batch,
                                 .simplify = rules::slice::simplify,
                                 .print = rules::slice::print,
                                 .evaluate = rules::slice::evaluate,
                                 .known = rules::known::handed_on,
                                 .lanes = rules::slice::lanes,
                                 .split = rules::slice::split,
                                 .role = role::rearranged,
                                 .takes_halves = true};
}
namespace emit {
constexpr int slice(builder& b, int x, const vec<std::int64_t>& start, const vec<std::int64_t>& stop,
                    const vec<std::int64_t>& stride) {
  return b.add1(prim::slice, {x}, prim::rules::slice::make(start, stop, stride));
}
}

namespace emit {
constexpr int part_of_axis(builder& b, int x, int axis, std::int64_t first, std::int64_t n) {
  const shape s = b.shape(x);
  vec<std::int64_t> start(s.rank, 0), stop;
  for (int i = 0; i < s.rank; ++i) stop.push_back(s[i]);
  start[axis] = first;
  stop[axis] = first + n;
  return slice(b, x, start, stop, vec<std::int64_t>(s.rank, 1));
}
}

template <std::int64_t Start, std::int64_t Stop = std::numeric_limits<std::int64_t>::max(), std::int64_t Stride = 1>
struct range {
  static_assert(Stride >= 1, "drx::range: the stride must be positive");
  static constexpr std::int64_t start(std::int64_t n) { return Start < 0 ? Start + n : Start; }
  static constexpr std::int64_t stop(std::int64_t n) {
    return Stop < 0 ? Stop + n : Stop == std::numeric_limits<std::int64_t>::max() ? n : Stop;
  }
  static constexpr std::int64_t stride = Stride;
  static constexpr bool fits(std::int64_t n) { return 0 <= start(n) && start(n) <= stop(n) && stop(n) <= n; }
};
using all = range<0>;

namespace detail {
template <class R>
inline constexpr bool is_range = false;
template <std::int64_t Start, std::int64_t Stop, std::int64_t Stride>
inline constexpr bool is_range<range<Start, Stop, Stride>> = true;

template <class A, class... R>
struct sliced {
  static constexpr int given = static_cast<int>(sizeof...(R));
  static constexpr bool fits = [] {
    if (given > A::rank) return false;
    [[maybe_unused]] int axis = 0;
    return (R::fits(A::shape[axis++]) && ...);
  }();
  struct spans {
    std::int64_t start[static_cast<std::size_t>(A::rank) + 1] = {}, stop[static_cast<std::size_t>(A::rank) + 1] = {},
                                                           stride[static_cast<std::size_t>(A::rank) + 1] = {};
  };
  static constexpr spans of_axes = [] {
    spans s;
    if (!fits) return s;
    for (int i = 0; i < A::rank; ++i) {
      s.stop[i] = A::shape[i];
      s.stride[i] = 1;
    }
    [[maybe_unused]] int axis = 0;
    ((s.start[axis] = R::start(A::shape[axis]), s.stop[axis] = R::stop(A::shape[axis]), s.stride[axis] = R::stride,
      ++axis),
     ...);
    return s;
  }();
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; fits && i < A::rank; ++i)
      s.push_back((of_axes.stop[i] - of_axes.start[i] + of_axes.stride[i] - 1) / of_axes.stride[i]);
    return s;
  }();
};
template <class A, class... R>
struct sliceable : std::false_type {};
template <Array A, class... R>
struct sliceable<A, R...> : std::bool_constant<sliced<A, R...>::fits> {};
template <class A, class... R>
concept Sliceable = sliceable<A, R...>::value;

template <class A, class... R>
constexpr auto slice_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (static_cast<int>(sizeof...(R)) > A::rank) {
    return error::wrong_rank{};
  } else {
    return error::slice_out_of_range{};
  }
}

template <class A, class... R>
constexpr int sliced_id(builder& b, int id) {
  using S = sliced<A, R...>;
  vec<std::int64_t> start, stop, stride;
  for (int i = 0; i < A::rank; ++i) {
    start.push_back(S::of_axes.start[i]);
    stop.push_back(S::of_axes.stop[i]);
    stride.push_back(S::of_axes.stride[i]);
  }
  return emit::slice(b, id, start, stop, stride);
}
}

template <class... Ranges, class A>
  requires(sizeof...(Ranges) > 0 && (detail::is_range<Ranges> && ...) && detail::Sliceable<A, Ranges...>)
constexpr auto slice(const A& x) {
  return detail::unary<array_of<typename A::value_type, detail::sliced<A, Ranges...>>>(
      x, [](builder& b, int id) { return detail::sliced_id<A, Ranges...>(b, id); });
}
template <std::int64_t Start, std::int64_t Stop, std::int64_t Stride = 1, class A>
  requires detail::Sliceable<A, range<Start, Stop, Stride>>
constexpr auto slice(const A& x) {
  return drx::slice<range<Start, Stop, Stride>>(x);
}
template <class... Ranges, class A, class Why = decltype(detail::slice_misuse<A, Ranges...>())>
  requires(sizeof...(Ranges) > 0 && (detail::is_range<Ranges> && ...) && (Array<A> || Placed<A>) &&
           !detail::Sliceable<A, Ranges...>)
Why slice(const A&) = delete;  // drx: 0 <= start <= stop <= extent, for at most as many axes as the array has; of a placed value in a map
template <std::int64_t Start, std::int64_t Stop, std::int64_t Stride = 1, class A,
          class Why = decltype(detail::slice_misuse<A, range<Start, Stop, Stride>>())>
  requires((Array<A> || Placed<A>) && !detail::Sliceable<A, range<Start, Stop, Stride>>)
Why slice(const A&) = delete;  // drx: 0 <= start <= stop <= extent of axis 0; of a placed value in a map

namespace detail {
template <std::int64_t I>
using just = range<I, I == -1 ? std::numeric_limits<std::int64_t>::max() : I + 1>;
template <class A, int N>
struct without_first_axes {
  static constexpr shape value = [] {
    shape s;
    for (int i = N; i < A::rank; ++i) s.push_back(A::shape[i]);
    return s;
  }();
};
}

template <std::int64_t... I, class A>
  requires(sizeof...(I) > 0 && detail::Sliceable<A, detail::just<I>...>)
constexpr auto index(const A& x) {
  using S = detail::without_first_axes<A, static_cast<int>(sizeof...(I))>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    return emit::reshape(b, detail::sliced_id<A, detail::just<I>...>(b, id), S::value);
  });
}
template <std::int64_t... I, class A, class Why = decltype(detail::slice_misuse<A, detail::just<I>...>())>
  requires(sizeof...(I) > 0 && (Array<A> || Placed<A>) && !detail::Sliceable<A, detail::just<I>...>)
Why index(const A&) = delete;  // drx: each index below its axis' extent, not more of them than axes; of a placed value in a map

DRX_SILENT(slice)
DRX_SILENT(index)

}

namespace drx {
namespace prim::rules {
struct dynamic_slice {
  struct view {
    int batch;
    int_list sizes;
    constexpr explicit view(int_list a) : batch(a.number(0)), sizes(a.from(1)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, starts = t.operands[1].shape;
    const int_list sizes = view(t.attrs).sizes;
    const int batch = view(t.attrs).batch, sized = sizes.size();
    typing::require(is_integer(t.operands[1].type), "dynamic_slice: the starts are no integers");
    typing::require(starts.rank == batch + 1 && starts[batch] == sized && batch + sized <= x.rank,
                    "dynamic_slice: not a start for each size");
    shape to = indexing::common_batch(x, starts, batch);
    for (int i = batch; i < x.rank; ++i) {
      const auto size = i < batch + sized ? sizes[i - batch] : x[i];
      typing::require(0 <= size && size <= x[i], "dynamic_slice: larger than the array");
      to.push_back(size);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[0]) return {zero_tangent, zero_tangent};
    const int batch = view(s.e).batch;
    const shape from = s.b.shape(s.operands[0]);
    shape all = s.b.shape(s.results[0]);
    for (int i = batch; i < from.rank; ++i) all[i] = from[i];
    const int zeros = emit::constant(s.b, s.b.type(ct[0]).with_shape(all), 0);
    return {indexing::summed_to(s.b, emit::update_slice(s.b, zeros, ct[0], s.operands[1], batch), from), zero_tangent};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t) {
    attributes a = s.e.attrs;
    ++a.ints[0];
    return {s.b.add1(*s.e.prim, indexing::on_batch(s, batched), a)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[0]) return o[0];
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return emit::constant(b, to, x);
    if (view(a).batch != 0 || !emit::is_constant(b, o[1], x)) return -1;
    vec<std::int64_t> start, stop;
    for (int i = 0; i < to.shape.rank; ++i) {
      const bool sized = i < view(a).sizes.size();
      start.push_back(sized ? indexing::position(static_cast<std::int64_t>(x), from[0].shape[i], to.shape[i]) : 0);
      stop.push_back(start[i] + to.shape[i]);
    }
    return emit::slice(b, o[0], start, stop, vec<std::int64_t>(to.shape.rank, 1));
  }
  static std::string print(const attributes& a) {
    const view s(a);
    return list_of(s.sizes) + (s.batch > 0 ? "; batch=" + std::to_string(s.batch) : "");
  }
  static void start_of(const tensor& starts, int batch, int sized, const shape& from, const shape& part,
                       const std::int64_t* at, std::int64_t* start) {
    for (int i = 0; i < from.rank; ++i) start[i] = 0;
    for (int i = 0; i < sized; ++i) {
      std::int64_t own[shape::max_rank] = {};
      indexing::own_index(starts.type.shape, batch, at, own);
      own[batch] = i;
      start[batch + i] = indexing::position(indexing::integer_at(starts, own), from[batch + i], part[batch + i]);
    }
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const int batch = view(v.e).batch, sized = view(v.e).sizes.size();
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(to, [&](const std::int64_t* at) {
      std::int64_t start[shape::max_rank], source[shape::max_rank];
      start_of(*v.in[1], batch, sized, from, to, at, start);
      indexing::own_index(from, batch, at, source);
      for (int k = batch; k < from.rank; ++k) source[k] += start[k];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
struct update_slice {
  struct view {
    int batch;
    constexpr explicit view(int_list a) : batch(a.number(0)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, piece = t.operands[1].shape, starts = t.operands[2].shape;
    const int batch = view(t.attrs).batch;
    typing::require(is_integer(t.operands[2].type), "update_slice: the starts are no integers");
    typing::require(t.operands[0].type == t.operands[1].type, "update_slice: element types differ");
    typing::require(x.rank == piece.rank && starts.rank == batch + 1 && batch + starts[batch] <= x.rank,
                    "update_slice: ranks");
    shape to = indexing::common_batch(indexing::common_batch(x, piece, batch), starts, batch);
    for (int i = batch; i < x.rank; ++i) {
      typing::require(i < batch + starts[batch] ? piece[i] <= x[i] : piece[i] == x[i],
                      "update_slice: the piece does not fit");
      to.push_back(x[i]);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent && t[1] == zero_tangent) return {zero_tangent};
    vec<int> moved = s.operands;
    for (int i = 0; i < 2; ++i) moved[i] = emit::instantiate_zeros(s.b, t[i], s.operands[i]);
    return {s.b.add1(*s.e.prim, moved, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(3, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const int batch = view(s.e).batch, starts = s.operands[2];
    const shape x = s.b.shape(s.operands[0]), piece = s.b.shape(s.operands[1]);
    if (wanted[0]) {
      const int none = emit::zeros_like(s.b, s.operands[1]);
      r[0] = indexing::summed_to(s.b, emit::update_slice(s.b, ct[0], none, starts, batch), x);
    }
    if (wanted[1]) {
      vec<std::int64_t> sizes;
      for (int i = 0; i < s.b.shape(starts)[batch]; ++i) sizes.push_back(piece[batch + i]);
      r[1] = indexing::summed_to(s.b, emit::dynamic_slice(s.b, ct[0], starts, sizes, batch), piece);
    }
    return r;
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1]), b.type(o[2])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[1]) return o[1];
    if (from[1].shape.size() == 0 && to == from[0]) return o[0];
    double x = 0, piece = 0;
    return emit::is_constant(b, o[0], x) && emit::is_constant(b, o[1], piece) && x == piece ? emit::constant(b, to, x)
                                                                                            : -1;
  }
  static std::string print(const attributes& a) {
    return view(a).batch > 0 ? "batch=" + std::to_string(view(a).batch) : "";
  }
  static constexpr known_values known(const known_site& s) { return {either(s.operands[0], s.operands[1])}; }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape, piece = v.in[1]->type.shape;
    const int batch = view(v.e).batch;
    const int sized = static_cast<int>(v.in[2]->type.shape[batch]);
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    auto copy = [&](const tensor& x, const std::int64_t* source, const std::int64_t* target) {
      std::memcpy(&v.out[0].bytes[width * static_cast<std::size_t>(flat_index(to, target))],
                  &x.bytes[width * static_cast<std::size_t>(flat_index(x.type.shape, source))], width);
    };
    std::int64_t source[shape::max_rank], target[shape::max_rank];
    for_each_index(to, [&](const std::int64_t* at) {
      indexing::own_index(from, batch, at, source);
      copy(*v.in[0], source, at);
    });
    shape each = piece;
    for (int i = 0; i < batch; ++i) each[i] = to[i];
    for_each_index(each, [&](const std::int64_t* at) {
      dynamic_slice::start_of(*v.in[2], batch, sized, to, piece, at, target);
      for (int i = 0; i < to.rank; ++i) target[i] += at[i];
      indexing::own_index(piece, batch, at, source);
      copy(*v.in[1], source, target);
    });
  }
};
}

namespace prim {
inline constexpr primitive dynamic_slice{.name = "dynamic_slice",
                                         .type = rules::dynamic_slice::type,
                                         .jvp = rules::dynamic_slice::jvp,
                                         .vjp = rules::dynamic_slice::vjp,
                                         .batch = rules::dynamic_slice::batch,
                                         .simplify = rules::dynamic_slice::simplify,
                                         .print = rules::dynamic_slice::print,
                                         .evaluate = rules::dynamic_slice::evaluate,
                                         .known = rules::known::handed_on,
                                         .lanes = rules::lanes::same_places<1>,
                                         .split = rules::split::along_batch<rules::dynamic_slice>,
                                         .takes_halves = true};
inline constexpr primitive update_slice{.name = "update_slice",
                                        .type = rules::update_slice::type,
                                        .jvp = rules::update_slice::jvp,
                                        .vjp = rules::update_slice::vjp,
                                        .batch = rules::dynamic_slice::batch,
                                        .simplify = rules::update_slice::simplify,
                                        .print = rules::update_slice::print,
                                        .evaluate = rules::update_slice::evaluate,
                                        .known = rules::update_slice::known,
                                        .lanes = rules::lanes::same_places<2>,
                                        .split = rules::split::along_batch<rules::update_slice>,
                                        .in_place = true,
                                        .takes_halves = true};
}
namespace emit {
constexpr int dynamic_slice(builder& b, int x, int starts, const vec<std::int64_t>& sizes, int batch) {
  attributes a;
  a.ints = {batch};
  a.ints.append(sizes);
  return b.add1(prim::dynamic_slice, {x, starts}, a);
}
constexpr int update_slice(builder& b, int x, int piece, int starts, int batch) {
  attributes a;
  a.ints = {batch};
  return b.add1(prim::update_slice, {x, piece, starts}, a);
}
}

namespace detail {
template <std::int64_t... Sizes>
struct sizes {};

template <class A, class Sizes, class... I>
struct dynamic_part : not_arrays<A, I...> {};
template <Array A, std::int64_t... Size, class... I>
  requires(!(Placed<I> || ...))
struct dynamic_part<A, sizes<Size...>, I...> {
  static constexpr int given = static_cast<int>(sizeof...(Size));
  static constexpr std::int64_t size(int i) {
    const std::int64_t list[] = {Size..., 0};
    return list[i];
  }
  static constexpr auto misuse() {
    if constexpr (!(Position<I> && ...)) {
      return error::needs_integer_values{};
    } else if constexpr (given == 0 || given > A::rank || given != static_cast<int>(sizeof...(I))) {
      return error::wrong_rank{};
    } else if constexpr (!fits()) {
      return error::slice_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr bool fits() {
    for (int i = 0; i < given; ++i)
      if (size(i) < 0 || size(i) > A::shape[i]) return false;
    return true;
  }
  static constexpr shape value = [] {
    shape s = A::shape;
    for (int i = 0; i < given && i < s.rank; ++i) s[i] = size(i);
    return s;
  }();
};
template <class A, class Sizes, class... I>
concept DynamicallySliceable = std::is_same_v<decltype(dynamic_part<A, Sizes, I...>::misuse()), no_misuse>;

template <class A, class B, class... I>
struct replaced_part : not_arrays<A, B, I...> {};
template <Array A, Array B, class... I>
  requires(!(Placed<I> || ...))
struct replaced_part<A, B, I...> {
  static constexpr int given = static_cast<int>(sizeof...(I));
  static constexpr auto misuse() {
    if constexpr (!(Position<I> && ...)) {
      return error::needs_integer_values{};
    } else if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
      return error::element_types_differ{};
    } else if constexpr (A::rank != B::rank || given == 0 || given > A::rank) {
      return error::wrong_rank{};
    } else if constexpr (!fits()) {
      return error::slice_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr bool fits() {
    for (int i = 0; i < A::rank; ++i)
      if (i < given ? B::shape[i] > A::shape[i] : B::shape[i] != A::shape[i]) return false;
    return true;
  }
};
template <class A, class B, class... I>
concept Replaceable = std::is_same_v<decltype(replaced_part<A, B, I...>::misuse()), no_misuse>;

template <class>
inline constexpr std::int64_t one_for = 1;
template <class A, class... I>
concept DynamicallyIndexable = DynamicallySliceable<A, sizes<one_for<I>...>, I...>;
}

template <std::int64_t... Sizes, class A, class... I>
  requires(sizeof...(I) > 0 && detail::DynamicallySliceable<A, detail::sizes<Sizes...>, I...>)
constexpr auto dynamic_slice(const A& x, const I&... i) {
  using R = array_of<typename A::value_type, detail::dynamic_part<A, detail::sizes<Sizes...>, I...>>;
  tracing_builder& b = detail::tape_among(x, i...);
  return R(detail::at(b, emit::dynamic_slice(b, detail::id_on(b, x), detail::positions_on(b, i...), {Sizes...}, 0)));
}
template <std::int64_t... Sizes, class A, class... I,
          class Why = decltype(detail::dynamic_part<A, detail::sizes<Sizes...>, I...>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I...> && sizeof...(I) > 0 &&
           !detail::DynamicallySliceable<A, detail::sizes<Sizes...>, I...>)
Why dynamic_slice(const A&, const I&...) = delete;  // drx: dynamic_slice<sizes...>(x, i, j): as many ints as sizes, none larger than the axis; of a placed value in a map

template <class A, class B, class... I>
  requires(sizeof...(I) > 0 && detail::Replaceable<A, B, I...>)
constexpr A update_slice(const A& x, const B& piece, const I&... i) {
  tracing_builder& b = detail::tape_among(x, piece, i...);
  return A(detail::at(
      b, emit::update_slice(b, detail::id_on(b, x), detail::id_on(b, piece), detail::positions_on(b, i...), 0)));
}
template <class A, class B, class... I, class Why = decltype(detail::replaced_part<A, B, I...>::misuse())>
  requires((Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !error::AnyReported<I...> && sizeof...(I) > 0 &&
           !detail::Replaceable<A, B, I...>)
Why update_slice(const A&, const B&, const I&...) = delete;  // drx: update_slice(x, piece, i, j): piece of x's rank and element type, no larger than x; of placed values in a map

template <class A, class... I>
  requires(sizeof...(I) > 0 && detail::DynamicallyIndexable<A, I...>)
constexpr auto index(const A& x, const I&... i) {
  using S = detail::without_first_axes<A, static_cast<int>(sizeof...(I))>;
  const auto part = drx::dynamic_slice<detail::one_for<I>...>(x, i...);
  return detail::unary<array_of<typename A::value_type, S>>(
      part, [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}
template <class A, class... I,
          class Why = decltype(detail::dynamic_part<A, detail::sizes<detail::one_for<I>...>, I...>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I...> && sizeof...(I) > 0 &&
           !detail::DynamicallyIndexable<A, I...>)
Why index(const A&, const I&...) = delete;  // drx: index(x, i, j): ints, not more of them than x has axes, no axis empty; of a placed value in a map

DRX_SILENT(dynamic_slice)
DRX_SILENT(update_slice)

}

namespace drx {
namespace prim::rules {
struct take {
  struct view {
    int axis, batch;
    constexpr view(int at, int batch_axes) : axis(at), batch(batch_axes) {}
    constexpr explicit view(int_list a) : view(a.number(0), a.number(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, batch};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, indices = t.operands[1].shape;
    const auto [axis, batch] = view(t.attrs);
    typing::require(is_integer(t.operands[1].type), "take: the indices are no integers");
    typing::require(batch <= axis && axis < x.rank, "take: no such axis");
    typing::require(x.rank - 1 + indices.rank - batch <= shape::max_rank, "take: too many axes");
    shape to = indexing::common_batch(x, indices, batch);
    for (int i = batch; i < axis; ++i) to.push_back(x[i]);
    for (int i = batch; i < indices.rank; ++i) to.push_back(indices[i]);
    for (int i = axis + 1; i < x.rank; ++i) to.push_back(x[i]);
    typing::require(x[axis] > 0 || to.size() == 0, "take: from an axis without elements");
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[0]) return {zero_tangent, zero_tangent};
    const auto [axis, batch] = view(s.e);
    const shape from = s.b.shape(s.operands[0]);
    return {indexing::summed_to(s.b, emit::scatter(s.b, s.operands[1], ct[0], axis, batch, from[axis]), from),
            zero_tangent};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t) {
    view a(s.e);
    ++a.axis;
    if (!batched[1] && a.batch == 0) return {s.b.add1(*s.e.prim, s.operands, a.make())};
    if (!batched[0] && a.batch == 0 && a.axis == 1)
      return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
    ++a.batch;
    return {s.b.add1(*s.e.prim, indexing::on_batch(s, batched), a.make())};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (!emit::is_constant(b, o[0], x)) return -1;
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1])};
    return emit::constant(b, type({from, a, {}})[0], x);
  }
  static std::string print(const attributes& a) {
    const auto [axis, batch] = view(a);
    return "axis=" + std::to_string(axis) + (batch > 0 ? "; batch=" + std::to_string(batch) : "");
  }
  static void element_of(const tensor& indices, int axis, int batch, std::int64_t n, int rank, const std::int64_t* at,
                         std::int64_t* element) {
    const int any = indices.type.shape.rank - batch;
    std::int64_t which[shape::max_rank] = {};
    indexing::own_index(indices.type.shape, batch, at, which);
    for (int i = 0; i < any; ++i) which[batch + i] = at[axis + i];
    for (int i = 0; i < axis; ++i) element[i] = at[i];
    element[axis] = indexing::position(indexing::integer_at(indices, which), n);
    for (int i = axis + 1; i < rank; ++i) element[i] = at[i - 1 + any];
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape;
    const int axis = view(v.e).axis, batch = view(v.e).batch;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(v.out[0].type.shape, [&](const std::int64_t* at) {
      std::int64_t element[shape::max_rank], source[shape::max_rank];
      element_of(*v.in[1], axis, batch, from[axis], from.rank, at, element);
      indexing::own_index(from, batch, element, source);
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(from, source))], width);
    });
  }
};
struct scatter {
  struct view {
    int axis, batch;
    std::int64_t extent;
    constexpr view(int at, int batch_axes, std::int64_t n) : axis(at), batch(batch_axes), extent(n) {}
    constexpr explicit view(int_list a) : view(a.number(0), a.number(1), a[2]) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, batch, extent};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape indices = t.operands[0].shape, updates = t.operands[1].shape;
    const auto [axis, batch, extent] = view(t.attrs);
    const int any = indices.rank - batch;
    typing::require(is_integer(t.operands[0].type), "scatter: the indices are no integers");
    typing::require(t.operands[1].type != dtype::boolean, "scatter: of bool");
    typing::require(batch <= axis && axis + any <= updates.rank, "scatter: no such axis");
    shape to = indexing::common_batch(indices, updates, batch);
    for (int i = 0; i < any; ++i)
      typing::require(updates[axis + i] == indices[batch + i], "scatter: not an update for each index");
    for (int i = batch; i < axis; ++i) to.push_back(updates[i]);
    to.push_back(extent);
    for (int i = axis + any; i < updates.rank; ++i) to.push_back(updates[i]);
    typing::require(extent > 0 || updates.size() == 0, "scatter: into an axis without elements");
    return {t.operands[1].with_shape(to)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[1] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {s.operands[0], t[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[1]) return {zero_tangent, zero_tangent};
    const int taken = emit::take(s.b, ct[0], s.operands[0], view(s.e).axis, view(s.e).batch);
    return {zero_tangent, indexing::summed_to(s.b, taken, s.b.shape(s.operands[1]))};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t) {
    view a(s.e);
    ++a.axis;
    if (!batched[0] && a.batch == 0) return {s.b.add1(*s.e.prim, s.operands, a.make())};
    ++a.batch;
    return {s.b.add1(*s.e.prim, indexing::on_batch(s, batched), a.make())};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (!emit::is_constant(b, o[1], x) || x != 0) return -1;
    const vec<abstract_value> from{b.type(o[0]), b.type(o[1])};
    return emit::constant(b, type({from, a, {}})[0], 0);
  }
  static constexpr known_values known(const known_site& s) { return {s.operands[1].but_zero()}; }
  static void evaluate(evaluation& v) {
    const shape to = v.out[0].type.shape, updates = v.in[1]->type.shape;
    const int axis = view(v.e).axis, batch = view(v.e).batch;
    shape each = updates;
    for (int i = 0; i < batch; ++i) each[i] = to[i];
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each_index(each, [&](const std::int64_t* at) {
        std::int64_t element[shape::max_rank], source[shape::max_rank];
        take::element_of(*v.in[0], axis, batch, to[axis], to.rank, at, element);
        indexing::own_index(updates, batch, at, source);
        T& y = v.out[0].data<T>()[flat_index(to, element)];
        y = wrapping_sum(y, v.in[1]->data<T>()[flat_index(updates, source)]);
      });
    });
  }
};
}

namespace prim {
inline constexpr primitive take{.name = "take",
                                .type = rules::take::type,
                                .jvp = rules::take::jvp,
                                .vjp = rules::take::vjp,
                                .batch = rules::take::batch,
                                .simplify = rules::take::simplify,
                                .print = rules::take::print,
                                .evaluate = rules::take::evaluate,
                                .known = rules::known::handed_on,
                                .lanes = rules::lanes::same_places<1>,
                                .split = rules::split::along_batch<rules::take>,
                                .takes_halves = true};
inline constexpr primitive scatter{.name = "scatter",
                                   .type = rules::scatter::type,
                                   .jvp = rules::scatter::jvp,
                                   .vjp = rules::scatter::vjp,
                                   .batch = rules::scatter::batch,
                                   .simplify = rules::scatter::simplify,
                                   .print = rules::take::print,
                                   .evaluate = rules::scatter::evaluate,
                                   .known = rules::scatter::known,
                                   .split = rules::split::along_batch<rules::scatter>};
}
namespace emit {
constexpr int take(builder& b, int x, int indices, int axis, int batch) {
  return b.add1(prim::take, {x, indices}, prim::rules::take::view(axis, batch).make());
}
constexpr int scatter(builder& b, int indices, int updates, int axis, int batch, std::int64_t n) {
  return b.add1(prim::scatter, {indices, updates}, prim::rules::scatter::view(axis, batch, n).make());
}
constexpr int sum_of_scattered(builder& b, int x) {
  const entry* e = b.definition(x);
  if (!e) return -1;
  if (e->prim == &prim::add) {
    const int left = e->operands[0], right = e->operands[1];
    const entry* last = b.definition(right);
    const int second = last && last->prim != &prim::add ? sum_of_scattered(b, right) : -1;
    const int first = sum_of_scattered(b, left);
    if (first < 0 && second < 0) return -1;
    const int rest = first < 0 ? sum(b, left, {0}) : second < 0 ? sum(b, right, {0}) : second;
    return first < 0 ? add(b, rest, second) : add(b, first, rest);
  }
  if (e->prim == &prim::scatter) {
    const int indices = e->operands[0], updates = e->operands[1];
    const auto [axis, batch, n] = prim::rules::scatter::view(*e);
    if (axis > 0 && batch == 0) return scatter(b, indices, sum(b, updates, {0}), axis - 1, 0, n);
    if (axis != 1 || batch != 1 || b.shape(indices)[0] != b.shape(updates)[0]) return -1;
    return scatter(b, indices, updates, 0, 0, n);
  }
  if (e->prim == &prim::update_slice && prim::rules::update_slice::view(*e).batch == 1) {
    const int piece = e->operands[1], starts = e->operands[2];
    const shape rows = b.shape(piece), at = b.shape(starts);
    double zero = 1;
    if (!is_constant(b, e->operands[0], zero) || zero != 0 || at[1] != 1 || rows[1] != 1 || at[0] != rows[0] ||
        rows[0] != b.shape(x)[0])
      return -1;
    const int flat_starts = reshape(b, starts, make_shape(at[0]));
    return scatter(b, flat_starts, reshape(b, piece, without_axis(rows, 1)), 0, 0, b.shape(x)[1]);
  }
  return -1;
}
constexpr vec<std::int64_t> exchanged_with_last(int axis, int last) {
  vec<std::int64_t> swapped;
  for (int i = 0; i <= last; ++i) swapped.push_back(i == axis ? last : i == last ? axis : i);
  return swapped;
}
constexpr int take_along(builder& b, int x, int indices, int axis) {
  const int last = b.shape(x).rank - 1;
  const vec<std::int64_t> swapped = exchanged_with_last(axis, last);
  const int swapped_x = transpose(b, x, swapped);
  return transpose(b, take(b, swapped_x, transpose(b, indices, swapped), last, last), swapped);
}
constexpr int scatter_along(builder& b, int indices, int updates, int axis) {
  const shape s = b.shape(updates);
  const int last = s.rank - 1;
  const vec<std::int64_t> swapped = exchanged_with_last(axis, last);
  const int at = transpose(b, indices, swapped), moved = transpose(b, updates, swapped);
  return transpose(b, scatter(b, at, moved, last, last, s[axis]), swapped);
}
}

namespace detail {
template <class X>
concept Indices = IntegerArray<X> || IntegerLiteral<X>;

template <class A, int Axis, class I, bool Along = false>
struct taken : not_arrays<A, I> {};
template <Array A, int Axis, class I, bool Along>
  requires(!Placed<I>)
struct taken<A, Axis, I, Along> {
  static constexpr int axis = normal_axis(Axis, A::rank);
  static constexpr shape indices = [] {
    if constexpr (Array<I>) {
      return I::shape;
    } else {
      return shape{};
    }
  }();
  static constexpr auto misuse() {
    if constexpr (!Indices<I>) {
      return error::needs_integer_values{};
    } else if constexpr (axis < 0 || axis >= A::rank) {
      return error::axis_out_of_range{};
    } else if constexpr (Along ? A::rank != indices.rank : A::rank - 1 + indices.rank > shape::max_rank) {
      return error::wrong_rank{};
    } else if constexpr (Along && !alike()) {
      return error::extents_differ{};
    } else if constexpr (A::shape[axis] == 0 && indices.size() != 0) {
      return error::slice_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr bool alike() {
    for (int i = 0; i < A::rank; ++i)
      if (i != axis && A::shape[i] != indices[i]) return false;
    return true;
  }
  static constexpr bool fits = std::is_same_v<decltype(misuse()), no_misuse>;
  static constexpr shape value = [] {
    if (!fits) return shape{};
    if (Along) return indices;
    shape s;
    for (int i = 0; i < axis; ++i) s.push_back(A::shape[i]);
    for (int i = 0; i < indices.rank; ++i) s.push_back(indices[i]);
    for (int i = axis + 1; i < A::rank; ++i) s.push_back(A::shape[i]);
    return s;
  }();
};
template <class A, int Axis, class I, bool Along = false>
concept Takeable = std::is_same_v<decltype(taken<A, Axis, I, Along>::misuse()), no_misuse>;

template <class I>
constexpr int indices_on(tracing_builder& b, const I& i) {
  if constexpr (IntegerLiteral<I>) {
    return emit::constant(b, {dtype_of<typename position_element<I>::type>, {}}, static_cast<double>(i));
  } else {
    return id_on(b, i);
  }
}

template <class A, int Axis, class I, class U>
constexpr auto scatter_misuse() {
  if constexpr (!Takeable<A, Axis, I>) {
    return taken<A, Axis, I>::misuse();
  } else if constexpr (Placed<U>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<U>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!NumberArray<A>) {
    return error::needs_numbers{};
  } else if constexpr (!std::is_same_v<typename A::value_type, typename U::value_type>) {
    return error::element_types_differ{};
  } else if constexpr (!(taken<A, Axis, I>::value == U::shape)) {
    return error::extents_differ{};
  } else {
    return no_misuse{};
  }
}
template <class A, int Axis, class I, class U>
concept Scatterable = std::is_same_v<decltype(scatter_misuse<A, Axis, I, U>()), no_misuse>;
}

template <int Axis = 0, class A, class I>
  requires detail::Takeable<A, Axis, I>
constexpr auto take(const A& x, const I& indices) {
  using S = detail::taken<A, Axis, I>;
  tracing_builder& b = detail::tape_among(x, indices);
  return array_of<typename A::value_type, S>(
      detail::at(b, emit::take(b, detail::id_on(b, x), detail::indices_on(b, indices), S::axis, 0)));
}
template <int Axis = 0, class A, class I, class Why = decltype(detail::taken<A, Axis, I>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I> && !detail::Takeable<A, Axis, I>)
Why take(const A&, const I&) = delete;  // drx: take<axis>(x, array of ints), the axis one of x's and with elements; of a placed value in a map

template <int Axis = -1, class A, class I>
  requires detail::Takeable<A, Axis, I, true>
constexpr auto take_along(const A& x, const I& indices) {
  using S = detail::taken<A, Axis, I, true>;
  tracing_builder& b = detail::tape_among(x, indices);
  return array_of<typename A::value_type, S>(
      detail::at(b, emit::take_along(b, detail::id_on(b, x), detail::id_on(b, indices), S::axis)));
}
template <int Axis = -1, class A, class I, class Why = decltype(detail::taken<A, Axis, I, true>::misuse())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I> && !detail::Takeable<A, Axis, I, true>)
Why take_along(const A&, const I&) = delete;  // drx: take_along<axis>(x, array of ints), of one shape but for the axis; of a placed value in a map

template <int Axis = 0, class A, class I, class U>
  requires detail::Scatterable<A, Axis, I, U>
constexpr A scatter_add(const A& x, const I& indices, const U& updates) {
  using S = detail::taken<A, Axis, I>;
  tracing_builder& b = detail::tape_among(x, indices, updates);
  const int added =
      emit::scatter(b, detail::indices_on(b, indices), detail::id_on(b, updates), S::axis, 0, A::shape[S::axis]);
  return A(detail::at(b, emit::add(b, detail::id_on(b, x), added)));
}
template <int Axis = 0, class A, class I, class U, class Why = decltype(detail::scatter_misuse<A, Axis, I, U>())>
  requires((Array<A> || Placed<A>) && !error::AnyReported<I, U> && !detail::Scatterable<A, Axis, I, U>)
Why scatter_add(const A&, const I&, const U&) = delete;  // drx: scatter_add<axis>(x, array of ints, updates): updates of the type of take<axis>(x, ints); of placed values in a map

DRX_SILENT(scatter_add)
DRX_SILENT(take)
DRX_SILENT(take_along)

}

namespace drx {
namespace prim {
template <bool Max, class T>
constexpr auto beats(T x, T best) {
  if constexpr (std::is_integral_v<T>) {
    return Max ? x > best : x < best;
  } else {
    return (Max ? x > best : x < best) | ((x != x) & (best == best));
  }
}
namespace rules {
template <bool Max>
struct best_so_far : along_axis {
  static constexpr auto known = rules::known::nothing;
  static constexpr vec<abstract_value> type(const typing& t) {
    return {along_axis::type(t)[0].with_type(dtype::int32)};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? emit::constant(b, b.type(o[0]).with_type(dtype::int32), 0) : -1;
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const int axis = view(v.e).axis;
    const bool backwards = view(v.e).backwards;
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      for_each_index(s, [&, i = 0](const std::int64_t* at) mutable {
        std::int64_t here[shape::max_rank] = {};
        for (int k = 0; k < s.rank; ++k) here[k] = at[k];
        std::int64_t best = backwards ? s[axis] - 1 : 0;
        const auto element = [&](std::int64_t k) {
          here[axis] = k;
          return v.in[0]->data<T>()[flat_index(s, here)];
        };
        for (std::int64_t k = best; k != at[axis] + (backwards ? -1 : 1); k += backwards ? -1 : 1)
          if (beats<Max>(element(k), element(best))) best = k;
        v.out[0].data<std::int32_t>()[i++] = static_cast<std::int32_t>(best);
      });
    });
  }
};
template <class Rules>
constexpr primitive best_so_far_primitive(const char* name) {
  return {.name = name,
          .type = Rules::type,
          .jvp = rules::constant::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .simplify = Rules::simplify,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .known = Rules::known,
          .split = rules::split::whole};
}
}
inline constexpr primitive largest_so_far = rules::best_so_far_primitive<rules::best_so_far<true>>("largest_so_far");
inline constexpr primitive smallest_so_far = rules::best_so_far_primitive<rules::best_so_far<false>>("smallest_so_far");
namespace rules {
template <bool Max>
struct cumulative_extremum : along_axis {
  static constexpr int positions(const rule_site& s) {
    return s.b.add1(Max ? largest_so_far : smallest_so_far, {s.operands[0]}, s.e.attrs);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::take_along(s.b, t[0], positions(s), axis(s))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::scatter_along(s.b, positions(s), ct[0], axis(s))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return single(b, o, a) ? o[0] : -1;
  }
  static void evaluate(evaluation& v) {
    walk(v, [&]<class T>(const T* before, std::int64_t i) {
      const T x = v.in[0]->data<T>()[i];
      return before && !beats<Max>(x, *before) ? *before : x;
    });
  }
};
template <class Rules>
constexpr primitive cumulative_extremum_primitive(const char* name) {
  return {.name = name,
          .type = Rules::type,
          .jvp = Rules::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .simplify = Rules::simplify,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .known = rules::known::handed_on,
          .lanes = rules::lanes::same,
          .split = rules::split::but_along<Rules>};
}
}
inline constexpr primitive cummax = rules::cumulative_extremum_primitive<rules::cumulative_extremum<true>>("cummax");
inline constexpr primitive cummin = rules::cumulative_extremum_primitive<rules::cumulative_extremum<false>>("cummin");
}

namespace detail {
template <int Axis, direction To, class A>
constexpr A so_far(const primitive& p, const A& x) {
  return unary<A>(x, [&](builder& b, int id) {
    return b.add1(p, {id}, prim::rules::along_axis::view(normal_axis(Axis, A::rank), To == direction::backward).make());
  });
}
}

template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cummax(const A& x) { return detail::so_far<Axis, To>(prim::cummax, x); }
template <int Axis = -1, direction To = direction::forward, class A> requires detail::Cumulative<A, Axis>
constexpr A cummin(const A& x) { return detail::so_far<Axis, To>(prim::cummin, x); }
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cummax(const A&) = delete;  // drx: cummax<axis>(array of numbers); of a placed value in a map
template <int Axis = -1, direction To = direction::forward, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Cumulative<A, Axis>)
Why cummin(const A&) = delete;  // drx: cummin<axis>(array of numbers); of a placed value in a map

DRX_SILENT(cummax)
DRX_SILENT(cummin)

}

namespace drx {
namespace prim::rules {
struct cast {
  struct view {
    dtype type;
    constexpr explicit view(dtype to) : type(to) {}
    constexpr explicit view(int_list a) : type(static_cast<dtype>(a[0])) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {static_cast<std::int64_t>(type)};
      return a;
    }
  };
  static constexpr const primitive* prim_ptr();
  static constexpr vec<abstract_value> type(const typing& t) { return {t.operands[0].with_type(view(t.attrs).type)}; }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const bool floats = is_floating(view(s.e).type);
    return {t[0] == zero_tangent || !floats ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    const dtype from = s.b.type(s.operands[0]).type;
    return {ct[0] == zero_tangent || !is_floating(from) ? zero_tangent : emit::cast(s.b, ct[0], from)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const dtype to = view(a).type;
    if (b.type(o[0]).type == to) return o[0];
    double x = 0;
    const entry* e = b.definition(o[0]);
    if (is_half_type(to) && e && e->prim == prim_ptr() && b.type(e->operands[0]).type == to &&
        is_floating(b.type(o[0]).type) && !is_half_type(b.type(o[0]).type))
      return e->operands[0];
    if (to != dtype::boolean && emit::is_constant(b, o[0], x)) return emit::constant(b, b.type(o[0]).with_type(to), x);
    return -1;
  }
  static std::string print(const attributes& a) { return name_of(view(a).type); }
  static constexpr known_values known(const known_site& s) {
    known_value x =
        s.type(s.e.operands[0]).type == dtype::boolean ? finite_and_not_negative() : s.operands[0].but_zero();
    if (view(s.e).type == dtype::f16) x.finite = false;
    return {x};
  }
  static void evaluate(evaluation& v) {
    const dtype half = is_half_type(v.out[0].type.type) ? v.out[0].type.type : dtype::float32;
    const tensor from = to_floats(*v.in[0]);
    tensor& to = v.out[0];
    if (half != dtype::float32) to = tensor(to.type.with_type(dtype::float32));
    visit_dtype(from.type.type, [&]<class From>(From) {
      visit_dtype(to.type.type, [&]<class To>(To) {
        for (std::int64_t i = 0; i < to.size(); ++i) to.data<To>()[i] = convert<To>(from.data<From>()[i]);
      });
    });
    if (half != dtype::float32) to = to_halves(to, half);
  }
  template <class To, class From>
  DRX_FN static constexpr To convert(From x) {
    if constexpr (is_half<From>) {
      return convert<To>(static_cast<float>(x));
    } else if constexpr (is_half<To>) {
      return To(convert<float>(x));
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
      constexpr From low = static_cast<From>(-(To(1) << (8 * sizeof(To) - 2))) * 2, end = -low;
      constexpr From last = end - end / static_cast<From>(std::uint64_t{1} << std::numeric_limits<From>::digits);
      constexpr To highest = static_cast<To>(~(static_cast<std::make_unsigned_t<To>>(1) << (8 * sizeof(To) - 1)));
      const From above = math::chosen(x > low, x, low);
      const To inside = static_cast<To>(math::chosen(above < end, above, last));
      const To is_number = static_cast<To>(-static_cast<To>(x == x)),
               is_beyond = static_cast<To>(-static_cast<To>(x >= end));
      return static_cast<To>(((inside & ~is_beyond) | (highest & is_beyond)) & is_number);
    } else if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (std::is_same_v<From, bool> && std::is_floating_point_v<To>) {
      return math::chosen(x, To(1), To(0));
    } else {
      return static_cast<To>(x);
    }
  }
};
struct stop_gradient {
  static constexpr vec<abstract_value> type(const typing& t) { return {t.operands[0]}; }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static void evaluate(evaluation& v) { v.out[0] = *v.in[0]; }
};
}

namespace prim {
inline constexpr primitive cast{.name = "cast",
                                .type = rules::cast::type,
                                .jvp = rules::cast::jvp,
                                .vjp = rules::cast::vjp,
                                .batch = rules::cast::batch,
                                .simplify = rules::cast::simplify,
                                .print = rules::cast::print,
                                .evaluate = rules::cast::evaluate,
                                .known = rules::cast::known,
                                .lanes = rules::lanes::same,
                                .split = rules::split::by_element,
                                .role = role::fused,
                                .pointwise = true,
                                .takes_halves = true};
constexpr const primitive* rules::cast::prim_ptr() { return &prim::cast; }
inline constexpr primitive stop_gradient{.name = "stop_gradient",
                                         .type = rules::stop_gradient::type,
                                         .jvp = rules::stop_gradient::jvp,
                                         .vjp = rules::stop_gradient::vjp,
                                         .batch = rules::cast::batch,
                                         .evaluate = rules::stop_gradient::evaluate,
                                         .known = rules::known::handed_on,
                                         .lanes = rules::lanes::batched,
                                         .split = rules::split::by_element,
                                         .role = role::alias,
                                         .pointwise = true,
                                         .takes_halves = true};
}

namespace emit {
constexpr int cast(builder& b, int x, dtype type) {
  return b.add1(prim::cast, {x}, prim::rules::cast::view(type).make());
}
constexpr vec<int> in_float(builder& b, const primitive& p, const vec<int>& operands, const attributes& a) {
  dtype half = dtype::float32;
  vec<int> wide = operands;
  for (int& x : wide) {
    if (!is_half_type(b.type(x).type)) continue;
    half = b.type(x).type;
    x = cast_of_members(b, x, dtype::float32);
  }
  vec<int> results = b.add(p, wide, a);
  for (int& x : results)
    if (b.type(x).type == dtype::float32) x = cast_of_members(b, x, half);
  return results;
}
}

template <Element T, class A>
  requires(Array<A>)
constexpr auto cast(const A& x) {
  return detail::unary<array_of<T, shape_of<A>>>(x, [](builder& b, int id) { return emit::cast(b, id, dtype_of<T>); });
}
namespace detail {
template <class F, class A, class... B>
constexpr auto rounded_once(const F& f, const A& a, const B&... b) {
  using T = typename A::value_type;
  if constexpr (is_half<T>) {
    return cast<T>(f(cast<float>(a), cast<float>(b)...));
  } else {
    return f(a, b...);
  }
}
}
template <class A>
  requires(Array<A>)
constexpr A stop_gradient(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return b.add1(prim::stop_gradient, {id}); });
}
template <class T, class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why cast(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::cast<T>(x); }, placed); of a structure leaf by leaf: tree_map
template <class A, class Why = detail::no_array_t<A>>
  requires detail::NoArrays<A>
Why stop_gradient(const A&) = delete;  // drx: do it in a map: map([](auto x) { return drx::stop_gradient(x); }, placed); of a structure leaf by leaf: tree_map

DRX_SILENT(stop_gradient)
DRX_SILENT_OF_TYPE(cast)

}

namespace drx {
namespace prim {
namespace rows {

struct comparison : boolean_result, not_differentiable {
  static constexpr int arity = 2;
  static constexpr bool accepts(dtype, int) { return true; }
};
struct equal : comparison {
  static constexpr const char* name = "equal";
  template <class T>
  DRX_INLINE static constexpr bool apply(T x, T y) {
    return x == y;
  }
  template <class T>
  static bool reference(T x, T y) {
    return x == y;
  }
};
struct less : comparison {
  static constexpr const char* name = "less";
  template <class T>
  DRX_INLINE static constexpr bool apply(T x, T y) {
    return x < y;
  }
  template <class T>
  static bool reference(T x, T y) {
    return x < y;
  }
};
struct less_equal : comparison {
  static constexpr const char* name = "less_equal";
  template <class T>
  DRX_INLINE static constexpr bool apply(T x, T y) {
    return x <= y;
  }
  template <class T>
  static bool reference(T x, T y) {
    return x <= y;
  }
};

struct logical : boolean_result, not_differentiable {
  static constexpr bool accepts(dtype t, int) { return t == dtype::boolean; }
};
struct logical_and : logical {
  static constexpr const char* name = "and";
  static constexpr int arity = 2;
  DRX_INLINE static constexpr bool apply(bool x, bool y) { return x & y; }
  static bool reference(bool x, bool y) { return x && y; }
};
struct logical_or : logical {
  static constexpr const char* name = "or";
  static constexpr int arity = 2;
  DRX_INLINE static constexpr bool apply(bool x, bool y) { return x | y; }
  static bool reference(bool x, bool y) { return x || y; }
};
struct logical_not : logical {
  static constexpr const char* name = "not";
  static constexpr int arity = 1;
  DRX_INLINE static constexpr bool apply(bool x) { return !x; }
  static bool reference(bool x) { return !x; }
};

}

inline constexpr primitive equal = elementwise_primitive<rows::equal>();
inline constexpr primitive less = elementwise_primitive<rows::less>();
inline constexpr primitive less_equal = elementwise_primitive<rows::less_equal>();
inline constexpr primitive logical_and = elementwise_primitive<rows::logical_and>();
inline constexpr primitive logical_or = elementwise_primitive<rows::logical_or>();
inline constexpr primitive logical_not = elementwise_primitive<rows::logical_not>();
template <>
struct row_of<&equal> : rows::equal {};
template <>
struct row_of<&less> : rows::less {};
template <>
struct row_of<&less_equal> : rows::less_equal {};
template <>
struct row_of<&logical_and> : rows::logical_and {};
template <>
struct row_of<&logical_or> : rows::logical_or {};
template <>
struct row_of<&logical_not> : rows::logical_not {};
}

namespace emit {
constexpr int equal(builder& b, int x, int y) { return b.add1(prim::equal, {x, y}); }
constexpr int less(builder& b, int x, int y) { return b.add1(prim::less, {x, y}); }
}

namespace detail {
template <class A, class B>
concept BooleanPair = Compatible<A, B> && std::is_same_v<common_element<A, B>, bool>;
}

template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator==(const A& a, const B& b) { return detail::comparison(prim::equal, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator<(const A& a, const B& b) { return detail::comparison(prim::less, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator<=(const A& a, const B& b) { return detail::comparison(prim::less_equal, a, b); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator>(const A& a, const B& b) { return detail::comparison(prim::less, b, a); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator>=(const A& a, const B& b) { return detail::comparison(prim::less_equal, b, a); }
template <class A> requires(Array<A> && std::is_same_v<typename A::value_type, bool>)
constexpr A operator!(const A& a) { return detail::elementwise<A, bool>(prim::logical_not, a); }
template <class A, class B> requires detail::Compatible<A, B>
constexpr auto operator!=(const A& a, const B& b) { return !(a == b); }
template <class A, class B> requires detail::BooleanPair<A, B>
constexpr auto operator&&(const A& a, const B& b) { return detail::comparison(prim::logical_and, a, b); }
template <class A, class B> requires detail::BooleanPair<A, B>
constexpr auto operator||(const A& a, const B& b) { return detail::comparison(prim::logical_or, a, b); }

template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator==(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator!=(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator<(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator<=(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator>(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::mismatch_t<A, B>> requires detail::Incompatible<A, B>
Why operator>=(const A&, const B&) = delete;  // drx: make element types equal with cast<T>(x), shapes with reshape or broadcast_to
template <class A, class B, class Why = error::needs_boolean_values> requires(detail::ArrayPair<A, B> && !detail::BooleanPair<A, B>)
Why operator&&(const A&, const B&) = delete;  // drx: compare first: (a > 0) && (b > 0)
template <class A, class B, class Why = error::needs_boolean_values> requires(detail::ArrayPair<A, B> && !detail::BooleanPair<A, B>)
Why operator||(const A&, const B&) = delete;  // drx: compare first: (a > 0) || (b > 0)
template <class A, class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_boolean_values>>
  requires((Array<A> && !std::is_same_v<typename A::value_type, bool>) || detail::PlacedOperands<A>)
Why operator!(const A&) = delete;  // drx: compare first: !(a > 0); of a placed value in a map
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator==(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a == b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator!=(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a != b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator<(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a < b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator<=(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a <= b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator>(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a > b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator>=(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a >= b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator&&(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a && b; }, x, y)
template <class A, class B, class Why = error::array_operation_on_a_placed_value> requires detail::PlacedOperands<A, B>
Why operator||(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a || b; }, x, y)

}

namespace drx {
namespace prim::rules {
struct matmul {
  struct view {
    bool transposes_first, transposes_second;
    constexpr view(bool first, bool second) : transposes_first(first), transposes_second(second) {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposes_first, transposes_second};
      return a;
    }
    [[nodiscard]] constexpr bool transposes(int operand) const {
      return operand == 0 ? transposes_first : transposes_second;
    }
    [[nodiscard]] constexpr std::int64_t inner(const shape& x) const {
      return x[transposes_first ? x.rank - 2 : x.rank - 1];
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape x = t.operands[0].shape, y = t.operands[1].shape;
    typing::require(x.rank >= 2 && x.rank == y.rank, "matmul: ranks");
    typing::require(t.operands[0].type == t.operands[1].type && t.operands[0].type != dtype::boolean, "matmul: types");
    for (int i = 0; i < x.rank - 2; ++i) typing::require(x[i] == y[i], "matmul: batch extents");
    const auto [tx, ty] = view(t.attrs);
    const int r = x.rank;
    typing::require(x[tx ? r - 2 : r - 1] == y[ty ? r - 1 : r - 2], "matmul: inner extents");
    shape s = x;
    s[r - 2] = x[tx ? r - 1 : r - 2];
    s[r - 1] = y[ty ? r - 2 : r - 1];
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const auto [tx, ty] = view(s.e);
    int r = zero_tangent;
    if (t[0] != zero_tangent) r = term(s, t[0], s.operands[1], tx, ty);
    if (t[1] != zero_tangent) r = emit::accumulate(s.b, r, term(s, s.operands[0], t[1], tx, ty));
    return {r};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(2, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const auto [tx, ty] = view(s.e);
    const int x = s.operands[0], y = s.operands[1], g = ct[0];
    if (wanted[0]) r[0] = tx ? term(s, y, g, ty, true) : term(s, g, y, false, !ty);
    if (wanted[1]) r[1] = ty ? term(s, g, x, true, tx) : term(s, x, g, !tx, false);
    return r;
  }
  static constexpr int term(const rule_site& s, int x, int y, bool transpose_x, bool transpose_y) {
    if (s.e.prim == azmatmul_ptr()) return written(s.b, *s.e.prim, x, y, transpose_x, transpose_y);
    return emit::times_matrix(s.b, x, y, transpose_x, transpose_y);
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const auto [tx, ty] = view(s.e);
    int x = s.operands[0], y = s.operands[1];
    if (batched[0] && !batched[1] && !tx &&
        s.b.shape(y).rank == 2) {
      const shape from = s.b.shape(x);
      const int tall = emit::reshape(s.b, x, make_shape(from[0] * from[1], from[2]));
      const int product = written(s.b, *s.e.prim, tall, y, false, ty);
      return {emit::reshape(s.b, product, make_shape(from[0], from[1], s.b.shape(product)[1]))};
    }
    const shape right = s.b.shape(y);
    const bool one_row =
        s.b.shape(x)[tx ? 1 : 0] == 1 || s.e.prim == matmul_ptr();
    if (!batched[0] && s.b.shape(x).rank == 2 && right[ty ? 1 : 2] == 1 &&
        one_row) {
      const std::int64_t k = right[ty ? 2 : 1];
      const int product = written(s.b, *s.e.prim, emit::reshape(s.b, y, make_shape(n, k)), x, false, !tx);
      return {emit::reshape(s.b, product, make_shape(n, s.b.shape(product)[1], 1))};
    }
    if (!batched[0]) x = emit::repeated(s.b, x, n);
    if (!batched[1]) y = emit::repeated(s.b, y, n);
    return {written(s.b, *s.e.prim, x, y, tx, ty)};
  }
  static constexpr bool is_of_vectors(const tape& t, const entry& product) {
    const shape x = t.values[product.operands[0]].shape, y = t.values[product.operands[1]].shape;
    return x[0] == 1 || x[1] == 1 || y[0] == 1 || y[1] == 1;
  }
  static constexpr entry_cost cost(const tape& t, const entry& e) {
    const shape x = t.values[e.operands[0]].shape;
    return {.multiplications = static_cast<double>(t.values[e.results[0]].shape.size() * view(e).inner(x)),
            .suits_lanes = !is_of_vectors(t, e)};
  }
  static constexpr int written(builder& b, const primitive& p, int x, int y, bool transpose_x, bool transpose_y) {
    return b.add1(p, {x, y}, view(transpose_x, transpose_y).make());
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return folded(b, *matmul_ptr(), o, a);
  }
  static constexpr const primitive* matmul_ptr();
  static constexpr const primitive* azmatmul_ptr();
  static constexpr int folded(builder& b, const primitive& p, const vec<int>& o, const attributes& a) {
    vec<int> operands = o;
    view product(a);
    bool changed = false;
    for (int i = 0; i < 2; ++i) {
      const entry* e = b.definition(operands[i]);
      if (!e || !swaps_last_two(*e)) continue;
      operands[i] = e->operands[0];
      bool& transposes = i == 0 ? product.transposes_first : product.transposes_second;
      transposes = !transposes;
      changed = true;
    }
    return changed ? b.add1(p, operands, product.make()) : -1;
  }
  static constexpr bool swaps_last_two(const entry& e) {
    if (e.prim != &prim::transpose) return false;
    const int_list from = transpose::view(e).permutation;
    const int r = from.size();
    for (int i = 0; i < r - 2; ++i)
      if (from[i] != i) return false;
    return r >= 2 && from[r - 2] == r - 1;
  }
  static std::string print(const attributes& a) {
    return std::string(view(a).transposes_first ? "T" : "N") + (view(a).transposes_second ? ",T" : ",N");
  }
  static constexpr known_values known(const known_site& s) {
    known_value r = s.operands[0] * s.operands[1];
    r.not_negative = r.not_negative || patterns::is_squared_norm(s.definition, s.e);
    return {r};
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    builder& b = s.b;
    const int p = s.operands[0], q = s.operands[1];
    const shape x = b.shape(p), y = b.shape(q);
    const bool px = s.in_lanes[0], py = s.in_lanes[1];
    if (x.rank != 2 + px) return {};
    const auto [tx, ty] = view(s.e);
    const std::int64_t rows = x[tx ? 1 : 0], inner = x[tx ? 0 : 1], columns = y[ty ? 0 : 1];
    if (px && !py && rows == 1) {
      const int product = emit::matmul(b, q, emit::reshape(b, p, make_shape(inner, s.n)), !ty, false);
      return {emit::reshape(b, product, make_shape(1, columns, s.n))};
    }
    if (!px && py && (columns == 1 || !ty)) {
      const int product = emit::matmul(b, p, emit::reshape(b, q, make_shape(inner, columns * s.n)), tx, false);
      return {emit::reshape(b, product, make_shape(rows, columns, s.n))};
    }
    if (inner == 1) return {outer_product_in_lanes(s, rows, columns)};
    return {emit::lane_matmul(b, p, q, tx, ty, px, py)};
  }
  static constexpr int outer_product_in_lanes(const lane_site& s, std::int64_t rows, std::int64_t columns) {
    const shape all = make_shape(rows, columns, s.n);
    const int left = emit::broadcast_to(s.b, emit::reshape(s.b, s.operand(0), make_shape(rows, 1, s.n)), all);
    const int right = emit::broadcast_to(s.b, emit::reshape(s.b, s.operand(1), make_shape(1, columns, s.n)), all);
    return elementwise(s.b, *s.e.prim, left, right);
  }
  static constexpr int elementwise(builder& b, const primitive& p, int x, int y) {
    return &p == matmul_ptr() ? emit::mul(b, x, y) : emit::azmul(b, x, y);
  }
  static constexpr vec<split_result> split(split_site& s) {
    constexpr int whole = split_site::whole;
    const bool tx = view(s.e).transposes_first, ty = view(s.e).transposes_second;
    const int r = s.whole_shape(0).rank, x = s.axis(0), y = s.axis(1);
    const int rows = tx ? r - 1 : r - 2, inner_x = tx ? r - 2 : r - 1, inner_y = ty ? r - 1 : r - 2,
              columns = ty ? r - 2 : r - 1;
    const auto multiply = [&](int ax, int ay) { return written(s.b, *s.e.prim, s.at(0, ax), s.at(1, ay), tx, ty); };
    if (x == inner_x || y == inner_y)
      return {{emit::sum(s.b, s.from_shards(multiply(inner_x, inner_y)), {0}), whole}};
    const bool batch_x = x != whole && x < r - 2, batch_y = y != whole && y < r - 2;
    if (batch_x || batch_y) {
      const int k = batch_x ? x : y;
      return {{multiply(k, k), k}};
    }
    if (x == rows) return {{multiply(rows, whole), r - 2}};
    if (y == columns) return {{multiply(whole, columns), r - 1}};
    return {{multiply(whole, whole), whole}};
  }
  static void evaluate(evaluation& v) { add_products<false>(v); }
  template <bool ZeroWins>
  static void add_products(evaluation& v) {
    visit_dtype(v.out[0].type.type, [&]<class T>(T) { add_products_of<T, ZeroWins>(v); });
  }
  template <class T, bool ZeroWins>
  static void add_products_of(evaluation& v) {
    using wide = std::conditional_t<std::is_same_v<T, float>, double,
                                    std::conditional_t<std::is_same_v<T, double>, long double, T>>;
    const auto [tx, ty] = view(v.e);
    const shape s = v.out[0].type.shape, x = v.in[0]->type.shape;
    const auto m = s[s.rank - 2], n = s[s.rank - 1], k = x[tx ? x.rank - 2 : x.rank - 1];
    const auto batches = m * n == 0 ? 0 : s.size() / (m * n);
    for (std::int64_t b = 0; b < batches; ++b) {
      const T* p = v.in[0]->data<T>() + b * m * k;
      const T* q = v.in[1]->data<T>() + b * k * n;
      T* r = v.out[0].data<T>() + b * m * n;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          auto total = static_cast<wide>(r[i * n + j]);
          for (std::int64_t l = 0; l < k; ++l) {
            const auto a = static_cast<wide>(tx ? p[l * m + i] : p[i * k + l]),
                       c = static_cast<wide>(ty ? q[j * k + l] : q[l * n + j]);
            if (ZeroWins && (a == 0 || c == 0)) continue;
            if constexpr (std::is_integral_v<T>) {
              total = wrapping_product_sum(a, c, total);
            } else {
              total += a * c;
            }
          }
          r[i * n + j] = static_cast<T>(total);
        }
    }
  }
};
struct azmatmul : matmul {
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return folded(b, *azmatmul_ptr(), o, a);
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const shape x = s.b.shape(s.operands[0]), y = s.b.shape(s.operands[1]);
    const auto [tx, ty] = view(s.e);
    if (x.rank != 2 + s.in_lanes[0] || x[tx ? 0 : 1] != 1) return {};
    return {outer_product_in_lanes(s, x[tx ? 1 : 0], y[ty ? 0 : 1])};
  }
  static void evaluate(evaluation& v) { add_products<true>(v); }
};
struct matmul_undecided : matmul {
  static constexpr bool applies(const abstract_value& to, const abstract_value& x, const attributes& a) {
    const shape s = to.shape;
    const int r = s.rank;
    return is_floating(to.type) && (view(a).inner(x.shape) == 1 || (s[r - 1] == 1 && s[r - 2] == 1));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    return folded(b, *in_doubt_ptr(), o, a);
  }
  static constexpr const primitive* in_doubt_ptr();
  static void evaluate(evaluation& v) { add_products<true>(v); }
};
}

namespace prim {
inline constexpr primitive matmul{.name = "matmul",
                                  .type = rules::matmul::type,
                                  .jvp = rules::matmul::jvp,
                                  .vjp = rules::matmul::vjp,
                                  .batch = rules::matmul::batch,
                                  .simplify = rules::matmul::simplify,
                                  .print = rules::matmul::print,
                                  .evaluate = rules::matmul::evaluate,
                                  .known = rules::matmul::known,
                                  .lanes = rules::matmul::lanes,
                                  .split = rules::matmul::split,
                                  .cost = rules::matmul::cost};
inline constexpr primitive azmatmul{.name = "azmatmul",
                                    .type = rules::matmul::type,
                                    .jvp = rules::matmul::jvp,
                                    .vjp = rules::matmul::vjp,
                                    .batch = rules::matmul::batch,
                                    .simplify = rules::azmatmul::simplify,
                                    .print = rules::matmul::print,
                                    .evaluate = rules::azmatmul::evaluate,
                                    .known = rules::matmul::known,
                                    .lanes = rules::azmatmul::lanes,
                                    .split = rules::matmul::split,
                                    .cost = rules::matmul::cost};
inline constexpr primitive matmul_undecided{.name = "matmul?",
                                            .type = rules::matmul::type,
                                            .jvp = rules::matmul::jvp,
                                            .vjp = rules::matmul::vjp,
                                            .batch = rules::matmul::batch,
                                            .simplify = rules::matmul_undecided::simplify,
                                            .print = rules::matmul::print,
                                            .evaluate = rules::matmul_undecided::evaluate,
                                            .known = rules::matmul::known,
                                            .split = rules::split::whole};
constexpr bool is_matrix_product(const primitive* p) { return p == &matmul || p == &azmatmul; }
constexpr const primitive* rules::matmul::matmul_ptr() { return &prim::matmul; }
constexpr const primitive* rules::matmul::azmatmul_ptr() { return &prim::azmatmul; }
constexpr const primitive* rules::matmul_undecided::in_doubt_ptr() { return &prim::matmul_undecided; }
}
namespace patterns {
constexpr bool is_squared_norm(const definitions& d, const entry& e) {
  const shape s = d.t.values[e.results[0]].shape;
  return s[s.rank - 1] == 1 && s[s.rank - 2] == 1 &&
         behind(d, e.operands[0], prim::reshape) == behind(d, e.operands[1], prim::reshape);
}
}
namespace emit {
constexpr int matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y) {
  return prim::rules::matmul::written(b, prim::matmul, x, y, transpose_x, transpose_y);
}
constexpr int times_matrix(builder& b, int x, int y, bool transpose_x, bool transpose_y) {
  using rules = prim::rules::matmul_undecided;
  const attributes a = rules::view(transpose_x, transpose_y).make();
  const vec<abstract_value> operands{b.type(x), b.type(y)};
  return b.add1(
      rules::applies(rules::type({operands, a, {}})[0], operands[0], a) ? prim::matmul_undecided : prim::matmul, {x, y},
      a);
}
}

namespace detail {
template <class A, class B>
struct product {
  static constexpr auto misuse() { return error::not_a_value_of_drx{}; }
};
template <Array A, Array B>
struct product<A, B> {
  static constexpr bool row = A::rank == 1, column = B::rank == 1;
  static constexpr shape left = row ? make_shape(1, A::shape[0]) : A::shape;
  static constexpr shape right = column ? make_shape(B::shape[0], 1) : B::shape;
  static constexpr auto misuse() {
    if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
      return error::element_types_differ{};
    } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
      return error::element_types_differ{};
    } else if constexpr (A::rank == 0 || B::rank == 0) {
      return error::wrong_rank{};
    } else if constexpr (left[left.rank - 1] != right[right.rank - 2]) {
      return error::inner_extents_differ{};
    } else if constexpr (!broadcastable(batch_of(left), batch_of(right))) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr shape batch_of(const shape& s) {
    shape batch;
    for (int i = 0; i < s.rank - 2; ++i) batch.push_back(s[i]);
    return batch;
  }
  static constexpr shape batch() { return broadcast_shapes(batch_of(left), batch_of(right)); }
  static constexpr shape matrices(std::int64_t m, std::int64_t n) {
    shape s = batch();
    s.push_back(m);
    s.push_back(n);
    return s;
  }
  static constexpr shape value_of() {
    shape s = batch();
    if (!row) s.push_back(left[left.rank - 2]);
    if (!column) s.push_back(right[right.rank - 1]);
    return s;
  }
  static constexpr shape value = std::is_same_v<decltype(misuse()), no_misuse> ? value_of() : shape{};
};
template <class A, class B>
concept Multipliable = Array<A> && Array<B> && std::is_same_v<decltype(product<A, B>::misuse()), no_misuse>;
}

template <class A, class B>
  requires detail::Multipliable<A, B>
constexpr auto matmul(const A& x, const B& y) {
  using P = detail::product<A, B>;
  using T = typename A::value_type;
  constexpr auto m = P::left[P::left.rank - 2], k = P::left[P::left.rank - 1], n = P::right[P::right.rank - 1];
  tracing_builder& b = detail::tape_of(detail::ref_of(x), detail::ref_of(y));
  int p = emit::reshape(b, emit::resolve(b, detail::ref_of(x), {dtype_of<T>, A::shape}), P::left);
  int q = emit::reshape(b, emit::resolve(b, detail::ref_of(y), {dtype_of<T>, B::shape}), P::right);
  if constexpr (P::left.rank > 2 && P::batch_of(P::right).size() == 1) {
    p = emit::reshape(b, p, make_shape(P::batch_of(P::left).size() * m, k));
    q = emit::reshape(b, q, make_shape(k, n));
  } else {
    p = emit::broadcast_to(b, p, P::matrices(m, k));
    q = emit::broadcast_to(b, q, P::matrices(k, n));
  }
  using R = array_of<T, P>;
  return R(detail::at(b, emit::reshape(b, emit::matmul(b, p, q, false, false), R::shape)));
}
template <class A, class B, class Why = decltype(detail::product<A, B>::misuse())>
  requires(Array<A> && Array<B> && !detail::Multipliable<A, B>)
Why matmul(const A&, const B&) = delete;  // drx: matmul of (m, k) and (k, n) of one element type, leading axes broadcast; transpose(x) turns one round
template <class A, class B, class Why = detail::no_array_t<A, B>>
  requires detail::NoArrays<A, B>
Why matmul(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::matmul(a, b); }, x, y); of a structure leaf by leaf: tree_map

template <class A, class B>
  requires detail::Multipliable<A, B>
constexpr auto dot(const A& x, const B& y) {
  return matmul(x, y);
}
template <class A, class B, class Why = decltype(detail::product<A, B>::misuse())>
  requires(Array<A> && Array<B> && !detail::Multipliable<A, B>)
Why dot(const A&, const B&) = delete;  // drx: dot of two vectors of one length and element type, or as matmul
template <class A, class B, class Why = error::array_operation_on_a_placed_value>
  requires detail::PlacedOperands<A, B>
Why dot(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::dot(a, b); }, x, y)

DRX_SILENT(dot)
DRX_SILENT(matmul)

}

namespace drx {
namespace prim::rules {
struct over_axes {
  struct view {
    int_list axes;
    constexpr explicit view(int_list a) : axes(a) {}
    [[nodiscard]] constexpr bool is_only(int axis) const { return axes.size() == 1 && axes[0] == axis; }
    [[nodiscard]] constexpr bool are_neighbours() const {
      return axes.size() == 0 || axes[axes.size() - 1] - axes[0] == axes.size() - 1;
    }
  };
  static constexpr shape reduced(const shape& s, const vec<std::int64_t>& axes) {
    shape r;
    for (int i = 0; i < s.rank; ++i)
      if (axes.find(i) < 0) r.push_back(s[i]);
    return r;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const auto& x = t.operands[0];
    for (int i = 0; i < t.attrs.ints.size(); ++i)
      typing::require(
          t.attrs.ints[i] >= 0 && t.attrs.ints[i] < x.shape.rank && (i == 0 || t.attrs.ints[i - 1] < t.attrs.ints[i]),
          "reduction: the axes are not ascending and in range");
    typing::require(x.type != dtype::boolean, "reduction: of bool");
    return {x.with_shape(reduced(x.shape, t.attrs.ints))};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    attributes a = s.e.attrs;
    for (auto& axis : a.ints) ++axis;
    return {s.b.add1(*s.e.prim, s.operands, a)};
  }
  static constexpr int simplify(builder&, const vec<int>& o, const attributes& a) { return a.ints.empty() ? o[0] : -1; }
  static std::string print(const attributes& a) { return list_of(a.ints); }
  static constexpr int spread(builder& b, int y, shape x,
                              const vec<std::int64_t>& axes) {
    shape kept = x;
    for (auto axis : axes) kept[static_cast<int>(axis)] = 1;
    return emit::broadcast_to(b, emit::reshape(b, y, kept), x);
  }
  static constexpr vec<split_result> split(split_site& s) {
    const int k = s.axis(0), part = s.b.add1(*s.e.prim, {s.operand(0)}, s.e.attrs);
    const int_list over = view(s.e).axes;
    if (k == split_site::whole || !over.contains(k)) {
      int left = k;
      for (auto a : over) left -= k != split_site::whole && a < k;
      return {{part, left}};
    }
    return {{emit::over_axes(s.b, *s.e.prim, s.from_shards(part), {0}), split_site::whole}};
  }
  template <class F>
  static void fold(evaluation& v, F f, bool from_zero) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      using wide =
          std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<std::is_same_v<T, bool>, char, T>>;
      std::vector<wide> total(static_cast<std::size_t>(to.size()));
      for (std::size_t j = 0; j < total.size(); ++j)
        total[j] = static_cast<wide>(v.out[0].data<T>()[j]);
      std::vector<char> begun(static_cast<std::size_t>(to.size()), from_zero ? 1 : 0);
      std::int64_t i = 0;
      for_each_index(from, [&](const std::int64_t* at) {
        std::int64_t target[shape::max_rank] = {};
        int k = 0;
        for (int axis = 0; axis < from.rank; ++axis)
          if (v.e.attrs.ints.find(axis) < 0) target[k++] = at[axis];
        const auto j = static_cast<std::size_t>(flat_index(to, target));
        const auto x = static_cast<wide>(v.in[0]->data<T>()[i++]);
        total[j] = begun[j] ? static_cast<wide>(f(total[j], x)) : x;
        begun[j] = 1;
      });
      for (std::size_t j = 0; j < total.size(); ++j) v.out[0].data<T>()[j] = static_cast<T>(total[j]);
    });
  }
};
struct sum : over_axes {
  static constexpr known_values known(const known_site& s) {
    known_value r = s.operands[0];
    const bool some = s.type(s.e.operands[0]).shape.size() > 0;
    r.not_zero =
        some && ((r.not_zero && (r.not_negative || r.not_positive)) || patterns::is_softmax_sum(s.definition, s.e));
    return {r};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::sum(s.b, t[0], s.e.attrs.ints)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : spread(s.b, ct[0], s.b.shape(s.operands[0]), s.e.attrs.ints)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (!emit::is_constant(b, o[0], x)) {
      const int product = over_outer_products(b, o[0], a);
      if (product >= 0) return product;
      const int squares = of_squared_outer_product(b, o[0], a);
      if (squares >= 0) return squares;
      const int inner = inside_of_reshape(b, o[0], a);
      if (inner >= 0) return inner;
      const bool first = view(a).is_only(0);
      const int scattered = first ? emit::sum_of_scattered(b, o[0]) : -1;
      return scattered >= 0 ? scattered : over_axes::simplify(b, o, a);
    }
    const shape to = reduced(b.shape(o[0]), a.ints);
    const auto n = to.size() == 0 ? 0 : b.shape(o[0]).size() / to.size();
    return emit::constant(b, b.type(o[0]).with_shape(to), x * static_cast<double>(n));
  }
  static constexpr int inside_of_reshape(builder& b, int x, const attributes& a) {
    const entry* e = b.definition(x);
    if (!e || e->prim != reshape::prim_ptr() || !view(a).is_only(0)) return -1;
    const int from = e->operands[0];
    const shape before = b.shape(from), after = b.shape(x);
    if (before.rank < 2 || before[0] != after[0] || before[0] == 0)
      return -1;
    return emit::reshape(b, emit::sum(b, from, a.ints), without_axis(after, 0));
  }
  static constexpr int over_outer_products(builder& b, int x, const attributes& a) {
    const entry* e = b.definition(x);
    if (!e || !prim::is_matrix_product(e->prim) || !view(a).is_only(0) || b.shape(x).rank != 3) return -1;
    const auto [tx, ty] = matmul::view(*e);
    const int p = e->operands[0], q = e->operands[1];
    const shape from = b.shape(x), ps = b.shape(p);
    const std::int64_t inner = ps[tx ? 1 : 2];
    const bool of_rows = tx && !ty;
    const primitive& product = *e->prim;
    if (b.shape(q)[0] != from[0] || ps[0] != from[0] || (inner != 1 && !of_rows)) return -1;
    const int columns = emit::reshape(b, p, make_shape(from[0] * inner, from[1])),
              rows = emit::reshape(b, q, make_shape(from[0] * inner, from[2]));
    return matmul::written(b, product, columns, rows, true, false);
  }
  static constexpr int of_squared_outer_product(builder& b, int x, const attributes& a) {
    const entry* square = b.definition(x);
    if (!square || square->prim != &prim::mul || square->operands[0] != square->operands[1] || a.ints.size() != 2 ||
        b.shape(x).rank != 2)
      return -1;
    const entry* e = b.definition(square->operands[0]);
    if (!e || !prim::is_matrix_product(e->prim)) return -1;
    const int p = e->operands[0], q = e->operands[1];
    const primitive& product = *e->prim;
    if (b.shape(p)[matmul::view(*e).transposes_first ? 0 : 1] != 1) return -1;
    const int left = emit::sum(b, emit::mul(b, p, p), {0, 1}), right = emit::sum(b, emit::mul(b, q, q), {0, 1});
    return matmul::elementwise(b, product, left, right);
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return wrapping_sum(a, b); }, true);
  }
};
template <bool Max>
struct extremum : over_axes {
  static constexpr auto known = rules::known::handed_on;
  static constexpr vec<abstract_value> type(const typing& t) {
    for (auto axis : t.attrs.ints)
      typing::require(t.operands[0].shape[static_cast<int>(axis)] > 0, "max or min over an axis without elements");
    return over_axes::type(t);
  }
  static constexpr int winners(const rule_site& s) {
    const int x = s.operands[0];
    const shape from = s.b.shape(x);
    const int hit =
        emit::cast(s.b, emit::equal(s.b, x, spread(s.b, s.results[0], from, s.e.attrs.ints)), s.b.type(x).type);
    return emit::div(s.b, hit, spread(s.b, emit::sum(s.b, hit, s.e.attrs.ints), from, s.e.attrs.ints));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    return {emit::sum(s.b, emit::times(s.b, t[0], winners(s)), s.e.attrs.ints)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const int spread_ct = spread(s.b, ct[0], s.b.shape(s.operands[0]), s.e.attrs.ints);
    return {emit::times(s.b, spread_ct, winners(s))};
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return (Max ? b > a : b < a) || b != b ? b : a; }, false);
  }
};
}

namespace prim {
template <class Rules>
constexpr primitive reduction_primitive(const char* name) {
  return {.name = name,
          .type = Rules::type,
          .jvp = Rules::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .simplify = Rules::simplify,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .known = Rules::known,
          .lanes = rules::lanes::same,
          .split = rules::over_axes::split};
}
inline constexpr primitive sum = reduction_primitive<rules::sum>("sum");
inline constexpr primitive max_over = reduction_primitive<rules::extremum<true>>("max_over");
inline constexpr primitive min_over = reduction_primitive<rules::extremum<false>>("min_over");
constexpr bool is_fold(const primitive* p) { return p == &sum || p == &max_over || p == &min_over; }
}

namespace emit {
constexpr int over_axes(builder& b, const primitive& reduction, int x, const vec<std::int64_t>& axes) {
  attributes a;
  a.ints = axes;
  return b.add1(reduction, {x}, a);
}
constexpr int sum(builder& b, int x, const vec<std::int64_t>& axes) { return over_axes(b, prim::sum, x, axes); }
}

namespace detail {
template <class A, int... Axes>
struct reduced_axes {
  static constexpr bool in_range = ((Axes >= -A::rank && Axes < A::rank) && ...);
  static constexpr bool has([[maybe_unused]] int axis) {
    return sizeof...(Axes) == 0 || ((normal_axis(Axes, A::rank) == axis) || ...);
  }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i)
      if (!has(i)) s.push_back(A::shape[i]);
    return s;
  }();
  static constexpr vec<std::int64_t> list() {
    vec<std::int64_t> v;
    for (int i = 0; i < A::rank; ++i)
      if (has(i)) v.push_back(i);
    return v;
  }
};
template <class A, int... Axes>
constexpr auto reduce_axes(const primitive& p, const A& x) {
  using axes = reduced_axes<A, Axes...>;
  return unary<array_of<typename A::value_type, axes>>(
      x, [&](builder& b, int id) { return emit::over_axes(b, p, id, axes::list()); });
}
template <class A, int... Axes>
concept Reducible = Array<A> && reduced_axes<A, Axes...>::in_range && !std::is_same_v<typename A::value_type, bool>;
template <class A, int... Axes>
constexpr auto reduction_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
    return error::element_types_differ{};
  } else {
    return error::axis_out_of_range{};
  }
}
template <class A, int... Axes>
concept Misreduced = (Array<A> || Placed<A>) && !Reducible<A, Axes...>;
}

template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto sum(const A& x) { return detail::reduce_axes<A, Axes...>(prim::sum, x); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto max(const A& x) { return detail::reduce_axes<A, Axes...>(prim::max_over, x); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto min(const A& x) { return detail::reduce_axes<A, Axes...>(prim::min_over, x); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto mean(const A& x) {
  using T = mean_element<typename A::value_type>;
  constexpr auto n = static_cast<double>(A::size) / static_cast<double>(detail::reduced_axes<A, Axes...>::value.size());
  return detail::rounded_once(
      [](const auto& y) {
        using C = detail::computed_element<T>;
        return sum<Axes...>(cast<C>(y)) * static_cast<C>(1 / n);
      },
      x);
}
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why sum(const A&) = delete;  // drx: sum<axes...>(array of numbers); of a placed value use reduce_sum, or sum in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why max(const A&) = delete;  // drx: max<axes...>(array of numbers); of a placed value use reduce_max, or max in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why min(const A&) = delete;  // drx: min<axes...>(array of numbers); of a placed value use reduce_min, or min in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why mean(const A&) = delete;  // drx: mean<axes...>(array of numbers); of a placed value use reduce_mean, or mean in a map
template <class A, class... I, class Why = error::axes_and_extents_are_template_arguments> requires detail::AxesAsArguments<A, I...> && (sizeof...(I) <= A::rank)
Why sum(const A&, const I&...) = delete;  // drx: sum<0>(x), sum<0, 2>(x)
template <class A, class... I, class Why = error::axes_and_extents_are_template_arguments> requires detail::AxesAsArguments<A, I...> && (sizeof...(I) <= A::rank)
Why mean(const A&, const I&...) = delete;  // drx: mean<0>(x), mean<0, 2>(x)

DRX_SILENT(max)
DRX_SILENT(mean)
DRX_SILENT(min)
DRX_SILENT(sum)

}

namespace drx::prim {
namespace rules {
template <bool Max>
struct arg_extremum : over_axes {
  static constexpr auto known = rules::known::nothing;
  static constexpr auto jvp = rules::constant::jvp;
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value reduced = over_axes::type(t)[0], x = t.operands[0];
    const int_list axes = view(t.attrs).axes;
    typing::require(axes.size() == 1, "argmax or argmin: not along one axis");
    typing::require(x.shape[axes.number(0)] > 0, "argmax or argmin along an axis without elements");
    return {reduced.with_type(dtype::int32)};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const abstract_value x = b.type(o[0]);
    const int axis = view(a).axes.number(0);
    if (x.shape[axis] != 1) return -1;
    return emit::constant(b, x.with_shape(without_axis(x.shape, axis)).with_type(dtype::int32), 0);
  }
  static constexpr vec<split_result> split(split_site& s) {
    return view(s.e).axes.contains(s.axis(0)) ? rules::split::whole(s) : over_axes::split(s);
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const int axis = view(v.e).axes.number(0);
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      for_each_index(to, [&, i = 0](const std::int64_t* at) mutable {
        std::int64_t here[shape::max_rank] = {};
        for (int k = 0; k < to.rank; ++k) here[k < axis ? k : k + 1] = at[k];
        const auto element = [&](std::int64_t k) {
          here[axis] = k;
          return v.in[0]->data<T>()[flat_index(from, here)];
        };
        std::int64_t best = 0;
        for (std::int64_t k = 1; k < from[axis]; ++k)
          if (beats<Max>(element(k), element(best))) best = k;
        v.out[0].data<std::int32_t>()[i++] = static_cast<std::int32_t>(best);
      });
    });
  }
};
template <class Rules>
constexpr primitive arg_extremum_primitive(const char* name) {
  primitive p = reduction_primitive<Rules>(name);
  p.split = Rules::split;
  return p;
}
}
inline constexpr primitive argmax = rules::arg_extremum_primitive<rules::arg_extremum<true>>("argmax");
inline constexpr primitive argmin = rules::arg_extremum_primitive<rules::arg_extremum<false>>("argmin");
}

namespace drx {
namespace prim::rules {
struct broadcast {
  static constexpr vec<abstract_value> type(const typing& t) { return {t.operands[0].placed_at(t.attrs.placement)}; }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::broadcast(s.b, t[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::reduce_sum(s.b, ct[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::broadcast(s.b, s.operands[0], s.e.attrs.placement)};
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name); }
  static constexpr vec<int> share(share_site& s) { return {s.common(0)}; }
  static void evaluate(evaluation& v) {
    v.out[0].members.assign(static_cast<std::size_t>(v.members(v.e.attrs.placement)), *v.in[0]);
  }
};
struct members {
  struct view {
    dtype type;
    constexpr explicit view(int_list a) : type(static_cast<dtype>(a[0])) {}
  };
  static constexpr along_axis_result along_axis(const rule_site& s, bool, std::int64_t n) {
    return {emit::constant(s.b, abstract_value(view(s.e).type, {}), static_cast<double>(n)), false};
  }
  static constexpr vec<abstract_value> type(const typing& t) { return {abstract_value(view(t.attrs).type, {})}; }
  static constexpr vec<split_result> split(split_site& s) {
    if (s.e.attrs.placement != s.mesh.members) return {};
    return {{of_whole_members(s.b, s.mesh, view(s.e).type), split_site::whole}};
  }
  static constexpr int of_whole_members(builder& b, const mesh_axes& mesh, dtype type) {
    const int shards = emit::members(b, mesh.members, dtype::int64);
    return emit::cast(b, emit::div(b, shards, emit::constant_like(b, shards, static_cast<double>(mesh.count))), type);
  }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type,
                  [&]<class T>(T) { v.out[0].data<T>()[0] = static_cast<T>(v.members(v.e.attrs.placement)); });
  }
};
}

namespace prim {
inline constexpr primitive broadcast{.name = "broadcast",
                                     .type = rules::broadcast::type,
                                     .jvp = rules::broadcast::jvp,
                                     .vjp = rules::broadcast::vjp,
                                     .batch = rules::broadcast::batch,
                                     .print = rules::broadcast::print,
                                     .evaluate = rules::broadcast::evaluate,
                                     .share = rules::broadcast::share,
                                     .known = rules::known::handed_on,
                                     .takes_halves = true};
inline constexpr primitive members{.name = "members",
                                   .type = rules::members::type,
                                   .jvp = rules::constant::jvp,
                                   .vjp = rules::constant::vjp,
                                   .batch = rules::constant::batch,
                                   .along_axis = rules::members::along_axis,
                                   .print = rules::broadcast::print,
                                   .evaluate = rules::members::evaluate,
                                   .known = rules::known::counts,
                                   .split = rules::members::split};
}

namespace emit {
constexpr int broadcast(builder& b, int x, const placement_info* p) {
  attributes a;
  a.placement = p;
  return b.add1(prim::broadcast, {x}, a);
}
constexpr int members(builder& b, const placement_info* p, dtype type) {
  attributes a;
  a.placement = p;
  a.ints = {static_cast<std::int64_t>(type)};
  return b.add1(prim::members, {}, a);
}
}

namespace detail {

template <class X>
concept Unplaced = Structured<X> && !Placed<X> && !error::Reported<X>;

}

template <class P, class X>
  requires(Placement<P> && detail::Unplaced<X>)
constexpr auto broadcast(const X& x) {
  using R = placed<canonical_t<X>, P>;
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::in_member(detail::common_tape(refs));
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::broadcast(b, id, &placement_of<P>);
  return detail::bound<R>(b, ids);
}
template <Element T = std::int64_t, class X>
  requires(Placed<X>)
constexpr array<T> count(const X& x) {
  tracing_builder& b = detail::common_tape(detail::leaf_refs<X>(x));
  return array<T>(detail::at(b, emit::members(b, &placement_of<typename X::placement>, dtype_of<T>)));
}

template <class P, class X, class Why = error::broadcast_needs_an_unplaced_value>
  requires(Placed<X> && !error::Reported<X>)
Why broadcast(const X&) = delete;  // drx: it is placed already; reduce it first, or broadcast inside of the map

DRX_SILENT_OF_TYPE(broadcast)

}

namespace drx::error {

struct a_drx_scalar_is_not_converted_to_a_plain_number {};
struct scalars_of_one_level_but_two_types_do_not_mix {};
struct branch_on_a_pack {};

}

namespace drx::ad {

template <class T, int N = 1>
struct dual;
template <class T>
struct var;
template <class T, int W>
struct pack;

namespace detail {
template <class X>
struct traits {
  static constexpr bool number = std::is_arithmetic_v<X>, active = false;
  static constexpr int level = 0, lanes = 1;
  using real = std::conditional_t<std::is_floating_point_v<X>, X, double>;
};
template <class T, int N>
struct traits<dual<T, N>> {
  static constexpr bool number = true, active = true;
  static constexpr int level = 1 + traits<T>::level, lanes = traits<T>::lanes;
  using real = typename traits<T>::real;
};
template <class T>
struct traits<var<T>> : traits<dual<T, 1>> {};
template <class T, int W>
struct traits<pack<T, W>> {
  static constexpr bool number = true, active = false;
  static constexpr int level = 0, lanes = W;
  using real = T;
};
}

template <class X>
inline constexpr int level = detail::traits<std::remove_cvref_t<X>>::level;
template <class X>
inline constexpr int lane_count = detail::traits<std::remove_cvref_t<X>>::lanes;
template <class X>
using real_t = typename detail::traits<std::remove_cvref_t<X>>::real;

template <class X>
concept Number = detail::traits<X>::number;
template <class X>
concept Active = detail::traits<X>::active;
template <class X, class A>
concept Below = Active<A> && Number<X> && (level<X> < level<A>) && std::is_constructible_v<A, X>;

namespace detail {
template <class A, class B>
DRX_FN constexpr decltype(auto) lowered(const B& b) {
  if constexpr (std::is_arithmetic_v<B>) {
    return static_cast<real_t<A>>(b);
  } else {
    return (b);
  }
}
template <class A, class B>
using higher_t = std::conditional_t<(level<A> < level<B>), B, A>;
template <class X>
using floating_t = std::conditional_t<std::is_arithmetic_v<X>, real_t<X>, X>;
}

template <class X>
DRX_FN constexpr decltype(auto) value_of(const X& x) {
  if constexpr (Active<X>) {
    return (x.value);
  } else {
    return (x);
  }
}

template <class A>
  requires(!Active<A>)
DRX_FN constexpr A select(bool condition, const A& yes, const A& no) {
  return condition ? yes : no;
}
template <class A, class B>
  requires(std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, B>)
DRX_FN constexpr auto select(bool condition, A yes, B no) {
  using T = std::common_type_t<A, B>;
  return condition ? static_cast<T>(yes) : static_cast<T>(no);
}

}

#define DRX_STANDARD_TABLE(row)                                       \
  row(exp,    y)                                                      \
  row(exp2,   y * R(0.693147180559945309417L))                        \
  row(expm1,  y + 1)                                                  \
  row(log,    1 / x)                                                  \
  row(log2,   R(1.442695040888963407360L) / x)                        \
  row(log10,  R(0.434294481903251827651L) / x)                        \
  row(log1p,  1 / (x + 1))                                            \
  row(sqrt,   R(0.5) / y)                                             \
  row(cbrt,   R(1.0L / 3) / (y * y))                                  \
  row(sin,    cos(x))                                                 \
  row(cos,    -sin(x))                                                \
  row(tan,    y * y + 1)                                              \
  row(asin,   1 / sqrt((1 - x) * (1 + x)))                            \
  row(acos,   -1 / sqrt((1 - x) * (1 + x)))                           \
  row(atan,   1 / (x * x + 1))                                        \
  row(sinh,   cosh(x))                                                \
  row(cosh,   sinh(x))                                                \
  row(tanh,   1 - y * y)                                              \
  row(asinh,  1 / sqrt(x * x + 1))                                    \
  row(acosh,  1 / sqrt((x - 1) * (x + 1)))                            \
  row(atanh,  1 / ((1 - x) * (1 + x)))                                \
  row(erf,    R(1.128379167095512573896L) * exp(-x * x))              \
  row(erfc,   R(-1.128379167095512573896L) * exp(-x * x))             \
  row(lgamma, digamma(x))                                             \
  row(abs,    sign(x))
#define DRX_ELEMENTARY_TABLE(row) DRX_STANDARD_TABLE(row) row(sigmoid, y * (1 - y))

#define DRX_STEP_TABLE(row) row(floor) row(ceil) row(trunc) row(round) row(rint) row(nearbyint)

namespace drx::ad {

#define DRX_PLAIN(name, ...)                     \
  template <class T>                             \
    requires std::is_arithmetic_v<T>             \
  DRX_FN constexpr real_t<T> name(T x) {         \
    return std::name(static_cast<real_t<T>>(x)); \
  }
DRX_STANDARD_TABLE(DRX_PLAIN)
DRX_STEP_TABLE(DRX_PLAIN)
#undef DRX_PLAIN

template <class T>
  requires std::is_arithmetic_v<T>
DRX_FN constexpr real_t<T> sigmoid(T x) {
  const auto v = static_cast<real_t<T>>(x), z = std::exp(v < 0 ? v : -v);
  return (v < 0 ? z : 1) / (1 + z);
}

template <class T>
DRX_FN constexpr T sign(const T& x) {
  return select(value_of(x) > 0, T(1), select(value_of(x) < 0, T(-1), T(0)));
}

template <class T>
DRX_FN constexpr T digamma(const T& argument) {
  using R = real_t<T>;
  T x = argument, sum = T(0);
  if (x <= 0) {
    const T turn = x * R(3.141592653589793238463L);
    sum = cos(turn) / sin(turn) * R(-3.141592653589793238463L);
    x = 1 - x;
  }
  for (; x < 10; x = x + 1) sum = sum - 1 / x;
  const T z = 1 / (x * x);
  const T tail =
      z * (R(1.0L / 12) -
           z * (R(1.0L / 120) -
                z * (R(1.0L / 252) -
                     z * (R(1.0L / 240) - z * (R(1.0L / 132) - z * (R(691.0L / 32760) - z * R(1.0L / 12)))))));
  return sum + log(x) - R(0.5) / x - tail;
}

namespace rows {
#define DRX_ROW(name, ...)                                                                        \
  struct name##_row {                                                                             \
    template <class T>                                                                            \
    DRX_FN static constexpr T value(const T& x) {                                                 \
      return name(x);                                                                             \
    }                                                                                             \
    template <class T>                                                                            \
    DRX_FN static constexpr T partial([[maybe_unused]] const T& x, [[maybe_unused]] const T& y) { \
      using R [[maybe_unused]] = real_t<T>;                                                       \
      return __VA_ARGS__;                                                                         \
    }                                                                                             \
  };
DRX_ELEMENTARY_TABLE(DRX_ROW)
#undef DRX_ROW
}

}

#include <compare>
#include <iosfwd>

namespace drx::ad {

namespace detail {

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
template <class T, class P>
DRX_FN constexpr T scaled(const T& t, const P& p) {
  return t * lowered<T>(p);
}

}

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

#define DRX_COMPARISON(op) \
  template <Active A> DRX_FN constexpr auto operator op(const A& a, const A& b) { return (a.value)op(b.value); } \
  template <Active A, Below<A> B> DRX_FN constexpr auto operator op(const A& a, const B& b) { return (a.value)op(detail::lowered<A>(b)); } \
  template <Active A, Below<A> B> DRX_FN constexpr auto operator op(const B& b, const A& a) { return (detail::lowered<A>(b))op(a.value); }
DRX_COMPARISON(<) DRX_COMPARISON(<=) DRX_COMPARISON(>) DRX_COMPARISON(>=) DRX_COMPARISON(==) DRX_COMPARISON(!=)
#undef DRX_COMPARISON

namespace detail {
template <class A, class B>
concept Foreign = Active<A> && Active<B> && level<A> == level<B> && !std::same_as<A, B>;
}
#define DRX_FOREIGN(op) \
  template <class A, class B, class Why = error::scalars_of_one_level_but_two_types_do_not_mix> requires detail::Foreign<A, B> \
  A operator op(const A&, const B&) = delete;  // drx: take the inner derivative with drx::ad::derivative, which chooses a level above all that its function sees
DRX_FOREIGN(+) DRX_FOREIGN(-) DRX_FOREIGN(*) DRX_FOREIGN(/)
#undef DRX_FOREIGN

namespace detail {
template <class Row, class A>
DRX_FN constexpr A elementary(const A& x) {
  const auto y = Row::value(x.value);
  return strict_chain(x, y, Row::partial(x.value, y));
}
}
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
template <class X>
  requires Number<X>
DRX_FN constexpr auto fabs(const X& x) {
  return abs(x);
}

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
      if (y == 0) return T(0);
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
}
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

namespace detail {
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
}
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

}

template <drx::ad::Active X>
struct std::numeric_limits<X> : std::numeric_limits<drx::ad::real_t<X>> {};

namespace drx::ad {

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

template <class T, int N>
inline constexpr int tangent_lanes = 1;
template <class T, int N>
  requires std::is_floating_point_v<T>
inline constexpr int tangent_lanes<T, N> =
    N < native_width<T> ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(N))) : native_width<T>;
template <class T, int N>
inline constexpr std::size_t stored_tangents =
    static_cast<std::size_t>((N + tangent_lanes<T, N> - 1) / tangent_lanes<T, N> * tangent_lanes<T, N>);

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

template <int Lanes, class T, std::size_t N>
DRX_FN constexpr void unit_tangent(T (&y)[N], int i, const T& one) {
#if defined(__AVX__) && !defined(__CUDACC__) && \
    !defined(__HIPCC__)
  if constexpr (Lanes > 1) {
    if (!std::is_constant_evaluated()) {
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

template <class V, class T>
DRX_INLINE constexpr V lanes_times(const V& t, const T& p) {
  using mask = decltype(t == 0);
  return (V)(~(t == 0) & (mask)(t * p));
}

}
}

namespace drx::ad {

template <class T, int N>
struct dual {
  static_assert(Number<T> && !std::is_integral_v<T>,
                "drx::ad::dual<T, N>: T is float, double, a pack, a dual or a var");
  static_assert(N >= 1, "drx::ad::dual<T, N>: at least one direction");
  using value_type = T;
  static constexpr int directions = N;

  T tangent[detail::stored_tangents<T, N>]{};
  T value{};

  constexpr dual() = default;
  template <class U>
    requires(Number<U> && level<U> <= level<T> && std::is_constructible_v<T, U>)
  DRX_FN constexpr dual(const U& constant) : value(static_cast<T>(constant)) {}
  DRX_FN static constexpr dual variable(const T& x, int i = 0) {
    dual r(x);
    detail::unit_tangent<detail::tangent_lanes<T, N>>(r.tangent, i, T(1));
    return r;
  }

  template <class Why = error::a_drx_scalar_is_not_converted_to_a_plain_number>
  operator double() const = delete;  // drx: call exp(x), not std::exp(x); a comparison or x.value gives the plain number
};

namespace detail {
template <class T, int N, class F, class... X>
DRX_INLINE constexpr dual<T, N> with_tangents(const T& value, F f, const X&... x) {
  dual<T, N> r(value);
  for_lanes<tangent_lanes<T, N>>(r.tangent, f, x.tangent...);
  return r;
}
template <class V, class P>
DRX_INLINE constexpr V strictly_scaled(const V& t, const P& p) {
  if constexpr (Number<V>) {
    return times(t, p);
  } else {
    return lanes_times(t, p);
  }
}
template <class P>
struct by_one {
  const P& p;
  template <class V>
  DRX_INLINE constexpr auto operator()(const V& t) const {
    return t * p;
  }
};
template <class P, class Q>
struct by_two {
  const P& p;
  const Q& q;
  template <class V>
  DRX_INLINE constexpr auto operator()(const V& s, const V& t) const {
    return s * p + t * q;
  }
};
template <class P>
struct by_three {
  const P &p, &q, &r;
  template <class V>
  DRX_INLINE constexpr auto operator()(const V& s, const V& t, const V& u) const {
    return s * p + t * q + u * r;
  }
};
template <class P>
struct strictly_by_one {
  const P& p;
  template <class V>
  DRX_INLINE constexpr V operator()(const V& t) const {
    return strictly_scaled(t, p);
  }
};
template <class P>
struct strictly_by_two {
  const P &p, &q;
  template <class V>
  DRX_INLINE constexpr V operator()(const V& s, const V& t) const {
    return strictly_scaled(s, p) + strictly_scaled(t, q);
  }
};
}

template <class T, int N, class P>
DRX_INLINE constexpr dual<T, N> chain(const dual<T, N>& x, const std::type_identity_t<T>& y, const P& partial) {
  const auto& p = detail::lowered<T>(partial);
  return detail::with_tangents<T, N>(y, detail::by_one<std::remove_cvref_t<decltype(p)>>{p}, x);
}
template <class T, int N, class P, class Q>
DRX_INLINE constexpr dual<T, N> chain(const dual<T, N>& a, const dual<T, N>& b, const std::type_identity_t<T>& y,
                                      const P& by_a, const Q& by_b) {
  const auto &p = detail::lowered<T>(by_a), &q = detail::lowered<T>(by_b);
  return detail::with_tangents<T, N>(
      y, detail::by_two<std::remove_cvref_t<decltype(p)>, std::remove_cvref_t<decltype(q)>>{p, q}, a, b);
}
template <class T, int N>
DRX_INLINE constexpr dual<T, N> chain(const dual<T, N>& a, const dual<T, N>& b, const dual<T, N>& c, const T& y,
                                      const T& p, const T& q, const T& r) {
  return detail::with_tangents<T, N>(y, detail::by_three<T>{p, q, r}, a, b, c);
}
template <class T, int N>
DRX_INLINE constexpr dual<T, N> strict_chain(const dual<T, N>& x, const std::type_identity_t<T>& y,
                                             const std::type_identity_t<T>& p) {
  return detail::with_tangents<T, N>(y, detail::strictly_by_one<T>{p}, x);
}
template <class T, int N>
DRX_INLINE constexpr dual<T, N> strict_chain(const dual<T, N>& a, const dual<T, N>& b, const std::type_identity_t<T>& y,
                                             const std::type_identity_t<T>& p, const std::type_identity_t<T>& q) {
  return detail::with_tangents<T, N>(y, detail::strictly_by_two<T>{p, q}, a, b);
}
template <class T, int N>
DRX_FN constexpr dual<T, N> sum_of_lanes(const dual<T, N>& x) {
  if constexpr (lane_count<T> == 1) {
    return x;
  } else {
    dual<T, N> r(static_cast<T>(sum_of_lanes(x.value)));
    for (std::size_t i = 0; i < detail::stored_tangents<T, N>; ++i)
      r.tangent[i] = static_cast<T>(sum_of_lanes(x.tangent[i]));
    return r;
  }
}
template <class Mask, class T, int N>
DRX_FN constexpr dual<T, N> select_lanes(const Mask& mask, const dual<T, N>& a, const dual<T, N>& b) {
  dual<T, N> r(select(mask, a.value, b.value));
  for (std::size_t i = 0; i < detail::stored_tangents<T, N>; ++i)
    r.tangent[i] = select(mask, a.tangent[i], b.tangent[i]);
  return r;
}

namespace detail {

template <class R>
struct element {
  using type = R;
};
template <class R, std::size_t M>
struct element<std::array<R, M>> : element<R> {};
template <class F, class... X>
using seen_by = floating_t<typename element<std::remove_cvref_t<std::invoke_result_t<F, const X&...>>>::type>;
template <class F, class X>
using base_of = higher_t<floating_t<X>, seen_by<F, X>>;

template <class S, class Y>
DRX_FN constexpr auto tangent_of(const Y& y, [[maybe_unused]] int i) {
  static_assert(
      level<Y> <= level<S>,
      "drx::ad: a function that is differentiated returns no scalar of a higher level than those it has seen");
  if constexpr (std::is_same_v<Y, S>) {
    return y.tangent[i];
  } else {
    return typename S::value_type(0);
  }
}
}

template <class F, class X>
  requires Number<X>
DRX_FN constexpr auto derivative(const F& f, const X& x) {
  using S = dual<detail::base_of<F, X>, 1>;
  using T = typename S::value_type;
  return T(detail::tangent_of<S>(f(S::variable(T(x))), 0));
}
template <class F>
constexpr auto derivative(F f) {
  return [f](const auto& x) { return ad::derivative(f, x); };
}

}

namespace drx::ad::detail {

#if !defined(__CUDACC__) && !defined(__HIPCC__)

inline constexpr std::size_t sums_in_registers =
#if defined(__AVX512F__)
    24;
#else
    12;
#endif

template <std::size_t M, std::size_t K, std::size_t N, class T, int D>
struct constants_times_duals {
  static constexpr std::size_t J = N < 3 ? N : 3, R = sums_in_registers / J,
                               V = static_cast<std::size_t>(tangent_lanes<T, D>);
  static constexpr std::size_t W =
      N < static_cast<std::size_t>(native_width<T>) ? std::bit_ceil(N) : static_cast<std::size_t>(native_width<T>);
  static constexpr bool applies = V > 1 && W > 1 && M >= 2 * R&& K* J* V * sizeof(T) <= 32768;

  template <std::size_t Lanes>
  struct lanes {
    typedef T native __attribute__((vector_size(sizeof(T) * Lanes)));
  };
  template <std::size_t Lanes, std::size_t Columns>
  struct panel {
    typename lanes<Lanes>::native rows[K][Columns];
    std::uint32_t number[K];
    std::size_t count = 0;

    template <class Store>
    void times(const T* a, Store store) const {
      constexpr std::size_t height = Columns == 1 ? sums_in_registers / 2 : R;
      for (std::size_t row = 0; row < M; row += height) {
        const std::size_t first = row + height > M ? M - height : row;
        typename lanes<Lanes>::native sum[height][Columns] = {};
        for (std::size_t k = 0; k < count; ++k) {
          const T* const from = a + first * K + number[k];
#pragma GCC unroll 32
          for (std::size_t i = 0; i < height; ++i)
#pragma GCC unroll 4
            for (std::size_t j = 0; j < Columns; ++j) sum[i][j] += rows[k][j] * from[i * K];
        }
        for (std::size_t i = 0; i < height; ++i)
          for (std::size_t j = 0; j < Columns; ++j) store(first + i, j, sum[i][j]);
      }
    }
  };

  static void run(const T* a, const dual<T, D>* b, dual<T, D>* c) {
    for (std::size_t column = 0; column < N; column += J) {
      const std::size_t first = column + J > N ? N - J : column;
      for (std::size_t chunk = 0; chunk < stored_tangents<T, D>; chunk += V) tangents(a, b + first, c + first, chunk);
    }
    for (std::size_t column = 0; column < N; column += W)
      values(a, b + column, c + column, N - column < W ? N - column : W);
  }
  static void tangents(const T* a, const dual<T, D>* b, dual<T, D>* c, std::size_t chunk) {
    panel<V, J> p;
    for (std::size_t k = 0; k < K; ++k) {
      T any = 0;
      for (std::size_t j = 0; j < J; ++j) {
        const T* const from = b[k * N + j].tangent + chunk;
        std::memcpy(&p.rows[p.count][j], from, sizeof(p.rows[0][0]));
        for (std::size_t l = 0; l < V; ++l) any += static_cast<T>(from[l] != 0);
      }
      p.number[p.count] = static_cast<std::uint32_t>(k);
      p.count += any != 0;
    }
    p.times(a, [&](std::size_t i, std::size_t j, const auto& sum) {
      std::memcpy(c[i * N + j].tangent + chunk, &sum, sizeof(sum));
    });
  }
  static void values(const T* a, const dual<T, D>* b, dual<T, D>* c, std::size_t columns) {
    panel<W, 1> p;
    p.count = K;
    for (std::size_t k = 0; k < K; ++k) {
      T row[W] = {};
      for (std::size_t j = 0; j < columns; ++j) row[j] = b[k * N + j].value;
      std::memcpy(&p.rows[k][0], row, sizeof(row));
      p.number[k] = static_cast<std::uint32_t>(k);
    }
    p.times(a, [&](std::size_t i, std::size_t, const auto& sum) {
      for (std::size_t j = 0; j < columns; ++j) c[i * N + j].value = sum[j];
    });
  }
};

#endif

}

#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace drx::ad {

class tape_overflow : public std::length_error {
 public:
  tape_overflow(std::size_t capacity, std::size_t needed, std::size_t bytes)
      : std::length_error("drx: a local tape of " + std::to_string(capacity) + " statements was given, " +
                          std::to_string(needed) + " are needed: give drx::ad::arena(" + std::to_string(bytes) +
                          "), or a local_tape of this capacity"),
        needed_statements(needed),
        needed_bytes(bytes) {}
  std::size_t needed_statements, needed_bytes;
};

class arena {
 public:
  explicit arena(std::size_t bytes)
      : memory_(allocated(bytes), {bytes < huge ? std::align_val_t{64} : std::align_val_t{huge}}), bytes_(bytes) {}
  [[nodiscard]] std::span<std::byte> memory() const { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::size_t huge = std::size_t{1} << 21;
  struct release {
    std::align_val_t alignment;
    void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
  };
  static std::byte* allocated(std::size_t bytes) {
    if (bytes < huge) return static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}));
    auto* const memory = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{huge}));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    madvise(memory, bytes / huge * huge,
            MADV_HUGEPAGE);
#endif
    return memory;
  }
  std::unique_ptr<std::byte, release> memory_;
  std::size_t bytes_;
};

namespace detail {

struct statement {
  static constexpr std::uint32_t none = ~std::uint32_t{0}, leaf = none - 1, unary = none - 2, wide = none - 3,
                                 ternary = none - 4, same = none - 5, negated = none - 6, lanes = none - 7,
                                 marks = none - 16;
  static constexpr std::uint32_t sum = 1u << 31, difference = sum | 1u << 30,
                                 most = 1u << 30;
  std::uint32_t a, b;
};

struct wide_operand {
  enum form_kind : std::uint32_t { passive, contiguous, listed };
  std::uint32_t form = passive, first = 0;
};
struct wide_header {
  enum what_kind : std::uint32_t {
    linear,
    total,
    product,
    axpy,
    lower
  };
  std::uint32_t what = linear, m = 0, k = 0, n = 0;
  wide_operand a, b;
};

template <class T>
DRX_FN constexpr bool all_zero([[maybe_unused]] const T& x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x == 0;
  } else if constexpr (requires { x.tape; }) {
    return !x.tape && all_zero(x.value);
  } else if constexpr (requires { x.tangent; }) {
    bool zero = all_zero(x.value);
    for (const auto& t : x.tangent) zero = zero && all_zero(t);
    return zero;
  } else {
    return false;
  }
}
template <class T>
DRX_FN constexpr T pulled(const T& cotangent, const T& partial) {
  if constexpr (std::is_floating_point_v<T>) {
    return cotangent * partial;
  } else {
    return times(cotangent, partial);
  }
}

}

template <class T>
class recording {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  struct mark {
    std::uint32_t count, limit;
    T* top;
  };
  static constexpr std::size_t bytes_per_statement = sizeof(detail::statement) + 3 * sizeof(T);
  static constexpr std::size_t bytes_for(std::size_t statements) {
    return statements * bytes_per_statement + alignof(T) + sizeof(T);
  }

  DRX_FN explicit recording(std::span<std::byte> memory) {
    std::size_t n = memory.size() < bytes_for(0) ? 0 : (memory.size() - bytes_for(0)) / bytes_per_statement;
    if (n > detail::statement::most) n = detail::statement::most;
    limit_ = capacity_ = static_cast<std::uint32_t>(n);
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    cotangents_ = reinterpret_cast<T*>(memory.data() + (alignof(T) - at % alignof(T)) % alignof(T));
    if (n > 0) std::construct_at(cotangents_++);
    top_ = cotangents_ + n;
    words_ = reinterpret_cast<detail::statement*>(top_ + 2 * n);
  }
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  DRX_FN std::uint32_t leaf() {
    if (count_ >= limit_) return overflow(1);
    words_[count_] = {0, detail::statement::leaf};
    return count_++;
  }
  DRX_FN std::uint32_t leaves(std::size_t n) {
    if (limit_ - count_ < n) return overflow(n);
    for (std::size_t i = 0; i < n; ++i) words_[count_ + i] = {0, detail::statement::leaf};
    count_ += static_cast<std::uint32_t>(n);
    return count_ - static_cast<std::uint32_t>(n);
  }
  DRX_FN std::uint32_t push(std::uint32_t a, const T& partial) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, detail::statement::unary};
    std::construct_at(top_++, partial);
    return count_++;
  }
  DRX_FN std::uint32_t push_signed(std::uint32_t a, int sign) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, sign > 0 ? detail::statement::same : detail::statement::negated};
    return count_++;
  }
  DRX_FN std::uint32_t push_sum_of_lanes(std::uint32_t a) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, detail::statement::lanes};
    return count_++;
  }
  DRX_FN std::uint32_t push_sum(std::uint32_t a, std::uint32_t b, int sign_of_b) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a | (sign_of_b > 0 ? detail::statement::sum : detail::statement::difference), b};
    return count_++;
  }
  DRX_FN std::uint32_t push(std::uint32_t a, std::uint32_t b, const T& by_a, const T& by_b) {
    if (count_ >= limit_) [[unlikely]]
      return overflow(1);
    words_[count_] = {a, b};
    std::construct_at(top_, by_a);
    std::construct_at(top_ + 1, by_b);
    top_ += 2;
    return count_++;
  }
  DRX_FN std::uint32_t push(std::uint32_t a, std::uint32_t b, std::uint32_t c, const T& by_a, const T& by_b,
                            const T& by_c) {
    if (limit_ - count_ < 2) [[unlikely]]
      return overflow(2);
    words_[count_] = {b, c};
    words_[count_ + 1] = {a, detail::statement::ternary};
    std::construct_at(top_, by_a);
    std::construct_at(top_ + 1, by_b);
    std::construct_at(top_ + 2, by_c);
    top_ += 3;
    count_ += 2;
    return count_ - 1;
  }
  struct wide_room {
    T* values;
    std::uint32_t* numbers;
    std::uint32_t first_result;
  };
  DRX_FN wide_room push_wide(const detail::wide_header& h, std::size_t results, std::size_t values,
                             std::size_t numbers) {
    const std::size_t slots = wide_slots(values, numbers), taken = results + (slots + 1) / 2;
    if (limit_ - count_ < taken) return {nullptr, nullptr, overflow(taken)};
    std::memcpy(static_cast<void*>(top_), &h, sizeof(h));
    const wide_room room{top_ + header_slots, reinterpret_cast<std::uint32_t*>(top_ + header_slots + values), count_};
    top_ += slots;
    limit_ -= static_cast<std::uint32_t>((slots + 1) / 2);
    for (std::size_t i = 0; i + 1 < results; ++i) words_[count_++] = {0, detail::statement::leaf};
    words_[count_++] = {static_cast<std::uint32_t>(slots), detail::statement::wide};
    return room;
  }
  [[nodiscard]] DRX_FN T* wide_values(std::size_t results, std::size_t values, std::size_t numbers) const {
    return limit_ - count_ < results + (wide_slots(values, numbers) + 1) / 2 ? nullptr : top_ + header_slots;
  }
  template <class U>
  DRX_FN U* reserve(std::size_t n) {
    static_assert(std::is_trivially_copyable_v<U>);
    constexpr std::size_t padding = alignof(U) > alignof(T) ? alignof(U) - alignof(T) : 0;
    const std::size_t slots = slots_of(n * sizeof(U) + padding), taken = (slots + 1) / 2;
    if (limit_ - count_ < taken) {
      overflow(taken);
      return nullptr;
    }
    const auto at = reinterpret_cast<std::uintptr_t>(top_);
    U* const room =
        reinterpret_cast<U*>(reinterpret_cast<std::byte*>(top_) + (alignof(U) - at % alignof(U)) % alignof(U));
    top_ += slots;
    limit_ -= static_cast<std::uint32_t>(taken);
    return room;
  }

  [[nodiscard]] DRX_FN mark now() const { return {count_, limit_, top_}; }
  DRX_FN void rewind(const mark& to) {
    if (lost_ > most_lost_) most_lost_ = lost_;
    lost_ = 0;
    count_ = to.count;
    limit_ = to.limit;
    top_ = to.top;
  }
  [[nodiscard]] DRX_FN std::size_t needed() const { return capacity_ + (lost_ > most_lost_ ? lost_ : most_lost_); }
  DRX_FN void require_complete() const {
    if (needed() == capacity_) return;
#if defined(__CUDA_ARCH__)
    __trap();
#elif defined(__HIP_DEVICE_COMPILE__)
    abort();
#else
    throw tape_overflow(capacity_, needed(), bytes_for(needed()));
#endif
  }

  DRX_FN void clear(std::uint32_t from = 0) {
    for (std::uint32_t i = from; i < count_; ++i) std::construct_at(cotangents_ + i);
  }
  [[nodiscard]] DRX_FN T& cotangent(std::uint32_t i) { return cotangents_[i]; }

  DRX_FN void sweep(std::uint32_t to = 0) {
    using detail::statement;
    if (count_ <= to) return;
    T* const ct = cotangents_;
    const T* p = top_;
    const statement* word = words_ + count_;
    const statement* const end = words_ + to;
    T* before = ct + (count_ - 1);
    T g = *before;
    do {
      const statement s = *--word;
      T next = *--before;
      const auto add = [&](std::uint32_t at, const T& term) {
        T* const place = ct + at;
        const T sum = *place + term;
        *place = sum;
        if (place == before) next = sum;
      };
      if (s.b < statement::marks && s.a < statement::sum) {
        p -= 2;
        if (!detail::all_zero(g)) {
          add(s.a, detail::pulled(g, p[0]));
          add(s.b, detail::pulled(g, p[1]));
        }
      } else if (s.b < statement::marks) {
        add(s.a & (statement::most - 1), g);
        add(s.b, s.a < statement::difference ? g : -g);
      } else if (s.b == statement::unary) {
        p -= 1;
        if (!detail::all_zero(g)) add(s.a, detail::pulled(g, p[0]));
      } else if (s.b == statement::ternary) {
        p -= 3;
        const statement t = *--word;
        --before;
        if (!detail::all_zero(g)) {
          ct[s.a] += detail::pulled(g, p[0]);
          ct[t.a] += detail::pulled(g, p[1]);
          ct[t.b] += detail::pulled(g, p[2]);
        }
        next = *before;
      } else if (s.b == statement::same) {
        add(s.a, g);
      } else if (s.b == statement::negated) {
        add(s.a, -g);
      } else if (s.b == statement::wide) {
        p -= s.a;
        sweep_wide(p, static_cast<std::uint32_t>(word - words_));
        next = *before;
      } else if (s.b == statement::lanes) {
        if constexpr (lane_count<T> > 1) add(s.a, static_cast<T>(sum_of_lanes(g)));
      }
      g = next;
    } while (word != end);
  }

 private:
  static constexpr std::size_t slots_of(std::size_t bytes) { return (bytes + sizeof(T) - 1) / sizeof(T); }
  static constexpr std::size_t header_slots = slots_of(sizeof(detail::wide_header));
  static constexpr std::size_t wide_slots(std::size_t values, std::size_t numbers) {
    return header_slots + values + slots_of(numbers * sizeof(std::uint32_t));
  }

  DRX_FN __attribute__((noinline)) std::uint32_t overflow(std::size_t statements) {
    limit_ = count_;
    lost_ += statements;
    return 0;
  }

  DRX_FN T* place(const detail::wide_operand& o, const std::uint32_t* list, std::size_t i) const {
    const std::uint32_t at =
        o.form == detail::wide_operand::contiguous ? o.first + static_cast<std::uint32_t>(i) : list[i];
    return at == detail::statement::none ? nullptr : cotangents_ + at;
  }
  template <class Term>
  DRX_FN void scatter(const detail::wide_operand& o, const std::uint32_t* list, std::size_t n, Term term) {
    if (o.form == detail::wide_operand::contiguous) {
      T* const to = cotangents_ + o.first;
      for (std::size_t i = 0; i < n; ++i) to[i] += term(i);
    } else if (o.form == detail::wide_operand::listed) {
      for (std::size_t i = 0; i < n; ++i)
        if (list[i] != detail::statement::none) cotangents_[list[i]] += term(i);
    }
  }
  DRX_FN void sweep_wide(const T* p, std::uint32_t last) {
    using detail::wide_header, detail::wide_operand;
    wide_header h;
    std::memcpy(static_cast<void*>(&h), p, sizeof(h));
    p += header_slots;
    const auto list_of = [](const T* at) { return reinterpret_cast<const std::uint32_t*>(at); };
    if (h.what == wide_header::linear) {
      const T g = cotangents_[last];
      if (detail::all_zero(g)) return;
      if (h.a.form == wide_operand::contiguous && h.b.form == wide_operand::contiguous) {
        T *const a = cotangents_ + h.a.first, *const b = cotangents_ + h.b.first;
        for (std::size_t i = 0; i < h.m; ++i) {
          a[i] += detail::pulled(g, p[i]);
          b[i] += detail::pulled(g, p[h.m + i]);
        }
        return;
      }
      const std::uint32_t* list = list_of(p + h.m + h.k);
      scatter(h.a, list, h.m, [&](std::size_t i) { return detail::pulled(g, p[i]); });
      if (h.a.form == wide_operand::listed) list += h.m;
      scatter(h.b, list, h.k, [&](std::size_t i) { return detail::pulled(g, p[h.m + i]); });
    } else if (h.what == wide_header::total) {
      const T g = cotangents_[last];
      scatter(h.a, list_of(p), h.m, [&](std::size_t) { return g; });
    } else if (h.what == wide_header::axpy) {
      const T* g = cotangents_ + (last + 1 - h.m);
      const T s = p[0];
      const bool moving = h.n != detail::statement::none;
      const std::uint32_t* list = list_of(p + 1 + (moving ? h.m : 0));
      T by_s{};
      if (moving)
        for (std::size_t i = 0; i < h.m; ++i) by_s += g[i] * p[1 + i];
      scatter(h.a, list, h.m, [&](std::size_t i) { return g[i] * s; });
      if (h.a.form == wide_operand::listed) list += h.m;
      scatter(h.b, list, h.m, [&](std::size_t i) { return g[i]; });
      if (moving) cotangents_[h.n] += by_s;
    } else if (h.what == wide_header::lower) {
      sweep_lower(h, p, cotangents_ + (last + 1 - h.m));
    } else {
      const std::size_t m = h.m, k = h.k, n = h.n;
      const T* g = cotangents_ + (last + 1 - m * n);
      const T* a = p;
      const T* b = p + (h.b.form == wide_operand::passive ? 0 : m * k);
      const std::uint32_t* list = list_of(b + (h.a.form == wide_operand::passive ? 0 : k * n));
      if (h.a.form != wide_operand::passive) {
        scatter(h.a, list, m * k, [&](std::size_t at) {
          const T* row = g + at / k * n;
          const T* other = b + at % k * n;
          T sum{};
          for (std::size_t j = 0; j < n; ++j) sum += row[j] * other[j];
          return sum;
        });
        if (h.a.form == wide_operand::listed) list += m * k;
      }
      if (h.b.form == wide_operand::contiguous) {
        T* const to = cotangents_ + h.b.first;
        for (std::size_t i = 0; i < m; ++i)
          for (std::size_t l = 0; l < k; ++l)
            for (std::size_t j = 0; j < n; ++j) to[l * n + j] += a[i * k + l] * g[i * n + j];
      } else if (h.b.form == wide_operand::listed) {
        scatter(h.b, list, k * n, [&](std::size_t at) {
          T sum{};
          for (std::size_t i = 0; i < m; ++i) sum += a[i * k + at / n] * g[i * n + at % n];
          return sum;
        });
      }
    }
  }

  DRX_FN void sweep_lower(const detail::wide_header& h, const T* p, const T* g) {
    using detail::wide_operand;
    const std::size_t m = h.m, n = m * (m + 1) / 2;
    const T* x = p;
    const T* a = p + (h.a.form == wide_operand::passive ? 0 : m);
    const auto* of_a = reinterpret_cast<const std::uint32_t*>(a + (h.b.form == wide_operand::passive ? 0 : n));
    const std::uint32_t* of_x = of_a + (h.a.form == wide_operand::listed ? n : 0);
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t first = i * (i + 1) / 2;
      const T gi = g[i];
      if (h.a.form == wide_operand::contiguous) {
        T* const to = cotangents_ + h.a.first + first;
        for (std::size_t j = 0; j <= i; ++j) to[j] += gi * x[j];
      } else if (h.a.form == wide_operand::listed) {
        for (std::size_t j = 0; j <= i; ++j)
          if (of_a[first + j] != detail::statement::none) cotangents_[of_a[first + j]] += gi * x[j];
      }
      scatter(h.b, of_x, h.b.form == wide_operand::passive ? 0 : i + 1,
              [&](std::size_t j) { return gi * a[first + j]; });
    }
  }

  T* cotangents_ = nullptr;
  T* top_ = nullptr;
  detail::statement* words_ = nullptr;
  std::uint32_t count_ = 0, limit_ = 0, capacity_ = 0;
  std::size_t lost_ = 0, most_lost_ = 0;
};

}

namespace drx::ad {

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

template <class T>
DRX_FN var<T> variable(recording<T>& on, const std::type_identity_t<T>& x) {
  return {x, &on, on.leaf()};
}
template <class T>
DRX_FN T cotangent(const var<T>& x) {
  return x.tape ? x.tape->cotangent(x.index) : T{};
}
template <class T>
DRX_FN void add_cotangent(const var<T>& x, const std::type_identity_t<T>& g) {
  if (x.tape) x.tape->cotangent(x.index) += g;
}

namespace detail {

typedef std::uint64_t __attribute__((may_alias)) word;
template <class T>
inline constexpr bool of_three_words =
    std::endian::native == std::endian::little && std::is_same_v<T, double> && sizeof(var<T>) == 3 * sizeof(word) &&
    offsetof(var<double>, tape) == sizeof(word) && offsetof(var<double>, index) == 2 * sizeof(word);

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
                ((words[3 * i + 2] ^ (first + i)) & ~std::uint32_t{0});
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      std::construct_at(to + i, x[i].value);
      others |= static_cast<word>(x[i].index ^ (x->index + static_cast<std::uint32_t>(i))) | (x[i].tape != x->tape);
    }
  }
  return others == 0;
}

}

template <class T, std::size_t Capacity>
class local_tape : public recording<T> {
 public:
  DRX_FN local_tape() : recording<T>(std::span<std::byte>(memory_, sizeof(memory_))) {}

 private:
  alignas(T) std::byte memory_[recording<T>::bytes_for(Capacity)];
};

}

namespace drx::ad {

namespace detail {

template <class X>
using element_of = std::remove_cvref_t<decltype(std::declval<const X&>()[0])>;
template <class X>
concept Numbers = !Number<X> && requires(const X& x) {
  x.size();
  x[0];
} && Number<element_of<X>>;
template <class X>
inline constexpr bool is_var = false;
template <class T>
inline constexpr bool is_var<var<T>> = true;
template <class A, class B>
concept Recorded = (is_var<A> && (std::same_as<A, B> || Below<B, A>)) || (is_var<B> && Below<A, B>);

template <class X>
DRX_FN constexpr std::size_t count_of(const X& x) {
  return static_cast<std::size_t>(x.size());
}
template <class X>
DRX_FN constexpr const auto& at(const X& x, std::size_t i) {
  return x[static_cast<std::remove_cvref_t<decltype(x.size())>>(i)];
}

template <class X>
DRX_FN constexpr std::uint32_t number_of(const X& x) {
  if constexpr (is_var<X>) {
    if (x.tape) return x.index;
  }
  return statement::none;
}
template <class X>
DRX_FN constexpr void find_tape(const X& x, auto*& tape) {
  if constexpr (is_var<X>) {
    if (x.tape) tape = x.tape;
  }
}
template <class Get, class Tape>
DRX_FN constexpr wide_operand classify(std::size_t n, Get get, Tape*& tape) {
  wide_operand o;
  if (n == 0) return o;
  const std::uint32_t first = number_of(get(0));
  if constexpr (is_var<std::remove_cvref_t<decltype(get(0))>>) {
    if (first != statement::none) {
      Tape* const on = get(0).tape;
      std::size_t others = 0;
      for (std::size_t i = 0; i < n; ++i)
        others |=
            static_cast<std::size_t>(get(i).index ^ (first + static_cast<std::uint32_t>(i))) | (get(i).tape != on);
      if (others == 0) {
        tape = on;
        return {wide_operand::contiguous, first};
      }
    }
  }
  bool passive = true, contiguous = first != statement::none;
  for (std::size_t i = 0; i < n; ++i) {
    const auto& x = get(i);
    const std::uint32_t number = number_of(x);
    passive = passive && number == statement::none;
    contiguous = contiguous && number == first + i;
    find_tape(x, tape);
  }
  o.form = passive ? wide_operand::passive : contiguous ? wide_operand::contiguous : wide_operand::listed;
  o.first = first;
  return o;
}
template <class Get>
DRX_FN constexpr void list_numbers(const wide_operand& o, std::uint32_t*& to, std::size_t n, Get get) {
  if (o.form != wide_operand::listed) return;
  for (std::size_t i = 0; i < n; ++i) *to++ = number_of(get(i));
}
DRX_FN constexpr std::size_t listed(const wide_operand& o, std::size_t n) {
  return o.form == wide_operand::listed ? n : 0;
}

template <class T, class Term>
DRX_FN constexpr T sum_in_lanes(std::size_t first, std::size_t n, const Term& term) {
  if constexpr (std::is_floating_point_v<T>) {
    if (n < 16) {
      T sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += term(first + i);
      return sum;
    }
    T lane[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (std::size_t l = 0; l < 8; ++l) lane[l] += term(first + i + l);
    for (std::size_t l = 0; i + l < n; ++l) lane[l] += term(first + i + l);
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  } else {
    T sum(real_t<T>(0));
    for (std::size_t i = 0; i < n; ++i) sum = sum + term(first + i);
    return sum;
  }
}
inline constexpr std::size_t longest_sum = 2048;
template <class T, class Term>
DRX_FN constexpr T sum_by_halves(std::size_t first, std::size_t n, const Term& term) {
  if (n <= longest_sum) return sum_in_lanes<T>(first, n, term);
  const std::size_t half = n / 16 * 8;
  return sum_by_halves<T>(first, half, term) + sum_by_halves<T>(first + half, n - half, term);
}
template <class T, class Term>
DRX_FN constexpr T sum_of(std::size_t n, Term term) {
  return n <= longest_sum ? sum_in_lanes<T>(0, n, term) : sum_by_halves<T>(0, n, term);
}

template <class X, class Y, class S>
DRX_FN constexpr bool dot_in_order(const X& x, const Y& y, std::size_t n, S& z) {
  using T = typename S::value_type;
  if (n == 0 || (std::is_floating_point_v<T> && n >= 16)) return false;
  const S &a = at(x, 0), &b = at(y, 0), &last_a = at(x, n - 1), &last_b = at(y, n - 1);
  recording<T>* const tape = a.tape;
  if (!tape || last_a.index - a.index != n - 1 || last_b.index - b.index != n - 1) return false;
  T* const values = tape->wide_values(1, 2 * n, 0);
  if (!values) return false;
  T sum(real_t<T>(0));
  bool in_order = true;
  for (std::size_t i = 0; i < n; ++i) {
    const S &p = at(x, i), &q = at(y, i);
    in_order = in_order & (p.tape == tape) & (q.tape == tape) & (p.index == a.index + i) & (q.index == b.index + i);
    std::construct_at(values + i, q.value);
    std::construct_at(values + n + i, p.value);
    sum = sum + p.value * q.value;
  }
  if (!in_order) return false;
  const auto count = static_cast<std::uint32_t>(n);
  const wide_header h{
      wide_header::linear, count, count, 0, {wide_operand::contiguous, a.index}, {wide_operand::contiguous, b.index}};
  z = S(sum, tape, tape->push_wide(h, 1, 2 * n, 0).first_result);
  return true;
}

template <class S, class X>
DRX_FN constexpr decltype(auto) value_in(const X& x) {
  if constexpr (std::is_same_v<X, S>) {
    return (x.value);
  } else {
    return typename S::value_type(x);
  }
}
}

template <detail::Numbers X>
DRX_FN constexpr auto sum(const X& x) {
  using S = detail::element_of<X>;
  const std::size_t n = detail::count_of(x);
  if constexpr (detail::is_var<S>) {
    using T = typename S::value_type;
    const T y = detail::sum_of<T>(n, [&](std::size_t i) { return detail::at(x, i).value; });
    recording<T>* tape = nullptr;
    const auto get = [&](std::size_t i) -> const S& { return detail::at(x, i); };
    detail::wide_header h{
        detail::wide_header::total, static_cast<std::uint32_t>(n), 0, 0, detail::classify(n, get, tape), {}};
    if (!tape) return S(y);
    auto room = tape->push_wide(h, 1, 0, detail::listed(h.a, n));
    if (room.values) detail::list_numbers(h.a, room.numbers, n, get);
    return S(y, tape, room.first_result);
  } else {
    return detail::sum_of<detail::floating_t<S>>(n, [&](std::size_t i) { return detail::at(x, i); });
  }
}

template <detail::Numbers X, detail::Numbers Y>
DRX_FN constexpr auto dot(const X& x, const Y& y) {
  using A = detail::element_of<X>;
  using B = detail::element_of<Y>;
  const std::size_t n = detail::count_of(x);
  if constexpr (detail::Recorded<A, B>) {
    using S = detail::higher_t<A, B>;
    using T = typename S::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<S>(v); };
    if constexpr (std::is_same_v<A, B>) {
      S in_order;
      if (detail::dot_in_order(x, y, n, in_order)) return in_order;
    }
    const T z = detail::sum_of<T>(n, [&](std::size_t i) { return value(detail::at(x, i)) * value(detail::at(y, i)); });
    recording<T>* tape = nullptr;
    const auto get_x = [&](std::size_t i) -> const A& { return detail::at(x, i); };
    const auto get_y = [&](std::size_t i) -> const B& { return detail::at(y, i); };
    detail::wide_header h;
    h.a = detail::classify(n, get_x, tape);
    h.b = detail::classify(n, get_y, tape);
    if (!tape) return S(z);
    if (h.a.form != detail::wide_operand::passive) h.m = static_cast<std::uint32_t>(n);
    if (h.b.form != detail::wide_operand::passive) h.k = static_cast<std::uint32_t>(n);
    auto room = tape->push_wide(h, 1, h.m + h.k, detail::listed(h.a, n) + detail::listed(h.b, n));
    if (room.values) {
      for (std::size_t i = 0; i < h.m; ++i) std::construct_at(room.values + i, value(detail::at(y, i)));
      for (std::size_t i = 0; i < h.k; ++i) std::construct_at(room.values + h.m + i, value(detail::at(x, i)));
      detail::list_numbers(h.a, room.numbers, n, get_x);
      detail::list_numbers(h.b, room.numbers, n, get_y);
    }
    return S(z, tape, room.first_result);
  } else {
    using S = detail::floating_t<std::remove_cvref_t<decltype(detail::at(x, 0) * detail::at(y, 0))>>;
    return detail::sum_of<S>(n, [&](std::size_t i) { return detail::at(x, i) * detail::at(y, i); });
  }
}

template <class S, detail::Numbers X, class Y>
  requires(Number<S> && detail::Numbers<std::remove_cvref_t<Y>>)
DRX_FN constexpr void axpy(const S s, const X& x, Y&& y) {
  using V = detail::element_of<std::remove_cvref_t<Y>>;
  using A = detail::element_of<X>;
  const std::size_t n = detail::count_of(y);
  if constexpr (detail::is_var<V> && (std::same_as<A, V> || Below<A, V>) && (std::same_as<S, V> || Below<S, V>)) {
    using T = typename V::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<V>(v); };
    recording<T>* tape = nullptr;
    detail::find_tape(s, tape);
    const auto get_x = [&](std::size_t i) -> const A& { return detail::at(x, i); };
    const auto get_y = [&](std::size_t i) -> const V& { return detail::at(y, i); };
    const detail::wide_header h{
        detail::wide_header::axpy, static_cast<std::uint32_t>(n),    0,
        detail::number_of(s),      detail::classify(n, get_x, tape), detail::classify(n, get_y, tape)};
    typename recording<T>::wide_room room{};
    if (tape && n > 0) {
      const bool moving = h.n != detail::statement::none;
      room = tape->push_wide(h, n, 1 + (moving ? n : 0), detail::listed(h.a, n) + detail::listed(h.b, n));
      if (room.values) {
        std::construct_at(room.values, value(s));
        for (std::size_t i = 0; moving && i < n; ++i) std::construct_at(room.values + 1 + i, value(detail::at(x, i)));
        detail::list_numbers(h.a, room.numbers, n, get_x);
        detail::list_numbers(h.b, room.numbers, n, get_y);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      V& to = const_cast<V&>(detail::at(y, i));
      to = V(to.value + value(s) * value(detail::at(x, i)), tape,
             room.first_result + (room.values ? static_cast<std::uint32_t>(i) : 0));
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      auto& to = const_cast<V&>(detail::at(y, i));
      to = to + s * detail::at(x, i);
    }
  }
}

namespace detail {
template <class S, class GetA, class GetB, class GetC>
DRX_FN constexpr void matmul(std::size_t m, std::size_t k, std::size_t n, GetA a, GetB b, GetC c) {
  using A = std::remove_cvref_t<decltype(a(0))>;
  using B = std::remove_cvref_t<decltype(b(0))>;
  if constexpr (is_var<S> && Recorded<A, B>) {
    using T = typename S::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<S>(v); };
    recording<T>* tape = nullptr;
    const wide_header h{wide_header::product,          static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(k),
                        static_cast<std::uint32_t>(n), classify(m * k, a, tape),      classify(k * n, b, tape)};
    typename recording<T>::wide_room room{};
    const bool recorded = tape && m * k * n > 0;
    if (recorded) {
      const std::size_t for_b = h.b.form == wide_operand::passive ? 0 : m * k,
                        for_a = h.a.form == wide_operand::passive ? 0 : k * n;
      room = tape->push_wide(h, m * n, for_a + for_b, listed(h.a, m * k) + listed(h.b, k * n));
      if (room.values) {
        for (std::size_t i = 0; i < for_b; ++i) std::construct_at(room.values + i, value(a(i)));
        for (std::size_t i = 0; i < for_a; ++i) std::construct_at(room.values + for_b + i, value(b(i)));
        list_numbers(h.a, room.numbers, m * k, a);
        list_numbers(h.b, room.numbers, k * n, b);
      }
    }
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        T sum(real_t<T>(0));
        for (std::size_t l = 0; l < k; ++l) sum = sum + value(a(i * k + l)) * value(b(l * n + j));
        const std::size_t at = i * n + j;
        c(at) =
            recorded ? S(sum, tape, room.first_result + (room.values ? static_cast<std::uint32_t>(at) : 0)) : S(sum);
      }
  } else {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        S sum(real_t<S>(0));
        for (std::size_t l = 0; l < k; ++l) sum = sum + a(i * k + l) * b(l * n + j);
        c(i * n + j) = sum;
      }
  }
}
}

namespace detail {
template <class S>
inline constexpr bool is_plain_dual = false;
template <class T, int N>
inline constexpr bool is_plain_dual<dual<T, N>> = std::is_floating_point_v<T>;
template <class A, class B, class C>
concept constants_in_memory =
    is_plain_dual<element_of<B>> && std::same_as<element_of<std::remove_cvref_t<C>>, element_of<B>> &&
    std::same_as<element_of<A>, real_t<element_of<B>>> && requires(const A& a, const B& b, C&& c) {
      { a.data() } -> std::convertible_to<const element_of<A>*>;
      { b.data() } -> std::convertible_to<const element_of<B>*>;
      { c.data() } -> std::convertible_to<element_of<B>*>;
    };
}

template <std::size_t M, std::size_t K, std::size_t N, detail::Numbers A, detail::Numbers B, class C>
DRX_FN constexpr void matmul(const A& a, const B& b, C&& c) {
  using S = detail::element_of<std::remove_cvref_t<C>>;
#if !defined(__CUDACC__) && !defined(__HIPCC__)
  if constexpr (detail::constants_in_memory<A, B, C>) {
    using kernel = detail::constants_times_duals<M, K, N, typename S::value_type, S::directions>;
    if constexpr (kernel::applies) {
      if (!std::is_constant_evaluated()) return kernel::run(a.data(), b.data(), c.data());
    }
  }
#endif
  detail::matmul<S>(
      M, K, N, [&](std::size_t i) -> const auto& { return detail::at(a, i); },
      [&](std::size_t i) -> const auto& { return detail::at(b, i); },
      [&](std::size_t i) -> S& { return const_cast<S&>(detail::at(c, i)); });
}

template <std::size_t N, detail::Numbers A, detail::Numbers X, class Y>
DRX_FN constexpr void lower_matmul(const A& a, const X& x, Y&& y) {
  using S = detail::element_of<std::remove_cvref_t<Y>>;
  using P = detail::element_of<A>;
  using Q = detail::element_of<X>;
  constexpr std::size_t size = N * (N + 1) / 2;
  if constexpr (detail::is_var<S> && detail::Recorded<P, Q>) {
    using T = typename S::value_type;
    const auto value = [](const auto& v) -> decltype(auto) { return detail::value_in<S>(v); };
    recording<T>* tape = nullptr;
    const auto get_a = [&](std::size_t i) -> const P& { return detail::at(a, i); };
    const auto get_x = [&](std::size_t i) -> const Q& { return detail::at(x, i); };
    const detail::wide_header h{detail::wide_header::lower,      N, 0, 0, detail::classify(size, get_a, tape),
                                detail::classify(N, get_x, tape)};
    std::array<T, N> column;
    for (std::size_t j = 0; j < N; ++j) column[j] = value(get_x(j));
    typename recording<T>::wide_room room{};
    const std::size_t of_a = h.b.form == detail::wide_operand::passive ? 0 : size,
                      of_x = h.a.form == detail::wide_operand::passive ? 0 : N;
    if (tape) {
      room = tape->push_wide(h, N, of_x + of_a, detail::listed(h.a, size) + detail::listed(h.b, N));
      if (room.values) {
        for (std::size_t j = 0; j < of_x; ++j) std::construct_at(room.values + j, column[j]);
        detail::list_numbers(h.a, room.numbers, size, get_a);
        detail::list_numbers(h.b, room.numbers, N, get_x);
      }
    }
    T* kept = room.values && of_a > 0 ? room.values + of_x : nullptr;
    for (std::size_t i = 0; i < N; ++i) {
      T sum(real_t<T>(0));
      for (std::size_t j = 0; j <= i; ++j) {
        const T v = value(get_a(i * (i + 1) / 2 + j));
        if (kept) std::construct_at(kept++, v);
        sum = sum + v * column[j];
      }
      const_cast<S&>(detail::at(y, i)) =
          S(sum, tape, room.first_result + (room.values ? static_cast<std::uint32_t>(i) : 0));
    }
  } else {
    for (std::size_t i = 0; i < N; ++i) {
      S sum(real_t<S>(0));
      for (std::size_t j = 0; j <= i; ++j) sum = sum + detail::at(a, i * (i + 1) / 2 + j) * detail::at(x, j);
      const_cast<S&>(detail::at(y, i)) = sum;
    }
  }
}

}

#include <iterator>

namespace drx::ad {

namespace detail {

template <class P, class T, class Value, std::size_t... Chain>
DRX_FN constexpr T product_of(std::size_t n, Value value, T* others, std::index_sequence<Chain...>) {
  constexpr std::size_t width = sizeof(P) / sizeof(T), lanes = width * sizeof...(Chain);
  const auto get = [](const T& from) {
    if constexpr (width == 1) {
      return P(from);
    } else {
      P p;
      __builtin_memcpy(&p, &from, sizeof(P));
      return p;
    }
  };
  const auto put = [](T* to, const P& p) {
    if constexpr (width == 1) {
      std::construct_at(to, p);
    } else {
      __builtin_memcpy(to, &p, sizeof(P));
    }
  };
  const auto ones = [](std::size_t) {
    if constexpr (width == 1) {
      return P(real_t<T>(1));
    } else {
      return T(1) - P{};
    }
  };
  const T one(real_t<T>(1));
  const std::size_t rows = n / lanes * lanes;
  P before[] = {ones(Chain)...};
  for (std::size_t r = 0; r < rows; r += lanes) {
    if (others) (put(others + r + Chain * width, before[Chain]), ...);
    ((before[Chain] = before[Chain] * get(value(r + Chain * width))), ...);
  }
  T lane[lanes] = {}, rest(one);
  (put(lane + Chain * width, before[Chain]), ...);
  for (std::size_t i = rows; i < n; ++i) {
    if (others) std::construct_at(others + i, rest);
    rest = rest * value(i);
  }
  T elsewhere[lanes] = {}, left(one), right(rest);
  for (std::size_t l = 0; l < lanes; left = left * lane[l++]) elsewhere[l] = left;
  if (!others) return left * rest;
  for (std::size_t l = lanes; l-- > 0; right = right * lane[l]) elsewhere[l] = elsewhere[l] * right;
  for (std::size_t i = n; i-- > rows; left = left * value(i)) others[i] = others[i] * left;
  P behind[] = {get(elsewhere[Chain * width])...};
  for (std::size_t r = rows; r > 0;) {
    r -= lanes;
    const P other[] = {get(others[r + Chain * width]) * behind[Chain]...};
    ((behind[Chain] = behind[Chain] * get(value(r + Chain * width))), ...);
    (put(others + r + Chain * width, other[Chain]), ...);
  }
  return right;
}
template <class T, class Value>
DRX_FN constexpr T product_of(std::size_t n, Value value, T* others) {
  return product_of<T>(n, value, others, std::make_index_sequence<std::is_floating_point_v<T> ? 8 : 1>{});
}
template <class T>
DRX_FN T product_of_row(std::size_t n, const T* values, T* others) {
  const auto value = [values](std::size_t i) -> const T& { return values[i]; };
#if !defined(__CUDACC__) && !defined(__HIPCC__)
  constexpr std::size_t width = native_width<T>;
  typedef T native __attribute__((vector_size(sizeof(T) * width)));
  return product_of<native>(n, value, others, std::make_index_sequence<(width < 8 ? 16 / width : 2)>{});
#else
  return product_of<T>(n, value, others);
#endif
}

template <class X, class S>
DRX_FN constexpr bool product_in_order([[maybe_unused]] const X& x, [[maybe_unused]] std::size_t n,
                                       [[maybe_unused]] S& y) {
  using T = typename S::value_type;
  if constexpr (std::is_floating_point_v<T> && requires { requires std::contiguous_iterator<decltype(x.begin())>; }) {
    const S* const first = n > 0 ? &at(x, 0) : nullptr;
    T* const others = first && first->tape ? first->tape->wide_values(1, 2 * n, 0) : nullptr;
    if (!others) return false;
    T* const values = others + n;
    if (!values_in_order(values, first, n)) return false;
    const T product = product_of_row<T>(n, values, others);
    const wide_header h{
        wide_header::linear, static_cast<std::uint32_t>(n), 0, 0, {wide_operand::contiguous, first->index}, {}};
    y = S(product, first->tape, first->tape->push_wide(h, 1, n, 0).first_result);
    return true;
  }
  return false;
}
}

template <detail::Numbers X>
DRX_FN constexpr auto prod(const X& x) {
  using S = detail::element_of<X>;
  const std::size_t n = detail::count_of(x);
  if constexpr (detail::is_var<S>) {
    using T = typename S::value_type;
    S in_order;
    if (detail::product_in_order(x, n, in_order)) return in_order;
    recording<T>* tape = nullptr;
    const auto get = [&](std::size_t i) -> const S& { return detail::at(x, i); };
    const auto value = [&](std::size_t i) -> const T& { return detail::at(x, i).value; };
    detail::wide_header h{
        detail::wide_header::linear, static_cast<std::uint32_t>(n), 0, 0, detail::classify(n, get, tape), {}};
    if (!tape) return S(detail::product_of<T>(n, value, nullptr));
    auto room = tape->push_wide(h, 1, n, detail::listed(h.a, n));
    if (room.values) detail::list_numbers(h.a, room.numbers, n, get);
    return S(detail::product_of<T>(n, value, room.values), tape, room.first_result);
  } else {
    using T = detail::floating_t<S>;
    return detail::product_of<T>(n, [&](std::size_t i) { return T(detail::at(x, i)); }, static_cast<T*>(nullptr));
  }
}

}

namespace drx::ad {

enum class mode { automatic, forward, reverse };
inline constexpr mode forward = mode::forward, reverse = mode::reverse;

template <class V, class G>
struct value_and_gradient_result {
  V value;
  G gradient;
};
template <class V, class J>
struct value_and_jacobian_result {
  V value;
  J jacobian;
};
template <class V>
struct directional_result {
  V value, derivative;
};
template <class G>
struct hessian_vector_result {
  G gradient, product;
};

namespace detail {

inline constexpr std::size_t stack_bytes = 128 * 1024;
struct on_stack {};

template <class T, class F>
decltype(auto) with_tape(const on_stack&, F f) {
  local_tape<T, stack_bytes / recording<T>::bytes_per_statement> tape;
  return f(static_cast<recording<T>&>(tape));
}
template <class T, class F>
decltype(auto) with_tape(const arena& memory, F f) {
  recording<T> tape(memory.memory());
  return f(tape);
}
template <class T, class F>
decltype(auto) with_tape(std::span<std::byte> memory, F f) {
  recording<T> tape(memory);
  return f(tape);
}

template <class X>
inline constexpr std::size_t static_size = std::dynamic_extent;
template <class T, std::size_t N>
inline constexpr std::size_t static_size<std::array<T, N>> = N;

template <class X, class S>
struct with_elements {
  using type = std::span<const S>;
};
template <class T, std::size_t N, class S>
struct with_elements<std::array<T, N>, S> {
  using type = std::array<S, N>;
};

template <class F, class X>
using base_over = higher_t<floating_t<element_of<X>>, seen_by<F, typename with_elements<X, element_of<X>>::type>>;

template <class T, class X>
constexpr auto gradient_like(const X& x) {
  if constexpr (static_size<X> != std::dynamic_extent) {
    return std::array<T, static_size<X>>{};
  } else {
    return std::vector<T>(count_of(x));
  }
}

template <class S, std::size_t N, class Make>
  requires(N <= 32)
DRX_FN constexpr std::array<S, N> array_of(Make make) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<S, N>{make(I)...};
  }(std::make_index_sequence<N>{});
}
template <class S, std::size_t N, class Make>
DRX_FN constexpr std::array<S, N> array_of(Make make) {
  std::array<S, N> a;
  for (std::size_t i = 0; i < N; ++i) a[i] = make(i);
  return a;
}
template <class S, class X, class Make, class Storage>
DRX_FN constexpr auto inputs_of(const X& x, Make make, [[maybe_unused]] Storage storage) {
  if constexpr (static_size<X> != std::dynamic_extent) {
    return array_of<S, static_size<X>>(make);
  } else {
    const std::span<S> in = storage(count_of(x));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = make(i);
    return std::span<const S>(in);
  }
}

template <class S, class X>
constexpr S seeded(const X& x, std::size_t i, std::size_t first) {
  using T = typename S::value_type;
  if (i < first || i >= first + static_cast<std::size_t>(S::directions)) return S(T(at(x, i)));
  return S::variable(T(at(x, i)), static_cast<int>(i - first));
}

template <class F, class X, class G>
auto gradient_by_dual(const F& f, const X& x, G& g) {
  using T = base_over<F, X>;
  constexpr std::size_t n = static_size<X>;
  constexpr int width = n == std::dynamic_extent ? 8 : static_cast<int>(n < 1 ? 1 : n <= 16 ? n : 8);
  using S = dual<T, width>;
  using Y = std::remove_cvref_t<decltype(f(std::declval<typename with_elements<X, S>::type>()))>;
  T y{};
  std::vector<S> kept;
  for (std::size_t first = 0; first == 0 || first < count_of(x); first += static_cast<std::size_t>(width)) {
    const auto in = inputs_of<S>(
        x, [&](std::size_t i) { return seeded<S>(x, i, first); },
        [&](std::size_t size) { return kept.resize(size), std::span<S>(kept); });
    const Y r = f(in);
    if constexpr (std::is_same_v<Y, S>) {
      y = r.value;
    } else {
      y = T(r);
    }
    for (std::size_t i = first; i < count_of(x) && i < first + static_cast<std::size_t>(width); ++i)
      g[i] = tangent_of<S>(r, static_cast<int>(i - first));
  }
  return y;
}

template <class In>
struct held_inputs {
  In values;
};
template <class S, std::size_t N>
  requires(N > 32)
struct held_inputs<std::array<S, N>> {
  static_assert(std::is_trivially_copyable_v<S> && std::is_trivially_destructible_v<S>);
  union {
    std::array<S, N> values;
  };
  held_inputs() {}
};
template <class T, class X>
void make_variables_of(var<T>* to, const X& x, recording<T>& tape, std::uint32_t first) {
  if constexpr (std::is_same_v<element_of<X>, T> &&
                requires { requires std::contiguous_iterator<decltype(x.begin())>; }) {
    if (count_of(x) > 0) make_variables(to, &at(x, 0), count_of(x), &tape, first);
  } else {
    for (std::size_t i = 0; i < count_of(x); ++i)
      std::construct_at(to + i, T(at(x, i)), &tape, first + static_cast<std::uint32_t>(i));
  }
}
template <class T, class X>
auto record_inputs(recording<T>& tape, const X& x) {
  const std::size_t n = count_of(x);
  if constexpr (static_size<X> == std::dynamic_extent) {
    var<T>* in = tape.template reserve<var<T>>(n);
    const std::uint32_t first = tape.leaves(n);
    tape.require_complete();
    make_variables_of(in, x, tape, first);
    return held_inputs<std::span<const var<T>>>{{in, n}};
  } else {
    const std::uint32_t first = tape.leaves(n);
    return held_inputs<std::array<var<T>, static_size<X>>>{array_of<var<T>, static_size<X>>(
        [&](std::size_t i) { return var<T>(T(at(x, i)), &tape, first + static_cast<std::uint32_t>(i)); })};
  }
}
template <class T, class X>
  requires(static_size<X> != std::dynamic_extent && static_size<X> > 32)
auto record_inputs(recording<T>& tape, const X& x) {
  held_inputs<std::array<var<T>, static_size<X>>> in;
  make_variables_of(in.values.data(), x, tape, tape.leaves(count_of(x)));
  return in;
}

template <class F, class X, class Memory, class G>
auto gradient_by_tape(const F& f, const X& x, const Memory& memory, G& g) {
  using T = base_over<F, X>;
  return with_tape<T>(memory, [&](recording<T>& tape) {
    const auto held = record_inputs(tape, x);
    const auto& in = held.values;
    const auto r = f(in);
    tape.require_complete();
    tape.clear();
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(r)>, var<T>>) {
      add_cotangent(r, T(real_t<T>(1)));
      const auto n = static_cast<std::uint32_t>(in.size());
      tape.sweep(n);
      for (std::uint32_t i = 0; i < n; ++i) g[i] = tape.cotangent(i);
      return r.value;
    } else {
      static_assert(
          level<decltype(r)> < level<var<T>>,
          "drx::ad: a function that is differentiated returns no scalar of a higher level than those it has seen");
      for (std::size_t i = 0; i < in.size(); ++i) g[i] = T(real_t<T>(0));
      return T(r);
    }
  });
}

template <mode Mode, class X>
inline constexpr bool use_dual = Mode == mode::forward || (Mode == mode::automatic && static_size<X> <= 16);

template <mode Mode, class F, class X, class Memory>
auto value_and_gradient_of(const F& f, const X& x, const Memory& memory) {
  using T = base_over<F, X>;
  auto g = gradient_like<T>(x);
  if constexpr (use_dual<Mode, X>) {
    T y = gradient_by_dual(f, x, g);
    return value_and_gradient_result<T, decltype(g)>{y, std::move(g)};
  } else {
    T y = gradient_by_tape(f, x, memory, g);
    return value_and_gradient_result<T, decltype(g)>{y, std::move(g)};
  }
}

}

template <mode Mode = mode::automatic, class F, detail::Numbers X>
auto value_and_gradient(const F& f, const X& x) {
  return detail::value_and_gradient_of<Mode>(f, x, detail::on_stack{});
}
template <mode Mode = mode::automatic, class F, detail::Numbers X>
auto value_and_gradient(const F& f, const X& x, const arena& memory) {
  return detail::value_and_gradient_of<Mode>(f, x, memory);
}
template <mode Mode = mode::automatic, class F, detail::Numbers X>
auto value_and_gradient(const F& f, const X& x, std::span<std::byte> memory) {
  return detail::value_and_gradient_of<Mode>(f, x, memory);
}
template <mode Mode = mode::reverse, class F, detail::Numbers X, class G, class Memory = detail::on_stack>
  requires(detail::Numbers<std::remove_cvref_t<G>> && !std::is_convertible_v<G, std::span<std::byte>>)
auto value_and_gradient_into(G&& g, const F& f, const X& x, const Memory& memory = {}) {
  if constexpr (Mode == mode::forward) {
    return detail::gradient_by_dual(f, x, g);
  } else {
    return detail::gradient_by_tape(f, x, memory, g);
  }
}

template <mode Mode = mode::automatic, class F, detail::Numbers X, class... Memory>
auto gradient(const F& f, const X& x, const Memory&... memory) {
  return ad::value_and_gradient<Mode>(f, x, memory...).gradient;
}

namespace detail {
template <class T>
inline constexpr std::size_t outputs_of = 1;
template <class S, std::size_t M>
inline constexpr std::size_t outputs_of<std::array<S, M>> = M;
template <class Y>
constexpr const auto& output(const Y& y, [[maybe_unused]] std::size_t i) {
  if constexpr (Number<Y>) {
    return y;
  } else {
    return y[i];
  }
}
template <class Y>
using output_t = std::remove_cvref_t<decltype(output(std::declval<const Y&>(), 0))>;
template <class T, class Y>
struct outputs_as {
  using type = T;
};
template <class T, class S, std::size_t M>
struct outputs_as<T, std::array<S, M>> {
  using type = std::array<T, M>;
};
template <class R>
constexpr auto& output_of(R& r, [[maybe_unused]] std::size_t i) {
  if constexpr (Number<R>) {
    return r;
  } else {
    return r[i];
  }
}
template <class S, class T, class Y>
constexpr T lowered_value(const Y& y) {
  if constexpr (std::is_same_v<Y, S>) {
    return y.value;
  } else {
    return T(y);
  }
}
}

template <class F, class T, std::size_t N>
constexpr auto directional(const F& f, const std::array<T, N>& x, const std::array<T, N>& v) {
  using B = detail::base_over<F, std::array<T, N>>;
  using S = dual<B, 1>;
  std::array<S, N> in{};
  for (std::size_t i = 0; i < N; ++i) {
    in[i] = S(B(x[i]));
    in[i].tangent[0] = B(v[i]);
  }
  const auto y = f(in);
  using Y = std::remove_cvref_t<decltype(y)>;
  directional_result<typename detail::outputs_as<B, Y>::type> r{};
  for (std::size_t i = 0; i < detail::outputs_of<Y>; ++i) {
    detail::output_of(r.value, i) = detail::lowered_value<S, B>(detail::output(y, i));
    detail::output_of(r.derivative, i) = B(detail::tangent_of<S>(detail::output(y, i), 0));
  }
  return r;
}

namespace detail {
template <mode Mode, std::size_t Directions, class J, class F, class T, std::size_t N, class Memory>
auto jacobian_to(J& j, const F& f, const std::array<T, N>& x, const Memory& memory) {
  static_assert(Directions >= 1, "drx::ad: a Jacobian takes at least one direction at a time");
  using X = std::array<T, N>;
  using B = base_over<F, X>;
  constexpr std::size_t M = outputs_of<std::remove_cvref_t<decltype(f(x))>>;
  std::array<B, M> value{};
  if constexpr (Mode == mode::forward || (Mode == mode::automatic && (N <= M || N <= 16))) {
    constexpr std::size_t width = N < 1 ? 1 : N <= Directions ? N : Directions;
    using S = dual<B, static_cast<int>(width)>;
    for (std::size_t first = 0; first == 0 || first < N; first += width) {
      const auto in = array_of<S, N>([&](std::size_t i) { return seeded<S>(x, i, first); });
      const auto y = f(in);
      for (std::size_t k = 0; k < M; ++k) {
        value[k] = lowered_value<S, B>(output(y, k));
        for (std::size_t i = first; i < N && i < first + width; ++i)
          j[k][i] = tangent_of<S>(output(y, k), static_cast<int>(i - first));
      }
    }
  } else {
    with_tape<B>(memory, [&](recording<B>& tape) {
      const auto held = record_inputs(tape, x);
      const auto& in = held.values;
      const auto y = f(in);
      tape.require_complete();
      for (std::size_t k = 0; k < M; ++k) {
        value[k] = lowered_value<var<B>, B>(output(y, k));
        if constexpr (std::is_same_v<output_t<std::remove_cvref_t<decltype(y)>>, var<B>>) {
          tape.clear();
          add_cotangent(output(y, k), B(real_t<B>(1)));
          tape.sweep(N);
          for (std::size_t i = 0; i < N; ++i) j[k][i] = cotangent(in[i]);
        } else {
          for (std::size_t i = 0; i < N; ++i) j[k][i] = B(real_t<B>(0));
        }
      }
    });
  }
  return value;
}
}

template <mode Mode = mode::automatic, std::size_t Directions = 16, class F, class T, std::size_t N,
          class Memory = detail::on_stack>
auto value_and_jacobian(const F& f, const std::array<T, N>& x, const Memory& memory = {}) {
  using B = detail::base_over<F, std::array<T, N>>;
  constexpr std::size_t M = detail::outputs_of<std::remove_cvref_t<decltype(f(x))>>;
  value_and_jacobian_result<std::array<B, M>, std::array<std::array<B, N>, M>> r{};
  r.value = detail::jacobian_to<Mode, Directions>(r.jacobian, f, x, memory);
  return r;
}
template <mode Mode = mode::automatic, std::size_t Directions = 16, class J, class F, class T, std::size_t N,
          class Memory = detail::on_stack>
auto value_and_jacobian_into(J&& j, const F& f, const std::array<T, N>& x, const Memory& memory = {}) {
  return detail::jacobian_to<Mode, Directions>(j, f, x, memory);
}
template <mode Mode = mode::automatic, std::size_t Directions = 16, class F, class T, std::size_t N, class... Memory>
auto jacobian(const F& f, const std::array<T, N>& x, const Memory&... memory) {
  return ad::value_and_jacobian<Mode, Directions>(f, x, memory...).jacobian;
}

template <class F, class T, std::size_t N, class Memory = detail::on_stack>
auto hessian(const F& f, const std::array<T, N>& x, const Memory& memory = {}) {
  using B = detail::base_over<F, std::array<T, N>>;
  constexpr std::size_t width = N < 1 ? 1 : N <= 8 ? N : 8;
  using S = dual<B, static_cast<int>(width)>;
  std::array<std::array<B, N>, N> h{};
  for (std::size_t first = 0; first < N; first += width) {
    const auto at = detail::array_of<S, N>([&](std::size_t i) { return detail::seeded<S>(x, i, first); });
    std::array<S, N> g{};
    detail::gradient_by_tape(f, at, memory, g);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t k = first; k < N && k < first + width; ++k) h[k][i] = g[i].tangent[k - first];
  }
  return h;
}

template <class F, class T, std::size_t N, class Memory = detail::on_stack>
auto hessian_vector(const F& f, const std::array<T, N>& x, const std::array<T, N>& v, const Memory& memory = {}) {
  using B = detail::base_over<F, std::array<T, N>>;
  using S = dual<B, 1>;
  std::array<S, N> at{}, g{};
  for (std::size_t i = 0; i < N; ++i) {
    at[i] = S(B(x[i]));
    at[i].tangent[0] = B(v[i]);
  }
  detail::gradient_by_tape(f, at, memory, g);
  hessian_vector_result<std::array<B, N>> r{};
  for (std::size_t i = 0; i < N; ++i) {
    r.gradient[i] = g[i].value;
    r.product[i] = g[i].tangent[0];
  }
  return r;
}

}

#if !defined(__CUDACC__)

#include <array>
#include <cstddef>
#include <cstdint>

namespace drx::ad {

template <class T, int W>
struct mask {
  using lane = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
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
  template <class U>
    requires std::is_arithmetic_v<U>
  pack(U x) : lanes(static_cast<T>(x) - native{}) {}
  static pack load(const T* from) {
    pack p;
    __builtin_memcpy(&p.lanes, from, sizeof(native));
    return p;
  }
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
};

template <class T, int W>
pack<T, W> select(const mask<T, W>& m, const pack<T, W>& a, const pack<T, W>& b) {
  using N = typename mask<T, W>::native;
  const N chosen = ((N)a.lanes & m.lanes) | ((N)b.lanes & ~m.lanes);
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
}

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

}

#endif

namespace drx {
namespace ad {

enum class lanes { one, packs };
inline constexpr lanes packs = lanes::packs;
enum class orders : int {};

}

namespace detail {

struct call_options {
  ad::mode mode = ad::mode::automatic;
  bool packs = false;
  int orders = 2;
  std::size_t capacity = 0;
};
template <auto... Options>
constexpr call_options call_options_of() {
  call_options o;
  [[maybe_unused]] const auto read = [&o](auto option) {
    using O = decltype(option);
    if constexpr (std::is_same_v<O, ad::mode>) {
      o.mode = option;
    } else if constexpr (std::is_same_v<O, ad::lanes>) {
      o.packs = option == ad::packs;
    } else if constexpr (std::is_same_v<O, ad::orders>) {
      o.orders = static_cast<int>(option);
    } else {
      static_assert(
          std::is_integral_v<O>,
          "drx::call<options...>: drx::ad::forward, reverse, packs, orders{n}, or the capacity of the local tape in statements");
      o.capacity = static_cast<std::size_t>(option);
    }
  };
  (read(Options), ...);
  return o;
}

template <class S, class A>
struct call_argument;
template <class S, class T>
struct call_argument<S, array<T>> {
  using type = std::conditional_t<std::is_floating_point_v<T>, S, T>;
};
template <class S, class T, std::int64_t N, std::int64_t... E>
struct call_argument<S, array<T, N, E...>> {
  using type = std::array<typename call_argument<S, array<T, E...>>::type, static_cast<std::size_t>(N)>;
};

template <class T, class R>
struct call_result_as {
  using type = error::not_a_value_of_drx;
};
template <class T, class R>
  requires(ad::Number<R> && !std::is_same_v<R, bool>)
struct call_result_as<T, R> {
  using type = array<T>;
};
template <std::int64_t N, class A>
struct with_axis {
  using type = error::not_a_value_of_drx;
};
template <std::int64_t N, class T, std::int64_t... E>
  requires(sizeof...(E) < shape::max_rank)
struct with_axis<N, array<T, E...>> {
  using type = array<T, N, E...>;
};
template <class T, class R, std::size_t N>
struct call_result_as<T, std::array<R, N>>
    : with_axis<static_cast<std::int64_t>(N), typename call_result_as<T, R>::type> {};
template <class T, class... R>
  requires(sizeof...(R) > 0)
struct call_result_as<T, std::tuple<R...>> {
  using type = std::tuple<typename call_result_as<T, R>::type...>;
};
template <class T, class R, class Q>
struct call_result_as<T, std::pair<R, Q>> {
  using type = std::pair<typename call_result_as<T, R>::type, typename call_result_as<T, Q>::type>;
};

template <class X, class S>
X read_argument(const S*& from) {
  if constexpr (ad::Number<X>) {
    return X(*from++);
  } else {
    X x{};
    for (auto& part : x) part = read_argument<typename X::value_type>(from);
    return x;
  }
}
template <class S, class R>
void write_result(const R& r, S*& to) {
  if constexpr (ad::Number<R>) {
    *to++ = S(r);
  } else if constexpr (!requires { r.begin(); }) {
    std::apply([&](const auto&... part) { (write_result(part, to), ...); }, r);
  } else {
    for (const auto& part : r) write_result(part, to);
  }
}

template <int Operands, int Results>
struct call_sizes {
  int operands = 0, results = 0;
  int numbers[Operands > 0 ? Operands : 1] = {};
  int bytes[Operands > 0 ? Operands : 1] = {};
  int out[Results > 0 ? Results : 1] = {};
};

template <class F, call_options (*Options)(), class T, class Result, class... A>
struct called {
  static constexpr call_options options = Options();
  using real = T;
  using function = F;
  static constexpr int order = 0;
  static constexpr int max_operands = sizeof...(A), max_results = leaf_count<Result>;
  static constexpr int max_in =
      static_cast<int>(((std::is_floating_point_v<typename A::value_type> ? A::size : 0) + ... + 0));
  static constexpr int max_out = [] {
    leaf_types<Result> t;
    std::int64_t n = 0;
    for (int i = 0; i < leaf_count<Result>; ++i) n += t[i].shape.size();
    return static_cast<int>(n);
  }();
  using sizes_type = call_sizes<max_operands, max_results>;
  static constexpr sizes_type fixed_sizes = [] {
    sizes_type s;
    ((std::is_floating_point_v<typename A::value_type>
          ? s.numbers[s.operands++] = static_cast<int>(A::size)
          : s.bytes[s.operands++] =
                static_cast<int>(A::size * static_cast<std::int64_t>(sizeof(typename A::value_type)))),
     ...);
    leaf_types<Result> t;
    for (int i = 0; i < leaf_count<Result>; ++i) s.out[s.results++] = static_cast<int>(t[i].shape.size());
    return s;
  }();
  static constexpr const sizes_type& sizes(const std::int64_t*) { return fixed_sizes; }
  static constexpr vec<abstract_value> type(const std::int64_t*, const vec<abstract_value>& operands) {
    const vec<abstract_value> expected{abstract_value{dtype_of<typename A::value_type>, A::shape}...};
    typing::require(operands == expected, "call: the function takes other types");
    leaf_types<Result> t;
    vec<abstract_value> r;
    for (int i = 0; i < leaf_count<Result>; ++i) r.push_back(t[i]);
    return r;
  }
  static std::string name(const std::int64_t*) {
    const std::string text(meta::type_name<F>());
    return text.find("lambda") == std::string::npos ? text : "lambda";
  }

  template <class S>
  static void run(const std::int64_t*, const S* x, const void* const* raw, S* y) {
    const auto next = [&]<class B>(std::type_identity<B>) {
      using X = typename call_argument<S, B>::type;
      if constexpr (std::is_floating_point_v<typename B::value_type>) {
        return read_argument<X>(x);
      } else {
        auto from =
            static_cast<const typename B::value_type*>(B::size > 0 ? *raw++ : nullptr);
        return read_argument<X>(from);
      }
    };
    const std::tuple<typename call_argument<S, A>::type...> arguments{next(std::type_identity<A>{})...};
    write_result(std::apply([](const auto&... a) { return F{}(a...); }, arguments), y);
  }
};

constexpr int bits_in(std::int64_t mask) {
  int n = 0;
  for (; mask != 0; mask &= mask - 1) ++n;
  return n;
}
constexpr bool has_bit(std::int64_t mask, int i) { return ((mask >> i) & 1) != 0; }

template <class G>
struct pushforward {
  static constexpr call_options options = G::options;
  using real = typename G::real;
  using function = typename G::function;
  static constexpr int order = G::order + 1;
  static constexpr int max_operands = 2 * G::max_operands, max_results = G::max_results;
  static constexpr int max_in = 2 * G::max_in, max_out = G::max_out;
  using sizes_type = call_sizes<max_operands, max_results>;

  static constexpr sizes_type sizes(const std::int64_t* a) {
    const auto& g = G::sizes(a + 1);
    sizes_type s;
    for (int i = 0; i < g.operands; ++i) s.numbers[i] = g.numbers[i], s.bytes[i] = g.bytes[i];
    s.operands = g.operands;
    for (int i = 0; i < g.operands; ++i)
      if (has_bit(a[0], i)) s.numbers[s.operands++] = g.numbers[i];
    s.results = g.results;
    for (int i = 0; i < g.results; ++i) s.out[i] = g.out[i];
    return s;
  }
  static constexpr vec<abstract_value> type(const std::int64_t* a, const vec<abstract_value>& operands) {
    vec<abstract_value> first;
    for (int i = 0; i < operands.size() - bits_in(a[0]); ++i) first.push_back(operands[i]);
    return G::type(a + 1, first);
  }
  static std::string name(const std::int64_t* a) { return "jvp " + std::to_string(a[0]) + " " + G::name(a + 1); }

  template <class S>
  static void run(const std::int64_t* a, const S* x, const void* const* raw, S* y) {
    using D = ad::dual<S, 1>;
    const auto& g = G::sizes(a + 1);
    D in[G::max_in > 0 ? G::max_in : 1], out[G::max_out > 0 ? G::max_out : 1];
    int numbers = 0, results = 0;
    for (int i = 0; i < g.operands; ++i) numbers += g.numbers[i];
    for (int i = 0; i < g.results; ++i) results += g.out[i];
    for (int i = 0; i < numbers; ++i) in[i].value = x[i];
    const S* tangent = x + numbers;
    for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
      if (has_bit(a[0], i))
        for (int k = 0; k < g.numbers[i]; ++k) in[at + k].tangent[0] = *tangent++;
    G::template run<D>(a + 1, in, raw, out);
    for (int i = 0; i < results; ++i) y[i] = out[i].tangent[0];
  }
};

template <class G>
struct pullback {
  static constexpr call_options options = G::options;
  using real = typename G::real;
  using function = typename G::function;
  static constexpr int order = G::order + 1;
  static constexpr int max_operands = G::max_operands + G::max_results, max_results = G::max_operands;
  static constexpr int max_in = G::max_in + G::max_out, max_out = G::max_in;
  using sizes_type = call_sizes<max_operands, max_results>;
  static constexpr bool by_dual =
      options.mode == ad::mode::forward || (options.mode == ad::mode::automatic && G::max_in <= 8);
  static constexpr int width = G::max_in < 1 ? 1 : G::max_in < 8 ? G::max_in : 8;

  static constexpr sizes_type sizes(const std::int64_t* a) {
    const auto& g = G::sizes(a + 2);
    sizes_type s;
    for (int i = 0; i < g.operands; ++i) s.numbers[i] = g.numbers[i], s.bytes[i] = g.bytes[i];
    s.operands = g.operands;
    for (int i = 0; i < g.results; ++i)
      if (has_bit(a[1], i)) s.numbers[s.operands++] = g.out[i];
    for (int i = 0; i < g.operands; ++i)
      if (has_bit(a[0], i)) s.out[s.results++] = g.numbers[i];
    return s;
  }
  static constexpr vec<abstract_value> type(const std::int64_t* a, const vec<abstract_value>& operands) {
    vec<abstract_value> r;
    for (int i = 0; i < operands.size() - bits_in(a[1]); ++i)
      if (has_bit(a[0], i)) r.push_back(operands[i]);
    return r;
  }
  static std::string name(const std::int64_t* a) {
    return "vjp " + std::to_string(a[0]) + "," + std::to_string(a[1]) + " " + G::name(a + 2);
  }

  template <class S>
  static void run(const std::int64_t* a, const S* x, const void* const* raw, S* y) {
    const auto& g = G::sizes(a + 2);
    int numbers = 0;
    for (int i = 0; i < g.operands; ++i) numbers += g.numbers[i];
    const S* const cotangents = x + numbers;
    if constexpr (by_dual) {
      using D = ad::dual<S, width>;
      D in[G::max_in > 0 ? G::max_in : 1], out[G::max_out > 0 ? G::max_out : 1];
      int wanted[G::max_in > 0 ? G::max_in : 1], count = 0;
      for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
        for (int k = 0; has_bit(a[0], i) && k < g.numbers[i]; ++k) wanted[count++] = at + k;
      for (int first = 0; first < count; first += width) {
        const int last = first + width < count ? first + width : count;
        for (int i = 0; i < numbers; ++i) in[i] = D(x[i]);
        for (int i = first; i < last; ++i) in[wanted[i]].tangent[i - first] = S(1);
        G::template run<D>(a + 2, in, raw, out);
        for (int i = first; i < last; ++i) {
          S sum(0);
          const S* ct = cotangents;
          for (int o = 0, at = 0; o < g.results; at += g.out[o++])
            for (int k = 0; has_bit(a[1], o) && k < g.out[o]; ++k)
              sum += ad::detail::times(*ct++, out[at + k].tangent[i - first]);
          y[i] = sum;
        }
      }
    } else {
      constexpr std::size_t fitting = ad::detail::stack_bytes / ad::recording<S>::bytes_per_statement;
      ad::local_tape<S, (options.capacity > 0 ? options.capacity : fitting)> tape;
      ad::var<S> in[G::max_in > 0 ? G::max_in : 1], out[G::max_out > 0 ? G::max_out : 1];
      for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
        for (int k = 0; k < g.numbers[i]; ++k)
          in[at + k] = has_bit(a[0], i) ? variable(tape, x[at + k]) : ad::var<S>(x[at + k]);
      G::template run<ad::var<S>>(a + 2, in, raw, out);
      tape.require_complete();
      tape.clear();
      const S* ct = cotangents;
      for (int o = 0, at = 0; o < g.results; at += g.out[o++])
        for (int k = 0; has_bit(a[1], o) && k < g.out[o]; ++k) add_cotangent(out[at + k], *ct++);
      tape.sweep();
      for (int i = 0, at = 0; i < g.operands; at += g.numbers[i++])
        for (int k = 0; has_bit(a[0], i) && k < g.numbers[i]; ++k) *y++ = cotangent(in[at + k]);
    }
  }
};

}
}

namespace drx {
namespace prim {
namespace rules {
template <class G>
struct call {
  using T = typename G::real;
  struct view {
    std::optional<std::int64_t> times;
    std::int64_t mask;
    int_list own;
    constexpr explicit view(int_list a) : mask(a[1]), own(a.from(first_own)) {
      if (a[0] != once) times = a[0];
    }
    [[nodiscard]] constexpr bool differs(int operand) const { return times && drx::detail::has_bit(mask, operand); }
    [[nodiscard]] constexpr attributes make(std::int64_t differing, const vec<std::int64_t>& before = {}) const {
      attributes a;
      a.ints = {times.value_or(once), differing};
      a.ints.append(before);
      a.ints.append(own);
      return a;
    }

    static constexpr std::int64_t once = -1;
    static constexpr int first_own = 2;
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const view c(t.attrs);
    typing::require(t.operands.size() < 64, "call: more operands than a mask has bits");
    vec<abstract_value> each;
    for (int i = 0; i < t.operands.size(); ++i) {
      const abstract_value& x = t.operands[i];
      const bool batched = c.differs(i);
      typing::require(!batched || (x.shape.rank > 0 && x.shape[0] == c.times), "call: an operand is no batch");
      each.push_back(batched ? x.with_shape(without_axis(x.shape, 0)) : x);
    }
    vec<abstract_value> r = G::type(c.own.begin(), each);
    if (c.times)
      for (int i = 0; i < r.size(); ++i) r[i] = r[i].with_shape(with_front(r[i].shape, *c.times));
    return r;
  }
  static constexpr void require_order() {
    if (G::order >= G::options.orders)
      throw "drx: call: derivatives of this order are not compiled: drx::call<drx::ad::orders{n}>(f, ...)";
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents);
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted);
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t m) {
    view c(s.e);
    const auto n = c.times;
    std::int64_t mask = 0;
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i) {
      const bool before = c.differs(i);
      if (!before && !batched[i]) continue;
      mask |= std::int64_t{1} << i;
      if (!n) continue;
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], m);
      shape each = s.b.shape(operands[i]);
      if (!before) {
        each = with_front(with_front(without_axis(each, 0), 1), m);
        operands[i] = emit::reshape(s.b, operands[i], each);
        each[1] = *n;
        operands[i] = emit::broadcast_to(s.b, operands[i], each);
      }
      operands[i] = emit::reshape(s.b, operands[i], with_front(without_axis(without_axis(each, 0), 0), m * *n));
    }
    c.times = m * n.value_or(1);
    vec<int> r = s.b.add(*s.e.prim, operands, c.make(mask));
    for (int i = 0; n && i < r.size(); ++i) {
      const shape each = without_axis(s.b.shape(r[i]), 0);
      r[i] = emit::reshape(s.b, r[i], with_front(with_front(each, *n), m));
    }
    return r;
  }
  static std::string print(const attributes& a) {
    const view c(a);
    std::string text = G::name(c.own.begin());
    if (c.times) text += "; " + std::to_string(*c.times) + " times, of " + std::to_string(c.mask);
    return text;
  }

  template <int W>
  static void run_lanes([[maybe_unused]] const std::int64_t* a, [[maybe_unused]] const typename G::sizes_type& s,
                        [[maybe_unused]] const void* const* in, [[maybe_unused]] void* const* out,
                        [[maybe_unused]] std::int64_t first, [[maybe_unused]] std::int64_t n) {
#if !defined(__CUDACC__)
    using S = ad::pack<T, W>;
    S x[G::max_in > 0 ? G::max_in : 1], y[G::max_out > 0 ? G::max_out : 1];
    const void* raw[G::max_operands > 0 ? G::max_operands : 1] = {};
    int at = 0, others = 0;
    for (int i = 0; i < s.operands; ++i) {
      const T* from = static_cast<const T*>(in[i]);
      if (s.bytes[i] > 0) {
        raw[others++] = in[i];
      } else if (drx::detail::has_bit(a[1], i)) {
        from += first * s.numbers[i];
        for (int k = 0; k < s.numbers[i]; ++k, ++at)
          for (int l = 0; l < W; ++l) x[at].set(l, from[(l < n ? l : 0) * s.numbers[i] + k]);
      } else {
        for (int k = 0; k < s.numbers[i]; ++k) x[at++] = S(from[k]);
      }
    }
    G::template run<S>(a + 2, x, raw, y);
    at = 0;
    for (int o = 0; o < s.results; ++o) {
      T* to = static_cast<T*>(out[o]) + first * s.out[o];
      for (int k = 0; k < s.out[o]; ++k, ++at)
        for (int l = 0; l < n; ++l) to[l * s.out[o] + k] = y[at][l];
    }
#endif
  }
  static void run_one(const std::int64_t* a, const typename G::sizes_type& s, const void* const* in, void* const* out,
                      std::int64_t k) {
    T x[G::max_in > 0 ? G::max_in : 1], y[G::max_out > 0 ? G::max_out : 1];
    const void* raw[G::max_operands > 0 ? G::max_operands : 1] = {};
    int at = 0, others = 0;
    for (int i = 0; i < s.operands; ++i) {
      const auto offset = static_cast<std::size_t>(a[0] >= 0 && drx::detail::has_bit(a[1], i) ? k : 0);
      if (s.bytes[i] > 0) {
        raw[others++] = static_cast<const std::byte*>(in[i]) + offset * static_cast<std::size_t>(s.bytes[i]);
      } else {
        const auto count = static_cast<std::size_t>(s.numbers[i]);
        if (count > 0) std::memcpy(x + at, static_cast<const T*>(in[i]) + offset * count, count * sizeof(T));
        at += s.numbers[i];
      }
    }
    G::template run<T>(a + 2, x, raw, y);
    at = 0;
    for (int o = 0; o < s.results; at += s.out[o++])
      if (s.out[o] > 0)
        std::memcpy(static_cast<T*>(out[o]) + k * s.out[o], y + at, static_cast<std::size_t>(s.out[o]) * sizeof(T));
  }
  static void native(const std::int64_t* a, const void* const* in, void* const* out) {
    const auto& s = G::sizes(a + 2);
#if !defined(__CUDACC__)
    if constexpr (G::options.packs) {
      constexpr std::int64_t width = 64 / sizeof(T);
      bool same = a[0] >= 0;
      for (int i = 0; i < s.operands; ++i) same = same && !(s.bytes[i] > 0 && drx::detail::has_bit(a[1], i));
      if (same) {
        for (std::int64_t k = 0; k < a[0]; k += width)
          run_lanes<width>(a, s, in, out, k, a[0] - k < width ? a[0] - k : width);
        return;
      }
    }
#endif
    for (std::int64_t k = 0; k < (a[0] < 0 ? 1 : a[0]); ++k) run_one(a, s, in, out, k);
  }
  static void evaluate(evaluation& v) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const tensor* x : v.in) in.push_back(x->bytes.data());
    for (tensor& y : v.out) out.push_back(y.bytes.data());
    native(v.e.attrs.ints.begin(), in.data(), out.data());
  }
};
}

template <class G>
inline constexpr primitive call{.name = "call",
                                .type = rules::call<G>::type,
                                .jvp = rules::call<G>::jvp,
                                .vjp = rules::call<G>::vjp,
                                .batch = rules::call<G>::batch,
                                .print = rules::call<G>::print,
                                .evaluate = rules::call<G>::evaluate,
                                .native = rules::call<G>::native,
                                .known = rules::known::nothing,
                                .split = rules::split::whole};

template <class G>
constexpr vec<int> rules::call<G>::jvp(const rule_site& s, const vec<int>& tangents) {
  require_order();
  const view c(s.e);
  std::int64_t mask = 0, batched = c.mask;
  vec<int> operands = s.operands;
  for (int i = 0; i < tangents.size(); ++i)
    if (tangents[i] != zero_tangent) {
      mask |= std::int64_t{1} << i;
      if (drx::detail::has_bit(c.mask, i)) batched |= std::int64_t{1} << operands.size();
      operands.push_back(tangents[i]);
    }
  if (mask == 0) return vec<int>(s.results.size(), zero_tangent);
  if constexpr (G::order < G::options.orders) {
    return s.b.add(prim::call<drx::detail::pushforward<G>>, operands, c.make(batched, {mask}));
  } else {
    return {};
  }
}
template <class G>
constexpr vec<int> rules::call<G>::vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
  require_order();
  const view c(s.e);
  std::int64_t asked = 0, given = 0, batched = c.mask;
  vec<int> operands = s.operands;
  vec<int> r(s.operands.size(), zero_tangent);
  for (int i = 0; i < wanted.size(); ++i)
    if (wanted[i] && is_floating(s.b.type(s.operands[i]).type)) asked |= std::int64_t{1} << i;
  for (int i = 0; i < ct.size(); ++i)
    if (ct[i] != zero_tangent) {
      given |= std::int64_t{1} << i;
      if (c.times) batched |= std::int64_t{1} << operands.size();
      operands.push_back(ct[i]);
    }
  if (asked == 0 || given == 0) return r;
  if constexpr (G::order < G::options.orders) {
    const vec<int> pulled = s.b.add(prim::call<drx::detail::pullback<G>>, operands, c.make(batched, {asked, given}));
    int next = 0;
    for (int i = 0; i < r.size(); ++i)
      if (drx::detail::has_bit(asked, i)) {
        r[i] = pulled[next++];
        if (c.times && !drx::detail::has_bit(c.mask, i)) r[i] = emit::sum(s.b, r[i], {0});
      }
  }
  return r;
}
}

namespace detail {

template <class... A>
struct call_real {
  static constexpr int floats = (std::is_same_v<typename A::value_type, float> + ... + 0);
  static constexpr int doubles = (std::is_same_v<typename A::value_type, double> + ... + 0);
  using type = std::conditional_t<floats == 0 && doubles != 0, double,
                                  std::conditional_t<doubles == 0 && floats != 0, float, void>>;
};
template <class F, class T, class... A>
using called_result = call_result_t<F, typename call_argument<T, A>::type...>;

template <class F, class... X>
constexpr auto call_misuse() {
  if constexpr ((Placed<X> || ...)) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!(Array<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!std::is_empty_v<F> || !std::is_default_constructible_v<F>) {
    return error::traced_lambda_captures_a_runtime_value{};
  } else {
    using T = typename call_real<X...>::type;
    if constexpr ((is_half<typename X::value_type> || ...)) {
      return error::a_function_of_numbers_has_no_numbers_of_16_bits{};
    } else if constexpr (std::is_void_v<T>) {
      return std::conditional_t<call_real<X...>::floats == 0, error::needs_floating_values,
                                error::element_types_differ>{};
    } else {
      using R = called_result<F, T, X...>;
      if constexpr (error::is_unsaid<R>) {
        return error::function_of_a_call_does_not_take_these_numbers{};
      } else if constexpr (error::Reported<R>) {
        return no_misuse{};
      } else {
        using D = typename call_result_as<T, R>::type;
        return std::conditional_t<Structured<D> && !error::Reported<D>, no_misuse, error::not_a_value_of_drx>{};
      }
    }
  }
}
template <class F, class... X>
concept Callable = std::is_same_v<decltype(call_misuse<F, X...>()), no_misuse>;

}

template <auto... Options, class F, class... X>
  requires(sizeof...(X) > 0 && detail::Callable<F, X...>)
constexpr auto call(const F&, const X&... x) {
  using T = typename detail::call_real<X...>::type;
  using R = detail::called_result<F, T, X...>;
  if constexpr (error::Reported<R>) {
    return error::reported{};
  } else {
    using D = typename detail::call_result_as<T, R>::type;
    using G = detail::called<F, detail::call_options_of<Options...>, T, D, X...>;
    tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
    attributes a;
    a.ints = {prim::rules::call<G>::view::once, 0};
    return detail::bound<D>(b, b.add(prim::call<G>, {detail::id_on(b, x)...}, a));
  }
}
template <auto... Options, class F, class... X, class Why = decltype(detail::call_misuse<F, X...>())>
  requires(((Array<X> || Placed<X>) || ...) && !error::AnyReported<X...> && !detail::Callable<F, X...>)
Why call(const F&, const X&...) = delete;  // drx: call(f, arrays...): f has no captures (make them arguments), takes numbers or std::arrays of them and returns such; of placed values in a map; cast bfloat16 and float16

DRX_SILENT(call)

}

namespace drx {
namespace prim {
namespace rows {
struct where : same_type {
  static constexpr const char* name = "where";
  static constexpr int arity = 3;
  static constexpr known_value known(const known_site& s) { return either(s.operands[1], s.operands[2]); }
  static constexpr bool accepts(dtype t, int i) { return i > 0 || t == dtype::boolean; }
  template <class T>
  DRX_INLINE static constexpr T apply(bool c, T x, T y) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
    if constexpr (std::is_floating_point_v<T>) return math::detail::select(c, x, y);
#endif
    return c ? x : y;
  }
  template <class T>
  static T reference(bool c, T x, T y) {
    return c ? x : y;
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return zero_tangent;
    const int zero = emit::constant_like(b, t, 0);
    return i == 1 ? emit::where(b, s.operands[0], t, zero) : emit::where(b, s.operands[0], zero, t);
  }
  static constexpr int simplify(builder&, const vec<int>& o, const attributes&) { return o[1] == o[2] ? o[1] : -1; }
};
}
inline constexpr primitive where = elementwise_primitive<rows::where>();
template <>
struct row_of<&where> : rows::where {};
}

namespace emit {
constexpr int where(builder& b, int condition, int x, int y) { return b.add1(prim::where, {condition, x, y}); }
}

namespace detail {
template <class C, class A, class B>
concept WhereOperands = Array<C> && Compatible<A, B> && std::is_same_v<typename C::value_type, bool> &&
                        broadcastable(C::shape, common_shape<A, B>());
template <class C, class A, class B>
struct where_shape {
  static constexpr shape value = broadcast_shapes(C::shape, common_shape<A, B>());
};
template <class C, class A, class B>
constexpr auto where_mismatch() {
  if constexpr (!Array<C> || !ArrayPair<A, B>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!std::is_same_v<typename C::value_type, bool>) {
    return error::needs_boolean_values{};
  } else if constexpr (Incompatible<A, B>) {
    return mismatch<A, B>();
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
}

template <class C, class A, class B>
  requires detail::WhereOperands<C, A, B>
constexpr auto where(const C& condition, const A& a, const B& b) {
  using T = detail::common_element<A, B>;
  using R = array_of<T, detail::where_shape<C, A, B>>;
  auto ref = [](const auto& x) {
    if constexpr (detail::Literal<std::remove_cvref_t<decltype(x)>>) {
      traced_ref r;
      r.what = traced_ref::kind::splat;
      r.from.number = static_cast<double>(x);
      return r;
    } else {
      return detail::ref_of(x);
    }
  };
  auto stored = [](const auto& x) -> shape {
    if constexpr (detail::Literal<std::remove_cvref_t<decltype(x)>>) {
      return {};
    } else {
      return std::remove_cvref_t<decltype(x)>::shape;
    }
  };
  tracing_builder& t = detail::tape_of(detail::ref_of(condition), ref(a), ref(b));
  const int c =
      emit::broadcast_to(t, emit::resolve(t, detail::ref_of(condition), {dtype::boolean, C::shape}), R::shape);
  const int x = emit::broadcast_to(t, emit::resolve(t, ref(a), {dtype_of<T>, stored(a)}), R::shape);
  const int y = emit::broadcast_to(t, emit::resolve(t, ref(b), {dtype_of<T>, stored(b)}), R::shape);
  return R(detail::at(t, emit::where(t, c, x, y)));
}
template <class C, class A, class B, class Why = decltype(detail::where_mismatch<C, A, B>())>
  requires(Array<C> && detail::ArrayPair<A, B> && !detail::WhereOperands<C, A, B>)
Why where(const C&, const A&, const B&) = delete;  // drx: where(array of bool, a, b): a and b of one element type, all three broadcast
template <class C, class A, class B, class Why = error::numbers_alone_have_no_element_type>
  requires(Array<C> && detail::Literal<A> && detail::Literal<B>)
Why where(const C&, const A&, const B&) = delete;  // drx: of two plain numbers one is to be an array: drx::full<drx::scalar<double>>(1); or cast<double>(condition)
template <class C, class A, class B, class Why = detail::no_array_t<C, A, B>>
  requires detail::NoArrays<C, A, B>
Why where(const C&, const A&, const B&) = delete;  // drx: do it in a map: map([](auto c, auto a, auto b) { return drx::where(c, a, b); }, x, y, z); of a structure leaf by leaf: tree_map

DRX_SILENT(where)

}

namespace drx {
namespace prim::rules {
struct square_matrix {
  static constexpr bool fits(const shape& s) { return s.rank >= 2 && s[s.rank - 2] == s[s.rank - 1]; }
  static constexpr std::int64_t batches(const shape& s) {
    std::int64_t n = 1;
    for (int i = 0; i < s.rank - 2; ++i) n *= s[i];
    return n;
  }
  static constexpr bool same_batch(const shape& a, const shape& b) {
    if (a.rank != b.rank) return false;
    for (int i = 0; i < a.rank - 2; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(fits(t.operands[0].shape), "not square matrices");
    typing::require(is_floating(t.operands[0].type), "matrices of numbers that are not floating");
    return {t.operands[0]};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return s.b.add(*s.e.prim, operands, s.e.attrs);
  }
  static constexpr std::int64_t most_rows_in_lanes = 8;
  static constexpr bool suits_lanes(const lane_site& s, int matrix) {
    const shape from = s.b.shape(s.operands[matrix]);
    return from.rank == 2 + s.in_lanes[matrix] && from[0] > 0 && from[0] <= most_rows_in_lanes;
  }
  static constexpr entry_cost cost(const tape& t, const entry& e) {
    const shape from = t.values[e.operands[0]].shape;
    return {.suits_lanes = from.rank == 2 && from[0] <= most_rows_in_lanes};
  }
};
}

namespace emit {
constexpr int swap_last_two(builder& b, int x) {
  vec<std::int64_t> p;
  const int r = b.shape(x).rank;
  for (int i = 0; i < r - 2; ++i) p.push_back(i);
  p.push_back(r - 1);
  p.push_back(r - 2);
  return emit::transpose(b, x, p);
}
constexpr int row_of(builder& b, const shape& s) { return iota(b, {dtype::int32, s}, s.rank - 2); }
constexpr int column_of(builder& b, const shape& s) { return iota(b, {dtype::int32, s}, s.rank - 1); }
constexpr int row_of(builder& b, int x) { return row_of(b, b.shape(x)); }
constexpr int column_of(builder& b, int x) { return column_of(b, b.shape(x)); }
constexpr int triangle(builder& b, int x, bool lower, bool strict) {
  const int inner = lower ? row_of(b, x) : column_of(b, x), outer = lower ? column_of(b, x) : row_of(b, x);
  const int zero = constant_like(b, x, 0);
  return strict ? where(b, less(b, outer, inner), x, zero) : where(b, less(b, inner, outer), zero, x);
}
constexpr int identity(builder& b, const abstract_value& type) {
  const int row = row_of(b, type.shape);
  return cast(b, equal(b, row, column_of(b, type.shape)), type.type);
}
constexpr int identity_like(builder& b, int x) { return identity(b, b.type(x)); }
constexpr int subtract_from(builder& b, int from, int x) { return from == zero_tangent ? neg(b, x) : sub(b, from, x); }
}

namespace detail {
template <class A, int Rank>
concept HasAxes = Array<A> && A::rank >= Rank;
template <class A>
using not_axes_t = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_rank>;
template <class A>
constexpr auto square_matrix_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (A::rank < 2) {
    return error::wrong_rank{};
  } else if constexpr (!prim::rules::square_matrix::fits(A::shape)) {
    return error::matrix_is_not_square{};
  } else {
    return no_misuse{};
  }
}
template <class A>
concept SquareMatrix = std::is_same_v<decltype(square_matrix_misuse<A>()), no_misuse>;
template <class A>
concept NoSquareMatrix = (Array<A> || Placed<A>) && !SquareMatrix<A>;
template <class A>
using not_square_t = decltype(square_matrix_misuse<A>());

template <class A, class B>
constexpr auto right_hand_side_misuse() {
  if constexpr (Placed<B>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!SquareMatrix<A>) {
    return square_matrix_misuse<A>();
  } else if constexpr (!Array<B>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!std::is_same_v<typename A::value_type, typename B::value_type>) {
    return error::element_types_differ{};
  } else if constexpr (B::rank == 0) {
    return error::wrong_rank{};
  } else {
    return no_misuse{};
  }
}
template <class A, class B, bool Right = false>
struct linear_system {
  static constexpr auto misuse() {
    if constexpr (!std::is_same_v<decltype(right_hand_side_misuse<A, B>()), no_misuse>) {
      return right_hand_side_misuse<A, B>();
    } else if constexpr (order() != unknowns()) {
      return error::inner_extents_differ{};
    } else if constexpr (!broadcastable(batch_of(A::shape), batch_of(side()))) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr std::int64_t order() { return A::shape[A::rank - 1]; }
  static constexpr std::int64_t unknowns() { return side()[side().rank - (Right ? 1 : 2)]; }
  static constexpr shape side() {
    if constexpr (B::rank == 1) {
      return Right ? make_shape(1, B::shape[0]) : make_shape(B::shape[0], 1);
    } else {
      return B::shape;
    }
  }
  static constexpr shape batch_of(const shape& s) {
    shape batch;
    for (int i = 0; i < s.rank - 2; ++i) batch.push_back(s[i]);
    return batch;
  }
  static constexpr shape in_batch(shape last) {
    shape s = broadcast_shapes(batch_of(A::shape), batch_of(side()));
    for (int i = 0; i < last.rank; ++i) s.push_back(last[i]);
    return s;
  }
  static constexpr shape matrices() { return in_batch(make_shape(order(), order())); }
  static constexpr shape sides() { return in_batch(make_shape(side()[side().rank - 2], side()[side().rank - 1])); }
  static constexpr shape value_of() {
    if constexpr (B::rank == 1) {
      return in_batch(B::shape);
    } else {
      return sides();
    }
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return value_of();
    } else {
      return shape{};
    }
  }();
};
template <class A, class B, bool Right = false>
concept Solvable = std::is_same_v<decltype(linear_system<A, B, Right>::misuse()), no_misuse>;
template <class A, class B, bool Right = false>
concept NotSolvable = (Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !Solvable<A, B, Right>;

template <class A, class B, bool Right, class F>
constexpr auto system_of(const A& a, const B& y, F write) {
  using S = linear_system<A, B, Right>;
  tracing_builder& b = tape_of(ref_of(a), ref_of(y));
  const int m = emit::resolve(b, ref_of(a), {dtype_of<typename A::value_type>, A::shape});
  const int side =
      emit::reshape(b, emit::resolve(b, ref_of(y), {dtype_of<typename B::value_type>, B::shape}), S::side());
  using R = array_of<typename A::value_type, S>;
  return R(at(b, emit::reshape(b, write(b, m, emit::broadcast_to(b, side, S::sides())), R::shape)));
}
}
}

namespace drx {
namespace prim::rules {
struct cholesky {
  static constexpr int symmetric(builder& b, int x) {
    const int twice = emit::add(b, x, emit::swap_last_two(b, x));
    return emit::mul(b, twice, emit::constant_like(b, x, 0.5));
  }
  static constexpr int half_triangle(builder& b, int x) {
    const int half = emit::mul(b, x, emit::constant_like(b, x, 0.5));
    const int row = emit::row_of(b, x), column = emit::column_of(b, x), diagonal = emit::equal(b, row, column);
    return emit::where(b, diagonal, half, emit::triangle(b, x, true, true));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const int l = s.results[0];
    const int left = emit::triangular_solve(s.b, l, symmetric(s.b, t[0]), false, true, false, false);
    const int both = emit::triangular_solve(s.b, l, left, true, true, true, false);
    return {emit::matmul(s.b, l, half_triangle(s.b, both), false, false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const int l = s.results[0];
    const int inner = half_triangle(s.b, emit::matmul(s.b, l, ct[0], true, false));
    const int left = emit::triangular_solve(s.b, l, inner, false, true, true, false);
    return {symmetric(s.b, emit::triangular_solve(s.b, l, left, true, true, false, false))};
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0)) return {};
    return emit::lane_cholesky(s.b, s.operands[0]);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto n = s.last();
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b) {
          const T* a = v.in[0]->data<T>() + b * n * n;
          T* l = v.out[0].data<T>() + b * n * n;
          bool definite = true;
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
              T sum = (a[i * n + j] + a[j * n + i]) / 2;
              for (std::int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
              definite = definite && (i != j || sum > 0);
              l[i * n + j] = i == j ? std::sqrt(sum) : sum / l[j * n + j];
            }
          for (std::int64_t i = 0; i < n && !definite; ++i)
            for (std::int64_t j = 0; j <= i; ++j) l[i * n + j] = std::numeric_limits<T>::quiet_NaN();
        }
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive cholesky{.name = "cholesky",
                                    .type = rules::square_matrix::type,
                                    .jvp = rules::cholesky::jvp,
                                    .vjp = rules::cholesky::vjp,
                                    .batch = rules::square_matrix::batch,
                                    .evaluate = rules::cholesky::evaluate,
                                    .known = rules::known::nothing,
                                    .lanes = rules::cholesky::lanes,
                                    .split = rules::split::along_matrices,
                                    .cost = rules::square_matrix::cost};
}
namespace emit {
constexpr int cholesky(builder& b, int a) { return b.add1(prim::cholesky, {a}); }
}

template <class A>
  requires detail::SquareMatrix<A>
constexpr A cholesky(const A& a) {
  return detail::unary<A>(a, [](builder& b, int id) { return emit::cholesky(b, id); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why cholesky(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(cholesky)

}

namespace drx::detail {

template <class Result>
struct traced_region {
  tape body;
  vec<traced_ref> captures;
};

template <region_kind Kind, class Axis, class F, class... X>
constexpr auto trace_region_in(tracing_context& context, const F& f, std::type_identity<X>...) {
  using R = call_result_t<F, traced_t<X>...>;
  tracing_builder own(context);
  tracing_builder& region = context.constants() ? context.constants()->open_region() : own;
  const placement_info* axis = nullptr;
  if constexpr (!std::is_void_v<Axis>) axis = &placement_of<Axis>;
  const region_scope scope(context, region, Kind, axis);
  vec<int> ids;
  [[maybe_unused]] auto input = [&]<class Y>(std::type_identity<Y>) {
    constexpr leaf_types<Y> types;
    const int first = ids.size();
    for (int i = 0; i < leaf_count<Y>; ++i) ids.push_back(region.input(types[i]));
    return bound<Y>(region, ids, first);
  };
  std::tuple<traced_t<X>...> inputs{input(std::type_identity<X>{})...};
  const auto result = std::apply(f, inputs);
  for (int id : leaf_refs<R>(result).on(region)) region.output(id);
  tape body;
  if (&region == &own)
    body = own.take();
  else
    body = region.result();
  return traced_region<R>{with_broadcasts_inside(static_cast<tape&&>(body)), region.captures()};
}
template <region_kind Kind = region_kind::loop, class Axis = void, class F, class... X>
constexpr auto trace_region(tracing_builder* outer, const F& f, std::type_identity<X>... x) {
  if (!outer->of_constants()) return trace_region_in<Kind, Axis>(outer->context(), f, x...);
  constants_trace* around = &constants_trace::open(outer->context());
  auto region = trace_region_in<Kind, Axis>(around->context(), f, x...);
  if (around->is_ambiguous()) {
    const constants_trace& first_attempt = *around;
    around = &constants_trace::open(outer->context());
    around->set_depth_by(first_attempt);
    region = trace_region_in<Kind, Axis>(around->context(), f, x...);
  }
  return region;
}
constexpr tracing_builder* with_captures(tracing_builder* b, const vec<traced_ref>& captures) {
  tracing_builder* const first = b;
  for (const auto& c : captures) b = inner_of(b, c.from.tape);
  if (first->of_constants()) constants_trace::adopt(b->context(), first->context());
  return &at_work(*b);
}

class regions_of_one_entry {
 public:
  vec<tape> bodies;
  vec<traced_ref> captures;

  template <class... R>
  constexpr explicit regions_of_one_entry(const R&... regions) {
    (collect(regions.captures), ...);
    (add(regions.body, regions.captures), ...);
  }
  template <class... X>
  constexpr vec<int> operands(tracing_builder& b, const X&... x) const {
    vec<int> ids;
    for (const auto& c : captures) ids.push_back(emit::resolve(b, c, {}));
    ids.append(leaves_on(b, x...));
    return ids;
  }

 private:
  static constexpr bool same(const traced_ref& a, const traced_ref& b) {
    return a.from.tape == b.from.tape && a.id == b.id;
  }
  constexpr void collect(const vec<traced_ref>& own) {
    for (const auto& c : own) {
      bool known = false;
      for (const auto& k : captures) known = known || same(c, k);
      if (!known) captures.push_back(c);
    }
  }
  constexpr void add(tape body, const vec<traced_ref>& own) {
    const int explicit_inputs = body.inputs.size() - own.size();
    vec<int> inputs;
    for (const auto& c : captures) {
      int id = -1;
      for (int i = 0; i < own.size(); ++i)
        if (same(own[i], c)) id = body.inputs[explicit_inputs + i];
      if (id < 0) {
        id = body.values.size();
        body.values.push_back(c.from.tape->type(c.id));
      }
      inputs.push_back(id);
    }
    for (int i = 0; i < explicit_inputs; ++i) inputs.push_back(body.inputs[i]);
    body.inputs = inputs;
    bodies.push_back(body);
  }
};

}

namespace drx {
namespace prim::rules {
struct map {
  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& body = t.regions[0];
    typing::require(body.inputs.size() == t.operands.size(), "map: the body's inputs are not the operands' number");
    for (int i = 0; i < t.operands.size(); ++i) {
      typing::require(t.operands[i].depth > 0 && t.operands[i].placements[0] == t.attrs.placement,
                      "map: an operand is not placed there");
      typing::require(t.operands[i].of_member() == body.values[body.inputs[i]], "map: an operand is of another type");
    }
    vec<abstract_value> r;
    for (int o : body.outputs) r.push_back(body.values[o].placed_at(t.attrs.placement));
    return r;
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    vec<bool> moving;
    vec<int> operands = s.operands;
    for (int t : tangents) {
      moving.push_back(t != zero_tangent);
      if (t != zero_tangent) operands.push_back(t);
    }
    const tape body = s.drivers.jvp(s.e.regions[0], moving);
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, vec<tape>{body});
    vec<int> r;
    int next = s.results.size();
    for (int i = 0; i < s.results.size(); ++i)
      r.push_back(is_floating(s.b.type(s.results[i]).type) ? all[next++] : zero_tangent);
    return r;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<bool> given;
    vec<int> operands = s.operands;
    for (int t : ct) {
      given.push_back(t != zero_tangent);
      if (t != zero_tangent) operands.push_back(t);
    }
    const tape body = s.drivers.vjp_of_member(s.e.regions[0], wanted, given);
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, vec<tape>{body});
    vec<int> r;
    int next = 0;
    for (int i = 0; i < s.operands.size(); ++i) r.push_back(wanted[i] ? all[next++] : zero_tangent);
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    return s.b.add(*s.e.prim, s.operands, s.e.attrs, vec<tape>{s.drivers.batch(s.e.regions[0], batched, n)});
  }
  static constexpr void prune(entry& e, const vec<bool>& wanted) {
    vec<bool> used;
    vec<bool> keep(e.operands.size(), false);
    if (wanted.find(false) < 0 && is_all_used(e.regions[0], true, false)) return;
    tape body = pruned_region(e.regions[0], wanted, keep, used);
    if (body.inputs.empty()) {
      keep[0] = true;
      body = pruned_region(e.regions[0], wanted, keep, used);
    }
    e.regions[0] = static_cast<tape&&>(body);
    e.operands = filtered(e.operands, used);
    e.results = filtered(e.results, wanted);
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name); }
  static constexpr vec<int> share(share_site& s) {
    vec<int> inputs;
    for (int i = 0; i < s.e.operands.size(); ++i) inputs.push_back(s.share(i));
    return inline_tape(s.b, s.e.regions[0], inputs);
  }
  static void evaluate(evaluation& v) {
    const std::int64_t n = v.members(v.e.attrs.placement);
    for (std::int64_t m = 0; m < n; ++m) {
      std::vector<tensor> inputs;
      for (const tensor* x : v.in) inputs.push_back(x->members.at(static_cast<std::size_t>(m)));
      std::vector<tensor> outputs = v.run_member(v.e.regions[0], std::move(inputs), m);
      for (std::size_t i = 0; i < outputs.size(); ++i) v.out[i].members.push_back(std::move(outputs[i]));
    }
  }
};
}

namespace prim {
inline constexpr primitive map{.name = "map",
                               .type = rules::map::type,
                               .jvp = rules::map::jvp,
                               .vjp = rules::map::vjp,
                               .batch = rules::map::batch,
                               .prune = rules::map::prune,
                               .print = rules::map::print,
                               .evaluate = rules::map::evaluate,
                               .share = rules::map::share,
                               .known = rules::known::of_region,
                               .known_inside = rules::known::operands_inside};
}

namespace emit {
template <class Body>
constexpr vec<int> map(builder& b, const placement_info* p, const vec<int>& operands, Body body) {
  builder region;
  vec<int> inputs;
  for (int o : operands) inputs.push_back(region.input(b.type(o).of_member()));
  for (int o : body(region, inputs)) region.output(o);
  attributes a;
  a.placement = p;
  return b.add(prim::map, operands, a, vec<tape>{region.result()});
}
constexpr int accumulate(builder& b, int x, int y) {
  if (x == zero_tangent) return y;
  if (y == zero_tangent) return x;
  const abstract_value t = b.type(x);
  if (t.depth == 0) return add(b, x, y);
  return map(b, t.placements[0], {x, y},
             [](builder& r, const vec<int>& in) { return vec<int>{accumulate(r, in[0], in[1])}; })[0];
}
constexpr int cast_of_members(builder& b, int x, dtype type) {
  const abstract_value t = b.type(x);
  if (t.depth == 0) return cast(b, x, type);
  return map(b, t.placements[0], {x},
             [=](builder& r, const vec<int>& in) { return vec<int>{cast_of_members(r, in[0], type)}; })[0];
}
constexpr int repeated(builder& b, int x, std::int64_t n) {
  const abstract_value t = b.type(x);
  if (t.depth == 0) return broadcast_to(b, x, with_front(t.shape, n));
  return map(b, t.placements[0], {x},
             [=](builder& r, const vec<int>& in) { return vec<int>{repeated(r, in[0], n)}; })[0];
}
constexpr int first_axes_exchanged(builder& b, int x) {
  const abstract_value t = b.type(x);
  if (t.depth > 0)
    return map(b, t.placements[0], {x},
               [](builder& r, const vec<int>& in) { return vec<int>{first_axes_exchanged(r, in[0])}; })[0];
  vec<std::int64_t> order{1, 0};
  for (int i = 2; i < t.shape.rank; ++i) order.push_back(i);
  return transpose(b, x, order);
}
constexpr int zeros_like(builder& b, int x) {
  const abstract_value t = b.type(x);
  if (t.depth == 0) return constant(b, t, 0);
  return map(b, t.placements[0], {x}, [](builder& r, const vec<int>& in) { return vec<int>{zeros_like(r, in[0])}; })[0];
}
constexpr int instantiate_zeros(builder& b, int tangent, int like) {
  return tangent == zero_tangent ? zeros_like(b, like) : tangent;
}
}

namespace detail {

template <class... X>
struct placement_of_all;
template <class S, class P, class... X>
struct placement_of_all<placed<S, P>, X...> {
  using type = P;
};

template <class P, class... X>
concept AllPlacedAt = (std::is_same_v<typename X::placement, P> && ...);

template <class... X>
constexpr auto map_misuse() {
  if constexpr (!(Placed<X> && ...)) {
    return error::map_needs_placed_arguments{};
  } else {
    return error::map_over_two_placements{};
  }
}
template <class... X>
struct mappable_check : std::false_type {};
template <class... X>
  requires(sizeof...(X) > 0 && (Placed<X> && ...) && !error::AnyReported<X...>)
struct mappable_check<X...> : std::bool_constant<AllPlacedAt<typename placement_of_all<X...>::type, X...>> {};
template <class... X>
concept Mappable = mappable_check<X...>::value;
template <class F, class... X>
struct map_result;
template <class F, class... X>
  requires Mappable<X...>
struct map_result<F, X...> {
  using type = call_result_t<F, traced_t<typename X::member>...>;
};
template <class F, class... X>
concept MapFunction = TracedResult<typename map_result<F, X...>::type>;
template <class F, class... X>
constexpr auto map_function_misuse() {
  if constexpr (Mappable<X...>) return result_misuse<typename map_result<F, X...>::type>();
}

constexpr bool uses_axis(const tape& t, const placement_info* axis);
constexpr vec<int> map_with_collectives(builder& b, const placement_info* p, const tape& body,
                                        const vec<int>& operands);
}

template <class F, class... X>
  requires(detail::Mappable<X...> && detail::MapFunction<F, X...>)
constexpr auto map(const F& f, const X&... x) {
  using P = typename detail::placement_of_all<X...>::type;
  using R = typename detail::map_result<F, X...>::type;
  if constexpr (error::Reported<R>) {
    return error::reported{};
  } else {
    const std::tuple<detail::leaf_refs<X>...> refs{detail::leaf_refs<X>(x)...};
    tracing_builder* b = nullptr;
    std::apply([&](const auto&... r) { ((b = detail::inner_of(b, r.innermost())), ...); }, refs);
    b = detail::or_of_constants(b);
    const bool of_constants = b->of_constants();
    const auto region =
        detail::trace_region<detail::region_kind::member, P>(b, f, std::type_identity<typename X::member>{}...);
    b = detail::with_captures(b, region.captures);
    if (of_constants) b = &detail::in_member(*b);
    vec<int> operands;
    std::apply([&](const auto&... r) { (operands.append(r.on(*b)), ...); }, refs);
    for (const auto& c : region.captures)
      operands.push_back(emit::broadcast(*b, emit::resolve(*b, c, {}), &placement_of<P>));
    using Y = placed<canonical_t<R>, P>;
    if (detail::uses_axis(region.body, &placement_of<P>))
      return detail::bound<Y>(*b, detail::map_with_collectives(*b, &placement_of<P>, region.body, operands));
    attributes a;
    a.placement = &placement_of<P>;
    return detail::bound<Y>(*b, b->add(prim::map, operands, a, vec<tape>{region.body}));
  }
}
template <class F, class... X, class Why = decltype(detail::map_function_misuse<F, X...>())>
  requires(detail::Mappable<X...> && !detail::MapFunction<F, X...>)
Why map(const F&, const X&...) = delete;  // drx: f must take one member of each x, and return arrays or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT)
template <class F, class... X, class Why = decltype(detail::map_misuse<X...>())>
  requires(sizeof...(X) > 0 && (Structured<X> && ...) && !error::AnyReported<X...> && !detail::Mappable<X...>)
Why map(const F&, const X&...) = delete;  // drx: map(f, x...) needs every x placed, all at one placement: broadcast<P>(x) places an unplaced value

namespace detail {
template <class A, class B>
concept PlacedPair =
    !error::AnyReported<A, B> && ((Placed<A> && (Placed<B> || Literal<B>)) || (Literal<A> && Placed<B>));
template <class A, class B>
concept PlacedTogether = PlacedPair<A, B> && (Literal<A> || Literal<B> || Mappable<A, B>);
template <class A, class B>
concept MixedPair = (Placed<A> && Structured<B> && !Literal<B>) || (Placed<B> && Structured<A> && !Literal<A>);
template <class A, class B>
concept Mixed = MixedPair<A, B> && !error::AnyReported<A, B> && !PlacedTogether<A, B>;
template <class A, class B>
using mixed_t = std::conditional_t<Placed<A> && Placed<B>, error::values_of_two_placements_do_not_mix,
                                   error::placed_and_unplaced_values_do_not_mix>;

template <class Op, class A, class B>
constexpr auto map_pair(Op op, const A& a, const B& b) {
  if constexpr (Literal<B>) {
    return map([=](const auto& x) { return op(x, b); }, a);
  } else if constexpr (Literal<A>) {
    return map([=](const auto& y) { return op(a, y); }, b);
  } else {
    return map(op, a, b);
  }
}
}
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator+(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x + y; }, a, b); }
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator-(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x - y; }, a, b); }
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator*(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x * y; }, a, b); }
template <class A, class B> requires detail::PlacedTogether<A, B>
constexpr auto operator/(const A& a, const B& b) { return detail::map_pair([](const auto& x, const auto& y) { return x / y; }, a, b); }
template <class A> requires(Placed<A> && !error::Reported<A>)
constexpr auto operator-(const A& a) { return map([](const auto& x) { return -x; }, a); }

template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator+(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first
template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator-(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first
template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator*(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first
template <class A, class B, class Why = detail::mixed_t<A, B>> requires detail::Mixed<A, B>
Why operator/(const A&, const B&) = delete;  // drx: place the unplaced one with broadcast<P>(x), or reduce the placed one first

DRX_SILENT(map)

}

namespace drx {
namespace prim::rules {
struct reduce {
  static constexpr auto known = rules::known::sums;
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth > 0 && t.operands[0].placements[0] == t.attrs.placement,
                    "reduce: the operand is not placed there");
    typing::require(t.operands[0].depth == 1, "reduce: the operand's members are placed themselves");
    return {t.operands[0].of_member()};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  template <class F>
  static void fold(evaluation& v, F f) {
    const auto& members = v.in[0]->members;
    if (members.empty()) return;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      using wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) {
        wide total = members[0].data<T>()[i];
        for (std::size_t m = 1; m < members.size(); ++m)
          total = static_cast<wide>(f(total, static_cast<wide>(members[m].data<T>()[i])));
        v.out[0].data<T>()[i] = static_cast<T>(total);
      }
    });
  }
};
struct reduce_sum : reduce {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].type != dtype::boolean, "reduce_sum: of bool");
    return reduce::type(t);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::broadcast(s.b, ct[0], s.e.attrs.placement)};
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return wrapping_sum(a, b); });
  }
};
struct sum_of_halves : reduce_sum {
  static constexpr known_values known(const known_site& s) {
    known_value sum = rules::known::sums(s)[0];
    if (s.type(s.e.results[0]).type == dtype::f16) sum.finite = false;
    return {sum};
  }
  static constexpr bool takes_halves = true;
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(is_half_type(t.operands[0].type), "sum_of_halves: not of 16 bits");
    return reduce::type(t);
  }
  static void evaluate(evaluation& v) {
    visit_element(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) {
        double total = 0;
        for (const tensor& m : v.in[0]->members) total += static_cast<double>(m.data<T>()[i]);
        v.out[0].data<T>()[i] = static_cast<T>(total);
      }
    });
  }
};
struct reduce_mean : reduce_sum {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(is_floating(t.operands[0].type), "reduce_mean: not floating");
    return reduce::type(t);
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const abstract_value t = s.b.type(ct[0]);
    const int count = emit::members(s.b, s.e.attrs.placement, t.type);
    const int at_least_one =
        s.b.add1(prim::maximum, {count, emit::constant_like(s.b, count, 1)});
    const int n = emit::broadcast_to(s.b, at_least_one, t.shape);
    return {emit::broadcast(s.b, emit::div(s.b, ct[0], n), s.e.attrs.placement)};
  }
  static void evaluate(evaluation& v) {
    reduce_sum::evaluate(v);
    const auto n = v.in[0]->members.size();
    if (n == 0) return;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] /= static_cast<T>(n);
    });
  }
};
template <bool Max>
struct reduce_extremum : reduce_sum {
  static constexpr int winners(const rule_site& s) {
    const placement_info* p = s.e.attrs.placement;
    attributes a;
    a.placement = p;
    const int number = s.b.add1(prim::member_index, {}, a), best = emit::broadcast(s.b, s.results[0], p);
    const int first = emit::broadcast(s.b, emit::first_to_attain(s.b, s.operands[0], number, p, Max), p);
    return emit::map(s.b, p, {s.operands[0], best, number, first}, [](builder& b, const vec<int>& in) {
      const int same = emit::equal(b, emit::broadcast_to(b, in[2], b.shape(in[3])), in[3]),
                no_nan = emit::equal(b, in[1], in[1]);
      const int hit =
          b.add1(prim::logical_or, {emit::equal(b, in[0], in[1]), b.add1(prim::logical_and, {same, no_nan})});
      return vec<int>{emit::cast(b, hit, b.type(in[0]).type)};
    })[0];
  }
  static constexpr int number_of(builder& b, int hit, const placement_info* p) {
    const int n = emit::reduce_sum(b, hit, p), all = emit::members(b, p, b.type(n).type);
    const int none = emit::cast(b, emit::equal(b, all, emit::constant_like(b, all, 0)), b.type(n).type);
    return emit::add(b, n, emit::broadcast_to(b, none, b.shape(n)));
  }
  static constexpr int shared(const rule_site& s, int moved) {
    const placement_info* p = s.e.attrs.placement;
    const int hit = winners(s), number = emit::broadcast(s.b, number_of(s.b, hit, p), p);
    return emit::map(s.b, p, {moved, hit, number}, [](builder& b, const vec<int>& in) {
      return vec<int>{emit::times(b, in[0], emit::div(b, in[1], in[2]))};
    })[0];
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    return {emit::reduce_sum(s.b, shared(s, t[0]), s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {shared(s, emit::broadcast(s.b, ct[0], s.e.attrs.placement))};
  }
  static void evaluate(evaluation& v) {
    fold(v, [](auto a, auto b) { return (Max ? b > a : b < a) || b != b ? b : a; });
  }
};
}

namespace prim {
template <class Rules>
constexpr primitive over_members(const char* name, drx::fold how = drx::fold::none) {
  primitive p{.name = name,
              .type = Rules::type,
              .jvp = Rules::jvp,
              .vjp = Rules::vjp,
              .batch = Rules::batch,
              .print = rules::broadcast::print,
              .evaluate = Rules::evaluate,
              .fold = how,
              .known = Rules::known};
  if constexpr (requires { Rules::takes_halves; }) p.takes_halves = Rules::takes_halves;
  if constexpr (requires { Rules::along_axis; }) p.along_axis = Rules::along_axis;
  return p;
}
inline constexpr primitive reduce_sum = over_members<rules::reduce_sum>("reduce_sum", fold::sum);
inline constexpr primitive sum_of_halves = over_members<rules::sum_of_halves>("sum_of_halves", fold::sum);
inline constexpr primitive reduce_mean = over_members<rules::reduce_mean>("reduce_mean", fold::mean);
inline constexpr primitive reduce_max = over_members<rules::reduce_extremum<true>>("reduce_max", fold::max);
inline constexpr primitive reduce_min = over_members<rules::reduce_extremum<false>>("reduce_min", fold::min);
}

namespace emit {
constexpr int reduce_sum(builder& b, int x, const placement_info* p) {
  attributes a;
  a.placement = p;
  return b.add1(prim::reduce_sum, {x}, a);
}
}

namespace detail {
template <class S>
inline constexpr bool all_unplaced_numbers = [] {
  leaf_types<S> t;
  for (int i = 0; i < leaf_count<S>; ++i)
    if (t[i].depth > 0 || t[i].type == dtype::boolean) return false;
  return true;
}();
template <class S>
inline constexpr bool any_placed = [] {
  leaf_types<S> t;
  for (int i = 0; i < leaf_count<S>; ++i)
    if (t[i].depth > 0) return true;
  return false;
}();
template <class X>
concept ReducibleMembers = Placed<X> && !error::Reported<X> && all_unplaced_numbers<typename X::member>;
template <class X>
concept MeanableMembers = ReducibleMembers<X> && (all_floating<typename X::member> || Array<typename X::member>);
template <class X>
constexpr auto members_misuse() {
  if constexpr (!Placed<X>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (any_placed<typename X::member>) {
    return error::reduce_the_inner_placement_first{};
  } else if constexpr (!all_unplaced_numbers<typename X::member>) {
    return error::needs_numbers{};
  } else {
    return error::needs_floating_values{};
  }
}
template <class X>
concept Irreducible = Placed<X> && !error::Reported<X> && !ReducibleMembers<X>;
template <class X>
concept Meanless = Placed<X> && !error::Reported<X> && !MeanableMembers<X>;
template <class X>
constexpr auto reduce(const primitive& p, const X& x) {
  const leaf_refs<X> refs(x);
  tracing_builder& b = common_tape(refs);
  attributes a;
  a.placement = &placement_of<typename X::placement>;
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = b.add1(p, {id}, a);
  return bound<typename X::member>(b, ids);
}
}

template <class X> requires detail::ReducibleMembers<X>
constexpr auto reduce_sum(const X& x) { return detail::reduce(prim::reduce_sum, x); }
template <class X> requires detail::MeanableMembers<X>
constexpr auto reduce_mean(const X& x) {
  if constexpr (all_floating<typename X::member>) {
    return detail::reduce(prim::reduce_mean, x);
  } else {
    return detail::reduce(prim::reduce_mean, map([](const auto& v) { return cast<double>(v); }, x));
  }
}
template <class X> requires detail::ReducibleMembers<X>
constexpr auto reduce_max(const X& x) { return detail::reduce(prim::reduce_max, x); }
template <class X> requires detail::ReducibleMembers<X>
constexpr auto reduce_min(const X& x) { return detail::reduce(prim::reduce_min, x); }

template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_sum(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::sum
template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_mean(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::mean
template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_max(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::max
template <class X, class Why = error::reduce_needs_a_placed_value> requires detail::Unplaced<X>
Why reduce_min(const X&) = delete;  // drx: an unplaced value is reduced already; over axes of an array: drx::min
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Irreducible<X>
Why reduce_sum(const X&) = delete;  // drx: members must be numbers; of members that are placed themselves, reduce inside of a map first
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Meanless<X>
Why reduce_mean(const X&) = delete;  // drx: members must be numbers, floating in a structure; of members that are placed themselves, reduce inside of a map first
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Irreducible<X>
Why reduce_max(const X&) = delete;  // drx: members must be numbers; of members that are placed themselves, reduce inside of a map first
template <class X, class Why = decltype(detail::members_misuse<X>())> requires detail::Irreducible<X>
Why reduce_min(const X&) = delete;  // drx: members must be numbers; of members that are placed themselves, reduce inside of a map first

DRX_SILENT(reduce_max)
DRX_SILENT(reduce_mean)
DRX_SILENT(reduce_min)
DRX_SILENT(reduce_sum)

}

namespace drx {
namespace prim::rules {
struct collective {
  static constexpr auto known = rules::known::sums;
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 0, "a collective of a placed value");
    return {t.operands[0]};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&,
                                  std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static void evaluate(evaluation&) {
    throw std::logic_error("drx: a collective outside of a map, pmap or vmap over its axis");
  }
};
struct psum : collective {
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    const int x = s.operands[0];
    return {have_axis ? emit::sum(s.b, x, {0}) : emit::mul(s.b, x, emit::constant_like(s.b, x, static_cast<double>(n))),
            false};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) { return jvp(s, ct); }
};
struct first_member : collective {
  struct view {
    bool largest;
    constexpr explicit view(int_list a) : largest(a.flag(0)) {}
  };
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t) {
    const int x = s.operands[0];
    if (!have_axis) return {emit::constant(s.b, s.b.type(x).with_type(dtype::int64), 0), false};
    const shape all = s.b.shape(x);
    const int best = emit::over_axes(s.b, view(s.e).largest ? prim::max_over : prim::min_over, x, {0});
    const int number = emit::iota(s.b, abstract_value(dtype::int64, all), 0),
              none = emit::constant_like(s.b, number, static_cast<double>(all[0]));
    const int attains = emit::equal(s.b, x, emit::broadcast_to(s.b, best, all));
    return {emit::over_axes(s.b, prim::min_over, emit::where(s.b, attains, number, none), {0}), false};
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    return {collective::type(t)[0].with_type(dtype::int64)};
  }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
};
template <bool Max>
struct pextremum : collective {
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t) {
    if (!have_axis) return {s.operands[0], false};
    return {emit::over_axes(s.b, Max ? prim::max_over : prim::min_over, s.operands[0], {0}), false};
  }
  static constexpr auto known = rules::known::handed_on;
  static constexpr int share(const rule_site& s) {
    const placement_info* axis = s.e.attrs.placement;
    const int x = s.operands[0], y = s.results[0];
    const int first = emit::first_member(s.b, x, axis, Max),
              mine = emit::cast(s.b, emit::axis_index(s.b, axis), dtype::int64);
    const int same = emit::equal(s.b, emit::broadcast_to(s.b, mine, s.b.shape(x)), first),
              no_nan = emit::equal(s.b, y, y);
    const int won = s.b.add1(prim::logical_or, {emit::equal(s.b, x, y), s.b.add1(prim::logical_and, {same, no_nan})});
    const int hit = emit::cast(s.b, won, s.b.type(x).type);
    return emit::div(s.b, hit, emit::psum(s.b, hit, axis));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    return {emit::psum(s.b, emit::times(s.b, t[0], share(s)), s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::times(s.b, emit::psum(s.b, ct[0], s.e.attrs.placement), share(s))};
  }
};
struct all_gather : collective {
  struct view {
    std::int64_t members;
    constexpr explicit view(int_list a) : members(a[0]) {}
  };
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    if (view(s.e).members != n) throw "drx: all_gather of another number of members than the axis has";
    return {have_axis ? s.operands[0] : emit::repeated(s.b, s.operands[0], n), false};
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    return {t.operands[0].with_shape(with_front(t.operands[0].shape, view(t.attrs).members))};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::at_axis_index(s.b, emit::psum(s.b, ct[0], s.e.attrs.placement), s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(s.b, s.b.add1(*s.e.prim, s.operands, s.e.attrs))};
  }
  static std::string print(const attributes& a) {
    return std::string(a.placement->name) + ": " + std::to_string(a.ints[0]);
  }
};
struct permute {
  static constexpr std::int64_t nobody = -1;
  struct view {
    int_list sources;
    constexpr explicit view(int_list a) : sources(a) {}
    [[nodiscard]] constexpr std::int64_t members() const { return sources.size(); }
  };
  static constexpr attributes of_parts(int_list sources, std::int64_t n, const placement_info* p) {
    attributes a;
    a.placement = p;
    for (auto source : sources)
      for (std::int64_t part = 0; part < n; ++part) a.ints.push_back(source == nobody ? nobody : source * n + part);
    return a;
  }
  static constexpr int transposed(const rule_site& s, int ct) {
    const int_list source = view(s.e).sources;
    vec<bool> done(source.size(), false);
    int total = zero_tangent;
    for (int left = 1; left > 0;) {
      attributes back = s.e.attrs;
      back.ints = vec<std::int64_t>(source.size(), nobody);
      left = 0;
      int moved = 0;
      for (int i = 0; i < source.size(); ++i) {
        if (source[i] == nobody || done[i]) continue;
        std::int64_t& to = back.ints[source.number(i)];
        if (to != nobody) {
          ++left;
        } else {
          to = i;
          done[i] = true;
          ++moved;
        }
      }
      if (moved > 0) total = emit::accumulate(s.b, total, s.b.add1(*s.e.prim, {ct}, back));
    }
    return total;
  }
};
struct ppermute : psum {
  using view = permute::view;
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    if (view(s.e).members() != n) throw "drx: ppermute of another number of members than the axis has";
    const int x = have_axis ? s.operands[0] : emit::repeated(s.b, s.operands[0], n);
    vec<int> rows;
    for (auto source : view(s.e).sources) {
      const bool zeros = source == permute::nobody;
      const int row = emit::part_of_axis(s.b, x, 0, zeros ? 0 : source, 1);
      rows.push_back(zeros ? emit::constant_like(s.b, row, 0) : row);
    }
    return {emit::concatenate(s.b, rows, 0), true};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : permute::transposed(s, ct[0])};
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name) + ": " + list_of(a.ints); }
};
struct all_to_all : psum {
  static constexpr bool takes_halves = true;
  static constexpr along_axis_result along_axis(const rule_site& s, bool have_axis, std::int64_t n) {
    return {emit::first_axes_exchanged(s.b, have_axis ? s.operands[0] : emit::repeated(s.b, s.operands[0], n)), true};
  }
  static constexpr auto known = rules::known::handed_on;
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(
        s.b, s.b.add1(*s.e.prim, {emit::first_axes_exchanged(s.b, s.operands[0])}, s.e.attrs))};
  }
};
struct axis_index {
  static constexpr along_axis_result along_axis(const rule_site& s, bool, std::int64_t n) {
    return {emit::iota(s.b, abstract_value(dtype::int32, make_shape(n)), 0), true};
  }
  static constexpr vec<abstract_value> type(const typing&) { return {abstract_value(dtype::int32, {})}; }
};
}

namespace prim {
inline constexpr primitive psum = over_members<rules::psum>("psum");
inline constexpr primitive pmax = over_members<rules::pextremum<true>>("pmax");
inline constexpr primitive pmin = over_members<rules::pextremum<false>>("pmin");
inline constexpr primitive first_member{.name = "first_member",
                                        .type = rules::first_member::type,
                                        .jvp = rules::first_member::jvp,
                                        .vjp = rules::first_member::vjp,
                                        .batch = rules::first_member::batch,
                                        .along_axis = rules::first_member::along_axis,
                                        .print = rules::all_gather::print,
                                        .evaluate = rules::collective::evaluate,
                                        .known = rules::known::nothing};
inline constexpr primitive all_gather{.name = "all_gather",
                                      .type = rules::all_gather::type,
                                      .jvp = rules::all_gather::jvp,
                                      .vjp = rules::all_gather::vjp,
                                      .batch = rules::all_gather::batch,
                                      .along_axis = rules::all_gather::along_axis,
                                      .print = rules::all_gather::print,
                                      .evaluate = rules::all_gather::evaluate,
                                      .known = rules::known::handed_on,
                                      .takes_halves = true};
inline constexpr primitive ppermute{.name = "ppermute",
                                    .type = rules::ppermute::type,
                                    .jvp = rules::ppermute::jvp,
                                    .vjp = rules::ppermute::vjp,
                                    .batch = rules::ppermute::batch,
                                    .along_axis = rules::ppermute::along_axis,
                                    .print = rules::ppermute::print,
                                    .evaluate = rules::ppermute::evaluate,
                                    .known = rules::known::sums,
                                    .takes_halves = true};
inline constexpr primitive all_to_all = over_members<rules::all_to_all>("all_to_all");
inline constexpr primitive axis_index{.name = "axis_index",
                                      .type = rules::axis_index::type,
                                      .jvp = rules::constant::jvp,
                                      .vjp = rules::constant::vjp,
                                      .batch = rules::constant::batch,
                                      .along_axis = rules::axis_index::along_axis,
                                      .print = rules::broadcast::print,
                                      .evaluate = rules::collective::evaluate,
                                      .known = rules::known::counts};

constexpr bool is_apart(const primitive* p) { return p == &ppermute || p == &all_to_all; }
constexpr bool is_collective(const primitive* p) {
  return p == &psum || p == &pmax || p == &pmin || p == &first_member || p == &all_gather || is_apart(p);
}
}

namespace emit {
constexpr int collective(builder& b, const primitive& p, int x, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  return b.add1(p, {x}, a);
}
constexpr int psum(builder& b, int x, const placement_info* axis) { return collective(b, prim::psum, x, axis); }
constexpr int axis_index(builder& b, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  return b.add1(prim::axis_index, {}, a);
}
constexpr int first_member(builder& b, int x, const placement_info* axis, bool largest) {
  attributes a;
  a.placement = axis;
  a.ints = {largest};
  return b.add1(prim::first_member, {x}, a);
}
constexpr int all_gather(builder& b, int x, std::int64_t members, const placement_info* axis) {
  attributes a;
  a.placement = axis;
  a.ints = {members};
  return b.add1(prim::all_gather, {x}, a);
}
constexpr int at_axis_index(builder& b, int x, const placement_info* axis) {
  const int at = reshape(b, axis_index(b, axis), make_shape(1));
  return reshape(b, dynamic_slice(b, x, at, {1}, 0), without_axis(b.shape(x), 0));
}
}

namespace detail {

template <class P, class X>
constexpr tracing_builder& tape_in_axis(const X& x) {
  tracing_builder* const traced = leaf_refs<X>(x).innermost();
  if (!traced || traced->of_constants())
    throw "drx: a collective of constants only; the number of members is axis_size<P>(x)";
  tracing_builder& b = at_work(*traced);
  tracing_builder* const member = b.context().member_of_axis(&placement_of<P>);
  if (!member && !b.context().constants()) error::no_map_pmap_or_vmap_around_this_has_the_axis<P>();  // drx: psum<P> and others are for the body of a map over P, of pmap<P>, of vmap<P>; those around this are in the lines beside
  return *inner_of(&b, member);
}
template <class P, class X>
constexpr tracing_builder& member_in_axis(const X& x) {
  tracing_builder& b = tape_in_axis<P>(x);
  tracing_builder* member = b.context().member_of_axis(&placement_of<P>);
  return member ? *member : b;
}
template <class X>
concept Communicable = Structured<X> && !error::Reported<X> && all_unplaced<X>;
template <class P, class X, class Write>
constexpr auto communicate(const X& x, Write write) {
  tracing_builder& b = tape_in_axis<P>(x);
  vec<int> ids = leaf_refs<X>(x).on(b);
  for (int& id : ids) id = write(b, id);
  return ids;
}
template <class P, class X>
constexpr auto communicate_same(const primitive& p, const X& x) {
  tracing_builder& b = tape_in_axis<P>(x);
  vec<int> ids = leaf_refs<X>(x).on(b);
  for (int& id : ids) id = emit::collective(b, p, id, &placement_of<P>);
  return bound<canonical_t<X>>(b, ids);
}
}

template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto psum(const X& x) { return detail::communicate_same<P>(prim::psum, x); }
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto pmax(const X& x) { return detail::communicate_same<P>(prim::pmax, x); }
template <class P, class X> requires(Placement<P> && detail::Communicable<X>)
constexpr auto pmin(const X& x) { return detail::communicate_same<P>(prim::pmin, x); }

template <class P, class X>
  requires(Placement<P> && detail::Communicable<X>)
constexpr array<std::int32_t> axis_index(const X& beside) {
  tracing_builder& b = detail::member_in_axis<P>(beside);
  return array<std::int32_t>(detail::at(b, emit::axis_index(b, &placement_of<P>)));
}
template <class P, class T = double, class X>
  requires(Placement<P> && detail::Communicable<X>)
constexpr array<T> axis_size(const X& beside) {
  tracing_builder& b = detail::member_in_axis<P>(beside);
  return array<T>(detail::at(b, emit::members(b, &placement_of<P>, dtype_of<T>)));
}
template <class P, std::int64_t N, class A>
  requires(Placement<P> && Array<A>)
constexpr auto all_gather(const A& x) {
  const vec<int> ids =
      detail::communicate<P>(x, [](builder& b, int id) { return emit::all_gather(b, id, N, &placement_of<P>); });
  return stacked_t<A, N>(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}
template <class P, std::int64_t N, class A>
  requires(Placement<P> && Array<A>)
constexpr auto pprod(const A& x) {
  return prod<0>(all_gather<P, N>(x));
}
template <class P, class A>
  requires(Placement<P> && Array<A> && (A::rank > 0))
constexpr A all_to_all(const A& x) {
  const vec<int> ids = detail::communicate<P>(
      x, [](builder& b, int id) { return emit::collective(b, prim::all_to_all, id, &placement_of<P>); });
  return A(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}
template <class P, class A>
  requires(Placement<P> && Array<A> && (A::rank > 0))
constexpr auto psum_scatter(const A& x) {
  return sum<0>(all_to_all<P>(x));
}
template <class P, class A, std::size_t N>
  requires(Placement<P> && Array<A>)
constexpr A ppermute(const A& x, const std::array<int, N>& from) {
  attributes a;
  a.placement = &placement_of<P>;
  for (int source : from) {
    if (source < -1 || source >= static_cast<int>(N)) throw "drx: ppermute: a source is not a member's number";
    a.ints.push_back(source);
  }
  const vec<int> ids = detail::communicate<P>(x, [&](builder& b, int id) { return b.add1(prim::ppermute, {id}, a); });
  return A(detail::at(detail::tape_in_axis<P>(x), ids[0]));
}

template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why psum(const X&) = delete;  // drx: psum<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_sum
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why pmax(const X&) = delete;  // drx: pmax<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_max
template <class P, class X, class Why = error::array_operation_on_a_placed_value> requires(Structured<X> && !error::Reported<X> && !detail::Communicable<X>)
Why pmin(const X&) = delete;  // drx: pmin<P>(x) is of one member's value, in a map or pmap over P; of a placed value use reduce_min

DRX_SILENT_OF_TYPE(psum)
DRX_SILENT_OF_TYPE(pmax)
DRX_SILENT_OF_TYPE(pmin)

}

namespace drx {
namespace prim::rules {
struct concatenate {
  struct view {
    int axis;
    constexpr explicit view(int_list a) : axis(a.number(0)) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(!t.operands.empty(), "concatenate: of nothing");
    const int axis = view(t.attrs).axis;
    abstract_value r = t.operands[0];
    typing::require(axis >= 0 && axis < r.shape.rank, "concatenate: no such axis");
    for (int i = 1; i < t.operands.size(); ++i) {
      abstract_value x = t.operands[i];
      typing::require(x.shape.rank == r.shape.rank, "concatenate: ranks differ");
      const auto n = x.shape[axis];
      x.shape[axis] = r.shape[axis];
      typing::require(x == r, "concatenate: element types or other extents differ");
      r.shape[axis] += n;
    }
    return {r};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    vec<int> moved;
    for (int i = 0; i < t.size(); ++i) moved.push_back(emit::instantiate_zeros(s.b, t[i], s.operands[i]));
    return {s.b.add1(*s.e.prim, moved, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(s.operands.size(), zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const int axis = view(s.e).axis;
    std::int64_t at = 0;
    for (int i = 0; i < r.size(); ++i) {
      const std::int64_t n = s.b.shape(s.operands[i])[axis];
      if (wanted[i]) r[i] = emit::part_of_axis(s.b, ct[0], axis, at, n);
      at += n;
    }
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {emit::concatenate(s.b, operands, view(s.e).axis + 1)};
  }
  static constexpr int simplify(builder&, const vec<int>& o, const attributes&) { return o.size() == 1 ? o[0] : -1; }
  static std::string print(const attributes& a) { return "axis=" + std::to_string(view(a).axis); }
  static constexpr known_values known(const known_site& s) {
    known_value all = s.operands[0];
    for (const known_value& x : s.operands) all = either(all, x);
    return {all};
  }
  static void evaluate(evaluation& v) {
    const int axis = view(v.e).axis;
    const shape to = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::int64_t before = 0;
    for (const tensor* x : v.in) {
      std::size_t i = 0;
      for_each_index(x->type.shape, [&](const std::int64_t* at) {
        std::int64_t target[shape::max_rank] = {};
        for (int k = 0; k < to.rank; ++k) target[k] = at[k] + (k == axis ? before : 0);
        std::memcpy(&v.out[0].bytes[width * static_cast<std::size_t>(flat_index(to, target))], &x->bytes[width * i++],
                    width);
      });
      before += x->type.shape[axis];
    }
  }
};
}

namespace prim {
inline constexpr primitive concatenate{.name = "concatenate",
                                       .type = rules::concatenate::type,
                                       .jvp = rules::concatenate::jvp,
                                       .vjp = rules::concatenate::vjp,
                                       .batch = rules::concatenate::batch,
                                       .simplify = rules::concatenate::simplify,
                                       .print = rules::concatenate::print,
                                       .evaluate = rules::concatenate::evaluate,
                                       .known = rules::concatenate::known,
                                       .lanes = rules::lanes::same,
                                       .split = rules::split::but_along<rules::concatenate>,
                                       .role = role::rearranged,
                                       .takes_halves = true};
}
namespace emit {
constexpr int concatenate(builder& b, const vec<int>& x, int axis) {
  attributes a;
  a.ints = {axis};
  return b.add1(prim::concatenate, x, a);
}
}

namespace detail {
template <int Axis, class... X>
struct joined : not_arrays<X...> {};
template <int Axis, Array A, Array... X>
struct joined<Axis, A, X...> {
  static constexpr int axis = normal_axis(Axis, A::rank);
  template <class B>
  static constexpr bool fits() {
    for (int i = 0; i < A::rank; ++i)
      if (i != axis && A::shape[i] != B::shape[i]) return false;
    return true;
  }
  static constexpr auto misuse() {
    if constexpr (!(std::is_same_v<typename A::value_type, typename X::value_type> && ...)) {
      return error::element_types_differ{};
    } else if constexpr (!((A::rank == X::rank) && ...)) {
      return error::wrong_rank{};
    } else if constexpr (axis < 0 || axis >= A::rank) {
      return error::axis_out_of_range{};
    } else if constexpr (!(fits<X>() && ...)) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr shape value = [] {
    shape s = A::shape;
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) ((s[axis] += X::shape[axis]), ...);
    return s;
  }();
};
template <int Axis, class... X>
concept Joinable = std::is_same_v<decltype(joined<Axis, X...>::misuse()), no_misuse>;

template <int Axis, class... X>
struct stacking : not_arrays<X...> {};
template <int Axis, Array A, Array... X>
struct stacking<Axis, A, X...> {
  static constexpr int axis = normal_axis(Axis, A::rank + 1);
  static constexpr auto misuse() {
    if constexpr (!(std::is_same_v<typename A::value_type, typename X::value_type> && ...)) {
      return error::element_types_differ{};
    } else if constexpr (!(std::is_same_v<A, X> && ...)) {
      return error::extents_differ{};
    } else if constexpr (axis < 0 || axis > A::rank) {
      return error::axis_out_of_range{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr shape with_axis(std::int64_t n) {
    shape s;
    for (int i = 0; i <= A::rank; ++i) {
      if (i == axis) s.push_back(n);
      if (i < A::rank) s.push_back(A::shape[i]);
    }
    return s;
  }
  static constexpr shape value = with_axis(1 + static_cast<std::int64_t>(sizeof...(X)));
};
template <int Axis, class... X>
concept Stackable = std::is_same_v<decltype(stacking<Axis, X...>::misuse()), no_misuse>;

}

template <int Axis = 0, class... X>
  requires(sizeof...(X) > 0 && detail::Joinable<Axis, X...>)
constexpr auto concatenate(const X&... x) {
  using J = detail::joined<Axis, X...>;
  using T = std::common_type_t<typename X::value_type...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
  return array_of<T, J>(detail::at(b, emit::concatenate(b, {detail::id_on(b, x)...}, J::axis)));
}
template <int Axis = 0, class... X, class Why = decltype(detail::joined<Axis, X...>::misuse())>
  requires(((Array<X> || Placed<X>) && ...) && sizeof...(X) > 0 && !detail::Joinable<Axis, X...>)
Why concatenate(const X&...) = delete;  // drx: arrays of one element type and rank whose extents differ along the axis only; of placed values in a map

template <int Axis = 0, class... X>
  requires(sizeof...(X) > 0 && detail::Stackable<Axis, X...>)
constexpr auto stack(const X&... x) {
  using S = detail::stacking<Axis, X...>;
  using T = std::common_type_t<typename X::value_type...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
  return array_of<T, S>(
      detail::at(b, emit::concatenate(b, {emit::reshape(b, detail::id_on(b, x), S::with_axis(1))...}, S::axis)));
}
namespace detail {
template <class X, class... Rest>
constexpr auto first_array() {
  if constexpr (Array<X> || sizeof...(Rest) == 0) {
    return std::type_identity<X>{};
  } else {
    return first_array<Rest...>();
  }
}
template <class... X>
concept NumbersBesideArrays = (Array<X> || ...) && (Literal<X> || ...) && ((Array<X> || Literal<X>) && ...);
template <class A, class X>
struct array_for_number_of {
  using type = X;
};
template <class A, Literal X>
struct array_for_number_of<A, X> {
  using type = std::conditional_t<literal_fits(dtype_of<X>, dtype_of<typename A::value_type>), A,
                                  error::a_literal_does_not_fit_the_element_type>;
};
template <class A, class X>
using array_for_number = typename array_for_number_of<A, X>::type;
template <class A, class X>
constexpr A as_array(const X& x) {
  if constexpr (Array<X>) {
    return x;
  } else {
    return full<A>(static_cast<typename A::value_type>(x));
  }
}
template <class... X>
using array_beside = typename decltype(first_array<X...>())::type;
}
template <int Axis = 0, class... X>
  requires(detail::NumbersBesideArrays<X...> &&
           detail::Stackable<Axis, detail::array_for_number<detail::array_beside<X...>, X>...>)
constexpr auto stack(const X&... x) {
  return drx::stack<Axis>(detail::as_array<detail::array_for_number<detail::array_beside<X...>, X>>(x)...);
}
template <int Axis = 0, class... X, class Why = decltype(detail::stacking<Axis, X...>::misuse())>
  requires(((Array<X> || Placed<X>) && ...) && sizeof...(X) > 0 && !detail::Stackable<Axis, X...>)
Why stack(const X&...) = delete;  // drx: arrays of one element type and shape; of placed values in a map

DRX_SILENT(concatenate)
DRX_SILENT(stack)

}

namespace drx {
namespace prim::rules {
struct cond {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0] == abstract_value(dtype::boolean, {}), "cond: the condition is not one bool");
    for (const tape& branch : t.regions) {
      typing::require(branch.inputs.size() + 1 == t.operands.size(),
                      "cond: a branch's inputs are not the operands' number");
      for (int i = 0; i < branch.inputs.size(); ++i)
        typing::require(t.operands[i + 1] == branch.values[branch.inputs[i]],
                        "cond: an operand is of another type than a branch's input");
    }
    vec<abstract_value> r = t.regions[0].types_of(t.regions[0].outputs);
    typing::require(r == t.regions[1].types_of(t.regions[1].outputs), "cond: the branches return different types");
    return r;
  }

  static constexpr bool is_zero(const tape& t, int value) {
    for (const entry& e : t.entries)
      if (e.prim == &prim::constant && e.results[0] == value) return e.attrs.number == 0;
    return false;
  }
  static constexpr int unless_zero(const vec<tape>& branches, int k, const vec<int>& results) {
    bool zero = true;
    for (const tape& branch : branches) zero = zero && is_zero(branch, branch.outputs[k]);
    return zero ? zero_tangent : results[k];
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    vec<bool> moving;
    vec<int> operands = s.operands;
    for (int i = 1; i < tangents.size(); ++i) {
      moving.push_back(tangents[i] != zero_tangent);
      if (moving.back()) operands.push_back(tangents[i]);
    }
    vec<tape> branches;
    for (const tape& branch : s.e.regions) branches.push_back(s.drivers.jvp(branch, moving));
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, branches);
    vec<int> r;
    int next = s.results.size();
    for (int i = 0; i < s.results.size(); ++i)
      r.push_back(is_floating(s.b.type(s.results[i]).type) ? unless_zero(branches, next++, all) : zero_tangent);
    for (int i = 0; i < s.results.size(); ++i) r.push_back(all[i]);
    return r;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<bool> given, region_wanted;
    vec<int> operands = s.operands;
    for (int t : ct) {
      given.push_back(t != zero_tangent);
      if (given.back()) operands.push_back(t);
    }
    for (int i = 1; i < s.operands.size(); ++i) region_wanted.push_back(wanted[i]);
    vec<tape> branches;
    for (const tape& branch : s.e.regions) branches.push_back(s.drivers.vjp(branch, region_wanted, given));
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, branches);
    vec<int> r{zero_tangent};
    int next = 0;
    for (bool w : region_wanted) r.push_back(w ? unless_zero(branches, next++, all) : zero_tangent);
    return r;
  }

  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<bool> on;
    for (int i = 1; i < batched.size(); ++i) on.push_back(batched[i]);
    vec<tape> branches;
    for (const tape& branch : s.e.regions) branches.push_back(s.drivers.batch(branch, on, n));
    if (!batched[0]) return s.b.add(*s.e.prim, s.operands, s.e.attrs, branches);
    vec<int> inputs;
    for (int i = 1; i < s.operands.size(); ++i) inputs.push_back(s.operands[i]);
    const vec<int> x = inline_tape(s.b, branches[0], inputs), y = inline_tape(s.b, branches[1], inputs);
    vec<int> r;
    for (int i = 0; i < x.size(); ++i) r.push_back(emit::choose(s.b, s.operands[0], x[i], y[i]));
    return r;
  }
  static constexpr vec<int> unfold(builder& b, const vec<int>& operands, const vec<tape>& regions) {
    double condition = 0;
    if (!emit::is_constant(b, operands[0], condition)) return {};
    vec<int> inputs;
    for (int i = 1; i < operands.size(); ++i) inputs.push_back(operands[i]);
    return inline_tape(b, regions[condition != 0 ? 0 : 1], inputs);
  }
  static constexpr void prune(entry& e, const vec<bool>& wanted) {
    vec<bool> keep(e.operands.size() - 1, false), used;
    for (const tape& branch : e.regions) {
      pruned_region(branch, wanted, keep, used);
      keep = used;
    }
    for (tape& branch : e.regions) branch = pruned_region(branch, wanted, keep, used);
    vec<bool> operands{true};
    operands.append(keep);
    e.operands = filtered(e.operands, operands);
    e.results = filtered(e.results, wanted);
  }
  static constexpr known_values known_inside(const known_site& s, int) {
    known_values r;
    for (int i = 1; i < s.operands.size(); ++i) r.push_back(s.operands[i]);
    return r;
  }
  static constexpr known_values known(const known_site& s) {
    const known_values inside = known_inside(s, 0), other = s.outputs(s.e.regions[1], inside);
    known_values r = s.outputs(s.e.regions[0], inside);
    for (int i = 0; i < r.size(); ++i) r[i] = either(r[i], other[i]);
    return r;
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    vec<int> inputs;
    vec<bool> in;
    for (int i = 1; i < s.operands.size(); ++i) {
      inputs.push_back(s.operands[i]);
      in.push_back(s.in_lanes[i]);
    }
    if (!s.in_lanes[0]) {
      vec<bool> must(s.e.results.size(), true), lanes;
      vec<tape> branches;
      for (const tape& branch : s.e.regions) branches.push_back(s.region(branch, in, must, lanes));
      return s.b.add(*s.e.prim, s.operands, s.e.attrs, branches);
    }
    vec<bool> first = in, second = in;
    const vec<int> x = s.write(s.b, s.n, s.e.regions[0], inputs, first),
                   y = s.write(s.b, s.n, s.e.regions[1], inputs, second);
    vec<int> r;
    for (int i = 0; i < x.size(); ++i) {
      const int yes = first[i] ? x[i] : s.spread(x[i]), no = second[i] ? y[i] : s.spread(y[i]);
      r.push_back(emit::where(s.b, emit::broadcast_to(s.b, s.operands[0], s.b.shape(yes)), yes, no));
    }
    s.results = vec<bool>(r.size(), true);
    return r;
  }
  static void evaluate(evaluation& v) {
    std::vector<tensor> inputs;
    for (std::size_t i = 1; i < v.in.size(); ++i) inputs.push_back(*v.in[i]);
    v.out = v.run(v.e.regions[v.in[0]->data<bool>()[0] ? 0 : 1], std::move(inputs));
  }
};
}

namespace prim {
inline constexpr primitive cond{.name = "cond",
                                .type = rules::cond::type,
                                .jvp = rules::cond::jvp,
                                .vjp = rules::cond::vjp,
                                .batch = rules::cond::batch,
                                .unfold = rules::cond::unfold,
                                .prune = rules::cond::prune,
                                .evaluate = rules::cond::evaluate,
                                .known = rules::cond::known,
                                .known_inside = rules::cond::known_inside,
                                .lanes = rules::cond::lanes};
}

namespace emit {
constexpr int choose(builder& b, int condition, int x, int y) {
  const abstract_value t = b.type(x);
  if (t.depth > 0)
    return map(b, t.placements[0], {broadcast(b, condition, t.placements[0]), x, y},
               [](builder& r, const vec<int>& in) { return vec<int>{choose(r, in[0], in[1], in[2])}; })[0];
  shape column = make_shape(t.shape[0]);
  while (column.rank < t.shape.rank) column.push_back(1);
  return where(b, broadcast_to(b, reshape(b, condition, column), t.shape), x, y);
}
}

namespace detail {

template <class C>
concept Condition = ScalarArray<C> && std::is_same_v<typename std::remove_cvref_t<C>::value_type, bool>;

template <class C, class F, class G, class... X>
constexpr auto cond_misuse() {
  if constexpr (!Condition<C>) {
    return error::condition_is_not_one_bool{};
  } else if constexpr (!(Structured<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else {
    using R = call_result_t<F, traced_t<X>...>;
    using S = call_result_t<G, traced_t<X>...>;
    if constexpr (!TracedResult<R>) {
      return result_misuse<R>();
    } else if constexpr (!TracedResult<S>) {
      return result_misuse<S>();
    } else if constexpr (error::AnyReported<R, S> || std::is_same_v<canonical_t<R>, canonical_t<S>>) {
      return no_misuse{};
    } else {
      return error::branches_return_different_types<canonical_t<R>, canonical_t<S>>{};
    }
  }
}
template <class C, class F, class G, class... X>
concept Branches = std::is_same_v<decltype(cond_misuse<C, F, G, X...>()), no_misuse>;

}

template <class C, class F, class G, class... X>
  requires(!error::AnyReported<C, X...> && detail::Branches<C, F, G, X...>)
constexpr auto cond(const C& condition, const F& then, const G& otherwise, const X&... x) {
  using R = detail::call_result_t<F, traced_t<X>...>;
  if constexpr (error::AnyReported<R, detail::call_result_t<G, traced_t<X>...>>) {
    return error::reported{};
  } else {
    tracing_builder* b = detail::meeting_builder(condition, x...);
    const detail::regions_of_one_entry branches{
        detail::trace_region<detail::region_kind::branch>(b, then, std::type_identity<X>{}...),
        detail::trace_region<detail::region_kind::branch>(b, otherwise, std::type_identity<X>{}...)};
    b = detail::with_captures(b, branches.captures);
    vec<int> operands = detail::leaves_on(*b, condition);
    operands.append(branches.operands(*b, x...));
    return detail::bound<R>(*b, b->add(prim::cond, operands, {}, branches.bodies));
  }
}
template <class C, class F, class G, class... X, class Why = decltype(detail::cond_misuse<C, F, G, X...>())>
  requires(!error::AnyReported<C, X...> && !detail::Branches<C, F, G, X...>)
Why cond(const C&, const F&, const G&, const X&...) = delete;  // drx: cond(condition, then, otherwise, x...): the condition is a drx::array<bool>, not placed; then(x...) and otherwise(x...) return the same type

namespace detail {
template <class I, class F, class... G>
constexpr auto switch_misuse() {
  if constexpr (!(ScalarArray<I> && IntegerArray<I>)) {
    return error::needs_integer_values{};
  } else if constexpr (sizeof...(G) == 0) {
    using R = call_result_t<F>;
    return result_misuse<R>();
  } else {
    using first = std::tuple_element_t<0, std::tuple<G...>>;
    if constexpr (!Branches<array<bool>, F, first>) {
      return cond_misuse<array<bool>, F, first>();
    } else {
      return switch_misuse<I, G...>();
    }
  }
}
template <class I, class... F>
concept Cases = std::is_same_v<decltype(switch_misuse<I, F...>()), no_misuse>;

template <class I, class F, class... G>
constexpr auto chosen_case(const I& i, const F& f, const G&... g) {
  if constexpr (sizeof...(G) == 0) {
    return f();
  } else {
    return drx::cond(i <= 0, f, [&] { return chosen_case(i - 1, g...); });
  }
}
}

template <class I, class F, class... G>
  requires(!error::Reported<I> && detail::Cases<I, F, G...>)
constexpr auto switch_case(const I& i, const F& f, const G&... g) {
  return detail::chosen_case(i, f, g...);
}
template <class I, class F, class... G, class Why = decltype(detail::switch_misuse<I, F, G...>())>
  requires(!error::Reported<I> && !detail::Cases<I, F, G...>)
Why switch_case(const I&, const F&, const G&...) = delete;  // drx: switch_case(i, f...): i is a drx::array<int>, not placed; the functions take nothing and return the same type

DRX_SILENT(cond)
DRX_SILENT(switch_case)

}

namespace drx {
namespace prim::rules {
struct pad {
  struct view {
    int_list lows, highs, interiors;
    constexpr explicit view(int_list a) : view(a, a.size() / 3) {}
    [[nodiscard]] constexpr int rank() const { return lows.size(); }
    [[nodiscard]] constexpr std::int64_t low(int axis) const { return lows[axis]; }
    [[nodiscard]] constexpr std::int64_t high(int axis) const { return highs[axis]; }
    [[nodiscard]] constexpr std::int64_t interior(int axis) const { return interiors[axis]; }
    [[nodiscard]] constexpr bool pads(int axis) const {
      return low(axis) != 0 || high(axis) != 0 || interior(axis) != 0;
    }

   private:
    constexpr view(int_list a, int rank)
        : lows(a.part(0, rank)), highs(a.part(rank, rank)), interiors(a.part(2 * rank, rank)) {}
  };
  static constexpr std::int64_t covered(std::int64_t n, std::int64_t interior) {
    return n == 0 ? 0 : n + (n - 1) * interior;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape from = t.operands[0].shape;
    typing::require(t.attrs.ints.size() == 3 * from.rank, "pad: not a padding for each axis");
    shape to;
    const view zeros(t.attrs);
    for (int i = 0; i < from.rank; ++i) {
      const auto low = zeros.low(i), high = zeros.high(i), interior = zeros.interior(i);
      typing::require(low >= 0 && high >= 0 && interior >= 0, "pad: negative");
      to.push_back(low + covered(from[i], interior) + high);
    }
    return {t.operands[0].with_shape(to)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]);
    vec<std::int64_t> start, stop, stride;
    for (int i = 0; i < from.rank; ++i) {
      const auto low = view(s.e).low(i), interior = view(s.e).interior(i);
      start.push_back(low);
      stop.push_back(low + covered(from[i], interior));
      stride.push_back(interior + 1);
    }
    return {emit::slice(s.b, ct[0], start, stop, stride)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    const view zeros(s.e);
    vec<std::int64_t> low{0}, high{0}, interior{0};
    low.append(zeros.lows);
    high.append(zeros.highs);
    interior.append(zeros.interiors);
    return {emit::pad(s.b, s.operands[0], low, high, interior)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const vec<abstract_value> from{b.type(o[0])};
    const abstract_value to = type({from, a, {}})[0];
    if (to == from[0]) return o[0];
    double x = 0;
    return emit::is_constant(b, o[0], x) && x == 0 ? emit::constant(b, to, 0) : -1;
  }
  static std::string print(const attributes& a) {
    const view zeros(a);
    std::string text;
    for (int i = 0; i < zeros.rank(); ++i) {
      text += (i ? ", " : "") + std::to_string(zeros.low(i)) + "+" + std::to_string(zeros.high(i));
      if (zeros.interior(i) != 0) text += " every " + std::to_string(zeros.interior(i) + 1);
    }
    return text;
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const view zeros(s.e);
    return {emit::pad(s.b, s.operands[0], rules::lanes::and_last(zeros.lows, 0), rules::lanes::and_last(zeros.highs, 0),
                      rules::lanes::and_last(zeros.interiors, 0))};
  }
  static constexpr vec<split_result> split(split_site& s) {
    const int k = s.first_axis();
    if (k == split_site::whole || view(s.e).pads(k)) return {};
    return s.apart(s.e.attrs);
  }
  static void evaluate(evaluation& v) {
    const shape to = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(v.in[0]->type.shape, [&](const std::int64_t* at) {
      std::int64_t target[shape::max_rank] = {};
      for (int k = 0; k < to.rank; ++k) target[k] = view(v.e).low(k) + at[k] * (view(v.e).interior(k) + 1);
      std::memcpy(&v.out[0].bytes[width * static_cast<std::size_t>(flat_index(to, target))],
                  &v.in[0]->bytes[width * i++], width);
    });
  }
};
}

namespace prim {
inline constexpr primitive pad{.name = "pad",
                               .type = rules::pad::type,
                               .jvp = rules::broadcast_to::jvp,
                               .vjp = rules::pad::vjp,
                               .batch = rules::pad::batch,
                               .simplify = rules::pad::simplify,
                               .print = rules::pad::print,
                               .evaluate = rules::pad::evaluate,
                               .known = rules::known::sums,
                               .lanes = rules::pad::lanes,
                               .split = rules::pad::split,
                               .role = role::rearranged,
                               .takes_halves = true};
}
namespace emit {
constexpr int pad(builder& b, int x, const vec<std::int64_t>& low, const vec<std::int64_t>& high,
                  const vec<std::int64_t>& interior) {
  attributes a;
  a.ints = low;
  a.ints.append(high);
  a.ints.append(interior);
  return b.add1(prim::pad, {x}, a);
}
}

template <std::int64_t Low, std::int64_t High = Low, std::int64_t Interior = 0>
struct padding {
  static_assert(Low >= 0 && High >= 0 && Interior >= 0, "drx::padding: negative; drx::slice takes away");
  static constexpr std::int64_t low = Low, high = High, interior = Interior;
};

namespace detail {
template <class P>
inline constexpr bool is_padding = false;
template <std::int64_t Low, std::int64_t High, std::int64_t Interior>
inline constexpr bool is_padding<padding<Low, High, Interior>> = true;

template <class A, class... P>
struct padded {
  static constexpr vec<std::int64_t> list(std::int64_t (*of)(int)) {
    vec<std::int64_t> v;
    for (int i = 0; i < A::rank; ++i) v.push_back(of(i));
    return v;
  }
  static constexpr int given = static_cast<int>(sizeof...(P));
  static constexpr std::int64_t nth(int i, std::initializer_list<std::int64_t> of) {
    return i < given ? of.begin()[i] : 0;
  }
  static constexpr std::int64_t low(int i) { return nth(i, {P::low...}); }
  static constexpr std::int64_t high(int i) { return nth(i, {P::high...}); }
  static constexpr std::int64_t interior(int i) { return nth(i, {P::interior...}); }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i)
      s.push_back(low(i) + prim::rules::pad::covered(A::shape[i], interior(i)) + high(i));
    return s;
  }();
};
template <class A, int N>
struct has_axes : std::false_type {};
template <Array A, int N>
struct has_axes<A, N> : std::bool_constant<(N <= A::rank)> {};
}

template <class... Paddings, class A>
  requires(sizeof...(Paddings) > 0 && (detail::is_padding<Paddings> && ...) &&
           detail::has_axes<A, static_cast<int>(sizeof...(Paddings))>::value)
constexpr auto pad(const A& x) {
  using S = detail::padded<A, Paddings...>;
  return detail::unary<array_of<typename A::value_type, S>>(
      x, [](builder& b, int id) { return emit::pad(b, id, S::list(S::low), S::list(S::high), S::list(S::interior)); });
}
template <std::int64_t Low, std::int64_t High = Low, std::int64_t Interior = 0, class A>
  requires(detail::has_axes<A, 1>::value)
constexpr auto pad(const A& x) {
  return drx::pad<padding<Low, High, Interior>>(x);
}
template <class... Paddings, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_rank>>
  requires(sizeof...(Paddings) > 0 && (detail::is_padding<Paddings> && ...) && (Array<A> || Placed<A>) &&
           !detail::has_axes<A, static_cast<int>(sizeof...(Paddings))>::value)
Why pad(const A&) = delete;  // drx: at most as many paddings as the array has axes; of a placed value in a map
template <std::int64_t Low, std::int64_t High = Low, std::int64_t Interior = 0, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_rank>>
  requires((Array<A> || Placed<A>) && !detail::has_axes<A, 1>::value)
Why pad(const A&) = delete;  // drx: of an array of at least one axis; of a placed value in a map

DRX_SILENT(pad)

}

namespace drx {

template <std::int64_t... N>
struct window {
  static_assert(((N >= 1) && ...), "drx::window: the extents must be positive");
};
template <std::int64_t... N>
struct strides {
  static_assert(((N >= 1) && ...), "drx::strides: must be positive");
};
template <std::int64_t... N>
struct dilations {
  static_assert(((N >= 1) && ...), "drx::dilations: must be positive");
};
template <std::int64_t... N>
struct input_dilations {
  static_assert(((N >= 1) && ...), "drx::input_dilations: must be positive");
};
struct same {};

namespace detail {
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
  static constexpr std::int64_t count(int i, std::int64_t size, std::int64_t reach) {
    const std::int64_t room = covered(size, input_dilation.values[i]) + low(i, size, reach) + high(i, size, reach) -
                              covered(reach, kernel_dilation.values[i]);
    return room < 0 ? -1 : room / stride.values[i] + 1;
  }
};
}
}

namespace drx {
namespace prim::rules {
enum class convolution_role { y, x, w };

struct convolution {
  using role = convolution_role;
  struct view {
    int axes;
    role result;
    constexpr explicit view(int_list a) : axes(a.number(0)), result(static_cast<role>(a[1])), ints(a) {}
    constexpr std::int64_t stride(int i) const { return ints[2 + i]; }
    constexpr std::int64_t low(int i) const { return ints[2 + axes + i]; }
    constexpr std::int64_t input_dilation(int i) const { return ints[2 + 2 * axes + i]; }
    constexpr std::int64_t kernel_dilation(int i) const { return ints[2 + 3 * axes + i]; }
    constexpr std::int64_t extent(int i) const { return ints[2 + 4 * axes + i]; }
   private:
    int_list ints;
  };
  static constexpr attributes turned(const attributes& a, role result, const shape& s) {
    const int axes = view(a).axes, leading = s.rank - axes - 2 + (result != role::w);
    attributes r = a;
    r.ints[1] = static_cast<std::int64_t>(result);
    for (int i = 0; i < axes; ++i) r.ints[2 + 4 * axes + i] = s[leading + i];
    return r;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const view c(t.attrs);
    const shape p = t.operands[0].shape, q = t.operands[1].shape;
    const int batch = p.rank - c.axes - 2, r = p.rank;
    typing::require(batch >= 0 && q.rank == r, "convolution: ranks");
    typing::require(t.operands[0].type == t.operands[1].type && t.operands[0].type != dtype::boolean,
                    "convolution: types");
    for (int i = 0; i < batch; ++i) typing::require(p[i] == q[i], "convolution: batch extents");
    for (int i = 0; i < c.axes; ++i)
      typing::require(c.stride(i) >= 1 && c.input_dilation(i) >= 1 && c.kernel_dilation(i) >= 1 && c.extent(i) >= 0,
                      "convolution: windows");
    shape s = p;
    if (c.result == role::w) {
      typing::require(p[batch] == q[batch], "convolution: numbers of examples");
      for (int i = 0; i < c.axes; ++i) s[batch + i] = c.extent(i);
      s[r - 2] = p[r - 1];
      s[r - 1] = q[r - 1];
    } else {
      const bool forward = c.result == role::y;
      typing::require(p[r - 1] == q[forward ? r - 2 : r - 1], "convolution: channels");
      for (int i = 0; i < c.axes; ++i) s[batch + 1 + i] = c.extent(i);
      s[r - 1] = q[forward ? r - 1 : r - 2];
    }
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    int r = zero_tangent;
    if (t[0] != zero_tangent) r = s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs);
    if (t[1] != zero_tangent) r = emit::accumulate(s.b, r, s.b.add1(*s.e.prim, {s.operands[0], t[1]}, s.e.attrs));
    return {r};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(2, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const role result = view(s.e).result, first = result == role::x ? role::y : role::x,
               second = result == role::w ? role::y : role::w;
    int value[3] = {};
    value[static_cast<int>(result)] = ct[0];
    value[static_cast<int>(first)] = s.operands[0];
    value[static_cast<int>(second)] = s.operands[1];
    const int x = value[static_cast<int>(role::x)], w = value[static_cast<int>(role::w)],
              y = value[static_cast<int>(role::y)];
    for (int i = 0; i < 2; ++i) {
      if (!wanted[i]) continue;
      const role of_operand = i == 0 ? first : second;
      const int p = of_operand == role::x ? y : x, q = of_operand == role::w ? y : w;
      r[i] = s.b.add1(*s.e.prim, {p, q}, turned(s.e.attrs, of_operand, s.b.shape(s.operands[i])));
    }
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const view c(s.e);
    const shape from = s.b.shape(s.operands[0]);
    if (c.result != role::w && batched[0] && !batched[1] && from.rank == c.axes + 3) {
      shape tall = without_axis(from, 0);
      tall[0] *= n;
      const int all = s.b.add1(*s.e.prim, {emit::reshape(s.b, s.operands[0], tall), s.operands[1]}, s.e.attrs);
      shape to = s.b.shape(all);
      to[0] = from[1];
      return {emit::reshape(s.b, all, with_front(to, n))};
    }
    vec<int> operands = s.operands;
    for (int i = 0; i < 2; ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    for (int operand : o) {
      double x = 1;
      if (!emit::is_constant(b, operand, x) || x != 0) continue;
      const vec<abstract_value> types{b.type(o[0]), b.type(o[1])};
      return emit::constant(b, type({types, a, {}})[0], 0);
    }
    return -1;
  }
  static std::string print(const attributes& a) {
    const view c(a);
    std::string text = c.result == role::y ? "y" : c.result == role::x ? "x" : "w";
    for (int i = 0; i < c.axes; ++i) {
      text += (i ? ", " : " ") + std::to_string(c.extent(i)) + " every " + std::to_string(c.stride(i)) + " from " +
              std::to_string(-c.low(i));
      if (c.input_dilation(i) != 1 || c.kernel_dilation(i) != 1)
        text += " dilated " + std::to_string(c.input_dilation(i)) + "," + std::to_string(c.kernel_dilation(i));
    }
    return text;
  }
  static constexpr known_values known(const known_site& s) { return {s.operands[0] * s.operands[1]}; }
  static constexpr vec<int> lanes(const lane_site& s) {
    const view c(s.e);
    if (c.axes > 2 || s.b.shape(s.operands[0]).rank != c.axes + 2 + s.in_lanes[0]) return {};
    const bool of_kernel = c.result == role::w;
    return {emit::lane_convolution(s.b, s.operand(0), of_kernel ? s.operand(1) : s.operands[1],
                                   s.in_lanes[1] && !of_kernel, s.e.attrs)};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list ints) {
    return view(ints).result == role::x ? operands[1].shape.size() * byte_size(operands[1].type) : 0;
  }
  static constexpr entry_cost cost(const tape&, const entry&) { return {.suits_lanes = true}; }
  static void evaluate(evaluation& v) {
    const view c(v.e);
    const abstract_value &p = v.in[0]->type, &q = v.in[1]->type, &result = v.out[0].type;
    const shape xs = (c.result == role::x ? result : p).shape, ws = (c.result == role::w ? result : q).shape;
    const shape ys = (c.result == role::y ? result : c.result == role::x ? p : q).shape;
    const int batch = xs.rank - c.axes - 2;
    std::int64_t batches = 1;
    for (int i = 0; i < batch; ++i) batches *= xs[i];
    shape inputs, outputs, taps;
    for (int i = 0; i < c.axes; ++i) {
      inputs.push_back(xs[batch + 1 + i]);
      outputs.push_back(ys[batch + 1 + i]);
      taps.push_back(ws[batch + i]);
    }
    const auto examples = xs[batch], ci = xs.last(), co = ys.last();
    visit_dtype(result.type, [&]<class T>(T) {
      const T *p_data = v.in[0]->data<T>(), *q_data = v.in[1]->data<T>();
      T* to = v.out[0].data<T>();
      for (std::int64_t n = 0; n < batches * examples; ++n)
        for_each_index(outputs, [&](const std::int64_t* o) {
          for_each_index(taps, [&](const std::int64_t* k) {
            std::int64_t at[shape::max_rank] = {};
            for (int i = 0; i < c.axes; ++i) {
              const auto place = o[i] * c.stride(i) + k[i] * c.kernel_dilation(i) - c.low(i);
              if (place < 0 || place % c.input_dilation(i) != 0 || place / c.input_dilation(i) >= inputs[i]) return;
              at[i] = place / c.input_dilation(i);
            }
            const auto x = (n * inputs.size() + flat_index(inputs, at)) * ci,
                       y = (n * outputs.size() + flat_index(outputs, o)) * co;
            const auto w = (n / examples * taps.size() + flat_index(taps, k)) * ci * co;
            for (std::int64_t i = 0; i < ci; ++i)
              for (std::int64_t j = 0; j < co; ++j) {
                const auto first = c.result == role::x ? y + j : x + i,
                           second = c.result == role::w ? y + j : w + i * co + j;
                T& sum = to[c.result == role::y ? y + j : c.result == role::x ? x + i : w + i * co + j];
                sum = wrapping_product_sum(p_data[first], q_data[second], sum);
              }
          });
        });
    });
  }
};
}

namespace prim {
inline constexpr primitive convolution{.name = "convolution",
                                       .type = rules::convolution::type,
                                       .jvp = rules::convolution::jvp,
                                       .vjp = rules::convolution::vjp,
                                       .batch = rules::convolution::batch,
                                       .simplify = rules::convolution::simplify,
                                       .print = rules::convolution::print,
                                       .evaluate = rules::convolution::evaluate,
                                       .known = rules::convolution::known,
                                       .lanes = rules::convolution::lanes,
                                       .split = rules::split::whole,
                                       .scratch = rules::convolution::scratch,
                                       .cost = rules::convolution::cost};
}
namespace emit {
constexpr int convolution(builder& b, int x, int w, const vec<std::int64_t>& ints) {
  attributes a;
  a.ints = ints;
  return b.add1(prim::convolution, {x, w}, a);
}
}

namespace detail {
template <int D, class A, class W, class... O>
struct convolved {
  using moves = windows<D, O...>;
  static constexpr auto misuse() {
    if constexpr (Placed<A> || Placed<W>) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (!Array<A> || !Array<W>) {
      return error::not_a_value_of_drx{};
    } else if constexpr (!std::is_same_v<typename A::value_type, typename W::value_type>) {
      return error::element_types_differ{};
    } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
      return error::needs_numbers{};
    } else if constexpr (A::rank < D + 1 || W::rank != D + 2) {
      return error::wrong_rank{};
    } else if constexpr (!moves::complete) {
      return error::options_do_not_fit_the_spatial_axes{};
    } else if constexpr (A::shape[A::rank - 1] != W::shape[D]) {
      return error::inner_extents_differ{};
    } else if constexpr (!fits()) {
      return error::window_exceeds_the_padded_input{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr std::int64_t size(int i) { return A::shape[A::rank - 1 - D + i]; }
  static constexpr bool fits() {
    for (int i = 0; i < D; ++i)
      if (W::shape[i] < 1 || moves::count(i, size(i), W::shape[i]) < 0) return false;
    return true;
  }
  static constexpr shape value_of() {
    shape s = A::shape;
    for (int i = 0; i < D; ++i) s[s.rank - 1 - D + i] = moves::count(i, size(i), W::shape[i]);
    s[s.rank - 1] = W::shape[D + 1];
    return s;
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return value_of();
    } else {
      return shape{};
    }
  }();
  static constexpr shape examples() {
    shape s = make_shape(1);
    for (int i = 0; i < A::rank; ++i) {
      if (i < A::rank - 1 - D)
        s[0] *= A::shape[i];
      else
        s.push_back(A::shape[i]);
    }
    return s;
  }
  static constexpr vec<std::int64_t> ints() {
    vec<std::int64_t> v{D, 0};
    for (int i = 0; i < D; ++i) v.push_back(moves::stride.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(moves::low(i, size(i), W::shape[i]));
    for (int i = 0; i < D; ++i) v.push_back(moves::input_dilation.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(moves::kernel_dilation.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(moves::count(i, size(i), W::shape[i]));
    return v;
  }
};
template <int D, class A, class W, class... O>
concept Convolvable = std::is_same_v<decltype(convolved<D, A, W, O...>::misuse()), no_misuse>;
template <int D, class A, class W, class... O>
concept NotConvolvable = (Array<A> || Placed<A>) && (Array<W> || Placed<W>) && !Convolvable<D, A, W, O...>;

template <int D, class... O, class A, class W>
constexpr auto convolve(const A& x, const W& w) {
  using C = convolved<D, A, W, O...>;
  using T = typename A::value_type;
  tracing_builder& b = tape_of(ref_of(x), ref_of(w));
  const int p = emit::reshape(b, emit::resolve(b, ref_of(x), {dtype_of<T>, A::shape}), C::examples());
  const int q = emit::resolve(b, ref_of(w), {dtype_of<T>, W::shape});
  using R = array_of<T, C>;
  return R(at(b, emit::reshape(b, emit::convolution(b, p, q, C::ints()), R::shape)));
}
}

template <class... Options, class A, class W>
  requires((detail::is_window_option<Options> && ...) && detail::Convolvable<1, A, W, Options...>)
constexpr auto conv1d(const A& x, const W& w) {
  return detail::convolve<1, Options...>(x, w);
}
template <class... Options, class A, class W>
  requires((detail::is_window_option<Options> && ...) && detail::Convolvable<2, A, W, Options...>)
constexpr auto conv2d(const A& x, const W& w) {
  return detail::convolve<2, Options...>(x, w);
}
template <class... Options, class A, class W, class Why = decltype(detail::convolved<1, A, W, Options...>::misuse())>
  requires((detail::is_window_option<Options> && ...) && detail::NotConvolvable<1, A, W, Options...>)
Why conv1d(const A&, const W&) = delete;  // drx: x {..., length, channels}, w {taps, channels, outputs} of one element type, no longer than the padded input; one number per option; of placed values in a map
template <class... Options, class A, class W, class Why = decltype(detail::convolved<2, A, W, Options...>::misuse())>
  requires((detail::is_window_option<Options> && ...) && detail::NotConvolvable<2, A, W, Options...>)
Why conv2d(const A&, const W&) = delete;  // drx: x {..., height, width, channels}, w {rows, columns, channels, outputs} of one element type, no larger than the padded input; two numbers per option; of placed values in a map

DRX_SILENT_OF_TYPES(conv1d)
DRX_SILENT_OF_TYPES(conv2d)

}

namespace drx {
namespace prim {
namespace rows {

struct azmul : same_type, on_floating, singular_value {
  static constexpr const char* name = "azmul";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) { return mul::known(s); }
  template <class T>
  DRX_INLINE static T apply(T x, T y) {
    return math::azmul(x, y);
  }
  template <class T>
  static T reference(T x, T y) {
    return x == 0 || y == 0 ? T(0) : x * y;
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return emit::times(b, t, s.operands[1 - i]);
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    for (int i = 0; i < 2; ++i) {
      double c = 0;
      if (!emit::is_constant(b, o[i], c)) continue;
      if (c == 0) return o[i];
      if (is_finite(c)) return emit::mul(b, o[0], o[1]);
    }
    return -1;
  }
};
struct azdiv : same_type, on_floating, singular_value {
  static constexpr const char* name = "azdiv";
  static constexpr int arity = 2;
  static constexpr known_value known(const known_site& s) { return div::known(s); }
  template <class T>
  DRX_INLINE static T apply(T x, T y) {
    return math::azdiv(x, y);
  }
  template <class T>
  static T reference(T x, T y) {
    return x == 0 ? T(0) : x / y;
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return emit::azdiv(b, t, s.operands[1]);
    return emit::neg(b, emit::azdiv(b, emit::azmul(b, t, s.results[0]), s.operands[1]));
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double x = 0, y = 0;
    if (emit::is_constant(b, o[0], x)) return x == 0 ? o[0] : emit::div(b, o[0], o[1]);
    return emit::is_constant(b, o[1], y) && y != 0 && is_finite(y) ? emit::div(b, o[0], o[1]) : -1;
  }
};

}

inline constexpr primitive azmul = elementwise_primitive<rows::azmul>();
inline constexpr primitive azdiv = elementwise_primitive<rows::azdiv>();
inline constexpr primitive mul_undecided = [] {
  primitive p = azmul;
  p.name = "mul?";
  return p;
}();
template <>
struct row_of<&azmul> : rows::azmul {};
template <>
struct row_of<&mul_undecided> : rows::azmul {};
template <>
struct row_of<&azdiv> : rows::azdiv {};
}

namespace emit {
constexpr int azmul(builder& b, int x, int y) { return b.add1(prim::azmul, {x, y}); }
constexpr int azdiv(builder& b, int x, int y) { return b.add1(prim::azdiv, {x, y}); }
constexpr int times(builder& b, int t, int d) { return b.add1(prim::mul_undecided, {t, d}); }
}
}

namespace drx {
enum class loop_products : std::int8_t { by_program, carried, computed };

namespace prim::rules {
struct scan {
  struct view {
    std::optional<std::int64_t> length;
    bool backwards = false;
    int constants = 0, carries = 0;
    std::optional<int> guard = {};
    bool keeps_residuals = false;
    loop_products products = loop_products::by_program;

    constexpr view(std::optional<std::int64_t> n, int constants_, int carries_)
        : length(n), constants(constants_), carries(carries_) {}
    constexpr explicit view(int_list a)
        : backwards(a.flag(1)),
          constants(a.number(2)),
          carries(a.number(3)),
          keeps_residuals(a.flag(5)),
          products(static_cast<loop_products>(a[6])) {
      if (a[0] != endless) length = a[0];
      if (a[4] != unguarded) guard = a.number(4);
    }
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {
          length.value_or(endless),           backwards, constants, carries, guard.value_or(unguarded), keeps_residuals,
          static_cast<std::int64_t>(products)};
      return a;
    }
    [[nodiscard]] constexpr bool is_constant(int operand) const { return operand >= 0 && operand < constants; }
    [[nodiscard]] constexpr bool is_carry(int operand) const {
      return operand >= constants && operand < constants + carries;
    }
    [[nodiscard]] constexpr int first_x() const { return constants + carries; }
    [[nodiscard]] constexpr bool takes_the_same_steps_as(view other) const {
      other.keeps_residuals = keeps_residuals;
      return make() == other.make();
    }
    [[nodiscard]] constexpr std::optional<int> guarding_carry() const {
      if (guard && is_carry(*guard - 1)) return *guard - 1 - constants;
      return {};
    }

   private:
    static constexpr std::int64_t endless = -1;
    static constexpr int unguarded = 0;
  };
  struct parts : view {
    int xs, ys;
    constexpr parts(int_list a, int operands, int results) : view(a), xs(operands - first_x()), ys(results - carries) {}
  };
  static constexpr abstract_value stacked(const abstract_value& t, std::int64_t n) {
    return t.with_shape(with_front(t.shape, n));
  }
  static constexpr abstract_value slice(const abstract_value& t) { return t.with_shape(without_axis(t.shape, 0)); }

  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& body = t.regions[0];
    const parts n(t.attrs, t.operands.size(), body.outputs.size());
    typing::require(body.inputs.size() == t.operands.size() + 1,
                    "scan: the body's inputs are not the operands' number");
    typing::require(n.length || (n.guarding_carry() && n.xs == 0 && n.ys == 0),
                    "scan: a loop without end needs a carry as its guard, and no slices");
    typing::require(!n.guard || body.values[body.inputs[*n.guard]] == abstract_value(dtype::boolean, {}),
                    "scan: the guard is not one bool");
    for (int i = 0; i < t.operands.size(); ++i) {
      const bool x = i >= n.constants + n.carries;
      if (x)
        typing::require(t.operands[i].shape.rank > 0 && t.operands[i].shape[0] == n.length,
                        "scan: an x is not of the loop's length");
      typing::require((x ? slice(t.operands[i]) : t.operands[i]) == body.values[body.inputs[i + 1]],
                      "scan: an operand is of another type than the body's input");
    }
    vec<abstract_value> r;
    for (int i = 0; i < body.outputs.size(); ++i) {
      const abstract_value& y = body.values[body.outputs[i]];
      if (i < n.carries)
        typing::require(y == t.operands[n.constants + i], "scan: the body changes the type of a carry");
      r.push_back(i < n.carries ? y : stacked(y, *n.length));
    }
    return r;
  }

  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    const tape& body = s.e.regions[0];
    const parts n(s.e.attrs, s.operands.size(), s.results.size());
    vec<bool> moving{false};
    for (int i = 0; i < s.operands.size(); ++i) {
      const bool carry = i >= n.constants && i < n.constants + n.carries;
      moving.push_back(is_floating(s.b.type(s.operands[i]).type) && (carry || tangents[i] != zero_tangent));
    }
    const tape forward = s.drivers.jvp(body, moving);
    auto tangent_of = [&](int i) { return emit::instantiate_zeros(s.b, tangents[i], s.operands[i]); };
    vec<int> operands, order;
    int tangent_inputs = body.inputs.size();
    vec<int> tangent_input(s.operands.size(), -1);
    for (int i = 0; i < s.operands.size(); ++i)
      if (moving[i + 1]) tangent_input[i] = tangent_inputs++;
    auto group = [&](int first, int count) {
      for (int i = first; i < first + count; ++i) {
        operands.push_back(s.operands[i]);
        order.push_back(i + 1);
      }
      int moved = 0;
      for (int i = first; i < first + count; ++i)
        if (moving[i + 1]) {
          operands.push_back(tangent_of(i));
          order.push_back(tangent_input[i]);
          ++moved;
        }
      return count + moved;
    };
    const int constants = group(0, n.constants);
    const int carries = group(n.constants, n.carries);
    group(n.constants + n.carries, n.xs);

    builder region;
    vec<int> inputs(forward.inputs.size(), -1);
    inputs[0] = region.input(forward.values[forward.inputs[0]]);
    for (int at : order) inputs[at] = region.input(forward.values[forward.inputs[at]]);
    const vec<int> out = inline_tape(region, forward, inputs);
    vec<int> tangent_output(s.results.size(), -1);
    int next = s.results.size();
    for (int i = 0; i < s.results.size(); ++i)
      if (is_floating(s.b.type(s.results[i]).type)) tangent_output[i] = next++;
    vec<int> result_of(s.results.size(), zero_tangent), primal_of(s.results.size(), -1);
    int written = 0;
    view both = n;
    for (int i = 0; i < order.size(); ++i)
      if (order[i] == n.guard) both.guard = i + 1;
    auto outputs = [&](int first, int count) {
      for (int i = first; i < first + count; ++i) {
        region.output(out[i]);
        primal_of[i] = written++;
      }
      for (int i = first; i < first + count; ++i)
        if (tangent_output[i] >= 0) {
          region.output(out[tangent_output[i]]);
          result_of[i] = written++;
        }
    };
    outputs(0, n.carries);
    outputs(n.carries, n.ys);
    both.constants = constants;
    both.carries = carries;
    const vec<int> all = s.b.add(*s.e.prim, operands, both.make(), vec<tape>{region.result()});
    vec<int> r = renamed(result_of, all);
    r.append(renamed(primal_of, all));
    return r;
  }

  struct there_and_back {
    tape forward, back;
    int kept = 0;
    std::optional<int> guard;
  };
  static constexpr vec<bool> step_wanted(const rule_site& s, const parts& n, const vec<bool>& wanted) {
    vec<bool> r{false};
    for (int i = 0; i < wanted.size(); ++i)
      r.push_back(n.is_carry(i) ? is_floating(s.b.type(s.operands[i]).type) : wanted[i]);
    return r;
  }
  static constexpr vec<bool> floating_outputs(const tape& t) {
    vec<bool> r;
    for (int o : t.outputs) r.push_back(is_floating(t.values[o].type));
    return r;
  }
  static constexpr there_and_back keeping_carries(const rule_site& s, const parts& n, const vec<bool>& wanted,
                                                  const vec<bool>& given) {
    there_and_back r;
    const tape& body = s.e.regions[0];
    r.forward = body;
    for (int i = 0; i < n.carries; ++i) r.forward.outputs.push_back(body.inputs[1 + n.constants + i]);
    if (!given.empty()) r.back = s.drivers.vjp(body, step_wanted(s, n, wanted), given);
    r.kept = n.carries;
    r.guard = n.guarding_carry();
    return r;
  }
  static constexpr there_and_back keeping_all(const rule_site& s, const parts& n, const vec<bool>& wanted) {
    const tape& body = s.e.regions[0];
    const tape both = s.drivers.value_and_vjp(body, step_wanted(s, n, wanted), floating_outputs(body));
    const int inputs = body.inputs.size(), outputs = body.outputs.size();
    vec<bool> of_cotangents(both.values.size(), false), needed(both.values.size(), false),
        crosses(both.values.size(), false);
    vec<int> kept;
    auto cross = [&](int v) {
      if (!crosses[v]) kept.push_back(v);
      crosses[v] = true;
    };
    for (int i = inputs; i < both.inputs.size(); ++i) of_cotangents[both.inputs[i]] = true;
    for (int i = outputs; i < both.outputs.size(); ++i) needed[both.outputs[i]] = true;
    for (const entry& e : both.entries) {
      bool any = false;
      for (int o : e.operands) any = any || of_cotangents[o];
      for (int r : e.results) of_cotangents[r] = any;
    }
    vec<bool> is_back(both.entries.size(), false);
    for (int i = both.entries.size() - 1; i >= 0; --i) {
      const entry& e = both.entries[i];
      bool any = false;
      for (int r : e.results) any = any || needed[r];
      const bool made_again = e.prim == &prim::constant || e.prim == &prim::iota || e.prim == &prim::data ||
                              e.prim == &prim::broadcast_to || e.prim == &prim::reshape || e.prim == &prim::broadcast ||
                              e.prim == &prim::member_index || e.prim == &prim::members;
      is_back[i] = any && (made_again || of_cotangents[e.results[0]]);
      for (int o : e.operands) needed[o] = needed[o] || is_back[i];
      if (any && !is_back[i])
        for (int r : e.results)
          if (needed[r]) cross(r);
    }
    for (int i = 0; i < n.carries; ++i)
      if (const int v = both.inputs[1 + n.constants + i]; needed[v] || i == n.guarding_carry()) cross(v);
    there_and_back r;
    r.forward.values = r.back.values = both.values;
    for (int i = 0; i < both.entries.size(); ++i) {
      if (is_back[i]) r.back.entries.push_back(both.entries[i]);
      if (!of_cotangents[both.entries[i].results[0]]) r.forward.entries.push_back(both.entries[i]);
    }
    auto take = [](vec<int>& to, const vec<int>& from, int first, int last) {
      for (int i = first; i < last; ++i) to.push_back(from[i]);
    };
    take(r.forward.inputs, both.inputs, 0, inputs);
    take(r.forward.outputs, both.outputs, 0, outputs);
    r.forward.outputs.append(kept);
    take(r.back.inputs, both.inputs, 0, 1 + n.constants);
    r.back.inputs.append(kept);
    take(r.back.inputs, both.inputs, 1 + n.constants + n.carries, both.inputs.size());
    take(r.back.outputs, both.outputs, outputs, both.outputs.size());
    r.kept = kept.size();
    if (n.guarding_carry()) r.guard = kept.find(both.inputs[*n.guard]);
    r.forward = without_dead_entries(static_cast<tape&&>(r.forward));
    r.back = without_dead_entries(static_cast<tape&&>(r.back));
    return r;
  }
  static constexpr there_and_back split(const rule_site& s, const parts& n, const vec<bool>& wanted,
                                        const vec<bool>& given) {
    if (n.keeps_residuals) return keeping_all(s, n, wanted);
    return keeping_carries(s, n, wanted, given);
  }
  static constexpr vec<int> augmented(const rule_site& s, const vec<bool>& wanted) {
    const parts n(s.e.attrs, s.operands.size(), s.e.results.size());
    if (!n.length)
      throw "drx: while_loop without a bound has no reverse derivative: give it one, as in while_loop<100>(condition, body, init), or stop the gradient";
    const there_and_back step = split(s, n, wanted, {});
    return s.b.add(*s.e.prim, s.operands, s.e.attrs, vec<tape>{step.forward});
  }
  static constexpr int zeros(builder& b, const abstract_value& t) {
    if (t.depth == 0) return emit::constant(b, t, 0);
    attributes a;
    a.placement = t.placements[0];
    if (t.depth == 1) return emit::broadcast(b, emit::constant(b, t.of_member(), 0), a.placement);
    return emit::map(b, a.placement, {b.add1(prim::member_index, {}, a)},
                     [&](builder& r, const vec<int>&) { return vec<int>{zeros(r, t.of_member())}; })[0];
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    const parts n(s.e.attrs, s.operands.size(), s.results.size());
    const tape& body = s.e.regions[0];
    vec<bool> given;
    for (int i = 0; i < s.results.size(); ++i)
      given.push_back(is_floating(s.b.type(s.results[i]).type) &&
                      (i < n.carries || n.keeps_residuals || ct[i] != zero_tangent));
    const there_and_back step = split(s, n, wanted, given);

    vec<int> operands, carry_at, constant_at;
    for (int i = 0; i < n.constants; ++i) operands.push_back(s.operands[i]);
    for (int i = 0; i < n.carries; ++i)
      if (given[i]) {
        operands.push_back(emit::instantiate_zeros(s.b, ct[i], s.results[i]));
        carry_at.push_back(n.constants + i);
      }
    for (int i = 0; i < n.constants; ++i)
      if (wanted[i]) {
        operands.push_back(emit::zeros_like(s.b, s.operands[i]));
        constant_at.push_back(i);
      }
    operands.append(s.residuals);
    for (int i = 0; i < n.xs; ++i) operands.push_back(s.operands[n.constants + n.carries + i]);
    for (int i = 0; i < n.ys; ++i)
      if (ct[n.carries + i] != zero_tangent) operands.push_back(ct[n.carries + i]);
    const int carries = carry_at.size() + constant_at.size();

    builder region;
    vec<int> in;
    in.push_back(region.input(abstract_value(dtype::int32, {})));
    for (int i = 0; i < operands.size(); ++i) {
      const abstract_value& t = s.b.type(operands[i]);
      in.push_back(region.input(i < n.constants + carries ? t : slice(t)));
    }
    vec<int> step_in{in[0]};
    const int carry0 = 1 + n.constants, kept0 = carry0 + carries;
    for (int i = 0; i < n.constants; ++i) step_in.push_back(in[1 + i]);
    for (int i = 0; i < step.kept + n.xs; ++i) step_in.push_back(in[kept0 + i]);
    for (int i = 0; i < carry_at.size(); ++i) step_in.push_back(in[carry0 + i]);
    int next_y = kept0 + step.kept + n.xs;
    for (int i = n.carries; i < n.carries + n.ys; ++i)
      if (ct[i] != zero_tangent) {
        step_in.push_back(in[next_y++]);
      } else if (given[i]) {
        step_in.push_back(zeros(region, body.values[body.outputs[i]]));
      }
    const vec<int> out = inline_tape(region, step.back, step_in);
    const int sums = constant_at.size();
    for (int i = 0; i < carry_at.size(); ++i) region.output(out[sums + i]);
    for (int i = 0; i < sums; ++i) region.output(emit::accumulate(region, in[carry0 + carry_at.size() + i], out[i]));
    for (int i = sums + carry_at.size(); i < out.size(); ++i) region.output(out[i]);
    view there = n;
    there.backwards = !n.backwards;
    there.carries = carries;
    if (step.guard) there.guard = kept0 + *step.guard;
    if (n.guard > n.first_x()) there.guard = *n.guard - 1 - n.first_x() + kept0 + step.kept;
    const vec<int> all = s.b.add(*s.e.prim, operands, there.make(), vec<tape>{region.result()});

    vec<int> r(s.operands.size(), zero_tangent);
    for (int i = 0; i < carry_at.size(); ++i) r[carry_at[i]] = all[i];
    for (int i = 0; i < sums; ++i) r[constant_at[i]] = all[carry_at.size() + i];
    int next = carries;
    for (int i = n.constants + n.carries; i < s.operands.size(); ++i)
      if (wanted[i]) r[i] = all[next++];
    return r;
  }

  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const tape& body = s.e.regions[0];
    const parts p(s.e.attrs, s.operands.size(), body.outputs.size());
    vec<bool> in{false}, must(body.outputs.size(), false), out;
    in.append(batched);
    tape step;
    for (bool grown = true; grown;) {
      if (p.guard && in[*p.guard]) {
        for (int i = p.constants; i < s.operands.size(); ++i) in[1 + i] = true;
        must = vec<bool>(must.size(), true);
      }
      grown = false;
      for (int i = 0; i < p.carries; ++i) must[i] = in[1 + p.constants + i];
      step = s.drivers.batch(body, in, n, must, out);
      for (int i = 0; i < p.carries; ++i)
        if (out[i] && !must[i]) in[1 + p.constants + i] = grown = true;
    }
    vec<int> operands = s.operands;
    for (int i = p.constants; i < operands.size(); ++i) {
      if (in[1 + i] && !batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
      if (in[1 + i] && i >= p.first_x()) operands[i] = emit::first_axes_exchanged(s.b, operands[i]);
    }
    vec<int> r;
    if (p.guard && in[*p.guard]) {
      r = batch_guarded(s.b, s.e, p, step, operands);
    } else {
      r = s.b.add(*s.e.prim, operands, s.e.attrs, vec<tape>{step});
    }
    for (int i = 0; i < r.size(); ++i)
      r[i] = !out[i] ? emit::repeated(s.b, r[i], n) : i < p.carries ? r[i] : emit::first_axes_exchanged(s.b, r[i]);
    return r;
  }
  static constexpr vec<int> batch_guarded(builder& b, const entry& e, const parts& p, const tape& step,
                                          const vec<int>& batched) {
    const int guard = *p.guard - 1, last[] = {p.constants, p.first_x(), p.first_x() + p.xs};
    const int kind = guard < last[0] ? 0 : guard < last[1] ? 1 : 2;
    const auto any = [](builder& t, int x, int axis) {
      const int one = emit::over_axes(t, prim::max_over, emit::cast(t, x, dtype::int32), {axis});
      return emit::cast(t, one, dtype::boolean);
    };
    vec<int> operands, inputs;
    builder region;
    const int index = region.input(step.values[step.inputs[0]]);
    for (int i = 0; i <= batched.size(); ++i) {
      if (i == last[kind]) {
        operands.push_back(any(b, batched[guard], kind == 2 ? 1 : 0));
        region.input(abstract_value(dtype::boolean, {}));
      }
      if (i == batched.size()) break;
      operands.push_back(batched[i]);
      inputs.push_back(region.input(step.values[step.inputs[i + 1]]));
    }
    vec<int> all{index};
    all.append(inputs);
    const vec<int> out = inline_tape(region, step, all);
    const int own = inputs[guard];
    vec<int> chosen;
    for (int i = 0; i < out.size(); ++i) {
      const int old = i < p.carries ? inputs[p.constants + i] : emit::zeros_like(region, out[i]);
      chosen.push_back(emit::choose(region, own, out[i], old));
    }
    for (int i = 0; i < out.size(); ++i) {
      if (i == p.carries && kind == 1) region.output(any(region, chosen[guard - p.constants], 0));
      region.output(chosen[i]);
    }
    if (out.size() == p.carries && kind == 1) region.output(any(region, chosen[guard - p.constants], 0));
    view all_guarded = p;
    all_guarded.constants += kind == 0;
    all_guarded.carries += kind == 1;
    all_guarded.guard = last[kind] + 1;
    const vec<int> r = b.add(*e.prim, operands, all_guarded.make(), vec<tape>{region.result()});
    vec<int> results;
    for (int i = 0; i < r.size(); ++i)
      if (kind != 1 || i != p.carries) results.push_back(r[i]);
    return results;
  }

  static constexpr void prune(entry& e, const vec<bool>& wanted) {
    if (wanted.find(false) < 0 && is_all_used(e.regions[0], true, true)) return;
    const parts n(e.attrs, e.operands.size(), e.results.size());
    vec<bool> outputs = wanted;
    if (n.guarding_carry()) outputs[*n.guarding_carry()] = true;
    for (bool grown = true; grown;) {
      grown = false;
      const vec<bool> needed = needed_inputs(e.regions[0], outputs);
      for (int i = 0; i < n.carries; ++i)
        if (needed[1 + n.constants + i] && !outputs[i]) outputs[i] = grown = true;
    }
    vec<bool> used;
    tape body;
    for (bool grown = true; grown;) {
      grown = false;
      vec<bool> keep{true};
      for (int i = 0; i < e.operands.size(); ++i)
        keep.push_back((n.is_carry(i) && outputs[i - n.constants]) || i + 1 == n.guard);
      body = pruned_region(e.regions[0], outputs, keep, used);
      for (int i = 0; i < n.carries; ++i)
        if (used[1 + n.constants + i] && !outputs[i]) outputs[i] = grown = true;
    }
    vec<bool> operands;
    view left = n;
    left.constants = left.carries = 0;
    if (n.guard) left.guard = 0;
    for (int i = 0; i < e.operands.size(); ++i) {
      operands.push_back(used[i + 1]);
      if (i < n.guard) *left.guard += used[i + 1];
      if (!used[i + 1]) continue;
      left.constants += n.is_constant(i);
      left.carries += n.is_carry(i);
    }
    e.regions[0] = static_cast<tape&&>(body);
    e.operands = filtered(e.operands, operands);
    e.results = filtered(e.results, outputs);
    e.attrs = left.make();
  }
  static std::string print(const attributes& a) {
    const view n(a);
    return (n.length ? std::to_string(*n.length) : "endless") + (n.backwards ? " backwards" : "") + ", " +
           std::to_string(n.constants) + " constants, " + std::to_string(n.carries) + " carries" +
           (n.guard ? ", while input " + std::to_string(*n.guard) : "") +
           (n.keeps_residuals ? ", keeps residuals" : "") +
           (n.products == loop_products::carried    ? ", may carry products"
            : n.products == loop_products::computed ? ", carries no products"
                                                    : "");
  }
  static tensor slice_of(const tensor& x, std::int64_t at) {
    tensor t(slice(x.type));
    for (const tensor& m : x.members) t.members.push_back(slice_of(m, at));
    if (!t.bytes.empty())
      std::memcpy(t.bytes.data(), x.bytes.data() + static_cast<std::size_t>(at) * t.bytes.size(), t.bytes.size());
    return t;
  }
  static void store_slice(tensor& x, std::int64_t at, const tensor& y) {
    if (!y.bytes.empty())
      std::memcpy(x.bytes.data() + static_cast<std::size_t>(at) * y.bytes.size(), y.bytes.data(), y.bytes.size());
    for (std::size_t m = 0; m < y.members.size(); ++m) store_slice(x.members.at(m), at, y.members[m]);
  }
  static tensor zeros_like(const abstract_value& t, const tensor& like) {
    tensor r(t);
    for (const tensor& m : like.members) r.members.push_back(zeros_like(t.of_member(), m));
    return r;
  }
  static constexpr known_values known_inside(const known_site& s, int) {
    const parts n(s.e.attrs, s.e.operands.size(), s.e.results.size());
    known_values inputs{finite_and_not_negative()};
    inputs.append(s.operands);
    for (bool changed = true; changed;) {
      changed = false;
      const known_values after = s.outputs(s.e.regions[0], inputs);
      for (int i = 0; i < n.carries; ++i) {
        known_value& carry = inputs[1 + n.constants + i];
        const known_value both = either(carry, after[i]);
        changed = changed || !(both == carry);
        carry = both;
      }
    }
    return inputs;
  }
  static constexpr known_values known(const known_site& s) {
    const parts n(s.e.attrs, s.e.operands.size(), s.e.results.size());
    const known_values inside = known_inside(s, 0);
    known_values r = s.outputs(s.e.regions[0], inside);
    for (int i = 0; i < r.size(); ++i)
      if (i < n.carries)
        r[i] = inside[1 + n.constants + i];
      else if (n.guard)
        r[i] = r[i].but_zero();
    return r;
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const tape& body = s.e.regions[0];
    const parts p(s.e.attrs, s.operands.size(), body.outputs.size());
    vec<bool> in{false}, must(body.outputs.size(), false);
    in.append(s.in_lanes);
    tape step;
    for (bool grown = true; grown;) {
      grown = false;
      for (int i = 0; i < p.carries; ++i) must[i] = in[1 + p.constants + i];
      step = s.region(body, in, must, s.results);
      for (int i = 0; i < p.carries; ++i)
        if (s.results[i] && !in[1 + p.constants + i]) in[1 + p.constants + i] = grown = true;
    }
    if (p.guard && in[*p.guard]) return {};
    vec<int> operands;
    for (int i = 0; i < s.operands.size(); ++i) operands.push_back(in[1 + i] ? s.operand(i) : s.operands[i]);
    return s.b.add(*s.e.prim, operands, s.e.attrs, vec<tape>{step});
  }
  static constexpr entry_cost cost(const tape&, const entry& e) {
    return {.repeats = static_cast<double>(view(e).length.value_or(1)), .suits_lanes = true};
  }
  static void evaluate(evaluation& v) {
    const parts n(v.e.attrs, static_cast<int>(v.in.size()), static_cast<int>(v.out.size()));
    std::vector<tensor> carry;
    for (int i = 0; i < n.carries; ++i) carry.push_back(*v.in[static_cast<std::size_t>(n.constants + i)]);
    for (int i = n.carries; i < n.carries + n.ys; ++i)
      for (const tensor* x : v.in) {
        tensor& y = v.out[static_cast<std::size_t>(i)];
        if (y.type.depth > 0 && x->type.placed_like(y.type)) y = zeros_like(y.type, *x);
      }
    const auto guarded = [&](std::int64_t at) {
      if (!n.guard) return true;
      if (const auto own = n.guarding_carry()) return carry[static_cast<std::size_t>(*own)].data<bool>()[0];
      return v.in[static_cast<std::size_t>(*n.guard - 1)]->data<bool>()[n.is_constant(*n.guard - 1) ? 0 : at];
    };
    for (std::int64_t step = 0; !n.length || step < *n.length; ++step) {
      const std::int64_t at = n.backwards ? *n.length - 1 - step : step;
      if (!guarded(at)) {
        if (n.guarding_carry()) break;
        continue;
      }
      tensor index(abstract_value(dtype::int32, {}));
      index.data<std::int32_t>()[0] = static_cast<std::int32_t>(at);
      std::vector<tensor> in{index};
      for (int i = 0; i < n.constants; ++i) in.push_back(*v.in[static_cast<std::size_t>(i)]);
      for (auto& c : carry) in.push_back(std::move(c));
      for (int i = n.constants + n.carries; i < n.constants + n.carries + n.xs; ++i)
        in.push_back(slice_of(*v.in[static_cast<std::size_t>(i)], at));
      std::vector<tensor> out = v.run(v.e.regions[0], std::move(in));
      carry.assign(std::make_move_iterator(out.begin()), std::make_move_iterator(out.begin() + n.carries));
      for (int i = n.carries; i < n.carries + n.ys; ++i) {
        tensor& y = v.out[static_cast<std::size_t>(i)];
        const tensor& row = out[static_cast<std::size_t>(i)];
        if (y.members.size() != row.members.size()) y = zeros_like(y.type, row);
        store_slice(y, at, row);
      }
    }
    for (int i = 0; i < n.carries; ++i)
      v.out[static_cast<std::size_t>(i)] = std::move(carry[static_cast<std::size_t>(i)]);
  }
};
}

namespace prim {
inline constexpr primitive scan{.name = "scan",
                                .type = rules::scan::type,
                                .jvp = rules::scan::jvp,
                                .vjp = rules::scan::vjp,
                                .augmented = rules::scan::augmented,
                                .batch = rules::scan::batch,
                                .prune = rules::scan::prune,
                                .print = rules::scan::print,
                                .evaluate = rules::scan::evaluate,
                                .known = rules::scan::known,
                                .known_inside = rules::scan::known_inside,
                                .lanes = rules::scan::lanes,
                                .cost = rules::scan::cost};
}

namespace detail {
constexpr tape with_broadcasts_inside(tape t) {
  vec<int> defining(t.values.size(), -1);
  bool any = false;
  for (int at = 0; at < t.entries.size(); ++at) {
    entry& e = t.entries[at];
    for (int r : e.results) defining[r] = at;
    const bool loop = e.prim == &prim::scan;
    if (!loop && e.prim != &prim::cond) continue;
    const int first = loop ? 0 : 1, last = loop ? prim::rules::scan::view(e).constants : e.operands.size();
    vec<int> moved;
    for (int i = first; i < last; ++i) {
      const int d = defining[e.operands[i]];
      if (d >= 0 && t.entries[d].prim == &prim::broadcast) moved.push_back(i);
    }
    if (moved.empty()) continue;
    for (tape& region : e.regions) {
      vec<entry> entries;
      entries.reserve(moved.size() + region.entries.size());
      for (int k = moved.size() - 1; k >= 0; --k) {
        const entry& outside = t.entries[defining[e.operands[moved[k]]]];
        int& input = region.inputs[loop ? moved[k] + 1 : moved[k] - 1];
        entry inside = outside;
        inside.operands = {region.values.size() + k};
        inside.results = {input};
        input = region.values.size() + k;
        entries.push_back(static_cast<entry&&>(inside));
      }
      for (int i : moved) region.values.push_back(t.values[t.entries[defining[e.operands[i]]].operands[0]]);
      for (entry& x : region.entries) entries.push_back(static_cast<entry&&>(x));
      region.entries = static_cast<vec<entry>&&>(entries);
    }
    for (int i : moved) e.operands[i] = t.entries[defining[e.operands[i]]].operands[0];
    for (tape& region : e.regions) region = with_broadcasts_inside(static_cast<tape&&>(region));
    any = true;
  }
  if (any) t = without_dead_entries(static_cast<tape&&>(t));
  return t;
}
}

}

namespace drx {
namespace prim::rules {
struct custom {
  struct view {
    int captured;
    constexpr explicit view(int_list a) : captured(a.number(0)) {}
  };
  static constexpr int captured(const attributes& a) { return view(a).captured; }
  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& f = t.regions[0];
    typing::require(t.operands == f.types_of(f.inputs),
                    "custom derivative: an operand is of another type than the function's input");
    return f.types_of(f.outputs);
  }
  static constexpr void refuse_captured(const rule_site& s, const vec<int>& tangents) {
    for (int i = 0; i < captured(s.e.attrs); ++i)
      if (tangents[i] != zero_tangent)
        throw "drx: a derivative in what a function with a custom derivative captured: make it an argument of the function";
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    vec<tape> regions;
    for (const tape& r : s.e.regions) regions.push_back(s.drivers.batch(r, vec<bool>(r.inputs.size(), true), n));
    return s.b.add(*s.e.prim, operands, s.e.attrs, regions);
  }
  static std::string print(const attributes& a) { return std::to_string(view(a).captured) + " captured"; }
  static void evaluate(evaluation& v) {
    std::vector<tensor> in;
    for (const tensor* x : v.in) in.push_back(*x);
    v.out = v.run(v.e.regions[0], std::move(in));
  }
};
struct custom_jvp : custom {
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    refuse_captured(s, tangents);
    vec<int> inputs = s.operands;
    for (int i = captured(s.e.attrs); i < s.operands.size(); ++i)
      inputs.push_back(emit::instantiate_zeros(s.b, tangents[i], s.operands[i]));
    vec<int> moved = inline_tape(s.b, s.e.regions[1], inputs);
    for (int i = 0; i < moved.size(); ++i)
      if (!is_floating(s.b.type(s.results[i]).type)) moved[i] = zero_tangent;
    return moved;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    const int first = captured(s.e.attrs), operands = s.operands.size();
    vec<bool> in(operands, false), given;
    vec<int> inputs = s.operands;
    for (int i = 0; i < operands; ++i)
      if (i < first) {
        if (wanted[i]) refuse_captured(s, s.operands);
      } else {
        in.push_back(wanted[i]);
        inputs.push_back(emit::zeros_like(s.b, s.operands[i]));
      }
    for (int c : ct) {
      given.push_back(c != zero_tangent);
      if (c != zero_tangent) inputs.push_back(c);
    }
    const vec<int> back = inline_tape(s.b, s.drivers.vjp(s.e.regions[1], in, given), inputs);
    vec<int> r(operands, zero_tangent);
    int next = 0;
    for (int i = first; i < operands; ++i)
      if (wanted[i]) r[i] = back[next++];
    return r;
  }
};
struct custom_vjp : custom {
  static constexpr vec<int> jvp(const rule_site&, const vec<int>& tangents) {
    if (tangents.empty()) return {};
    throw "drx: a function with a custom_vjp has no forward derivative: give it a custom_jvp, which serves both modes";
  }
  static constexpr vec<int> augmented(const rule_site& s, const vec<bool>&) {
    return inline_tape(s.b, s.e.regions[1], s.operands);
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    const int first = captured(s.e.attrs);
    vec<int> inputs;
    for (int i = 0; i < first; ++i) {
      if (wanted[i]) refuse_captured(s, s.operands);
      inputs.push_back(s.operands[i]);
    }
    inputs.append(s.residuals);
    for (int i = 0; i < ct.size(); ++i) inputs.push_back(emit::instantiate_zeros(s.b, ct[i], s.results[i]));
    const vec<int> back = inline_tape(s.b, s.e.regions[2], inputs);
    vec<int> r(first, zero_tangent);
    r.append(back);
    return r;
  }
};
}

namespace prim {
inline constexpr primitive custom_jvp{.name = "custom_jvp",
                                      .type = rules::custom::type,
                                      .jvp = rules::custom_jvp::jvp,
                                      .vjp = rules::custom_jvp::vjp,
                                      .batch = rules::custom::batch,
                                      .print = rules::custom::print,
                                      .evaluate = rules::custom::evaluate,
                                      .known = rules::known::of_region,
                                      .known_inside = rules::known::operands_inside,
                                      .transparent = true};
inline constexpr primitive custom_vjp{.name = "custom_vjp",
                                      .type = rules::custom::type,
                                      .jvp = rules::custom_vjp::jvp,
                                      .vjp = rules::custom_vjp::vjp,
                                      .augmented = rules::custom_vjp::augmented,
                                      .batch = rules::custom::batch,
                                      .print = rules::custom::print,
                                      .evaluate = rules::custom::evaluate,
                                      .known = rules::known::of_region,
                                      .known_inside = rules::known::operands_inside,
                                      .transparent = true};
}

namespace detail {

constexpr void mark_products(tape& rule, const vec<bool>& moved) {
  vec<bool> linear(rule.values.size(), false);
  for (int i = 0; i < rule.inputs.size(); ++i) linear[rule.inputs[i]] = moved[i];
  for (entry& e : rule.entries) {
    bool any = false, all_regions = e.prim == &prim::scan;
    for (int o : e.operands) any = any || linear[o];
    if (!any) continue;
    for (int r : e.results) linear[r] = is_floating(rule.values[r].type);
    const abstract_value type = rule.values[e.results[0]];
    if (e.prim == &prim::mul && is_floating(type.type)) e.prim = &prim::mul_undecided;
    if (e.prim == &prim::div && is_floating(type.type) && linear[e.operands[0]]) e.prim = &prim::azdiv;
    if (e.prim == &prim::matmul && prim::rules::matmul_undecided::applies(type, rule.values[e.operands[0]], e.attrs))
      e.prim = &prim::matmul_undecided;
    for (tape& region : e.regions) {
      vec<bool> inner;
      const int first =
          region.inputs.size() - e.operands.size();
      for (int i = 0; i < region.inputs.size(); ++i)
        inner.push_back(i >= first && (all_regions || linear[e.operands[i - first]]));
      mark_products(region, inner);
    }
  }
}
constexpr void mark_products(tape& rule, int count) {
  vec<bool> moved(rule.inputs.size(), false);
  for (int i = rule.inputs.size() - count; i < rule.inputs.size(); ++i) moved[i] = true;
  mark_products(rule, moved);
}

template <class R, class... X>
constexpr auto add_custom(const primitive& p, tracing_builder* b, regions_of_one_entry regions, const X&... x) {
  if (&p == &prim::custom_jvp)
    mark_products(regions.bodies[1], regions.bodies[0].inputs.size() - regions.captures.size());
  if (&p == &prim::custom_vjp) mark_products(regions.bodies[2], regions.bodies[0].outputs.size());
  b = with_captures(b, regions.captures);
  attributes a;
  a.ints = {regions.captures.size()};
  return bound<R>(*b, b->add(p, regions.operands(*b, x...), a, regions.bodies));
}
template <class... X>
using one_or_tuple_t =
    std::conditional_t<sizeof...(X) == 1, std::tuple_element_t<0, std::tuple<X...>>, std::tuple<X...>>;

template <class R, class F, class... X>
constexpr auto rule_misuse() {
  using Y = call_result_t<F, traced_t<X>...>;
  if constexpr (!TracedResult<Y>) {
    return result_misuse<Y>();
  } else if constexpr (error::Reported<Y> || std::is_same_v<canonical_t<Y>, R>) {
    return no_misuse{};
  } else {
    return error::custom_rule_returns_another_type{};
  }
}
template <class F, class DF>
struct with_jvp {
  F f;
  DF df;

  template <class... X>
  static constexpr auto misuse() {
    if constexpr (error::AnyReported<X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else {
      using Y = call_result_t<F, traced_t<X>...>;
      if constexpr (!TracedResult<Y>) {
        return result_misuse<Y>();
      } else if constexpr (error::Reported<Y>) {
        return no_misuse{};
      } else {
        return rule_misuse<canonical_t<Y>, DF, X..., X...>();
      }
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: custom_jvp(f, df): df(x..., tangents of x...) returns the tangent of f(x...), of its type
    if constexpr (error::AnyReported<X...>) {
      return error::reported{};
    } else if constexpr (error::Reported<call_result_t<F, traced_t<X>...>>) {
      return error::reported{};
    } else {
      tracing_builder* b = meeting_builder(x...);
      return add_custom<canonical_t<call_result_t<F, traced_t<X>...>>>(
          prim::custom_jvp, b,
          regions_of_one_entry(trace_region(b, f, std::type_identity<X>{}...),
                               trace_region(b, df, std::type_identity<X>{}..., std::type_identity<X>{}...)),
          x...);
    }
  }
};
template <class P>
struct value_and_residuals;
template <class Y, class R>
struct value_and_residuals<std::pair<Y, R>> {
  using value = canonical_t<Y>;
  using residuals = canonical_t<R>;
};
template <class F, class Forward, class Backward>
struct with_vjp {
  F f;
  Forward forward;
  Backward backward;

  template <class... X>
  static constexpr auto misuse() {
    if constexpr (error::AnyReported<X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else {
      using Y = call_result_t<F, traced_t<X>...>;
      using P = call_result_t<Forward, traced_t<X>...>;
      if constexpr (!TracedResult<Y>) {
        return result_misuse<Y>();
      } else if constexpr (!TracedResult<P>) {
        return result_misuse<P>();
      } else if constexpr (error::AnyReported<Y, P>) {
        return no_misuse{};
      } else if constexpr (!requires { typename value_and_residuals<P>::residuals; }) {
        return error::custom_rule_returns_another_type{};
      } else if constexpr (!std::is_same_v<typename value_and_residuals<P>::value, canonical_t<Y>>) {
        return error::custom_rule_returns_another_type{};
      } else {
        return rule_misuse<one_or_tuple_t<canonical_t<X>...>, Backward, typename value_and_residuals<P>::residuals,
                           canonical_t<Y>>();
      }
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: custom_vjp(f, forward, backward): forward(x...) returns std::pair{f(x...), residuals}, backward(residuals, cotangent of f(x...)) the cotangents of x... (a tuple of several), of their types
    if constexpr (error::AnyReported<X...>) {
      return error::reported{};
    } else if constexpr (error::AnyReported<call_result_t<F, traced_t<X>...>, call_result_t<Forward, traced_t<X>...>>) {
      return error::reported{};
    } else {
      using Y = canonical_t<call_result_t<F, traced_t<X>...>>;
      using R = typename value_and_residuals<call_result_t<Forward, traced_t<X>...>>::residuals;
      tracing_builder* b = meeting_builder(x...);
      return add_custom<Y>(
          prim::custom_vjp, b,
          regions_of_one_entry(trace_region(b, f, std::type_identity<X>{}...),
                               trace_region(b, forward, std::type_identity<X>{}...),
                               trace_region(b, backward, std::type_identity<R>{}, std::type_identity<Y>{})),
          x...);
    }
  }
};
}

template <class F, class DF>
constexpr auto custom_jvp(const F& f, const DF& df) {
  return detail::with_jvp<F, DF>{f, df};
}
template <class F, class Forward, class Backward>
constexpr auto custom_vjp(const F& f, const Forward& forward, const Backward& backward) {
  return detail::with_vjp<F, Forward, Backward>{f, forward, backward};
}

}

namespace drx {
namespace prim {
namespace rows {

struct floor : floating_function, not_differentiable {
  static constexpr const char* name = "floor";
  static constexpr known_value known(const known_value& x) {
    return {x.finite, x.not_negative, x.not_positive, x.negative()};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::floor(x);
  }
  template <class T>
  static T reference(T x) {
    return std::floor(x);
  }
};
struct ceil : floating_function, not_differentiable {
  static constexpr const char* name = "ceil";
  static constexpr known_value known(const known_value& x) {
    return {x.finite, x.not_negative, x.not_positive, x.positive()};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::ceil(x);
  }
  template <class T>
  static T reference(T x) {
    return std::ceil(x);
  }
};
struct sign : number_function, not_differentiable {
  static constexpr const char* name = "sign";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static constexpr T apply(T x) {
    return x == x ? static_cast<T>(static_cast<T>(x > 0) - static_cast<T>(x < 0)) : x;
  }
  template <class T>
  static T reference(T x) {
    return apply(x);
  }
};
struct abs : number_function {
  static constexpr const char* name = "abs";
  static constexpr known_value known(const known_value& x) {
    return {x.finite, true, x.not_negative && x.not_positive, x.not_zero};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return math::abs(x);
    } else {
      return x < 0 ? static_cast<T>(-wrapping(x)) : x;
    }
  }
  template <class T>
  static T reference(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::abs(x);
    } else {
      return apply(x);
    }
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::times(b, t, b.add1(prim_sign(), {s.operands[0]}));
  }
  static constexpr const primitive& prim_sign();
};
struct relu : number_function {
  static constexpr const char* name = "relu";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, x.not_positive, x.positive()}; }
  template <class T>
  DRX_INLINE static constexpr T apply(T x) {
    return x < 0 ? T(0) : x;
  }
  template <class T>
  static T reference(T x) {
    return apply(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int zero = emit::constant_like(b, t, 0);
    return emit::where(b, emit::less(b, zero, s.operands[0]), t, zero);
  }
};
struct round : floating_function, not_differentiable {
  static constexpr const char* name = "round";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::round(x);
  }
  template <class T>
  static T reference(T x) {
    return std::nearbyint(x);
  }
};

struct softsign : floating_function {
  static constexpr const char* name = "softsign";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return x / (1 + math::abs(x));
  }
  template <class T>
  static T reference(T x) {
    return x / (1 + std::abs(x));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t);
};

}

inline constexpr primitive floor = elementwise_primitive<rows::floor>();
inline constexpr primitive ceil = elementwise_primitive<rows::ceil>();
inline constexpr primitive sign = elementwise_primitive<rows::sign>();
inline constexpr primitive abs = elementwise_primitive<rows::abs>();
inline constexpr primitive relu = elementwise_primitive<rows::relu>();
inline constexpr primitive round = elementwise_primitive<rows::round>();
inline constexpr primitive softsign = elementwise_primitive<rows::softsign>();
template <>
struct row_of<&floor> : rows::floor {};
template <>
struct row_of<&ceil> : rows::ceil {};
template <>
struct row_of<&sign> : rows::sign {};
template <>
struct row_of<&abs> : rows::abs {};
template <>
struct row_of<&relu> : rows::relu {};
template <>
struct row_of<&round> : rows::round {};
template <>
struct row_of<&softsign> : rows::softsign {};

constexpr const primitive& rows::abs::prim_sign() { return prim::sign; }
constexpr int rows::softsign::partial(builder& b, const rule_site& s, int, int t) {
  const int one = emit::constant_like(b, t, 1);
  const int d = emit::div(b, one, emit::add(b, one, b.add1(prim::abs, {s.operands[0]})));
  return emit::times(b, t, emit::mul(b, d, d));
}
}

template <class A> requires FloatingArray<A>
constexpr A floor(const A& x) { return detail::elementary(prim::floor, x); }
template <class A> requires FloatingArray<A>
constexpr A ceil(const A& x) { return detail::elementary(prim::ceil, x); }
template <class A> requires detail::NumberArray<A>
constexpr A sign(const A& x) { return detail::elementary(prim::sign, x); }
template <class A> requires detail::NumberArray<A>
constexpr A abs(const A& x) { return detail::elementary(prim::abs, x); }
template <class A> requires detail::NumberArray<A>
constexpr A relu(const A& x) { return detail::elementary(prim::relu, x); }
template <class A> requires FloatingArray<A>
constexpr A round(const A& x) { return detail::elementary(prim::round, x); }
template <class A> requires FloatingArray<A>
constexpr A softsign(const A& x) { return detail::elementary(prim::softsign, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why floor(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why ceil(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why sign(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why abs(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_numbers_t<A>> requires detail::NotNumbers<A>
Why relu(const A&) = delete;  // drx: of arrays of numbers; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why round(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why softsign(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

namespace detail {
template <class A, class L, class H>
concept Clampable = Array<A> && Compatible<A, L> && Compatible<A, H> &&
                    !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A, class L, class H>
constexpr auto clamp_misuse() {
  if constexpr (NoArray<A> || Placed<L> || Placed<H>) {
    return no_array_t<A, L, H>{};
  } else if constexpr (Incompatible<A, L>) {
    return mismatch<A, L>();
  } else if constexpr (Incompatible<A, H>) {
    return mismatch<A, H>();
  } else {
    return error::needs_numbers{};
  }
}
}

template <class A, class L, class H>
  requires detail::Clampable<A, L, H>
constexpr auto clamp(const A& x, const L& low, const H& high) {
  return where(x < low, low, where(x > high, high, x));
}
template <class A, class L, class H, class Why = decltype(detail::clamp_misuse<A, L, H>())>
  requires((Array<A> || detail::NoArray<A>) && !detail::Clampable<A, L, H>)
Why clamp(const A&, const L&, const H&) = delete;  // drx: clamp(array of numbers, low, high): bounds of its element type; of a placed value in a map; of a structure leaf by leaf: tree_map

template <class A> requires FloatingArray<A>
constexpr auto isnan(const A& x) { return x != x; }
template <class A> requires FloatingArray<A>
constexpr auto isinf(const A& x) { return abs(x) > std::numeric_limits<typename A::value_type>::max(); }
template <class A> requires FloatingArray<A>
constexpr auto isfinite(const A& x) { return abs(x) <= std::numeric_limits<typename A::value_type>::max(); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why isnan(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why isinf(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why isfinite(const A&) = delete;  // drx: of float or double arrays; of a placed value in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(abs)
DRX_SILENT(relu)
DRX_SILENT(ceil)
DRX_SILENT(clamp)
DRX_SILENT(floor)
DRX_SILENT(sign)
DRX_SILENT(isfinite)
DRX_SILENT(isinf)
DRX_SILENT(isnan)
DRX_SILENT(round)
DRX_SILENT(softsign)

}

namespace drx {
namespace prim::rules {
struct triangular_form {
  bool right = false, lower = true, transposed = false, unit = false;
};
struct triangular_solve {
  struct view : triangular_form {
    constexpr view(bool is_right, bool is_lower, bool is_transposed, bool is_unit)
        : triangular_form{is_right, is_lower, is_transposed, is_unit} {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1), a.flag(2), a.flag(3)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {right, lower, transposed, unit};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0], y = t.operands[1];
    typing::require(a.type == y.type && square_matrix::same_batch(a.shape, y.shape),
                    "triangular_solve: types or batches differ");
    typing::require(a.shape.last() == y.shape[y.shape.rank - (view(t.attrs).right ? 1 : 2)],
                    "triangular_solve: inner extents");
    return {y};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const view form(s.e);
    int r = t[1];
    if (t[0] != zero_tangent) {
      const int da = emit::triangle(s.b, t[0], form.lower, form.unit), x = s.results[0];
      r = emit::subtract_from(s.b, r,
                              form.right ? emit::matmul(s.b, x, da, false, form.transposed)
                                         : emit::matmul(s.b, da, x, form.transposed, false));
    }
    return {r == zero_tangent ? r : s.b.add1(*s.e.prim, {s.operands[0], r}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const view form(s.e);
    view turned = form;
    turned.transposed = !form.transposed;
    const int x = s.results[0], g = s.b.add1(*s.e.prim, {s.operands[0], ct[0]}, turned.make());
    vec<int> r{zero_tangent, wanted[1] ? g : zero_tangent};
    if (wanted[0]) {
      const bool g_first = form.right == form.transposed;
      const int product = emit::matmul(s.b, g_first ? g : x, g_first ? x : g, form.right, !form.right);
      r[0] = emit::neg(s.b, emit::triangle(s.b, product, form.lower, form.unit));
    }
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const shape from = s.b.shape(s.operands[1]);
    view as_rows(s.e);
    const bool rows = as_rows.right;
    if (batched[0] || from.rank != 3 || (!rows && from[2] != 1)) return square_matrix::batch(s, batched, n);
    as_rows.right = true;
    if (!rows) as_rows.transposed = !as_rows.transposed;
    const int tall = emit::reshape(s.b, s.operands[1], make_shape(rows ? n * from[1] : n, from[rows ? 2 : 1]));
    return {emit::reshape(s.b, s.b.add1(*s.e.prim, {s.operands[0], tall}, as_rows.make()), from)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double y = 1;
    if (emit::is_constant(b, o[1], y) && y == 0) return o[1];
    const entry* e = b.definition(o[0]);
    if (!e || !matmul::swaps_last_two(*e)) return -1;
    view turned(a);
    turned.lower = !turned.lower;
    turned.transposed = !turned.transposed;
    return b.add1(*prim_ptr(), {e->operands[0], o[1]}, turned.make());
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0) || s.b.shape(s.operands[1]).size() == 0) return {};
    if (s.in_lanes[0])
      return {emit::lane_triangular_solve(s.b, s.operands[0], s.operands[1], s.e.attrs, s.in_lanes[1])};
    if (view(s.e).right) return {emit::lane_triangular_solve(s.b, s.operand(0), s.operands[1], s.e.attrs, true)};
    const shape from = s.b.shape(s.operands[1]);
    const int wide = emit::reshape(s.b, s.operands[1], make_shape(from[0], from[1] * from[2]));
    return {emit::reshape(s.b, s.b.add1(*prim_ptr(), {s.operands[0], wide}, s.e.attrs), from)};
  }
  static constexpr const primitive* prim_ptr();
  static std::string print(const attributes& a) {
    const view form(a);
    return std::string(form.right ? "right " : "") + (form.unit ? "unit " : "") + (form.lower ? "lower" : "upper") +
           (form.transposed ? " T" : "");
  }
  template <class T>
  static void one(const triangular_form& form, std::int64_t n, const T* a, T* x, std::int64_t step) {
    const bool turned = form.transposed != form.right;
    const bool forward = form.lower != turned;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = forward ? i : n - 1 - i;
      T sum = x[row * step];
      for (std::int64_t k = forward ? 0 : row + 1; k < (forward ? row : n); ++k)
        sum -= (turned ? a[k * n + row] : a[row * n + k]) * x[k * step];
      x[row * step] = form.unit ? sum : sum / a[row * n + row];
    }
  }
  static void evaluate(evaluation& v) {
    const view form(v.e);
    const shape from = v.in[0]->type.shape, s = v.out[0].type.shape;
    const auto n = from.last(), size = s[s.rank - 2] * s[s.rank - 1], others = n == 0 ? 0 : size / n;
    v.out[0].bytes = v.in[1]->bytes;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(from); ++b)
          for (std::int64_t i = 0; i < others; ++i)
            one(form, n, v.in[0]->data<T>() + b * n * n, v.out[0].data<T>() + b * size + (form.right ? i * n : i),
                form.right ? 1 : others);
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive triangular_solve{.name = "triangular_solve",
                                            .type = rules::triangular_solve::type,
                                            .jvp = rules::triangular_solve::jvp,
                                            .vjp = rules::triangular_solve::vjp,
                                            .batch = rules::triangular_solve::batch,
                                            .simplify = rules::triangular_solve::simplify,
                                            .print = rules::triangular_solve::print,
                                            .evaluate = rules::triangular_solve::evaluate,
                                            .known = rules::known::nothing,
                                            .lanes = rules::triangular_solve::lanes,
                                            .split = rules::split::along_matrices,
                                            .cost = rules::square_matrix::cost};
constexpr const primitive* rules::triangular_solve::prim_ptr() { return &prim::triangular_solve; }
}
namespace emit {
constexpr int triangular_solve(builder& b, int a, int y, bool right, bool lower, bool transposed, bool unit) {
  return b.add1(prim::triangular_solve, {a, y},
                prim::rules::triangular_solve::view(right, lower, transposed, unit).make());
}
}

struct upper {};
struct transposed {};
struct unit_diagonal {};
struct from_right {};

namespace detail {
template <class O>
inline constexpr bool is_triangular_option = std::is_same_v<O, upper> || std::is_same_v<O, drx::transposed> ||
                                             std::is_same_v<O, unit_diagonal> || std::is_same_v<O, from_right>;
template <class Option, class... O>
inline constexpr bool any_is = (std::is_same_v<Option, O> || ...);
}

template <class... Options, class A, class B>
  requires((detail::is_triangular_option<Options> && ...) &&
           detail::Solvable<A, B, detail::any_is<from_right, Options...>>)
constexpr auto triangular_solve(const A& a, const B& b) {
  constexpr bool right = detail::any_is<from_right, Options...>;
  return detail::system_of<A, B, right>(a, b, [](builder& on, int m, int y) {
    m = emit::broadcast_to(on, m, detail::linear_system<A, B, right>::matrices());
    return emit::triangular_solve(on, m, y, right, !detail::any_is<upper, Options...>,
                                  detail::any_is<drx::transposed, Options...>,
                                  detail::any_is<unit_diagonal, Options...>);
  });
}
template <class... Options, class A, class B,
          class Why = decltype(detail::linear_system<A, B, detail::any_is<from_right, Options...>>::misuse())>
  requires((detail::is_triangular_option<Options> && ...) &&
           detail::NotSolvable<A, B, detail::any_is<from_right, Options...>>)
Why triangular_solve(const A&, const B&) = delete;  // drx: a square floating matrix and a vector or matrix of as many rows (from_right: columns), one element type; of placed values in a map

DRX_SILENT_OF_TYPES(triangular_solve)

}

namespace drx {
namespace prim::rules {
struct lu_factors {
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0];
    return {a, abstract_value(dtype::int32, without_axis(a.shape, a.shape.rank - 1))};
  }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent, zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0)) return {};
    return emit::lane_lu_factors(s.b, s.operands[0]);
  }
  template <class T>
  static void factor(std::int64_t n, T* a, std::int32_t* exchanged) {
    for (std::int64_t k = 0; k < n; ++k) {
      std::int64_t best = k;
      for (std::int64_t i = k + 1; i < n; ++i)
        if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
      exchanged[k] = static_cast<std::int32_t>(best);
      for (std::int64_t j = 0; j < n && best != k; ++j) std::swap(a[k * n + j], a[best * n + j]);
      if (a[k * n + k] == 0) continue;
      for (std::int64_t i = k + 1; i < n; ++i) {
        a[i * n + k] /= a[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
      }
    }
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto n = s.last();
    v.out[0].bytes = v.in[0]->bytes;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          factor(n, v.out[0].data<T>() + b * n * n, v.out[1].data<std::int32_t>() + b * n);
      }
    });
  }
};

struct lu_solve {
  struct view {
    bool transposed;
    constexpr explicit view(bool is_transposed) : transposed(is_transposed) {}
    constexpr explicit view(int_list a) : transposed(a.flag(0)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposed};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0], y = t.operands[3];
    typing::require(t.operands[1] == a && t.operands[2].type == dtype::int32,
                    "lu_solve: not the factors of the matrix");
    typing::require(a.type == y.type && square_matrix::same_batch(a.shape, y.shape),
                    "lu_solve: types or batches differ");
    typing::require(a.shape.last() == y.shape[y.shape.rank - 2], "lu_solve: inner extents");
    return {y};
  }
  static constexpr int solve(const rule_site& s, int y, bool transposed) {
    return s.b.add1(*s.e.prim, {s.operands[0], s.operands[1], s.operands[2], y}, view(transposed).make());
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    const bool transposed = view(s.e).transposed;
    int r = t[3];
    if (t[0] != zero_tangent) r = emit::subtract_from(s.b, r, emit::matmul(s.b, t[0], s.results[0], transposed, false));
    return {r == zero_tangent ? r : solve(s, r, transposed)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(4, zero_tangent);
    if (ct[0] == zero_tangent) return r;
    const bool transposed = view(s.e).transposed;
    const int g = solve(s, ct[0], !transposed), x = s.results[0];
    if (wanted[0]) r[0] = emit::neg(s.b, emit::matmul(s.b, transposed ? x : g, transposed ? g : x, false, true));
    if (wanted[3]) r[3] = g;
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const shape from = s.b.shape(s.operands[3]);
    if (batched[0] || batched[1] || batched[2] || from.rank != 3) return square_matrix::batch(s, batched, n);
    const int aside = emit::transpose(s.b, s.operands[3], {1, 0, 2});
    const int wide = emit::reshape(s.b, aside, make_shape(from[1], n * from[2]));
    const int solved = emit::reshape(s.b, solve(s, wide, view(s.e).transposed), make_shape(from[1], n, from[2]));
    return {emit::transpose(s.b, solved, {1, 0, 2})};
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    const bool transposed = view(s.e).transposed;
    if (!square_matrix::suits_lanes(s, 0) || s.b.shape(s.operands[3]).size() == 0) return {};
    if (s.in_lanes[1])
      return {emit::lane_lu_solve(s.b, s.operands[1], s.operand(2), s.operands[3], transposed, s.in_lanes[3])};
    if (s.in_lanes[2] || !s.in_lanes[3]) return {};
    const shape from = s.b.shape(s.operands[3]);
    const int wide = emit::reshape(s.b, s.operands[3], make_shape(from[0], from[1] * from[2]));
    const vec<int> operands{s.operands[1], s.operands[1], s.operands[2], wide};
    return {emit::reshape(s.b, s.b.add1(*s.e.prim, operands, s.e.attrs), from)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    double y = 1;
    return emit::is_constant(b, o[3], y) && y == 0 ? o[3] : -1;
  }
  static std::string print(const attributes& a) { return view(a).transposed ? "T" : "N"; }
  static void evaluate(evaluation& v) {
    const bool transposed = view(v.e).transposed;
    const shape s = v.out[0].type.shape;
    const auto n = s[s.rank - 2], columns = s.last();
    v.out[0].bytes = v.in[3]->bytes;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          for (std::int64_t j = 0; j < columns; ++j) {
            const T* lu = v.in[1]->data<T>() + b * n * n;
            const std::int32_t* exchanged = v.in[2]->data<std::int32_t>() + b * n;
            T* x = v.out[0].data<T>() + b * n * columns + j;
            for (std::int64_t i = 0; i < n && !transposed; ++i) std::swap(x[i * columns], x[exchanged[i] * columns]);
            const triangular_form l{.lower = true, .transposed = transposed, .unit = true},
                u{.lower = false, .transposed = transposed};
            triangular_solve::one(transposed ? u : l, n, lu, x, columns);
            triangular_solve::one(transposed ? l : u, n, lu, x, columns);
            for (std::int64_t i = n - 1; i >= 0 && transposed; --i)
              std::swap(x[i * columns], x[exchanged[i] * columns]);
          }
      }
    });
  }
};

struct logdet {
  static constexpr vec<abstract_value> type(const typing& t) {
    shape s = square_matrix::type(t)[0].shape;
    s.rank -= 2;
    return {t.operands[0].with_shape(s)};
  }
  static constexpr int slope(const rule_site& s) {
    const int identity = emit::identity_like(s.b, s.operands[0]);
    return s.b.add1(*lu_solve_ptr(), {s.operands[0], s.operands[1], s.operands[2], identity},
                    lu_solve::view(true).make());
  }
  static constexpr const primitive* lu_solve_ptr();
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const std::int64_t last = s.b.shape(t[0]).rank - 1;
    return {emit::sum(s.b, emit::times(s.b, t[0], slope(s)), {last - 1, last})};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> r(3, zero_tangent);
    if (ct[0] == zero_tangent || !wanted[0]) return r;
    const shape from = s.b.shape(s.operands[0]);
    r[0] = emit::times(s.b, sum::spread(s.b, ct[0], from, {from.rank - 2, from.rank - 1}), slope(s));
    return r;
  }
  static constexpr vec<int> lanes(const lane_site& s) {
    if (!square_matrix::suits_lanes(s, 0) || !s.in_lanes[1]) return {};
    const std::int64_t n = s.b.shape(s.operands[1])[0];
    int sum = -1;
    for (std::int64_t i = 0; i < n; ++i) {
      const int element = emit::slice(s.b, s.operands[1], {i, i, 0}, {i + 1, i + 1, s.n}, {1, 1, 1});
      const int term = emit::log(s.b, s.b.add1(prim::abs, {emit::reshape(s.b, element, make_shape(s.n))}));
      sum = sum < 0 ? term : emit::add(s.b, sum, term);
    }
    return {sum};
  }
  static void evaluate(evaluation& v) {
    const auto n = v.in[1]->type.shape.last();
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < v.out[0].size(); ++b)
          for (std::int64_t i = 0; i < n; ++i)
            v.out[0].data<T>()[b] += std::log(std::abs(v.in[1]->data<T>()[b * n * n + i * n + i]));
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive lu_factors{.name = "lu_factors",
                                      .type = rules::lu_factors::type,
                                      .jvp = rules::lu_factors::jvp,
                                      .vjp = rules::lu_factors::vjp,
                                      .batch = rules::square_matrix::batch,
                                      .evaluate = rules::lu_factors::evaluate,
                                      .known = rules::known::nothing,
                                      .lanes = rules::lu_factors::lanes,
                                      .split = rules::split::along_matrices,
                                      .cost = rules::square_matrix::cost};
inline constexpr primitive lu_solve{.name = "lu_solve",
                                    .type = rules::lu_solve::type,
                                    .jvp = rules::lu_solve::jvp,
                                    .vjp = rules::lu_solve::vjp,
                                    .batch = rules::lu_solve::batch,
                                    .simplify = rules::lu_solve::simplify,
                                    .print = rules::lu_solve::print,
                                    .evaluate = rules::lu_solve::evaluate,
                                    .known = rules::known::nothing,
                                    .lanes = rules::lu_solve::lanes,
                                    .split = rules::split::along_matrices};
inline constexpr primitive logdet{.name = "logdet",
                                  .type = rules::logdet::type,
                                  .jvp = rules::logdet::jvp,
                                  .vjp = rules::logdet::vjp,
                                  .batch = rules::square_matrix::batch,
                                  .evaluate = rules::logdet::evaluate,
                                  .known = rules::known::nothing,
                                  .lanes = rules::logdet::lanes,
                                  .split = rules::split::whole};
constexpr const primitive* rules::logdet::lu_solve_ptr() { return &prim::lu_solve; }
}
namespace emit {
constexpr int solve(builder& b, int a, int y, bool transposed) {
  const vec<int> factors = b.add(prim::lu_factors, {a});
  shape matrices = b.shape(y);
  matrices[matrices.rank - 1] = matrices[matrices.rank - 2];
  return b.add1(prim::lu_solve,
                {broadcast_to(b, a, matrices), broadcast_to(b, factors[0], matrices),
                 broadcast_to(b, factors[1], without_axis(matrices, matrices.rank - 1)), y},
                prim::rules::lu_solve::view(transposed).make());
}
constexpr int logdet(builder& b, int a) {
  const vec<int> factors = b.add(prim::lu_factors, {a});
  return b.add1(prim::logdet, {a, factors[0], factors[1]});
}
}

namespace detail {
template <class A>
struct without_matrix_axes {
  static constexpr shape value = [] {
    shape s = A::shape;
    s.rank = s.rank < 2 ? 0 : s.rank - 2;
    for (int i = s.rank; i < shape::max_rank; ++i) s.extent[i] = 0;
    return s;
  }();
};
}

template <class A, class B>
  requires detail::Solvable<A, B>
constexpr auto solve(const A& a, const B& b) {
  return detail::system_of<A, B, false>(a, b, [](builder& on, int m, int y) { return emit::solve(on, m, y, false); });
}
template <class A, class B, class Why = decltype(detail::linear_system<A, B>::misuse())>
  requires detail::NotSolvable<A, B>
Why solve(const A&, const B&) = delete;  // drx: a square floating matrix and a vector or matrix of as many rows, one element type; of placed values in a map

template <class A>
  requires detail::SquareMatrix<A>
constexpr A inverse(const A& a) {
  return detail::unary<A>(a, [](builder& b, int id) { return emit::solve(b, id, emit::identity_like(b, id), false); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why inverse(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

template <class A>
  requires detail::SquareMatrix<A>
constexpr auto logdet(const A& a) {
  using R = array_of<typename A::value_type, detail::without_matrix_axes<A>>;
  return detail::unary<R>(a, [](builder& b, int id) { return emit::logdet(b, id); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why logdet(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(inverse)
DRX_SILENT(logdet)
DRX_SILENT(solve)

}

namespace drx {
namespace prim::rules {
template <class T>
T determinant_of(std::int64_t n, T* a) {
  T d = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[best * n + k])) best = i;
    for (std::int64_t j = 0; j < n && best != k; ++j) std::swap(a[k * n + j], a[best * n + j]);
    d *= best == k ? a[k * n + k] : -a[k * n + k];
    if (a[k * n + k] == 0) return 0;
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
  }
  return d;
}

struct minors {
  struct view {
    bool transposed, with_sign;
    constexpr view(bool is_transposed, bool is_signed) : transposed(is_transposed), with_sign(is_signed) {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposed, with_sign};
      return a;
    }
  };
  static constexpr std::int64_t order(const shape& s, bool transposed) { return s.last() + transposed; }
  static constexpr vec<abstract_value> type(const typing& t) {
    const bool transposed = view(t.attrs).transposed;
    shape s = square_matrix::type(t)[0].shape;
    const std::int64_t n = order(s, transposed);
    typing::require(n >= 1 && (!transposed || (s.rank >= 3 && s[s.rank - 3] == n * n)), "minors: not of a matrix");
    if (transposed) {
      s = without_axis(s, s.rank - 3);
      s[s.rank - 2] = s[s.rank - 1] = n;
    } else {
      s[s.rank - 2] = n * n;
      s[s.rank - 1] = n - 1;
      s.push_back(n - 1);
    }
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    view back(s.e);
    back.transposed = !back.transposed;
    return {s.b.add1(*s.e.prim, {ct[0]}, back.make())};
  }
  static std::string print(const attributes& a) {
    return std::string(view(a).transposed ? "T" : "N") + (view(a).with_sign ? " signed" : "");
  }
  template <class F>
  static void for_each(std::int64_t n, bool with_sign, F f) {
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < n - 1; ++k)
          for (std::int64_t l = 0; l < n - 1; ++l)
            f((k + (k >= i)) * n + l + (l >= j), at++, with_sign && (i + j) % 2 != 0);
  }
  static void evaluate(evaluation& v) {
    const bool transposed = view(v.e).transposed, with_sign = view(v.e).with_sign;
    const shape s = v.in[0]->type.shape;
    const std::int64_t n = order(s, transposed), matrix = n * n, all = matrix * (n - 1) * (n - 1);
    const auto batches = square_matrix::batches(transposed ? v.out[0].type.shape : s);
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < batches; ++b)
          for_each(n, with_sign, [&](std::int64_t in_matrix, std::int64_t in_minors, bool negative) {
            const T x = v.in[0]->data<T>()[transposed ? b * all + in_minors : b * matrix + in_matrix];
            v.out[0].data<T>()[transposed ? b * matrix + in_matrix : b * all + in_minors] += negative ? -x : x;
          });
      }
    });
  }
};

struct cofactors {
  static constexpr std::int64_t polynomial_order = 8;
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(t[0]);
    const auto n = from.last();
    if (n <= 1) return {zero_tangent};
    if (n <= polynomial_order) {
      const int d = emit::times(s.b, of_minors(s), emit::minors(s.b, t[0], false, true));
      const std::int64_t last = s.b.shape(d).rank - 1;
      return {emit::reshape(s.b, emit::sum(s.b, d, {last - 1, last}), from)};
    }
    const int c = s.results[0], w = inverse_transposed(s);
    const int trace = sum::spread(s.b, emit::sum(s.b, emit::times(s.b, w, t[0]), last_two(from)), from, last_two(from));
    const int of_trace = emit::times(s.b, trace, c);
    return {emit::sub(s.b, of_trace, emit::matmul(s.b, emit::matmul(s.b, c, t[0], false, true), w, false, false))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(ct[0]);
    const auto n = from.last();
    if (n <= 1) return {zero_tangent};
    if (n <= polynomial_order) {
      const int c = of_minors(s);
      const shape all = s.b.shape(c);
      shape per_minor = all;
      per_minor.rank -= 2;
      const int g = sum::spread(s.b, emit::reshape(s.b, ct[0], per_minor), all, last_two(all));
      return {emit::minors(s.b, emit::times(s.b, g, c), true, true)};
    }
    const int c = s.results[0], w = inverse_transposed(s);
    const int scale =
        sum::spread(s.b, emit::sum(s.b, emit::times(s.b, ct[0], c), last_two(from)), from, last_two(from));
    const int scaled = emit::times(s.b, scale, w);
    return {emit::sub(s.b, scaled, emit::matmul(s.b, emit::matmul(s.b, w, ct[0], false, true), c, false, false))};
  }
  static constexpr vec<std::int64_t> last_two(const shape& s) { return {s.rank - 2, s.rank - 1}; }
  static constexpr int of_minors(const rule_site& s) {
    return s.b.add1(*s.e.prim, {emit::minors(s.b, s.operands[0], false, false)});
  }
  static constexpr int inverse_transposed(const rule_site& s) {
    return emit::solve(s.b, s.operands[0], emit::identity_like(s.b, s.operands[0]), true);
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    return b.shape(o[0]).last() == 1 ? emit::constant_like(b, o[0], 1) : -1;
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t n = x.shape.last();
    return n > 3 ? 2 * n * n * byte_size(x.type) : 0;
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto n = s.last(), m = n - 1;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b) {
          std::vector<T> minor(static_cast<std::size_t>(n == 0 ? 0 : n * n * m * m));
          minors::for_each(n, false, [&](auto in_matrix, auto in_minors, bool) {
            minor[static_cast<std::size_t>(in_minors)] = v.in[0]->data<T>()[b * n * n + in_matrix];
          });
          for (std::int64_t i = 0; i < n * n; ++i) {
            const T d = determinant_of(m, minor.data() + i * m * m);
            v.out[0].data<T>()[b * n * n + i] = (i / n + i % n) % 2 != 0 ? -d : d;
          }
        }
      }
    });
  }
};

struct determinant {
  static constexpr vec<abstract_value> type(const typing& t) {
    shape s = square_matrix::type(t)[0].shape;
    s.rank -= 2;
    return {t.operands[0].with_shape(s)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(t[0]);
    return {emit::sum(s.b, emit::times(s.b, emit::cofactors(s.b, s.operands[0]), t[0]), cofactors::last_two(from))};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const shape from = s.b.shape(s.operands[0]);
    const int each = sum::spread(s.b, ct[0], from, cofactors::last_two(from));
    return {emit::times(s.b, each, emit::cofactors(s.b, s.operands[0]))};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    shape s = b.shape(o[0]);
    if (s.last() != 1) return -1;
    s.rank -= 2;
    return emit::reshape(b, o[0], s);
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t n = x.shape.last();
    return n > 3 ? n * n * byte_size(x.type) : 0;
  }
  static void evaluate(evaluation& v) {
    const auto n = v.in[0]->type.shape.last();
    tensor copy = *v.in[0];
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        for (std::int64_t b = 0; b < v.out[0].size(); ++b)
          v.out[0].data<T>()[b] = determinant_of(n, copy.data<T>() + b * n * n);
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive minors{.name = "minors",
                                  .type = rules::minors::type,
                                  .jvp = rules::broadcast_to::jvp,
                                  .vjp = rules::minors::vjp,
                                  .batch = rules::square_matrix::batch,
                                  .print = rules::minors::print,
                                  .evaluate = rules::minors::evaluate,
                                  .known = rules::known::polynomials,
                                  .split = rules::split::whole};
inline constexpr primitive cofactors{.name = "cofactors",
                                     .type = rules::square_matrix::type,
                                     .jvp = rules::cofactors::jvp,
                                     .vjp = rules::cofactors::vjp,
                                     .batch = rules::square_matrix::batch,
                                     .simplify = rules::cofactors::simplify,
                                     .evaluate = rules::cofactors::evaluate,
                                     .known = rules::known::polynomials,
                                     .split = rules::split::along_matrices,
                                     .scratch = rules::cofactors::scratch};
inline constexpr primitive determinant{.name = "determinant",
                                       .type = rules::determinant::type,
                                       .jvp = rules::determinant::jvp,
                                       .vjp = rules::determinant::vjp,
                                       .batch = rules::square_matrix::batch,
                                       .simplify = rules::determinant::simplify,
                                       .evaluate = rules::determinant::evaluate,
                                       .known = rules::known::polynomials,
                                       .split = rules::split::along_matrices,
                                       .scratch = rules::determinant::scratch};
}
namespace emit {
constexpr int minors(builder& b, int x, bool transposed, bool with_sign) {
  return b.add1(prim::minors, {x}, prim::rules::minors::view(transposed, with_sign).make());
}
constexpr int cofactors(builder& b, int a) { return b.add1(prim::cofactors, {a}); }
constexpr int determinant(builder& b, int a) { return b.add1(prim::determinant, {a}); }
}

template <class A>
  requires detail::SquareMatrix<A>
constexpr auto determinant(const A& a) {
  using R = array_of<typename A::value_type, detail::without_matrix_axes<A>>;
  return detail::unary<R>(a, [](builder& b, int id) { return emit::determinant(b, id); });
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
Why determinant(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(determinant)

}

namespace drx::decompose {

template <class T>
T inner(const T* x, const T* y, std::int64_t n) {
  constexpr int lanes = 8;
  T lane[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += x[i + l] * y[i + l];
  for (int l = 0; i < n; ++i, ++l) lane[l] += x[i] * y[i];
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}
template <class T>
bool all_finite(const T* x, std::int64_t n) {
  bool finite = true;
  for (std::int64_t i = 0; i < n; ++i) finite = finite && x[i] - x[i] == 0;
  return finite;
}
template <class T>
void fill_nan(T* x, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = std::numeric_limits<T>::quiet_NaN();
}
template <class T>
T largest_of(const T* x, std::int64_t n) {
  T largest = 0;
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  return largest;
}
template <class T>
T scale_of(const T* x, std::int64_t n) {
  const T largest = largest_of(x, n);
  return largest > 0 ? largest : T(1);
}

template <class T>
void qr(std::int64_t m, std::int64_t n, const T* a, T* q, T* r, T* scratch) {
  if (!all_finite(a, m * n)) {
    fill_nan(q, m * n);
    fill_nan(r, n * n);
    return;
  }
  T *const tau = scratch, *const sums =
                              scratch + n;
  auto reflect = [&](std::int64_t k) {
    for (std::int64_t j = k + 1; j < n; ++j) sums[j] = q[k * n + j];
    for (std::int64_t i = k + 1; i < m; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) sums[j] += q[i * n + k] * q[i * n + j];
    for (std::int64_t j = k + 1; j < n; ++j) {
      sums[j] *= tau[k];
      q[k * n + j] -= sums[j];
    }
    for (std::int64_t i = k + 1; i < m; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) q[i * n + j] -= q[i * n + k] * sums[j];
  };
  for (std::int64_t i = 0; i < m * n; ++i) q[i] = a[i];
  for (std::int64_t k = 0; k < n; ++k) {
    T below = 0;
    for (std::int64_t i = k + 1; i < m; ++i) below = std::max(below, std::abs(q[i * n + k]));
    tau[k] = 0;
    if (below == 0) continue;
    const T alpha = q[k * n + k], scale = std::max(below, std::abs(alpha));
    T squares = 0;
    for (std::int64_t i = k; i < m; ++i) squares += (q[i * n + k] / scale) * (q[i * n + k] / scale);
    const T beta = (alpha < 0 ? scale : -scale) * std::sqrt(squares);
    tau[k] = (beta - alpha) / beta;
    for (std::int64_t i = k + 1; i < m; ++i) q[i * n + k] /= alpha - beta;
    q[k * n + k] = beta;
    reflect(k);
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) r[i * n + j] = j < i ? T(0) : q[i * n + j];
  for (std::int64_t k = n - 1; k >= 0; --k) {
    for (std::int64_t j = k + 1; j < n; ++j) q[k * n + j] = 0;
    reflect(k);
    for (std::int64_t i = k + 1; i < m; ++i) q[i * n + k] *= -tau[k];
    q[k * n + k] = 1 - tau[k];
  }
}

template <class T>
void turn_rows(T c, T s, T* __restrict x, T* __restrict y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T before = x[i];
    x[i] = c * before - s * y[i];
    y[i] = s * before + c * y[i];
  }
}

template <class T>
struct rotation {
  T c, s, t;
  rotation(T p, T q, T x) {
    const T theta = (q - p) / (2 * x);
    t = (theta < 0 ? T(-1) : T(1)) / (std::abs(theta) + std::sqrt(1 + theta * theta));
    c = 1 / std::sqrt(1 + t * t);
    s = t * c;
  }
  void turn(T* x, T* y, std::int64_t n) const { turn_rows(c, s, x, y, n); }
};
inline constexpr int most_sweeps = 60;

template <class T>
void fix_signs(std::int64_t rows, std::int64_t n, T* x, T* y, std::int64_t of_y) {
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t best = 0;
    for (std::int64_t j = 1; j < n; ++j)
      if (std::abs(x[i * n + j]) > std::abs(x[i * n + best])) best = j;
    if (n == 0 || !(x[i * n + best] < 0)) continue;
    for (std::int64_t j = 0; j < n; ++j) x[i * n + j] = -x[i * n + j];
    for (std::int64_t j = 0; j < of_y; ++j) y[i * of_y + j] = -y[i * of_y + j];
  }
}

template <class T>
void tridiagonal(std::int64_t n, T* s, T* w, T* e, T* v, T* space) {
  for (std::int64_t k = 0; k + 2 < n; ++k) {
    const std::int64_t m = n - k - 1;
    T* const u = s + k * n + k + 1;
    w[k] = s[k * n + k];
    const T below = largest_of(u + 1, m - 1);
    T& tau = s[k * n + k];
    tau = 0;
    e[k] = u[0];
    if (below == 0) continue;
    const T alpha = u[0], scale = std::max(below, std::abs(alpha));
    for (std::int64_t i = 0; i < m; ++i) u[i] /= scale;
    const T beta = (alpha < 0 ? T(1) : T(-1)) * std::sqrt(inner(u, u, m)), first = u[0] - beta;
    e[k] = beta * scale;
    tau = -first / beta;
    for (std::int64_t i = 1; i < m; ++i) u[i] /= first;
    u[0] = 1;
    T* const rest = s + (k + 1) * n + k + 1;
    for (std::int64_t i = 0; i < m; ++i) space[i] = tau * inner(rest + i * n, u, m);
    const T half = tau / 2 * inner(space, u, m);
    for (std::int64_t i = 0; i < m; ++i) space[i] -= half * u[i];
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) rest[i * n + j] -= u[i] * space[j] + space[i] * u[j];
  }
  for (std::int64_t k = std::max<std::int64_t>(n - 2, 0); k < n; ++k) w[k] = s[k * n + k];
  if (n > 1) e[n - 2] = s[(n - 2) * n + n - 1];
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) v[i * n + j] = i == j;
  for (std::int64_t k = n - 3; k >= 0; --k) {
    const std::int64_t m = n - k - 1;
    const T *const u = s + k * n + k + 1, tau = s[k * n + k];
    T* const rest = v + (k + 1) * n + k + 1;
    if (tau == 0) continue;
    for (std::int64_t j = 0; j < m; ++j) space[j] = rest[j];
    for (std::int64_t i = 1; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) space[j] += u[i] * rest[i * n + j];
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < m; ++j) rest[i * n + j] -= tau * u[i] * space[j];
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(v[i * n + j], v[j * n + i]);
}

template <class T>
bool implicit_ql(std::int64_t n, T* w, T* e, T* v) {
  for (std::int64_t l = 0; l < n; ++l)
    for (int sweep = 0;; ++sweep) {
      std::int64_t m = l;
      for (; m + 1 < n; ++m) {
        const T beside = std::abs(w[m]) + std::abs(w[m + 1]);
        if (std::abs(e[m]) + beside == beside) break;
      }
      if (m == l) break;
      if (sweep == most_sweeps) return false;
      const T theta = (w[l + 1] - w[l]) / (2 * e[l]), size = std::hypot(theta, T(1));
      T g = w[m] - w[l] + e[l] / (theta + (theta < 0 ? -size : size)), s = 1, c = 1, p = 0;
      std::int64_t i = m - 1;
      for (; i >= l; --i) {
        const T f = s * e[i], b = c * e[i], r = std::hypot(f, g);
        e[i + 1] = r;
        if (r == 0) break;
        s = f / r;
        c = g / r;
        g = w[i + 1] - p;
        const T q = (w[i] - g) * s + 2 * c * b;
        p = s * q;
        w[i + 1] = g + p;
        g = c * q - b;
        turn_rows(c, s, v + i * n, v + (i + 1) * n, n);
      }
      w[i < l ? l : i + 1] -= p;
      if (i < l) e[l] = g;
      e[m] = 0;
    }
  return true;
}

template <class T>
bool has_even_rows(std::int64_t n, const T* s) {
  constexpr T least = T(1) / 64;
  for (std::int64_t i = 0; i < n; ++i)
    if (largest_of(s + i * n, n) < least) return false;
  return true;
}

template <class T>
void jacobi(std::int64_t n, T* s, T* w, T* v) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) v[i * n + j] = i == j;
  bool more = true;
  for (int sweep = 0; sweep < most_sweeps && more; ++sweep) {
    more = false;
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        const T x = s[p * n + q], of_p = s[p * n + p], of_q = s[q * n + q];
        const auto counts_beside = [&](T y) { return std::abs(y) + std::abs(x) != std::abs(y); };
        if (std::abs(x) <= std::numeric_limits<T>::min() || !(counts_beside(of_p) || counts_beside(of_q))) continue;
        more = true;
        const rotation<T> r(of_p, of_q, x);
        r.turn(s + p * n, s + q * n, n);
        for (std::int64_t i = 0; i < n; ++i) {
          s[i * n + p] = s[p * n + i];
          s[i * n + q] = s[q * n + i];
        }
        s[p * n + p] = of_p - r.t * x;
        s[q * n + q] = of_q + r.t * x;
        s[p * n + q] = s[q * n + p] = 0;
        r.turn(v + p * n, v + q * n, n);
      }
  }
  for (std::int64_t i = 0; i < n; ++i) w[i] = s[i * n + i];
}

inline constexpr std::int64_t least_tridiagonal = 5;

template <class T>
void eigh(std::int64_t n, const T* a, T* w, T* v, T* scratch) {
  if (!all_finite(a, n * n)) {
    fill_nan(w, n);
    fill_nan(v, n * n);
    return;
  }
  T *const s = scratch, *const beside = scratch + n * n;
  const T scale = scale_of(a, n * n);
  const auto read = [&] {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) s[i * n + j] = (a[i * n + j] / scale + a[j * n + i] / scale) / 2;
  };
  read();
  bool found = n >= least_tridiagonal && has_even_rows(n, s);
  if (found) {
    tridiagonal(n, s, w, beside, v, beside + n);
    found = implicit_ql(n, w, beside, v);
    if (!found) read();
  }
  if (!found) jacobi(n, s, w, v);
  for (std::int64_t i = 0; i < n; ++i) w[i] *= scale;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t least = i;
    for (std::int64_t j = i + 1; j < n; ++j)
      if (w[j] < w[least]) least = j;
    std::swap(w[i], w[least]);
    for (std::int64_t j = 0; j < n && least != i; ++j) std::swap(v[i * n + j], v[least * n + j]);
  }
  fix_signs(n, n, v, v, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) std::swap(v[i * n + j], v[j * n + i]);
}

template <class T, class Given>
void complete(std::int64_t rows, std::int64_t n, T* x, Given given) {
  std::int64_t axis = 0;
  for (std::int64_t k = 0; k < rows; ++k) {
    if (given(k)) continue;
    for (; axis < n; ++axis) {
      T* const y = x + k * n;
      for (std::int64_t j = 0; j < n; ++j) y[j] = j == axis;
      for (int pass = 0; pass < 2; ++pass)
        for (std::int64_t i = 0; i < rows; ++i) {
          if (i == k || (i > k && !given(i))) continue;
          const T part = inner(x + i * n, y, n);
          for (std::int64_t j = 0; j < n; ++j) y[j] -= part * x[i * n + j];
        }
      const T size = std::sqrt(inner(y, y, n));
      if (size * size * static_cast<T>(2 * n) < 1)
        continue;
      for (std::int64_t j = 0; j < n; ++j) y[j] /= size;
      ++axis;
      break;
    }
  }
}

template <class T>
void svd(std::int64_t m, std::int64_t n, const T* a, T* u, T* s, T* vt, T* scratch) {
  const bool tall = m >= n;
  const std::int64_t k = tall ? n : m, length = tall ? m : n;
  T *const x = scratch, *const y =
                            scratch +
                            k * length;
  const T scale = scale_of(a, m * n);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = 0; j < length; ++j) x[i * length + j] = (tall ? a[j * n + i] : a[i * n + j]) / scale;
    for (std::int64_t j = 0; j < k; ++j) y[i * k + j] = i == j;
  }
  if (!all_finite(a, m * n)) {
    fill_nan(u, m * k);
    fill_nan(s, k);
    fill_nan(vt, k * n);
    return;
  }
  constexpr T epsilon = std::numeric_limits<T>::epsilon();
  T all = 0;
  for (std::int64_t i = 0; i < k; ++i) all += inner(x + i * length, x + i * length, length);
  const T nothing = epsilon * std::sqrt(all);
  bool more = true;
  for (int sweep = 0; sweep < most_sweeps && more; ++sweep) {
    more = false;
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t q = p + 1; q < k; ++q) {
        T *const row = x + p * length, *const other = x + q * length;
        const T of_p = inner(row, row, length), of_q = inner(other, other, length), both = inner(row, other, length);
        if (!(std::abs(both) > epsilon * std::sqrt(of_p) * std::sqrt(of_q) && std::abs(both) > nothing * nothing))
          continue;
        more = true;
        const rotation<T> r(of_p, of_q, both);
        r.turn(row, other, length);
        r.turn(y + p * k, y + q * k, k);
      }
  }
  for (std::int64_t i = 0; i < k; ++i) s[i] = std::sqrt(inner(x + i * length, x + i * length, length));
  for (std::int64_t i = 0; i < k; ++i) {
    std::int64_t largest = i;
    for (std::int64_t j = i + 1; j < k; ++j)
      if (s[j] > s[largest]) largest = j;
    if (largest == i) continue;
    std::swap(s[i], s[largest]);
    for (std::int64_t j = 0; j < length; ++j) std::swap(x[i * length + j], x[largest * length + j]);
    for (std::int64_t j = 0; j < k; ++j) std::swap(y[i * k + j], y[largest * k + j]);
  }
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < length && s[i] > nothing; ++j) x[i * length + j] /= s[i];
  complete(k, length, x, [&](std::int64_t i) { return s[i] > nothing; });
  if (tall) {
    fix_signs(k, length, x, y, k);
  } else {
    fix_signs(k, k, y, x, length);
  }
  for (std::int64_t i = 0; i < k; ++i) s[i] *= scale;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < k; ++j) u[i * k + j] = tall ? x[j * m + i] : y[j * k + i];
  for (std::int64_t i = 0; i < k * n; ++i) vt[i] = tall ? y[i] : x[i];
}

}

namespace drx {
namespace emit {
constexpr int per_column(builder& b, int v, const shape& s) {
  shape flat = s;
  flat[s.rank - 2] = 1;
  return broadcast_to(b, reshape(b, v, flat), s);
}
constexpr int per_row(builder& b, int v, const shape& s) {
  shape flat = s;
  flat[s.rank - 1] = 1;
  return broadcast_to(b, reshape(b, v, flat), s);
}
constexpr int on_diagonal(builder& b, int x) {
  const int row = row_of(b, x);
  return equal(b, row, column_of(b, x));
}
constexpr int without_diagonal(builder& b, int x) {
  const int diagonal = on_diagonal(b, x);
  return where(b, diagonal, constant_like(b, x, 0), x);
}
constexpr int diagonal_only(builder& b, int x) {
  const int diagonal = on_diagonal(b, x);
  return where(b, diagonal, x, constant_like(b, x, 0));
}
}

namespace prim::rules {
struct eigh {
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = square_matrix::type(t)[0];
    return {a.with_shape(without_axis(a.shape, a.shape.rank - 1)), a};
  }
  static constexpr int over_gaps(builder& b, int x, int w) {
    const shape s = b.shape(x);
    const int off_diagonal = emit::without_diagonal(b, x);
    const int column = emit::per_column(b, w, s), row = emit::per_row(b, w, s);
    return emit::azdiv(b, off_diagonal, emit::sub(b, column, row));
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const int w = s.results[0], v = s.results[1];
    const int moved =
        emit::matmul(s.b, v, emit::matmul(s.b, cholesky::symmetric(s.b, t[0]), v, false, false), true, false);
    const std::int64_t last = s.b.shape(v).rank - 1;
    return {emit::sum(s.b, emit::diagonal_only(s.b, moved), {last}),
            emit::matmul(s.b, v, over_gaps(s.b, moved, w), false, false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    const int w = s.results[0], v = s.results[1];
    const shape matrices = s.b.shape(v);
    int g = zero_tangent;
    if (ct[0] != zero_tangent) g = emit::mul(s.b, v, emit::per_column(s.b, ct[0], matrices));
    if (ct[1] != zero_tangent)
      g = emit::accumulate(
          s.b, g, emit::matmul(s.b, v, over_gaps(s.b, emit::matmul(s.b, v, ct[1], true, false), w), false, false));
    return {g == zero_tangent ? g : cholesky::symmetric(s.b, emit::matmul(s.b, g, v, false, true))};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t n = x.shape.last();
    return n * (n + 2) * byte_size(x.type);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.in[0]->type.shape;
    const auto n = s.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        std::vector<T> scratch(static_cast<std::size_t>(n * (n + 2)));
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          decompose::eigh(n, v.in[0]->data<T>() + b * n * n, v.out[0].data<T>() + b * n, v.out[1].data<T>() + b * n * n,
                          scratch.data());
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive eigh{.name = "eigh",
                                .type = rules::eigh::type,
                                .jvp = rules::eigh::jvp,
                                .vjp = rules::eigh::vjp,
                                .batch = rules::square_matrix::batch,
                                .evaluate = rules::eigh::evaluate,
                                .known = rules::known::nothing,
                                .split = rules::split::along_matrices,
                                .scratch = rules::eigh::scratch};
}

namespace detail {
template <class A>
struct without_last_axis {
  static constexpr shape value = without_axis(A::shape, A::rank - 1);
};
}

template <class A>
  requires detail::SquareMatrix<A>
constexpr auto eigh(const A& a) {
  using W = array_of<typename A::value_type, detail::without_last_axis<A>>;
  tracing_builder& b = detail::tape_of(detail::ref_of(a));
  const vec<int> ids = b.add(prim::eigh, vec<int>{detail::id_on(b, a)});
  return std::pair{W(detail::at(b, ids[0])), A(detail::at(b, ids[1]))};
}
template <class A, class Why = detail::not_square_t<A>>
  requires detail::NoSquareMatrix<A>
std::pair<Why, Why> eigh(const A&) = delete;  // drx: of square matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(eigh)

}

namespace drx::math {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(asin)
DRX_FORWARD(acos)
DRX_FORWARD(atan)
#undef DRX_FORWARD

template <std::floating_point T>
DRX_INLINE T atan2(T y, T x) {
  return std::atan2(y, x);
}

#else

namespace detail {

inline constexpr double angles_high[] = {0.46364760900080609352, 0.78539816339744827900, 0.98279372324732905408,
                                         1.57079632679489655800};
inline constexpr double angles_low[] = {2.26987774529616870924e-17, 3.06161699786838301793e-17,
                                        1.39033110312309984516e-17, 6.12323399573676603587e-17};
template <class T, int I>
inline constexpr T angle_high = static_cast<T>(angles_high[I]);
template <class T, int I>
inline constexpr T angle_low = static_cast<T>(angles_high[I] - static_cast<double>(angle_high<T, I>) + angles_low[I]);
template <class T>
inline constexpr T half_pi_hi = angle_high<T, 3>;
template <class T>
inline constexpr T half_pi_lo = angle_low<T, 3>;

template <class T>
DRX_INLINE T asin_series(T z) {
  if constexpr (std::same_as<T, float>) {
    return horner(z, 0.16666752457f, 0.074952982775f, 0.045470307405f, 0.024179844038f, 0.042165748849f);
  } else {
    return horner(z, 0.1666666666666676043, 0.074999999999708044051, 0.044642857174607082363, 0.030381942708028058798,
                  0.022372214980419571244, 0.017351612148731455384, 0.013980818873833329093, 0.011398926283722653945,
                  0.010780172338915016502, 0.0037067178366906648397, 0.021706683620257674971, -0.020997966930557148652,
                  0.032627929534483115437);
  }
}

template <class T>
DRX_INLINE T atan_series(T z) {
  if constexpr (std::same_as<T, float>) {
    return horner(z, -0.33333303377f, 0.19997734313f, -0.14229516489f, 0.10490353442f, -0.058180242338f);
  } else {
    return horner(z, -0.33333333333333313677, 0.19999999999992947003, -0.14285714284830473285, 0.11111111055468486716,
                  -0.090909070330054746034, 0.076922590694777036089, -0.066658967389758349738, 0.058739700373940621649,
                  -0.051998335474568331313, 0.044320865421745375309, -0.031898213394751806076, 0.013676781788755854305);
  }
}

template <class T>
struct asin_parts {
  T z, s, high, low;
};

template <class T>
DRX_INLINE asin_parts<T> asin_split(T a) {
  using U = bits_t<T>;
  constexpr int half = format<T>::mantissa / 2 + 1;
  const bool small = a < T(0.5);
  const T z = select(small, a * a, (1 - a) * T(0.5));
  const T root = std::sqrt(z);
  const T high = cast<T>(cast<U>(root) & ~((U{1} << half) - 1));
  const T low = select(root > 0, (z - high * high) / (root + high), T(0));
  return {z, select(small, a, root), high, low};
}

template <class T>
DRX_INLINE T atan_of_positive(T a) {
  const bool b1 = a >= T(0.4375), b2 = a >= T(0.6875), b3 = a >= T(1.1875), b4 = a >= T(2.4375);
  auto choose = [&](T v0, T v1, T v2, T v3, T v4) {
    return select(b4, v4, select(b3, v3, select(b2, v2, select(b1, v1, v0))));
  };
  const T over = choose(a, 2 * a - 1, a - 1, a - T(1.5), T(-1)),
          under = choose(T(1), a + 2, a + 1, fma(T(1.5), a, T(1)), a);
  const T t = over / under, z = t * t;
  const T turn = choose(T(0), angle_high<T, 0>, angle_high<T, 1>, angle_high<T, 2>, angle_high<T, 3>);
  const T rest = choose(T(0), angle_low<T, 0>, angle_low<T, 1>, angle_low<T, 2>, angle_low<T, 3>);
  return turn + (t + fma(z * t, atan_series(z), rest));
}

}

template <std::floating_point T>
DRX_INLINE T asin(T x) {
  const T a = detail::magnitude(x);
  const auto p = detail::asin_split(a);
  const T curve = p.s * p.z * detail::asin_series(p.z);
  constexpr T quarter = detail::half_pi_hi<T> / 2;
  const T large = quarter - (2 * curve - (detail::half_pi_lo<T> - 2 * p.low) - (quarter - 2 * p.high));
  return detail::with_sign_of(detail::select(a < T(0.5), p.s + curve, large), x);
}

template <std::floating_point T>
DRX_INLINE T acos(T x) {
  const T a = detail::magnitude(x);
  const auto p = detail::asin_split(a);
  const T curve = p.s * p.z * detail::asin_series(p.z);
  const T near_zero = detail::half_pi_hi<T> - (x - (detail::half_pi_lo<T> - detail::with_sign_of(curve, x)));
  const T near_one = 2 * (p.high + (curve + p.low));
  const T near_minus_one = 2 * (detail::half_pi_hi<T> - (p.s + (curve - detail::half_pi_lo<T>)));
  return detail::select(a < T(0.5), near_zero, detail::select(x < 0, near_minus_one, near_one));
}

template <std::floating_point T>
DRX_INLINE T atan(T x) {
  return detail::with_sign_of(detail::atan_of_positive(detail::magnitude(x)), x);
}

template <std::floating_point T>
DRX_INLINE T atan2(T y, T x) {
  using U = detail::bits_t<T>;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const T a = detail::magnitude(y), b = detail::magnitude(x);
  const T ratio = detail::select(a == b, detail::select(a == 0, T(0), T(1)), a / b);
  const T angle = detail::atan_of_positive(ratio);
  const bool left = (detail::cast<U>(x) & detail::sign_bit<T>) != 0;
  const T turned = 2 * detail::half_pi_hi<T> - (angle - 2 * detail::half_pi_lo<T>);
  const bool ordered = (a <= inf) & (b <= inf);
  return detail::with_sign_of(detail::select(ordered, detail::select(left, turned, angle), a + b), y);
}

#endif

}

namespace drx {
namespace prim {
namespace rows {

constexpr int one_minus_square(builder& b, int x) {
  const int one = emit::constant_like(b, x, 1);
  const int below = emit::sub(b, one, x), above = emit::add(b, one, x);
  return emit::mul(b, below, above);
}

struct circular_function : floating_function {
  template <class T>
  DRX_INLINE static bool near(T x) {
    return math::within_sin_limit(x);
  }
};

struct sin : circular_function {
  static constexpr const char* name = "sin";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sin_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::sin_of_any(x);
  }
  template <class T>
  static T reference(T x) {
    return std::sin(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::cos(b, s.operands[0]));
  }
};
struct cos : circular_function {
  static constexpr const char* name = "cos";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::cos_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::cos_of_any(x);
  }
  template <class T>
  static T reference(T x) {
    return std::cos(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::neg(b, emit::azmul(b, t, emit::sin(b, s.operands[0])));
  }
};
struct tan : circular_function, singular_value {
  static constexpr const char* name = "tan";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::tan_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::tan_of_any(x);
  }
  template <class T>
  static T reference(T x) {
    return std::tan(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    const int one = emit::constant_like(b, t, 1);
    return emit::azmul(b, t, emit::add(b, one, emit::mul(b, y, y)));
  }
};
struct asin : floating_function, singular_value {
  static constexpr const char* name = "asin";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::asin(x);
  }
  template <class T>
  static T reference(T x) {
    return std::asin(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::rsqrt(b, one_minus_square(b, s.operands[0])));
  }
};
struct acos : floating_function, singular_value {
  static constexpr const char* name = "acos";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::acos(x);
  }
  template <class T>
  static T reference(T x) {
    return std::acos(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::neg(b, emit::azmul(b, t, emit::rsqrt(b, one_minus_square(b, s.operands[0]))));
  }
};
struct atan : floating_function {
  static constexpr const char* name = "atan";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::atan(x);
  }
  template <class T>
  static T reference(T x) {
    return std::atan(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0];
    const int square = emit::mul(b, x, x);
    return emit::azdiv(b, t, emit::add(b, square, emit::constant_like(b, t, 1)));
  }
};
struct atan2 : same_type, on_floating {
  static constexpr const char* name = "atan2";
  static constexpr int arity = 2;
  template <class T>
  DRX_INLINE static T apply(T y, T x) {
    return math::atan2(y, x);
  }
  template <class T>
  static T reference(T y, T x) {
    return std::atan2(y, x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    const int y = s.operands[0], x = s.operands[1];
    const int of_x = emit::mul(b, x, x), of_y = emit::mul(b, y, y), square = emit::add(b, of_x, of_y);
    const int slope = emit::azmul(b, t, emit::div(b, i == 0 ? x : y, square));
    return i == 0 ? slope : emit::neg(b, slope);
  }
};

}

inline constexpr primitive sin = elementwise_primitive<rows::sin>();
inline constexpr primitive cos = elementwise_primitive<rows::cos>();
inline constexpr primitive tan = elementwise_primitive<rows::tan>();
inline constexpr primitive asin = elementwise_primitive<rows::asin>();
inline constexpr primitive acos = elementwise_primitive<rows::acos>();
inline constexpr primitive atan = elementwise_primitive<rows::atan>();
inline constexpr primitive atan2 = elementwise_primitive<rows::atan2>();
template <>
struct row_of<&sin> : rows::sin {};
template <>
struct row_of<&cos> : rows::cos {};
template <>
struct row_of<&tan> : rows::tan {};
template <>
struct row_of<&asin> : rows::asin {};
template <>
struct row_of<&acos> : rows::acos {};
template <>
struct row_of<&atan> : rows::atan {};
template <>
struct row_of<&atan2> : rows::atan2 {};
}

namespace emit {
constexpr int sin(builder& b, int x) { return b.add1(prim::sin, {x}); }
constexpr int cos(builder& b, int x) { return b.add1(prim::cos, {x}); }
}

template <class A> requires FloatingArray<A>
constexpr A sin(const A& x) { return detail::elementary(prim::sin, x); }
template <class A> requires FloatingArray<A>
constexpr A cos(const A& x) { return detail::elementary(prim::cos, x); }
template <class A> requires FloatingArray<A>
constexpr A tan(const A& x) { return detail::elementary(prim::tan, x); }
template <class A> requires FloatingArray<A>
constexpr A asin(const A& x) { return detail::elementary(prim::asin, x); }
template <class A> requires FloatingArray<A>
constexpr A acos(const A& x) { return detail::elementary(prim::acos, x); }
template <class A> requires FloatingArray<A>
constexpr A atan(const A& x) { return detail::elementary(prim::atan, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sin(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cos(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tan(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why asin(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why acos(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why atan(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

template <class A, class B>
  requires detail::FloatingPair<A, B>
constexpr auto atan2(const A& y, const B& x) {
  return detail::binary(prim::atan2, y, x);
}
template <class A, class B, class Why = decltype(detail::floating_pair_misuse<A, B>())>
  requires detail::NoFloatingPair<A, B>
Why atan2(const A&, const B&) = delete;  // drx: atan2(y, x) of two floating arrays, or of one and a number; of placed values in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(cos)
DRX_SILENT(sin)
DRX_SILENT(tan)
DRX_SILENT(acos)
DRX_SILENT(asin)
DRX_SILENT(atan)
DRX_SILENT(atan2)

}

namespace drx::math {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(sinh)
DRX_FORWARD(cosh)
DRX_FORWARD(asinh)
DRX_FORWARD(acosh)
DRX_FORWARD(atanh)
#undef DRX_FORWARD

#else

namespace detail {

template <class T>
DRX_INLINE T sinh_series(T z) {
  if constexpr (std::same_as<T, float>) {
    return horner(z, 0.16666666498f, 0.0083333500588f, 0.00019836159678f, 2.8169517199e-6f);
  } else {
    return horner(z, 0.16666666666666667383, 0.0083333333333331477532, 0.0001984126984143186513,
                  2.7557319157074287816e-6, 2.5052123136330964736e-8, 1.6057259799709433814e-10,
                  7.7587478528292370781e-13);
  }
}

template <class T>
DRX_INLINE T half_exp(T a) {
  const auto e = exp_split(select(a > format<T>::exp_max + 1, format<T>::exp_max + 1, a));
  return exp_join(e.r, e.n - 1);
}

}

template <std::floating_point T>
DRX_INLINE T sinh(T x) {
  const T a = detail::magnitude(x), z = a * a;
  const T h = detail::half_exp(a);
  const T small = detail::fma(a * z, detail::sinh_series(z), a);
  return detail::with_sign_of(detail::select(a < 1, small, h - T(0.25) / h), x);
}

template <std::floating_point T>
DRX_INLINE T cosh(T x) {
  const T h = detail::half_exp(detail::magnitude(x));
  return h + T(0.25) / h;
}

template <std::floating_point T>
DRX_INLINE T asinh(T x) {
  constexpr T large = T(1) / std::numeric_limits<T>::epsilon();
  const T a = detail::magnitude(x), z = a * a;
  const bool far = a > large;
  const T argument = detail::select(far, a, a + z / (1 + std::sqrt(1 + z)));
  return detail::with_sign_of(drx::math::log1p(argument) + detail::select(far, T(0.69314718055994530942), T(0)), x);
}

template <std::floating_point T>
DRX_INLINE T acosh(T x) {
  constexpr T large = T(1) / std::numeric_limits<T>::epsilon();
  const T t = x - 1;
  const bool far = x > large;
  const T argument = detail::select(far, x, t + std::sqrt(t * (t + 2)));
  const T result = drx::math::log1p(argument) + detail::select(far, T(0.69314718055994530942), T(0));
  return detail::select(x >= 1, result, std::numeric_limits<T>::quiet_NaN());
}

template <std::floating_point T>
DRX_INLINE T atanh(T x) {
  const T a = detail::magnitude(x), twice = a + a;
  const T argument = detail::select(a < T(0.5), twice + twice * a / (1 - a), twice / (1 - a));
  return detail::with_sign_of(T(0.5) * drx::math::log1p(argument), x);
}

#endif

}

namespace drx {
namespace prim {
namespace rows {

struct tanh : floating_function {
  static constexpr const char* name = "tanh";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::tanh(x);
  }
  template <class T>
  DRX_FN static T begin(T x) {
    return math::tanh_begin(x);
  }
  template <class T>
  DRX_FN static T end(T begun, T x) {
    return math::tanh_end(begun, x);
  }
  template <class T>
  static T reference(T x) {
    return std::tanh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    const int one = emit::constant_like(b, t, 1);
    return emit::times(b, t, emit::sub(b, one, emit::mul(b, y, y)));
  }
};
struct sinh : floating_function, singular_value {
  static constexpr const char* name = "sinh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sinh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::sinh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::cosh(b, s.operands[0]));
  }
};
struct cosh : floating_function, singular_value {
  static constexpr const char* name = "cosh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::cosh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::cosh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::sinh(b, s.operands[0]));
  }
};
struct asinh : floating_function {
  static constexpr const char* name = "asinh";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::asinh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::asinh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0];
    const int square = emit::mul(b, x, x);
    return emit::azmul(b, t, emit::rsqrt(b, emit::add(b, square, emit::constant_like(b, t, 1))));
  }
};
struct acosh : floating_function, singular_value {
  static constexpr const char* name = "acosh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::acosh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::acosh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0], one = emit::constant_like(b, t, 1);
    const int below = emit::sub(b, x, one), above = emit::add(b, x, one);
    return emit::azmul(b, t, emit::rsqrt(b, emit::mul(b, below, above)));
  }
};
struct atanh : floating_function, singular_value {
  static constexpr const char* name = "atanh";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::atanh(x);
  }
  template <class T>
  static T reference(T x) {
    return std::atanh(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azdiv(b, t, one_minus_square(b, s.operands[0]));
  }
};

}

inline constexpr primitive tanh = elementwise_primitive<rows::tanh>();
inline constexpr primitive sinh = elementwise_primitive<rows::sinh>();
inline constexpr primitive cosh = elementwise_primitive<rows::cosh>();
inline constexpr primitive asinh = elementwise_primitive<rows::asinh>();
inline constexpr primitive acosh = elementwise_primitive<rows::acosh>();
inline constexpr primitive atanh = elementwise_primitive<rows::atanh>();
template <>
struct row_of<&tanh> : rows::tanh {};
template <>
struct row_of<&sinh> : rows::sinh {};
template <>
struct row_of<&cosh> : rows::cosh {};
template <>
struct row_of<&asinh> : rows::asinh {};
template <>
struct row_of<&acosh> : rows::acosh {};
template <>
struct row_of<&atanh> : rows::atanh {};
}

namespace emit {
constexpr int sinh(builder& b, int x) { return b.add1(prim::sinh, {x}); }
constexpr int cosh(builder& b, int x) { return b.add1(prim::cosh, {x}); }
}

template <class A> requires FloatingArray<A>
constexpr A tanh(const A& x) { return detail::elementary(prim::tanh, x); }
template <class A> requires FloatingArray<A>
constexpr A sinh(const A& x) { return detail::elementary(prim::sinh, x); }
template <class A> requires FloatingArray<A>
constexpr A cosh(const A& x) { return detail::elementary(prim::cosh, x); }
template <class A> requires FloatingArray<A>
constexpr A asinh(const A& x) { return detail::elementary(prim::asinh, x); }
template <class A> requires FloatingArray<A>
constexpr A acosh(const A& x) { return detail::elementary(prim::acosh, x); }
template <class A> requires FloatingArray<A>
constexpr A atanh(const A& x) { return detail::elementary(prim::atanh, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why tanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sinh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why cosh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why asinh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why acosh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why atanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(tanh)
DRX_SILENT(acosh)
DRX_SILENT(asinh)
DRX_SILENT(atanh)
DRX_SILENT(cosh)
DRX_SILENT(sinh)

}

namespace drx::math {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

#define DRX_FORWARD(name)          \
  template <std::floating_point T> \
  DRX_INLINE T name(T x) {         \
    return std::name(x);           \
  }
DRX_FORWARD(erf)
DRX_FORWARD(erfc)
#undef DRX_FORWARD

#else

namespace detail {

template <class T>
DRX_INLINE T erf_series(T z) {
  if constexpr (std::same_as<T, float>) {
    return horner(z, 0.1283791671f, -0.37612638435f, 0.11283781974f, -0.026865400058f, 0.0052209454812f,
                  -0.00084828295791f, 0.0001125695343f, -9.6415324367e-6f);
  } else {
    return horner(z, 0.1283791670955125737, -0.37612638903183747604, 0.11283791670954857488, -0.026866170645072893356,
                  0.005223977624780849209, -0.00085483269787412183097, 0.00012055331036867640994,
                  -0.000014925593506254135117, 1.6460972809145949371e-6, -1.635002516366631618e-7,
                  1.4657879601536977998e-8, -1.1365665583128012158e-9, 5.9452619411838362222e-11);
  }
}

template <class T>
DRX_INLINE T erfc_series(T q) {
  if constexpr (std::same_as<T, float>) {
    return horner(q, -0.13562114095f, -0.047562420223f, 0.12964645167f, -0.1192706129f, 0.068295745311f,
                  -0.023799542852f, 0.0025657140596f, 0.002004850796f, -0.0007726707135f, -0.0002662327685f);
  } else {
    return horner(
        q, -0.139621116840562886365, 0.015379652102619763247, 0.0680970542547365889045, -0.101039066036301105027,
        0.0937328349968241050923, -0.0663303658125649147462, 0.0371675155618492148063, -0.0161977340484137521083,
        0.00503196976359238193482, -0.000757773404923890785063, -0.000199255561370745373198, 0.000150622471783260506202,
        -0.0000244029411691241846545, -0.0000112252834616291451368, 0.00000571729452791700501447,
        3.01956852953398721896e-7, -8.34239422767138634771e-7, 6.23889380363499153603e-8, 1.14560540462871187307e-7,
        -7.77901408585204670992e-9, -1.33860002371285025933e-8, -1.71752222365535862312e-9);
  }
}

template <class T>
DRX_INLINE T erfc_of_positive(T a) {
  using U = bits_t<T>;
  constexpr T most = sizeof(T) == 4 ? T(10.2) : T(27.3), k = sizeof(T) == 4 ? T(3) : T(4);
  constexpr T c = sizeof(T) == 4 ? T(1.2530080593) : T(1.23299511862555250982),
              c_lost = sizeof(T) == 4 ? T(1.2530080593 - static_cast<double>(1.2530080593f)) : T(0);
  a = select(a > most, most, a);
  const T q = (a - k) / (a + k), rest = q * erfc_series(q);
  const T top = as_rounded(c + rest), top_lost = as_rounded(c - top) + rest + c_lost;
  const T bottom = as_rounded(1 + 2 * a), bottom_lost = 1 - as_rounded(bottom - 2 * a);
  const T quotient = top / bottom;
  const T high = cast<T>(cast<U>(a) & ~((U{1} << (format<T>::mantissa / 2 + 1)) - 1));
  const auto e = exp_split(-(high * high));
  const T r = e.r - (a - high) * (a + high);
  const T small = fma(r * r, exp_series(r), r) + T(0.87) * (top_lost - quotient * bottom_lost);
  return scaled(fma(quotient, small, quotient), e.n);
}

}

template <std::floating_point T>
DRX_INLINE T erf(T x) {
  const T a = detail::magnitude(x);
  const T small = detail::fma(a, detail::erf_series(a * a), a), large = 1 - detail::erfc_of_positive(a);
  return detail::with_sign_of(detail::select(a < 1, small, large), x);
}

template <std::floating_point T>
DRX_INLINE T erfc(T x) {
  const T a = detail::magnitude(x);
  const T small = (1 - x) - x * detail::erf_series(x * x), c = detail::erfc_of_positive(a);
  return detail::select(a < T(0.5), small, detail::select(x < 0, 2 - c, c));
}

#endif

}

#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
namespace drx::math::detail {

template <class T>
DRX_INLINE T lgamma_near_two(T t) {
  if constexpr (std::same_as<T, float>)
    return horner(t, 0.422784335f, 0.3224670329f, -0.06735228615f, 0.02058084051f, -0.007385975143f, 0.002889834924f,
                  -0.001188565988f, 0.0005161824083f, -0.0002397042669f, 7.081083185e-5f, -2.473069508e-5f,
                  6.756862814e-5f);
  else
    return horner(t, 0.422784335098467139, 0.322467033424113226, -0.0673523010531979241, 0.0205808084277829591,
                  -0.00738555102869301349, 0.00289051033083821833, -0.00119275391085445411, 0.000509669522235835698,
                  -0.000223154778230410982, 0.0000994575441669413278, -0.0000449259668791222888,
                  0.0000205070447922505728, -9.44174765906739956e-6, 4.37465099665278133e-6, -2.02760892141151123e-6,
                  9.62902991081725615e-7, -4.83809201468434888e-7, 1.70336575053846062e-7, -5.17223315921543492e-8,
                  1.4641524935442497e-7, -2.40765634284023411e-8, -7.8505935743811208e-8, -5.728806746439836e-8);
}

template <class T>
DRX_INLINE T lgamma_series(T w) {
  if constexpr (std::same_as<T, float>)
    return horner(w, 0.08333333323f, -0.002777675637f, 0.0007782091906f);
  else
    return horner(w, 0.0833333333333333333, -0.00277777777777753694, 0.000793650793364907451, -0.000595237965353918766,
                  0.000841721673733145909, -0.00191393132722787634, 0.00615948293122777554, -0.0199606999171912616);
}

inline constexpr double zero_of_digamma = 1.461632144968362341263, zero_of_digamma_lost = 9.549995429965698e-17;

template <class T>
DRX_INLINE T digamma_near_zero(T t) {
  if constexpr (std::same_as<T, float>)
    return horner(t, 0.9676722493f, -0.4427631692f, 0.2584990017f, -0.1639420049f, 0.1078478141f, -0.07223441124f,
                  0.04855643414f, -0.03265517718f, 0.02344592876f, -0.01811818222f, 0.01107655922f, -0.003235465356f);
  else
    return horner(t, 0.967672245447621155, -0.442763168983592135, 0.258499760955663443, -0.163942705442410104,
                  0.107824050689636278, -0.0721995612547027345, 0.0488042882460432095, -0.0331611266125497319,
                  0.0225976461842161398, -0.01542476125855121, 0.0105388194473704666, -0.00720461759741918475,
                  0.00492658147611480316, -0.00336894661405990307, 0.00230564078198255076, -0.00158200212236265073,
                  0.00108134239625547285, -0.000722304173780975957, 0.000482498360966260631, -0.000360783813583608631,
                  0.000293572556668675625, -0.000196663274042525617, 0.0000821228190928839711,
                  -0.0000152574768260675207);
}

template <class T>
DRX_INLINE T digamma_series(T w) {
  if constexpr (std::same_as<T, float>)
    return horner(w, 0.08333333333f, -0.008333321527f, 0.003965124359f, -0.003897721596f);
  else
    return horner(w, 0.0833333333333333333, -0.0083333333333330773, 0.00396825396789228495, -0.00416666646942781262,
                  0.00757570333695504041, -0.0210843339800933616, 0.0825445201256785598, -0.39893664022147504,
                  1.59603690289364301);
}

template <class T>
DRX_INLINE T lgamma_of_positive(T x) {
  const bool large = x >= T(7.5), below = x < T(1.2), small = x < T(0.2);
  T t = x - 2;
  const bool far = t >= T(2.5);
  T product = select(far, (t + 1) * (t * (t - 1)), T(1));
  t = select(far, t - 3, t);
  const auto step = [&]() __attribute__((always_inline)) {
    const bool above = t >= T(0.5);
    product = select(above, product * (t + 1), product);
    t = select(above, t - 1, t);
  };
  step(), step();
  t = select(small, x, select(below, x - 1, t));
  product = select(small, fma(x, x, x), select(below, x, product));
  const T logarithm = log(select(large, x, product));
  const T near = fma(t, lgamma_near_two(t), select(below, -logarithm, logarithm));
  const T inverse = 1 / x;
  const T series = fma(inverse, lgamma_series(inverse * inverse), T(0.418938533204672741780));
  return select(large, fma(x - T(0.5), logarithm - 1, series), near);
}

template <class T>
DRX_INLINE T digamma_of_positive(T x) {
  constexpr T zero = T(zero_of_digamma), lost = T(zero_of_digamma - static_cast<double>(zero) + zero_of_digamma_lost);
  const bool large = x >= T(7.25), below = x < 1;
  T z = x;
  const bool far = z >= T(4.25);
  const T u = z - 1;
  T above = select(far, fma(fma(T(3), u, T(-6)), u, T(2)), T(0)), under = select(far, u * ((u - 1) * (u - 2)), T(1));
  z = select(far, z - 3, z);
  const auto step = [&]() __attribute__((always_inline)) {
    const bool more = z >= T(2.25);
    const T before = z - 1;
    above = select(more, fma(above, before, under), above);
    under = select(more, under * before, under);
    z = select(more, before, z);
  };
  step(), step();
  above = select(large, T(1), select(below, T(-1), above));
  under = select(large | below, x, under);
  const T quotient = above / under;
  const T t = select(below, x - (zero - 1), z - zero) - lost;
  const T near = fma(t, digamma_near_zero(t), quotient);
  const T far_out = fma(-quotient, fma(quotient, digamma_series(quotient * quotient), T(0.5)), log(x));
  return select(large, far_out, near);
}

}
#endif

namespace drx::math {

template <std::floating_point T>
DRX_INLINE T lgamma_near(T x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return std::lgamma(x);
#else
  return detail::lgamma_of_positive(x);
#endif
}
template <std::floating_point T>
DRX_FN inline T lgamma(T x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return std::lgamma(x);
#else
  if (x > 0) return lgamma_near(x);
  int sign = 0;
  if constexpr (std::same_as<T, float>) {
    return ::lgammaf_r(x, &sign);
  } else {
    return ::lgamma_r(x, &sign);
  }
#endif
}

template <std::floating_point T>
DRX_INLINE T digamma_near(T x) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  double sum = 0, y = static_cast<double>(x);
  for (; y < 10; y += 1) sum -= 1 / y;
  const double z = 1 / (y * y);
  const double tail =
      z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return static_cast<T>(sum + (std::log(y) - 0.5 / y - tail));
#else
  return detail::digamma_of_positive(x);
#endif
}

namespace detail {

inline constexpr double pi = 3.14159265358979323846;

inline constexpr int most_polygamma = 170;

DRX_FN inline double cotangent_derivative(int n, double x) {
  const double turn = pi * (x - std::nearbyint(x)), c = std::cos(turn) / std::sin(turn);
  double p[most_polygamma + 3] = {0, 1};
  for (int k = 0; k < n; ++k) {
    double q[most_polygamma + 3] = {};
    for (int i = 1; i <= k + 1; ++i) {
      q[i - 1] -= i * p[i];
      q[i + 1] -= i * p[i];
    }
    for (int i = 0; i <= k + 2; ++i) p[i] = q[i];
  }
  double sum = 0;
  for (int i = n + 1; i >= 0; --i) sum = sum * c + p[i];
  return sum;
}

DRX_FN inline double hurwitz_zeta(double s, double x) {
  double sum = 0, a = x;
  for (; a < 12 + s / 2; a += 1) sum += std::pow(a, -s);
  const double power = std::pow(a, -s), z = 1 / (a * a);
  sum += power * (a / (s - 1) + 0.5);
  constexpr double b[] = {1. / 12,          -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000.,
                          1. / 74724249600.};
  double term = power * s / a;
  for (int j = 0; j < 7; ++j) {
    sum += b[j] * term;
    term *= (s + 2 * j + 1) * (s + 2 * j + 2) * z;
  }
  return sum;
}

DRX_FN inline double digamma(double x) {
  if (x == 0) return -1 / x;
  if (!(x < 0)) return digamma_near(x);
  if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
  return digamma_near(1 - x) - pi * cotangent_derivative(0, x);
}

DRX_FN inline double polygamma(double order, double x) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  if (!(order >= 0) || order > most_polygamma || order != std::floor(order) || std::isnan(x)) return nan;
  const int n = static_cast<int>(order);
  if (n == 0) return digamma(x);
  const bool odd = n % 2 != 0;
  if (x <= 0 && x == std::floor(x)) return odd ? inf : x == 0 ? -1 / x : nan;
  if (x < 0) return (odd ? -1 : 1) * polygamma(order, 1 - x) - std::pow(pi, n + 1) * cotangent_derivative(n, x);
  if (x == inf) return 0;
  return (odd ? 1 : -1) * std::tgamma(order + 1) * hurwitz_zeta(order + 1, x);
}

}

template <std::floating_point T>
DRX_FN inline T digamma(T x) {
  return x > 0 ? digamma_near(x) : static_cast<T>(detail::digamma(static_cast<double>(x)));
}

template <std::floating_point T>
DRX_FN inline T polygamma(T n, T x) {
  return static_cast<T>(detail::polygamma(static_cast<double>(n), static_cast<double>(x)));
}

}

namespace drx {
namespace prim {
namespace rows {

struct erf : floating_function {
  static constexpr const char* name = "erf";
  static constexpr known_value known(const known_value& x) { return x.but_zero(); }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::erf(x);
  }
  template <class T>
  static T reference(T x) {
    return std::erf(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0], bell = emit::exp(b, emit::neg(b, emit::mul(b, x, x)));
    return emit::times(b, t, emit::mul(b, bell, emit::constant_like(b, t, 1.12837916709551257390)));
  }
};
struct erfc : floating_function {
  static constexpr const char* name = "erfc";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::erfc(x);
  }
  template <class T>
  static T reference(T x) {
    return std::erfc(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int x = s.operands[0], bell = emit::exp(b, emit::neg(b, emit::mul(b, x, x)));
    return emit::times(b, t, emit::mul(b, bell, emit::constant_like(b, t, -1.12837916709551257390)));
  }
};
struct gamma_function : floating_function, singular_value {
  template <class T>
  DRX_INLINE static bool near(T x) {
    return x > 0;
  }
};
struct lgamma : gamma_function {
  static constexpr const char* name = "lgamma";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::lgamma_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::lgamma(x);
  }
  template <class T>
  static T reference(T x) {
    return math::lgamma(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, b.add1(prim_digamma(), {s.operands[0]}));
  }
  static constexpr const primitive& prim_digamma();
};
struct digamma : gamma_function {
  static constexpr const char* name = "digamma";
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::digamma_near(x);
  }
  template <class T>
  DRX_FN static T exact(T x) {
    return math::digamma(x);
  }
  template <class T>
  static T reference(T x) {
    return math::digamma(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, b.add1(prim_polygamma(), {emit::constant_like(b, t, 1), s.operands[0]}));
  }
  static constexpr const primitive& prim_polygamma();
};
struct polygamma : same_type, on_floating, singular_value {
  static constexpr const char* name = "polygamma";
  static constexpr int arity = 2;
  template <class T>
  DRX_FN static T apply(T n, T x) {
    return math::polygamma(n, x);
  }
  template <class T>
  static T reference(T n, T x) {
    return math::polygamma(n, x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return zero_tangent;
    const int next = emit::add(b, s.operands[0], emit::constant_like(b, t, 1));
    return emit::azmul(b, t, b.add1(prim(), {next, s.operands[1]}));
  }
  static constexpr const primitive& prim();
};

}

inline constexpr primitive erf = elementwise_primitive<rows::erf>();
inline constexpr primitive erfc = elementwise_primitive<rows::erfc>();
inline constexpr primitive lgamma = elementwise_primitive<rows::lgamma>();
inline constexpr primitive digamma = elementwise_primitive<rows::digamma>();
inline constexpr primitive polygamma = elementwise_primitive<rows::polygamma>();
template <>
struct row_of<&erf> : rows::erf {};
template <>
struct row_of<&erfc> : rows::erfc {};
template <>
struct row_of<&lgamma> : rows::lgamma {};
template <>
struct row_of<&digamma> : rows::digamma {};
template <>
struct row_of<&polygamma> : rows::polygamma {};

constexpr const primitive& rows::lgamma::prim_digamma() { return prim::digamma; }
constexpr const primitive& rows::digamma::prim_polygamma() { return prim::polygamma; }
constexpr const primitive& rows::polygamma::prim() { return prim::polygamma; }
}

template <class A> requires FloatingArray<A>
constexpr A erf(const A& x) { return detail::elementary(prim::erf, x); }
template <class A> requires FloatingArray<A>
constexpr A erfc(const A& x) { return detail::elementary(prim::erfc, x); }
template <class A> requires FloatingArray<A>
constexpr A lgamma(const A& x) { return detail::elementary(prim::lgamma, x); }
template <class A> requires FloatingArray<A>
constexpr A digamma(const A& x) { return detail::elementary(prim::digamma, x); }
template <int Order, class A> requires(FloatingArray<A> && Order >= 0)
constexpr A polygamma(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return b.add1(prim::polygamma, {emit::constant_like(b, id, Order), id}); });
}
template <class A> requires FloatingArray<A>
constexpr A gelu(const A& x) { return 0.5 * x * erfc(-0.70710678118654752440 * x); }
template <class A> requires FloatingArray<A>
constexpr A gelu_tanh(const A& x) { return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * (x * x * x)))); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why erf(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why erfc(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why lgamma(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why digamma(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <int Order, class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why polygamma(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why gelu(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why gelu_tanh(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(digamma)
DRX_SILENT(erf)
DRX_SILENT(erfc)
DRX_SILENT(gelu)
DRX_SILENT(gelu_tanh)
DRX_SILENT(lgamma)
DRX_SILENT(polygamma)

}

namespace drx::math {

#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)

template <std::floating_point T>
DRX_INLINE T erfinv(T x) {
  if constexpr (std::same_as<T, float>)
    return ::erfinvf(x);
  else
    return ::erfinv(x);
}

#else

template <std::floating_point T>
DRX_INLINE T erfinv(T x) {
  using detail::horner, detail::select;
  const T w = -log((1 - x) * (1 + x)), root = sqrt(detail::magnitude(w));
  T p;
  if constexpr (std::same_as<T, float>) {
    const T near = horner(w - 2.5f, 1.50140941f, 0.246640727f, -0.00417768164f, -0.00125372503f, 0.00021858087f,
                          -4.39150654e-06f, -3.5233877e-06f, 3.43273939e-07f, 2.81022636e-08f);
    const T far = horner(root - 3, 2.83297682f, 1.00167406f, 0.00943887047f, -0.0076224613f, 0.00573950773f,
                         -0.00367342844f, 0.00134934322f, 0.000100950558f, -0.000200214257f);
    p = select(w < 5, near, far);
  } else {
    const T near = horner(
        w - 3.125, 1.6536545626831027356, 0.24015818242558961693, -0.0060336708714301490533, -0.00074070253416626697512,
        0.0001867342080340571352, -1.3882523362786468719e-05, -1.3654692000834678645e-06, 4.2347877827932403518e-07,
        -2.9070369957882005086e-08, -4.1126339803469836976e-09, 1.051212273321532285e-09, -5.4154120542946279317e-11,
        -1.2975133253453532498e-11, 2.6335093153082322977e-12, -8.1519341976054721522e-14, -4.0545662729752068639e-14,
        6.6376381343583238325e-15, 2.0972767875968561637e-17, -1.333171662854620906e-16, 1.115787767802518096e-17,
        1.2858480715256400167e-18, -1.685059138182016589e-19, -3.6444120640178196996e-21);
    const T middle = horner(
        root - 3.25, 3.0838856104922207635, 1.0052589676941592334, 0.005370914553590063617, -0.0037512085075692412107,
        0.0024914420961078508066, -0.0016882755560235047313, 0.00095328937973738049703, -0.0003550375203628474796,
        2.4031110387097893999e-05, 6.8284851459573175448e-05, -4.7318229009055733981e-05, 1.2475304481671778723e-05,
        2.9234449089955446044e-06, -4.013867526981545969e-06, 1.5027403968909827627e-06, 1.8239629214389227755e-08,
        -2.7517406297064545428e-07, 9.0756561938885390979e-08, 2.2137376921775787049e-09);
    const T far = horner(root - 5, 4.8499064014085844221, 1.0103004648645343977, -0.00013871931833623122026,
                         -0.00021503011930044477347, 7.5995277030017761139e-05, -1.9681778105531670567e-05,
                         4.5260625972231537039e-06, -9.9298272942317002539e-07, 2.2900482228026654717e-07,
                         -6.7711997758452339498e-08, 2.9147953450901080826e-08, -1.4960026627149240478e-08,
                         7.6157012080783393804e-09, -3.7894654401267369937e-09, 1.5076572693500548083e-09,
                         -2.5556418169965252055e-10, -2.7109920616438573243e-11);
    p = select(w < T(6.25), near, select(w < 16, middle, far));
  }
  return x * select(detail::magnitude(x) == 1, std::numeric_limits<T>::infinity(), p);
}

#endif

}

namespace drx {
namespace prim {
namespace rows {
struct erfinv : floating_function, singular_value {
  static constexpr const char* name = "erfinv";
  static constexpr known_value known(const known_site& s) {
    return {patterns::is_of_uniform(s.definition, s.e), false, false, false};
  }
  template <class T>
  DRX_FN static T apply(T x) {
    return math::erfinv(x);
  }
  template <class T>
  static T reference(T x) {
    const long double a = std::abs(static_cast<long double>(x)), slope = 1.1283791670955125738961589031L;
    if (!(a < 1)) return a == 1 ? x * std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
    long double y = math::erfinv(static_cast<double>(a));
    for (int i = 0; i < 3; ++i) y -= (a < 0.5L ? std::erf(y) - a : 1 - a - std::erfc(y)) / (slope * std::exp(-y * y));
    return static_cast<T>(std::copysign(y, static_cast<long double>(x)));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    const int half_root_of_pi = emit::constant_like(b, t, 0.88622692545275801365);
    return emit::azmul(b, t, emit::mul(b, half_root_of_pi, emit::exp(b, emit::mul(b, y, y))));
  }
};
}
inline constexpr primitive erfinv = elementwise_primitive<rows::erfinv>();
template <>
struct row_of<&erfinv> : rows::erfinv {};
}

template <class A>
  requires FloatingArray<A>
constexpr A erfinv(const A& x) {
  return detail::elementary(prim::erfinv, x);
}
template <class A, class Why = detail::not_floating_t<A>>
  requires detail::NotFloating<A>
Why erfinv(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(erfinv)

}

namespace drx {
namespace prim {
namespace rows {

struct exp : floating_function, singular_value {
  static constexpr const char* name = "exp";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_positive, true, false, x.finite && x.not_negative};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::exp(x);
  }
  template <class T>
  static T reference(T x) {
    return std::exp(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) { return emit::azmul(b, t, s.results[0]); }
};
struct log : floating_function, singular_value {
  static constexpr const char* name = "log";
  static constexpr known_value known(const known_value& x) { return {x.finite && x.positive(), false, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::log(x);
  }
  template <class T>
  static T reference(T x) {
    return std::log(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) { return emit::azdiv(b, t, s.operands[0]); }
};
struct log1p : floating_function, singular_value {
  static constexpr const char* name = "log1p";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_negative, x.not_negative, x.not_positive, false};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::log1p(x);
  }
  template <class T>
  static T reference(T x) {
    return std::log1p(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azdiv(b, t, emit::add(b, s.operands[0], emit::constant_like(b, t, 1)));
  }
};
struct expm1 : floating_function, singular_value {
  static constexpr const char* name = "expm1";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_positive, x.not_negative, x.not_positive, false};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::expm1(x);
  }
  template <class T>
  static T reference(T x) {
    return std::expm1(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::add(b, s.results[0], emit::constant_like(b, t, 1)));
  }
};
struct sigmoid : floating_function {
  static constexpr const char* name = "sigmoid";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::sigmoid(x);
  }
  template <class T>
  DRX_FN static T begin(T x) {
    return math::sigmoid_begin(x);
  }
  template <class T>
  DRX_FN static T end(T begun, T x) {
    return math::sigmoid_end(begun, x);
  }
  template <class T>
  static T reference(T x) {
    return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    const int y = s.results[0];
    return emit::times(b, t, emit::mul(b, y, emit::sub(b, emit::constant_like(b, t, 1), y)));
  }
};
struct softplus : floating_function {
  static constexpr const char* name = "softplus";
  static constexpr known_value known(const known_value& x) { return {x.finite, true, false, false}; }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return (x < 0 ? T(0) : x) + math::log1p(math::exp(-math::abs(x)));
  }
  template <class T>
  static T reference(T x) {
    return (x < 0 ? T(0) : x) + std::log1p(std::exp(-std::abs(x)));
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t);
};
struct exp2 : floating_function, singular_value {
  static constexpr const char* name = "exp2";
  static constexpr known_value known(const known_value& x) {
    return {x.finite && x.not_positive, true, false, x.finite && x.not_negative};
  }
  template <class T>
  DRX_INLINE static T apply(T x) {
    return math::exp2(x);
  }
  template <class T>
  static T reference(T x) {
    return std::exp2(x);
  }
  static constexpr int partial(builder& b, const rule_site& s, int, int t) {
    return emit::azmul(b, t, emit::mul(b, s.results[0], emit::constant_like(b, t, 0.69314718055994530942)));
  }
};

}

inline constexpr primitive exp = elementwise_primitive<rows::exp>();
inline constexpr primitive log = elementwise_primitive<rows::log>();
inline constexpr primitive log1p = elementwise_primitive<rows::log1p>();
inline constexpr primitive expm1 = elementwise_primitive<rows::expm1>();
inline constexpr primitive sigmoid = elementwise_primitive<rows::sigmoid>();
inline constexpr primitive softplus = elementwise_primitive<rows::softplus>();
inline constexpr primitive exp2 = elementwise_primitive<rows::exp2>();
template <>
struct row_of<&exp> : rows::exp {};
template <>
struct row_of<&log> : rows::log {};
template <>
struct row_of<&log1p> : rows::log1p {};
template <>
struct row_of<&expm1> : rows::expm1 {};
template <>
struct row_of<&sigmoid> : rows::sigmoid {};
template <>
struct row_of<&softplus> : rows::softplus {};
template <>
struct row_of<&exp2> : rows::exp2 {};

constexpr int rows::softplus::partial(builder& b, const rule_site& s, int, int t) {
  return emit::times(b, t, b.add1(prim::sigmoid, {s.operands[0]}));
}
}

namespace emit {
constexpr int exp(builder& b, int x) { return b.add1(prim::exp, {x}); }
constexpr int log(builder& b, int x) { return b.add1(prim::log, {x}); }
}

template <class A> requires FloatingArray<A>
constexpr A exp(const A& x) { return detail::elementary(prim::exp, x); }
template <class A> requires FloatingArray<A>
constexpr A log(const A& x) { return detail::elementary(prim::log, x); }
template <class A> requires FloatingArray<A>
constexpr A log1p(const A& x) { return detail::elementary(prim::log1p, x); }
template <class A> requires FloatingArray<A>
constexpr A expm1(const A& x) { return detail::elementary(prim::expm1, x); }
template <class A> requires FloatingArray<A>
constexpr A sigmoid(const A& x) { return detail::elementary(prim::sigmoid, x); }
template <class A> requires FloatingArray<A>
constexpr A softplus(const A& x) { return detail::elementary(prim::softplus, x); }
template <class A> requires FloatingArray<A>
constexpr A exp2(const A& x) { return detail::elementary(prim::exp2, x); }

template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why exp(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why log(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why log1p(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why expm1(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why sigmoid(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why softplus(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map
template <class A, class Why = detail::not_floating_t<A>> requires detail::NotFloating<A>
Why exp2(const A&) = delete;  // drx: of float or double arrays: cast<float>(x) first; of a placed value in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(exp)
DRX_SILENT(expm1)
DRX_SILENT(log)
DRX_SILENT(log1p)
DRX_SILENT(sigmoid)
DRX_SILENT(softplus)
DRX_SILENT(exp2)

}

namespace drx::patterns {

constexpr int behind(const definitions& d, int v, const primitive& p) {
  for (const entry* e = d.of(v); e && (e->prim == &p || e->prim == &prim::stop_gradient); e = d.of(v))
    v = e->operands[0];
  return v;
}
constexpr bool is_same(const definitions& d, int v, int w) {
  return behind(d, v, prim::stop_gradient) == behind(d, w, prim::stop_gradient);
}
constexpr bool is_test_of_finiteness(const definitions& d, const entry& e) {
  const entry* c = d.of(behind(d, e.operands[0], prim::broadcast_to));
  const entry* y = c && c->prim == &prim::less_equal ? d.of(c->operands[0]) : nullptr;
  return y && y->prim == &prim::abs && is_same(d, y->operands[0], e.operands[1]);
}
constexpr const entry* extremum_of(const definitions& d, int v, int x) {
  v = behind(d, v, prim::stop_gradient);
  const entry* repeated = d.of(v);
  const shape kept =
      repeated && repeated->prim == &prim::broadcast_to ? d.t.values[repeated->operands[0]].shape : d.t.values[v].shape;
  if (repeated && repeated->prim == &prim::broadcast_to) v = repeated->operands[0];
  const entry* m = d.of(behind(d, v, prim::reshape));
  if (m && m->prim == &prim::where && is_test_of_finiteness(d, *m)) m = d.of(behind(d, m->operands[1], prim::reshape));
  if (!m || (m->prim != &prim::max_over && m->prim != &prim::min_over) || !is_same(d, m->operands[0], x))
    return nullptr;
  shape expected = d.t.values[x].shape;
  for (auto axis : prim::rules::over_axes::view(*m).axes) expected[static_cast<int>(axis)] = 1;
  return kept == expected || kept.size() == 1 ? m : nullptr;
}
constexpr std::optional<int_list> below_maximum(const definitions& d, const entry& e) {
  const entry* m = e.prim == &prim::sub ? extremum_of(d, e.operands[1], e.operands[0]) : nullptr;
  if (m && m->prim == &prim::max_over) return prim::rules::over_axes::view(*m).axes;
  return {};
}
constexpr bool is_softmax_sum(const definitions& d, const entry& e) {
  const entry* x = d.of(e.operands[0]);
  if (!x || x->prim != &prim::exp) return false;
  const entry* shifted = d.of(x->operands[0]);
  if (!shifted) return false;
  const auto axes = below_maximum(d, *shifted);
  return axes && *axes == prim::rules::over_axes::view(e).axes;
}
constexpr bool is_share(const definitions& d, const entry& e) {
  const entry *hit = d.of(e.operands[0]), *n = d.of(e.operands[1]);
  if (!hit || hit->prim != &prim::cast || !n || n->prim != &prim::broadcast_to) return false;
  const entry *same = d.of(hit->operands[0]), *sum = d.of(behind(d, n->operands[0], prim::reshape));
  return same && same->prim == &prim::equal && sum && sum->prim == &prim::sum && sum->operands[0] == e.operands[0] &&
         extremum_of(d, same->operands[1], same->operands[0]);
}

}

namespace drx {
namespace prim::rules {
struct flip {
  struct view {
    int_list axes;
    constexpr explicit view(int_list a) : axes(a) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    for (int i = 0; i < t.attrs.ints.size(); ++i)
      typing::require(t.attrs.ints[i] >= 0 && t.attrs.ints[i] < t.operands[0].shape.rank &&
                          (i == 0 || t.attrs.ints[i - 1] < t.attrs.ints[i]),
                      "flip: the axes are not ascending and in range");
    return {t.operands[0]};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::flip(s.b, ct[0], s.e.attrs.ints)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    if (emit::is_constant(b, o[0], x)) return o[0];
    const entry* e = b.definition(o[0]);
    if (e && e->prim == prim_ptr() && view(*e).axes == view(a).axes) return e->operands[0];
    vec<std::int64_t> turned;
    for (auto axis : a.ints)
      if (b.shape(o[0])[static_cast<int>(axis)] > 1) turned.push_back(axis);
    if (turned.empty()) return o[0];
    return turned == a.ints ? -1 : emit::flip(b, o[0], turned);
  }
  static constexpr const primitive* prim_ptr();
  static constexpr vec<split_result> split(split_site& s) {
    if (view(s.e).axes.contains(s.first_axis())) return {};
    return s.apart(s.e.attrs);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    std::size_t i = 0;
    for_each_index(s, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < s.rank; ++k) source[k] = v.e.attrs.ints.find(k) >= 0 ? s[k] - 1 - at[k] : at[k];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(s, source))], width);
    });
  }
};
}

namespace prim {
inline constexpr primitive flip{.name = "flip",
                                .type = rules::flip::type,
                                .jvp = rules::broadcast_to::jvp,
                                .vjp = rules::flip::vjp,
                                .batch = rules::over_axes::batch,
                                .simplify = rules::flip::simplify,
                                .print = rules::over_axes::print,
                                .evaluate = rules::flip::evaluate,
                                .known = rules::known::handed_on,
                                .lanes = rules::lanes::same,
                                .split = rules::flip::split,
                                .role = role::rearranged,
                                .takes_halves = true};
constexpr const primitive* rules::flip::prim_ptr() { return &prim::flip; }
}
namespace emit {
constexpr int flip(builder& b, int x, const vec<std::int64_t>& axes) {
  attributes a;
  a.ints = axes;
  return b.add1(prim::flip, {x}, a);
}
}

namespace detail {
template <class A, int... Axes>
concept Flippable = Array<A> && reduced_axes<A, Axes...>::in_range;
}

template <int... Axes, class A>
  requires detail::Flippable<A, Axes...>
constexpr A flip(const A& x) {
  return detail::unary<A>(
      x, [](builder& b, int id) { return emit::flip(b, id, detail::reduced_axes<A, Axes...>::list()); });
}
template <int... Axes, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>>
  requires((Array<A> || Placed<A>) && !detail::Flippable<A, Axes...>)
Why flip(const A&) = delete;  // drx: flip<axes...>(array), the axes below its rank; of a placed value in a map

DRX_SILENT(flip)

}

namespace drx {
namespace prim {
namespace rows {

struct fma : same_type, on_floating {
  static constexpr const char* name = "fma";
  static constexpr int arity = 3;
  static constexpr known_value known(const known_site& s) { return s.operands[0] * s.operands[1] + s.operands[2]; }
  template <class T>
  DRX_INLINE static T apply(T x, T y, T z) {
    return math::fma(x, y, z);
  }
  template <class T>
  static T reference(T x, T y, T z) {
    return std::fma(x, y, z);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    return i == 2 ? t : emit::times(b, t, s.operands[1 - i]);
  }
};

}
inline constexpr primitive fma = elementwise_primitive<rows::fma>();
template <>
struct row_of<&fma> : rows::fma {};
}

namespace detail {
template <class A, class B, class C>
concept FloatingTriple = FloatingArray<A> && Compatible<A, B> && Compatible<A, C> && Compatible<binary_result<A, B>, C>;
template <class A, class B, class C>
constexpr auto fma_misuse() {
  if constexpr (NoArray<A> || Placed<B> || Placed<C>) {
    return no_array_t<A, B, C>{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (Incompatible<A, B>) {
    return mismatch<A, B>();
  } else if constexpr (Incompatible<A, C>) {
    return mismatch<A, C>();
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
}

template <class A, class B, class C>
  requires detail::FloatingTriple<A, B, C>
constexpr auto fma(const A& x, const B& y, const C& z) {
  using R = detail::binary_result<detail::binary_result<A, B>, C>;
  return detail::elementwise<R, typename R::value_type>(prim::fma, x, y, z);
}
template <class A, class B, class C, class Why = decltype(detail::fma_misuse<A, B, C>())>
  requires((Array<A> || detail::NoArray<A>) && !detail::FloatingTriple<A, B, C>)
Why fma(const A&, const B&, const C&) = delete;  // drx: fma(floating array, y, z), y and z arrays of its element type or numbers; of placed values in a map; of a structure leaf by leaf: tree_map

DRX_SILENT(fma)

}

namespace drx {

struct word_pair {
  std::uint32_t first = 0, second = 0;
  friend constexpr bool operator==(const word_pair&, const word_pair&) = default;
};

DRX_INLINE constexpr word_pair words_of(std::uint64_t n) {
  return {static_cast<std::uint32_t>(n >> 32), static_cast<std::uint32_t>(n)};
}

namespace detail {
template <int R0, int R1, int R2, int R3>
DRX_INLINE constexpr void threefry_rounds(word_pair& x) {
  constexpr int rotation[] = {R0, R1, R2, R3};
  for (int r = 0; r < 4; ++r) {
    x.first += x.second;
    x.second = ((x.second << rotation[r]) | (x.second >> (32 - rotation[r]))) ^ x.first;
  }
}
}

DRX_INLINE constexpr word_pair threefry2x32(word_pair key, word_pair counter) {
  const std::uint32_t a = key.first, b = key.second, c = a ^ b ^ 0x1BD11BDAU;
  word_pair x{counter.first + a, counter.second + b};
  auto inject = [&x](std::uint32_t first, std::uint32_t second) {
    x.first += first;
    x.second += second;
  };
  detail::threefry_rounds<13, 15, 26, 6>(x);
  inject(b, c + 1);
  detail::threefry_rounds<17, 29, 16, 24>(x);
  inject(c, a + 2);
  detail::threefry_rounds<13, 15, 26, 6>(x);
  inject(a, b + 3);
  detail::threefry_rounds<17, 29, 16, 24>(x);
  inject(b, c + 4);
  detail::threefry_rounds<13, 15, 26, 6>(x);
  inject(c, a + 5);
  return x;
}

}

namespace drx {

using prng_key = array<std::int32_t, 2>;

namespace prim::rules {
struct random_bits {
  enum kind : std::int8_t { bits32, bits64, keys };
  struct view {
    kind what;
    int_list extents;
    constexpr explicit view(int_list a) : what(static_cast<kind>(a[0])), extents(a.from(1)) {}
  };
  static constexpr word_pair key_from(const std::int32_t* words) {
    return {static_cast<std::uint32_t>(words[0]), static_cast<std::uint32_t>(words[1])};
  }
  static constexpr void require_key(const typing& t) {
    const abstract_value& key = t.operands[0];
    typing::require(key.depth == 0 && key.type == dtype::int32 && key.shape.rank > 0 && key.shape.last() == 2,
                    "random numbers: not a key");
  }
  template <kind What, class T>
  DRX_INLINE static constexpr void write(word_pair key, std::uint64_t i, T* words) {
    const word_pair h = threefry2x32(key, words_of(i));
    if constexpr (What == bits32) {
      words[i] = static_cast<std::int32_t>(h.first ^ h.second);
    } else if constexpr (What == bits64) {
      words[i] = static_cast<std::int64_t>(std::uint64_t{h.first} << 32 | h.second);
    } else {
      words[2 * i] = static_cast<std::int32_t>(h.first);
      words[2 * i + 1] = static_cast<std::int32_t>(h.second);
    }
  }

  static constexpr vec<abstract_value> type(const typing& t) {
    require_key(t);
    const shape key = t.operands[0].shape;
    shape s;
    for (int i = 0; i + 1 < key.rank; ++i) s.push_back(key[i]);
    const view drawn(t.attrs);
    for (auto n : drawn.extents) s.push_back(n);
    if (drawn.what == keys) s.push_back(2);
    return {abstract_value(drawn.what == bits64 ? dtype::int64 : dtype::int32, s)};
  }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static std::string print(const attributes& a) {
    constexpr const char* names[] = {"32 bits", "64 bits", "keys"};
    const view drawn(a);
    return names[drawn.what] + std::string(drawn.extents.size() > 0 ? ": " : "") + list_of(drawn.extents);
  }
  template <kind What, class T>
  static void evaluate_as(evaluation& v) {
    const std::int64_t several = v.in[0]->size() / 2, all = v.out[0].size(), each = several == 0 ? 0 : all / several;
    for (std::int64_t k = 0; k < several; ++k)
      for (std::int64_t i = 0; i < (What == keys ? each / 2 : each); ++i)
        write<What>(key_from(v.in[0]->data<std::int32_t>() + 2 * k), static_cast<std::uint64_t>(i),
                    v.out[0].data<T>() + k * each);
  }
  static void evaluate(evaluation& v) {
    switch (view(v.e).what) {
      case bits32: return evaluate_as<bits32, std::int32_t>(v);
      case bits64: return evaluate_as<bits64, std::int64_t>(v);
      default: return evaluate_as<keys, std::int32_t>(v);
    }
  }
};
}

namespace prim {
inline constexpr primitive random_bits{.name = "random_bits",
                                       .type = rules::random_bits::type,
                                       .jvp = rules::random_bits::jvp,
                                       .vjp = rules::random_bits::vjp,
                                       .batch = rules::random_bits::batch,
                                       .print = rules::random_bits::print,
                                       .evaluate = rules::random_bits::evaluate,
                                       .known = rules::known::nothing,
                                       .split = rules::split::whole};
}

namespace emit {
constexpr int random_bits(builder& b, int key, prim::rules::random_bits::kind what, const shape& s) {
  attributes a;
  a.ints = {what};
  for (int i = 0; i < s.rank; ++i) a.ints.push_back(s[i]);
  return b.add1(prim::random_bits, {key}, a);
}
}

namespace detail {
template <class K>
concept Key = std::is_same_v<K, prng_key>;
template <class K>
using not_a_key_t = std::conditional_t<Placed<K>, error::array_operation_on_a_placed_value, error::needs_a_random_key>;
template <class K>
concept NotKey = (Array<K> || Literal<K> || Placed<K>) && !Key<K>;
template <class K>
concept SeedArray =
    ScalarArray<K> && std::is_integral_v<typename K::value_type> && !std::is_same_v<typename K::value_type, bool>;
template <class A>
using not_a_seed_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_integer_values>;
}

constexpr prng_key random_key(std::int64_t seed) {
  const word_pair w = words_of(static_cast<std::uint64_t>(seed));
  if (!detail::is_tracing()) return {static_cast<std::int32_t>(w.first), static_cast<std::int32_t>(w.second)};
  traced_ref r;
  r.what = traced_ref::kind::seed;
  r.from.seed = seed;
  return prng_key(r);
}
template <class A>
  requires detail::SeedArray<A>
constexpr prng_key random_key(const A& seed) {
  const auto low = cast<std::int32_t>(seed);
  if constexpr (std::is_same_v<typename A::value_type, std::int32_t>) {
    return stack(low * 0, low);
  } else {
    constexpr std::int64_t words = std::int64_t{1} << 32;
    const auto unsigned_low = cast<std::int64_t>(low) + where(low < 0, full<array<std::int64_t>>(words), 0);
    return stack(cast<std::int32_t>((seed - unsigned_low) / words), low);
  }
}
template <class A, class Why = detail::not_a_seed_t<A>>
  requires((Array<A> || Placed<A>) && !detail::SeedArray<A>)
Why random_key(const A&) = delete;  // drx: of a whole number: random_key(42), or of an int32 or int64 without axes; of a placed value in a map

template <std::int64_t N = 2, class K>
  requires(detail::Key<K> && N >= 0)
constexpr auto split(const K& key) {
  return detail::unary<array<std::int32_t, N, 2>>(
      key, [](builder& b, int id) { return emit::random_bits(b, id, prim::rules::random_bits::keys, make_shape(N)); });
}
template <std::int64_t N = 2, class K, class Why = detail::not_a_key_t<K>>
  requires detail::NotKey<K>
Why split(const K&) = delete;  // drx: split<n>(key): of a key that random_key(seed), index<i>(split<n>(key)) or fold_in(key, i) gave; of a placed key in a map

template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && (std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>))
constexpr auto random_bits(const K& key) {
  using R = array<T, E...>;
  constexpr auto what =
      std::is_same_v<T, std::int32_t> ? prim::rules::random_bits::bits32 : prim::rules::random_bits::bits64;
  return detail::unary<R>(key, [](builder& b, int id) { return emit::random_bits(b, id, what, R::shape); });
}
template <class T, std::int64_t... E, class K, class Why = detail::not_a_key_t<K>>
  requires detail::NotKey<K>
Why random_bits(const K&) = delete;  // drx: random_bits<std::int32_t, extents...>(key): of a key that random_key(seed), index<i>(split<n>(key)) or fold_in(key, i) gave; of a placed key in a map
template <class T, std::int64_t... E, class K, class Why = error::needs_integer_values>
  requires(detail::Key<K> && !std::is_same_v<T, std::int32_t> && !std::is_same_v<T, std::int64_t>)
Why random_bits(const K&) = delete;  // drx: random_bits<std::int32_t, extents...>(key) or random_bits<std::int64_t, extents...>(key); floating numbers are uniform<T, extents...>(key)

DRX_SILENT(random_key)
DRX_SILENT(split)
DRX_SILENT_OF_TYPE(random_bits)

}

namespace drx {
namespace prim::rules {
struct fold_in {
  static constexpr vec<abstract_value> type(const typing& t) {
    random_bits::require_key(t);
    const abstract_value& key = t.operands[0];
    typing::require(is_integer(t.operands[1].type) && t.operands[1].depth == 0, "fold_in: not a whole number");
    typing::require(t.operands[1].shape == without_axis(key.shape, key.shape.rank - 1),
                    "fold_in: not one number for each key");
    return {key};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) {
    return {zero_tangent, zero_tangent};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < 2; ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  template <class I>
  DRX_INLINE static constexpr void write(const std::int32_t* key, I number, std::int32_t* result) {
    const auto n = static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<I>>(number));
    const word_pair h = threefry2x32(random_bits::key_from(key), words_of(n));
    result[0] = static_cast<std::int32_t>(h.first);
    result[1] = static_cast<std::int32_t>(h.second);
  }
  static void evaluate(evaluation& v) {
    auto all = [&]<class I>(I) {
      for (std::int64_t k = 0; k < v.in[1]->size(); ++k)
        write(v.in[0]->data<std::int32_t>() + 2 * k, v.in[1]->data<I>()[k], v.out[0].data<std::int32_t>() + 2 * k);
    };
    v.in[1]->type.type == dtype::int32 ? all(std::int32_t{}) : all(std::int64_t{});
  }
};
}

namespace prim {
inline constexpr primitive fold_in{.name = "fold_in",
                                   .type = rules::fold_in::type,
                                   .jvp = rules::random_bits::jvp,
                                   .vjp = rules::fold_in::vjp,
                                   .batch = rules::fold_in::batch,
                                   .evaluate = rules::fold_in::evaluate,
                                   .known = rules::known::nothing,
                                   .split = rules::split::whole};
}

namespace detail {
template <class N>
concept WholeNumber = SeedArray<N> || (Literal<N> && std::is_integral_v<N> && !std::is_same_v<N, bool>);
template <class K, class N>
constexpr auto fold_in_misuse() {
  if constexpr (Placed<K> || Placed<N>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Key<K>) {
    return error::needs_a_random_key{};
  } else {
    return error::needs_integer_values{};
  }
}
}

template <class K, class N>
  requires(detail::Key<K> && detail::WholeNumber<N>)
constexpr prng_key fold_in(const K& key, const N& number) {
  tracing_builder& b = detail::tape_of(detail::ref_of(key), detail::ref_of(number));
  const abstract_value numbers(dtype_of<typename canonical_t<N>::value_type>, {});
  const int n = emit::resolve(b, detail::ref_of(number), numbers);
  return prng_key(
      detail::at(b, b.add1(prim::fold_in, {emit::resolve(b, detail::ref_of(key), {dtype::int32, K::shape}), n})));
}
template <class K, class N, class Why = decltype(detail::fold_in_misuse<K, N>())>
  requires((Array<K> || Placed<K>) && (detail::ArrayOrLiteral<N> || Placed<N>) &&
           !(detail::Key<K> && detail::WholeNumber<N>))
Why fold_in(const K&, const N&) = delete;  // drx: fold_in(key, i): a key that random_key, split or fold_in gave and a whole number; of placed ones in a map

DRX_SILENT(fold_in)

}

namespace drx {
namespace prim::rules {
struct distribute {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 0 && t.operands[0].shape.rank > 0,
                    "distribute: not an unplaced array with an axis");
    return {t.operands[0].with_shape(without_axis(t.operands[0].shape, 0)).placed_at(t.attrs.placement)};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : emit::distribute(s.b, t[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {emit::gather(s.b, ct[0], s.b.shape(s.operands[0])[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::distribute(s.b, emit::first_axes_exchanged(s.b, s.operands[0]), s.e.attrs.placement)};
  }
  static constexpr std::optional<std::int64_t> members(const tape& t, const entry& e) {
    return t.values[e.operands[0]].shape[0];
  }
  static constexpr vec<int> share(share_site& s) {
    const int x = s.common(0);
    const shape slice = without_axis(s.b.shape(x), 0);
    if (s.b.shape(x)[0] == 0) return {emit::constant(s.b, s.b.type(x).with_shape(slice), 0)};
    const int at = emit::reshape(s.b, s.index, make_shape(1));
    return {emit::reshape(s.b, emit::dynamic_slice(s.b, x, at, {1}, 0), slice)};
  }
  static void evaluate(evaluation& v) {
    const abstract_value one = v.out[0].type.of_member();
    for (std::int64_t m = 0; m < v.in[0]->type.shape[0]; ++m) {
      tensor x(one);
      if (!x.bytes.empty())
        std::memcpy(x.bytes.data(), v.in[0]->bytes.data() + static_cast<std::size_t>(m) * x.bytes.size(),
                    x.bytes.size());
      v.out[0].members.push_back(std::move(x));
    }
  }
};
struct gather {
  struct view {
    std::int64_t members;
    constexpr explicit view(int_list a) : members(a[0]) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "gather: the operand is not placed there");
    const abstract_value one = t.operands[0].of_member();
    return {one.with_shape(with_front(one.shape, view(t.attrs).members))};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : emit::distribute(s.b, ct[0], s.e.attrs.placement)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(s.b, s.b.add1(*s.e.prim, s.operands, s.e.attrs))};
  }
  static std::string print(const attributes& a) {
    return std::string(a.placement->name) + ": " + std::to_string(a.ints[0]);
  }
  static constexpr std::optional<std::int64_t> members(const tape&, const entry& e) { return view(e).members; }
  static void evaluate(evaluation& v) { join(*v.in[0], v.out[0]); }
  static void join(const tensor& placed, tensor& to) {
    if (static_cast<std::int64_t>(placed.members.size()) != to.type.shape[0])
      throw std::invalid_argument("drx: gather of " + std::to_string(to.type.shape[0]) + " members, but " +
                                  std::string(placed.type.placements[0]->name) + " has " +
                                  std::to_string(placed.members.size()));
    std::size_t at = 0;
    for (const tensor& m : placed.members) {
      if (!m.bytes.empty()) std::memcpy(to.bytes.data() + at, m.bytes.data(), m.bytes.size());
      at += m.bytes.size();
    }
  }
};
}

namespace prim {
inline constexpr primitive distribute{.name = "distribute",
                                      .type = rules::distribute::type,
                                      .jvp = rules::distribute::jvp,
                                      .vjp = rules::distribute::vjp,
                                      .batch = rules::distribute::batch,
                                      .print = rules::broadcast::print,
                                      .evaluate = rules::distribute::evaluate,
                                      .share = rules::distribute::share,
                                      .members = rules::distribute::members,
                                      .known = rules::known::handed_on,
                                      .takes_halves = true};
inline constexpr primitive gather{.name = "gather",
                                  .type = rules::gather::type,
                                  .jvp = rules::gather::jvp,
                                  .vjp = rules::gather::vjp,
                                  .batch = rules::gather::batch,
                                  .print = rules::gather::print,
                                  .evaluate = rules::gather::evaluate,
                                  .fold = fold::gather,
                                  .members = rules::gather::members,
                                  .known = rules::known::handed_on,
                                  .takes_halves = true};
}

namespace emit {
constexpr int distribute(builder& b, int x, const placement_info* p) {
  attributes a;
  a.placement = p;
  return b.add1(prim::distribute, {x}, a);
}
constexpr int gather(builder& b, int x, std::int64_t members, const placement_info* p) {
  attributes a;
  a.placement = p;
  a.ints = {members};
  return b.add1(prim::gather, {x}, a);
}
}

namespace detail {
template <class X, class P>
constexpr auto distribute_misuse() {
  if constexpr (!Unplaced<X>) {
    return error::broadcast_needs_an_unplaced_value{};
  } else {
    constexpr bool ok = [] {
      leaf_types<X> types;
      for (int i = 0; i < leaf_count<X>; ++i)
        if (types[i].shape.rank == 0) return false;
      return true;
    }();
    constexpr bool equal = [] {
      leaf_types<X> types;
      for (int i = 1; i < leaf_count<X>; ++i)
        if (types[i].shape[0] != types[0].shape[0]) return false;
      return true;
    }();
    if constexpr (!ok || !requires { typename drop_axis<canonical_t<X>, 0>::type; }) {
      return error::axis_out_of_range{};
    } else if constexpr (!equal) {
      return error::extents_differ{};
    } else {
      return no_misuse{};
    }
  }
}
template <class X, class P>
concept Distributable = Structured<X> && std::is_same_v<decltype(distribute_misuse<X, P>()), no_misuse>;
template <class X>
concept Gatherable = Placed<X> && !error::Reported<X> && all_unplaced<typename X::member>;
}

template <class P, class X>
  requires(Placement<P> && detail::Distributable<X, P>)
constexpr auto distribute(const X& x) {
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::distribute(b, id, &placement_of<P>);
  return detail::bound<placed<typename detail::drop_axis<canonical_t<X>, 0>::type, P>>(b, ids);
}
template <std::int64_t N, class X>
  requires detail::Gatherable<X>
constexpr auto gather(const X& x) {
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::gather(b, id, N, &placement_of<typename X::placement>);
  return detail::bound<stacked_t<typename X::member, N>>(b, ids);
}
template <class P, class X, class Why = decltype(detail::distribute_misuse<X, P>())>
  requires(Placement<P> && Structured<X> && !error::Reported<X> && !detail::Distributable<X, P>)
Why distribute(const X&) = delete;  // drx: distribute<P>(x): x is an unplaced array, or a structure of arrays with equal extents of axis 0
template <std::int64_t N, class X,
          class Why = std::conditional_t<Placed<X>, error::reduce_the_inner_placement_first,
                                         error::reduce_needs_a_placed_value>>
  requires(Structured<X> && !error::Reported<X> && !detail::Gatherable<X>)
Why gather(const X&) = delete;  // drx: gather<N>(x): x is placed, and its members are not placed themselves

DRX_SILENT(gather)
DRX_SILENT_OF_TYPE(distribute)

}

namespace drx {
namespace prim::rules {
struct shard_gather {
  struct view {
    std::int64_t shard_count;
    constexpr explicit view(int_list a) : shard_count(a[0]) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "shard_gather: the operand is not placed there");
    const abstract_value one = t.operands[0].of_member();
    return {one.with_shape(with_front(one.shape, view(t.attrs).shard_count)).placed_at(t.attrs.placement)};
  }
  static void evaluate(evaluation& v) { join(*v.in[0], view(v.e).shard_count, v.out[0]); }
  static void join(const tensor& placed, std::int64_t n, tensor& to) {
    const auto group = static_cast<std::size_t>(n);
    if (placed.members.size() % group != 0)
      throw std::invalid_argument("drx: members in groups of " + std::to_string(n) + " are " +
                                  std::to_string(placed.members.size()));
    for (std::size_t m = 0; m < placed.members.size(); ++m) {
      tensor all(to.type.of_member());
      all.bytes.clear();
      for (std::size_t k = 0; k < group; ++k) {
        const auto& part = placed.members[m / group * group + k].bytes;
        all.bytes.insert(all.bytes.end(), part.begin(), part.end());
      }
      to.members.push_back(std::move(all));
    }
  }
};
struct shard_sum {
  struct view {
    std::int64_t shards;
    constexpr explicit view(int_list a) : shards(a[0]) {}
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "shard_sum: the operand is not placed there");
    return {t.operands[0]};
  }
  static void evaluate(evaluation& v) { apply(*v.in[0], view(v.e).shards, v.out[0]); }
  static void apply(const tensor& placed, std::int64_t n, tensor& to) {
    const auto shards = static_cast<std::size_t>(n);
    visit_dtype(to.type.type, [&]<class T>(T) {
      using wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
      for (std::size_t m = 0; m < placed.members.size(); ++m) {
        tensor y(to.type.of_member());
        for (std::int64_t i = 0; i < y.size(); ++i) {
          wide total{};
          for (std::size_t k = m % shards; k < placed.members.size(); k += shards)
            total = static_cast<wide>(total + static_cast<wide>(placed.members[k].data<T>()[i]));
          y.data<T>()[i] = static_cast<T>(total);
        }
        to.members.push_back(std::move(y));
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive shard_sum{.name = "shard_sum",
                                     .type = rules::shard_sum::type,
                                     .print = rules::gather::print,
                                     .evaluate = rules::shard_sum::evaluate,
                                     .fold = fold::shard_sum,
                                     .known = rules::known::sums};
inline constexpr primitive shard_gather{.name = "shard_gather",
                                        .type = rules::shard_gather::type,
                                        .print = rules::gather::print,
                                        .evaluate = rules::shard_gather::evaluate,
                                        .fold = fold::shards,
                                        .known = rules::known::sums,
                                        .takes_halves = true};
}
namespace emit {
constexpr int shard_sum(builder& b, int x, std::int64_t shards, const placement_info* p) {
  attributes a;
  a.placement = p;
  a.ints = {shards};
  return b.add1(prim::shard_sum, {x}, a);
}
constexpr int shard_gather(builder& b, int x, std::int64_t n, const placement_info* p) {
  attributes a;
  a.placement = p;
  a.ints = {n};
  return b.add1(prim::shard_gather, {x}, a);
}
}
}

namespace drx::prim::rules {

inline void evaluate_lanes(evaluation& v, const entry& one, const vec<bool>& in_lanes, void (*evaluate)(evaluation&)) {
  const auto without_lanes = [](const abstract_value& t) {
    return t.with_shape(without_axis(t.shape, t.shape.rank - 1));
  };
  const auto copy = [](tensor& into, std::int64_t i, const tensor& from, std::int64_t j) {
    const auto width = static_cast<std::int64_t>(byte_size(into.type.type));
    std::memcpy(&into.bytes[static_cast<std::size_t>(i * width)], &from.bytes[static_cast<std::size_t>(j * width)],
                static_cast<std::size_t>(width));
  };
  const std::int64_t n = v.out[0].type.shape.last();
  for (std::int64_t lane = 0; lane < n; ++lane) {
    drx::detail::host_evaluation inner(one);
    std::vector<tensor> operands(v.in.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const tensor& all = *v.in[i];
      operands[i] = all;
      if (in_lanes[static_cast<int>(i)]) {
        operands[i] = tensor(without_lanes(all.type));
        for (std::int64_t k = 0; k < operands[i].size(); ++k) copy(operands[i], k, all, k * n + lane);
      }
      inner.in.push_back(&operands[i]);
    }
    for (const tensor& to : v.out) inner.out.emplace_back(without_lanes(to.type));
    evaluate(inner);
    for (std::size_t i = 0; i < v.out.size(); ++i)
      for (std::int64_t k = 0; k < inner.out[i].size(); ++k) copy(v.out[i], k * n + lane, inner.out[i], k);
  }
}

}

namespace drx {

namespace prim::rules {
struct lane_matrix {
  static constexpr std::int64_t require(const abstract_value& a) {
    typing::require(a.shape.rank == 3 && a.shape[0] == a.shape[1] && is_floating(a.type),
                    "no square matrix in each lane");
    return a.shape[0];
  }
};
struct lane_cholesky {
  static constexpr vec<abstract_value> type(const typing& t) {
    lane_matrix::require(t.operands[0]);
    return {t.operands[0]};
  }
  static void evaluate(evaluation& v) { evaluate_lanes(v, entry{}, {true}, cholesky::evaluate); }
};
struct lane_lu_factors {
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = lane_matrix::require(t.operands[0]);
    return {t.operands[0], abstract_value(dtype::int32, make_shape(n, t.operands[0].shape[2]))};
  }
  static void evaluate(evaluation& v) { evaluate_lanes(v, entry{}, {true}, lu_factors::evaluate); }
};
struct lane_triangular_solve {
  struct view : triangular_solve::view {
    bool side_in_lanes;
    constexpr explicit view(int_list a) : triangular_solve::view(a), side_in_lanes(a.flag(4)) {}
    static constexpr attributes make(const triangular_solve::view& single, bool in_lanes) {
      attributes a = single.make();
      a.ints.push_back(in_lanes);
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = lane_matrix::require(t.operands[0]);
    const view form(t.attrs);
    shape y = t.operands[1].shape;
    typing::require(
        t.operands[1].type == t.operands[0].type && y.rank == 2 + form.side_in_lanes && y[form.right ? 1 : 0] == n,
        "lane_triangular_solve: the right-hand side does not fit");
    if (!form.side_in_lanes) y = with_last(y, t.operands[0].shape[2]);
    return {t.operands[0].with_shape(y)};
  }
  static std::string print(const attributes& a) {
    return triangular_solve::print(a) + (view(a).side_in_lanes ? "" : "; side the same");
  }
  static void evaluate(evaluation& v) {
    entry one;
    one.attrs = triangular_solve::view(int_list(v.e.attrs)).make();
    evaluate_lanes(v, one, {true, view(v.e).side_in_lanes}, triangular_solve::evaluate);
  }
};
struct lane_lu_solve {
  struct view {
    bool transposed, side_in_lanes;
    constexpr view(bool is_transposed, bool in_lanes) : transposed(is_transposed), side_in_lanes(in_lanes) {}
    constexpr explicit view(int_list a) : view(a.flag(0), a.flag(1)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposed, side_in_lanes};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = lane_matrix::require(t.operands[0]), lanes = t.operands[0].shape[2];
    const bool in_lanes = view(t.attrs).side_in_lanes;
    shape y = t.operands[2].shape;
    typing::require(t.operands[1] == abstract_value(dtype::int32, make_shape(n, lanes)), "lane_lu_solve: factors");
    typing::require(t.operands[2].type == t.operands[0].type && y.rank == 2 + in_lanes && y[0] == n,
                    "lane_lu_solve: the right-hand side does not fit");
    if (!in_lanes) y = with_last(y, lanes);
    return {t.operands[0].with_shape(y)};
  }
  static std::string print(const attributes& a) {
    return std::string(view(a).transposed ? "T" : "N") + (view(a).side_in_lanes ? "" : "; side the same");
  }
  static void evaluate(evaluation& v) {
    entry one;
    one.attrs = lu_solve::view(view(v.e).transposed).make();
    evaluate_lanes(v, one, {true, true, view(v.e).side_in_lanes}, [](evaluation& of_lane) {
      of_lane.in.insert(of_lane.in.begin(), of_lane.in[0]);
      lu_solve::evaluate(of_lane);
    });
  }
};
}

namespace prim {
inline constexpr primitive lane_cholesky{
    .name = "lane_cholesky", .type = rules::lane_cholesky::type, .evaluate = rules::lane_cholesky::evaluate};
inline constexpr primitive lane_lu_factors{
    .name = "lane_lu_factors", .type = rules::lane_lu_factors::type, .evaluate = rules::lane_lu_factors::evaluate};
inline constexpr primitive lane_triangular_solve{.name = "lane_triangular_solve",
                                                 .type = rules::lane_triangular_solve::type,
                                                 .print = rules::lane_triangular_solve::print,
                                                 .evaluate = rules::lane_triangular_solve::evaluate};
inline constexpr primitive lane_lu_solve{.name = "lane_lu_solve",
                                         .type = rules::lane_lu_solve::type,
                                         .print = rules::lane_lu_solve::print,
                                         .evaluate = rules::lane_lu_solve::evaluate};
}

namespace emit {
constexpr vec<int> lane_cholesky(builder& b, int a) { return b.add(prim::lane_cholesky, {a}); }
constexpr vec<int> lane_lu_factors(builder& b, int a) { return b.add(prim::lane_lu_factors, {a}); }
constexpr int lane_triangular_solve(builder& b, int a, int y, const attributes& single, bool side_in_lanes) {
  using rules = prim::rules::lane_triangular_solve;
  return b.add1(prim::lane_triangular_solve, {a, y},
                rules::view::make(prim::rules::triangular_solve::view(int_list(single)), side_in_lanes));
}
constexpr int lane_lu_solve(builder& b, int lu, int exchanged, int y, bool transposed, bool side_in_lanes) {
  return b.add1(prim::lane_lu_solve, {lu, exchanged, y},
                prim::rules::lane_lu_solve::view(transposed, side_in_lanes).make());
}
}

}

namespace drx {

namespace prim::rules {
struct lane_matmul {
  struct view
      : matmul::view {
    bool first_in_lanes, second_in_lanes;
    constexpr view(matmul::view product, bool first, bool second)
        : matmul::view(product), first_in_lanes(first), second_in_lanes(second) {}
    constexpr explicit view(int_list a) : view(matmul::view(a), a.flag(2), a.flag(3)) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {transposes_first, transposes_second, first_in_lanes, second_in_lanes};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const auto [tx, ty] = matmul::view(t.attrs);
    const bool lx = view(t.attrs).first_in_lanes, ly = view(t.attrs).second_in_lanes;
    const shape x = t.operands[0].shape, y = t.operands[1].shape;
    typing::require(x.rank == 2 + lx && y.rank == 2 + ly && (lx || ly), "lane_matmul: ranks");
    typing::require(x[tx ? 0 : 1] == y[ty ? 1 : 0] && (!lx || !ly || x[2] == y[2]), "lane_matmul: extents");
    return {t.operands[0].with_shape(make_shape(x[tx ? 1 : 0], y[ty ? 0 : 1], lx ? x[2] : y[2]))};
  }
  static std::string print(const attributes& a) {
    return matmul::print(a) + (view(a).first_in_lanes ? "" : "; first the same") +
           (view(a).second_in_lanes ? "" : "; second the same");
  }
  static void evaluate(evaluation& v);
};
struct lane_convolution {
  struct view : convolution::view {
    bool kernels_in_lanes;
    constexpr explicit view(int_list a) : convolution::view(a.from(1)), kernels_in_lanes(a.flag(0)) {}
    [[nodiscard]] constexpr bool is_in_lanes(int operand) const {
      return operand == 0 || kernels_in_lanes || result == convolution_role::w;
    }
  };
  static constexpr attributes make(bool kernels_in_lanes, const attributes& single) {
    attributes a;
    a.ints = {kernels_in_lanes};
    a.ints.append(single.ints);
    return a;
  }
  static constexpr attributes single(const attributes& a) {
    attributes r;
    r.ints = int_list(a).from(1);
    return r;
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const std::int64_t n = t.operands[0].shape.last();
    vec<abstract_value> operands;
    for (int i = 0; i < 2; ++i) {
      shape s = t.operands[i].shape;
      if (view(t.attrs).is_in_lanes(i)) s = without_axis(s, s.rank - 1);
      operands.push_back(t.operands[i].with_shape(s));
    }
    const abstract_value r = convolution::type({operands, single(t.attrs), t.regions})[0];
    return {r.with_shape(with_last(r.shape, n))};
  }
  static std::string print(const attributes& a) {
    return convolution::print(single(a)) + (view(a).kernels_in_lanes ? "; kernels in lanes" : "");
  }
  static void evaluate(evaluation& v);
};

inline void lane_matmul::evaluate(evaluation& v) {
  const view product(v.e);
  entry one;
  one.attrs = matmul::view(product).make();
  evaluate_lanes(v, one, {product.first_in_lanes, product.second_in_lanes}, matmul::evaluate);
}
inline void lane_convolution::evaluate(evaluation& v) {
  entry one;
  one.attrs = single(v.e.attrs);
  evaluate_lanes(v, one, {true, view(v.e).is_in_lanes(1)}, convolution::evaluate);
}
}

namespace prim {
inline constexpr primitive lane_matmul{.name = "lane_matmul",
                                       .type = rules::lane_matmul::type,
                                       .print = rules::lane_matmul::print,
                                       .evaluate = rules::lane_matmul::evaluate};
inline constexpr primitive lane_convolution{.name = "lane_convolution",
                                            .type = rules::lane_convolution::type,
                                            .print = rules::lane_convolution::print,
                                            .evaluate = rules::lane_convolution::evaluate};
}

namespace emit {
constexpr int lane_matmul(builder& b, int x, int y, bool transpose_x, bool transpose_y, bool x_in_lanes,
                          bool y_in_lanes) {
  using rules = prim::rules::lane_matmul;
  return b.add1(prim::lane_matmul, {x, y}, rules::view({transpose_x, transpose_y}, x_in_lanes, y_in_lanes).make());
}
constexpr int lane_convolution(builder& b, int x, int y, bool kernels_in_lanes, const attributes& single) {
  return b.add1(prim::lane_convolution, {x, y}, prim::rules::lane_convolution::make(kernels_in_lanes, single));
}
}
}

namespace drx {
namespace prim::rules {
struct exchange {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].depth == 1 && t.operands[0].placements[0] == t.attrs.placement,
                    "exchange: the operand is not placed there");
    return {t.operands[0]};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static std::string print(const attributes& a) { return std::string(a.placement->name) + ": " + list_of(a.ints); }
};
struct member_permute : exchange {
  using view = permute::view;
  static constexpr auto known = rules::known::sums;
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {permute::transposed(s, ct[0])};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static constexpr std::optional<std::int64_t> members(const tape&, const entry& e) { return view(e).members(); }
  static void evaluate(evaluation& v) { apply(v.in[0]->members, view(v.e).sources, v.out[0]); }
  static void apply(const std::vector<tensor>& from, int_list source, tensor& to) {
    if (from.size() != static_cast<std::size_t>(source.size()))
      throw std::invalid_argument("drx: ppermute of " + std::to_string(source.size()) + " members, but " +
                                  std::string(to.type.placements[0]->name) + " has " + std::to_string(from.size()));
    for (auto m : source) {
      if (m == permute::nobody) {
        to.members.emplace_back(to.type.of_member());
      } else {
        to.members.push_back(from[static_cast<std::size_t>(m)]);
      }
    }
  }
};
struct member_transpose : exchange {
  struct view {
    std::int64_t members;
    constexpr explicit view(std::int64_t n) : members(n) {}
    constexpr explicit view(int_list a) : members(a[0]) {}
    [[nodiscard]] constexpr attributes make(const placement_info* p) const {
      attributes a;
      a.placement = p;
      a.ints = {members};
      return a;
    }
  };
  static constexpr auto known = rules::known::handed_on;
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) { return jvp(s, ct); }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {emit::first_axes_exchanged(
        s.b, s.b.add1(*s.e.prim, {emit::first_axes_exchanged(s.b, s.operands[0])}, s.e.attrs))};
  }
  static constexpr std::optional<std::int64_t> members(const tape&, const entry& e) { return view(e).members; }
  static void evaluate(evaluation& v) { apply(v.in[0]->members, view(v.e).members, v.out[0]); }
  static void apply(const std::vector<tensor>& from, std::int64_t n, tensor& to) {
    if (from.size() != static_cast<std::size_t>(n))
      throw std::invalid_argument("drx: all_to_all of " + std::to_string(n) + " members, but " +
                                  std::string(to.type.placements[0]->name) + " has " + std::to_string(from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
      tensor y(to.type.of_member());
      const std::size_t row = y.bytes.size() / from.size();
      for (std::size_t j = 0; j < from.size() && row > 0; ++j)
        std::memcpy(y.bytes.data() + j * row, from[j].bytes.data() + i * row, row);
      to.members.push_back(std::move(y));
    }
  }
};
}

namespace prim {
template <class Rules>
constexpr primitive exchange_primitive(const char* name, drx::fold how) {
  return {.name = name,
          .type = Rules::type,
          .jvp = Rules::jvp,
          .vjp = Rules::vjp,
          .batch = Rules::batch,
          .print = Rules::print,
          .evaluate = Rules::evaluate,
          .fold = how,
          .members = Rules::members,
          .known = Rules::known,
          .takes_halves = true};
}
inline constexpr primitive member_permute = exchange_primitive<rules::member_permute>("member_permute", fold::permute);
inline constexpr primitive member_transpose =
    exchange_primitive<rules::member_transpose>("member_transpose", fold::transpose);
}
}

namespace drx {
namespace detail {

constexpr bool uses_axis(const tape& t, const placement_info* axis) {
  return any_entry(t, [=](const entry& e) {
    return (prim::is_collective(e.prim) || e.prim == &prim::axis_index) && e.attrs.placement == axis;
  });
}
constexpr bool has_collective(const tape& t, const placement_info* axis) {
  return any_entry(t, [=](const entry& e) { return prim::is_collective(e.prim) && e.attrs.placement == axis; });
}
constexpr bool has_other_collective(const tape& t, const placement_info* axis) {
  return any_entry(t, [=](const entry& e) { return prim::is_collective(e.prim) && e.attrs.placement != axis; });
}

constexpr bool varies_by_itself(const tape& t, const entry& e, const placement_info* p) {
  if (e.prim == &prim::axis_index) return e.attrs.placement == p;
  if (e.prim == &prim::members) return e.attrs.placement != p;
  for (int r : e.results)
    if (t.values[r].depth > 0) return true;
  for (const tape& r : e.regions)
    for (const entry& inner : r.entries)
      if (varies_by_itself(r, inner, p)) return true;
  return false;
}
constexpr vec<bool> varying_values(const tape& t, const placement_info* p, const vec<bool>& inputs) {
  vec<bool> varies(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) varies[t.inputs[i]] = inputs[i];
  for (const entry& e : t.entries) {
    bool any = varies_by_itself(t, e, p);
    for (int o : e.operands) any = any || varies[o];
    if (prim::is_collective(e.prim) && e.attrs.placement == p) any = prim::is_apart(e.prim);
    if (e.prim == &prim::scan) {
      const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
      vec<bool> in{false};
      for (int o : e.operands) in.push_back(varies[o]);
      vec<bool> out;
      for (bool grown = true; grown;) {
        grown = false;
        const vec<bool> inner = varying_values(e.regions[0], p, in);
        out = vec<bool>();
        for (int o : e.regions[0].outputs)
          out.push_back(inner[o] || (n.guard && in[*n.guard]));
        for (int i = 0; i < n.carries; ++i)
          if (out[i] && !in[1 + n.constants + i]) in[1 + n.constants + i] = grown = true;
      }
      for (int i = 0; i < e.results.size(); ++i)
        varies[e.results[i]] = i < n.carries ? in[1 + n.constants + i] : out[i];
      continue;
    }
    for (const tape& r : e.regions) any = any || uses_axis(r, p);
    for (int r : e.results) varies[r] = any;
  }
  return varies;
}

class member_function {
 public:
  constexpr member_function(builder& on, const placement_info* placement, const tape& body,
                            const placement_info* over = nullptr)
      : b(on), p(placement), axis(over ? over : placement), t(body) {}

  constexpr vec<int> write(const vec<int>& inputs, const vec<bool>& placed_inputs, vec<bool>& placed) {
    varies = varying_values(t, p, placed_inputs);
    level = vec<int>(t.values.size(), 0);
    outer = vec<int>(t.values.size(), -1);
    needed = vec<bool>(t.values.size(), false);
    for (int i = 0; i < t.inputs.size(); ++i) outer[t.inputs[i]] = inputs[i];
    int last = 0;
    for (const entry& e : t.entries) {
      int l = 0;
      for (int o : e.operands) l = level[o] > l ? level[o] : l;
      if (cuts(e)) ++l;
      for (int r : e.results) level[r] = l;
      last = l > last ? l : last;
    }
    for (const entry& e : t.entries)
      for (int o : e.operands)
        if (varies[o] && e.results.size() > 0 && (cuts(e) || level[e.results[0]] > level[o])) needed[o] = true;
    for (int o : t.outputs) needed[o] = needed[o] || varies[o];
    for (int l = 0; l <= last; ++l) {
      for (const entry& e : t.entries)
        if (e.results.size() > 0 && level[e.results[0]] == l) {
          if (!cuts(e) && e.prim == &prim::scan) {
            write_uniform_part(e);
          } else if (cuts(e) || !in_map(e)) {
            write_outside(e);
          }
        }
      write_map(l);
    }
    vec<int> out;
    for (int o : t.outputs) {
      out.push_back(outer[o]);
      placed.push_back(varies[o]);
    }
    return out;
  }

 private:
  builder& b;
  const placement_info* p;
  const placement_info* axis;
  const tape& t;
  vec<bool> varies, needed;
  vec<int> level, outer;

  constexpr bool cuts(const entry& e) const {
    if (prim::is_collective(e.prim)) return e.attrs.placement == axis;
    for (const tape& r : e.regions)
      if (has_collective(r, axis)) return true;
    return false;
  }
  constexpr bool in_map(const entry& e) const {
    for (int r : e.results)
      if (varies[r]) return true;
    return false;
  }
  constexpr int numbers() {
    attributes a;
    a.placement = p;
    return b.add1(prim::member_index, {}, a);
  }
  constexpr int placed(int v) { return varies[v] ? outer[v] : emit::broadcast(b, outer[v], p); }

  constexpr void write_map(int l) {
    vec<int> operands, in(t.values.size(), -1), outputs;
    builder region;
    bool any = false;
    const auto use = [&](int v) {
      if (in[v] >= 0) return;
      operands.push_back(placed(v));
      in[v] = region.input(t.values[v]);
    };
    const auto number = [&] {
      operands.push_back(numbers());
      return region.input(abstract_value(dtype::int64, {}));
    };
    for (const entry& e : t.entries) {
      if (e.results.size() == 0 || level[e.results[0]] != l || cuts(e) || !in_map(e)) continue;
      any = true;
      vec<int> results;
      if (e.prim == &prim::axis_index && e.attrs.placement == p) {
        results.push_back(emit::cast(region, number(), dtype::int32));
      } else {
        for (int o : e.operands) use(o);
        results = region.add(*e.prim, renamed(e.operands, in), e.attrs, e.regions);
      }
      for (int i = 0; i < results.size(); ++i) in[e.results[i]] = results[i];
    }
    if (!any) return;
    for (const entry& e : t.entries)
      for (int r : e.results)
        if (needed[r] && level[r] == l && in[r] >= 0 && outer[r] < 0) {
          outputs.push_back(r);
          region.output(in[r]);
        }
    if (outputs.empty()) return;
    if (operands.empty()) number();
    attributes a;
    a.placement = p;
    const vec<int> all = b.add(prim::map, operands, a, vec<tape>{region.result()});
    for (int i = 0; i < outputs.size(); ++i) outer[outputs[i]] = all[i];
  }

  constexpr void write_outside(const entry& e) {
    vec<int> results;
    if (!cuts(e)) {
      results = b.add(*e.prim, renamed(e.operands, outer), e.attrs, e.regions);
    } else if (prim::is_collective(e.prim)) {
      results.push_back(reduced(e));
    } else if (e.prim == &prim::scan) {
      results = loop(e);
    } else if (e.prim == &prim::cond) {
      results = branch(e);
    } else {
      throw "drx: a collective in a function with a derivative of its own, or over one placement inside of a map over another, which is in a map over the first: take it out";
    }
    for (int i = 0; i < results.size(); ++i) outer[e.results[i]] = results[i];
  }
  constexpr void write_uniform_part(const entry& e) {
    vec<bool> same;
    for (int r : e.results) same.push_back(!varies[r]);
    if (same.find(true) < 0) return;
    entry part = e;
    e.prim->prune(part, same);
    const vec<int> results = b.add(*part.prim, renamed(part.operands, outer), part.attrs, part.regions);
    for (int i = 0; i < results.size(); ++i) outer[part.results[i]] = results[i];
  }
  constexpr int reduced(const entry& e) {
    const int x = e.operands[0], y = outer[x];
    attributes a;
    a.placement = p;
    if (axis != p) {
      const std::int64_t n = prim::rules::all_gather::view(e).members;
      return varies[x] ? emit::shard_gather(b, y, n, p) : emit::repeated(b, y, n);
    }
    if (prim::is_apart(e.prim)) return exchanged(e);
    if (e.prim == &prim::all_gather) {
      const std::int64_t n = prim::rules::all_gather::view(e).members;
      return varies[x] ? emit::gather(b, y, n, p) : emit::repeated(b, y, n);
    }
    if (e.prim == &prim::psum) {
      if (varies[x]) return emit::reduce_sum(b, y, p);
      return emit::mul(b, y, emit::broadcast_to(b, emit::members(b, p, b.type(y).type), b.shape(y)));
    }
    if (e.prim == &prim::first_member)
      return varies[x] ? emit::first_to_attain(b, y, numbers(), p, prim::rules::first_member::view(e).largest)
                       : emit::constant(b, t.values[e.results[0]], 0);
    return varies[x] ? b.add1(e.prim == &prim::pmax ? prim::reduce_max : prim::reduce_min, {y}, a) : y;
  }
  constexpr int exchanged(const entry& e) {
    attributes a = e.attrs;
    if (e.prim == &prim::all_to_all) a = prim::rules::member_transpose::view(t.values[e.operands[0]].shape[0]).make(p);
    return b.add1(e.prim == &prim::all_to_all ? prim::member_transpose : prim::member_permute, {placed(e.operands[0])},
                  a);
  }
  constexpr vec<int> branch(const entry& e) {
    if (varies[e.operands[0]])
      throw "drx: a collective inside of a branch that some members take and others do not: the condition must be the same for all";
    vec<int> operands{outer[e.operands[0]]};
    vec<bool> differs;
    for (int i = 1; i < e.operands.size(); ++i) {
      operands.push_back(outer[e.operands[i]]);
      differs.push_back(varies[e.operands[i]]);
    }
    vec<tape> branches;
    for (const tape& body : e.regions) {
      builder region;
      vec<int> in;
      for (int i = 0; i < differs.size(); ++i) {
        const abstract_value one = body.values[body.inputs[i]];
        in.push_back(region.input(differs[i] ? one.placed_at(p) : one));
      }
      vec<bool> out_placed;
      member_function inner(region, p, body, axis);
      const vec<int> out = inner.write(in, differs, out_placed);
      for (int i = 0; i < out.size(); ++i)
        region.output(varies[e.results[i]] && !out_placed[i] ? emit::broadcast(region, out[i], p) : out[i]);
      branches.push_back(region.result());
    }
    return b.add(prim::cond, operands, {}, branches);
  }
  constexpr vec<int> loop(const entry& e) {
    const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
    const auto guarding = n.guarding_carry();
    if (n.guard && varies[guarding ? e.results[*guarding] : e.operands[*n.guard - 1]])
      throw "drx: a loop with a collective that ends after other numbers of steps for other members";
    const tape& body = e.regions[0];
    vec<int> operands;
    vec<bool> differs{false};
    builder region;
    vec<int> in{region.input(abstract_value(dtype::int32, {}))};
    for (int i = 0; i < e.operands.size(); ++i) {
      const int v = e.operands[i];
      const bool differing = n.is_carry(i) ? varies[e.results[i - n.constants]] : varies[v];
      const abstract_value one = body.values[body.inputs[1 + i]];
      operands.push_back(differing ? placed(v) : outer[v]);
      in.push_back(region.input(differing ? one.placed_at(p) : one));
      differs.push_back(differing);
    }
    vec<bool> out_placed;
    member_function inner(region, p, body, axis);
    const vec<int> out = inner.write(in, differs, out_placed);
    for (int i = 0; i < out.size(); ++i)
      region.output(varies[e.results[i]] && !out_placed[i] ? emit::broadcast(region, out[i], p) : out[i]);
    return b.add(prim::scan, operands, e.attrs, vec<tape>{region.result()});
  }
};

constexpr vec<int> map_with_collectives(builder& b, const placement_info* p, const tape& body,
                                        const vec<int>& operands) {
  vec<bool> all_placed;
  member_function f(b, p, body);
  vec<int> out = f.write(operands, vec<bool>(operands.size(), true), all_placed);
  for (int i = 0; i < out.size(); ++i)
    if (!all_placed[i]) out[i] = emit::broadcast(b, out[i], p);
  return out;
}

}
}

namespace drx {
namespace prim::rules {
struct pooling {
  struct view {
    int axes;
    bool transposed;
    constexpr explicit view(int_list a) : axes(a.number(0)), transposed(a.flag(1)), ints(a) {}
    constexpr std::int64_t window(int i) const { return ints[2 + i]; }
    constexpr std::int64_t stride(int i) const { return ints[2 + axes + i]; }
    constexpr std::int64_t low(int i) const { return ints[2 + 2 * axes + i]; }
    constexpr std::int64_t extent(int i) const { return ints[2 + 3 * axes + i]; }

   private:
    int_list ints;
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const view w(t.attrs);
    shape s = t.operands[0].shape;
    typing::require(s.rank >= w.axes + 1, "pooling: rank");
    typing::require(t.operands[0].type != dtype::boolean, "pooling: of bool");
    for (int i = 0; i < w.axes; ++i) {
      typing::require(w.window(i) >= 1 && w.stride(i) >= 1 && w.extent(i) >= 0, "pooling: windows");
      s[s.rank - 1 - w.axes + i] = w.extent(i);
    }
    return {t.operands[0].with_shape(s)};
  }
  static constexpr attributes turned(const attributes& a, const shape& s) {
    const int axes = view(a).axes;
    attributes r = a;
    r.ints[1] = 1 - a.ints[1];
    for (int i = 0; i < axes; ++i) r.ints[2 + 3 * axes + i] = s[s.rank - 1 - axes + i];
    return r;
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
    return {s.b.add1(*s.e.prim, operands, s.e.attrs)};
  }
  static std::string print(const attributes& a) {
    const view w(a);
    std::string text = w.transposed ? "T" : "";
    for (int i = 0; i < w.axes; ++i)
      text += (i              ? ", "
               : text.empty() ? ""
                              : " ") +
              std::to_string(w.extent(i)) + " of " + std::to_string(w.window(i)) + " every " +
              std::to_string(w.stride(i)) + " from " + std::to_string(-w.low(i));
    return text;
  }
  template <class F>
  static void for_each(const view& w, const shape& in, const shape& out, F f) {
    shape outputs, inputs, windows;
    std::int64_t leading = 1;
    for (int i = 0; i < in.rank - 1 - w.axes; ++i) leading *= in[i];
    for (int i = 0; i < w.axes; ++i) {
      inputs.push_back(in[in.rank - 1 - w.axes + i]);
      outputs.push_back(out[out.rank - 1 - w.axes + i]);
      windows.push_back(w.window(i));
    }
    const auto channels = in.last();
    for (std::int64_t n = 0; n < leading; ++n)
      for_each_index(outputs, [&](const std::int64_t* o) {
        std::int32_t position = -1;
        for_each_index(windows, [&](const std::int64_t* k) {
          ++position;
          std::int64_t at[shape::max_rank] = {};
          for (int i = 0; i < w.axes; ++i) {
            at[i] = o[i] * w.stride(i) + k[i] - w.low(i);
            if (at[i] < 0 || at[i] >= inputs[i]) return;
          }
          for (std::int64_t c = 0; c < channels; ++c)
            f((n * inputs.size() + flat_index(inputs, at)) * channels + c,
              (n * outputs.size() + flat_index(outputs, o)) * channels + c, position);
        });
      });
  }
};

struct window_sum : pooling {
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {s.b.add1(*s.e.prim, {ct[0]}, turned(s.e.attrs, s.b.shape(s.operands[0])))};
  }
  static void evaluate(evaluation& v) {
    const view w(v.e);
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each(w, w.transposed ? to : from, w.transposed ? from : to, [&](auto i, auto o, std::int32_t) {
        T& sum = v.out[0].data<T>()[w.transposed ? i : o];
        sum = wrapping_sum(sum, v.in[0]->data<T>()[w.transposed ? o : i]);
      });
    });
  }
};

struct window_argmax : pooling {
  static constexpr vec<abstract_value> type(const typing& t) { return {pooling::type(t)[0].with_type(dtype::int32)}; }
  static constexpr vec<int> jvp(const rule_site&, const vec<int>&) { return {zero_tangent}; }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    return operands[0].shape.last() * byte_size(operands[0].type);
  }
  static void evaluate(evaluation& v) {
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    std::int32_t* winner = v.out[0].data<std::int32_t>();
    for (std::int64_t o = 0; o < v.out[0].size(); ++o) winner[o] = -1;
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      std::vector<T> best(static_cast<std::size_t>(v.out[0].size()));
      for_each(view(v.e), from, to, [&](auto i, auto o, std::int32_t position) {
        const T x = v.in[0]->data<T>()[i], y = best[static_cast<std::size_t>(o)];
        if (winner[o] >= 0 && !(x > y) && (x == x || y != y)) return;
        winner[o] = position;
        best[static_cast<std::size_t>(o)] = x;
      });
    });
  }
};

struct window_select
    : pooling {
  static constexpr vec<abstract_value> type(const typing& t) {
    const vec<abstract_value> r = pooling::type(t);
    typing::require(t.operands[1].type == dtype::int32 &&
                        t.operands[1].shape == (view(t.attrs).transposed ? t.operands[0] : r[0]).shape,
                    "window_select: not a position for each window");
    return r;
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0], s.operands[1]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (ct[0] == zero_tangent || !wanted[0]) return {zero_tangent, zero_tangent};
    return {s.b.add1(*s.e.prim, {ct[0], s.operands[1]}, turned(s.e.attrs, s.b.shape(s.operands[0]))), zero_tangent};
  }
  static void evaluate(evaluation& v) {
    const view w(v.e);
    const shape from = v.in[0]->type.shape, to = v.out[0].type.shape;
    const std::int32_t* winner = v.in[1]->data<std::int32_t>();
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for_each(w, w.transposed ? to : from, w.transposed ? from : to, [&](auto i, auto o, std::int32_t position) {
        if (winner[o] != position) return;
        T& sum = v.out[0].data<T>()[w.transposed ? i : o];
        sum = wrapping_sum(sum, v.in[0]->data<T>()[w.transposed ? o : i]);
      });
    });
  }
};

struct window_max : pooling {
  template <class T>
  static constexpr T least() {
    return least_number<T>();
  }
  static constexpr int selected(const rule_site& s, int t, bool transposed);
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : selected(s, t[0], false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    return {ct[0] == zero_tangent ? zero_tangent : selected(s, ct[0], true)};
  }
  static void evaluate(evaluation& v) {
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      T* best = v.out[0].data<T>();
      for (std::int64_t o = 0; o < v.out[0].size(); ++o) best[o] = least<T>();
      for_each(view(v.e), v.in[0]->type.shape, v.out[0].type.shape, [&](auto i, auto o, std::int32_t) {
        const T x = v.in[0]->data<T>()[i];
        if (x > best[o] || x != x) best[o] = x;
      });
    });
  }
};
constexpr vec<int> pooling_in_lanes(const lane_site& l) {
  if (l.operands.size() != 1) return {};
  shape s = l.b.shape(l.operands[0]);
  s = without_axis(s, s.rank - 1);
  s[s.rank - 1] *= l.n;
  const int all = l.same_on({emit::reshape(l.b, l.operands[0], s)})[0];
  shape to = l.b.shape(all);
  to[to.rank - 1] /= l.n;
  return {emit::reshape(l.b, all, with_last(to, l.n))};
}
}

namespace prim {
inline constexpr primitive window_sum{.name = "window_sum",
                                      .type = rules::pooling::type,
                                      .jvp = rules::broadcast_to::jvp,
                                      .vjp = rules::window_sum::vjp,
                                      .batch = rules::pooling::batch,
                                      .print = rules::pooling::print,
                                      .evaluate = rules::window_sum::evaluate,
                                      .known = rules::known::sums,
                                      .lanes = rules::pooling_in_lanes,
                                      .split = rules::split::whole};
inline constexpr primitive window_argmax{.name = "window_argmax",
                                         .type = rules::window_argmax::type,
                                         .jvp = rules::window_argmax::jvp,
                                         .vjp = rules::window_argmax::vjp,
                                         .batch = rules::pooling::batch,
                                         .print = rules::pooling::print,
                                         .evaluate = rules::window_argmax::evaluate,
                                         .known = rules::known::nothing,
                                         .split = rules::split::whole,
                                         .scratch = rules::window_argmax::scratch};
inline constexpr primitive window_select{.name = "window_select",
                                         .type = rules::window_select::type,
                                         .jvp = rules::window_select::jvp,
                                         .vjp = rules::window_select::vjp,
                                         .batch = rules::pooling::batch,
                                         .print = rules::pooling::print,
                                         .evaluate = rules::window_select::evaluate,
                                         .known = rules::known::sums,
                                         .split = rules::split::whole};
inline constexpr primitive window_max{.name = "window_max",
                                      .type = rules::pooling::type,
                                      .jvp = rules::window_max::jvp,
                                      .vjp = rules::window_max::vjp,
                                      .batch = rules::pooling::batch,
                                      .print = rules::pooling::print,
                                      .evaluate = rules::window_max::evaluate,
                                      .known = rules::known::nothing,
                                      .lanes = rules::pooling_in_lanes,
                                      .split = rules::split::whole};
constexpr int rules::window_max::selected(const rule_site& s, int t, bool transposed) {
  const int winners = s.b.add1(prim::window_argmax, {s.operands[0]}, s.e.attrs);
  if (transposed) return s.b.add1(prim::window_select, {t, winners}, turned(s.e.attrs, s.b.shape(s.operands[0])));
  return s.b.add1(prim::window_select, {t, winners}, s.e.attrs);
}
}
namespace emit {
constexpr int window_sum(builder& b, int x, const vec<std::int64_t>& ints) {
  attributes a;
  a.ints = ints;
  return b.add1(prim::window_sum, {x}, a);
}
constexpr int window_max(builder& b, int x, const vec<std::int64_t>& ints) {
  attributes a;
  a.ints = ints;
  return b.add1(prim::window_max, {x}, a);
}
}

namespace detail {
template <class A, class... O>
struct pooled {
  static constexpr auto extents = windows<0, O...>::template option<window>();
  static constexpr int D = extents.given;
  using moves = windows<D, O...>;
  static constexpr auto misuse() {
    if constexpr (Placed<A>) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (!Array<A>) {
      return error::not_a_value_of_drx{};
    } else if constexpr (std::is_same_v<typename A::value_type, bool>) {
      return error::needs_numbers{};
    } else if constexpr (D == 0 || !moves::complete || moves::kernel_dilation.given != 0 ||
                         moves::input_dilation.given != 0) {
      return error::options_do_not_fit_the_spatial_axes{};
    } else if constexpr (A::rank < D + 1) {
      return error::wrong_rank{};
    } else if constexpr (!fits()) {
      return error::window_exceeds_the_padded_input{};
    } else {
      return no_misuse{};
    }
  }
  static constexpr std::int64_t size(int i) { return A::shape[A::rank - 1 - D + i]; }
  static constexpr std::int64_t stride(int i) {
    return moves::stride.given != 0 ? moves::stride.values[i] : extents.values[i];
  }
  static constexpr std::int64_t padding(int i) {
    const std::int64_t n = (size(i) + stride(i) - 1) / stride(i) * stride(i) - stride(i) + extents.values[i] - size(i);
    return moves::is_same ? (n > 0 ? n : 0) : moves::given_padding.low[i] + moves::given_padding.high[i];
  }
  static constexpr std::int64_t low(int i) { return moves::is_same ? padding(i) / 2 : moves::given_padding.low[i]; }
  static constexpr std::int64_t count(int i) {
    const std::int64_t room = size(i) + padding(i) - extents.values[i];
    return room < 0 ? -1 : room / stride(i) + 1;
  }
  static constexpr bool fits() {
    for (int i = 0; i < D; ++i)
      if (count(i) < 0) return false;
    return true;
  }
  static constexpr shape value_of() {
    shape s = A::shape;
    for (int i = 0; i < D; ++i) s[s.rank - 1 - D + i] = count(i);
    return s;
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return value_of();
    } else {
      return shape{};
    }
  }();
  static constexpr vec<std::int64_t> ints() {
    vec<std::int64_t> v{D, 0};
    for (int i = 0; i < D; ++i) v.push_back(extents.values[i]);
    for (int i = 0; i < D; ++i) v.push_back(stride(i));
    for (int i = 0; i < D; ++i) v.push_back(low(i));
    for (int i = 0; i < D; ++i) v.push_back(count(i));
    return v;
  }
  static constexpr double elements() {
    double n = 1;
    for (int i = 0; i < D; ++i) n *= static_cast<double>(extents.values[i]);
    return n;
  }
};
template <class A, class... O>
concept Poolable = std::is_same_v<decltype(pooled<A, O...>::misuse()), no_misuse>;
template <class A, class... O>
concept NotPoolable = (Array<A> || Placed<A>) && !Poolable<A, O...>;
}

template <class... Options, class A>
  requires((detail::is_window_option<Options> && ...) && detail::Poolable<A, Options...>)
constexpr auto max_pool(const A& x) {
  using P = detail::pooled<A, Options...>;
  return detail::unary<array_of<typename A::value_type, P>>(
      x, [](builder& b, int id) { return emit::window_max(b, id, P::ints()); });
}
template <class... Options, class A>
  requires((detail::is_window_option<Options> && ...) && detail::Poolable<A, Options...> && FloatingArray<A>)
constexpr auto avg_pool(const A& x) {
  using P = detail::pooled<A, Options...>;
  using T = typename A::value_type;
  return detail::unary<array_of<T, P>>(x, [](builder& b, int id) { return emit::window_sum(b, id, P::ints()); }) *
         static_cast<T>(1 / P::elements());
}
template <class... Options, class A, class Why = decltype(detail::pooled<A, Options...>::misuse())>
  requires((detail::is_window_option<Options> && ...) && detail::NotPoolable<A, Options...>)
Why max_pool(const A&) = delete;  // drx: max_pool<window<...>>(x), x {..., spatial axes..., channels} no smaller than the window; one number per spatial axis in each option; of a placed value in a map
template <class... Options, class A,
          class Why = std::conditional_t<detail::Poolable<A, Options...>, error::needs_floating_values,
                                         decltype(detail::pooled<A, Options...>::misuse())>>
  requires((detail::is_window_option<Options> && ...) &&
           (detail::NotPoolable<A, Options...> || (detail::Poolable<A, Options...> && !FloatingArray<A>)))
Why avg_pool(const A&) = delete;  // drx: avg_pool<window<...>>(x), x {..., spatial axes..., channels} of float or double, no smaller than the window; one number per spatial axis in each option; of a placed value in a map

DRX_SILENT_OF_TYPES(avg_pool)
DRX_SILENT_OF_TYPES(max_pool)

}

namespace drx {
namespace prim::rules {
struct prod : over_axes {
  static constexpr auto known = rules::known::products;
  static constexpr int others(builder& b, int x, const vec<std::int64_t>& axes) {
    const shape from = b.shape(x);
    vec<std::int64_t> order;
    for (int i = 0; i < from.rank; ++i)
      if (axes.find(i) < 0) order.push_back(i);
    order.append(axes);
    vec<std::int64_t> inverse(from.rank, 0);
    for (int i = 0; i < from.rank; ++i) inverse[static_cast<int>(order[i])] = i;
    const int turned = emit::transpose(b, x, order);
    const shape wide = b.shape(turned);
    shape rows = reduced(from, axes);
    std::int64_t factors = 1;
    for (auto axis : axes) factors *= from[static_cast<int>(axis)];
    const int last = rows.rank;
    rows.push_back(factors);
    const int row = emit::reshape(b, turned, rows);
    const int before = along_axis::previous(b, emit::cumprod(b, row, last, false), last, false, 1);
    const int behind = along_axis::previous(b, emit::cumprod(b, row, last, true), last, true, 1);
    return emit::transpose(b, emit::reshape(b, emit::times(b, before, behind), wide), inverse);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent};
    const vec<std::int64_t> axes = view(s.e).axes;
    return {emit::sum(s.b, emit::times(s.b, t[0], others(s.b, s.operands[0], axes)), axes)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    const vec<std::int64_t> axes = view(s.e).axes;
    const int factor = others(s.b, s.operands[0], axes);
    return {emit::times(s.b, spread(s.b, ct[0], s.b.shape(s.operands[0]), axes), factor)};
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    const int n = view(a).axes.size();
    if (n == 0) return o[0];
    int first = n - 1;
    while (first > 0 && view(a).axes[first - 1] + 1 == view(a).axes[first]) --first;
    if (first == 0) return -1;
    const int_list axes = view(a).axes;
    return emit::over_axes(b, *prim_ptr(), emit::over_axes(b, *prim_ptr(), o[0], axes.from(first)),
                           axes.part(0, first));
  }
  static constexpr const primitive* prim_ptr();
  static void evaluate(evaluation& v) {
    visit_dtype(v.out[0].type.type, [&]<class T>(T) {
      for (std::int64_t i = 0; i < v.out[0].size(); ++i) v.out[0].data<T>()[i] = static_cast<T>(1);
    });
    fold(v, [](auto a, auto b) { return wrapping_product(a, b); }, true);
  }
};
}
namespace prim {
inline constexpr primitive prod = reduction_primitive<rules::prod>("prod");
constexpr const primitive* rules::prod::prim_ptr() { return &prim::prod; }
}

template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto prod(const A& x) { return detail::reduce_axes<A, Axes...>(prim::prod, x); }
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why prod(const A&) = delete;  // drx: prod<axes...>(array of numbers); of a placed value in a map

DRX_SILENT(prod)

}

namespace drx {
namespace prim::rules {
struct qr {
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = t.operands[0];
    const int r = a.shape.rank;
    typing::require(is_floating(a.type), "qr: of numbers that are not floating");
    typing::require(r >= 2 && a.shape[r - 2] >= a.shape[r - 1], "qr: not matrices of at least as many rows as columns");
    shape square = a.shape;
    square[r - 2] = a.shape[r - 1];
    return {a, a.with_shape(square)};
  }
  static constexpr int times_inverse(const rule_site& s, int x, bool transposed) {
    return emit::triangular_solve(s.b, s.results[1], x, true, false, transposed, false);
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent, zero_tangent};
    const int q = s.results[0], r = s.results[1];
    const int x = times_inverse(s, t[0], false), inside = emit::matmul(s.b, q, x, true, false);
    const int below = emit::triangle(s.b, inside, true, true);
    const int upper = emit::sub(s.b, inside, emit::sub(s.b, below, emit::swap_last_two(s.b, below)));
    return {emit::sub(s.b, x, emit::matmul(s.b, q, upper, false, false)), emit::matmul(s.b, upper, r, false, false)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent && ct[1] == zero_tangent) return {zero_tangent};
    const int q = s.results[0], r = s.results[1];
    int m = zero_tangent;
    if (ct[1] != zero_tangent) m = emit::matmul(s.b, r, ct[1], false, true);
    if (ct[0] != zero_tangent) {
      const int turned = emit::matmul(s.b, ct[0], q, true, false);
      m = m == zero_tangent ? emit::neg(s.b, turned) : emit::sub(s.b, m, turned);
    }
    const int below = emit::triangle(s.b, m, true, true);
    const int strictly_below = emit::triangle(s.b, m, true, false);
    const int mirrored = emit::add(s.b, strictly_below, emit::swap_last_two(s.b, below));
    return {times_inverse(s, emit::accumulate(s.b, ct[0], emit::matmul(s.b, q, mirrored, false, false)), true)};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t n = x.shape.last();
    return 2 * n * byte_size(x.type);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.in[0]->type.shape;
    const auto m = s[s.rank - 2], n = s.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        std::vector<T> scratch(static_cast<std::size_t>(2 * n));
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          decompose::qr(m, n, v.in[0]->data<T>() + b * m * n, v.out[0].data<T>() + b * m * n,
                        v.out[1].data<T>() + b * n * n, scratch.data());
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive qr{.name = "qr",
                              .type = rules::qr::type,
                              .jvp = rules::qr::jvp,
                              .vjp = rules::qr::vjp,
                              .batch = rules::square_matrix::batch,
                              .evaluate = rules::qr::evaluate,
                              .known = rules::known::nothing,
                              .split = rules::split::along_matrices,
                              .scratch = rules::qr::scratch};
}

namespace detail {
template <class A>
constexpr auto tall_matrix_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Array<A>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (A::rank < 2) {
    return error::wrong_rank{};
  } else if constexpr (A::shape[A::rank - 2] < A::shape[A::rank - 1]) {
    return error::matrix_has_more_columns_than_rows{};
  } else {
    return no_misuse{};
  }
}
template <class A>
concept TallMatrix = std::is_same_v<decltype(tall_matrix_misuse<A>()), no_misuse>;
template <class A>
struct columns_squared {
  static constexpr shape value = [] {
    shape s = A::shape;
    s[A::rank - 2] = s[A::rank - 1];
    return s;
  }();
};
}

template <class A>
  requires detail::TallMatrix<A>
constexpr auto qr(const A& a) {
  using R = array_of<typename A::value_type, detail::columns_squared<A>>;
  tracing_builder& b = detail::tape_of(detail::ref_of(a));
  const vec<int> ids = b.add(prim::qr, vec<int>{detail::id_on(b, a)});
  return std::pair{A(detail::at(b, ids[0])), R(detail::at(b, ids[1]))};
}
template <class A, class Why = decltype(detail::tall_matrix_misuse<A>())>
  requires((Array<A> || Placed<A>) && !detail::TallMatrix<A>)
std::pair<Why, Why> qr(const A&) = delete;  // drx: of matrices of float or double, the last two axes, with at least as many rows as columns; of a placed value in a map

DRX_SILENT(qr)

}

namespace drx {
namespace prim::rules {
struct reduce_with {
  static constexpr vec<abstract_value> type(const typing& t) {
    vec<abstract_value> r;
    for (const auto& x : t.operands) {
      typing::require(x.depth == 1 && x.placements[0] == t.attrs.placement,
                      "reduce_with: an operand is not placed there");
      r.push_back(x.of_member());
    }
    vec<abstract_value> pair = r;
    pair.append(r);
    typing::require(t.regions[0].types_of(t.regions[0].inputs) == pair, "reduce_with: combine takes other types");
    typing::require(t.regions[0].types_of(t.regions[0].outputs) == r, "reduce_with: combine gives another type");
    typing::require(t.regions[1].types_of(t.regions[1].outputs) == r, "reduce_with: identity is of another type");
    return r;
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    const tape& combine = s.e.regions[0];
    const int n = s.operands.size();
    vec<bool> floating, moving;
    vec<int> operands = s.operands;
    for (int i = 0; i < n; ++i) {
      floating.push_back(is_floating(s.b.type(s.operands[i]).type));
      if (floating[i]) operands.push_back(emit::instantiate_zeros(s.b, tangents[i], s.operands[i]));
    }
    moving.append(floating);
    moving.append(floating);
    const int pairs = operands.size();

    builder both;
    vec<int> in;
    for (int i = 0; i < 2 * pairs; ++i) in.push_back(both.input(s.b.type(operands[i % pairs]).of_member()));
    vec<int> order;
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < n; ++i) order.push_back(in[side * pairs + i]);
    for (int side = 0; side < 2; ++side)
      for (int i = n; i < pairs; ++i) order.push_back(in[side * pairs + i]);
    for (int o : inline_tape(both, s.drivers.jvp(combine, moving), order)) both.output(o);

    builder start;
    const vec<int> identity = inline_tape(start, s.e.regions[1], {});
    for (int o : identity) start.output(o);
    for (int i = 0; i < n; ++i)
      if (floating[i]) start.output(emit::zeros_like(start, identity[i]));

    vec<tape> regions{both.result(), start.result()};
    if (s.e.regions.size() > 2) regions.append(s.e.regions);
    const vec<int> all = s.b.add(*s.e.prim, operands, s.e.attrs, regions);
    vec<int> r;
    int next = n;
    for (int i = 0; i < n; ++i) r.push_back(floating[i] ? all[next++] : zero_tangent);
    return r;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    if (s.e.regions.size() < 3)
      throw "drx: reduce_with: this monoid has no reverse derivative: give drx::monoid its pull, or stop the gradient";
    const placement_info* p = s.e.attrs.placement;
    vec<int> operands = s.operands;
    if (s.e.regions.size() > 3) {
      vec<bool> given;
      for (int t : ct) {
        given.push_back(t != zero_tangent);
        if (given.back()) operands.push_back(t);
      }
      vec<abstract_value> types;
      for (int o : s.operands) types.push_back(s.b.type(o));
      const tape back = s.drivers.vjp(as_sums(s, s.e.regions, types), wanted, given);
      const vec<int> all = inline_tape(s.b, back, operands);
      vec<int> r;
      int next = 0;
      for (int i = 0; i < s.operands.size(); ++i) r.push_back(wanted[i] ? all[next++] : zero_tangent);
      return r;
    }
    for (int y : s.results) operands.push_back(emit::broadcast(s.b, y, p));
    for (int i = 0; i < ct.size(); ++i)
      operands.push_back(emit::broadcast(s.b, emit::instantiate_zeros(s.b, ct[i], s.results[i]), p));
    return emit::map(s.b, p, operands,
                     [&](builder& b, const vec<int>& in) { return inline_tape(b, s.e.regions[2], in); });
  }
  static constexpr tape as_sums(const rule_site& s, const vec<tape>& regions, const vec<abstract_value>& types) {
    const placement_info* p = s.e.attrs.placement;
    builder b;
    vec<int> in;
    for (const auto& t : types) in.push_back(b.input(t));
    if (regions.size() == 3) {
      for (int y : b.add(*s.e.prim, in, s.e.attrs, regions)) b.output(y);
      return b.result();
    }
    vec<tape> former;
    for (int i = 2; i < regions.size(); ++i) former.push_back(regions[i]);
    const int n = types.size() / 2;
    vec<abstract_value> halves;
    for (int i = 0; i < n; ++i) halves.push_back(types[i]);
    const tape primal = as_sums(s, former, halves);
    if (former.size() > 3) return s.drivers.jvp(primal, vec<bool>(n, true));
    vec<int> values, operands;
    for (int i = 0; i < n; ++i) values.push_back(in[i]);
    const vec<int> y = inline_tape(b, primal, values);
    operands = values;
    for (int v : y) operands.push_back(emit::broadcast(b, v, p));
    for (int i = n; i < 2 * n; ++i) operands.push_back(in[i]);
    vec<bool> only_cotangents(3 * n, false);
    for (int i = 2 * n; i < 3 * n; ++i) only_cotangents[i] = true;
    const tape push = s.drivers.vjp(former[2], only_cotangents, vec<bool>(n, true));
    const vec<int> terms = emit::map(b, p, operands, [&](builder& body, const vec<int>& x) {
      vec<int> at;
      for (int i = 0; i < 2 * n; ++i) at.push_back(x[i]);
      for (int i = 0; i < n; ++i) at.push_back(emit::zeros_like(body, x[n + i]));
      for (int i = 2 * n; i < 3 * n; ++i) at.push_back(x[i]);
      return inline_tape(body, push, at);
    });
    for (int v : y) b.output(v);
    for (int t : terms) b.output(emit::reduce_sum(b, t, p));
    return b.result();
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    vec<int> operands = s.operands;
    for (int i = 0; i < operands.size(); ++i)
      if (!batched[i])
        operands[i] = emit::map(s.b, s.e.attrs.placement, {operands[i]}, [&](builder& b, const vec<int>& in) {
          return vec<int>{emit::repeated(b, in[0], n)};
        })[0];
    vec<tape> regions;
    for (const tape& r : s.e.regions) regions.push_back(s.drivers.batch(r, vec<bool>(r.inputs.size(), true), n));
    return s.b.add(*s.e.prim, operands, s.e.attrs, regions);
  }
  static constexpr known_values known_inside(const known_site& s, int region) {
    if (region != 0) return {};
    known_values one = s.outputs(s.e.regions[1], {});
    for (int i = 0; i < one.size(); ++i) one[i] = either(one[i], s.operands[i]);
    known_values inputs;
    for (bool changed = true; changed;) {
      changed = false;
      inputs = one;
      inputs.append(one);
      const known_values after = s.outputs(s.e.regions[0], inputs);
      for (int i = 0; i < one.size(); ++i) {
        const known_value both = either(one[i], after[i]);
        changed = changed || !(both == one[i]);
        one[i] = both;
      }
    }
    return inputs;
  }
  static constexpr known_values known(const known_site& s) {
    const known_values inside = known_inside(s, 0);
    known_values r = s.outputs(s.e.regions[0], inside);
    for (int i = 0; i < r.size(); ++i) r[i] = either(r[i], inside[i]);
    return r;
  }
  static void evaluate(evaluation& v) {
    std::vector<tensor> state = v.run(v.e.regions[1], {});
    for (std::size_t m = 0; m < v.in[0]->members.size(); ++m) {
      for (const tensor* x : v.in) state.push_back(x->members[m]);
      state = v.run(v.e.regions[0], std::move(state));
    }
    v.out = std::move(state);
  }
};
}

namespace prim {
inline constexpr primitive reduce_with{.name = "reduce_with",
                                       .type = rules::reduce_with::type,
                                       .jvp = rules::reduce_with::jvp,
                                       .vjp = rules::reduce_with::vjp,
                                       .batch = rules::reduce_with::batch,
                                       .print = rules::broadcast::print,
                                       .evaluate = rules::reduce_with::evaluate,
                                       .fold = fold::monoid,
                                       .known = rules::reduce_with::known,
                                       .known_inside = rules::reduce_with::known_inside};
}

namespace emit {
constexpr int first_to_attain(builder& b, int x, int number, const placement_info* p, bool maximum) {
  const vec<int> pairs = emit::map(b, p, {x, number}, [](builder& body, const vec<int>& in) {
    return vec<int>{body.add1(prim::stop_gradient, {in[0]}), broadcast_to(body, in[1], body.shape(in[0]))};
  });
  const abstract_value value = b.type(pairs[0]).of_member(), position = b.type(pairs[1]).of_member();
  builder combine, identity;
  vec<int> in;
  for (int side = 0; side < 2; ++side)
    for (const abstract_value& t : {value, position}) in.push_back(combine.input(t));
  const int second = maximum ? less(combine, in[0], in[2]) : less(combine, in[2], in[0]);
  for (int i = 0; i < 2; ++i) combine.output(where(combine, second, in[2 + i], in[i]));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  identity.output(constant(identity, value, maximum ? -infinity : infinity));
  identity.output(constant(identity, position, -1));
  attributes a;
  a.placement = p;
  return b.add(prim::reduce_with, {pairs[0], pairs[1]}, a, vec<tape>{combine.result(), identity.result()})[1];
}
}

namespace detail {
struct no_pull {};
constexpr void mark_products(tape& rule, int count);
}

template <class Combine, class Identity, class Pull = detail::no_pull>
struct monoid {
  Combine combine;
  Identity identity;
  Pull pull = {};
};
template <class Combine, class Identity>
monoid(Combine, Identity) -> monoid<Combine, Identity>;
template <class Combine, class Identity, class Pull>
monoid(Combine, Identity, Pull) -> monoid<Combine, Identity, Pull>;

namespace detail {
template <class R, class M>
inline constexpr bool returns = false;
template <Structured R, Structured M>
inline constexpr bool returns<R, M> = error::Reported<R> || std::is_same_v<canonical_t<R>, canonical_t<M>>;

template <class M, class Identity>
constexpr auto identity_misuse() {
  if constexpr (Literal<Identity>) {
    return std::conditional_t<number_fits<M, Identity, true>, no_misuse,
                              error::a_literal_does_not_fit_the_element_type>{};
  } else {
    return std::conditional_t<returns<call_result_t<Identity>, M>, no_misuse, error::structures_differ>{};
  }
}
template <class X, class Combine, class Identity, class Pull>
constexpr auto monoid_misuse() {
  if constexpr (!Placed<X>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (!all_unplaced<typename X::member>) {
    return error::array_operation_on_a_placed_value{};
  } else {
    using M = typename X::member;
    using T = traced_t<M>;
    if constexpr (!returns<call_result_t<Combine, T, T>, M>) {
      return error::structures_differ{};
    } else if constexpr (!std::is_same_v<decltype(identity_misuse<M, Identity>()), no_misuse>) {
      return identity_misuse<M, Identity>();
    } else if constexpr (std::is_same_v<Pull, no_pull>) {
      return no_misuse{};
    } else if constexpr (!all_floating<M>) {
      return error::needs_floating_values{};
    } else {
      return std::conditional_t<returns<call_result_t<Pull, T, T, T>, M>, no_misuse, error::structures_differ>{};
    }
  }
}
template <class X, class... Parts>
concept ReducibleWith = std::is_same_v<decltype(monoid_misuse<X, Parts...>()), no_misuse>;
}

template <class Combine, class Identity, class Pull, class X>
  requires detail::ReducibleWith<X, Combine, Identity, Pull>
constexpr auto reduce_with(const monoid<Combine, Identity, Pull>& m, const X& x) {
  using M = typename X::member;
  const detail::leaf_refs<X> refs(x);
  tracing_builder& b = detail::common_tape(refs);
  auto closed = [](const vec<traced_ref>& captures) {
    if (!captures.empty()) throw "drx: reduce_with: a monoid may not use traced values besides its arguments";
  };
  vec<tape> regions;
  const auto combine = detail::trace_region(&b, m.combine, std::type_identity<M>{}, std::type_identity<M>{});
  closed(combine.captures);
  regions.push_back(combine.body);
  tracing_builder identity(b.context());
  if constexpr (detail::Literal<Identity>) {
    constexpr leaf_types<M> types;
    for (int i = 0; i < leaf_count<M>; ++i)
      identity.output(emit::constant(identity, types[i], static_cast<double>(m.identity)));
  } else {
    const auto value = m.identity();
    for (int id : detail::leaf_refs<std::remove_const_t<decltype(value)>>(value).on(identity)) identity.output(id);
  }
  closed(identity.captures());
  regions.push_back(identity.result());
  if constexpr (!std::is_same_v<Pull, detail::no_pull>) {
    const auto pull =
        detail::trace_region(&b, m.pull, std::type_identity<M>{}, std::type_identity<M>{}, std::type_identity<M>{});
    closed(pull.captures);
    regions.push_back(pull.body);
    detail::mark_products(regions.back(), leaf_count<M>);
  }
  attributes a;
  a.placement = &placement_of<typename X::placement>;
  return detail::bound<M>(b, b.add(prim::reduce_with, refs.on(b), a, regions));
}
template <class Combine, class Identity, class Pull, class X,
          class Why = decltype(detail::monoid_misuse<X, Combine, Identity, Pull>())>
  requires(Structured<X> && !error::Reported<X> && !detail::ReducibleWith<X, Combine, Identity, Pull>)
Why reduce_with(const monoid<Combine, Identity, Pull>&, const X&) = delete;  // drx: reduce_with(monoid, placed): combine(a, b), identity and pull(x, y, ct) are of the members' own type

DRX_SILENT(reduce_with)

}

namespace drx {
namespace prim {
namespace rows {
struct remainder : same_type, on_numbers, singular_value {
  static constexpr const char* name = "rem";
  static constexpr int arity = 2;
  template <class T>
  DRX_FN static T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      return y == 0 ? x : y == T(-1) ? T(0) : x % y;
    } else {
      return math::fmod(x, y);
    }
  }
  template <class T>
  static T reference(T x, T y) {
    return apply(x, y);
  }
  static constexpr int partial(builder& b, const rule_site& s, int i, int t) {
    if (i == 0) return t;
    const int whole =
        emit::sub(b, s.operands[0], s.results[0]);
    return emit::neg(b, emit::azmul(b, t, b.add1(prim::round, {emit::div(b, whole, s.operands[1])})));
  }
};
}
inline constexpr primitive remainder = elementwise_primitive<rows::remainder>();
template <>
struct row_of<&remainder> : rows::remainder {};
}

namespace detail {
template <class A, class B>
struct is_number_pair : std::false_type {};
template <class A, class B>
  requires Compatible<A, B>
struct is_number_pair<A, B> : std::bool_constant<!std::is_same_v<common_element<A, B>, bool>> {};
template <class A, class B>
concept NumberPair = is_number_pair<A, B>::value;
template <class A, class B>
concept NoNumberPair = ArrayPair<A, B> && !NumberPair<A, B>;
template <class A, class B>
using not_number_pair_t = std::conditional_t<Compatible<A, B>, error::needs_numbers, mismatch_t<A, B>>;
}

template <class A, class B> requires detail::NumberPair<A, B>
constexpr auto operator%(const A& a, const B& b) { return detail::binary(prim::remainder, a, b); }
template <class A, class B> requires detail::NumberPair<A, B>
constexpr auto mod(const A& a, const B& b) {
  const auto r = a % b;
  return where(r != 0 && (r < 0) != (b < 0), r + b, r);
}

template <class A, class B, class Why = detail::not_number_pair_t<A, B>> requires detail::NoNumberPair<A, B>
Why operator%(const A&, const B&) = delete;  // drx: of numbers of one element type: cast<T>(x); shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::not_number_pair_t<A, B>> requires detail::NoNumberPair<A, B>
Why mod(const A&, const B&) = delete;  // drx: of numbers of one element type: cast<T>(x); shapes with reshape or broadcast_to
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why operator%(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return a % b; }, x, y); of a structure leaf by leaf: tree_map
template <class A, class B, class Why = detail::no_array_t<A, B>> requires detail::NoArrays<A, B>
Why mod(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::mod(a, b); }, x, y); of a structure leaf by leaf: tree_map

DRX_SILENT(mod)

}

namespace drx {
namespace prim::rules {
struct roll {
  struct view {
    int axis;
    std::int64_t places;
    constexpr view(int along, std::int64_t by) : axis(along), places(by) {}
    constexpr explicit view(int_list a) : view(a.number(0), a[1]) {}
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {axis, places};
      return a;
    }
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const shape& s = t.operands[0].shape;
    const auto [axis, places] = view(t.attrs);
    typing::require(axis >= 0 && axis < s.rank, "roll: no such axis");
    typing::require(places >= 0 && (places == 0 || places < s[axis]), "roll: more places than elements");
    return {t.operands[0]};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) {
    if (ct[0] == zero_tangent) return {zero_tangent};
    return {written(s.b, *s.e.prim, ct[0], view(s.e).axis, -view(s.e).places)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {written(s.b, *s.e.prim, s.operands[0], view(s.e).axis + 1, view(s.e).places)};
  }
  static constexpr int written(builder& b, const primitive& p, int x, int axis, std::int64_t places) {
    const std::int64_t n = b.shape(x)[axis];
    return b.add1(p, {x}, view(axis, n == 0 ? 0 : (places % n + n) % n).make());
  }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes& a) {
    double x = 0;
    return view(a).places == 0 || emit::is_constant(b, o[0], x) ? o[0] : -1;
  }
  static std::string print(const attributes& a) {
    return "axis=" + std::to_string(view(a).axis) + " by " + std::to_string(view(a).places);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.out[0].type.shape;
    const auto width = static_cast<std::size_t>(byte_size(v.out[0].type.type));
    const view by(v.e);
    std::size_t i = 0;
    for_each_index(s, [&](const std::int64_t* at) {
      std::int64_t source[shape::max_rank] = {};
      for (int k = 0; k < s.rank; ++k) source[k] = at[k];
      source[by.axis] = (at[by.axis] - by.places + s[by.axis]) % s[by.axis];
      std::memcpy(&v.out[0].bytes[width * i++],
                  &v.in[0]->bytes[width * static_cast<std::size_t>(flat_index(s, source))], width);
    });
  }
};
}

namespace prim {
inline constexpr primitive roll{.name = "roll",
                                .type = rules::roll::type,
                                .jvp = rules::broadcast_to::jvp,
                                .vjp = rules::roll::vjp,
                                .batch = rules::roll::batch,
                                .simplify = rules::roll::simplify,
                                .print = rules::roll::print,
                                .evaluate = rules::roll::evaluate,
                                .known = rules::known::handed_on,
                                .lanes = rules::lanes::same,
                                .split = rules::split::but_along<rules::roll>,
                                .role = role::rearranged,
                                .takes_halves = true};
}
namespace emit {
constexpr int roll(builder& b, int x, int axis, std::int64_t places) {
  return prim::rules::roll::written(b, prim::roll, x, axis, places);
}
}

namespace detail {
template <class A, int Axis>
concept Rollable = Array<A> && reduced_axes<A, Axis>::in_range;
}

template <std::int64_t Places, int Axis = 0, class A>
  requires detail::Rollable<A, Axis>
constexpr A roll(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) { return emit::roll(b, id, normal_axis(Axis, A::rank), Places); });
}
template <std::int64_t Places, int Axis = 0, class A,
          class Why = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>>
  requires((Array<A> || Placed<A>) && !detail::Rollable<A, Axis>)
Why roll(const A&) = delete;  // drx: roll<places, axis>(array), the axis below its rank; of a placed value in a map

DRX_SILENT(roll)

}

namespace drx {
namespace prim {
template <class T>
constexpr bool comes_before(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) {
    return x < y || (y != y && x == x);
  } else {
    return x < y;
  }
}
namespace rules {
struct argsort {
  static constexpr vec<abstract_value> type(const typing& t) {
    typing::require(t.operands[0].shape.rank > 0, "argsort: of a number");
    return {t.operands[0].with_type(dtype::int32)};
  }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    return {s.b.add1(*s.e.prim, s.operands, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site&, const vec<int>&, const vec<bool>&) { return {zero_tangent}; }
  static constexpr int simplify(builder& b, const vec<int>& o, const attributes&) {
    const abstract_value x = b.type(o[0]);
    double all = 0;
    if (x.shape.last() > 1 && !emit::is_constant(b, o[0], all)) return -1;
    return emit::iota(b, x.with_type(dtype::int32), x.shape.rank - 1);
  }
  static void evaluate(evaluation& v) {
    const std::int64_t n = v.out[0].type.shape.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      for (std::int64_t row = 0; row < v.out[0].size(); row += n) {
        const T* x = v.in[0]->data<T>() + row;
        std::int32_t* order = v.out[0].data<std::int32_t>() + row;
        for (std::int64_t i = 0; i < n; ++i) order[i] = static_cast<std::int32_t>(i);
        std::stable_sort(order, order + n, [&](std::int32_t i, std::int32_t j) { return comes_before(x[i], x[j]); });
      }
    });
  }
};
}
inline constexpr primitive argsort{.name = "argsort",
                                   .type = rules::argsort::type,
                                   .jvp = rules::constant::jvp,
                                   .vjp = rules::argsort::vjp,
                                   .batch = rules::argsort::batch,
                                   .simplify = rules::argsort::simplify,
                                   .evaluate = rules::argsort::evaluate,
                                   .known = rules::known::nothing,
                                   .split = rules::split::whole};
}

namespace emit {
constexpr int argsort(builder& b, int x, int axis) {
  const int last = b.shape(x).rank - 1;
  vec<std::int64_t> swapped;
  for (int i = 0; i <= last; ++i) swapped.push_back(i == axis ? last : i == last ? axis : i);
  return transpose(b, b.add1(prim::argsort, {transpose(b, x, swapped)}), swapped);
}
}

namespace detail {
template <class A, int Axis>
concept Sortable = Array<A> && HasAxis<A, Axis>;
template <class A>
using not_sortable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>;
}

template <int Axis = -1, class A>
  requires detail::Sortable<A, Axis>
constexpr auto argsort(const A& x) {
  return detail::unary<array_of<std::int32_t, shape_of<A>>>(
      x, [](builder& b, int id) { return emit::argsort(b, id, normal_axis(Axis, A::rank)); });
}
template <int Axis = -1, class A>
  requires detail::Sortable<A, Axis>
constexpr A sort(const A& x) {
  return detail::unary<A>(x, [](builder& b, int id) {
    const int axis = normal_axis(Axis, A::rank);
    return A::size == 0 ? id : emit::take_along(b, id, emit::argsort(b, id, axis), axis);
  });
}
template <int Axis = -1, class A, class Why = detail::not_sortable_t<A>>
  requires((Array<A> || Placed<A>) && !detail::Sortable<A, Axis>)
Why argsort(const A&) = delete;  // drx: argsort<axis>(array), the axis one of its own; of a placed value in a map
template <int Axis = -1, class A, class Why = detail::not_sortable_t<A>>
  requires((Array<A> || Placed<A>) && !detail::Sortable<A, Axis>)
Why sort(const A&) = delete;  // drx: sort<axis>(array), the axis one of its own; of a placed value in a map

DRX_SILENT(argsort)
DRX_SILENT(sort)

}

namespace drx {
namespace prim::rules {
struct svd {
  struct shapes {
    shape of[3];
  };
  static constexpr shapes shapes_of(const shape& a) {
    const int r = a.rank;
    const std::int64_t k = a[r - 2] < a[r - 1] ? a[r - 2] : a[r - 1];
    shape u = a, s = without_axis(a, r - 1), v = a;
    u[r - 1] = s[r - 2] = v[r - 2] = k;
    return {{u, s, v}};
  }
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value a = t.operands[0];
    typing::require(is_floating(a.type) && a.shape.rank >= 2, "svd: not matrices of floating numbers");
    const shapes s = shapes_of(a.shape);
    return {a.with_shape(s.of[0]), a.with_shape(s.of[1]), a.with_shape(s.of[2])};
  }
  struct parts {
    builder& b;
    int u, s, vt;
    std::int64_t m, n, k;
    shape inside;
    constexpr explicit parts(const rule_site& at) : b(at.b), u(at.results[0]), s(at.results[1]), vt(at.results[2]) {
      const shape of_u = b.shape(u), of_v = b.shape(vt);
      m = of_u[of_u.rank - 2], k = of_u.last(), n = of_v.last();
      inside = of_u;
      inside[of_u.rank - 2] = k;
    }
    [[nodiscard]] constexpr int columns_scaled(int x) const {
      return emit::mul(b, x, emit::per_column(b, s, b.shape(x)));
    }
    [[nodiscard]] constexpr int rows_scaled(int x) const { return emit::mul(b, x, emit::per_row(b, s, b.shape(x))); }
    [[nodiscard]] constexpr int columns_divided(int x) const {
      return emit::azdiv(b, x, emit::per_column(b, s, b.shape(x)));
    }
    [[nodiscard]] constexpr int over_gaps(int x) const {
      const int column = emit::per_column(b, s, inside), row = emit::per_row(b, s, inside);
      const int off_diagonal = emit::without_diagonal(b, x);
      const int difference = emit::sub(b, column, row), sum = emit::add(b, column, row);
      return emit::azdiv(b, off_diagonal, emit::mul(b, difference, sum));
    }
    [[nodiscard]] constexpr int with_transpose(int x) const { return emit::add(b, x, emit::swap_last_two(b, x)); }
  };
  static constexpr vec<int> jvp(const rule_site& at, const vec<int>& t) {
    if (t[0] == zero_tangent) return {zero_tangent, zero_tangent, zero_tangent};
    const parts p(at);
    const int right = emit::matmul(p.b, t[0], p.vt, false, true), inside = emit::matmul(p.b, p.u, right, true, false);
    int du = emit::matmul(p.b, p.u, p.over_gaps(p.with_transpose(p.columns_scaled(inside))), false, false);
    int dv = emit::matmul(p.b, p.vt, p.over_gaps(p.with_transpose(p.rows_scaled(inside))), true, false);
    if (p.m > p.k) {
      const int outside = emit::sub(p.b, right, emit::matmul(p.b, p.u, inside, false, false));
      du = emit::add(p.b, du, p.columns_divided(outside));
    }
    if (p.n > p.k) {
      const int whole = emit::matmul(p.b, t[0], p.u, true, false);
      const int outside = emit::sub(p.b, whole, emit::matmul(p.b, p.vt, inside, true, true));
      dv = emit::add(p.b, dv, p.columns_divided(outside));
    }
    const std::int64_t last = p.inside.rank - 1;
    return {du, emit::sum(p.b, emit::diagonal_only(p.b, inside), {last}), emit::swap_last_two(p.b, dv)};
  }
  static constexpr vec<int> vjp(const rule_site& at, const vec<int>& ct, const vec<bool>&) {
    const parts p(at);
    int inside = zero_tangent, g = zero_tangent;
    if (ct[1] != zero_tangent) inside = emit::diagonal_only(p.b, emit::per_row(p.b, ct[1], p.inside));
    if (ct[0] != zero_tangent) {
      inside = emit::accumulate(
          p.b, inside, p.columns_scaled(p.with_transpose(p.over_gaps(emit::matmul(p.b, p.u, ct[0], true, false)))));
      if (p.m > p.k) {
        const int h = p.columns_divided(ct[0]);
        inside = emit::sub(p.b, inside, emit::matmul(p.b, p.u, h, true, false));
        g = emit::matmul(p.b, h, p.vt, false, false);
      }
    }
    if (ct[2] != zero_tangent) {
      inside = emit::accumulate(
          p.b, inside, p.rows_scaled(p.with_transpose(p.over_gaps(emit::matmul(p.b, p.vt, ct[2], false, true)))));
      if (p.n > p.k) {
        const int h = emit::azdiv(p.b, ct[2], emit::per_row(p.b, p.s, p.b.shape(ct[2])));
        inside = emit::sub(p.b, inside, emit::matmul(p.b, h, p.vt, false, true));
        g = emit::accumulate(p.b, g, emit::matmul(p.b, p.u, h, false, false));
      }
    }
    if (inside == zero_tangent) return {zero_tangent};
    return {
        emit::accumulate(p.b, g, emit::matmul(p.b, emit::matmul(p.b, p.u, inside, false, false), p.vt, false, false))};
  }
  static constexpr std::int64_t scratch(const vec<abstract_value>& operands, int_list) {
    const abstract_value& x = operands[0];
    const std::int64_t m = x.shape[x.shape.rank - 2], n = x.shape.last();
    return (m < n ? m : n) * (m + n) * byte_size(x.type);
  }
  static void evaluate(evaluation& v) {
    const shape s = v.in[0]->type.shape;
    const auto m = s[s.rank - 2], n = s.last(), k = v.out[1].type.shape.last();
    visit_dtype(v.in[0]->type.type, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        std::vector<T> scratch(static_cast<std::size_t>(k * (m + n)));
        for (std::int64_t b = 0; b < square_matrix::batches(s); ++b)
          decompose::svd(m, n, v.in[0]->data<T>() + b * m * n, v.out[0].data<T>() + b * m * k,
                         v.out[1].data<T>() + b * k, v.out[2].data<T>() + b * k * n, scratch.data());
      }
    });
  }
};
}

namespace prim {
inline constexpr primitive svd{.name = "svd",
                               .type = rules::svd::type,
                               .jvp = rules::svd::jvp,
                               .vjp = rules::svd::vjp,
                               .batch = rules::square_matrix::batch,
                               .evaluate = rules::svd::evaluate,
                               .known = rules::known::nothing,
                               .split = rules::split::along_matrices,
                               .scratch = rules::svd::scratch};
}

namespace detail {
template <class A>
concept FloatingMatrix = FloatingArray<A> && HasAxes<A, 2>;
template <class A>
constexpr auto floating_matrix_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else {
    return error::wrong_rank{};
  }
}
template <class A, int Result>
struct svd_part {
  static constexpr shape value = prim::rules::svd::shapes_of(A::shape).of[Result];
};
}

template <class A>
  requires detail::FloatingMatrix<A>
constexpr auto svd(const A& a) {
  using T = typename A::value_type;
  tracing_builder& b = detail::tape_of(detail::ref_of(a));
  const vec<int> ids = b.add(prim::svd, vec<int>{detail::id_on(b, a)});
  return std::tuple{array_of<T, detail::svd_part<A, 0>>(detail::at(b, ids[0])),
                    array_of<T, detail::svd_part<A, 1>>(detail::at(b, ids[1])),
                    array_of<T, detail::svd_part<A, 2>>(detail::at(b, ids[2]))};
}
template <class A, class Why = decltype(detail::floating_matrix_misuse<A>())>
  requires((Array<A> || Placed<A>) && !detail::FloatingMatrix<A>)
std::tuple<Why, Why, Why> svd(const A&) = delete;  // drx: of matrices of float or double, the last two axes; of a placed value in a map

DRX_SILENT(svd)

}

namespace drx {
namespace prim {
namespace rows {
struct unit_interval : not_differentiable {
  static constexpr const char* name = "unit_interval";
  static constexpr int arity = 1;
  static constexpr known_value known(const known_value&) { return finite_and_not_negative(); }
  static constexpr bool accepts(dtype t, int) { return is_integer(t); }
  static constexpr dtype result(dtype t) { return t == dtype::int32 ? dtype::float32 : dtype::float64; }
  DRX_INLINE static constexpr float apply(std::int32_t bits) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) >> 9 | 0x3f800000U) - 1.0F;
  }
  DRX_INLINE static constexpr double apply(std::int64_t bits) {
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(bits) >> 12 | 0x3ff0000000000000U) - 1.0;
  }
  template <class T>
  static auto reference(T bits) {
    using R = std::conditional_t<std::is_same_v<T, std::int32_t>, float, double>;
    constexpr int digits = std::is_same_v<R, float> ? 23 : 52;
    return std::ldexp(static_cast<R>(static_cast<std::make_unsigned_t<T>>(bits) >> (8 * sizeof(T) - digits)), -digits);
  }
};
}
inline constexpr primitive unit_interval = elementwise_primitive<rows::unit_interval>();
template <>
struct row_of<&unit_interval> : rows::unit_interval {};
}

namespace patterns {
constexpr double number(const definitions& d, int v, double otherwise) {
  const entry* e = d.of(behind(d, v, prim::broadcast_to));
  return e && e->prim == &prim::constant ? e->attrs.number : otherwise;
}
constexpr bool is_of_uniform(const definitions& d, const entry& e) {
  const entry* sum = d.of(e.operands[0]);
  const entry* wide = sum && sum->prim == &prim::add ? d.of(sum->operands[0]) : nullptr;
  const entry* u = wide && wide->prim == &prim::mul ? d.of(wide->operands[0]) : nullptr;
  if (!u || u->prim != &prim::unit_interval) return false;
  const double low = number(d, sum->operands[1], -1), width = number(d, wide->operands[1], 2);
  return low > -1 && width >= 0 && low + width <= 1;
}
}

namespace detail {
template <class T, std::int64_t... E, class... X>
constexpr array<T, E...> unit_interval(const prng_key& key, const X&... beside) {
  constexpr auto what = std::is_same_v<T, float> ? prim::rules::random_bits::bits32 : prim::rules::random_bits::bits64;
  tracing_builder& b = tape_of(ref_of(key), ref_of(beside)...);
  return array<T, E...>(
      at(b, b.add1(prim::unit_interval, {emit::random_bits(b, id_on(b, key), what, array<T, E...>::shape)})));
}

template <class X, class A>
concept Parameter = Compatible<A, X> && std::is_same_v<binary_result<A, X>, A>;
template <class A, class K, class... X>
constexpr auto random_misuse() {
  if constexpr (Placed<K> || (Placed<X> || ...)) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Key<K>) {
    return error::needs_a_random_key{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (!(std::is_same_v<mismatch_t<A, X>, no_misuse> && ...)) {
    return std::conditional_t<(std::is_same_v<mismatch_t<A, X>, error::element_types_differ> || ...),
                              error::element_types_differ, error::shapes_do_not_broadcast>{};
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
template <class K, class... X>
concept RandomOperands = (Array<K> || Placed<K> || Literal<K>) && ((ArrayOrLiteral<X> || Placed<X>) && ...);
}

template <class T, std::int64_t... E, class K, class L, class H>
  requires(detail::Key<K> && std::is_floating_point_v<T> && detail::Parameter<L, array<T, E...>> &&
           detail::Parameter<H, array<T, E...>>)
constexpr array<T, E...> uniform(const K& key, const L& low, const H& high) {
  const auto u = detail::unit_interval<T, E...>(key, low, high);
  if constexpr (detail::Literal<L> && detail::Literal<H>) {
    return u * (static_cast<T>(high) - static_cast<T>(low)) + low;
  } else {
    return u * (high - low) + low;
  }
}
template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> uniform(const K& key) {
  return detail::unit_interval<T, E...>(key);
}
template <Element T, std::int64_t... E, class K, class... X,
          class Why = decltype(detail::random_misuse<array<T, E...>, K, X...>())>
  requires(detail::RandomOperands<K, X...> && (sizeof...(X) == 0 || sizeof...(X) == 2) &&
           !(detail::Key<K> && std::is_floating_point_v<T> && (detail::Parameter<X, array<T, E...>> && ...)))
Why uniform(const K&, const X&...) = delete;  // drx: uniform<float, extents...>(key, low, high): of a key that random_key, split or fold_in gave; float or double; bounds of that type that broadcast to the extents; of placed values in a map

template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> normal(const K& key) {
  constexpr double above_minus_one = std::is_same_v<T, float> ? -1 + 0x1p-24 : -1 + 0x1p-53;
  return 1.41421356237309504880 * erfinv(uniform<T, E...>(key, above_minus_one, 1));
}
template <Element T, std::int64_t... E, class K, class Why = decltype(detail::random_misuse<array<T, E...>, K>())>
  requires(detail::RandomOperands<K> && !(detail::Key<K> && std::is_floating_point_v<T>))
Why normal(const K&) = delete;  // drx: normal<float, extents...>(key): of a key that random_key, split or fold_in gave; float or double; of a placed key in a map

namespace detail {
template <class P>
struct probability_element {
  using type = P;
};
template <Array P>
struct probability_element<P> {
  using type = typename P::value_type;
};
template <class P, std::int64_t... E>
using chances = array<typename probability_element<P>::type, E...>;
template <class K, class P, std::int64_t... E>
constexpr auto bernoulli_misuse() {
  if constexpr (Placed<K> || Placed<P>) {
    return error::array_operation_on_a_placed_value{};
  } else {
    return random_misuse<chances<P, E...>, K, P>();
  }
}
template <class K, class P, std::int64_t... E>
concept Chance = Key<K> && ArrayOrLiteral<P> && FloatingArray<chances<P, E...>> && Parameter<P, chances<P, E...>>;
}

template <std::int64_t... E, class K, class P>
  requires detail::Chance<K, P, E...>
constexpr array<bool, E...> bernoulli(const K& key, const P& p) {
  return detail::unit_interval<typename detail::chances<P>::value_type, E...>(key, p) < p;
}
template <std::int64_t... E, class K, class P, class Why = decltype(detail::bernoulli_misuse<K, P, E...>())>
  requires(detail::RandomOperands<K, P> && !detail::Chance<K, P, E...>)
Why bernoulli(const K&, const P&) = delete;  // drx: bernoulli<extents...>(key, p): of a key that random_key, split or fold_in gave; p of float or double, and it broadcasts to the extents; of placed values in a map

DRX_SILENT(bernoulli)
DRX_SILENT_OF_TYPE(normal)
DRX_SILENT_OF_TYPE(uniform)

}

namespace drx {
namespace prim::rules {
struct with_layout {
  struct view {
    std::int64_t shards;
    std::optional<int> axis;
    constexpr view(std::int64_t n, std::optional<int> split) : shards(n), axis(split) {}
    constexpr explicit view(int_list a) : shards(a[0]) {
      if (a[1] != replicated) axis = a.number(1);
    }
    [[nodiscard]] constexpr attributes make(const placement_info* mesh_axis) const {
      attributes a;
      a.placement = mesh_axis;
      a.ints = {shards, axis.value_or(replicated)};
      return a;
    }

   private:
    static constexpr int replicated = -1;
  };
  static constexpr vec<abstract_value> type(const typing& t) {
    const abstract_value& x = t.operands[0];
    const view to(t.attrs);
    typing::require(x.depth == 0, "with_layout: of a placed value");
    typing::require(!to.axis || (*to.axis < x.shape.rank && x.shape[*to.axis] % to.shards == 0),
                    "with_layout: no equal shards");
    return {x};
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& t) {
    return {t[0] == zero_tangent ? zero_tangent : s.b.add1(*s.e.prim, {t[0]}, s.e.attrs)};
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>&) { return jvp(s, ct); }
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>&, std::int64_t) {
    view to(s.e);
    if (to.axis) ++*to.axis;
    return {s.b.add1(*s.e.prim, s.operands, to.make(s.e.attrs.placement))};
  }
  static std::string print(const attributes& a) {
    const view to(a);
    return std::string(a.placement->name) +
           (to.axis ? ": split along " + std::to_string(*to.axis) + " in " + std::to_string(to.shards)
                    : ": replicated");
  }
  static constexpr vec<split_result> split(split_site& s) {
    const bool of_mesh = s.e.attrs.placement == s.mesh.shards && view(s.e).shards == s.mesh.count;
    const int k = of_mesh ? view(s.e).axis.value_or(split_site::whole) : s.axis(0);
    return {{s.at(0, k), k}};
  }
  static void evaluate(evaluation& v) { v.out[0] = *v.in[0]; }
};
}

namespace prim {
inline constexpr primitive with_layout{.name = "with_layout",
                                       .type = rules::with_layout::type,
                                       .jvp = rules::with_layout::jvp,
                                       .vjp = rules::with_layout::vjp,
                                       .batch = rules::with_layout::batch,
                                       .print = rules::with_layout::print,
                                       .evaluate = rules::with_layout::evaluate,
                                       .known = rules::known::handed_on,
                                       .split = rules::with_layout::split,
                                       .takes_halves = true};
}

namespace emit {
constexpr int with_layout(builder& b, int x, const placement_info* mesh_axis, std::int64_t shards,
                          std::optional<int> axis) {
  return b.add1(prim::with_layout, {x}, prim::rules::with_layout::view(shards, axis).make(mesh_axis));
}
}

struct replicated_t {};
inline constexpr replicated_t replicated{};
template <int K>
struct split_along_t {};
template <int K>
inline constexpr split_along_t<K> split_along{};

namespace detail {
template <class A, std::int64_t Shards, int K>
constexpr auto layout_misuse(split_along_t<K>) {
  if constexpr (!Array<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (K < -A::rank || K >= A::rank) {
    return error::axis_out_of_range{};
  } else if constexpr (Shards < 1 || A::shape[normal_axis(K, A::rank)] % Shards != 0) {
    return error::axis_does_not_divide{};
  } else {
    return no_misuse{};
  }
}
template <class A, std::int64_t Shards>
constexpr auto layout_misuse(replicated_t) {
  return std::conditional_t<Array<A>, no_misuse, error::array_operation_on_a_placed_value>{};
}
template <int K>
constexpr std::optional<int> laid_along(split_along_t<K>, int rank) {
  return normal_axis(K, rank);
}
constexpr std::optional<int> laid_along(replicated_t, int) { return {}; }
template <class A, std::int64_t Shards, class Layout>
concept LaidOut = Array<A> && std::is_same_v<decltype(layout_misuse<A, Shards>(Layout{})), no_misuse>;
}

template <class P, std::int64_t Shards, class A, class Layout>
  requires(Placement<P> && detail::LaidOut<A, Shards, Layout>)
constexpr A with_layout(const A& x, Layout layout) {
  tracing_builder& b = detail::tape_of(detail::ref_of(x));
  const int id = emit::resolve(b, detail::ref_of(x), {dtype_of<typename A::value_type>, A::shape});
  return A(detail::at(b, emit::with_layout(b, id, &placement_of<P>, Shards, detail::laid_along(layout, A::rank))));
}
template <class P, std::int64_t Shards, class A, class Layout,
          class Why = decltype(detail::layout_misuse<A, Shards>(Layout{}))>
  requires(Placement<P> && Structured<A> && !error::Reported<A> && !detail::LaidOut<A, Shards, Layout>)
Why with_layout(const A&, Layout) = delete;  // drx: with_layout<P, n>(x, split_along<k>): x is an array of one member, with an axis k whose extent is a multiple of n

DRX_SILENT_OF_TYPE(with_layout)

}

namespace drx {
namespace detail {
template <class A, int Axis>
struct kept_axis {
  static constexpr shape value = [] {
    shape s = A::shape;
    s[axis_of<A, Axis>::axis] = 1;
    return s;
  }();
};
template <class A, int Axis, class Y>
constexpr auto keep_axis(const Y& y) {
  using S = kept_axis<A, Axis>;
  return unary<array_of<typename Y::value_type, S>>(y,
                                                    [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}

template <class A, int Axis>
concept Searchable = NumberArray<A> && HasAxis<A, Axis> && (A::size > 0);
template <int Axis, class A>
constexpr auto arg_extremum(const primitive& p, const A& x) {
  using axes = reduced_axes<A, Axis>;
  return unary<array_of<std::int32_t, axes>>(
      x, [&](builder& b, int id) { return emit::over_axes(b, p, id, axes::list()); });
}
}

template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmax(const A& x) { return detail::arg_extremum<Axis>(prim::argmax, x); }
template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmin(const A& x) { return detail::arg_extremum<Axis>(prim::argmin, x); }

template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmax(const A&) = delete;  // drx: argmax<axis>(array of numbers with elements); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmin(const A&) = delete;  // drx: argmin<axis>(array of numbers with elements); of a placed value in a map

namespace detail {
template <class A, int... Axes>
concept Mask =
    Array<A> && std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool> && reduced_axes<A, Axes...>::in_range;
template <class A>
concept NotMask = Array<A> && !std::is_same_v<typename std::remove_cvref_t<A>::value_type, bool>;
template <class A>
using not_mask_t = std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_boolean_values>;
}

template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto all_of(const A& x) { return sum<Axes...>(cast<std::int32_t>(!x)) == 0; }
template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto any_of(const A& x) { return sum<Axes...>(cast<std::int32_t>(x)) > 0; }

template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why all_of(const A&) = delete;  // drx: of an array of bool: all_of(x > 0); of a placed value in a map
template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why any_of(const A&) = delete;  // drx: of an array of bool: any_of(x > 0); of a placed value in a map

DRX_SILENT(argmax)
DRX_SILENT(argmin)
DRX_SILENT(all_of)
DRX_SILENT(any_of)

}

namespace drx {
namespace detail {
template <class A, class B>
concept Assigned = (Array<A> || Placed<A> || Compound<A>) && Structured<B> && !error::AnyReported<A, B>;
template <class R, class A>
concept SameStructure = std::is_same_v<canonical_t<R>, canonical_t<A>>;
template <class A, class B>
concept Adds = Assigned<A, B> && requires(A& a, const B& b) {
  { a + b } -> SameStructure<A>;
  a = a + b;
};
template <class A, class B>
concept Subtracts = Assigned<A, B> && requires(A& a, const B& b) {
  { a - b } -> SameStructure<A>;
  a = a - b;
};
template <class A, class B>
concept Multiplies = Assigned<A, B> && requires(A& a, const B& b) {
  { a* b } -> SameStructure<A>;
  a = a * b;
};
template <class A, class B>
concept Divides = Assigned<A, B> && requires(A& a, const B& b) {
  { a / b } -> SameStructure<A>;
  a = a / b;
};
}

template <class A, class B> requires detail::Adds<A, B>
constexpr A& operator+=(A& a, const B& b) { return a = a + b; }
template <class A, class B> requires detail::Subtracts<A, B>
constexpr A& operator-=(A& a, const B& b) { return a = a - b; }
template <class A, class B> requires detail::Multiplies<A, B>
constexpr A& operator*=(A& a, const B& b) { return a = a * b; }
template <class A, class B> requires detail::Divides<A, B>
constexpr A& operator/=(A& a, const B& b) { return a = a / b; }

}

namespace drx {
namespace detail {
template <class A, int... Axes>
struct expanded {
  static constexpr int rank = A::rank + static_cast<int>(sizeof...(Axes));
  static constexpr bool adds([[maybe_unused]] int axis) { return ((normal_axis(Axes, rank) == axis) || ...); }
  static constexpr bool fits() {
    if (rank > shape::max_rank) return false;
    int added = 0;
    for (int i = 0; i < rank; ++i) added += adds(i);
    return added == static_cast<int>(sizeof...(Axes));
  }
  static constexpr shape value = [] {
    shape s;
    if (fits())
      for (int i = 0, k = 0; i < rank; ++i) s.push_back(adds(i) ? 1 : A::shape[k++]);
    return s;
  }();
};
template <class A, int... Axes>
concept Expandable = Array<A> && expanded<A, Axes...>::fits();
template <class A>
using not_expandable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::axis_out_of_range>;

template <class A, int... Axes>
struct squeezed {
  static constexpr bool in_range = ((Axes >= -A::rank && Axes < A::rank) && ...);
  static constexpr bool drops(int axis) {
    return sizeof...(Axes) == 0 ? A::shape[axis] == 1 : ((normal_axis(Axes, A::rank) == axis) || ...);
  }
  static constexpr bool fits() {
    if (!in_range) return false;
    for (int i = 0; i < A::rank; ++i)
      if (drops(i) && A::shape[i] != 1) return false;
    return true;
  }
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank; ++i)
      if (!drops(i)) s.push_back(A::shape[i]);
    return s;
  }();
};
template <class A, int... Axes>
concept Squeezable = Array<A> && squeezed<A, Axes...>::fits();
template <class A, int... Axes>
constexpr auto squeeze_misuse() {
  if constexpr (Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!squeezed<A, Axes...>::in_range) {
    return error::axis_out_of_range{};
  } else {
    return error::axis_has_more_than_one_element{};
  }
}

template <class A, class S>
constexpr auto reshaped(const A& x) {
  return unary<array_of<typename A::value_type, S>>(x,
                                                    [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}
template <class A, std::int64_t... Times>
struct tiled {
  static constexpr int given = static_cast<int>(sizeof...(Times)), rank = given > A::rank ? given : A::rank;
  static constexpr bool fits = sizeof...(Times) > 0 && ((Times >= 0) && ...) && rank <= shape::max_rank;
  static constexpr std::int64_t times(int axis) {
    constexpr std::int64_t all[] = {Times...};
    return axis < rank - given ? 1 : all[axis - (rank - given)];
  }
  static constexpr std::int64_t extent(int axis) {
    return axis < rank - A::rank ? 1 : A::shape[axis - (rank - A::rank)];
  }
  static constexpr shape value = [] {
    shape s;
    if constexpr (fits)
      for (int i = 0; i < rank; ++i) s.push_back(times(i) * extent(i));
    return s;
  }();
};
template <class A, std::int64_t... Times>
concept Tileable = Array<A> && tiled<A, Times...>::fits;
template <std::int64_t N, class A, int Axis>
concept Repeatable = HasAxis<A, Axis> && (N >= 0);
template <class A>
using not_tileable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::wrong_number_of_repetitions>;
template <std::int64_t N, class A>
using not_repeatable_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value,
                       std::conditional_t<(N < 0), error::wrong_number_of_repetitions, error::axis_out_of_range>>;
template <std::int64_t N, class A, int Axis>
struct repeated_along {
  static constexpr shape value = [] {
    shape s = A::shape;
    s[axis_of<A, Axis>::axis] *= N;
    return s;
  }();
};
}

namespace emit {
constexpr int copies_along(builder& b, int x, std::int64_t before, std::int64_t n, std::int64_t behind,
                           std::int64_t times, bool whole) {
  if (times == 1) return x;
  const int apart = reshape(b, x, whole ? make_shape(before, 1, n, behind) : make_shape(before, n, 1, behind));
  return broadcast_to(b, apart, whole ? make_shape(before, times, n, behind) : make_shape(before, n, times, behind));
}
}

template <int... Axes, class A> requires(sizeof...(Axes) > 0 && detail::Expandable<A, Axes...>)
constexpr auto expand_dims(const A& x) { return detail::reshaped<A, detail::expanded<A, Axes...>>(x); }
template <int... Axes, class A> requires detail::Squeezable<A, Axes...>
constexpr auto squeeze(const A& x) { return detail::reshaped<A, detail::squeezed<A, Axes...>>(x); }

template <std::int64_t... Times, class A>
  requires detail::Tileable<A, Times...>
constexpr auto tile(const A& x) {
  using S = detail::tiled<A, Times...>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    std::int64_t before = 1, behind = A::size;
    for (int i = 0; i < S::rank; ++i) {
      const std::int64_t n = S::extent(i);
      behind = 1;
      for (int k = i + 1; k < S::rank; ++k) behind *= S::extent(k);
      id = emit::copies_along(b, id, before, n, behind, S::times(i), true);
      before *= n * S::times(i);
    }
    return emit::reshape(b, id, S::value);
  });
}
template <std::int64_t N, int Axis = 0, class A>
  requires detail::Repeatable<N, A, Axis>
constexpr auto repeat(const A& x) {
  using S = detail::repeated_along<N, A, Axis>;
  return detail::unary<array_of<typename A::value_type, S>>(x, [](builder& b, int id) {
    constexpr int axis = detail::axis_of<A, Axis>::axis;
    std::int64_t before = 1, behind = 1;
    for (int i = 0; i < A::rank; ++i) (i < axis ? before : behind) *= i == axis ? 1 : A::shape[i];
    return emit::reshape(b, emit::copies_along(b, id, before, A::shape[axis], behind, N, false), S::value);
  });
}

template <int... Axes, class A, class Why = detail::not_expandable_t<A>> requires((Array<A> || Placed<A>) && !(sizeof...(Axes) > 0 && detail::Expandable<A, Axes...>))
Why expand_dims(const A&) = delete;  // drx: expand_dims<axes...>(x): different axes of the result, which has at most eight; of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::squeeze_misuse<A, Axes...>())> requires((Array<A> || Placed<A>) && !detail::Squeezable<A, Axes...>)
Why squeeze(const A&) = delete;  // drx: squeeze<axes...>(x): axes of extent 1; of a placed value in a map
template <std::int64_t... Times, class A, class Why = detail::not_tileable_t<A>> requires((Array<A> || Placed<A>) && !detail::Tileable<A, Times...>)
Why tile(const A&) = delete;  // drx: tile<times...>(x): a number of at least 0 for each of up to eight axes; of a placed value in a map
template <std::int64_t N, int Axis = 0, class A, class Why = detail::not_repeatable_t<N, A>> requires((Array<A> || Placed<A>) && !detail::Repeatable<N, A, Axis>)
Why repeat(const A&) = delete;  // drx: repeat<times, axis>(x): times at least 0; of a placed value in a map

DRX_SILENT(expand_dims)
DRX_SILENT(repeat)
DRX_SILENT(squeeze)
DRX_SILENT(tile)

}

namespace drx {
namespace detail {
template <class A, int N, std::int64_t... Last>
struct with_last_axes {
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < A::rank - N; ++i) s.push_back(A::shape[i]);
    (s.push_back(Last), ...);
    return s;
  }();
};

template <class A>
struct matrix_extents {
  static constexpr std::int64_t rows = A::shape[A::rank - 2], columns = A::shape[A::rank - 1];
  static constexpr std::int64_t diagonal = rows < columns ? rows : columns;
};
}

template <class A>
  requires detail::HasAxes<A, 2>
constexpr auto diagonal(const A& x) {
  using M = detail::matrix_extents<A>;
  using in_a_row = detail::with_last_axes<A, 2, M::rows * M::columns>;
  return detail::unary<array_of<typename A::value_type, detail::with_last_axes<A, 2, M::diagonal>>>(
      x, [](builder& b, int id) {
        const shape& row = in_a_row::value;
        vec<std::int64_t> start(row.rank, 0), stop, stride(row.rank, 1);
        for (int i = 0; i < row.rank; ++i) stop.push_back(row[i]);
        stop[row.rank - 1] = M::diagonal == 0 ? 0 : (M::diagonal - 1) * (M::columns + 1) + 1;
        stride[row.rank - 1] = M::columns + 1;
        return emit::slice(b, emit::reshape(b, id, row), start, stop, stride);
      });
}
template <class A, class Why = detail::not_axes_t<A>>
  requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 2>)
Why diagonal(const A&) = delete;  // drx: of matrices, the last two axes (diagonal_matrix(x) makes one of a vector); of a placed value in a map

template <class A>
  requires detail::HasAxes<A, 1>
constexpr auto diagonal_matrix(const A& x) {
  constexpr std::int64_t n = A::shape[A::rank - 1];
  using R = array_of<typename A::value_type, detail::with_last_axes<A, 1, n, n>>;
  return detail::unary<R>(x, [](builder& b, int id) {
    vec<std::int64_t> none(A::rank, 0), interior(A::rank, 0);
    interior[A::rank - 1] = n;
    return emit::reshape(b, emit::pad(b, id, none, none, interior), R::shape);
  });
}
template <class A, class Why = detail::not_axes_t<A>>
  requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 1>)
Why diagonal_matrix(const A&) = delete;  // drx: of vectors, the last axis; of a placed value in a map

DRX_SILENT(diagonal)
DRX_SILENT(diagonal_matrix)

}

namespace drx {
namespace detail {
template <class A, int Axis>
concept SoftmaxOperand = FloatingArray<A> && Searchable<A, Axis>;
template <class A, int Axis>
constexpr auto softmax_misuse() {
  if constexpr (Array<A> && !FloatingArray<A>) {
    return error::needs_floating_values{};
  } else {
    return axis_misuse<A, Axis>();
  }
}
template <int Axis, class A>
constexpr auto offset(const A& x) {
  return stop_gradient(keep_axis<A, Axis>(max<Axis>(x)));
}
template <int Axis, class A>
constexpr auto finite_largest(const A& x) {
  constexpr auto most = std::numeric_limits<typename A::value_type>::max();
  const auto largest = stop_gradient(max<Axis>(x));
  return where(abs(largest) <= most, largest, 0);
}
}

template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr A log_softmax(const A& x) {
  const A shifted = x - detail::offset<Axis>(x);
  return shifted - log(detail::keep_axis<A, Axis>(sum<Axis>(exp(shifted))));
}
template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr A softmax(const A& x) {
  const A e = exp(x - detail::offset<Axis>(x));
  return e / detail::keep_axis<A, Axis>(sum<Axis>(e));
}
template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr auto logsumexp(const A& x) {
  const auto offset = detail::finite_largest<Axis>(x);
  return log(sum<Axis>(exp(x - detail::keep_axis<A, Axis>(offset)))) + offset;
}

template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why log_softmax(const A&) = delete;  // drx: log_softmax<axis>(floating array); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why softmax(const A&) = delete;  // drx: softmax<axis>(floating array); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why logsumexp(const A&) = delete;  // drx: logsumexp<axis>(floating array); of a placed value in a map

DRX_SILENT(log_softmax)
DRX_SILENT(logsumexp)
DRX_SILENT(softmax)

}

namespace drx {

template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> exponential(const K& key) {
  return -log1p(-uniform<T, E...>(key));
}
template <Element T, std::int64_t... E, class K, class Why = decltype(detail::random_misuse<array<T, E...>, K>())>
  requires(detail::RandomOperands<K> && !(detail::Key<K> && std::is_floating_point_v<T>))
Why exponential(const K&) = delete;  // drx: exponential<float, extents...>(key): of a key that random_key, split or fold_in gave; float or double; of a placed key in a map

template <class T, std::int64_t... E, class K>
  requires(detail::Key<K> && std::is_floating_point_v<T>)
constexpr array<T, E...> gumbel(const K& key) {
  return -log(-log(uniform<T, E...>(key, std::numeric_limits<T>::min(), 1)));
}
template <Element T, std::int64_t... E, class K, class Why = decltype(detail::random_misuse<array<T, E...>, K>())>
  requires(detail::RandomOperands<K> && !(detail::Key<K> && std::is_floating_point_v<T>))
Why gumbel(const K&) = delete;  // drx: gumbel<float, extents...>(key): of a key that random_key, split or fold_in gave; float or double; of a placed key in a map

namespace detail {
template <class A, std::int64_t... E>
struct category_draws {
  static constexpr shape value = [] {
    shape s = A::shape;
    if constexpr (sizeof...(E) > 0) s = with_last(make_shape(E...), A::shape[A::rank - 1]);
    return s;
  }();
};
template <class A, std::int64_t... E>
concept Logits = SoftmaxOperand<A, -1> && sizeof...(E) < shape::max_rank &&
                 Parameter<A, array_of<typename A::value_type, category_draws<A, E...>>>;
template <class K, class A, std::int64_t... E>
constexpr auto categorical_misuse() {
  if constexpr (Placed<K> || Placed<A>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Key<K>) {
    return error::needs_a_random_key{};
  } else if constexpr (!SoftmaxOperand<A, -1>) {
    return softmax_misuse<A, -1>();
  } else {
    return error::shapes_do_not_broadcast{};
  }
}
template <class T, class S, class K, int... I>
constexpr auto gumbel_of(const K& key, std::integer_sequence<int, I...>) {
  return gumbel<T, S::value[I]...>(key);
}
}

template <std::int64_t... E, class K, class A>
  requires(detail::Key<K> && detail::Logits<A, E...>)
constexpr auto categorical(const K& key, const A& logits) {
  using S = detail::category_draws<A, E...>;
  return argmax(detail::gumbel_of<typename A::value_type, S>(key, std::make_integer_sequence<int, S::value.rank>()) +
                logits);
}
template <std::int64_t... E, class K, class A, class Why = decltype(detail::categorical_misuse<K, A, E...>())>
  requires(detail::RandomOperands<K> && (Array<A> || Placed<A>) && !(detail::Key<K> && detail::Logits<A, E...>))
Why categorical(const K&, const A&) = delete;  // drx: categorical<extents...>(key, logits): of a key that random_key, split or fold_in gave; logits of float or double, classes last, whose other axes broadcast to the extents; of placed values in a map

DRX_SILENT(categorical)
DRX_SILENT_OF_TYPE(exponential)
DRX_SILENT_OF_TYPE(gumbel)

}

namespace drx {

namespace detail {
enum class einsum_fault : std::int8_t { none, specification, rank, extents, axes };

struct einsum_form {
  vec<vec<int>> in;
  vec<int> out;
  vec<int> labels;
  vec<std::int64_t> extents;
  einsum_fault fault;

  constexpr einsum_form(const char* text, const vec<shape>& shapes) : fault(parse(text, shapes)) {}
  [[nodiscard]] constexpr std::int64_t extent(int label) const { return extents[labels.find(label)]; }
  [[nodiscard]] constexpr shape extents_of(const vec<int>& some) const {
    shape s;
    for (int label : some) s.push_back(extent(label));
    return s;
  }
  [[nodiscard]] constexpr shape result() const { return extents_of(out); }
  [[nodiscard]] constexpr vec<int> kept_after(int last) const {
    vec<int> kept = out;
    for (int k = last + 1; k < in.size(); ++k) kept.append(in[k]);
    return kept;
  }

 private:
  constexpr einsum_fault parse(const char* text, const vec<shape>& shapes) {
    constexpr auto wrong = einsum_fault::specification;
    int longest = 0;
    bool dots = false;
    for (int k = 0; k < shapes.size(); ++k) {
      if (k > 0 && *text++ != ',') return wrong;
      vec<int> names;
      int before_dots = -1;
      if (!read(text, names, before_dots)) return wrong;
      const int behind = shapes[k].rank - names.size();
      if (behind < 0 || (before_dots < 0 && behind > 0)) return einsum_fault::rank;
      in.push_back(with_dots(names, before_dots, behind));
      dots = dots || before_dots >= 0;
      if (behind > longest) longest = behind;
    }
    const bool result = text[0] == '-' && text[1] == '>';
    if (result) {
      text += 2;
      vec<int> names;
      int before_dots = -1;
      if (!read(text, names, before_dots) || (before_dots >= 0) != dots) return wrong;
      out = with_dots(names, before_dots, longest);
    }
    if (*text != 0) return wrong;
    for (int k = 0; k < in.size(); ++k)
      for (int i = 0; i < in[k].size(); ++i)
        if (!unify(in[k][i], shapes[k][i])) return einsum_fault::extents;
    if (!result) implied(longest);
    for (int i = 0; i < out.size(); ++i)
      for (int k = 0; k <= i; ++k)
        if (labels.find(out[i]) < 0 || (k < i && out[k] == out[i])) return wrong;
    return too_many_axes() ? einsum_fault::axes : einsum_fault::none;
  }
  static constexpr bool read(const char*& text, vec<int>& names, int& before_dots) {
    for (;; ++text) {
      if (*text == ' ') continue;
      if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')) {
        names.push_back(*text);
      } else if (text[0] == '.' && text[1] == '.' && text[2] == '.' && before_dots < 0) {
        before_dots = names.size();
        text += 2;
      } else {
        return *text == ',' || *text == '-' || *text == 0;
      }
    }
  }
  static constexpr vec<int> with_dots(const vec<int>& names, int before_dots, int axes) {
    vec<int> all;
    for (int i = 0; i <= names.size(); ++i) {
      for (int k = axes; i == before_dots && k > 0; --k) all.push_back(-k);
      if (i < names.size()) all.push_back(names[i]);
    }
    return all;
  }
  constexpr bool unify(int label, std::int64_t n) {
    const int k = labels.find(label);
    if (k < 0) {
      labels.push_back(label);
      extents.push_back(n);
      return true;
    }
    if (label < 0 && extents[k] == 1) extents[k] = n;
    return extents[k] == n || (label < 0 && n == 1);
  }
  constexpr void implied(int longest) {
    for (int k = longest; k > 0; --k) out.push_back(-k);
    for (int letter = 'A'; letter <= 'z'; ++letter) {
      int times = 0;
      for (const auto& operand : in)
        for (int label : operand) times += label == letter;
      if (times == 1) out.push_back(letter);
    }
  }
  [[nodiscard]] constexpr bool too_many_axes() const {
    vec<int> product = in[0];
    for (int k = 1; k < in.size(); ++k) {
      vec<int> all = product, kept;
      all.append(in[k]);
      for (int label : all)
        if (kept_after(k).find(label) >= 0 && kept.find(label) < 0) kept.push_back(label);
      if (kept.size() > shape::max_rank) return true;
      product = kept;
    }
    return out.size() > shape::max_rank;
  }
};

struct einsum_value {
  int id = -1;
  vec<int> labels;
};
struct einsum_writer {
  builder& b;
  const einsum_form form;

  constexpr int write(const vec<int>& operands) {
    einsum_value product = prepared(operands[0], 0, vec<int>{});
    for (int k = 1; k < operands.size(); ++k)
      product = times(product, prepared(operands[k], k, product.labels), form.kept_after(k));
    return ordered(product, form.out).id;
  }

 private:
  static constexpr vec<int> joined(const vec<int>& x, const vec<int>& y) {
    vec<int> both = x;
    both.append(y);
    return both;
  }
  constexpr einsum_value ordered(const einsum_value& x, const vec<int>& order) {
    vec<std::int64_t> p;
    for (int label : order) p.push_back(x.labels.find(label));
    return {emit::transpose(b, x.id, p), order};
  }
  constexpr einsum_value prepared(int id, int k, const vec<int>& before) {
    einsum_value x{id, form.in[k]};
    for (int i = x.labels.size() - 1; i >= 0; --i)
      if (x.labels[i] < 0 && b.shape(x.id)[i] != form.extent(x.labels[i])) x = without(x, i);
    for (int i = 0; i < x.labels.size(); ++i)
      for (int j = i + 1; j < x.labels.size(); ++j)
        if (x.labels[i] == x.labels[j]) {
          x = diagonal(x, i, j);
          i = j = -1;
          break;
        }
    const vec<int> kept = joined(before, form.kept_after(k));
    return summed(x, kept);
  }
  constexpr einsum_value without(const einsum_value& x, int axis) {
    return {emit::reshape(b, x.id, without_axis(b.shape(x.id), axis)), without_label(x.labels, axis)};
  }
  static constexpr vec<int> without_label(const vec<int>& labels, int axis) {
    vec<int> rest;
    for (int i = 0; i < labels.size(); ++i)
      if (i != axis) rest.push_back(labels[i]);
    return rest;
  }
  constexpr einsum_value diagonal(const einsum_value& x, int i, int j) {
    vec<std::int64_t> p;
    vec<int> labels;
    shape row;
    for (int k = 0; k < x.labels.size(); ++k)
      if (k != i && k != j) {
        p.push_back(k);
        labels.push_back(x.labels[k]);
        row.push_back(b.shape(x.id)[k]);
      }
    p.push_back(i);
    p.push_back(j);
    const std::int64_t n = b.shape(x.id)[i];
    row.push_back(n * n);
    vec<std::int64_t> start(row.rank, 0), stop, stride(row.rank, 1);
    for (int k = 0; k < row.rank; ++k) stop.push_back(row[k]);
    stop[row.rank - 1] = n == 0 ? 0 : (n - 1) * (n + 1) + 1;
    stride[row.rank - 1] = n + 1;
    labels.push_back(x.labels[i]);
    return {emit::slice(b, emit::reshape(b, emit::transpose(b, x.id, p), row), start, stop, stride), labels};
  }
  constexpr einsum_value summed(const einsum_value& x, const vec<int>& kept) {
    vec<std::int64_t> axes;
    vec<int> labels;
    for (int i = 0; i < x.labels.size(); ++i) {
      if (kept.find(x.labels[i]) >= 0)
        labels.push_back(x.labels[i]);
      else
        axes.push_back(i);
    }
    return {emit::sum(b, x.id, axes), labels};
  }
  constexpr int spread(const einsum_value& x, const vec<int>& all) {
    vec<int> own;
    shape s;
    for (int label : all) {
      const bool has = x.labels.find(label) >= 0;
      if (has) own.push_back(label);
      s.push_back(has ? form.extent(label) : 1);
    }
    return emit::broadcast_to(b, emit::reshape(b, ordered(x, own).id, s), form.extents_of(all));
  }
  constexpr einsum_value times(const einsum_value& x, const einsum_value& y, const vec<int>& kept) {
    vec<int> batch, left, inner, right;
    for (int label : x.labels) {
      if (y.labels.find(label) < 0)
        left.push_back(label);
      else if (kept.find(label) >= 0)
        batch.push_back(label);
      else
        inner.push_back(label);
    }
    for (int label : y.labels)
      if (x.labels.find(label) < 0) right.push_back(label);
    const vec<int> result = joined(joined(batch, left), right);
    const bool rows = left.empty() && right.empty() && !batch.empty();
    if (inner.empty() || rows) {
      const vec<int> all = joined(result, inner);
      const int of_x = spread(x, all), of_y = spread(y, all);
      return summed({emit::mul(b, of_x, of_y), all}, result);
    }
    bool turned_x = false, turned_y = false;
    const int p = matrices(x, batch, left, inner, turned_x), q = matrices(y, batch, inner, right, turned_y);
    return {emit::reshape(b, emit::matmul(b, p, q, turned_x, turned_y), form.extents_of(result)), result};
  }
  constexpr int matrices(const einsum_value& x, const vec<int>& batch, const vec<int>& rows, const vec<int>& columns,
                         bool& turned) {
    const vec<int> straight = joined(joined(batch, rows), columns), other = joined(joined(batch, columns), rows);
    turned = x.labels == other && !(x.labels == straight);
    const std::int64_t m = form.extents_of(rows).size(), n = form.extents_of(columns).size();
    shape s;
    if (!batch.empty()) s.push_back(form.extents_of(batch).size());
    s.push_back(turned ? n : m);
    s.push_back(turned ? m : n);
    return emit::reshape(b, ordered(x, turned ? other : straight).id, s);
  }
};

template <meta::literal Letters, class... A>
struct einsum_of {
  using first = std::tuple_element_t<0, std::tuple<A...>>;
  static constexpr einsum_form form() { return {Letters.text, vec<shape>{A::shape...}}; }
  static constexpr auto misuse() {
    if constexpr ((Placed<A> || ...)) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (!(Array<A> && ...)) {
      return error::not_a_value_of_drx{};
    } else if constexpr (!(NumberArray<A> && ...)) {
      return error::needs_numbers{};
    } else if constexpr (!(std::is_same_v<typename A::value_type, typename first::value_type> && ...)) {
      return error::element_types_differ{};
    } else {
      constexpr einsum_fault fault = form().fault;
      if constexpr (fault == einsum_fault::specification) {
        return error::not_an_einsum_specification{};
      } else if constexpr (fault == einsum_fault::rank) {
        return error::wrong_rank{};
      } else if constexpr (fault == einsum_fault::extents) {
        return error::extents_differ{};
      } else if constexpr (fault == einsum_fault::axes) {
        return error::more_than_eight_axes{};
      } else {
        return no_misuse{};
      }
    }
  }
  static constexpr shape value = [] {
    if constexpr (std::is_same_v<decltype(misuse()), no_misuse>) {
      return form().result();
    } else {
      return shape{};
    }
  }();
};
template <class A, class B>
concept OuterFactors =
    NumberArray<A> && NumberArray<B> && std::is_same_v<typename A::value_type, typename B::value_type>;
template <meta::literal Letters, class... A>
concept Contractible = std::is_same_v<decltype(einsum_of<Letters, A...>::misuse()), no_misuse>;
}

template <meta::literal Letters, class... A>
  requires(sizeof...(A) > 0 && detail::Contractible<Letters, A...>)
constexpr auto einsum(const A&... x) {
  using S = detail::einsum_of<Letters, A...>;
  tracing_builder& b = detail::tape_of(detail::ref_of(x)...);
  const int id = detail::einsum_writer{b, S::form()}.write(
      {emit::resolve(b, detail::ref_of(x), {dtype_of<typename A::value_type>, A::shape})...});
  return array_of<typename S::first::value_type, S>(detail::at(b, id));
}
template <meta::literal Letters, class... A, class Why = decltype(detail::einsum_of<Letters, A...>::misuse())>
  requires(sizeof...(A) > 0 && ((Array<A> || Placed<A>) && ...) && !detail::Contractible<Letters, A...>)
Why einsum(const A&...) = delete;  // drx: einsum<"ij,jk->ik">(a, b): a letter for each axis, of one extent wherever it stands; numbers of one element type; of placed values in a map
template <meta::literal Letters, class... X>
  requires error::AnyReported<X...>
error::reported einsum(const X&...);

template <class A, class B>
  requires detail::OuterFactors<A, B>
constexpr auto outer(const A& x, const B& y) {
  return reshape<A::size, 1>(x) * reshape<1, B::size>(y);
}
template <class A, class B,
          class Why = std::conditional_t<Placed<A> || Placed<B>, error::array_operation_on_a_placed_value,
                                         error::element_types_differ>>
  requires((Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !detail::OuterFactors<A, B>)
Why outer(const A&, const B&) = delete;  // drx: of arrays of numbers of one element type; of placed values in a map

DRX_SILENT(outer)

}

namespace drx {

struct loop_memory {
  enum class kind : std::int8_t { carries, everything, every, logarithmic };
  kind what = kind::carries;
  std::int64_t every = 1;
};
inline constexpr loop_memory keep_carries{};
inline constexpr loop_memory keep_all{loop_memory::kind::everything};
template <std::int64_t K>
  requires(K > 0)
inline constexpr loop_memory checkpoint_every{loop_memory::kind::every, K};
inline constexpr loop_memory recompute_all{loop_memory::kind::logarithmic};

inline constexpr loop_products carry_products = loop_products::carried;
inline constexpr loop_products no_carried_products = loop_products::computed;

struct loop_options {
  loop_memory memory;
  loop_products products;
  constexpr loop_options(const loop_memory& m = keep_carries, loop_products p = loop_products::by_program)
      : memory(m), products(p) {}
  constexpr loop_options(loop_products p, const loop_memory& m = keep_carries) : memory(m), products(p) {}
};

namespace detail {

struct nested_loop {
  const tape& body;
  prim::rules::scan::view whole;
  static constexpr int radix = 4;

  struct values {
    int offset;
    vec<int> constants, carries, xs;
  };
  using writer = vec<int> (nested_loop::*)(builder&, const values&, std::int64_t) const;

  constexpr vec<int> flat(builder& b, const values& v, std::int64_t length) const {
    return loop(b, v, length, 1, nullptr);
  }
  constexpr vec<int> loop(builder& b, const values& v, std::int64_t outer, std::int64_t length, writer inner) const {
    builder region;
    const int index = region.input(abstract_value(dtype::int32, {}));
    auto inputs = [&](const vec<int>& ids, bool stacked) {
      vec<int> r;
      for (int id : ids) {
        const abstract_value t = b.type(id);
        r.push_back(region.input(stacked ? t.with_shape(without_axis(t.shape, 0)) : t));
      }
      return r;
    };
    vec<int> operands = v.constants, xs;
    operands.push_back(v.offset);
    operands.append(v.carries);
    for (int x : v.xs) {
      shape s = make_shape(outer, length);
      for (int i = 1; i < b.shape(x).rank; ++i) s.push_back(b.shape(x)[i]);
      if (!inner) s = with_front(without_axis(b.shape(x), 0), outer);
      xs.push_back(emit::reshape(b, x, s));
    }
    operands.append(xs);
    values in{};
    in.constants = inputs(v.constants, false);
    const int offset = region.input(abstract_value(dtype::int32, {}));
    in.carries = inputs(v.carries, false);
    in.xs = inputs(xs, true);
    const int steps = emit::mul(region, index, emit::constant_like(region, index, static_cast<double>(length)));
    in.offset = emit::add(region, offset, steps);
    vec<int> out;
    if (inner) {
      out = (this->*inner)(region, in, length);
    } else {
      vec<int> all{in.offset};
      all.append(in.constants);
      all.append(in.carries);
      all.append(in.xs);
      out = inline_tape(region, body, all);
    }
    for (int o : out) region.output(o);
    prim::rules::scan::view own = whole;
    own.length = outer;
    own.constants = whole.constants + 1;
    own.keeps_residuals = false;
    if (whole.guard > whole.constants) own.guard = *whole.guard + 1;
    if (inner && whole.guard > whole.first_x()) own.guard = {};
    vec<int> r = b.add(prim::scan, operands, own.make(), vec<tape>{region.result()});
    if (inner)
      for (int i = whole.carries; i < r.size(); ++i) {
        const shape s = b.shape(r[i]);
        r[i] = emit::reshape(b, r[i], with_front(without_axis(without_axis(s, 0), 0), s[0] * s[1]));
      }
    return r;
  }
  constexpr vec<int> with_rest(builder& b, const values& v, std::int64_t outer, std::int64_t length, std::int64_t rest,
                               writer inner) const {
    if (outer == 0) return flat(b, v, rest);
    if (rest == 0) return loop(b, v, outer, length, inner);
    const std::int64_t done = outer * length;
    auto part = [&](std::int64_t from, std::int64_t to) {
      vec<int> r;
      for (int x : v.xs) r.push_back(emit::part_of_axis(b, x, 0, from, to - from));
      return r;
    };
    values most = v, last = v;
    most.xs = part(0, done);
    last.xs = part(done, done + rest);
    last.offset = emit::add(b, v.offset, emit::constant_like(b, v.offset, static_cast<double>(done)));
    const auto run =
        [&](bool of_last,
            const values& from) {
          if (of_last) return flat(b, from, rest);
          return loop(b, from, outer, length, inner);
        };
    const bool backwards = whole.backwards;
    const vec<int> first = run(backwards, backwards ? last : most);
    values& second = backwards ? most : last;
    for (int i = 0; i < whole.carries; ++i) second.carries[i] = first[i];
    vec<int> r = run(!backwards, second);
    for (int i = whole.carries; i < r.size(); ++i)
      r[i] = emit::concatenate(b, {backwards ? r[i] : first[i], backwards ? first[i] : r[i]}, 0);
    return r;
  }
  constexpr vec<int> every(builder& b, const values& v, std::int64_t length, std::int64_t k) const {
    return with_rest(b, v, length / k, k, length % k, &nested_loop::flat);
  }
  constexpr vec<int> logarithmic(builder& b, const values& v, std::int64_t length) const {
    if (length <= radix) return flat(b, v, length);
    return with_rest(b, v, radix, length / radix, length % radix, &nested_loop::logarithmic);
  }
};

constexpr vec<int> write_loop(builder& b, const tape& body, const vec<int>& operands, prim::rules::scan::view loop,
                              const loop_options& options) {
  using kind = loop_memory::kind;
  const loop_memory& memory = options.memory;
  loop.products = options.products;
  loop.keeps_residuals = memory.what == kind::everything;
  if (!loop.length || memory.what == kind::carries || memory.what == kind::everything)
    return b.add(prim::scan, operands, loop.make(), vec<tape>{body});
  nested_loop::values v{};
  v.offset = emit::constant(b, abstract_value(dtype::int32, {}), 0);
  for (int i = 0; i < operands.size(); ++i)
    (loop.is_constant(i) ? v.constants : loop.is_carry(i) ? v.carries : v.xs).push_back(operands[i]);
  const nested_loop l{body, loop};
  if (memory.what == kind::every) return l.every(b, v, *loop.length, memory.every);
  return l.logarithmic(b, v, *loop.length);
}

}
}

namespace drx {
namespace detail {

using index_t = array<std::int32_t>;
template <std::int64_t Steps>
concept CountableSteps = Steps <= std::numeric_limits<std::int32_t>::max();
template <class Body, class C>
inline constexpr bool counts = !error::is_unsaid<call_result_t<Body, index_t, C>>;
template <class Body, class Carry>
struct loop_body {
  const Body& body;
  template <class C>
  constexpr auto operator()(const index_t& i, const C& carry) const {
    if constexpr (counts<Body, C>) {
      return body(i, carry);
    } else {
      return body(carry);
    }
  }
};
template <class Body, class C>
struct loop_call : call_result_type<Body, C> {};
template <class Body, class C>
  requires counts<Body, C>
struct loop_call<Body, C> : call_result_type<Body, index_t, C> {};
template <class Body, class Carry>
using loop_result = typename loop_call<Body, traced_t<Carry>>::type;
template <class R, class Carry>
constexpr auto loop_misuse() {
  if constexpr (!TracedResult<R>) {
    return result_misuse<R>();
  } else if constexpr (error::Reported<R> || std::is_same_v<canonical_t<R>, canonical_t<Carry>>) {
    return no_misuse{};
  } else {
    return error::loop_body_changes_the_type_of_its_carry{};
  }
}
template <class Body, class Carry>
concept LoopBody = std::is_same_v<decltype(loop_misuse<loop_result<Body, Carry>, Carry>()), no_misuse>;

template <class R>
constexpr vec<int> add_loop(tracing_builder*& b, const traced_region<R>& region, std::optional<std::int64_t> length,
                            int carries, bool guarded, const loop_options& options, const auto& operands_on) {
  b = with_captures(b, region.captures);
  tape body = region.body;
  const int captured = region.captures.size();
  vec<int> inputs{body.inputs[0]};
  vec<int> operands;
  for (int i = 0; i < captured; ++i) {
    inputs.push_back(body.inputs[body.inputs.size() - captured + i]);
    operands.push_back(emit::resolve(*b, region.captures[i], {}));
  }
  for (int i = 1; i < body.inputs.size() - captured; ++i) inputs.push_back(body.inputs[i]);
  body.inputs = inputs;
  operands.append(operands_on(*b));
  prim::rules::scan::view loop(length, captured, carries);
  if (guarded) loop.guard = 1 + captured;
  return write_loop(*b, body, operands, loop, options);
}

}

template <std::int64_t Steps, class Carry, class Body>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Steps> &&
           detail::LoopBody<Body, Carry>)
constexpr auto fori_loop(const Carry& init, const Body& body, const loop_options& options = {}) {
  static_assert(Steps >= 0, "drx::fori_loop: a negative number of steps");
  if constexpr (error::Reported<detail::loop_result<Body, Carry>>) {
    return error::reported{};
  } else {
    const detail::leaf_refs<Carry> refs(init);
    tracing_builder* b = detail::or_of_constants(refs.innermost());
    const auto region = detail::trace_region(b, detail::loop_body<Body, Carry>{body},
                                             std::type_identity<std::int32_t>{}, std::type_identity<Carry>{});
    const vec<int> r = detail::add_loop(b, region, Steps, leaf_count<Carry>, false, options,
                                        [&](tracing_builder& t) { return refs.on(t); });
    return detail::bound<Carry>(*b, r);
  }
}
template <std::int64_t Steps, class Carry, class Body,
          class Why = decltype(detail::loop_misuse<detail::loop_result<Body, Carry>, Carry>())>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Steps> &&
           !detail::LoopBody<Body, Carry>)
Why fori_loop(const Carry&, const Body&, const loop_options& = {}) = delete;  // drx: the body takes (carry) or (i, carry), and must return the carry's own type: same shapes, element types, structure
template <std::int64_t Steps, class Carry, class Body, class Why = error::loop_has_more_steps_than_an_int32_counts>
  requires(Structured<Carry> && !error::Reported<Carry> && !detail::CountableSteps<Steps>)
Why fori_loop(const Carry&, const Body&, const loop_options& = {}) = delete;  // drx: at most 2147483647 steps: put a loop into a loop

DRX_SILENT(fori_loop)

}

namespace drx {
namespace detail {
template <class A>
concept SquareShape = Array<A> && prim::rules::square_matrix::fits(A::shape);  // drx: identity<array<T, n, n>>(): the last two extents are equal; of others: cast<T>(iota<A, 0>() == iota<A, 1>())
}

template <class A>
  requires detail::SquareShape<A>
constexpr A identity() {
  if (!detail::is_tracing())
    return detail::array_of_elements<A>([](const std::int64_t* at) { return at[A::rank - 2] == at[A::rank - 1]; });
  traced_ref r;
  r.what = traced_ref::kind::identity;
  return A(r);
}

}

namespace drx {
namespace detail {
template <class X, class A>
concept EndOfRange = (Literal<X> || ScalarArray<X>) && Parameter<X, A>;
template <class A>
concept RangeOfNumbers = FloatingArray<A> && A::rank == 1;
template <class A, class X, class Y>
concept RangeWith = RangeOfNumbers<A> && EndOfRange<X, A> && EndOfRange<Y, A>;
template <class X>
concept AnyEnd = Literal<X> || Array<X> || Placed<X>;
template <class A, class X, class Y>
constexpr auto linspace_misuse() {
  if constexpr (Placed<X> || Placed<Y>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!FloatingArray<A>) {
    return error::needs_floating_values{};
  } else if constexpr (A::rank != 1 || (Array<X> && !ScalarArray<X>) || (Array<Y> && !ScalarArray<Y>)) {
    return error::wrong_rank{};
  } else {
    return error::element_types_differ{};
  }
}
}

template <class A, class X, class Y>
  requires detail::RangeWith<A, X, Y>
constexpr A linspace(const X& start, const Y& stop) {
  using T = typename A::value_type;
  constexpr T last = A::size > 1 ? static_cast<T>(A::size - 1) : T(1);
  if constexpr (detail::Literal<X> && detail::Literal<Y>) {
    if (!detail::is_tracing()) {
      return detail::array_of_elements<A>([&](const std::int64_t* at) {
        const T part = static_cast<T>(at[0]) / last;
        return static_cast<T>(start) * (1 - part) + static_cast<T>(stop) * part;
      });
    }
  }
  const A part = iota<A>() / last;
  return start * (1 - part) + stop * part;
}
template <class A, class X, class Y, class Why = decltype(detail::linspace_misuse<A, X, Y>())>
  requires(Array<A> && detail::AnyEnd<X> && detail::AnyEnd<Y> && !detail::RangeWith<A, X, Y>)
Why linspace(const X&, const Y&) = delete;  // drx: linspace<array<float, n>>(start, stop): numbers, or arrays of rank 0 of the element type; of placed values in a map

DRX_SILENT_OF_TYPE(linspace)

}

namespace drx {
namespace detail {
template <class A, class B>
concept LogMultipliable = Multipliable<A, B> && FloatingArray<A>;
template <class A, class B>
constexpr auto log_product_misuse() {
  if constexpr (Multipliable<A, B>) {
    return error::needs_floating_values{};
  } else {
    return product<A, B>::misuse();
  }
}
template <int Axis, class A, class Y>
constexpr auto beside(const Y& y) {
  if constexpr (A::rank == 1) {
    return y;
  } else {
    return keep_axis<A, Axis>(y);
  }
}
}

template <class A, class B> requires detail::LogMultipliable<A, B>
constexpr auto log_matmul(const A& a, const B& b) {
  using T = typename A::value_type;
  if constexpr (is_half<T>) {
    return detail::rounded_once([](const auto& p, const auto& q) { return log_matmul(p, q); }, a, b);
  } else if constexpr (A::size == 0 || B::size == 0) {
    return log(matmul(a, b));
  } else {
    constexpr int rows = B::rank == 1 ? -1 : -2;
    const auto from_a = detail::finite_largest<-1>(a);
    const auto from_b = detail::finite_largest<rows>(b);
    const auto kept_a = detail::beside<-1, A>(from_a);
    const auto kept_b = detail::beside<rows, B>(from_b);
    const auto sums = matmul(exp(a - kept_a), exp(b - kept_b));
    const auto lost = sums < std::numeric_limits<T>::min();
    const auto logs = where(lost, -std::numeric_limits<T>::infinity(), log(where(lost, 1, sums)));
    if constexpr (A::rank > 1 && B::rank > 1) {
      return logs + kept_a + kept_b;
    } else {
      return logs + from_a + from_b;
    }
  }
}
template <class A, class B, class Why = decltype(detail::log_product_misuse<A, B>())>
  requires(Array<A> && Array<B> && !detail::LogMultipliable<A, B>)
Why log_matmul(const A&, const B&) = delete;  // drx: log_matmul of (m, k) and (k, n) of one floating element type, leading axes broadcast; transpose(x) turns one round
template <class A, class B, class Why = detail::no_array_t<A, B>>
  requires detail::NoArrays<A, B>
Why log_matmul(const A&, const B&) = delete;  // drx: do it in a map: map([](auto a, auto b) { return drx::log_matmul(a, b); }, x, y); of a structure leaf by leaf: tree_map

DRX_SILENT(log_matmul)

}

namespace drx {
namespace detail {
template <class A, std::int64_t Last>
struct with_last_axis {
  static constexpr shape value = [] {
    shape s = A::shape;
    s.push_back(Last);
    return s;
  }();
};
template <std::int64_t Classes, class A>
constexpr auto class_mask(const A& labels) {
  using T = typename A::value_type;
  using column = with_last_axis<A, 1>;
  const auto x =
      unary<array_of<T, column>>(labels, [](builder& b, int id) { return emit::reshape(b, id, column::value); });
  return x == iota<array<T, Classes>>();
}
template <class A>
using not_labels_t =
    std::conditional_t<Placed<A>, error::array_operation_on_a_placed_value, error::needs_integer_values>;
}

template <Element T, std::int64_t Classes, class A>
  requires detail::IntegerArray<A>
constexpr auto one_hot(const A& labels) {
  return cast<T>(detail::class_mask<Classes>(labels));
}
template <Element T, std::int64_t Classes, class A, class Why = detail::not_labels_t<A>>
  requires((Array<A> || Placed<A>) && !detail::IntegerArray<A>)
Why one_hot(const A&) = delete;  // drx: of int arrays: cast<int>(x) first; of a placed value in a map

DRX_SILENT_OF_TYPE(one_hot)

}

namespace drx {
namespace detail {
constexpr int permutation_rounds(double n) {
  int rounds = 0;
  for (double reach = 1; reach < n * n * n; reach *= 4294967295.0) ++rounds;
  return rounds;
}
template <std::int64_t N>
constexpr auto unsigned_bits(const prng_key& key) {
  const auto bits = random_bits<std::int32_t, N>(key);
  return cast<std::int64_t>(bits) + where(bits < 0, full<array<std::int64_t, N>>(std::int64_t{1} << 32), 0);
}
template <int Rounds, std::int64_t N>
constexpr array<std::int32_t, N> shuffled(const prng_key& key, const array<std::int32_t, N>& x) {
  if constexpr (Rounds == 0) {
    return x;
  } else {
    const auto keys = split<2>(key);
    return shuffled<Rounds - 1, N>(index<0>(keys), take<0>(x, argsort(unsigned_bits<N>(index<1>(keys)))));
  }
}
}

template <std::int64_t N, class K>
  requires(detail::Key<K> && N > 0)
constexpr array<std::int32_t, N> permutation(const K& key) {
  constexpr int rounds = detail::permutation_rounds(static_cast<double>(N));
  if constexpr (rounds == 0) {
    tracing_builder& b = detail::tape_of(detail::ref_of(key));
    return array<std::int32_t, N>(detail::at(b, emit::iota(b, {dtype::int32, make_shape(N)}, 0)));
  } else {
    const auto keys = split<2>(key);
    return detail::shuffled<rounds - 1, N>(index<0>(keys), argsort(detail::unsigned_bits<N>(index<1>(keys))));
  }
}
template <std::int64_t N, class K, class Why = detail::not_a_key_t<K>>
  requires detail::NotKey<K>
Why permutation(const K&) = delete;  // drx: permutation<n>(key): of a key that random_key(seed), index<i>(split<n>(key)) or fold_in(key, i) gave; of a placed key in a map

DRX_SILENT(permutation)

}

namespace drx {
namespace detail {

template <class X, int I>
struct leaf_of {
  static constexpr abstract_value type = leaf_types<X>()[I];
  static constexpr shape value = type.shape;
  using array_type = array_of<element_t<type.type>, leaf_of>;
};
template <class X, int I>
using leaf_t = typename leaf_of<X, I>::array_type;

template <class X, class... Y>
concept Alike = Structured<X> && !Placed<X> && !error::Reported<X> && (Structured<Y> && ...) &&
                (std::is_same_v<canonical_t<X>, canonical_t<Y>> && ...) && all_unplaced<X>;

template <class X, int First>
struct rebuilt_from_parts;

template <class X, int First, class Results>
constexpr auto rebuilt(const Results& r) {
  constexpr bool same = []<int... I>(std::integer_sequence<int, I...>) {
    return (std::is_same_v<leaf_t<X, I>, std::tuple_element_t<static_cast<std::size_t>(First + I), Results>> && ...);
  }(std::make_integer_sequence<int, leaf_count<X>>{});
  if constexpr (same) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      const traced_ref refs[leaf_count<X> + 1] = {std::get<static_cast<std::size_t>(First + I)>(r).ref()..., {}};
      return structure<X>::bind(refs);
    }(std::make_integer_sequence<int, leaf_count<X>>{});
  } else if constexpr (Array<X>) {
    return std::get<static_cast<std::size_t>(First)>(r);
  } else {
    return rebuilt_from_parts<X, First>::from(r);
  }
}
template <class Parts, int First, class = std::make_index_sequence<std::tuple_size_v<Parts>>>
struct rebuilt_parts;
template <class... X, int First, std::size_t... I>
struct rebuilt_parts<std::tuple<X...>, First, std::index_sequence<I...>> {
  static constexpr int at(std::size_t part) {
    const int counts[] = {leaf_count<X>..., 0};
    int n = First;
    for (std::size_t i = 0; i < part; ++i) n += counts[i];
    return n;
  }
  template <class Results>
  static constexpr auto from(const Results& r) {
    return std::tuple<decltype(rebuilt<canonical_t<X>, at(I)>(r))...>{rebuilt<canonical_t<X>, at(I)>(r)...};
  }
};
template <class X, int First>
struct rebuilt_from_parts : rebuilt_parts<typename structure<X>::parts, First> {};
template <class X, class Y, int First>
struct rebuilt_from_parts<std::pair<X, Y>, First> {
  template <class Results>
  static constexpr auto from(const Results& r) {
    return std::pair<decltype(rebuilt<X, First>(r)), decltype(rebuilt<Y, First + leaf_count<X>>(r))>{
        rebuilt<X, First>(r), rebuilt<Y, First + leaf_count<X>>(r)};
  }
};
template <class X, std::size_t N, int First>
struct rebuilt_from_parts<std::array<X, N>, First> {
  template <class Results>
  static constexpr auto from(const Results& r) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return std::array<decltype(rebuilt<X, First>(r)), N>{rebuilt<X, First + I * leaf_count<X>>(r)...};
    }(std::make_integer_sequence<int, static_cast<int>(N)>{});
  }
};
template <class S, std::int64_t N, int First>
struct rebuilt_from_parts<batched<S, N>, First> {
  template <class Results>
  static constexpr auto from(const Results& r) {
    return rebuilt<S, First>(r);
  }
};

template <class F, class X, class... Y>
struct leaf_results {
  template <int I>
  using of_leaf = call_result_t<F, leaf_t<X, I>, leaf_t<Y, I>...>;
  template <class Check>
  static constexpr bool all(Check check) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return (check(std::type_identity<of_leaf<I>>{}) && ...);
    }(std::make_integer_sequence<int, leaf_count<X>>{});
  }
  static constexpr bool values = all([]<class R>(std::type_identity<R>) { return TracedResult<R>; });
  static constexpr bool complained = !all([]<class R>(std::type_identity<R>) { return !error::Reported<R>; });
  template <int I = 0>
  static constexpr auto misuse() {
    if constexpr (I == leaf_count<X>) {
      return no_misuse{};
    } else if constexpr (!TracedResult<of_leaf<I>>) {
      return result_misuse<of_leaf<I>>();
    } else {
      return misuse<I + 1>();
    }
  }
};
template <class F, class X, class... Y>
constexpr auto tree_map_misuse() {
  if constexpr ((Placed<X> || ... || Placed<Y>)) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!(std::is_same_v<canonical_t<X>, canonical_t<Y>> && ...)) {
    return error::structures_differ{};
  } else if constexpr (!Alike<X, Y...>) {
    return error::array_operation_on_a_placed_value{};
  } else {
    return leaf_results<F, X, Y...>::misuse();
  }
}
template <class... X>
concept Trees = (Structured<X> && ...) && !error::AnyReported<X...>;
template <class F, class... X>
concept LeafFunction = Trees<X...> && std::is_same_v<decltype(tree_map_misuse<F, X...>()), no_misuse>;
}

template <class F, class X, class... Y>
  requires detail::LeafFunction<F, X, Y...>
constexpr auto tree_map(const F& f, const X& x, const Y&... y) {
  using canonical = canonical_t<X>;
  if constexpr (detail::leaf_results<F, X, Y...>::complained) {
    return error::reported{};
  } else {
    const std::tuple refs{detail::leaf_refs<X>(x), detail::leaf_refs<Y>(y)...};
    auto of_leaf = [&]<int I>(std::integral_constant<int, I>) {
      return std::apply([&](const auto&... r) { return f(detail::leaf_t<X, I>(r.ref[I])...); }, refs);
    };
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      const std::tuple<decltype(of_leaf(std::integral_constant<int, I>{}))...> results{
          of_leaf(std::integral_constant<int, I>{})...};
      return detail::rebuilt<canonical, 0>(results);
    }(std::make_integer_sequence<int, leaf_count<X>>{});
  }
}
template <class F, class X, class... Y, class Why = decltype(detail::tree_map_misuse<F, X, Y...>())>
  requires(detail::Trees<X, Y...> && !detail::LeafFunction<F, X, Y...>)
error::reported tree_map(const F&, const X&, const Y&...) = delete;  // drx: tree_map(f, structures of one type): f takes the leaves beside each other and returns a value of drx; of placed values in a map

DRX_SILENT(tree_map)

}

namespace drx {

template <class P, class X>
  requires(Placement<P> && detail::Communicable<X> && all_floating<X>)
constexpr auto pmean(const X& x) {
  return tree_map(
      [](const auto& sum) { return sum / axis_size<P, typename std::remove_cvref_t<decltype(sum)>::value_type>(sum); },
      psum<P>(x));
}
template <class P, class X,
          class Why = std::conditional_t<detail::Communicable<X>, error::needs_floating_values,
                                         error::array_operation_on_a_placed_value>>
  requires(Structured<X> && !error::Reported<X> && !(detail::Communicable<X> && all_floating<X>))
Why pmean(const X&) = delete;  // drx: pmean<P>(x) is of one member's floating value, in a map or pmap over P; of a placed value use reduce_mean

DRX_SILENT_OF_TYPE(pmean)

}

namespace drx {

template <Element T>
struct as_type {};
template <Element T>
inline constexpr as_type<T> as{};

namespace detail {
template <class X, class T>
constexpr auto reduce_as_misuse() {
  if constexpr (!ReducibleMembers<X>) {
    return members_misuse<X>();
  } else {
    constexpr bool floating = all_floating<typename X::member> && is_floating(dtype_of<T>);
    return std::conditional_t<floating, no_misuse, error::needs_floating_values>{};
  }
}
template <class X, class T>
concept ReducibleAs = std::is_same_v<decltype(reduce_as_misuse<X, T>()), no_misuse>;

constexpr int sum_as(builder& b, int x, dtype narrow, const placement_info* p) {
  attributes a;
  a.placement = p;
  const dtype of = b.type(x).type;
  const primitive& sum = is_half_type(narrow) ? prim::sum_of_halves : prim::reduce_sum;
  return emit::cast(b, b.add1(sum, {emit::cast_of_members(b, x, narrow)}, a), is_half_type(of) ? dtype::float32 : of);
}
template <class T, class X, class Finish>
constexpr auto reduce_as(const X& x, Finish finish) {
  constexpr const placement_info* p = &placement_of<typename X::placement>;
  const leaf_refs<X> refs(x);
  tracing_builder& b = common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::cast(b, finish(b, sum_as(b, id, dtype_of<T>, p), p), b.type(id).type);
  return bound<typename X::member>(b, ids);
}
}

template <class X, Element T>
  requires detail::ReducibleAs<X, T>
constexpr auto reduce_sum(const X& x, as_type<T>) {
  return detail::reduce_as<T>(x, [](builder&, int sum, const placement_info*) { return sum; });
}
template <class X, Element T>
  requires detail::ReducibleAs<X, T>
constexpr auto reduce_mean(const X& x, as_type<T>) {
  return detail::reduce_as<T>(x, [](builder& b, int sum, const placement_info* p) {
    const int n = emit::members(b, p, b.type(sum).type);
    const int at_least_one = b.add1(prim::maximum, {n, emit::constant_like(b, n, 1)});
    return emit::div(b, sum, emit::broadcast_to(b, at_least_one, b.shape(sum)));
  });
}
template <class X, class T, class Why = decltype(detail::reduce_as_misuse<X, T>())>
  requires(!error::Reported<X> && !detail::ReducibleAs<X, T>)
Why reduce_sum(const X&, as_type<T>) = delete;  // drx: reduce_sum(placed, drx::as<T>): the members' numbers and T are floating: float, double, bfloat16, float16
template <class X, class T, class Why = decltype(detail::reduce_as_misuse<X, T>())>
  requires(!error::Reported<X> && !detail::ReducibleAs<X, T>)
Why reduce_mean(const X&, as_type<T>) = delete;  // drx: reduce_mean(placed, drx::as<T>): the members' numbers and T are floating: float, double, bfloat16, float16

}

namespace drx {
namespace detail {
template <class X, class W>
constexpr auto weighted_mean_misuse() {
  if constexpr (!Placed<X> || !Placed<W>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (!std::is_same_v<typename X::placement, typename W::placement>) {
    return error::values_of_two_placements_do_not_mix{};
  } else if constexpr (!all_unplaced<typename X::member> || !all_unplaced<typename W::member>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!ScalarArray<typename W::member>) {
    return error::wrong_rank{};
  } else if constexpr (!FloatingArray<typename W::member> ||
                       !(Array<typename X::member> || all_floating<typename X::member>)) {
    return error::needs_floating_values{};
  } else {
    return no_misuse{};
  }
}
template <class X, class W>
concept WeightedMean = std::is_same_v<decltype(weighted_mean_misuse<X, W>()), no_misuse>;
template <class M>
struct mean_of_members {
  using type = M;
};
template <class M>
  requires(Array<M> && !FloatingArray<M>)
struct mean_of_members<M> {
  using type = array_of<double, shape_of<M>>;
};
}

template <class X, class W>
  requires detail::WeightedMean<X, W>
constexpr auto reduce_weighted_mean(const X& x, const W& w) {
  using R = typename detail::mean_of_members<typename X::member>::type;
  constexpr const placement_info* p = &placement_of<typename X::placement>;
  const detail::leaf_refs<X> refs(x);
  const detail::leaf_refs<W> weights(w);
  tracing_builder& b = detail::common_tape(refs, weights);
  int weight = weights.on(b)[0];
  weight = emit::cast_of_members(b, weight, detail::computed_type(b.type(weight).type));
  const int total = emit::reduce_sum(b, weight, p);
  const int nothing = emit::equal(b, total, emit::constant_like(b, total, 0));
  const int divisor =
      emit::where(b, nothing, emit::constant_like(b, total, 1), total);
  vec<int> operands = refs.on(b);
  operands.push_back(weight);
  const vec<int> terms = emit::map(b, p, operands, [=](builder& r, const vec<int>& in) {
    constexpr leaf_types<R> types;
    vec<int> out;
    for (int i = 0; i < leaf_count<R>; ++i) {
      const dtype of = detail::computed_type(types[i].type);
      const int factor = emit::broadcast_to(r, emit::cast(r, in.back(), of), types[i].shape);
      out.push_back(emit::mul(r, factor, emit::cast(r, in[i], of)));
    }
    return out;
  });
  vec<int> means;
  for (int term : terms) {
    const int sum = emit::reduce_sum(b, term, p);
    const abstract_value t = b.type(sum);
    const int mean = emit::div(b, sum, emit::broadcast_to(b, emit::cast(b, divisor, t.type), t.shape));
    const int all_nothing = emit::broadcast_to(b, nothing, t.shape), zero = emit::constant(b, t, 0);
    constexpr leaf_types<R> types;
    means.push_back(emit::cast(b, emit::where(b, all_nothing, zero, mean), types[means.size()].type));
  }
  return detail::bound<R>(b, means);
}
template <class X, class W, class Why = decltype(detail::weighted_mean_misuse<X, W>())>
  requires(Structured<X> && Structured<W> && !error::AnyReported<X, W> && !detail::WeightedMean<X, W>)
Why reduce_weighted_mean(const X&, const W&) = delete;  // drx: reduce_weighted_mean(x, w): both placed at one placement, w a float or double per member

DRX_SILENT(reduce_weighted_mean)

}

namespace drx {
namespace detail {

template <class X>
constexpr std::int64_t common_length() {
  leaf_types<X> types;
  std::int64_t n = -1;
  for (int i = 0; i < leaf_count<X>; ++i) {
    const shape& s = types[i].shape;
    if (s.rank == 0 || (i > 0 && s[0] != n)) return -1;
    n = s[0];
  }
  return n;
}

}

template <class Carry, class Xs, class F>
constexpr auto scan(const F& f, const Carry& init, const Xs& xs, const loop_options& options = {}) {
  constexpr std::int64_t length = detail::common_length<canonical_t<Xs>>();
  static_assert(length >= 0, "drx::scan: the xs are not of one length");
  static_assert(detail::CountableSteps<length>, "drx::scan: loop_has_more_steps_than_an_int32_counts");
  using X = typename detail::drop_axis<canonical_t<Xs>, 0>::type;
  const auto step = [&](const detail::index_t&, const auto& carry, const auto& x) { return f(carry, x); };
  using R = decltype(f(std::declval<traced_t<Carry>>(), std::declval<traced_t<X>>()));
  using C = canonical_t<std::tuple_element_t<0, R>>;
  using Y = canonical_t<std::tuple_element_t<1, R>>;
  static_assert(std::is_same_v<C, canonical_t<Carry>>, "drx::scan: loop_body_changes_the_type_of_its_carry");
  const detail::leaf_refs<Carry> refs(init);
  const detail::leaf_refs<Xs> xs_refs(xs);
  tracing_builder* b = detail::or_of_constants(detail::inner_of(refs.innermost(), xs_refs.innermost()));
  const auto region = detail::trace_region(b, step, std::type_identity<std::int32_t>{}, std::type_identity<Carry>{},
                                           std::type_identity<X>{});
  const vec<int> r = detail::add_loop(b, region, length, leaf_count<Carry>, false, options, [&](tracing_builder& t) {
    vec<int> ids = refs.on(t);
    ids.append(xs_refs.on(t));
    return ids;
  });
  using Ys = stacked_t<Y, length>;
  return std::pair<traced_t<Carry>, traced_t<Ys>>{detail::bound<Carry>(*b, r),
                                                  detail::bound<Ys>(*b, r, leaf_count<Carry>)};
}

DRX_SILENT(scan)

}

namespace drx {
namespace detail {
template <class X, class I>
constexpr auto select_misuse() {
  if constexpr (!Placed<X>) {
    return error::reduce_needs_a_placed_value{};
  } else if constexpr (!all_unplaced<typename X::member> || Placed<I>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!Position<I>) {
    return error::needs_integer_values{};
  } else {
    return no_misuse{};
  }
}
template <class X, class I>
concept Selectable = std::is_same_v<decltype(select_misuse<X, I>()), no_misuse>;
}

template <class X, class I>
  requires detail::Selectable<X, I>
constexpr auto select(const X& x, const I& i) {
  constexpr const placement_info* p = &placement_of<typename X::placement>;
  const detail::leaf_refs<X> refs(x);
  const detail::leaf_refs<I> which(i);
  tracing_builder& b = detail::common_tape(refs, which);
  attributes a;
  a.placement = p;
  vec<int> operands = refs.on(b);
  operands.push_back(b.add1(prim::member_index, {}, a));
  operands.push_back(emit::broadcast(b, emit::cast(b, which.on(b)[0], dtype::int64), p));
  const int leaves = leaf_count<X>;
  vec<int> found = emit::map(b, p, operands, [=](builder& r, const vec<int>& in) {
    const int here = emit::equal(r, in[leaves], in[leaves + 1]);
    vec<int> out;
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const bool is_bool = r.type(in[leaf]).type == dtype::boolean;
      const int v = is_bool ? emit::cast(r, in[leaf], dtype::int32) : in[leaf];
      const int all_here = emit::broadcast_to(r, here, r.shape(v)), zero = emit::constant_like(r, v, 0);
      out.push_back(emit::where(r, all_here, v, zero));
    }
    return out;
  });
  constexpr leaf_types<typename X::member> types;
  for (int leaf = 0; leaf < leaves; ++leaf)
    found[leaf] = emit::cast(b, emit::reduce_sum(b, found[leaf], p), types[leaf].type);
  return detail::bound<typename X::member>(b, found);
}
template <class X, class I, class Why = decltype(detail::select_misuse<X, I>())>
  requires(Structured<X> && Structured<I> && !error::AnyReported<X, I> && !detail::Selectable<X, I>)
Why select(const X&, const I&) = delete;  // drx: select(placed, i): i is an int, or a traced int that is not placed

DRX_SILENT(select)

}

namespace drx {
namespace detail {
template <class A, class B>
concept ClassNumbers = SoftmaxOperand<A, -1> && IntegerArray<B> && without_axis(A::shape, A::rank - 1) == B::shape;
template <class A, class B>
concept ClassProbabilities = SoftmaxOperand<A, -1> && std::is_same_v<A, B>;
template <class A, class B>
concept Labelled = ClassNumbers<A, B> || ClassProbabilities<A, B>;
template <class A, class B>
constexpr auto labelled_misuse() {
  if constexpr (Placed<A> || Placed<B>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!SoftmaxOperand<A, -1>) {
    return softmax_misuse<A, -1>();
  } else if constexpr (!Array<B>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!IntegerArray<B> && !std::is_same_v<typename A::value_type, typename B::value_type>) {
    return error::element_types_differ{};
  } else {
    return error::extents_differ{};
  }
}
}

template <class A, class B>
  requires detail::Labelled<A, B>
constexpr auto softmax_cross_entropy(const A& logits, const B& labels) {
  if constexpr (detail::ClassNumbers<A, B>) {
    constexpr auto classes = A::shape[A::rank - 1];
    return -sum<-1>(where(detail::class_mask<classes>(labels), log_softmax(logits), typename A::value_type{}));
  } else {
    return -sum<-1>(labels * log_softmax(logits));
  }
}
template <class A, class B, class Why = decltype(detail::labelled_misuse<A, B>())>
  requires((Array<A> || Placed<A>) && (Array<B> || Placed<B>) && !detail::Labelled<A, B>)
Why softmax_cross_entropy(const A&, const B&) = delete;  // drx: (rows, classes) logits with (rows) int labels or (rows, classes) probabilities; of placed values in a map

DRX_SILENT(softmax_cross_entropy)

}

namespace drx {

struct keepdims_t {};
inline constexpr keepdims_t keepdims;
template <int K>
struct ddof_t {
  static_assert(K >= 0, "drx::ddof: at least 0");
};
template <int K>
inline constexpr ddof_t<K> ddof;

namespace detail {
template <class A, int... Axes>
struct kept_axes {
  static constexpr shape value = [] {
    shape s = A::shape;
    for (int i = 0; i < A::rank; ++i)
      if (reduced_axes<A, Axes...>::has(i)) s[i] = 1;
    return s;
  }();
};
template <class A, int... Axes, class Y>
constexpr auto keep_axes(const Y& y) {
  using S = kept_axes<A, Axes...>;
  return unary<array_of<typename Y::value_type, S>>(y,
                                                    [](builder& b, int id) { return emit::reshape(b, id, S::value); });
}

template <class O>
inline constexpr int degrees_of = 0;
template <int K>
inline constexpr int degrees_of<ddof_t<K>> = K;
template <class O>
inline constexpr bool is_ddof = false;
template <int K>
inline constexpr bool is_ddof<ddof_t<K>> = true;
template <class... O>
concept SpreadOptions =
    ((std::is_same_v<O, keepdims_t> || is_ddof<O>) && ...) &&
    (static_cast<int>(std::is_same_v<O, keepdims_t>) + ... + 0) <= 1 && (static_cast<int>(is_ddof<O>) + ... + 0) <= 1;
template <class A, class... O>
struct spread {
  static constexpr int degrees = (degrees_of<O> + ... + 0);
  template <int... Axes>
  static constexpr std::int64_t count() {
    std::int64_t n = 1;
    for (int i = 0; i < A::rank; ++i)
      if (reduced_axes<A, Axes...>::has(i)) n *= A::shape[i];
    return n;
  }
  template <int... Axes>
  static constexpr auto misuse() {
    if constexpr (!Reducible<A, Axes...>) {
      return reduction_misuse<A, Axes...>();
    } else if constexpr (count<Axes...>() <= degrees) {
      return error::not_more_elements_than_ddof{};
    } else {
      return no_misuse{};
    }
  }
  template <int... Axes>
  static constexpr auto variance(const A& x) {
    using T = mean_element<typename A::value_type>;
    const auto from_mean = cast<T>(x) - keep_axes<A, Axes...>(mean<Axes...>(x));
    return sum<Axes...>(from_mean * from_mean) * static_cast<T>(1 / static_cast<double>(count<Axes...>() - degrees));
  }
  template <int... Axes, class Y>
  static constexpr auto shaped(const Y& y) {
    if constexpr ((std::is_same_v<O, keepdims_t> || ...)) {
      return keep_axes<A, Axes...>(y);
    } else {
      return y;
    }
  }
};
template <int... Axes>
struct axis_list {};
template <class Axes, class A, class... O>
inline constexpr bool spreads = false;
template <int... Axes, Array A, class... O>
  requires SpreadOptions<O...>
inline constexpr bool spreads<axis_list<Axes...>, A, O...> =
    std::is_same_v<decltype(spread<A, O...>::template misuse<Axes...>()), no_misuse>;
template <class Axes, class A, class... O>
concept Spreadable = spreads<Axes, A, O...>;
template <class Axes, class A, class... O>
concept NotSpreadable = (Array<A> || Placed<A>) && SpreadOptions<O...> && !Spreadable<Axes, A, O...>;
template <class A, int... Axes>
concept Measurable = FloatingArray<A> && Reducible<A, Axes...>;
template <class A, int... Axes>
constexpr auto norm_misuse() {
  if constexpr (Array<A> && !FloatingArray<A>) {
    return error::needs_floating_values{};
  } else {
    return reduction_misuse<A, Axes...>();
  }
}
}

template <int... Axes, class A> requires detail::Measurable<A, Axes...>
constexpr auto norm(const A& x) {
  return detail::rounded_once([](const auto& y) { return sqrt(sum<Axes...>(y * y)); }, x);
}
template <int... Axes, class A, class... O> requires detail::Spreadable<detail::axis_list<Axes...>, A, O...>
constexpr auto var(const A& x, const O&... options) {
  (static_cast<void>(options), ...);
  return detail::rounded_once(
      []<class C>(const C& y) {
        using S = detail::spread<C, O...>;
        return S::template shaped<Axes...>(S::template variance<Axes...>(y));
      },
      x);
}
template <int... Axes, class A, class... O> requires detail::Spreadable<detail::axis_list<Axes...>, A, O...>
constexpr auto stddev(const A& x, const O&... options) {
  return detail::rounded_once([&](const auto& y) { return sqrt(var<Axes...>(y, options...)); }, x);
}

template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto sum(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(sum<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto mean(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(mean<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto max(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(max<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto min(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(min<Axes...>(x)); }
template <int... Axes, class A> requires detail::Reducible<A, Axes...>
constexpr auto prod(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(prod<Axes...>(x)); }
template <int... Axes, class A> requires detail::Measurable<A, Axes...>
constexpr auto norm(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(norm<Axes...>(x)); }
template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto all_of(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(all_of<Axes...>(x)); }
template <int... Axes, class A> requires detail::Mask<A, Axes...>
constexpr auto any_of(const A& x, keepdims_t) { return detail::keep_axes<A, Axes...>(any_of<Axes...>(x)); }
template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmax(const A& x, keepdims_t) { return detail::keep_axes<A, Axis>(argmax<Axis>(x)); }
template <int Axis = -1, class A> requires detail::Searchable<A, Axis>
constexpr auto argmin(const A& x, keepdims_t) { return detail::keep_axes<A, Axis>(argmin<Axis>(x)); }
template <int Axis = -1, class A> requires detail::SoftmaxOperand<A, Axis>
constexpr auto logsumexp(const A& x, keepdims_t) { return detail::keep_axes<A, Axis>(logsumexp<Axis>(x)); }

template <int... Axes, class A, class Why = decltype(detail::norm_misuse<A, Axes...>())> requires((Array<A> || Placed<A>) && !detail::Measurable<A, Axes...>)
Why norm(const A&) = delete;  // drx: norm<axes...>(array of float or double); of a placed value in a map
template <int... Axes, class A, class... O, class Why = decltype(detail::spread<A, O...>::template misuse<Axes...>())> requires detail::NotSpreadable<detail::axis_list<Axes...>, A, O...>
Why var(const A&, const O&...) = delete;  // drx: var<axes...>(array of numbers) of more than ddof elements; of a placed value in a map
template <int... Axes, class A, class... O, class Why = decltype(detail::spread<A, O...>::template misuse<Axes...>())> requires detail::NotSpreadable<detail::axis_list<Axes...>, A, O...>
Why stddev(const A&, const O&...) = delete;  // drx: stddev<axes...>(array of numbers) of more than ddof elements; of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why sum(const A&, keepdims_t) = delete;  // drx: sum<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why mean(const A&, keepdims_t) = delete;  // drx: mean<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why max(const A&, keepdims_t) = delete;  // drx: max<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why min(const A&, keepdims_t) = delete;  // drx: min<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::reduction_misuse<A, Axes...>())> requires detail::Misreduced<A, Axes...>
Why prod(const A&, keepdims_t) = delete;  // drx: prod<axes...>(array of numbers, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = decltype(detail::norm_misuse<A, Axes...>())> requires((Array<A> || Placed<A>) && !detail::Measurable<A, Axes...>)
Why norm(const A&, keepdims_t) = delete;  // drx: norm<axes...>(array of float or double, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why all_of(const A&, keepdims_t) = delete;  // drx: all_of<axes...>(array of bool, keepdims); of a placed value in a map
template <int... Axes, class A, class Why = detail::not_mask_t<A>> requires(detail::NotMask<A> || Placed<A>)
Why any_of(const A&, keepdims_t) = delete;  // drx: any_of<axes...>(array of bool, keepdims); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmax(const A&, keepdims_t) = delete;  // drx: argmax<axis>(array of numbers with elements, keepdims); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::axis_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::Searchable<A, Axis>)
Why argmin(const A&, keepdims_t) = delete;  // drx: argmin<axis>(array of numbers with elements, keepdims); of a placed value in a map
template <int Axis = -1, class A, class Why = decltype(detail::softmax_misuse<A, Axis>())> requires((Array<A> || Placed<A>) && !detail::SoftmaxOperand<A, Axis>)
Why logsumexp(const A&, keepdims_t) = delete;  // drx: logsumexp<axis>(floating array, keepdims); of a placed value in a map

DRX_SILENT(norm)
DRX_SILENT(stddev)
DRX_SILENT(var)

}

namespace drx {
namespace detail {

template <class X, class A>
constexpr auto compound_mismatch() {
  if constexpr (!Compound<X>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!all_unplaced<X>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (!all_numbers<X>) {
    return error::needs_numbers{};
  } else if constexpr (Compound<A>) {
    return std::conditional_t<std::is_same_v<canonical_t<A>, canonical_t<X>>, no_misuse, error::structures_differ>{};
  } else if constexpr (Literal<A>) {
    return std::conditional_t<number_fits<X, A, true>, no_misuse, error::a_literal_does_not_fit_the_element_type>{};
  } else if constexpr (ScalarArray<A>) {
    return std::conditional_t<number_fits<X, typename A::value_type, false>, no_misuse, error::element_types_differ>{};
  } else {
    return error::structures_differ{};
  }
}
template <class A, class B>
constexpr auto structure_mismatch() {
  if constexpr (Compound<A>) {
    return compound_mismatch<A, B>();
  } else {
    return compound_mismatch<B, A>();
  }
}
template <class A, class B>
concept CompoundPair =
    (Compound<A> && (Compound<B> || Array<B> || Literal<B>)) || ((Array<A> || Literal<A>) && Compound<B>);
template <class A, class B>
concept LeafByLeaf = CompoundPair<A, B> && std::is_same_v<decltype(structure_mismatch<A, B>()), no_misuse>;
template <class A, class B>
concept NotLeafByLeaf = CompoundPair<A, B> && !LeafByLeaf<A, B>;
template <class A, class B>
using structure_mismatch_t = decltype(structure_mismatch<A, B>());

template <class A, class B>
constexpr auto leaf_by_leaf(const primitive& p, const A& a, const B& b) {
  using R = canonical_t<std::conditional_t<Compound<A>, A, B>>;
  const leaf_refs<A> left(a);
  const leaf_refs<B> right(b);
  tracing_builder& t = common_tape(left, right);
  constexpr leaf_types<R> types;
  vec<int> ids;
  for (int i = 0; i < leaf_count<R>; ++i) {
    auto operand = [&]<class X>(const leaf_refs<X>& x) {
      if constexpr (Compound<X>) {
        return emit::resolve(t, x.ref[i], types[i]);
      } else {
        return emit::broadcast_to(t, emit::resolve(t, x.ref[0], types[i].with_shape({})), types[i].shape);
      }
    };
    ids.push_back(t.add1(p, {operand(left), operand(right)}));
  }
  return bound<R>(t, ids);
}
}

template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator+(const A& a, const B& b) { return detail::leaf_by_leaf(prim::add, a, b); }
template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator-(const A& a, const B& b) { return detail::leaf_by_leaf(prim::sub, a, b); }
template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator*(const A& a, const B& b) { return detail::leaf_by_leaf(prim::mul, a, b); }
template <class A, class B> requires detail::LeafByLeaf<A, B>
constexpr auto operator/(const A& a, const B& b) { return detail::leaf_by_leaf(prim::div, a, b); }
template <class A> requires(detail::Compound<A> && detail::all_unplaced<A> && detail::all_numbers<A>)
constexpr auto operator-(const A& a) {
  const detail::leaf_refs<A> refs(a);
  tracing_builder& b = detail::common_tape(refs);
  vec<int> ids = refs.on(b);
  for (int& id : ids) id = emit::neg(b, id);
  return detail::bound<canonical_t<A>>(b, ids);
}

template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator+(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type
template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator-(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type
template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator*(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type
template <class A, class B, class Why = detail::structure_mismatch_t<A, B>> requires detail::NotLeafByLeaf<A, B>
Why operator/(const A&, const B&) = delete;  // drx: structures of one type, or a structure and one number of its element type

}

namespace drx {
namespace detail {

template <class X>
constexpr auto elements_misuse() {
  constexpr bool of_one_type = [] {
    for (int i = 1; i < leaf_count<X>; ++i)
      if (leaf_types<X>()[i].type != leaf_types<X>()[0].type) return false;
    return true;
  }();
  if constexpr (!all_unplaced<X>) {
    return error::array_operation_on_a_placed_value{};
  } else if constexpr (leaf_count<X> == 0 || !all_numbers<X>) {
    return error::needs_numbers{};
  } else {
    return std::conditional_t<of_one_type, no_misuse, error::element_types_differ>{};
  }
}
template <class X>
inline constexpr std::int64_t element_count = [] {
  std::int64_t n = 0;
  for (int i = 0; i < leaf_count<X>; ++i) n += leaf_types<X>()[i].shape.size();
  return n;
}();
template <class F, class X>
constexpr auto of_leaves(const F& f, const X& x) {
  const leaf_refs<X> refs(x);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return f(leaf_t<X, I>(refs.ref[I])...);
  }(std::make_integer_sequence<int, leaf_count<X>>{});
}

template <class X>
inline constexpr bool is_batched = false;
template <class S, std::int64_t N>
inline constexpr bool is_batched<batched<S, N>> = true;
template <int... Axes>
inline constexpr bool only_axis_0 = sizeof...(Axes) == 1 && ((Axes == 0) && ...);

template <class X, int... Axes>
constexpr auto structure_sum_misuse() {
  if constexpr (!Compound<X>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (sizeof...(Axes) == 0) {
    return elements_misuse<X>();
  } else if constexpr (!is_batched<X>) {
    return error::array_operation_on_a_structure{};
  } else if constexpr (!only_axis_0<Axes...>) {
    return error::axis_out_of_range{};
  } else {
    return std::conditional_t<all_numbers<X>, no_misuse, error::needs_numbers>{};
  }
}
template <class X, int... Axes>
constexpr auto structure_mean_misuse() {
  using Why = decltype(structure_sum_misuse<X, Axes...>());
  if constexpr (std::is_same_v<Why, no_misuse> && sizeof...(Axes) > 0) {
    return std::conditional_t<all_floating<X>, no_misuse, error::needs_floating_values>{};
  } else {
    return Why{};
  }
}
template <class X, int... Axes>
constexpr auto batch_extremum_misuse() {
  if constexpr (sizeof...(Axes) == 0) {
    return error::array_operation_on_a_structure{};
  } else {
    return structure_sum_misuse<X, Axes...>();
  }
}
template <class X, class Y>
constexpr auto structure_dot_misuse() {
  if constexpr (!Compound<X> || !Compound<Y>) {
    return error::array_operation_on_a_structure{};
  } else if constexpr (!std::is_same_v<canonical_t<X>, canonical_t<Y>>) {
    return error::structures_differ{};
  } else {
    return elements_misuse<X>();
  }
}
template <class X>
constexpr auto structure_norm_misuse() {
  using Why = decltype(structure_dot_misuse<X, X>());
  if constexpr (std::is_same_v<Why, no_misuse>) {
    return std::conditional_t<all_floating<X>, no_misuse, error::needs_floating_values>{};
  } else {
    return Why{};
  }
}
template <class Why>
concept IsNoMisuse = std::is_same_v<Why, no_misuse>;
template <class... X>
concept AnyCompound =
    ((Compound<X> && NoArray<X>) || ...) && (Structured<X> && ...) && !(Placed<X> || ...) && !error::AnyReported<X...>;

template <class F, class S, std::int64_t N>
constexpr traced_t<S> over_batch(const F& f, const batched<S, N>& x) {
  const leaf_refs<batched<S, N>> refs(x);
  traced_ref results[leaf_count<S> + 1] = {};
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((results[I] = f(leaf_t<batched<S, N>, I>(refs.ref[I])).ref()), ...);
  }(std::make_integer_sequence<int, leaf_count<S>>{});
  return structure<S>::bind(results);
}
}

template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::structure_sum_misuse<X, Axes...>())>)
constexpr auto sum(const X& x) {
  if constexpr (sizeof...(Axes) > 0) {
    return detail::over_batch([](const auto& leaf) { return drx::sum<0>(leaf); }, x);
  } else {
    return detail::of_leaves([](const auto&... leaf) { return (drx::sum(leaf) + ...); }, x);
  }
}
template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::structure_mean_misuse<X, Axes...>())>)
constexpr auto mean(const X& x) {
  if constexpr (sizeof...(Axes) > 0) {
    return detail::over_batch([](const auto& leaf) { return drx::mean<0>(leaf); }, x);
  } else {
    using T = mean_element<typename detail::leaf_t<X, 0>::value_type>;
    using C = detail::computed_element<T>;
    constexpr auto n = static_cast<double>(detail::element_count<X>);
    return drx::cast<T>(detail::of_leaves([](const auto&... leaf) { return (drx::sum(drx::cast<C>(leaf)) + ...); }, x) * static_cast<C>(1 / n));
  }
}
template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::batch_extremum_misuse<X, Axes...>())>)
constexpr auto max(const X& x) { return detail::over_batch([](const auto& leaf) { return drx::max<0>(leaf); }, x); }
template <int... Axes, class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::batch_extremum_misuse<X, Axes...>())>)
constexpr auto min(const X& x) { return detail::over_batch([](const auto& leaf) { return drx::min<0>(leaf); }, x); }
template <class X, class Y> requires(detail::AnyCompound<X, Y> && detail::IsNoMisuse<decltype(detail::structure_dot_misuse<X, Y>())>)
constexpr auto dot(const X& x, const Y& y) { return drx::sum(x * y); }
template <class X> requires(detail::AnyCompound<X> && detail::IsNoMisuse<decltype(detail::structure_norm_misuse<X>())>)
constexpr auto norm(const X& x) { return drx::sqrt(drx::dot(x, x)); }

template <int... Axes, class X, class Why = decltype(detail::structure_sum_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why sum(const X&) = delete;  // drx: sum(structure of numbers of one element type), sum<0>(batched<S, n>); leaf by leaf with tree_map; of placed values in a map
template <int... Axes, class X, class Why = decltype(detail::structure_mean_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why mean(const X&) = delete;  // drx: mean(structure of numbers of one element type), mean<0>(batched<S, n> of floating numbers); leaf by leaf with tree_map; of placed values in a map
template <int... Axes, class X, class Why = decltype(detail::batch_extremum_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why max(const X&) = delete;  // drx: max<0>(batched<S, n>); of other structures leaf by leaf with tree_map; of placed values in a map
template <int... Axes, class X, class Why = decltype(detail::batch_extremum_misuse<X, Axes...>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why min(const X&) = delete;  // drx: min<0>(batched<S, n>); of other structures leaf by leaf with tree_map; of placed values in a map
template <class X, class Y, class Why = decltype(detail::structure_dot_misuse<X, Y>())> requires(detail::AnyCompound<X, Y> && !detail::IsNoMisuse<Why>)
Why dot(const X&, const Y&) = delete;  // drx: dot(x, y) of two structures of one type, all of one element type; of placed values in a map
template <class X, class Why = decltype(detail::structure_norm_misuse<X>())> requires(detail::AnyCompound<X> && !detail::IsNoMisuse<Why>)
Why norm(const X&) = delete;  // drx: norm(structure of numbers of one floating type); of placed values in a map

template <class S, std::int64_t N, class I>
  requires detail::Position<I>
constexpr traced_t<S> index(const batched<S, N>& x, const I& i) {
  return detail::over_batch([&](const auto& leaf) { return drx::index(leaf, i); }, x);
}

}

namespace drx {
template <int K = 0, class A> requires detail::HasAxes<A, 2>
constexpr A tril(const A& x) {
  using I = array_of<std::int32_t, shape_of<A>>;
  return where(iota<I, -2>() + K >= iota<I, -1>(), x, typename A::value_type{});
}
template <int K = 0, class A> requires detail::HasAxes<A, 2>
constexpr A triu(const A& x) {
  using I = array_of<std::int32_t, shape_of<A>>;
  return where(iota<I, -2>() + K <= iota<I, -1>(), x, typename A::value_type{});
}

template <int K = 0, class A, class Why = detail::not_axes_t<A>> requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 2>)
Why tril(const A&) = delete;  // drx: of matrices, the last two axes; of a placed value in a map
template <int K = 0, class A, class Why = detail::not_axes_t<A>> requires((Array<A> || Placed<A>) && !detail::HasAxes<A, 2>)
Why triu(const A&) = delete;  // drx: of matrices, the last two axes; of a placed value in a map

DRX_SILENT(tril)
DRX_SILENT(triu)

}

namespace drx {
namespace detail {

template <class Cond, class Body, class Carry>
constexpr auto while_misuse() {
  if constexpr (!TracedResult<call_result_t<Cond, traced_t<Carry>>>) {
    return result_misuse<call_result_t<Cond, traced_t<Carry>>>();
  } else if constexpr (!error::Reported<call_result_t<Cond, traced_t<Carry>>> &&
                       !Condition<call_result_t<Cond, traced_t<Carry>>>) {
    return error::condition_is_not_one_bool{};
  } else {
    return loop_misuse<loop_result<Body, Carry>, Carry>();
  }
}
template <class Cond, class Body, class Carry>
concept WhileLoop = std::is_same_v<decltype(while_misuse<Cond, Body, Carry>()), no_misuse>;

template <class Cond, class Body, class Carry>
struct while_step {
  const Cond& condition;
  const Body& body;
  constexpr auto operator()(const index_t& i, const array<bool>&, const traced_t<Carry>& carry) const {
    tracing_builder& b = *ref_of(i).from.tape;
    const auto next = loop_body<Body, Carry>{body}(i, carry);
    using R = std::remove_const_t<decltype(next)>;
    const traced_t<Carry> x = bound<Carry>(b, leaf_refs<R>(next).on(b));
    return std::tuple<array<bool>, traced_t<Carry>>{condition(x), x};
  }
};

}

template <std::int64_t Max = -1, class Cond, class Body, class Carry>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Max> &&
           detail::WhileLoop<Cond, Body, Carry>)
constexpr auto while_loop(const Cond& condition, const Body& body, const Carry& init,
                          const loop_options& options = {}) {
  static_assert(Max >= -1, "drx::while_loop: a negative number of steps");
  if constexpr (error::AnyReported<detail::loop_result<Body, Carry>, detail::call_result_t<Cond, traced_t<Carry>>>) {
    return error::reported{};
  } else {
    const detail::leaf_refs<Carry> refs(init);
    tracing_builder* b = detail::or_of_constants(refs.innermost());
    const auto region = detail::trace_region(b, detail::while_step<Cond, Body, Carry>{condition, body},
                                             std::type_identity<std::int32_t>{}, std::type_identity<bool>{},
                                             std::type_identity<Carry>{});
    std::optional<std::int64_t> length;
    if (Max >= 0) length = Max;
    const vec<int> r =
        detail::add_loop(b, region, length, 1 + leaf_count<Carry>, true, options, [&](tracing_builder& t) {
          const vec<int> start = refs.on(t);
          const auto holds = condition(detail::bound<Carry>(t, start));
          vec<int> ids = detail::leaf_refs<std::remove_const_t<decltype(holds)>>(holds).on(t);
          ids.append(start);
          return ids;
        });
    return detail::bound<Carry>(*b, r, 1);
  }
}
template <std::int64_t Max = -1, class Cond, class Body, class Carry,
          class Why = decltype(detail::while_misuse<Cond, Body, Carry>())>
  requires(Structured<Carry> && !error::Reported<Carry> && detail::CountableSteps<Max> &&
           !detail::WhileLoop<Cond, Body, Carry>)
Why while_loop(const Cond&, const Body&, const Carry&, const loop_options& = {}) = delete;  // drx: while_loop(condition, body, carry): condition(carry) is one bool, a drx::array<bool>; body(carry) or body(i, carry) returns the carry's own type
template <std::int64_t Max, class Cond, class Body, class Carry,
          class Why = error::loop_has_more_steps_than_an_int32_counts>
  requires(Structured<Carry> && !error::Reported<Carry> && !detail::CountableSteps<Max>)
Why while_loop(const Cond&, const Body&, const Carry&, const loop_options& = {}) = delete;  // drx: a bound of at most 2147483647 steps, or none: while_loop(condition, body, carry)

DRX_SILENT(while_loop)

}

namespace drx {

inline std::string show(const abstract_value& v) {
  std::string s = name_of(v.type);
  if (v.shape.rank > 0) {
    for (int i = 0; i < v.shape.rank; ++i) {
      s += i ? ',' : '[';
      s += std::to_string(v.shape[i]);
    }
    s += ']';
  }
  for (int i = v.depth - 1; i >= 0; --i) {
    s += '@';
    s += v.placements[i]->name;
  }
  return s;
}

namespace detail {
inline std::string show_values(const tape& t, const vec<int>& ids, bool types) {
  std::string s;
  for (int i = 0; i < ids.size(); ++i)
    s += (i ? ", %" : "%") + std::to_string(ids[i]) + (types ? ": " + show(t.values[ids[i]]) : "");
  return s;
}
inline std::string show_entry(const tape& t, const entry& e) {
  std::string s = show_values(t, e.results, true) + " = " + e.prim->name;
  const std::string attributes = e.prim->print ? e.prim->print(e.attrs) : "";
  if (!attributes.empty()) s += "[" + attributes + "]";
  if (!e.operands.empty()) s += " " + show_values(t, e.operands, false);
  return s;
}
inline void show_region(const tape& t, const std::string& indent, std::string& out) {
  out += "(" + show_values(t, t.inputs, true) + ") {\n";
  for (const entry& e : t.entries) {
    out += indent + "  " + show_entry(t, e);
    for (const tape& r : e.regions) {
      out += " ";
      show_region(r, indent + "  ", out);
    }
    out += "\n";
  }
  out += indent + "  return " + show_values(t, t.outputs, false) + "\n" + indent + "}";
}
}

inline std::string show(const tape& t) {
  std::string s;
  detail::show_region(t, "", s);
  return s + "\n";
}

}

namespace drx {

constexpr bool check(const tape& t) {
  vec<bool> defined(t.values.size(), false);
  for (int i : t.inputs) {
    typing::require(!defined[i], "a tape's input is listed twice");
    defined[i] = true;
  }
  for (const entry& e : t.entries) {
    for (int o : e.operands) typing::require(o >= 0 && defined[o], "an operand is used before its definition");
    for (const tape& region : e.regions) check(region);
    const vec<abstract_value> operands = t.types_of(e.operands);
    const vec<abstract_value> results = e.prim->type({operands, e.attrs, e.regions});
    typing::require(results == t.types_of(e.results), "an entry's result is not of the type that its rule gives");
    for (int r : e.results) {
      typing::require(!defined[r], "a value is defined twice");
      defined[r] = true;
    }
  }
  for (int o : t.outputs) typing::require(o >= 0 && defined[o], "an output is not defined");
  return true;
}

}

namespace drx::transform {

constexpr tape jvp(const tape& t, const vec<bool>& moving);
constexpr tape pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
constexpr tape pullback_of_member(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
constexpr tape value_and_pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
constexpr tape batch_outputs(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                             vec<bool>& outputs_with_axis, const placement_info* axis);

inline constexpr region_drivers drivers{jvp, pullback, pullback_of_member, value_and_pullback, batch_outputs};

constexpr tape jvp(const tape& t, const vec<bool>& moving) {
  builder b;
  rewriter w(b, t, inputs_like(b, t));
  vec<int> tangent(t.values.size(), zero_tangent);
  for (int i = 0; i < t.inputs.size(); ++i)
    if (moving[i]) tangent[t.inputs[i]] = b.input(t.values[t.inputs[i]]);
  w.write([&](const entry& e) {
    vec<int> results = w.copied(e);
    vec<int> tangents;
    bool any = false;
    for (int o : e.operands) {
      tangents.push_back(tangent[o]);
      any = any || tangent[o] != zero_tangent;
    }
    if (!any) return results;
    if (!e.prim->jvp) throw "drx: this primitive has no forward derivative";
    const vec<int> moved = e.prim->jvp({b, e, w.operands(e), results, drivers}, tangents);
    const bool again = moved.size() > results.size();
    for (int i = 0; i < results.size(); ++i) {
      tangent[e.results[i]] = moved[i];
      if (again) results[i] = moved[results.size() + i];
    }
    return results;
  });
  for (int o : w.outputs()) b.output(o);
  for (int o : t.outputs)
    if (is_floating(t.values[o].type)) b.output(emit::instantiate_zeros(b, tangent[o], w.names[o]));
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}

constexpr tape vjp(const tape& t, const vec<bool>& wanted, const vec<bool>& given, bool keep) {
  builder b;
  rewriter w(b, t, inputs_like(b, t));
  vec<bool> active(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) active[t.inputs[i]] = wanted[i] && is_floating(t.values[t.inputs[i]].type);
  vec<int> cotangent(t.values.size(), zero_tangent);
  vec<int> cotangent_inputs;
  for (int i = 0; i < t.outputs.size(); ++i)
    cotangent_inputs.push_back(given[i] ? b.input(t.values[t.outputs[i]]) : zero_tangent);

  vec<vec<int>> residuals;
  w.write([&](const entry& e) {
    vec<bool> operands_wanted;
    for (int o : e.operands) operands_wanted.push_back(active[o]);
    const bool any = operands_wanted.find(true) >= 0;
    for (int r : e.results) active[r] = any && is_floating(t.values[r].type);
    residuals.push_back({});
    if (!any || !e.prim->augmented) return w.copied(e);
    const vec<int> all = e.prim->augmented({b, e, w.operands(e), {}, drivers}, operands_wanted);
    for (int k = e.results.size(); k < all.size(); ++k) residuals.back().push_back(all[k]);
    return all;
  });

  for (int i = 0; i < t.outputs.size(); ++i)
    cotangent[t.outputs[i]] = emit::accumulate(b, cotangent[t.outputs[i]], cotangent_inputs[i]);
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    vec<int> ct;
    bool any = false;
    for (int r : e.results) {
      ct.push_back(active[r] ? cotangent[r] : zero_tangent);
      any = any || ct.back() != zero_tangent;
    }
    if (!any) continue;
    if (!e.prim->vjp)
      throw "drx: this primitive has no reverse derivative; put stop_gradient around it or give it a rule";
    vec<bool> operands_wanted;
    for (int o : e.operands) operands_wanted.push_back(active[o]);
    const vec<int> operands = w.operands(e);
    const vec<int> results = renamed(e.results, w.names);
    const vec<int> back = e.prim->vjp({b, e, operands, results, drivers, residuals[i]}, ct, operands_wanted);
    for (int k = 0; k < back.size(); ++k)
      if (operands_wanted[k]) cotangent[e.operands[k]] = emit::accumulate(b, cotangent[e.operands[k]], back[k]);
  }
  if (keep)
    for (int o : w.outputs()) b.output(o);
  for (int i = 0; i < t.inputs.size(); ++i)
    if (wanted[i]) {
      const int ct = cotangent[t.inputs[i]];
      b.output(emit::instantiate_zeros(b, ct, w.names[t.inputs[i]]));
    }
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}
constexpr tape pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  return vjp(t, wanted, given, false);
}
constexpr tape value_and_pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  return vjp(t, wanted, given, true);
}

constexpr tape batch_where_needed(const tape& t, const vec<bool>& batched, std::int64_t n, vec<bool>& outputs_with_axis,
                                  const placement_info* axis = nullptr) {
  region_drivers along = drivers;
  along.axis = axis;
  builder b;
  vec<int> inputs;
  vec<bool> has_axis(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) {
    const abstract_value& v = t.values[t.inputs[i]];
    inputs.push_back(b.input(batched[i] ? v.with_shape(with_front(v.shape, n)) : v));
    has_axis[t.inputs[i]] = batched[i];
  }
  rewriter w(b, t, inputs);
  w.write([&](const entry& e) {
    vec<bool> on;
    for (int o : e.operands) on.push_back(has_axis[o]);
    bool any = on.find(true) >= 0;
    if (any && !e.prim->batch) throw "drx: this primitive has no batching rule";
    if (axis && e.attrs.placement == axis && e.prim->along_axis) {
      const along_axis_result r = e.prim->along_axis({b, e, w.operands(e), {}, along}, any, n);
      has_axis[e.results[0]] = r.has_axis;
      return vec<int>{r.id};
    }
    for (const tape& r : e.regions) any = any || (axis && drx::detail::uses_axis(r, axis));
    for (int r : e.results) has_axis[r] = any;
    if (!any) return w.copied(e);
    return e.prim->batch({b, e, w.operands(e), {}, along}, on, n);
  });
  for (int o : t.outputs) {
    b.output(w.names[o]);
    outputs_with_axis.push_back(has_axis[o]);
  }
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}
constexpr tape batch_outputs(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                             vec<bool>& outputs_with_axis, const placement_info* axis) {
  vec<bool> has_axis;
  tape r = batch_where_needed(t, batched, n, has_axis, axis);
  builder b;
  vec<int> out = inline_tape(b, r, inputs_like(b, r));
  for (int i = 0; i < out.size(); ++i) {
    if (must[i] && !has_axis[i]) {
      out[i] = emit::repeated(b, out[i], n);
      has_axis[i] = true;
    }
    b.output(out[i]);
  }
  outputs_with_axis = has_axis;
  return without_dead_entries(b.take());
}
constexpr tape batch(const tape& t, const vec<bool>& batched, std::int64_t n, const placement_info* axis = nullptr) {
  vec<bool> all;
  return batch_outputs(t, batched, n, vec<bool>(t.outputs.size(), true), all, axis);
}

constexpr tape pullback_by_tangents(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  builder b;
  const vec<int> inputs = inputs_like(b, t);
  vec<int> cotangents;
  for (int i = 0; i < t.outputs.size(); ++i)
    cotangents.push_back(given[i] ? b.input(t.values[t.outputs[i]]) : zero_tangent);
  for (int number = 0; number < wanted.size(); ++number) {
    if (!wanted[number]) continue;
    const abstract_value& x = t.values[t.inputs[number]];
    vec<bool> along(wanted.size(), false);
    along[number] = true;
    vec<int> in = inputs;
    in.push_back(emit::constant(b, x, 1));
    const vec<int> out = inline_tape(b, jvp(t, along), in);
    int total = zero_tangent, next = t.outputs.size();
    for (int i = 0; i < t.outputs.size(); ++i) {
      if (!is_floating(t.values[t.outputs[i]].type)) continue;
      const int tangent = out[next++];
      if (!given[i]) continue;
      const int product = emit::times(b, cotangents[i], tangent);
      vec<std::int64_t> axes;
      for (int axis = 0; axis < b.shape(product).rank; ++axis) axes.push_back(axis);
      total = emit::accumulate(b, total, emit::sum(b, product, axes));
    }
    b.output(total == zero_tangent ? emit::constant(b, x, 0) : emit::reshape(b, total, x.shape));
  }
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}

constexpr bool suits_tangents(const tape& body, const vec<bool>& wanted) {
  constexpr int most = 2;
  const int first = wanted.find(true);
  if (first < 0) return false;
  const dtype of = body.values[body.inputs[first]].type;
  int numbers = 0;
  for (int i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const abstract_value& x = body.values[body.inputs[i]];
    if (++numbers > most || x.shape.size() != 1 || x.depth > 0 || !is_floating(x.type) || x.type != of) return false;
  }
  for (int o : body.outputs) {
    const abstract_value& y = body.values[o];
    if (y.depth > 0 || (is_floating(y.type) && y.type != of)) return false;
  }
  const auto has = [&](auto property) { return any_entry(body, property); };
  return has([](const entry& e) { return e.prim == &prim::scan; }) && !has([](const entry& e) {
           return !e.prim->jvp || e.prim == &prim::custom_vjp ||
                  (e.prim == &prim::scan && !prim::rules::scan::view(e).length);
         });
}
constexpr tape pullback_of_member(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  if (suits_tangents(t, wanted)) return pullback_by_tangents(t, wanted, given);
  return pullback(t, wanted, given);
}

}

namespace drx::detail {

template <class... X>
struct leaf_offsets {
  static constexpr int total = (leaf_count<X> + ... + 0);
  static constexpr int first(int argument) {
    const int counts[] = {leaf_count<X>..., 0};
    int n = 0;
    for (int i = 0; i < argument; ++i) n += counts[i];
    return n;
  }
};
template <int I, class... X>
using argument_t = std::tuple_element_t<static_cast<std::size_t>(I), std::tuple<X...>>;

template <class F, class... X>
using traced_result = call_result_t<F, traced_t<X>...>;

template <class F, class... X>
concept AlreadyReported = error::AnyReported<X...> || error::Reported<traced_result<F, X...>>;

struct traced_call {
  tape body;
  vec<int> inputs;
  tracing_builder* b;
};
template <class F, class... X>
constexpr traced_call trace_call(tracing_builder* b, const F& f, const X&... x) {
  const auto region = trace_region(b, f, std::type_identity<X>{}...);
  b = with_captures(b, region.captures);
  vec<int> inputs = leaves_on(*b, x...);
  for (const auto& c : region.captures) inputs.push_back(emit::resolve(*b, c, {}));
  return {region.body, inputs, b};
}
template <int... I, class... X>
constexpr vec<bool> leaves_of_arguments(int inputs, std::type_identity<X>...) {
  vec<bool> wanted(inputs, false);
  auto want = [&]<class A>(int argument, std::type_identity<A>) {
    for (int i = 0; i < leaf_count<A>; ++i) wanted[leaf_offsets<X...>::first(argument) + i] = true;
  };
  (want(I, std::type_identity<argument_t<I, X...>>{}), ...);
  return wanted;
}

template <class F, int... I, class... X>
constexpr auto derivative_misuse(std::type_identity<X>...) {
  if constexpr (error::AnyReported<X...>) {
    return no_misuse{};
  } else if constexpr (!(Structured<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else {
    using R = traced_result<F, X...>;
    if constexpr (!TracedResult<R>) {
      return result_misuse<R>();
    } else if constexpr (error::Reported<R>) {
      return no_misuse{};
    } else if constexpr (((I < 0 || I >= static_cast<int>(sizeof...(X))) || ...)) {
      return error::wrong_number_of_arguments{};
    } else if constexpr (!(all_floating<argument_t<I, X...>> && ...)) {
      return error::grad_needs_floating_arguments{};
    } else {
      return no_misuse{};
    }
  }
}

template <class... X>
constexpr auto one_or_tuple(X... x) {
  if constexpr (sizeof...(X) == 1) {
    return (x, ...);
  } else {
    return std::tuple{x...};
  }
}

}

namespace drx {
namespace detail {

constexpr vec<int> in_one_step(builder& b, const tape& body, const vec<int>& inputs) {
  builder step;
  step.input(abstract_value(dtype::int32, {}));
  vec<int> constants, slices, names(inputs.size(), -1);
  const auto add = [&](bool sliced) {
    for (int i = 0; i < inputs.size(); ++i) {
      const abstract_value type = b.type(inputs[i]);
      if ((type.depth == 0 && type.shape.rank < shape::max_rank) != sliced) continue;
      names[i] = step.input(type);
      if (sliced)
        slices.push_back(emit::reshape(b, inputs[i], with_front(type.shape, 1)));
      else
        constants.push_back(inputs[i]);
    }
  };
  add(false);
  add(true);
  for (int o : inline_tape(step, body, names)) step.output(o);
  const prim::rules::scan::view loop(1, constants.size(), 0);
  vec<int> operands = constants;
  operands.append(slices);
  vec<int> results = b.add(prim::scan, operands, loop.make(), vec<tape>{step.result()});
  for (int& r : results) r = emit::reshape(b, r, without_axis(b.shape(r), 0));
  return results;
}

template <class X>
inline constexpr bool has_most_axes = [] {
  const leaf_types<X> leaves;
  for (int i = 0; i < leaf_count<X>; ++i)
    if (leaves[i].shape.rank == shape::max_rank) return true;
  return false;
}();

template <class F>
struct checkpointed {
  F f;

  template <class... X>
  static constexpr auto misuse() {
    if constexpr (AlreadyReported<F, X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else if constexpr (!TracedResult<traced_result<F, X...>>) {
      return result_misuse<traced_result<F, X...>>();
    } else if constexpr (!all_unplaced<canonical_t<traced_result<F, X...>>>) {
      return error::array_operation_on_a_placed_value{};
    } else if constexpr (has_most_axes<canonical_t<traced_result<F, X...>>>) {
      return error::wrong_rank{};
    } else {
      return no_misuse{};
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: checkpoint(f)(x...): f returns unplaced arrays, of at most seven axes, or structures of them; a map's function is checkpointed in the map
    if constexpr (AlreadyReported<F, X...>) {
      return error::reported{};
    } else {
      using R = canonical_t<traced_result<F, X...>>;
      const traced_call call = trace_call(meeting_builder(x...), f, x...);
      return bound<R>(*call.b, in_one_step(*call.b, call.body, call.inputs));
    }
  }
};

}

template <class F>
constexpr auto checkpoint(const F& f) {
  return detail::checkpointed<F>{f};
}

}

namespace drx {
namespace detail {

template <class R>
struct loss_of {
  using type = R;
  static constexpr bool with_auxiliary = false;
};
template <class L, class A>
struct loss_of<std::pair<L, A>> {
  using type = L;
  using auxiliary = A;
  static constexpr bool with_auxiliary = true;
};
template <class L>
concept Loss = FloatingArray<L> && ScalarArray<L>;

template <class F, int... I, class... X>
constexpr auto gradient_misuse(std::type_identity<X>... x) {
  using Why = decltype(derivative_misuse<F, I...>(x...));
  if constexpr (!std::is_same_v<Why, no_misuse> || error::AnyReported<X...>) {
    return Why{};
  } else if constexpr (error::Reported<traced_result<F, X...>> ||
                       Loss<typename loss_of<traced_result<F, X...>>::type>) {
    return no_misuse{};
  } else {
    return error::grad_needs_a_scalar_result{};
  }
}

template <bool WithValue, class F, int... I>
struct gradient {
  F f;

  template <class... X>
  static constexpr auto misuse() {
    return gradient_misuse<F, I...>(std::type_identity<X>{}...);
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: grad is of a function that returns one floating number (reduce with sum or mean); the arguments asked for must be float or double throughout: others are grad<1>(f)
    if constexpr (AlreadyReported<F, X...>) {
      return error::reported{};
    } else {
      return differentiate(x...);
    }
  }

 private:
  template <class... X>
  constexpr auto differentiate(const X&... x) const {
    using offsets = leaf_offsets<X...>;
    using R = traced_result<F, X...>;
    constexpr int auxiliary = leaf_count<R> - 1;
    constexpr bool keep = WithValue || auxiliary > 0;
    const traced_call call = trace_call(meeting_builder(x...), f, x...);
    tracing_builder& b = *call.b;
    const vec<bool> wanted = leaves_of_arguments<I...>(call.inputs.size(), std::type_identity<X>{}...);
    vec<bool> given(1 + auxiliary, false);
    given[0] = true;
    const tape t = transform::vjp(call.body, wanted, given, keep);
    vec<int> inputs = call.inputs;
    inputs.push_back(emit::constant(b, call.body.values[call.body.outputs[0]], 1));
    const vec<int> out = inline_tape(b, t, inputs);
    auto gradient_in = [&]<int J>(std::integral_constant<int, J>) {
      int first = keep ? 1 + auxiliary : 0;
      for (int i = 0; i < offsets::first(J); ++i) first += wanted[i];
      return bound<canonical_t<argument_t<J, X...>>>(b, out, first);
    };
    const auto gradients = one_or_tuple(gradient_in(std::integral_constant<int, I>{})...);
    if constexpr (WithValue) {
      return std::pair{bound<R>(b, out), gradients};
    } else if constexpr (loss_of<R>::with_auxiliary) {
      return std::pair{gradients, bound<typename loss_of<R>::auxiliary>(b, out, 1)};
    } else {
      return gradients;
    }
  }
};

}

template <int... I, class F>
constexpr auto grad(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::gradient<false, F, 0>{f};
  } else {
    return detail::gradient<false, F, I...>{f};
  }
}
template <int... I, class F>
constexpr auto value_and_grad(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::gradient<true, F, 0>{f};
  } else {
    return detail::gradient<true, F, I...>{f};
  }
}

}

namespace drx::transform {

struct split_tape {
  tape known;
  tape rest;
};

constexpr split_tape split(const tape& t, const vec<bool>& late) {
  vec<bool> is_late(t.values.size(), false), is_free(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) is_late[t.inputs[i]] = late[i];
  builder known, rest;
  rewriter in_known(known, t, {}), in_rest(rest, t, {});
  for (int i = 0; i < t.inputs.size(); ++i)
    if (!late[i]) in_known.names[t.inputs[i]] = known.input(t.values[t.inputs[i]]);
  for (const entry& e : t.entries) {
    bool any = false;
    for (int o : e.operands) any = any || is_late[o];
    for (int r : e.results) {
      is_late[r] = any;
      is_free[r] = e.operands.empty();
    }
    if (!any) in_known.name(e, in_known.copied(e));
  }
  auto need = [&](int v) {
    if (is_late[v] || is_free[v] || in_rest.names[v] >= 0) return;
    known.output(in_known.names[v]);
    in_rest.names[v] = rest.input(t.values[v]);
  };
  for (const entry& e : t.entries) {
    bool any = false;
    for (int o : e.operands) any = any || is_late[o];
    if (any)
      for (int o : e.operands) need(o);
  }
  for (int o : t.outputs) need(o);
  for (int i = 0; i < t.inputs.size(); ++i)
    if (late[i]) in_rest.names[t.inputs[i]] = rest.input(t.values[t.inputs[i]]);
  in_rest.write([&](const entry& e) {
    if (e.results.size() > 0 && (is_late[e.results[0]] || is_free[e.results[0]])) return in_rest.copied(e);
    return vec<int>();
  });
  for (int o : in_rest.outputs()) rest.output(o);
  split_tape r{without_dead_entries(known.take()), without_dead_entries(rest.take())};
  check(r.known);
  check(r.rest);
  return r;
}

}

namespace drx {

template <class Out, class... In>
struct linear_function {
  tape body;
  vec<traced_ref> known;

  template <class... X, class Why = std::conditional_t<std::is_same_v<std::tuple<canonical_t<X>...>, std::tuple<In...>>,
                                                       detail::no_misuse, error::structures_differ>>
    requires(detail::NoMisuse<Why> && !error::AnyReported<X...>)
  constexpr auto operator()(const X&... x) const {  // drx: a tangent is of the type of its primal, a cotangent of the type of the result
    tracing_builder* b = detail::with_captures(detail::meeting_builder(x...), known);
    vec<int> inputs;
    for (const auto& k : known) inputs.push_back(emit::resolve(*b, k, {}));
    inputs.append(detail::leaves_on(*b, x...));
    return detail::bound<Out>(*b, inline_tape(*b, body, inputs));
  }
  template <class... X>
    requires error::AnyReported<X...>
  constexpr error::reported operator()(const X&...) const {
    return {};
  }
};

namespace detail {

template <class Out, class... In>
constexpr linear_function<Out, In...> partially_applied(tracing_builder& b, const tape& t, const vec<bool>& late,
                                                        const vec<int>& ids) {
  const transform::split_tape parts = transform::split(t, late);
  linear_function<Out, In...> r{parts.rest, {}};
  for (int id : inline_tape(b, parts.known, ids)) r.known.push_back(at(b, id));
  return r;
}
constexpr tape tangents_only(const tape& body, const vec<bool>& moving) {
  const tape all = transform::jvp(body, moving);
  builder b;
  const vec<int> out = inline_tape(b, all, inputs_like(b, all));
  int next = body.outputs.size();
  for (int i = 0; i < body.outputs.size(); ++i)
    b.output(is_floating(body.values[body.outputs[i]].type) ? out[next++] : emit::zeros_like(b, out[i]));
  return without_dead_entries(b.take());
}
constexpr vec<bool> floating_outputs(const tape& body) {
  vec<bool> r;
  for (int o : body.outputs) r.push_back(is_floating(body.values[o].type));
  return r;
}
constexpr vec<bool> first(int count, int all) {
  vec<bool> r(all, false);
  for (int i = 0; i < count; ++i) r[i] = true;
  return r;
}
constexpr vec<bool> last(int count, int all) {
  vec<bool> r(all, false);
  for (int i = all - count; i < all; ++i) r[i] = true;
  return r;
}

template <class F, class... X>
constexpr auto linearize(const F& f, const X&... x) {
  using R = canonical_t<traced_result<F, X...>>;
  const traced_call call = trace_call(meeting_builder(x...), f, x...);
  constexpr int leaves = leaf_offsets<X...>::total;
  const tape forward = tangents_only(call.body, first(leaves, call.inputs.size()));
  return std::pair{
      bound<R>(*call.b, inline_tape(*call.b, call.body, call.inputs)),
      partially_applied<R, canonical_t<X>...>(*call.b, forward, last(leaves, forward.inputs.size()), call.inputs)};
}
template <class F, class... X>
constexpr auto vjp(const F& f, const X&... x) {
  using R = canonical_t<traced_result<F, X...>>;
  using Gradients = decltype(one_or_tuple(std::declval<canonical_t<X>>()...));
  const traced_call call = trace_call(meeting_builder(x...), f, x...);
  const vec<bool> given = floating_outputs(call.body);
  tape back = transform::pullback(call.body, first(leaf_offsets<X...>::total, call.inputs.size()), given);
  vec<int> inputs;
  int next = call.inputs.size();
  for (int i = 0; i < call.inputs.size(); ++i) inputs.push_back(back.inputs[i]);
  for (int i = 0; i < given.size(); ++i) {
    if (given[i]) {
      inputs.push_back(back.inputs[next++]);
    } else {
      inputs.push_back(back.values.size());
      back.values.push_back(call.body.values[call.body.outputs[i]]);
    }
  }
  back.inputs = inputs;
  return std::pair{bound<R>(*call.b, inline_tape(*call.b, call.body, call.inputs)),
                   partially_applied<Gradients, R>(*call.b, back, last(given.size(), inputs.size()), call.inputs)};
}

template <class F, class... X, std::size_t... I>
constexpr auto jvp(std::index_sequence<I...>, const F& f, const X&... x_then_t) {
  const auto all = std::tie(x_then_t...);
  using R = canonical_t<traced_result<F, std::tuple_element_t<I, std::tuple<X...>>...>>;
  constexpr int leaves = leaf_count<R>;
  tracing_builder* const b = meeting_builder(x_then_t...);
  traced_call call = trace_call(b, f, std::get<I>(all)...);
  const int primals = leaf_offsets<X...>::total / 2;
  const tape forward = transform::jvp(call.body, first(primals, call.inputs.size()));
  call.inputs.append(leaves_on(*call.b, std::get<I + sizeof...(I)>(all)...));
  vec<int> out = inline_tape(*call.b, forward, call.inputs);
  vec<int> tangents;
  int next = leaves;
  for (int i = 0; i < leaves; ++i)
    tangents.push_back(is_floating(call.b->type(out[i]).type) ? out[next++] : emit::zeros_like(*call.b, out[i]));
  return std::pair{bound<R>(*call.b, out), bound<R>(*call.b, tangents)};
}
template <class... X, std::size_t... I>
constexpr bool halves_agree(std::index_sequence<I...>) {
  using all = std::tuple<canonical_t<X>...>;
  return (std::is_same_v<std::tuple_element_t<I, all>, std::tuple_element_t<I + sizeof...(I), all>> && ...);
}
template <class F, class... X, std::size_t... I>
constexpr auto first_half_misuse(std::index_sequence<I...>) {
  using all = std::tuple<X...>;
  return derivative_misuse<F, static_cast<int>(I)...>(std::type_identity<std::tuple_element_t<I, all>>{}...);
}
template <class F, class... X>
constexpr auto jvp_misuse() {
  if constexpr (error::AnyReported<X...>) {
    return no_misuse{};
  } else if constexpr (!(Structured<X> && ...)) {
    return error::not_a_value_of_drx{};
  } else if constexpr (sizeof...(X) == 0 || sizeof...(X) % 2 != 0) {
    return error::wrong_number_of_arguments{};
  } else if constexpr (!halves_agree<X...>(std::make_index_sequence<sizeof...(X) / 2>{})) {
    return error::structures_differ{};
  } else {
    return first_half_misuse<F, X...>(std::make_index_sequence<sizeof...(X) / 2>{});
  }
}
template <class F, class... X>
constexpr auto vjp_misuse() {
  return []<int... I>(std::integer_sequence<int, I...>) {
    return derivative_misuse<F, I...>(std::type_identity<X>{}...);
  }(std::make_integer_sequence<int, sizeof...(X)>{});
}
template <class Why, class... X>
concept Differentiable = sizeof...(X) > 0 && std::is_same_v<Why, no_misuse> && !error::AnyReported<X...>;
template <class Why, class... X>
concept Undifferentiable = !std::is_same_v<Why, no_misuse>;
}

template <class F, class... X>
  requires detail::Differentiable<decltype(detail::jvp_misuse<F, X...>()), X...>
constexpr auto jvp(const F& f, const X&... x_then_t) {
  return detail::jvp(std::make_index_sequence<sizeof...(X) / 2>{}, f, x_then_t...);
}
template <class F, class... X>
  requires detail::Differentiable<decltype(detail::vjp_misuse<F, X...>()), X...>
constexpr auto vjp(const F& f, const X&... x) {
  return detail::vjp(f, x...);
}
template <class F, class... X>
  requires detail::Differentiable<decltype(detail::vjp_misuse<F, X...>()), X...>
constexpr auto linearize(const F& f, const X&... x) {
  return detail::linearize(f, x...);
}

template <class F, class... X, class Why = decltype(detail::jvp_misuse<F, X...>())>
  requires detail::Undifferentiable<Why, X...>
std::pair<Why, Why> jvp(const F&, const X&...) = delete;  // drx: jvp(f, x..., tangents of x...): as many tangents as arguments, of the same types, which must be float or double throughout: capture the others
template <class F, class... X, class Why = decltype(detail::vjp_misuse<F, X...>())>
  requires detail::Undifferentiable<Why, X...>
std::pair<Why, Why> vjp(const F&, const X&...) = delete;  // drx: vjp(f, x...): f must take x..., which must be float or double throughout: capture the others
template <class F, class... X, class Why = decltype(detail::vjp_misuse<F, X...>())>
  requires detail::Undifferentiable<Why, X...>
std::pair<Why, Why> linearize(const F&, const X&...) = delete;  // drx: linearize(f, x...): f must take x..., which must be float or double throughout: capture the others

template <class... X, class F>
  requires detail::Differentiable<decltype(detail::vjp_misuse<F, X...>()), X...>
constexpr auto linear_transpose(const F& f) {
  return [f](const auto& ct) {
    using C = std::remove_cvref_t<decltype(ct)>;
    using R = canonical_t<detail::traced_result<F, X...>>;
    using Gradients = decltype(detail::one_or_tuple(std::declval<canonical_t<X>>()...));
    static_assert(std::is_same_v<canonical_t<C>, R>,
                  "drx::linear_transpose: the cotangent is not of the type of f's result");
    static_assert(all_floating<R>, "drx::linear_transpose: f's result is not float or double throughout");
    tracing_builder* b = detail::meeting_builder(ct);
    const auto region = detail::trace_region(b, f, std::type_identity<X>{}...);
    b = detail::with_captures(b, region.captures);
    constexpr int leaves = detail::leaf_offsets<X...>::total;
    tape back = transform::pullback(region.body, detail::first(leaves, region.body.inputs.size()),
                                    vec<bool>(leaf_count<R>, true));
    vec<bool> used;
    back = pruned_region(back, vec<bool>(leaves, true), vec<bool>(back.inputs.size(), false), used);
    for (int i = 0; i < leaves; ++i)
      if (used[i]) throw "drx: linear_transpose: the function is not linear";
    vec<int> inputs;
    for (const auto& c : region.captures) inputs.push_back(emit::resolve(*b, c, {}));
    inputs.append(detail::leaves_on(*b, ct));
    vec<bool> kept;
    for (int i = leaves; i < used.size(); ++i) kept.push_back(used[i]);
    inputs = filtered(inputs, kept);
    return detail::bound<Gradients>(*b, inline_tape(*b, back, inputs));
  };
}

DRX_SILENT(hvp)
DRX_SILENT(jvp)
DRX_SILENT(linearize)
DRX_SILENT(vjp)

}

namespace drx {
namespace detail {

template <class R, class A>
struct jacobian_of
    : std::conditional_t<ScalarArray<A>, std::type_identity<R>, jacobian_of<typename structure<R>::parts, A>> {};
template <class T, class A>
struct jacobian_of<array<T>, A> {
  using type = A;
};
template <class T, std::int64_t M, std::int64_t... Rest, class A>
struct jacobian_of<array<T, M, Rest...>, A> {
  using type = stacked_t<typename jacobian_of<array<T, Rest...>, A>::type, M>;
};
template <class... R, class A>
struct jacobian_of<std::tuple<R...>, A> {
  using type = std::tuple<typename jacobian_of<R, A>::type...>;
};
template <class R, class S, class A>
struct jacobian_of<std::pair<R, S>, A> {
  using type = std::pair<typename jacobian_of<R, A>::type, typename jacobian_of<S, A>::type>;
};
template <class R, std::size_t N, class A>
struct jacobian_of<std::array<R, N>, A> {
  using type = std::array<typename jacobian_of<R, A>::type, N>;
};
template <class S, std::int64_t N, class A>
struct jacobian_of<batched<S, N>, A> : jacobian_of<decltype(batched<S, N>::leaf), A> {};
template <class R, class A>
constexpr bool arrays_only() {
  const leaf_types<std::tuple<R, A>> t;
  for (int i = 0; i < leaf_count<R> + leaf_count<A>; ++i)
    if (t[i].depth > 0) return false;
  return leaf_count<R> > 0 && leaf_count<A> > 0;
}
template <class R, class A>
constexpr bool one_element_type() {
  const leaf_types<std::tuple<R, A>> t;
  for (int i = 0; i < leaf_count<R> + leaf_count<A>; ++i)
    if (t[i].type != t[0].type) return false;
  return true;
}
template <class R, class A>
constexpr int largest_rank() {
  const leaf_types<std::tuple<R, A>> t;
  int most[2] = {};
  for (int i = 0; i < leaf_count<R> + leaf_count<A>; ++i) {
    int& m = most[i < leaf_count<R> ? 0 : 1];
    if (t[i].shape.rank > m) m = t[i].shape.rank;
  }
  return most[0] + most[1];
}
template <class F, int... I, class... X>
constexpr auto jacobian_misuse(std::type_identity<X>... x) {
  using Why = decltype(derivative_misuse<F, I...>(x...));
  if constexpr (!std::is_same_v<Why, no_misuse> || error::AnyReported<X...>) {
    return Why{};
  } else {
    using R = canonical_t<traced_result<F, X...>>;
    using A = one_or_tuple_t<canonical_t<argument_t<I, X...>>...>;
    if constexpr (error::Reported<R>) {
      return no_misuse{};
    } else if constexpr (!arrays_only<R, A>()) {
      return error::jacobian_needs_arrays{};
    } else if constexpr (!one_element_type<R, A>()) {
      return error::element_types_differ{};
    } else if constexpr (largest_rank<R, A>() > shape::max_rank) {
      return error::wrong_rank{};
    } else {
      return no_misuse{};
    }
  }
}

constexpr vec<int> unit_vectors(builder& b, const vec<abstract_value>& leaves) {
  std::int64_t n = 0, first = 0;
  for (const auto& l : leaves) n += l.shape.size();
  const int unit = emit::identity(b, {leaves[0].type, make_shape(n, n)});
  vec<int> r;
  for (const auto& l : leaves) {
    r.push_back(emit::reshape(b, emit::part_of_axis(b, unit, 1, first, l.shape.size()), with_front(l.shape, n)));
    first += l.shape.size();
  }
  return r;
}

template <bool Forward, class F, int... I>
struct jacobian {
  F f;

  template <class... X>
  static constexpr auto misuse() {
    return jacobian_misuse<F, I...>(std::type_identity<X>{}...);
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: a Jacobian is of arrays, or structures of arrays, in such, all of one floating type and unplaced: reduce or capture what is placed; the argument asked for is jacfwd<I>
    if constexpr (AlreadyReported<F, X...>) {
      return error::reported{};
    } else {
      return differentiate(x...);
    }
  }

 private:
  template <class... X>
  constexpr auto differentiate(const X&... x) const {
    using R = canonical_t<traced_result<F, X...>>;
    using A = one_or_tuple_t<canonical_t<argument_t<I, X...>>...>;
    const traced_call call = trace_call(meeting_builder(x...), f, x...);
    tracing_builder& b = *call.b;
    const vec<bool> in = leaves_of_arguments<I...>(call.inputs.size(), std::type_identity<X>{}...);
    vec<int> argument;
    const auto add = [&]<int J>(std::integral_constant<int, J>) {
      for (int i = 0; i < leaf_count<argument_t<J, X...>>; ++i) argument.push_back(leaf_offsets<X...>::first(J) + i);
    };
    (add(std::integral_constant<int, I>{}), ...);
    tape t;
    if (Forward) {
      t = tangents_only(call.body, in);
    } else {
      t = transform::pullback(call.body, in, vec<bool>(leaf_count<R>, true));
    }
    vec<int> inputs = call.inputs;
    vec<abstract_value> seeds;
    for (int i = inputs.size(); i < t.inputs.size(); ++i) seeds.push_back(t.values[t.inputs[i]]);
    const vec<int> units = unit_vectors(b, seeds);
    inputs.append(units);
    const tape all = transform::batch(t, last(units.size(), t.inputs.size()), b.shape(units[0])[0]);
    vec<int> out = inline_tape(b, all, inputs);
    if (Forward)
      for (int& o : out) {
        vec<std::int64_t> order;
        for (int i = 1; i < b.shape(o).rank; ++i) order.push_back(i);
        order.push_back(0);
        o = emit::transpose(b, o, order);
      }
    const auto rank_among = [&](int input) {
      int n = 0;
      for (int i = 0; i < input; ++i) n += in[i];
      return n;
    };
    vec<int> ids;
    std::int64_t row = 0;
    for (int r = 0; r < leaf_count<R>; ++r) {
      const shape of_result = call.body.values[call.body.outputs[r]].shape;
      for (int a : argument) {
        const shape of_argument = call.body.values[call.body.inputs[a]].shape;
        int j = -1;
        if (Forward) {
          std::int64_t column = 0;
          for (int i = 0; i < rank_among(a); ++i) column += seeds[i].shape.size();
          j = emit::part_of_axis(b, out[r], of_result.rank, column, of_argument.size());
        } else {
          j = emit::part_of_axis(b, out[rank_among(a)], 0, row, of_result.size());
        }
        shape s = of_result;
        for (int i = 0; i < of_argument.rank; ++i) s.push_back(of_argument[i]);
        ids.push_back(emit::reshape(b, j, s));
      }
      row += of_result.size();
    }
    return bound<typename jacobian_of<R, A>::type>(b, ids);
  }
};

}

template <int... I, class F>
constexpr auto jacfwd(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::jacobian<true, F, 0>{f};
  } else {
    return detail::jacobian<true, F, I...>{f};
  }
}
template <int... I, class F>
constexpr auto jacrev(const F& f) {
  if constexpr (sizeof...(I) == 0) {
    return detail::jacobian<false, F, 0>{f};
  } else {
    return detail::jacobian<false, F, I...>{f};
  }
}
template <int... I, class F>
constexpr auto hessian(const F& f) {
  return jacfwd<I...>(grad<I...>(f));
}

namespace detail {
template <class F>
struct full_gradient {
  const F& f;
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return grad<I...>(f)(x...);
    }(std::make_integer_sequence<int, sizeof...(X)>{});
  }
};
}

template <class F, class... X>
  requires(!error::AnyReported<X...>)
constexpr auto hvp(const F& f, const X&... x_then_v) {
  return jvp(detail::full_gradient<F>{f}, x_then_v...).second;
}

}

namespace drx {
namespace prim::rules {
struct custom_root : custom {
  static constexpr vec<int> at_root(const rule_site& s) {
    vec<int> r;
    for (int i = 0; i < captured(s.e.attrs); ++i) r.push_back(s.operands[i]);
    r.append(s.results);
    return r;
  }
  static constexpr vec<bool> moving_captures(const rule_site& s, const vec<bool>& moving) {
    vec<bool> r(captured(s.e.attrs) + s.results.size(), false);
    for (int i = 0; i < captured(s.e.attrs); ++i) r[i] = moving[i];
    return r;
  }
  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    vec<int> inputs = at_root(s);
    vec<bool> moving;
    bool any = false;
    for (int i = 0; i < captured(s.e.attrs); ++i) {
      moving.push_back(tangents[i] != zero_tangent);
      any = any || moving[i];
      if (moving[i]) inputs.push_back(tangents[i]);
    }
    if (!any) return vec<int>(s.results.size(), zero_tangent);
    const vec<int> moved = inline_tape(s.b, s.drivers.jvp(s.e.regions[1], moving_captures(s, moving)), inputs);
    vec<int> solve = at_root(s);
    for (int i = s.results.size(); i < moved.size(); ++i) solve.push_back(moved[i]);
    vec<int> r;
    for (int v : inline_tape(s.b, s.e.regions[2], solve)) r.push_back(emit::neg(s.b, v));
    return r;
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    vec<int> solve = at_root(s);
    for (int i = 0; i < ct.size(); ++i) solve.push_back(emit::instantiate_zeros(s.b, ct[i], s.results[i]));
    vec<int> inputs = at_root(s);
    for (int u : inline_tape(s.b, s.e.regions[3], solve)) inputs.push_back(emit::neg(s.b, u));
    const vec<int> back = inline_tape(
        s.b, s.drivers.vjp(s.e.regions[1], moving_captures(s, wanted), vec<bool>(s.results.size(), true)), inputs);
    vec<int> r(s.operands.size(), zero_tangent);
    int next = 0;
    for (int i = 0; i < captured(s.e.attrs); ++i)
      if (wanted[i]) r[i] = back[next++];
    return r;
  }
};
}

namespace prim {
inline constexpr primitive custom_root{.name = "custom_root",
                                       .type = rules::custom::type,
                                       .jvp = rules::custom_root::jvp,
                                       .vjp = rules::custom_root::vjp,
                                       .batch = rules::custom::batch,
                                       .print = rules::custom::print,
                                       .evaluate = rules::custom::evaluate,
                                       .known = rules::known::of_region,
                                       .known_inside = rules::known::operands_inside,
                                       .transparent = true};
}

namespace detail {
template <class F, class Solve, class X>
constexpr auto root_misuse() {
  if constexpr (error::AnyReported<X>) {
    return no_misuse{};
  } else if constexpr (!Structured<X>) {
    return error::not_a_value_of_drx{};
  } else if constexpr (!all_floating<X> || any_placed<X>) {
    return error::grad_needs_floating_arguments{};
  } else {
    using Why = decltype(rule_misuse<canonical_t<X>, F, X>());
    if constexpr (!std::is_same_v<Why, no_misuse>) {
      return Why{};
    } else {
      return rule_misuse<canonical_t<X>, Solve, X>();
    }
  }
}
}

template <class F, class X, class Solve, class SolveLinear, class Why = decltype(detail::root_misuse<F, Solve, X>())>
  requires(detail::NoMisuse<Why> && !error::Reported<X>)
constexpr auto custom_root(const F& f, const X& guess, const Solve& solve, const SolveLinear& solve_linear) {
  using R = canonical_t<X>;
  tracing_builder* b = detail::meeting_builder(guess);
  const auto x = std::type_identity<R>{};
  const auto tangent = [&](const auto& at, const auto& r) { return solve_linear(drx::linearize(f, at).second, r); };
  const auto transposed = [&](const auto& at, const auto& c) { return solve_linear(drx::vjp(f, at).second, c); };
  return detail::add_custom<R>(
      prim::custom_root, b,
      detail::regions_of_one_entry(detail::trace_region(b, solve, x), detail::trace_region(b, f, x),
                                   detail::trace_region(b, tangent, x, x), detail::trace_region(b, transposed, x, x)),
      guess);
}
template <class F, class X, class Solve, class SolveLinear, class Why = decltype(detail::root_misuse<F, Solve, X>())>
  requires error::Reported<Why>
Why custom_root(const F&, const X&, const Solve&, const SolveLinear&) = delete;  // drx: custom_root(f, guess, solve, solve_linear): f(x) and solve(x) take and return values of the guess's type, unplaced and floating

DRX_SILENT(custom_root)

}

namespace drx {

struct span_of_pool {
  int first = 0;
  int count = 0;
};

struct frozen_entry {
  const primitive* prim = nullptr;
  span_of_pool operands, results, ints;
  double number = 0;
  const placement_info* placement = nullptr;
  int first_region = 0;
  int regions = 0;
};

struct frozen_region {
  span_of_pool inputs, outputs;
  int first_entry = 0;
  int entries = 0;
};

struct frozen_sizes {
  int regions = 0, entries = 0, values = 0, pool = 0;
};

constexpr void measure(const tape& t, frozen_sizes& s) {
  ++s.regions;
  s.entries += t.entries.size();
  s.values += t.values.size();
  s.pool += t.inputs.size() + t.outputs.size();
  for (const entry& e : t.entries) {
    s.pool += e.operands.size() + e.results.size() + e.attrs.ints.size();
    for (const tape& r : e.regions) measure(r, s);
  }
}

struct frozen_view {
  const frozen_region* regions = nullptr;
  const frozen_entry* entries = nullptr;
  const abstract_value* values = nullptr;
  const std::int64_t* pool = nullptr;
  frozen_sizes sizes = {};

  [[nodiscard]] constexpr int_list attributes(const frozen_entry& x) const {
    return {pool + x.ints.first, x.ints.count};
  }
  [[nodiscard]] constexpr tape thaw(int region = 0) const {
    tape t;
    const frozen_region& r = regions[region];
    vec<int> local(sizes.values, -1);
    auto name = [&](std::int64_t id) {
      int& n = local[static_cast<int>(id)];
      if (n < 0) {
        n = t.values.size();
        t.values.push_back(values[id]);
      }
      return n;
    };
    auto names = [&](const span_of_pool& s) {
      vec<int> v;
      for (int i = 0; i < s.count; ++i) v.push_back(name(pool[s.first + i]));
      return v;
    };
    t.inputs = names(r.inputs);
    for (int i = 0; i < r.entries; ++i) {
      const frozen_entry& f = entries[r.first_entry + i];
      entry e;
      e.prim = f.prim;
      e.operands = names(f.operands);
      e.results = names(f.results);
      for (int k = 0; k < f.ints.count; ++k) e.attrs.ints.push_back(pool[f.ints.first + k]);
      e.attrs.number = f.number;
      e.attrs.placement = f.placement;
      for (int k = 0; k < f.regions; ++k) e.regions.push_back(thaw(f.first_region + k));
      t.entries.push_back(static_cast<entry&&>(e));
    }
    t.outputs = names(r.outputs);
    return t;
  }
};

class tape_freezer {
 public:
  constexpr tape_freezer(frozen_region* regions, frozen_entry* entries, abstract_value* values, std::int64_t* pool)
      : regions_(regions), entries_(entries), values_(values), pool_(pool) {}
  constexpr void write(const tape& t) {
    at_ = {.regions = 1};
    store(t, 0);
  }

 private:
  constexpr void store(const tape& t, int region) {
    const int value0 = at_.values;
    for (const auto& v : t.values) values_[at_.values++] = v;
    auto ids = [&](const vec<int>& list) {
      const span_of_pool s{at_.pool, list.size()};
      for (int id : list) pool_[at_.pool++] = value0 + id;
      return s;
    };
    frozen_region& r = regions_[region];
    r.inputs = ids(t.inputs);
    r.outputs = ids(t.outputs);
    r.first_entry = at_.entries;
    r.entries = t.entries.size();
    at_.entries += t.entries.size();
    for (int i = 0; i < t.entries.size(); ++i) {
      const entry& e = t.entries[i];
      frozen_entry& f = entries_[r.first_entry + i];
      f.prim = e.prim;
      f.operands = ids(e.operands);
      f.results = ids(e.results);
      f.ints = {at_.pool, e.attrs.ints.size()};
      for (auto k : e.attrs.ints) pool_[at_.pool++] = k;
      f.number = e.attrs.number;
      f.placement = e.attrs.placement;
      f.first_region = at_.regions;
      f.regions = e.regions.size();
      at_.regions += e.regions.size();
      for (int k = 0; k < e.regions.size(); ++k) store(e.regions[k], f.first_region + k);
    }
  }
  frozen_region* regions_;
  frozen_entry* entries_;
  abstract_value* values_;
  std::int64_t* pool_;
  frozen_sizes at_;
};

template <int Regions, int Entries, int Values, int Pool>
struct frozen_tape {
  static constexpr frozen_sizes sizes{Regions, Entries, Values, Pool};
  frozen_region regions[static_cast<unsigned>(Regions)] = {};
  frozen_entry entries[static_cast<unsigned>(Entries) + 1] = {};
  abstract_value values[static_cast<unsigned>(Values) + 1] = {};
  std::int64_t pool[static_cast<unsigned>(Pool) + 1] = {};

  constexpr void write(const tape& t) { tape_freezer(regions, entries, values, pool).write(t); }
  static constexpr frozen_tape part_of(const frozen_view& t) {
    frozen_tape r;
    for (int i = 0; i < Regions; ++i) r.regions[i] = t.regions[i];
    for (int i = 0; i < Entries; ++i) r.entries[i] = t.entries[i];
    for (int i = 0; i < Values; ++i) r.values[i] = t.values[i];
    for (int i = 0; i < Pool; ++i) r.pool[i] = t.pool[i];
    return r;
  }
  static constexpr frozen_tape of(const tape& t) {
    frozen_tape r;
    r.write(t);
    return r;
  }
  [[nodiscard]] constexpr frozen_view view() const { return {regions, entries, values, pool, sizes}; }
  [[nodiscard]] constexpr int_list attributes(const frozen_entry& x) const {
    return {pool + x.ints.first, x.ints.count};
  }
  [[nodiscard]] constexpr tape thaw(int region = 0) const { return view().thaw(region); }
};

template <int Entries, int Values, int Pool>
struct tape_numbers {
  std::int64_t pool[static_cast<unsigned>(Pool) + 1] = {};
  abstract_value values[static_cast<unsigned>(Values) + 1] = {};
  std::int64_t bytes[static_cast<unsigned>(Values) + 1] = {};
  span_of_pool operands[static_cast<unsigned>(Entries) + 1] = {}, results[static_cast<unsigned>(Entries) + 1] = {},
                                                         ints[static_cast<unsigned>(Entries) + 1] = {};

  template <class Tape>
  explicit constexpr tape_numbers(const Tape& t) {
    for (int i = 0; i < Pool; ++i) pool[i] = t.pool[i];
    for (int v = 0; v < Values; ++v) {
      values[v] = t.values[v];
      bytes[v] = values[v].shape.size() * byte_size(values[v].type);
    }
    for (int e = 0; e < Entries; ++e) {
      operands[e] = t.entries[e].operands;
      results[e] = t.entries[e].results;
      ints[e] = t.entries[e].ints;
    }
  }
  [[nodiscard]] constexpr int operand(int e, int i) const { return static_cast<int>(pool[operands[e].first + i]); }
  [[nodiscard]] constexpr int result(int e, int i) const { return static_cast<int>(pool[results[e].first + i]); }
  [[nodiscard]] constexpr int_list attributes(int e) const { return {pool + ints[e].first, ints[e].count}; }
};

struct frozen_lists {
  vec<frozen_region> regions;
  vec<frozen_entry> entries;
  vec<abstract_value> values;
  vec<std::int64_t> pool;
  frozen_sizes sizes;

  constexpr explicit frozen_lists(const tape& t) {
    measure(t, sizes);
    regions.resize(sizes.regions);
    entries.resize(sizes.entries);
    values.resize(sizes.values);
    pool.resize(sizes.pool);
    tape_freezer(regions.begin(), entries.begin(), values.begin(), pool.begin()).write(t);
  }
  [[nodiscard]] constexpr frozen_view view() const {
    return {regions.begin(), entries.begin(), values.begin(), pool.begin(), sizes};
  }
};

namespace detail {
template <class Maker>
constexpr bool makes_a_tape() {
  const tape t = Maker::make();
  return t.values.size() >= 0;
}
template <class Maker>
concept ConstantTape = requires { typename std::bool_constant<makes_a_tape<Maker>()>; };
struct draft {
  using room = frozen_tape<256, 4096, 4096, 32768>;
  frozen_sizes sizes;
  room tape;

  constexpr explicit draft(const drx::tape& t) {
    measure(t, sizes);
    if (fits()) tape.write(t);
  }
  [[nodiscard]] constexpr bool fits() const {
    return sizes.regions <= room::sizes.regions && sizes.entries <= room::sizes.entries &&
           sizes.values <= room::sizes.values && sizes.pool <= room::sizes.pool;
  }
};
using no_tape = frozen_tape<1, 0, 0, 0>;
template <class Maker>
constexpr bool is_error() {
  if constexpr (error::Noted<Maker>) {
    return !ConstantTape<Maker>;
  } else {
    return false;
  }
}
#if defined(__clang__)
#define DRX_DRAFT(Maker) constexpr const draft& d = drafted<Maker>::value
template <class Maker>
struct drafted {
  static constexpr draft value{Maker::make()};
};
template <class Maker>
concept Freezable =
    !is_error<Maker>() && requires { typename std::bool_constant<(drafted<Maker>::value.sizes.regions > 0)>; };
#else
#define DRX_DRAFT(Maker) constexpr draft d(Maker::make())
template <class Maker>
concept Freezable = !is_error<Maker>();
#endif
template <class Maker>
consteval auto freeze() {
  DRX_DRAFT(Maker);
  constexpr frozen_sizes s = d.sizes;
  using result = frozen_tape<s.regions, s.entries, s.values, s.pool>;
  if constexpr (d.fits()) {
    return result::part_of(d.tape.view());
  } else {
    return result::of(Maker::make());
  }
}
#undef DRX_DRAFT
}

template <class Maker>
struct frozen {
  static constexpr detail::no_tape value{};
};
template <class Maker>
  requires detail::Freezable<Maker>
struct frozen<Maker> {
  static constexpr auto value = detail::freeze<Maker>();
};

}

namespace drx::transform {

namespace detail {
constexpr known_values known_outputs(const tape& t, const known_values& inputs);

constexpr known_values known_in_region(const definitions& definition, const entry& e, int i,
                                       const known_values& operands) {
  known_values r;
  if (e.prim->known_inside) r = e.prim->known_inside({definition, e, operands, known_outputs}, i);
  r.resize(e.regions[i].inputs.size());
  return r;
}
constexpr known_values known_results(const definitions& definition, const entry& e, const known_values& operands) {
  known_values r;
  if (e.prim->known) r = e.prim->known({definition, e, operands, known_outputs});
  r.resize(e.results.size());
  for (int i = 0; i < r.size(); ++i) r[i].finite = r[i].finite || !is_floating(definition.t.values[e.results[i]].type);
  return r;
}
constexpr known_values known_in_tape(const definitions& definition, const known_values& inputs) {
  const tape& t = definition.t;
  known_values all(t.values.size());
  for (int i = 0; i < t.inputs.size(); ++i) {
    all[t.inputs[i]] = inputs[i];
    if (!is_floating(t.values[t.inputs[i]].type)) all[t.inputs[i]].finite = true;
  }
  for (const entry& e : t.entries) {
    known_values operands;
    for (int o : e.operands) operands.push_back(all[o]);
    const known_values results = known_results(definition, e, operands);
    for (int i = 0; i < e.results.size(); ++i) all[e.results[i]] = results[i];
  }
  return all;
}
constexpr known_values known_outputs(const tape& t, const known_values& inputs) {
  const known_values all = known_in_tape(definitions(t), inputs);
  known_values r;
  for (int o : t.outputs) r.push_back(all[o]);
  return r;
}
}

}

namespace drx::transform {

namespace detail {
constexpr bool has_doubts(const tape& t) {
  return any_entry(t,
                   [](const entry& e) { return e.prim == &prim::mul_undecided || e.prim == &prim::matmul_undecided; });
}
constexpr int product_of_elements(builder& b, const entry& e, const vec<int>& operands) {
  const auto [tx, ty] = prim::rules::matmul::view(e);
  const int x = tx ? emit::swap_last_two(b, operands[0]) : operands[0];
  const int y = ty ? operands[1] : emit::swap_last_two(b, operands[1]);
  const int r = b.shape(x).rank;
  const std::int64_t rows = b.shape(x)[r - 2], columns = b.shape(y)[r - 2];
  shape to = b.shape(x);
  to[r - 1] = columns;
  const shape each = b.shape(columns == 1 ? x : y);
  if (rows != 1 && columns != 1) throw "drx: a product of matrices that is in doubt";
  const int of_x = emit::broadcast_to(b, x, each), of_y = emit::broadcast_to(b, y, each),
            all = emit::azmul(b, of_x, of_y);
  return emit::reshape(b, emit::sum(b, all, {r - 1}), to);
}
constexpr tape settled(const tape& t, const known_values& inputs);

constexpr vec<int> settled_entry(rewriter& w, const definitions& definition, const entry& e, const known_values& in) {
  builder& b = w.b;
  const vec<int> operands = w.operands(e);
  const bool finite = e.operands.size() == 2 && in[0].finite && in[1].finite;
  if (e.prim == &prim::mul_undecided)
    return {finite ? emit::mul(b, operands[0], operands[1]) : emit::azmul(b, operands[0], operands[1])};
  if (e.prim == &prim::matmul_undecided) {
    if (finite) return {b.add1(prim::matmul, operands, e.attrs)};
    const bool is_outer = prim::rules::matmul::view(e).inner(b.shape(operands[0])) == 1;
    if (is_outer) return {b.add1(prim::azmatmul, operands, e.attrs)};
    return {product_of_elements(b, e, operands)};
  }
  vec<tape> regions;
  for (int i = 0; i < e.regions.size();
       ++i) {
    if (has_doubts(e.regions[i])) {
      regions.push_back(settled(e.regions[i], known_in_region(definition, e, i, in)));
    } else {
      regions.push_back(e.regions[i]);
    }
  }
  return w.copied(e, regions);
}
constexpr tape settled(const tape& t, const known_values& inputs) {
  const definitions definition(t);
  const known_values known = known_in_tape(definition, inputs);
  return rewritten(t, [&](rewriter& w, const entry& e) {
    known_values in;
    for (int o : e.operands) in.push_back(known[o]);
    return settled_entry(w, definition, e, in);
  });
}
}

constexpr tape settled_products(const tape& t) {
  if (!detail::has_doubts(t)) return t;
  return detail::settled(t, known_values(t.inputs.size(), any_finite()));
}

}

namespace drx {

namespace detail {
template <class F, class... Inputs>
constexpr auto traced_program_result() {
  if constexpr ((Structured<Inputs> && ...)) {
    return std::type_identity<call_result_t<F, traced_t<Inputs>...>>{};
  } else {
    return std::type_identity<error::not_a_value_of_drx>{};
  }
}
template <class X, class... Rest>
constexpr auto first_refusal() {
  if constexpr (Structured<X>) {
    return first_refusal<Rest...>();
  } else {
    return typename refusal<X>::type{};
  }
}
template <class R, class... Inputs>
constexpr auto program_misuse() {
  if constexpr (!(Structured<Inputs> && ...)) {
    return first_refusal<Inputs...>();
  } else {
    return result_misuse<R>();
  }
}
inline constexpr auto nothing = [](const auto&...) { return error::reported{}; };
}

template <auto F, class... Inputs>
struct program {
  using function = std::remove_const_t<decltype(F)>;
  using traced_result = typename decltype(detail::traced_program_result<function, Inputs...>())::type;
  using misuse = decltype(detail::program_misuse<traced_result, Inputs...>());
  using result =
      typename structure<std::conditional_t<Structured<traced_result>, traced_result, error::reported>>::canonical;
  using inputs = std::tuple<Inputs...>;

  static constexpr drx::tape make() {
    if constexpr (error::Reported<result>) {
      return {};
    } else {
      tracing_context trace;
      drx::tape t = transform::settled_products(without_dead_entries(
          detail::trace_region_in<detail::region_kind::function, void>(trace, F, std::type_identity<Inputs>{}...)
              .body));
      check(t);
      return t;
    }
  }
  static constexpr const auto& tape()
    requires(std::is_same_v<misuse, detail::no_misuse>)
  {
    return frozen<program>::value;
  }
  template <class Why = misuse>
    requires error::Reported<Why>
  static const detail::no_tape& tape() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

  template <class... X, class Why = std::conditional_t<sizeof...(X) == sizeof...(Inputs), detail::no_misuse,
                                                       error::wrong_number_of_arguments>>
    requires detail::NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: a program takes as many arguments as it has inputs
    if constexpr (error::AnyReported<result, X...>) {
      return error::reported{};
    } else {
      return F(x...);
    }
  }
};

template <class P>
concept Program = requires { typename P::misuse; } && std::is_same_v<typename P::misuse, detail::no_misuse>;

namespace detail {
template <class P>
struct program_refusal {
  using type = error::not_a_program;
};
template <class P>
  requires requires { typename P::misuse; }
struct program_refusal<P> {
  using type = typename P::misuse;
};
template <class P>
using no_program_t = typename program_refusal<P>::type;
}

template <class... Inputs, class F>
  requires(std::is_empty_v<F> && std::is_default_constructible_v<F>)
constexpr auto define(const F&) {
  return program<F{}, Inputs...>{};
}
template <class... Inputs, class F, class Why = error::traced_lambda_captures_a_runtime_value>
  requires(!std::is_empty_v<F> || !std::is_default_constructible_v<F>)
program<detail::nothing, Inputs...> define(const F&) = delete;  // drx: a traced lambda has no captures: make it an input (an argument of the lambda), or constexpr

template <Program P>
std::string show() {
  return show(P::tape().thaw());
}
template <class P, class Why = detail::no_program_t<P>>
  requires(!Program<P>)
std::string show() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

}

namespace drx {

template <int K>
struct axis_t {};
template <int K>
inline constexpr axis_t<K> axis{};
struct no_axis {};
inline constexpr no_axis none{};

namespace detail {

template <class X, class Axes>
struct batch_axes {
  static constexpr bool fits = false;
};
template <class X>
struct batch_axes<X, no_axis> {
  static constexpr bool fits = true;
  using one = X;
  static constexpr void write(int*& out) {
    for (int i = 0; i < leaf_count<X>; ++i) *out++ = -1;
  }
  template <std::int64_t>
  using all = X;
};
template <class X, int K>
constexpr bool axis_is_there(int more) {
  leaf_types<X> t;
  for (int i = 0; i < leaf_count<X>; ++i) {
    const int rank = t[i].shape.rank + more;
    if (K < -rank || K >= rank || rank > shape::max_rank) return false;
  }
  return true;
}
template <class X, int K>
struct batch_axes<X, axis_t<K>> {
  static constexpr bool fits = true;
  static constexpr bool there = axis_is_there<X, K>(0);
  static constexpr auto without() {
    if constexpr (there) {
      if constexpr (requires { typename drop_axis<X, K>::type; })
        return std::type_identity<typename drop_axis<X, K>::type>{};
    }
  }
  using one = typename std::conditional_t<std::is_void_v<decltype(without())>, std::type_identity<void>,
                                          decltype(without())>::type;
  static constexpr void write(int*& out) {
    leaf_types<X> t;
    for (int i = 0; i < leaf_count<X>; ++i) *out++ = normal_axis(K, t[i].shape.rank);
  }
  template <std::int64_t N>
  using all = typename add_axis<X, N, K>::type;
};
template <class... X, class... A>
  requires(sizeof...(X) == sizeof...(A))
struct batch_axes<std::tuple<X...>, std::tuple<A...>> {
  static constexpr bool fits = (batch_axes<X, A>::fits && ...);
  using one = std::tuple<typename batch_axes<X, A>::one...>;
  static constexpr void write(int*& out) { (batch_axes<X, A>::write(out), ...); }
  template <std::int64_t N>
  using all = std::tuple<typename batch_axes<X, A>::template all<N>...>;
};
template <class X, class Y, class A, class B>
struct batch_axes<std::pair<X, Y>, std::tuple<A, B>> {
  static constexpr bool fits = batch_axes<X, A>::fits && batch_axes<Y, B>::fits;
  using one = std::pair<typename batch_axes<X, A>::one, typename batch_axes<Y, B>::one>;
  static constexpr void write(int*& out) {
    batch_axes<X, A>::write(out);
    batch_axes<Y, B>::write(out);
  }
  template <std::int64_t N>
  using all = std::pair<typename batch_axes<X, A>::template all<N>, typename batch_axes<Y, B>::template all<N>>;
};
template <class Axes, int Arguments, class = std::make_integer_sequence<int, Arguments>>
struct argument_axes;
template <class A, int N, int... I>
struct argument_axes<A, N, std::integer_sequence<int, I...>> {
  template <int>
  using each = A;
  using type = std::tuple<each<I>...>;
};
template <class... A, int N, int... I>
struct argument_axes<std::tuple<A...>, N, std::integer_sequence<int, I...>> {
  using type = std::tuple<A...>;
};

template <class... X>
struct axes_of_leaves {
  int axis[leaf_offsets<X...>::total + 1] = {};
  std::int64_t extent = -1;
  bool equal = true;
  template <class... A>
  constexpr explicit axes_of_leaves(std::type_identity<std::tuple<A...>>) {
    int* out = axis;
    (batch_axes<X, A>::write(out), ...);
    int at = 0;
    const auto compare = [&]<class Y>(std::type_identity<Y>) {
      leaf_types<Y> t;
      for (int i = 0; i < leaf_count<Y>; ++i, ++at)
        if (axis[at] >= 0) {
          const std::int64_t n = t[i].shape[axis[at]];
          equal = equal && (extent < 0 || extent == n);
          extent = n;
        }
    };
    (compare(std::type_identity<X>{}), ...);
  }
};
template <class Name>
constexpr const placement_info* axis_named() {
  if constexpr (std::is_void_v<Name>) {
    return nullptr;
  } else {
    return &placement_of<Name>;
  }
}
template <class Axes, class... X>
struct batching;
template <class... A, class... X>
  requires(sizeof...(A) == sizeof...(X))
struct batching<std::tuple<A...>, X...> {
  static constexpr axes_of_leaves<X...> leaves{std::type_identity<std::tuple<A...>>{}};
  template <class F>
  using result = canonical_t<call_result_t<F, traced_t<typename batch_axes<X, A>::one>...>>;
  template <region_kind Kind, class Name, class F>
  static constexpr auto trace(tracing_builder* b, const F& f) {
    return trace_region<Kind, Name>(b, f, std::type_identity<typename batch_axes<X, A>::one>{}...);
  }
};

template <class F, class Out, class A, class... X>
struct vmap_check;
template <class F, class Out, class... A, class... X>
struct vmap_check<F, Out, std::tuple<A...>, X...> {
  static constexpr auto misuse() {
    if constexpr (sizeof...(A) != sizeof...(X)) {
      return error::wrong_number_of_arguments{};
    } else if constexpr (!(batch_axes<X, A>::fits && ...)) {
      return error::batch_axes_do_not_fit_the_structure{};
    } else if constexpr ((std::is_void_v<typename batch_axes<X, A>::one> || ...)) {
      return error::axis_out_of_range{};
    } else if constexpr (batching<std::tuple<A...>, X...>::leaves.extent < 0) {
      return error::nothing_is_batched{};
    } else if constexpr (!batching<std::tuple<A...>, X...>::leaves.equal) {
      return error::extents_differ{};
    } else {
      using R = call_result_t<F, traced_t<typename batch_axes<X, A>::one>...>;
      if constexpr (!TracedResult<R>) {
        return result_misuse<R>();
      } else if constexpr (error::Reported<R>) {
        return no_misuse{};
      } else if constexpr (!batch_axes<canonical_t<R>, Out>::fits) {
        return error::batch_axes_do_not_fit_the_structure{};
      } else {
        return no_misuse{};
      }
    }
  }
};

template <class F, class In, class Out, class Name = void, bool Parallel = false>
struct batched_function {
  F f;

  template <class... X>
  using axes = typename argument_axes<In, sizeof...(X)>::type;
  template <class... X>
  static constexpr auto misuse() {
    if constexpr (error::AnyReported<X...>) {
      return no_misuse{};
    } else if constexpr (!(Structured<X> && ...)) {
      return error::not_a_value_of_drx{};
    } else {
      return vmap_check<F, Out, axes<X...>, canonical_t<X>...>::misuse();
    }
  }
  template <class... X, class Why = decltype(misuse<X...>())>
    requires NoMisuse<Why>
  constexpr auto operator()(const X&... x) const {  // drx: vmap(f, axes of the arguments, axes of the result): axis<k> or none for each, or a tuple of them for the parts of a tuple; the axes have one common extent; a struct has its axis as drx::batched<S, n>
    if constexpr (error::AnyReported<X...>) {
      return error::reported{};
    } else {
      using plan = batching<axes<X...>, canonical_t<X>...>;
      using R = typename plan::template result<F>;
      if constexpr (error::Reported<R>) {
        return error::reported{};
      } else {
        return write<plan, R>(x...);
      }
    }
  }

 private:
  static constexpr int moved(builder& b, int x, int from, int to) {
    const abstract_value t = b.type(x);
    if (t.depth > 0)
      return emit::map(b, t.placements[0], {x},
                       [=](builder& r, const vec<int>& in) { return vec<int>{moved(r, in[0], from, to)}; })[0];
    vec<std::int64_t> order;
    for (int i = 0; i < t.shape.rank; ++i)
      if (i != from) order.push_back(i);
    vec<std::int64_t> p;
    for (int i = 0, next = 0; i < t.shape.rank; ++i) p.push_back(i == to ? from : order[next++]);
    return emit::transpose(b, x, p);
  }
  static constexpr vec<int> in_parallel(builder& b, const tape& body, vec<int> inputs, const vec<bool>& on,
                                        std::int64_t n, vec<bool>& has_axis) {
    constexpr const placement_info* p = axis_named<Name>();
    for (int i = 0; i < inputs.size(); ++i)
      if (on[i]) inputs[i] = emit::distribute(b, inputs[i], p);
    member_function f(b, p, body);
    vec<int> out = f.write(inputs, on, has_axis);
    for (int i = 0; i < out.size(); ++i)
      if (has_axis[i]) out[i] = emit::gather(b, out[i], n, p);
    return out;
  }
  template <class Plan, class R, class... X>
  constexpr auto write(const X&... x) const {
    using results = batch_axes<R, Out>;
    constexpr std::int64_t n = Plan::leaves.extent;
    tracing_builder* b = meeting_builder(x...);
    const auto region = Plan::template trace<Parallel ? region_kind::parallel : region_kind::loop, Name>(b, f);
    b = with_captures(b, region.captures);
    vec<int> inputs = leaves_on(*b, x...);
    vec<bool> on(region.body.inputs.size(), false);
    for (int i = 0; i < inputs.size(); ++i)
      if (Plan::leaves.axis[i] >= 0) {
        inputs[i] = moved(*b, inputs[i], Plan::leaves.axis[i], 0);
        on[i] = true;
      }
    for (const auto& c : region.captures) inputs.push_back(emit::resolve(*b, c, {}));
    vec<bool> has_axis;
    vec<int> out;
    constexpr const placement_info* name = axis_named<Name>();
    const bool of_shards = Parallel && n > 0 &&
                           (b->context().now().member_body ||
                            b->context().now().parallel);
    const auto laid_out = [&](int& value, bool along) {
      if (of_shards && along) value = emit::with_layout(*b, value, name, n, 0);
    };
    if (Parallel && !of_shards && !has_other_collective(region.body, name)) {
      out = in_parallel(*b, region.body, inputs, on, n, has_axis);
    } else {
      for (int i = 0; i < inputs.size(); ++i) laid_out(inputs[i], on[i]);
      out = inline_tape(*b, transform::batch_where_needed(region.body, on, n, has_axis, name), inputs);
      for (int i = 0; i < out.size(); ++i) laid_out(out[i], has_axis[i]);
    }
    using Y = typename results::template all<n>;
    int to[leaf_count<R> + 1] = {};
    int* at = to;
    batch_axes<Y, Out>::write(at);
    for (int i = 0; i < out.size(); ++i) {
      if (to[i] < 0) {
        if (has_axis[i])
          throw "drx: vmap: a result with axis `none` differs from example to example: reduce it, or give it an axis";
      } else {
        if (!has_axis[i]) out[i] = emit::repeated(*b, out[i], n);
        out[i] = moved(*b, out[i], 0, to[i]);
      }
    }
    return bound<Y>(*b, out);
  }
};

}

template <class F, class In = axis_t<0>, class Out = axis_t<0>>
constexpr auto vmap(const F& f, const In& = {}, const Out& = {}) {
  return detail::batched_function<F, In, Out>{f};
}
template <class Name, class F, class In = axis_t<0>, class Out = axis_t<0>>
  requires Placement<Name>
constexpr auto vmap(const F& f, const In& = {}, const Out& = {}) {
  return detail::batched_function<F, In, Out, Name>{f};
}
template <class Name, class F, class In = axis_t<0>, class Out = axis_t<0>>
  requires Placement<Name>
constexpr auto pmap(const F& f, const In& = {}, const Out& = {}) {
  return detail::batched_function<F, In, Out, Name, true>{f};
}

}

namespace drx {
namespace detail {

constexpr tape with_products_computed(tape t) {
  for (entry& e : t.entries) {
    if (e.prim == &prim::scan) {
      prim::rules::scan::view loop(e);
      if (loop.products == loop_products::by_program) loop.products = loop_products::computed;
      e.attrs = loop.make();
    }
    for (tape& r : e.regions) r = with_products_computed(r);
  }
  return t;
}

}

template <Program P>
struct without_carried_products : P {
#if defined(DRX_NATIVE_TRACING)
  static constexpr drx::tape make() { return detail::with_products_computed(P::make()); }
#else
  static constexpr drx::tape make() { return detail::with_products_computed(P::tape().thaw()); }
#endif
  static constexpr const auto& tape() { return frozen<without_carried_products>::value; }
};

}
