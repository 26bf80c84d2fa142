// bench/cnn_clipped/drx_side.hpp: the mean of clipped gradients in drx, as a user writes it: with a member for each
// example, and by vmap.
#pragma once

#include "inputs.hpp"

#include <drx/ext/hana.hpp>
#include <drx/run.hpp>

#include <algorithm>
#include <tuple>

namespace cnn::program {

struct examples : drx::placement<examples> {};
struct model {
  drx::array<float, 3, 3, 1, channels> kernel;
  drx::array<float, channels> shift;
  drx::array<float, pooled, classes> w;
  drx::array<float, classes> b;
};
struct example {
  drx::array<float, side, side, 1> x;
  drx::scalar<int> y;
};

}  // namespace cnn::program
BOOST_HANA_ADAPT_STRUCT(cnn::program::model, kernel, shift, w, b);
BOOST_HANA_ADAPT_STRUCT(cnn::program::example, x, y);

namespace cnn::program {

inline constexpr auto loss = [](auto m, auto x, auto y) {
  auto h = drx::tanh(drx::conv2d<drx::same>(x, m.kernel) + m.shift);
  auto p = drx::reshape<pooled>(drx::avg_pool<drx::window<2, 2>>(h));
  return drx::softmax_cross_entropy(drx::matmul(p, m.w) + m.b, y);
};
inline constexpr auto clipped = [](auto m, auto x, auto y) {
  auto g = drx::grad(loss)(m, x, y);
  auto squares = drx::sum(drx::square(g.kernel)) + drx::sum(drx::square(g.shift)) + drx::sum(drx::square(g.w)) +
                 drx::sum(drx::square(g.b));
  return drx::min(bound / drx::sqrt(squares), 1) * g;
};
inline constexpr auto clipped_of_example = [](auto m, auto e) { return clipped(m, e.x, e.y); };
inline constexpr auto mean_of_clipped = [](auto m, auto data) {
  return drx::reduce_mean(drx::map(clipped_of_example, drx::broadcast<examples>(m), data));
};
using MeanOfClipped = drx::program<mean_of_clipped, model, drx::placed<example, examples>>;

/// The same with the examples as an axis of arrays.
inline constexpr auto mean_by_vmap =
    drx::vmap<examples>([](auto m, auto x, auto y) { return drx::pmean<examples>(clipped(m, x, y)); },
                        std::tuple{drx::none, drx::axis<0>, drx::axis<0>}, drx::none);
using MeanByVmap = drx::program<mean_by_vmap, model, drx::array<float, batch, side, side, 1>, drx::array<int, batch>>;

inline model as_model(const params& p) {
  model m;
  std::copy_n(p.kernel, 9 * channels, m.kernel.data());
  std::copy_n(p.shift, channels, m.shift.data());
  std::copy_n(p.w, pooled * classes, m.w.data());
  std::copy_n(p.b, classes, m.b.data());
  return m;
}
inline void copy_to(params& p, const model& m) {
  std::copy_n(m.kernel.data(), 9 * channels, p.kernel);
  std::copy_n(m.shift.data(), channels, p.shift);
  std::copy_n(m.w.data(), pooled * classes, p.w);
  std::copy_n(m.b.data(), classes, p.b);
}

}  // namespace cnn::program
