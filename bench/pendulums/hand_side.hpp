// bench/pendulums/hand_side.hpp: the program by hand: a simulation in each lane of a vector, with the tangents by pull
// and damping beside it, so that nothing is stored between steps.
#pragma once

#include "inputs.hpp"

#include <vectors.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace pendulums {

class hand_side {
  using vector = bench::floats;
  static constexpr int lanes = sizeof(vector) / sizeof(float);
  static_assert(runs % lanes == 0);

 public:
  void call(const inputs& in, float* slopes) const {
    float by_pull = 0, by_damping = 0;
#pragma omp parallel for schedule(static) reduction(+ : by_pull, by_damping)
    for (int i = 0; i < runs; i += lanes) {
      state s{bench::load(&in.angle[static_cast<std::size_t>(i)]),
              bench::load(&in.speed[static_cast<std::size_t>(i)]),
              {},
              {},
              {},
              {}};
      for (int t = 0; t < steps; ++t) s = next(s);
      const vector twice = 2 * (s.q - bench::load(&in.seen[static_cast<std::size_t>(i)]));
      by_pull += bench::sum(twice * s.qa);
      by_damping += bench::sum(twice * s.qb);
    }
    slopes[0] = by_pull / runs;
    slopes[1] = by_damping / runs;
  }

 private:
  struct state {
    vector q, p, qa, pa, qb, pb;  // the tangents by pull (a) and damping (b)
  };
  /// s + h d
  BENCH_INLINE static state moved(const state& s, float h, const state& d) {
    return {s.q + h * d.q, s.p + h * d.p, s.qa + h * d.qa, s.pa + h * d.pa, s.qb + h * d.qb, s.pb + h * d.pb};
  }
  BENCH_INLINE static state slope(const state& s) {
    vector sine, cosine;
    sine_and_cosine(s.q, sine, cosine);
    const vector c = pull * cosine;
    return {s.p,  -pull * sine - damping * s.p,    s.pa, -c * s.qa - damping * s.pa - sine,
            s.pb, -c * s.qb - damping * s.pb - s.p};
  }
  BENCH_INLINE static state next(const state& s) {
    const state k1 = slope(s), k2 = slope(moved(s, step / 2, k1)), k3 = slope(moved(s, step / 2, k2)),
                k4 = slope(moved(s, step, k3));
    return moved(moved(moved(moved(s, step / 6, k1), step / 3, k2), step / 3, k3), step / 6, k4);
  }
  /// For angles up to a few thousand: reduction to the nearest multiple of a right angle, then Cephes' polynomials.
  BENCH_INLINE static void sine_and_cosine(vector x, vector& sine, vector& cosine) {
    typedef std::int32_t whole __attribute__((vector_size(sizeof(vector))));
    const vector magic = bench::splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer, in the lowest bits
    const vector shifted = x * 0.636619772f + magic, n = shifted - magic;
    const vector r = x - n * 1.5707855225f - n * 1.0804334124e-5f - n * 6.0770999344e-11f, z = r * r;
    const vector s = ((-1.9515295891e-4f * z + 8.3321608736e-3f) * z - 1.6666654611e-1f) * z * r + r;
    const vector c =
        ((2.443315711809948e-5f * z - 1.388731625493765e-3f) * z + 4.166664568298827e-2f) * z * z - 0.5f * z + 1;
    whole quarter;
    std::memcpy(&quarter, &shifted, sizeof quarter);
    const whole odd = (quarter & 1) != 0;
    sine = odd ? c : s;
    cosine = odd ? s : c;
    sine = (quarter & 2) != 0 ? -sine : sine;
    cosine = ((quarter + 1) & 2) != 0 ? -cosine : cosine;
  }
};

}  // namespace pendulums
