// tuned_ridge/tuned_ridge.hpp: a penalty for each feature, tuned by the derivative of a trained model with respect to
// its penalties.
#pragma once

#include "../common/classifier.hpp"

namespace tuned_ridge {

using namespace examples;

struct held_out_rows : drx::placement<held_out_rows> {};
using penalties = drx::array<double, 65>;  // logarithms, of 64 features and a constant
using weights = drx::array<double, 65, 10>;
using digit_row = labelled_row<digits_shape>;

// cut-begin tuned_ridge
inline constexpr auto scores = [](auto w, auto row) {
  return drx::matmul(drx::concatenate(drx::cast<double>(row.x), drx::ones<drx::array<double, 1>>()), w);
};
inline constexpr auto loss = [](auto w, auto data) {
  auto of_row = [=](auto row) { return drx::sum(drx::square(scores(w, row) - drx::one_hot<double, 10>(row.y))); };
  return drx::reduce_mean(drx::map(of_row, data));
};

/// Solves product(v) = r by conjugate gradients, as many as it takes, with one message each.
inline constexpr auto conjugate_gradients = [](auto product, auto r) {
  auto enough = 1e-24 * drx::sum(r * r);
  auto go_on = [=](auto carry) { return drx::sum(drx::square(std::get<1>(carry))) > enough; };
  auto step = [=](auto carry) {
    auto [v, rest, d] = carry;
    auto pd = product(d), square = drx::sum(rest * rest), length = square / drx::sum(d * pd);
    auto next = rest - length * pd;
    return std::tuple{v + length * d, next, next + drx::sum(next * next) / square * d};
  };
  return std::get<0>(drx::while_loop<1000>(go_on, step, std::tuple{0 * r, r, r}));
};

/// The weights that minimise loss and penalties: those where the gradient is zero, whatever the guess.
inline constexpr auto trained = [](auto log_penalties, auto guess, auto data) {
  auto penalised = [=](auto w) {
    return loss(w, data) + drx::sum(drx::reshape<65, 1>(drx::exp(log_penalties)) * w * w);
  };
  auto slope = drx::grad(penalised);
  auto solve = [=](auto w) {
    auto [residual, product] = drx::linearize(slope, w);
    return w - conjugate_gradients(product, residual);
  };
  return drx::custom_root(slope, guess, solve, conjugate_gradients);
};

/// The loss on held-out rows, and its derivative by the penalties: one more system of equations, without a pass back
/// through the steps.
inline constexpr auto held_out_loss = [](auto log_penalties, auto guess, auto data, auto held_out) {
  auto w = trained(log_penalties, guess, data);
  return std::pair{loss(w, held_out), w};
};
inline constexpr auto slope_of_penalties = drx::value_and_grad(held_out_loss);
// cut-end tuned_ridge

inline constexpr auto measure = [](auto w, auto data) {
  auto hit = [=](auto row) { return drx::cast<double>(drx::argmax(scores(w, row)) == row.y); };
  return std::tuple{loss(w, data), drx::reduce_mean(drx::map(hit, data))};
};

using slope_program = drx::program<slope_of_penalties, penalties, weights, drx::placed<digit_row, rows>,
                                   drx::placed<digit_row, held_out_rows>>;
using measure_program = drx::program<measure, weights, drx::placed<digit_row, rows>>;

}  // namespace tuned_ridge
