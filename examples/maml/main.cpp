// maml: a classifier that learns to tell any two digits apart from five rows of each, beside one that was trained on
// the same tasks without inner steps.
// programs: maml::step_program maml::score_program
#include "maml.hpp"

#include "../common/application.hpp"
#include "../common/first_weights.hpp"

namespace maml {
namespace {

struct settings : options {
  double inner_rate = 0.2;
  double meta_rate = 0.5;
  int tasks_per_round = 100;
  int test_tasks = 200;
};

/// A third of the pairs of digits is kept for testing, with rows that training does not see.
bool for_testing(std::size_t one, std::size_t other) { return (one + other) % 3 == 0; }

struct task {
  support_rows support;
  query_rows query;
};

/// A task: two digits, either of which may be the one called 0, and rows of each, drawn without replacement.
task draw_task(const dataset& data, bool testing, random_stream random) {
  std::size_t pair[2] = {0, 0};
  while (pair[0] == pair[1] || for_testing(pair[0], pair[1]) != testing)
    pair[0] = random.below(10), pair[1] = random.below(10);
  task t;
  for (const int label : {0, 1}) {
    const int digit = static_cast<int>(pair[label]);
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < data.rows(); ++i)
      if (data.y[i] == digit) rows.push_back(i);
    constexpr int shots = support_rows::rows / 2, queries = query_rows::rows / 2;
    if (rows.size() < static_cast<std::size_t>(shots + queries))
      throw std::runtime_error(
          fmt::format("digit {} has {} rows, a task takes {}", digit, rows.size(), shots + queries));
    random.shuffle(std::span(rows));
    for (int k = 0; k < shots; ++k)
      set_row(t.support, label * shots + k, data, rows[static_cast<std::size_t>(k)], label);
    for (int k = 0; k < queries; ++k)
      set_row(t.query, label * queries + k, data, rows[static_cast<std::size_t>(shots + k)], label);
  }
  return t;
}

struct placed_tasks {
  drx::partitions<support_rows, tasks> support;
  drx::partitions<query_rows, tasks> query;
};
placed_tasks place_tasks(application& app, bool testing, int count, std::uint64_t seed, int round) {
  const auto draw = [&](std::int64_t i) {
    random_stream random(seed, purpose::tasks, {static_cast<std::uint64_t>(round), static_cast<std::uint64_t>(i)});
    return draw_task(testing ? app.test : app.train, testing, random);
  };
  return {app.session.place<tasks>(count, [&](std::int64_t i) { return draw(i).support; }),
          app.session.place<tasks>(count, [&](std::int64_t i) { return draw(i).query; })};
}

void train(application& app, const settings& o) {
  const auto inner_rate = static_cast<float>(o.inner_rate), meta_rate = static_cast<float>(o.meta_rate);
  const auto unseen = place_tasks(app, true, o.test_tasks, o.seed, 0);
  auto step = app.session.compile<step_program>();
  auto score_on = app.session.compile<score_program>();

  const auto run = [&](const char* method, float rate_in_training) {
    auto model = first_weights<pair_classifier>(o.seed);
    app.run(method, o.rounds, [&](int r) -> measures {
      if (r > 0) {
        const auto seen = place_tasks(app, false, o.tasks_per_round, o.seed, r);
        model = step(model, rate_in_training, meta_rate, seen.support, seen.query);
      }
      const auto [loss, accuracy] = score_on(model, inner_rate, unseen.support, unseen.query);
      return {{"loss_after_adapting", loss}, {"accuracy_after_adapting", accuracy}};
    });
  };
  run("maml", inner_rate);
  run("no_inner_steps", 0);
}

}  // namespace
}  // namespace maml

int main(int argc, char** argv) {
  maml::settings o;
  o.rounds = 300;
  examples::command_line line("maml",
                              "Meta-learning of pairs of digits: three steps on five rows of each are to be enough.");
  o.add_to(line);
  o.add_data_to(line);
  line.number("--inner-rate", o.inner_rate, 1e-9, 1e3, "learning rate of the steps on a task");
  line.number("--meta-rate", o.meta_rate, 1e-9, 1e3, "learning rate of the steps between rounds");
  line.number("--tasks", o.tasks_per_round, 1, 1000, "tasks of a round");
  line.number("--test-tasks", o.test_tasks, 1, 1000, "tasks of pairs that training does not see");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { maml::train(app, o); });
}
