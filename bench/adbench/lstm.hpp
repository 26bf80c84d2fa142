// Long short-term memory (ADBench): the loss of a character model of L layers of B units over a sequence, as ordinary
// C++, and its gradient by hand (backpropagation through time).
#pragma once

#include <drx/scalar/pack.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace adbench {

/// Diagonal gates, as in ADBench: forget, input, output and change, each with a weight and a bias for each unit. A
/// number X belongs to one unit (double), or to several units, side by side in the lanes of a pack.
template <std::size_t L, std::size_t B, class X = double>
struct lstm {
  static constexpr std::size_t units = B, lanes = drx::ad::lane_count<X>, groups = (B + lanes - 1) / lanes,
                               idle = groups * lanes - B;
  static constexpr std::size_t per_layer = 8 * groups, main = L * per_layer, extra = main,
                               parameters = main + 3 * groups;
  using vector = std::array<X, parameters>;
  using state = std::array<X, 2 * L * groups>;  // per layer: hidden, cell
  using character = std::array<X, groups>;

  state start{};
  std::vector<character> sequence;

  /// The same with units in packs, which are zero in idle lanes.
  template <int W>
  [[nodiscard]] lstm<L, B, drx::ad::pack<X, W>> in_lanes() const {
    lstm<L, B, drx::ad::pack<X, W>> r{drx::ad::pack_rows<W, B>(start), {}};
    for (const character& c : sequence) r.sequence.push_back(drx::ad::pack_rows<W, B>(c));
    return r;
  }

  template <class S>
  static S sigmoid(const S& x) {
    if constexpr (drx::ad::Active<S>) {
      return drx::ad::sigmoid(x);
    } else {  // a peer's scalar
      using std::exp;
      return 1 / (1 + exp(-x));
    }
  }
  /// The sum over all units.
  template <class S>
  static S over_units(const std::array<S, groups>& x) {
    S sum = 0;
    for (const S& v : x) sum += v;
    if constexpr (lanes > 1) sum = sum_of_lanes(sum);
    return sum;
  }
  /// The prediction for the character after x; advances the state.
  template <class S>
  static std::array<S, groups> predict(const std::array<S, parameters>& w, std::array<S, 2 * L * groups>& s,
                                       const character& x) {
    using std::tanh;
    constexpr std::size_t G = groups;
    std::array<S, G> in;
    for (std::size_t i = 0; i < G; ++i) in[i] = x[i] * w[extra + i];
    for (std::size_t l = 0; l < L; ++l) {
      const S* p = w.data() + l * per_layer;
      S* hidden = s.data() + 2 * l * G;
      S* cell = hidden + G;
      for (std::size_t i = 0; i < G; ++i) {
        const S forget = sigmoid(S(in[i] * p[i] + p[G + i])),
                ingate = sigmoid(S(hidden[i] * p[2 * G + i] + p[3 * G + i]));
        const S outgate = sigmoid(S(in[i] * p[4 * G + i] + p[5 * G + i])),
                change = tanh(hidden[i] * p[6 * G + i] + p[7 * G + i]);
        cell[i] = cell[i] * forget + ingate * change;
        hidden[i] = outgate * tanh(cell[i]);
        in[i] = hidden[i];
      }
    }
    for (std::size_t i = 0; i < G; ++i) in[i] = in[i] * w[extra + G + i] + w[extra + 2 * G + i];
    return in;
  }
  /// Minus the mean log probability; with packs, it is the sum of the result's lanes.
  template <class S>
  S operator()(const std::array<S, parameters>& w) const {
    using std::exp, std::log;
    std::array<S, 2 * L * groups> s;
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = start[i];
    S total = 0;
    for (std::size_t t = 0; t + 1 < sequence.size(); ++t) {
      const auto y = predict(w, s, sequence[t]);
      std::array<S, groups> weight;
      for (std::size_t i = 0; i < groups; ++i) weight[i] = exp(y[i]);
      const S norm =
          log(over_units(weight) + (2 - static_cast<double>(idle)));  // ADBench's log(sum + 2); idle lanes add exp(0)
      for (std::size_t i = 0; i < groups; ++i) total += sequence[t + 1][i] * (y[i] - norm);
    }
    return -total / static_cast<double>((sequence.size() - 1) * B);
  }

