// bench/mlp/reference.hpp: value and gradient in plain loops; every side is checked against it.
#pragma once

#include "inputs.hpp"

#include <cmath>

namespace mlp {

inline answer reference(const inputs& in) {
  answer out{};
  params& g = out.gradient;
  double a[hidden];
  for (int i = 0; i < batch; ++i) {
    const double* x = in.x.data() + i * features;
    double y = in.model.b2;
    for (int j = 0; j < hidden; ++j) {
      double s = in.model.b1[j];
      for (int k = 0; k < features; ++k) s += x[k] * in.model.w1[k * hidden + j];
      a[j] = std::tanh(s);
      y += a[j] * in.model.w2[j];
    }
    const double error = y - in.y[static_cast<std::size_t>(i)], e = 2.0 / batch * error;
    out.value += error * error / batch;
    g.b2 += e;
    for (int j = 0; j < hidden; ++j) {
      const double d = e * in.model.w2[j] * (1 - a[j] * a[j]);
      g.w2[j] += e * a[j];
      g.b1[j] += d;
      for (int k = 0; k < features; ++k) g.w1[k * hidden + j] += d * x[k];
    }
  }
  return out;
}

}  // namespace mlp
