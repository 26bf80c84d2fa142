// drx/algorithms/schedules.hpp: learning rates as functions of the step, a traced number or a plain one.
//
// Tested by tests/unit/algorithms/optimizers.cpp.
#pragma once

#include <drx/algorithms/constants.hpp>
#include <drx/primitives/catalogue.hpp>

#include <numbers>

namespace drx {

/// The same rate in each step (optax.constant_schedule).
struct constant_schedule {
  double rate;
  template <class T>
  constexpr auto operator()(const T& step) const {
    return 0 * step + rate;
  }
};

/// From one rate to another on a straight line over a number of steps (optax.linear_schedule).
struct linear_schedule {
  double from, to, steps;
  template <class T>
  constexpr auto operator()(const T& step) const {
    return from + (to - from) * drx::clamp(step / steps, 0, 1);
  }
};

/// rate factor^(step / steps) (optax.exponential_decay).
struct exponential_decay {
  double rate, factor, steps;
  template <class T>
  constexpr auto operator()(const T& step) const {
    return rate * drx::exp(step * (detail::constant_log(factor) / steps));
  }
};

/// From 0 to the peak on a straight line over the steps of warmup, then down to `end` on half a cosine until `steps`
/// (optax.warmup_cosine_decay_schedule with init_value=0).
struct warmup_cosine_decay {
  double peak, warmup, steps, end = 0;
  template <class T>
  constexpr auto operator()(const T& step) const {
    const auto part = drx::clamp((step - warmup) / (steps - warmup), 0, 1);
    const auto down = end + (peak - end) * (0.5 + 0.5 * drx::cos(std::numbers::pi * part));
    return drx::where(step < warmup, step * (peak / (warmup > 0 ? warmup : 1)), down);
  }
};

}  // namespace drx
