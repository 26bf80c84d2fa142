// Random programs with their gradients, written while compiling.
#pragma once

#include "programs.hpp"

namespace harness {

/// The number that random_program(Seed, Budget) computes, and its gradient with respect to each input.
template <unsigned Seed, int Budget>
struct compiled_random {
  using matrix = drx::array<double, 3, 5>;
  using row = drx::array<double, 5>;
  using inputs = std::tuple<drx::placed<matrix, clients>, drx::placed<drx::placed<row, rows>, clients>,
                            drx::placed<double, clients>, drx::placed<row, schools>, row, double>;
  using result =
      std::tuple<drx::array<double>, drx::placed<matrix, clients>, drx::placed<drx::placed<row, rows>, clients>,
                 drx::placed<double, clients>, drx::placed<row, schools>, row, drx::array<double>>;
  static constexpr drx::tape make() { return with_gradient(random_program(Seed, Budget)); }
  /// The program of t's first output and its gradient.
  static constexpr drx::tape with_gradient(drx::tape t) {
    const int number = t.outputs[0];
    t.outputs = {number};
    const drx::tape g = drx::transform::vjp(t, vec<bool>(t.inputs.size(), true), {true}, true);
    builder b;
    vec<int> in = drx::inputs_like(b, t);
    in.push_back(drx::emit::constant(b, {dtype::float64, {}}, 1));
    for (int o : drx::inline_tape(b, g, in)) b.output(o);
    return drx::without_dead_entries(b.result());
  }
  static constexpr const auto& tape() { return drx::frozen<compiled_random>::value; }
};

}  // namespace harness
