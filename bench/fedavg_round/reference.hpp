// bench/fedavg_round/reference.hpp: the round in plain double loops. Slow; every side is checked against it.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "inputs.hpp"

namespace fedavg {

/// With `batches` batches for each client, 1 or `steps`.
inline std::vector<double> reference_round(const inputs& in, std::size_t batches) {
  constexpr std::size_t n = batch, f = features, h = hidden, c = classes;
  const auto* start = reinterpret_cast<const float*>(&in.model);
  std::vector<double> mean(params::size, 0.0), model(params::size), next(params::size);
  std::vector<double> a(n * h), g(n * c), d(n * h);
  for (std::size_t client = 0; client < clients; ++client) {
    model.assign(start, start + params::size);
    for (std::size_t step = 0; step < steps; ++step) {
      const float* x = in.x.data() + (client * batches + step % batches) * n * f;
      const float* y = in.y.data() + (client * batches + step % batches) * n * c;
      const double *w1 = model.data(), *b1 = w1 + f * h, *w2 = b1 + h, *b2 = w2 + h * c;
      next = model;
      double *nw1 = next.data(), *nb1 = nw1 + f * h, *nw2 = nb1 + h, *nb2 = nw2 + h * c;
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < h; ++j) a[i * h + j] = b1[j];
        for (std::size_t k = 0; k < f; ++k)
          for (std::size_t j = 0; j < h; ++j) a[i * h + j] += static_cast<double>(x[i * f + k]) * w1[k * h + j];
        for (std::size_t j = 0; j < h; ++j) a[i * h + j] = std::tanh(a[i * h + j]);
        double sum = 0;
        for (std::size_t o = 0; o < c; ++o) {
          double z = b2[o];
          for (std::size_t j = 0; j < h; ++j) z += a[i * h + j] * w2[j * c + o];
          sum += g[i * c + o] = std::exp(z);
        }
        for (std::size_t o = 0; o < c; ++o)
          g[i * c + o] = (g[i * c + o] / sum - static_cast<double>(y[i * c + o])) / static_cast<double>(n);
        for (std::size_t j = 0; j < h; ++j) {
          double back = 0;
          for (std::size_t o = 0; o < c; ++o) back += g[i * c + o] * w2[j * c + o];
          d[i * h + j] = back * (1 - a[i * h + j] * a[i * h + j]);
        }
        const double r = static_cast<double>(rate);
        for (std::size_t k = 0; k < f; ++k)
          for (std::size_t j = 0; j < h; ++j) nw1[k * h + j] -= r * static_cast<double>(x[i * f + k]) * d[i * h + j];
        for (std::size_t j = 0; j < h; ++j) nb1[j] -= r * d[i * h + j];
        for (std::size_t j = 0; j < h; ++j)
          for (std::size_t o = 0; o < c; ++o) nw2[j * c + o] -= r * a[i * h + j] * g[i * c + o];
        for (std::size_t o = 0; o < c; ++o) nb2[o] -= r * g[i * c + o];
      }
      model.swap(next);
    }
    for (std::size_t i = 0; i < params::size; ++i) mean[i] += model[i] / clients;
  }
  return mean;
}

}  // namespace fedavg
