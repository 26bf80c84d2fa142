// Long short-term memory (ADBench): the loss of a character model of L layers of B units over a sequence. As ordinary C++, and
// its gradient by hand (backpropagation through time).
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace adbench {

/// Diagonal gates, as in ADBench: forget, input, output and change, each a weight and a bias for each unit.
template <std::size_t L, std::size_t B>
struct lstm {
  static constexpr std::size_t per_layer = 8 * B, main = L * per_layer, extra = main, parameters = main + 3 * B;
  using vector = std::array<double, parameters>;
  using state = std::array<double, 2 * L * B>;  // per layer: hidden, cell
  using character = std::array<double, B>;

  state start{};
  std::vector<character> sequence;

  template <class S>
  static S sigmoid(const S& x) {
    using std::exp;
    return 1 / (1 + exp(-x));
  }
  /// The prediction for the character after x; the state goes on.
  template <class S>
  static std::array<S, B> predict(const std::array<S, parameters>& w, std::array<S, 2 * L * B>& s, const character& x) {
    using std::tanh;
    std::array<S, B> in;
    for (std::size_t i = 0; i < B; ++i) in[i] = x[i] * w[extra + i];
    for (std::size_t l = 0; l < L; ++l) {
      const S* p = w.data() + l * per_layer;
      S* hidden = s.data() + 2 * l * B;
      S* cell = hidden + B;
      for (std::size_t i = 0; i < B; ++i) {
        const S forget = sigmoid(S(in[i] * p[i] + p[B + i])), ingate = sigmoid(S(hidden[i] * p[2 * B + i] + p[3 * B + i]));
        const S outgate = sigmoid(S(in[i] * p[4 * B + i] + p[5 * B + i])), change = tanh(hidden[i] * p[6 * B + i] + p[7 * B + i]);
        cell[i] = cell[i] * forget + ingate * change;
        hidden[i] = outgate * tanh(cell[i]);
        in[i] = hidden[i];
      }
    }
    for (std::size_t i = 0; i < B; ++i) in[i] = in[i] * w[extra + B + i] + w[extra + 2 * B + i];
    return in;
  }
  /// Minus the mean log probability.
  template <class S>
  S operator()(const std::array<S, parameters>& w) const {
    using std::exp, std::log;
    std::array<S, 2 * L * B> s;
    for (std::size_t i = 0; i < s.size(); ++i) s[i] = start[i];
    S total = 0;
    for (std::size_t t = 0; t + 1 < sequence.size(); ++t) {
      const auto y = predict(w, s, sequence[t]);
      S sum = 2;  // ADBench's log(sum + 2)
      for (const S& v : y) sum += exp(v);
      const S norm = log(sum);
      for (std::size_t i = 0; i < B; ++i) total += sequence[t + 1][i] * (y[i] - norm);
    }
    return -total / static_cast<double>((sequence.size() - 1) * B);
  }

  /// Value and gradient, derived and written by hand.
  double by_hand(const vector& w, vector& g) const {
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
          u = {in[i], hidden, cell, sigmoid(in[i] * p[i] + p[B + i]), sigmoid(hidden * p[2 * B + i] + p[3 * B + i]),
               sigmoid(in[i] * p[4 * B + i] + p[5 * B + i]), std::tanh(hidden * p[6 * B + i] + p[7 * B + i]), 0};
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
      std::array<double, B> in;  // cotangents of what goes up from a layer
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
          const double forget = by_cell * u.cell * u.forget * (1 - u.forget), ingate = by_cell * u.change * u.ingate * (1 - u.ingate);
          const double outgate = by_hidden * u.tanh_cell * u.outgate * (1 - u.outgate), change = by_cell * u.ingate * (1 - u.change * u.change);
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
