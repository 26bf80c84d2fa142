// bench/pendulums/inputs.hpp: the pendulums' initial states and the angles observed at the end. A damped pendulum,
//   q' = p,  p' = -pull sin q - damping p,
// by the classical Runge-Kutta method; the error is the mean of (q - seen)^2. jax_twin.py makes the same numbers.
#pragma once

#include <harness.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace pendulums {

inline constexpr int runs = 20000, steps = 100;
inline constexpr float step = 0.02f, pull = 9.81f, damping = 0.1f;

struct inputs {
  std::vector<float> angle, speed, seen;  // [runs]
};
inline inputs make_inputs() {
  inputs in;
  for (auto* v : {&in.angle, &in.speed, &in.seen}) v->resize(runs);
  bench::fill(in.angle.data(), runs, 1, 1.0f);
  bench::fill(in.speed.data(), runs, 2, 1.0f);
  bench::fill(in.seen.data(), runs, 3, 0.5f);
  return in;
}

/// The derivatives by pull and damping, from tangents in double.
inline std::vector<double> reference(const inputs& in) {
  std::vector<double> slope(2);
  const double h = static_cast<double>(step), a = static_cast<double>(pull), b = static_cast<double>(damping);
  for (int n = 0; n < runs; ++n)
    for (int which = 0; which < 2; ++which) {
      const auto i = static_cast<std::size_t>(n);
      double s[4] = {static_cast<double>(in.angle[i]), static_cast<double>(in.speed[i]), 0,
                     0};  // q, p, and their tangents
      for (int t = 0; t < steps; ++t) {
        double k[4][4], at[4];
        for (int r = 0; r < 4; ++r) {
          for (int j = 0; j < 4; ++j) at[j] = s[j] + (r == 0 ? 0 : (r == 3 ? h : h / 2) * k[r - 1][j]);
          k[r][0] = at[1];
          k[r][1] = -a * std::sin(at[0]) - b * at[1];
          k[r][2] = at[3];
          k[r][3] = -a * std::cos(at[0]) * at[2] - b * at[3] - (which == 0 ? std::sin(at[0]) : at[1]);
        }
        for (int j = 0; j < 4; ++j) s[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
      }
      slope[static_cast<std::size_t>(which)] += 2 * (s[0] - static_cast<double>(in.seen[i])) * s[2] / runs;
    }
  return slope;
}

}  // namespace pendulums