  /// Value and gradient, derived and written by hand.
  double by_hand(const vector& w, vector& g) const
    requires(lanes == 1)
  {
    struct unit {
      double in, hidden, cell, forget, ingate, outgate, change, tanh_cell;
    };
    struct step {
      std::array<unit, L * B> units;
      std::array<double, B> last, weight;  // the last layer's result; exp(y) / sum
      double target;
    };
    std::vector<step> steps(sequence.size() - 1);
    const double scale = -1 / static_cast<double>((sequence.size() - 1) * B);
    state s = start;
    double total = 0;
    for (std::size_t t = 0; t < steps.size(); ++t) {
      step& k = steps[t];
      std::array<double, B> in;
      for (std::size_t i = 0; i < B; ++i) in[i] = sequence[t][i] * w[extra + i];
      for (std::size_t l = 0; l < L; ++l) {
        const double* p = w.data() + l * per_layer;
        for (std::size_t i = 0; i < B; ++i) {
          double &hidden = s[2 * l * B + i], &cell = s[(2 * l + 1) * B + i];
          unit& u = k.units[l * B + i];
          u = {in[i],
               hidden,
               cell,
               sigmoid(in[i] * p[i] + p[B + i]),
               sigmoid(hidden * p[2 * B + i] + p[3 * B + i]),
               sigmoid(in[i] * p[4 * B + i] + p[5 * B + i]),
               std::tanh(hidden * p[6 * B + i] + p[7 * B + i]),
               0};
          cell = cell * u.forget + u.ingate * u.change;
          u.tanh_cell = std::tanh(cell);
          in[i] = hidden = u.outgate * u.tanh_cell;
        }
      }
      k.last = in;
      double sum = 2;
      k.target = 0;
      for (std::size_t i = 0; i < B; ++i) {
        in[i] = in[i] * w[extra + B + i] + w[extra + 2 * B + i];
        sum += k.weight[i] = std::exp(in[i]);
        k.target += sequence[t + 1][i];
      }
      for (std::size_t i = 0; i < B; ++i) {
        k.weight[i] /= sum;
        total += sequence[t + 1][i] * (in[i] - std::log(sum));
      }
    }
    g = {};
    state back{};  // cotangents of the state after the step
    for (std::size_t t = steps.size(); t-- > 0;) {
      const step& k = steps[t];
      std::array<double, B> in;  // cotangents of a layer's output
      for (std::size_t i = 0; i < B; ++i) {
        const double y = scale * (sequence[t + 1][i] - k.target * k.weight[i]);
        g[extra + B + i] += y * k.last[i];
        g[extra + 2 * B + i] += y;
        in[i] = y * w[extra + B + i];
      }
      for (std::size_t l = L; l-- > 0;) {
        const double* p = w.data() + l * per_layer;
        double* q = g.data() + l * per_layer;
        for (std::size_t i = 0; i < B; ++i) {
          const unit& u = k.units[l * B + i];
          double &hidden = back[2 * l * B + i], &cell = back[(2 * l + 1) * B + i];
          const double by_hidden = hidden + in[i];
          const double by_cell = cell + by_hidden * u.outgate * (1 - u.tanh_cell * u.tanh_cell);
          const double forget = by_cell * u.cell * u.forget * (1 - u.forget),
                       ingate = by_cell * u.change * u.ingate * (1 - u.ingate);
          const double outgate = by_hidden * u.tanh_cell * u.outgate * (1 - u.outgate),
                       change = by_cell * u.ingate * (1 - u.change * u.change);
          q[i] += forget * u.in;
          q[B + i] += forget;
          q[2 * B + i] += ingate * u.hidden;
          q[3 * B + i] += ingate;
          q[4 * B + i] += outgate * u.in;
          q[5 * B + i] += outgate;
          q[6 * B + i] += change * u.hidden;
          q[7 * B + i] += change;
          cell = by_cell * u.forget;
          hidden = ingate * p[2 * B + i] + change * p[6 * B + i];
          in[i] = forget * p[i] + outgate * p[4 * B + i];
        }
      }
      for (std::size_t i = 0; i < B; ++i) g[extra + i] += in[i] * sequence[t][i];
    }
    return scale * total;
  }
};

}  // namespace adbench
