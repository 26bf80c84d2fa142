// bench/fedavg_round/inputs.hpp: the round that every side runs: its sizes, its inputs, its parameters.
// drjax_twin.py holds the same sizes and the same formula; both produce the same bits.
#pragma once

#include <harness.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fedavg {

inline constexpr int clients = 64;
inline constexpr int steps = 8;  // local SGD steps, all on the client's one batch, or each on its own
inline constexpr int batch = 32;
inline constexpr int features = 64;
inline constexpr int hidden = 128;
inline constexpr int classes = 10;
inline constexpr float rate = 0.1f;

/// The parameters. All matrices are row-major. Members lie one after the other: a params is also one array of `size`
/// floats.
struct params {
  float w1[features * hidden];
  float b1[hidden];
  float w2[hidden * classes];
  float b2[classes];

  static constexpr std::size_t size = features * hidden + hidden + hidden * classes + classes;
};
static_assert(sizeof(params) == params::size * sizeof(float));

struct inputs {
  params model;
  std::vector<float> x;  // [clients, batch, features], or [clients, steps, batch, features]
  std::vector<float> y;  // the same with classes, one-hot
};

/// The inputs for n clients with one batch each, or n / steps clients with one for each step; fewer clients have the
/// first of these.
inline inputs make_inputs(std::size_t n = clients) {
  inputs in{};
  bench::fill(in.model.w1, features * hidden, 1, 0.125f);
  bench::fill(in.model.b1, hidden, 2, 0.125f);
  bench::fill(in.model.w2, hidden * classes, 3, 0.125f);
  bench::fill(in.model.b2, classes, 4, 0.125f);
  in.x.resize(n * batch * features);
  bench::fill(in.x.data(), in.x.size(), 5, 1.0f);
  in.y.assign(n * batch * classes, 0.0f);
  for (std::uint32_t row = 0; row < n * batch; ++row) in.y[row * classes + bench::hash(6, row) % classes] = 1.0f;
  return in;
}

}  // namespace fedavg
