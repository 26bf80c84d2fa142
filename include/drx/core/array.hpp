// drx/core/array.hpp: arrays of static shape, and the references that they hold while a program is traced.
#pragma once

#include <drx/core/abstract_value.hpp>
#include <drx/core/errors.hpp>
#include <drx/core/native_tracing.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#if defined(DRX_NATIVE_TRACING)
#include <memory>
#endif

namespace drx {

class tracing_builder;  // drx/tracing/builder.hpp

/// The reference to a value while a program is traced: an entry's result on the tape being built, or a constant that
/// has not met a tape yet.
struct traced_ref {
  enum class kind : std::int8_t { none, value, splat, iota, identity, member_index, data, seed };
  union source {
    tracing_builder* tape;            // for a value
    double number;                    // for a splat
    const placement_info* placement;  // for a member_index
    const bool* booleans;             // for data, by element type
    const std::int32_t* int32s;
    const std::int64_t* int64s;
    const float* floats;
    const double* doubles;
    const bfloat16* bfloat16s;
    const float16* float16s;
    std::int64_t seed;  // for a key of random numbers
  };
  source from = {nullptr};
  int id = -1;  // the value's number on that tape; the axis of an iota
  kind what = kind::none;
};

template <class T, class P>
struct placed;

/// A reference to known elements, which must live until it is resolved.
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
struct row_of {  // the type of a row; none without a second axis
  struct type {};
};
template <class T, std::int64_t First, std::int64_t Second, std::int64_t... Rest>
struct row_of<T, First, Second, Rest...> {
  using type = array<T, Second, Rest...>;
};
}  // namespace detail

/// An array of static shape, row-major. It is an unplaced value. While a program is traced it holds a reference to the
/// tape instead of its elements, so that a struct of arrays is its own traced form: `model.w` is an array inside a
/// traced lambda too.
template <Element T, std::int64_t... Extents>
class array {
  static_assert(((Extents >= 0) && ...), "drx::array: an extent is negative");
  static_assert(sizeof...(Extents) <= drx::shape::max_rank, "drx::array: more than eight axes");

 public:
  using value_type = T;
  static constexpr int rank = sizeof...(Extents);
  static constexpr drx::shape shape = make_shape(Extents...);
  static constexpr std::int64_t size = (Extents * ... * 1);

  /// All elements zero.
  constexpr array() : data_{} {}
  /// The number of an array of rank 0.
  constexpr array(T value)
    requires(rank == 0)
      : data_{value} {}
  /// The elements, row-major; numbers are converted.
  template <class... U>
    requires(sizeof...(U) == size && sizeof...(U) > 1 && ((std::is_arithmetic_v<U> || is_half<U>) && ...))
  constexpr array(U... element) : data_{static_cast<T>(element)...} {}
  constexpr explicit array(T element)
    requires(rank > 0 && size == 1)
      : data_{element} {}
  /// The one element of an array<T, 1>, in braces.
  constexpr array(std::initializer_list<T> element)
    requires(rank == 1 && size == 1)
      : data_{} {
    require_extent(element.size(), 1);
    data_[0] = *element.begin();
  }
  /// The parts along the first axis: {{1., 2.}, {3., 4.}}. Throws std::invalid_argument if there are more or fewer of
  /// them than rows.
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
  /// A reference is copied without the room that elements would take.
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

  /// The element at an index for each axis, which is not checked.
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
  /// The element at a flat, row-major position, which is not checked.
  constexpr T& operator[](std::int64_t i) { return data()[i]; }
  constexpr const T& operator[](std::int64_t i) const { return data()[i]; }
  /// The elements in their order, size of them; begin() and end() too.
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
  /// The one element of an array of rank 0.
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
  /// Makes std::sin(x) fail with one error: a conversion to long double leaves a single overload.
  template <class U,
            class Why = std::enable_if_t<std::is_same_v<U, long double>, error::function_of_numbers_on_an_array>,
            int = error::noted<Why>>
  operator U() const = delete;  // drx: drx::sin(x), drx::exp(x), drx::pow(x, y), not std's, of arrays; of one that has elements x[0], or x.item(), is a number
  template <class Why = error::branch_on_a_traced_value, int = error::noted<Why>>
  explicit operator bool() const = delete;  // drx: use drx::where(condition, a, b); outside of a program, .item()

  /// The reference under trace; for an array with elements, these as a constant.
  [[nodiscard]] constexpr traced_ref ref() const { return is_traced() ? ref_ : reference_to(data_); }

 private:
#if defined(DRX_NATIVE_TRACING)
  constexpr void take(const array& other) {
    if (traced_) {
      std::construct_at(&ref_, other.ref_);  // a constant expression where the union held neither
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
#if defined(__CUDACC__)  // its __builtin_constant_p does not tell: elements go by drx::constant there
  [[nodiscard]] static constexpr bool is_traced() { return true; }
  static constexpr void require_elements() {}
#else
#if defined(DRX_NATIVE_TRACING)
  [[nodiscard]] constexpr bool is_traced() const { return traced_; }
#else
  /// In constant evaluation: whether the array holds a reference. (Reading the union's other member is no constant.)
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
  bool traced_ = false;  // which of the two it holds, where no constant evaluation tells
#endif
};

/// A number: an array without axes, of rank 0.
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
}  // namespace detail

/// array<T, extents...> with the extents of the shape S::value. (A shape itself as template argument crashes g++ 12.2
/// in dependent contexts.)
template <class T, class S>
using array_of = typename detail::array_with<T, S>::type;
template <class A>
struct shape_of {
  static constexpr shape value = A::shape;
};

/// An array<T, E...>, perhaps const or a reference.
template <class X>
concept Array = detail::is_array<std::remove_cvref_t<X>>;
/// A placed<S, P>: a value for each member of a placement.
template <class X>
concept Placed = detail::is_placed<std::remove_cvref_t<X>>;
/// An array of rank 0: one number.
template <class X>
concept ScalarArray = Array<X> && std::remove_cvref_t<X>::rank == 0;
/// An array of float or double.
template <class X>
concept FloatingArray = Array<X> && is_floating(dtype_of<typename std::remove_cvref_t<X>::value_type>);

}  // namespace drx
