// The inputs of every side, from formulas (harness.hpp, twin.py).
#pragma once

#include <harness.hpp>

#include "ba.hpp"
#include "gmm.hpp"
#include "hand_tracking.hpp"
#include "lstm.hpp"

#include <cmath>
#include <memory>
#include <vector>

namespace adbench {

inline constexpr const char* mixture_row = "Gaussian mixture";
inline constexpr const char* bundle_row = "bundle adjustment";
inline constexpr const char* lstm_row = "LSTM";
inline constexpr const char* simple_row = "hand tracking simple";
inline constexpr const char* complicated_row = "hand tracking complicated";

struct inputs {
  using mixture = gmm<10, 5>;
  using recurrent = lstm<2, 14>;
  template <bool Complicated>
  using track = tracking<5, 100, Complicated>;
  static constexpr std::size_t samples = 1000, observed = 1000, characters = 1024;

  mixture::vector theta;
  std::vector<mixture::point> points{samples};
  mixture of_points{samples, 1, 0};

  bundle view{{310, 250}};
  std::vector<bundle::input> observations{observed};

  recurrent text;
  recurrent::vector weights;

  track<false> simple;
  track<true> complicated;
  track<true>::input angles{};  ///< of the simple kind too, without the last two

  inputs() {
    for (std::size_t i = 0; i < theta.size(); ++i) theta[i] = drawn(1, i);
    for (std::size_t i = 0; i < samples * 10; ++i) points[i / 10][i % 10] = drawn(2, i);

    const bundle::input base{0.1, -0.3, 0.2, 1, -2, 0.5, 500, 320, 240, 0.1, -0.02, 0.4, 0.3, 5, 0.8};
    for (std::size_t i = 0; i < observed * 15; ++i) observations[i / 15][i % 15] = base[i % 15] + 0.2 * drawn(3, i);

    for (std::size_t i = 0; i < text.start.size(); ++i) text.start[i] = drawn(4, i);
    text.sequence.resize(characters);
    for (std::size_t t = 0; t < characters; ++t)
      text.sequence[t][bench::hash(5, static_cast<std::uint32_t>(t)) % 14] = 1;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = drawn(6, i);

    // The hand's matrices are near the identity: they are no rotations, but nothing here needs them to be.
    using hand = track<true>::skeleton;
    std::size_t at = 0;
    for (std::size_t b = 0; b < hand::bones; ++b)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < 4; ++k) {
          complicated.model.base[b][i][k] = (i == k ? 1 : k == 3 ? 0.5 : 0) + drawn(7, at++);
          complicated.model.inverse[b][i][k] = (i == k ? 1 : 0) + drawn(7, at++);
        }
    simple.model = complicated.model;
    for (std::size_t i = 0; i < hand::parameters; ++i) angles[i] = drawn(8, i);
    at = 0;
    for (std::size_t n = 0; n < complicated.points.size(); ++n) {
      auto& m = complicated.points[n];
      for (double& v : m.measured) v = drawn(9, at++);
      for (double& v : m.within) v = 0.3 + drawn(9, at++);
      for (auto& corner : complicated.weighted[n]) {
        double share[hand::bones], sum = 0, x[4] = {drawn(9, at), drawn(9, at + 1), drawn(9, at + 2), 1};
        at += 3;
        for (double& s : share) sum += s = std::abs(drawn(9, at++));
        for (std::size_t b = 0; b < hand::bones; ++b)
          for (std::size_t k = 0; k < 4; ++k) corner[b][k] = share[b] / sum * x[k];
      }
      simple.points[n] = {m.measured, m.within};
      simple.weighted[n] = {complicated.weighted[n][0]};
    }
  }

 private:
  static double drawn(std::uint32_t stream, std::size_t i) {
    return 0.5 * static_cast<double>(bench::uniform(stream, static_cast<std::uint32_t>(i)));
  }
};

/// A gradient or Jacobian that a side fills again and again, and its numbers as a flat list for comparison.
template <class Result, class Call>
void add(bench::suite& suite, const char* row, const char* name, Call call) {
  auto out = std::make_shared<Result>();
  suite.add({.row = row,
             .name = name,
             .call = [out, call] { call(*out); },
             .result =
                 [out] {
                   const double* first = reinterpret_cast<const double*>(out->data());
                   return std::vector<double>(first, first + out->size() * sizeof((*out)[0]) / sizeof(double));
                 }});
}
using jacobians = std::array<std::array<bundle::input, 2>, inputs::observed>;

// The sides: the library's programs of arrays, and the peers that CMake found.
void add_arrays(bench::suite&, const inputs&);
void add_adolc(bench::suite&, const inputs&);
void add_sacado(bench::suite&, const inputs&);
void add_eigen(bench::suite&, const inputs&);
void add_boost(bench::suite&, const inputs&);
void add_stan(bench::suite&, const inputs&);

}  // namespace adbench
