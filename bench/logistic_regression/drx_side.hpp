// bench/logistic_regression/drx_side.hpp: the mean over rows in drx, with a member for each row, and for each block of
// rows.
#pragma once

#include "inputs.hpp"

#include <drx/ext/hana.hpp>
#include <drx/run.hpp>

namespace logistic::program {

inline constexpr int block = 1000;

struct rows : drx::placement<rows> {};
template <class T, class X = T>
struct row {
  drx::array<X, features> x;
  drx::scalar<T> y;
};
using narrow_row = row<float, drx::bfloat16>;
struct rows_of_block {
  drx::array<float, block, features> x;
  drx::array<float, block> y;
};

}  // namespace logistic::program
BOOST_HANA_ADAPT_STRUCT(logistic::program::row<float>, x, y);
BOOST_HANA_ADAPT_STRUCT(logistic::program::row<double>, x, y);
BOOST_HANA_ADAPT_STRUCT(logistic::program::narrow_row, x, y);
BOOST_HANA_ADAPT_STRUCT(logistic::program::rows_of_block, x, y);

namespace logistic::program {

/// log(1 + exp(z)) - y z, for a z of any size.
inline constexpr auto loss_of = [](auto z, auto y) {
  return drx::max(z, 0) + drx::log1p(drx::exp(-drx::abs(z))) - y * z;
};
inline constexpr auto row_loss = [](auto w, auto r) {
  using T = typename decltype(w)::value_type;
  return loss_of(drx::dot(drx::cast<T>(r.x), w), r.y);
};
inline constexpr auto mean_loss = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(row_loss, drx::broadcast<rows>(w), data));
};
inline constexpr auto slope = [](auto w, auto data) { return drx::value_and_grad(mean_loss)(w, data); };

inline constexpr auto block_loss = [](auto w, auto b) { return drx::mean(loss_of(drx::matmul(b.x, w), b.y)); };
inline constexpr auto mean_of_blocks = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(block_loss, drx::broadcast<rows>(w), data));
};
inline constexpr auto slope_by_blocks = [](auto w, auto data) { return drx::value_and_grad(mean_of_blocks)(w, data); };

template <class T>
using weights = drx::array<T, features>;
template <class T, class X = T>
using Slope = drx::program<slope, weights<T>, drx::placed<row<T, X>, rows>>;
using SlopeByBlocks = drx::program<slope_by_blocks, weights<float>, drx::placed<rows_of_block, rows>>;

}  // namespace logistic::program
