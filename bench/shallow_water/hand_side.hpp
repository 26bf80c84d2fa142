// bench/shallow_water/hand_side.hpp: the forecast by hand, with OpenMP: each evaluation of the slope is one pass over
// the water, row by row, with what two rows have in common in buffers of a thread.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "inputs.hpp"

namespace shallow_water::bench {

class hand_side {
  static constexpr double cell = 20e3, seconds = 360, gravity = 9.81, rotation = 1e-4;
  static constexpr std::ptrdiff_t width = columns + 16;  // 8 cells before a row, of which one is read, and 8 behind it

  /// A field with a row more on either side.
  class field {
   public:
    double* row(int i) { return at_.data() + (i + 1) * width + 8; }
    [[nodiscard]] const double* row(int i) const { return at_.data() + (i + 1) * width + 8; }

   private:
    std::vector<double> at_ = std::vector<double>(static_cast<std::size_t>((rows + 2) * width));
  };
  using fields = std::array<field, 3>;

  /// What the rows k and k + 1 have in common: flows, potential vorticity, head.
  struct pair_of_rows {
    std::array<double, width> of_along, of_turn, of_head, of_turned_u, of_turned_v;
  };

 public:
  hand_side() {
    for (int f = 0; f < 3; ++f)
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < columns; ++j) start_[static_cast<std::size_t>(f)].row(i)[j] = water_at(f, i, j);
        close(start_, f, i);
      }
  }
  void call() {
    now_ = start_;
#pragma omp parallel
    for (int s = 0; s < steps; ++s) {
      change(now_, now_, seconds / 3, third_);
      change(now_, third_, seconds / 2, half_);
      change(now_, half_, seconds, next_);
#pragma omp single
      std::swap(now_, next_);
    }
  }
  [[nodiscard]] double at(int f, int i, int j) const { return now_[static_cast<std::size_t>(f)].row(i)[j]; }
  static constexpr double temp_bytes = 4.0 * 3 * (rows + 2) * width * sizeof(double);

 private:
  /// Copies the cells at a row's ends, and at the basin's, to where their neighbours read them.
  static void close(fields& x, int f, int i) {
    double* row = x[static_cast<std::size_t>(f)].row(i);
    row[-1] = row[columns - 1];
    row[columns] = row[0];
    const int to = i == 0 ? rows : i == rows - 1 ? -1 : i;
    if (to != i)
      for (int j = -1; j <= columns; ++j) x[static_cast<std::size_t>(f)].row(to)[j] = row[j];
  }
  static void common(const fields& x, int k, pair_of_rows& p) {
    const double *h = x[0].row(k), *hn = x[0].row(k + 1), *u = x[1].row(k), *un = x[1].row(k + 1), *v = x[2].row(k),
                 *vn = x[2].row(k + 1);
    double *along = p.of_along.data() + 8, *turn = p.of_turn.data() + 8, *head = p.of_head.data() + 8;
    double *turned_u = p.of_turned_u.data() + 8, *turned_v = p.of_turned_v.data() + 8;
    for (int j = -1; j < columns; ++j) {
      along[j] = 0.5 * (h[j] + hn[j]) * vn[j];
      head[j] = gravity * h[j] + 0.25 * (u[j] * u[j] + u[j + 1] * u[j + 1]) + 0.25 * (v[j] * v[j] + vn[j] * vn[j]);
    }
    for (int j = 0; j <= columns; ++j) {
      const double depth = 0.5 * (h[j] + h[j - 1]), depth_n = 0.5 * (hn[j] + hn[j - 1]);
      turn[j] = (rotation + (vn[j] - vn[j - 1] - un[j] + u[j]) / cell) / (0.5 * (depth + depth_n));
      turned_v[j] = turn[j] * 0.5 * (depth * u[j] + depth_n * un[j]);
    }
    for (int j = 0; j < columns; ++j) turned_u[j] = turn[j] * 0.5 * (along[j] + along[j - 1]);
  }
  /// to = from + time * slope(x), with the threads of the team.
  static void change(const fields& from, const fields& x, double time, fields& to) {
    pair_of_rows first, second, *behind = &first, *ahead = &second;
    int last = -2;  // the row whose pair to the north is in `behind`
    const double scaled = time / cell;
#pragma omp for schedule(static)
    for (int i = 0; i < rows; ++i) {
      if (last != i - 1) common(x, i - 1, *behind);
      common(x, i, *ahead);
      const pair_of_rows &s = *behind, &n = *ahead;
      const double *h = x[0].row(i), *u = x[1].row(i);
      const double *along_s = s.of_along.data() + 8, *along_n = n.of_along.data() + 8, *head_s = s.of_head.data() + 8,
                   *head_n = n.of_head.data() + 8, *tu_s = s.of_turned_u.data() + 8, *tu_n = n.of_turned_u.data() + 8,
                   *tv_s = s.of_turned_v.data() + 8;
      const double *h0 = from[0].row(i), *u0 = from[1].row(i), *v0 = from[2].row(i);
      double* __restrict h1 = to[0].row(i), * __restrict u1 = to[1].row(i), * __restrict v1 = to[2].row(i);
      for (int j = 0; j < columns; ++j) {
        const double west = 0.5 * (h[j] + h[j - 1]) * u[j], east = 0.5 * (h[j + 1] + h[j]) * u[j + 1];
        h1[j] = h0[j] + scaled * (west - east + along_s[j] - along_n[j]);
        u1[j] = u0[j] + scaled * (0.5 * cell * (tu_s[j] + tu_n[j]) + head_n[j - 1] - head_n[j]);
        v1[j] = v0[j] + scaled * (-0.5 * cell * (tv_s[j] + tv_s[j + 1]) + head_s[j] - head_n[j]);
      }
      for (int f = 0; f < 3; ++f) close(to, f, i);
      std::swap(behind, ahead);
      last = i;
    }
  }

  fields start_, now_, third_, half_, next_;
};

}  // namespace shallow_water::bench
