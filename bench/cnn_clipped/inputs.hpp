// bench/cnn_clipped/inputs.hpp: the network, its images and labels. A convolution 3 x 3 to 8 channels, tanh, the means
// of 2 x 2 windows, a dense layer to 10 classes. jax_twin.py makes the same numbers.
#pragma once

#include <harness.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace cnn {

inline constexpr int batch = 256, side = 8, channels = 8, classes = 10;
inline constexpr int pixels = side * side, half = side / 2, pooled = half * half * channels;
inline constexpr float bound = 1.0f;  // on an example's norm

/// The parameters. Members lie one after the other: a params is also one array of `size` floats.
struct params {
  float kernel[3 * 3 * channels], shift[channels];
  float w[pooled * classes], b[classes];

  static constexpr std::size_t size = 3 * 3 * channels + channels + pooled * classes + classes;
};
static_assert(sizeof(params) == params::size * sizeof(float));

struct inputs {
  params model;
  std::vector<float> x;  // [batch, side, side]
  std::vector<int> y;    // [batch]
};

inline inputs make_inputs() {
  inputs in{};
  bench::fill(in.model.kernel, 3 * 3 * channels, 1, 0.5f);
  bench::fill(in.model.shift, channels, 2, 0.1f);
  bench::fill(in.model.w, pooled * classes, 3, 0.2f);
  bench::fill(in.model.b, classes, 4, 0.1f);
  in.x.resize(std::size_t{batch} * pixels);
  bench::fill(in.x.data(), in.x.size(), 5, 1.0f);
  for (std::uint32_t i = 0; i < batch; ++i) in.y.push_back(static_cast<int>(bench::hash(6, i) % classes));
  return in;
}

/// The result in plain double loops: kernel, shift, w, b.
inline std::vector<double> reference(const inputs& in) {
  std::vector<double> mean(params::size);
  const auto at = [](const float* image, int row, int column) {
    return row < 0 || row >= side || column < 0 || column >= side ? 0.0
                                                                  : static_cast<double>(image[row * side + column]);
  };
  for (int n = 0; n < batch; ++n) {
    const float* image = &in.x[static_cast<std::size_t>(n * pixels)];
    std::vector<double> h(pixels * channels), p(pooled), back(pooled), slope(params::size);
    double *kernel = slope.data(), *shift = kernel + 9 * channels, *w = shift + channels, *b = w + pooled * classes;
    for (int i = 0; i < pixels; ++i)
      for (int c = 0; c < channels; ++c) {
        double z = static_cast<double>(in.model.shift[c]);
        for (int t = 0; t < 9; ++t)
          z += at(image, i / side + t / 3 - 1, i % side + t % 3 - 1) *
               static_cast<double>(in.model.kernel[t * channels + c]);
        h[static_cast<std::size_t>(i * channels + c)] = std::tanh(z);
        p[static_cast<std::size_t>((i / side / 2 * half + i % side / 2) * channels + c)] += std::tanh(z) / 4;
      }
    double total = 0;
    for (int k = 0; k < classes; ++k) {
      double z = static_cast<double>(in.model.b[k]);
      for (int j = 0; j < pooled; ++j)
        z += p[static_cast<std::size_t>(j)] * static_cast<double>(in.model.w[j * classes + k]);
      total += b[k] = std::exp(z);
    }
    for (int k = 0; k < classes; ++k) {
      b[k] = b[k] / total - (k == in.y[static_cast<std::size_t>(n)] ? 1 : 0);
      for (int j = 0; j < pooled; ++j) {
        w[j * classes + k] = p[static_cast<std::size_t>(j)] * b[k];
        back[static_cast<std::size_t>(j)] += static_cast<double>(in.model.w[j * classes + k]) * b[k];
      }
    }
    for (int i = 0; i < pixels; ++i)
      for (int c = 0; c < channels; ++c) {
        const double a = h[static_cast<std::size_t>(i * channels + c)];
        const double d =
            back[static_cast<std::size_t>((i / side / 2 * half + i % side / 2) * channels + c)] / 4 * (1 - a * a);
        shift[c] += d;
        for (int t = 0; t < 9; ++t)
          kernel[t * channels + c] += at(image, i / side + t / 3 - 1, i % side + t % 3 - 1) * d;
      }
    double norm = 0;
    for (double s : slope) norm += s * s;
    const double scale = std::min(1.0, static_cast<double>(bound) / std::sqrt(norm)) / batch;
    for (std::size_t i = 0; i < params::size; ++i) mean[i] += scale * slope[i];
  }
  return mean;
}

}  // namespace cnn
