// maml/maml.hpp: model-agnostic meta-learning (Finn, Abbeel and Levine 2017). A task is to tell two digits apart.
#pragma once

#include "../common/batches.hpp"

namespace maml {

using namespace examples;

struct tasks : drx::placement<tasks> {};

// cut-begin maml
/// The loss on a task's query rows after three gradient steps on its few support rows.
inline constexpr auto loss_of_task = [](auto model, auto inner_rate, auto support, auto query) {
  return batch_loss(train_on_batch<3>(model, inner_rate, support), query);
};
inline constexpr auto mean_over_tasks = [](auto of_task, auto model, auto inner_rate, auto support, auto query) {
  return drx::reduce_mean(
      drx::map(of_task, drx::broadcast<tasks>(model), drx::broadcast<tasks>(inner_rate), support, query));
};
inline constexpr auto meta_loss = [](auto... x) { return mean_over_tasks(loss_of_task, x...); };

/// A step towards a model from which three steps lead further; its gradient goes through them.
inline constexpr auto meta_step = [](auto model, auto inner_rate, auto meta_rate, auto support, auto query) {
  return model - meta_rate * drx::grad(meta_loss)(model, inner_rate, support, query);
};
// cut-end maml

/// Loss and accuracy on the query rows after the three steps.
inline constexpr auto score_of_task = [](auto model, auto inner_rate, auto support, auto query) {
  auto adapted = train_on_batch<3>(model, inner_rate, support);
  auto hits = drx::cast<float>(drx::argmax<1>(logits(adapted, query.x)) == query.y);
  return std::tuple{batch_loss(adapted, query), drx::mean(hits)};
};
inline constexpr auto score = [](auto... x) { return mean_over_tasks(score_of_task, x...); };

inline constexpr shape pair_shape{.features = 64, .hidden = 16, .classes = 2};
using pair_classifier = mlp<pair_shape>;
using support_rows = labelled_batch<pair_shape, 10>;
using query_rows = labelled_batch<pair_shape, 20>;
using step_program = drx::program<meta_step, pair_classifier, float, float, drx::placed<support_rows, tasks>,
                                  drx::placed<query_rows, tasks>>;
using score_program =
    drx::program<score, pair_classifier, float, drx::placed<support_rows, tasks>, drx::placed<query_rows, tasks>>;

}  // namespace maml
