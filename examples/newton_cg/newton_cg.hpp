// newton_cg/newton_cg.hpp: Newton's method for softmax regression on rows that are spread over ranks.
#pragma once

#include "../common/classifier.hpp"

namespace newton_cg {

using namespace examples;

using weights = drx::array<double, 65, 10>;  // 64 features and a constant; conjugate gradients lose many digits
using digit_row = labelled_row<digits_shape>;

// cut-begin newton_cg
inline constexpr auto with_constant = [](auto x) {
  return drx::concatenate(drx::cast<double>(x), drx::ones<drx::array<double, 1>>());
};
inline constexpr auto loss_of_row = [](auto w, auto row) {
  return drx::softmax_cross_entropy(drx::matmul(with_constant(row.x), w), row.y);
};
inline constexpr auto loss = [](auto w, auto ridge, auto data) {
  return drx::reduce_mean(drx::map(loss_of_row, drx::broadcast<rows>(w), data)) + 0.5 * ridge * drx::sum(w * w);
};

/// Conjugate gradients on H p = -g: one message for the gradient, one for each product, and H is never formed.
inline constexpr auto newton_step = [](auto w, auto ridge, auto data) {
  auto [slope, product] = drx::linearize(drx::grad([=](auto v) { return loss(v, ridge, data); }), w);
  auto start = std::tuple{0 * w, -slope, -slope};  // p, residual, direction
  auto [p, residual, direction] = drx::fori_loop<10>(start, [=](auto carry) {
    auto [at, r, d] = carry;
    auto hd = product(d);
    auto square = drx::sum(r * r), length = square / drx::sum(d * hd);
    auto next = r - length * hd;
    return std::tuple{at + length * d, next, next + drx::sum(next * next) / square * d};
  });
  return w + p;
};
// cut-end newton_cg

/// For comparison: gradient steps that take as many messages.
inline constexpr auto gradient_steps = [](auto w, auto rate, auto ridge, auto data) {
  return drx::fori_loop<11>(w, [=](auto v) { return v - rate * drx::grad(loss)(v, ridge, data); });
};
inline constexpr auto measure = [](auto w, auto ridge, auto data) {
  auto [value, slope] = drx::value_and_grad(loss)(w, ridge, data);
  return std::tuple{value, drx::sqrt(drx::sum(slope * slope))};
};

using data = drx::placed<digit_row, rows>;
using newton_program = drx::program<newton_step, weights, double, data>;
using gradient_program = drx::program<gradient_steps, weights, double, double, data>;
using measure_program = drx::program<measure, weights, double, data>;

}  // namespace newton_cg
