// bench/mlp/drx_side.hpp: the loss in drx, as a user writes it: over the whole batch, and as a map over rows.
#pragma once

#include "inputs.hpp"

#include <drx/ext/hana.hpp>
#include <drx/run.hpp>

#include <algorithm>

namespace mlp::program {

struct model {
  drx::array<double, features, hidden> w1;
  drx::array<double, hidden> b1;
  drx::array<double, hidden> w2;
  drx::scalar<double> b2;
};
struct row {
  drx::array<double, features> x;
  drx::scalar<double> y;
};
struct rows : drx::placement<rows> {};

}  // namespace mlp::program
BOOST_HANA_ADAPT_STRUCT(mlp::program::model, w1, b1, w2, b2);
BOOST_HANA_ADAPT_STRUCT(mlp::program::row, x, y);

namespace mlp::program {

inline constexpr auto loss = [](auto m, auto x, auto y) {
  auto h = drx::tanh(drx::matmul(x, m.w1) + m.b1);
  return drx::mean(drx::square(drx::matmul(h, m.w2) + m.b2 - y));
};
inline constexpr auto gradient = [](auto m, auto x, auto y) { return drx::value_and_grad(loss)(m, x, y); };
using Gradient = drx::program<gradient, model, drx::array<double, batch, features>, drx::array<double, batch>>;

inline constexpr auto error_of_row = [](auto m, auto d) {
  auto h = drx::tanh(drx::matmul(d.x, m.w1) + m.b1);
  return drx::square(drx::matmul(h, m.w2) + m.b2 - d.y);
};
inline constexpr auto mapped_loss = [](auto m, auto data) {
  return drx::reduce_mean(drx::map(error_of_row, drx::broadcast<rows>(m), data));
};
inline constexpr auto mapped_gradient = [](auto m, auto data) { return drx::value_and_grad(mapped_loss)(m, data); };
using MappedGradient = drx::program<mapped_gradient, model, drx::placed<row, rows>>;

inline model as_model(const params& p) {
  model m;
  std::copy_n(p.w1, features * hidden, m.w1.data());
  std::copy_n(p.b1, hidden, m.b1.data());
  std::copy_n(p.w2, hidden, m.w2.data());
  m.b2.data()[0] = p.b2;
  return m;
}
inline params as_params(const model& m) {
  params p;
  std::copy_n(m.w1.data(), features * hidden, p.w1);
  std::copy_n(m.b1.data(), hidden, p.b1);
  std::copy_n(m.w2.data(), hidden, p.w2);
  p.b2 = m.b2.data()[0];
  return p;
}

}  // namespace mlp::program
