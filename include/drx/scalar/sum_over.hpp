// drx/scalar/sum_over.hpp: value and gradient of a sum over samples, several samples at a time, by the local tape of
// packs.
#pragma once

#include <drx/scalar/differentiate.hpp>
#include <drx/scalar/pack.hpp>

namespace drx::ad {

namespace detail {

/// The sum over samples [first, first + W) of f(theta, sample). Its tape is recorded, swept and forgotten.
template <class T, int W, class F, std::size_t Size, class Sample>
struct sum_over {
  using P = std::conditional_t<W == 1, T, pack<T, static_cast<int>(W)>>;
  using V = var<P>;

  /// Samples [first, first + n), one in each lane; lanes beyond hold the first.
  static std::array<P, Size> gather(std::size_t first, std::size_t n, const Sample& sample) {
    std::array<P, Size> x;
    if constexpr (W == 1) {
      const auto& one = sample(first);
      for (std::size_t j = 0; j < Size; ++j) x[j] = one[j];
    } else {
      T lanes[Size][W];
      for (std::size_t l = 0; l < W; ++l) {
        const auto& one = sample(first + (l < n ? l : 0));
        for (std::size_t j = 0; j < Size; ++j) lanes[j][l] = one[j];
      }
      for (std::size_t j = 0; j < Size; ++j) x[j] = P::load(lanes[j]);
    }
    return x;
  }
  template <class Theta, class G, class Memory>
  static T run(const F& f, const Theta& theta, std::size_t samples, const Sample& sample, G& g, const Memory& memory) {
    return with_tape<P>(memory, [&](recording<P>& tape) {
      const auto held = record_inputs(tape, theta);
      const auto& in = held.values;
      const auto shared = [&] {  // recorded once for all samples
        if constexpr (requires { f.prepare(in); }) {
          return f.prepare(in);
        } else {
          return in;
        }
      }();
      P total(0), first_lane(1);
      if constexpr (W > 1)
        for (int l = 1; l < W; ++l) first_lane.set(l, 0);
      V constant(0);
      if constexpr (requires { f.once(shared); }) {
        constant = f.once(shared);
        total = constant.value * first_lane;
      }
      tape.require_complete();
      const auto start = tape.now();
      tape.clear();
      add_cotangent(constant, first_lane);
      for (std::size_t first = 0; first < samples; first += static_cast<std::size_t>(W)) {
        const std::size_t n =
            samples - first < static_cast<std::size_t>(W) ? samples - first : static_cast<std::size_t>(W);
        const V y = f(shared, gather(first, n, sample));
        tape.require_complete();
        tape.clear(start.count);
        P seed(1);
        if constexpr (W > 1) {
          for (std::size_t l = n; l < static_cast<std::size_t>(W); ++l) seed.set(static_cast<int>(l), 0);
          total += select(seed != P(0), y.value, P(0));  // lanes beyond the last sample repeat one
        } else {
          total += y.value;
        }
        add_cotangent(y, seed);
        tape.sweep(start.count);
        tape.rewind(start);
      }
      tape.sweep();
      for (std::size_t i = 0; i < in.size(); ++i) g[i] = sum_of_lanes(cotangent(in[i]));
      return sum_of_lanes(total);
    });
  }
};

}  // namespace detail

/// The sum over n samples of f(theta, x), x a std::array of the Size numbers at sample(i), and its gradient by theta,
/// written to g. W samples are computed at once, in the lanes of packs: f is called with theta as var<pack<T, W>> and x
/// as pack<T, W>. A branch on values in f is then a compile error; W = 1 takes one sample at a time and any f. The tape
/// holds the statements of one call of f, whatever n is. If f has a member prepare(theta), it is called once, and f is
/// called with its result in theta's place; if it has once(prepared), that is added to the sum.
template <std::size_t Size, int W = 0, class G, class F, detail::Numbers Theta, class Sample,
          class Memory = detail::on_stack>
auto sum_over_into(G&& g, const F& f, const Theta& theta, std::size_t n, const Sample& sample,
                   const Memory& memory = {}) {
  using T = detail::element_of<Theta>;
  constexpr int width = W == 0 ? 8 : W;
  return detail::sum_over<T, width, F, Size, Sample>::run(f, theta, n, sample, g, memory);
}

}  // namespace drx::ad
