// bench/mlp/inputs.hpp: the network, its data and the result of every side: the mean squared error of an MLP 64-128-1
// with tanh over a batch of 256, and its gradient, in double. jax_twin.py and casadi_twin.py have the same sizes and
// streams.
#pragma once

#include <harness.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlp {

inline constexpr int batch = 256;
inline constexpr int features = 64;
inline constexpr int hidden = 128;

/// The parameters. Matrices are row-major. Members lie one after the other.
struct params {
  double w1[features * hidden];
  double b1[hidden];
  double w2[hidden];
  double b2;
};
struct answer {
  double value;
  params gradient;
};
static_assert(sizeof(answer) == (1 + features * hidden + 2 * hidden + 1) * sizeof(double));

struct inputs {
  params model;
  std::vector<double> x;  // [batch, features]
  std::vector<double> y;  // [batch]
};

inline inputs make_inputs() {
  inputs in{};
  bench::fill(in.model.w1, features * hidden, 11, 0.125);
  bench::fill(in.model.b1, hidden, 12, 0.125);
  bench::fill(in.model.w2, hidden, 13, 0.125);
  bench::fill(&in.model.b2, 1, 14, 0.125);
  in.x.resize(std::size_t{batch} * features);
  bench::fill(in.x.data(), in.x.size(), 15, 1.0);
  in.y.resize(batch);
  bench::fill(in.y.data(), in.y.size(), 16, 1.0);
  return in;
}

void add_stan(bench::suite&, const inputs&);

}  // namespace mlp
