// language_model/language_model.hpp: the programs that train and test a decoder on the texts of many clients.
#pragma once

#include <drx/algorithms.hpp>
#include <tuple>
#include <utility>

#include "transformer.hpp"

namespace language_model {

/// The size of the model: this line is all there is to change. Letters: see text.hpp.
inline constexpr sizes size{.width = 64, .heads = 4, .context = 64, .layers = 3, .letters = 96};
inline constexpr int local_steps = 8, texts_of_step = 8;

struct clients : drx::placement<clients> {
  static constexpr std::int64_t most_members = 63;
};
struct texts : drx::placement<texts> {};

inline constexpr drx::adamw inner{.first = 0.9, .second = 0.99, .decay = 0.01};

// cut-begin language_model
/// Gradient steps, one on each batch of texts; with the mean of their losses.
template <sizes S>
inline constexpr auto train_sgd = [](auto model, auto rate, auto batches) {
  auto step = [=](auto now, auto batch) {
    auto [loss, slope] = drx::value_and_grad(mean_loss<S>)(now, batch);
    return std::pair{now - rate * drx::clip_by_global_norm(slope, 1), loss};
  };
  auto [trained, losses] = drx::scan(step, model, batches);
  return std::pair{trained, drx::mean(losses)};
};

/// AdamW steps, one on each batch of texts; with the mean of their losses. state: the model, and AdamW's.
template <sizes S>
inline constexpr auto train_adamw = [](auto state, auto rate, auto batches) {
  auto step = [=](auto now, auto batch) {
    auto [model, moments] = now;
    auto [loss, slope] = drx::value_and_grad(mean_loss<S>)(model, batch);
    return std::pair{drx::step(inner, model, moments, drx::clip_by_global_norm(slope, 1), rate), loss};
  };
  auto [last, losses] = drx::scan(step, state, batches);
  return std::pair{last, drx::mean(losses)};
};

/// One round of federated averaging. data: each client's batches, and its weight.
template <sizes S>
inline constexpr auto fedavg_round = [](auto model, auto rate, auto data) {
  auto [batches, weights] = data;
  auto [trained, losses] =
      drx::map(train_sgd<S>, drx::broadcast<clients>(model), drx::broadcast<clients>(rate), batches);
  return std::tuple{drx::reduce_weighted_mean(trained, weights), drx::reduce_weighted_mean(losses, weights)};
};

/// One round of DiLoCo: the clients' mean change is a gradient for a Nesterov step. Who is drawn for a round has no
/// state of its own: the moments go on as means, too.
template <sizes S>
inline constexpr auto diloco_round = [](auto state, auto momentum, auto rates, auto data) {
  auto [rate, outer_rate, decay] = rates;
  auto [batches, weights] = data;
  auto [trained, losses] =
      drx::map(train_adamw<S>, drx::broadcast<clients>(state), drx::broadcast<clients>(rate), batches);
  auto [mean, moments] = drx::reduce_weighted_mean(trained, weights);
  auto& [first, second, steps] = moments;
  steps = drx::round(steps);
  auto& model = state.first;
  auto [next, next_momentum] = drx::step(drx::nesterov{decay}, model, momentum, model - mean, outer_rate);
  return std::tuple{std::pair{next, moments}, next_momentum, drx::reduce_weighted_mean(losses, weights)};
};

/// One AdamW step on the texts of all workers at once, for comparison: an exchange in each step.
template <sizes S>
inline constexpr auto central_step = [](auto state, auto rate, auto data) {
  auto loss = [=](auto model) {
    return drx::reduce_mean(drx::map(mean_loss<S>, drx::broadcast<clients>(model), data));
  };
  auto [model, moments] = state;
  auto [value, slope] = drx::value_and_grad(loss)(model);
  return std::tuple{drx::step(inner, model, moments, drx::clip_by_global_norm(slope, 1), rate), value};
};
// cut-end language_model

/// Each client's loss per letter, over the second half of each of its texts: those letters that have enough before
/// them.
template <sizes S>
inline constexpr auto score = [](auto model, auto data) {
  auto of_text = [](auto m, auto text) {
    auto each = losses<S>(m, drx::reshape<1, S.context + 1>(text));
    return drx::mean(drx::slice<drx::all, drx::range<S.context / 2, S.context>>(each));
  };
  auto of_client = [=](auto m, auto own) { return drx::reduce_mean(drx::map(of_text, drx::broadcast<texts>(m), own)); };
  return drx::map(of_client, drx::broadcast<clients>(model), data);
};

/// The scores of the letters that may follow each place of one text.
template <sizes S>
inline constexpr auto continuations = [](auto model, auto text) { return logits<S>(model, text); };

template <sizes S>
struct programs {
  using model = transformer<S>;
  using batch = drx::array<std::int32_t, texts_of_step, S.context + 1>;
  using work = std::tuple<drx::array<std::int32_t, local_steps, texts_of_step, S.context + 1>, drx::scalar<float>>;
  using adamw_state = drx::host_t<std::pair<model, drx::optimizer_state<drx::adamw, model>>>;
  using text = drx::array<std::int32_t, S.context + 1>;

  using fedavg = drx::program<fedavg_round<S>, model, float, drx::placed<work, clients>>;
  using diloco =
      drx::program<diloco_round<S>, adamw_state, model, std::tuple<float, float, float>, drx::placed<work, clients>>;
  using central = drx::program<central_step<S>, adamw_state, float, drx::placed<batch, clients>>;
  using scores = drx::program<score<S>, model, drx::placed<drx::placed<text, texts>, clients>>;
  using next_letter = drx::program<continuations<S>, model, drx::array<std::int32_t, 1, S.context>>;
};

using fedavg = programs<size>::fedavg;
using diloco = programs<size>::diloco;
using central = programs<size>::central;
using scores = programs<size>::scores;
using next_letter = programs<size>::next_letter;

}  // namespace language_model
