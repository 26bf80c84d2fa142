// drx/run/kernels/fold_operations.hpp: the operations of sums and extrema.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/core/wrapping.hpp>

namespace drx::run::detail {

struct add_op {
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return wrapping_sum(a, b);
  }
};
struct max_op {  // of numbers, or lane by lane
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return ((b > a) | (b != b)) ? b : a;
  }
};
struct min_op {
  template <class T>
  DRX_INLINE T operator()(T a, T b) const {
    return ((b < a) | (b != b)) ? b : a;
  }
};

}  // namespace drx::run::detail
