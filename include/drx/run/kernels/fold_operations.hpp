// drx/run/kernels/fold_operations.hpp: the operations of sums and extrema.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/core/wrapping.hpp>
#include <drx/scalar/math.hpp>

#include <concepts>

namespace drx::run::detail {

/// Of two numbers (g++ finds no vectors for a choice between loaded numbers unless it is made on bits), or lane by
/// lane.
template <class Condition, class T>
DRX_INLINE T chosen(Condition condition, T yes, T no) {
  if constexpr (std::floating_point<T>)
    return math::chosen(condition, yes, no);
  else
    return condition ? yes : no;
}

struct add_op {
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return wrapping_sum(a, b);
  }
};
struct times_op {
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return wrapping_product(a, b);
  }
};
struct max_op {
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return chosen((b > a) | (b != b), b, a);
  }
  /// Of two that are no NaN, lane by lane.
  template <class V>
  DRX_INLINE static V of_numbers(V a, V b) {
    return b > a ? b : a;
  }
};
struct min_op {
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return chosen((b < a) | (b != b), b, a);
  }
  /// Of two that are no NaN, lane by lane.
  template <class V>
  DRX_INLINE static V of_numbers(V a, V b) {
    return b < a ? b : a;
  }
};

}  // namespace drx::run::detail
