// learned_weights: federated averaging that learns the weight of each client, some of whom have wrong labels.
// programs: learned_weights::round_program
#include "learned_weights.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../common/application.hpp"
#include "../common/random.hpp"

namespace learned_weights {
namespace {

struct settings : options {
  double rate = 0.1;
  double score_rate = 20;
  int corrupted = 6;
};

/// Draws the first clients' labels anew, so that their rows teach nothing.
dataset corrupt(dataset data, const partition& clients, std::size_t corrupted, std::uint64_t seed) {
  for (std::size_t c = 0; c < corrupted; ++c) {
    random_stream random(seed, purpose::corruption, {c});
    for (const auto i : clients.rows_of(c))
      data.y[i] = static_cast<int>(random.below(static_cast<std::size_t>(data.classes)));
  }
  return data;
}

/// The weight of each client, on every rank.
std::vector<double> weights_of(drx::session& session, const drx::partitions<drx::scalar<float>, clients>& scores) {
  std::vector<double> weights(static_cast<std::size_t>(scores.total()));
  for (std::int64_t i = 0; i < scores.local(); ++i)
    weights[static_cast<std::size_t>(scores.first() + i)] = std::exp(static_cast<double>(scores[i]));
  session.communicator().all_sum(weights.data(), static_cast<std::int64_t>(weights.size()));
  double sum = 0;
  for (const double w : weights) sum += w;
  for (double& w : weights) w /= sum;
  return weights;
}

void train(application& app, const settings& o) {
  const auto rate = static_cast<float>(o.rate), score_rate = static_cast<float>(o.score_rate);
  const auto corrupted = static_cast<std::size_t>(std::min(o.corrupted, o.clients));
  const auto data =
      place_rows_of_clients<row>(app.session, corrupt(app.train, app.clients, corrupted, o.seed), app.clients);
  const train_and_test halves = split(app.test, 0.5, o.seed + 1);
  const dataset &test = halves.test, &of_server = halves.train;
  const auto validation = app.session.place<own_rows>(static_cast<std::int64_t>(of_server.rows()), [&](std::int64_t i) {
    return row_of<row>(of_server, static_cast<std::size_t>(i));
  });
  const digits_scores scores_of(app, test);
  auto round = app.session.compile<round_program>();
  averaging average(app.session);

  // at first as in federated averaging: by the number of rows
  auto scores = drx::place<clients>(app.session.communicator(), data.boundaries(), [&](std::int64_t c) {
    drx::scalar<float> score;
    *score.data() = std::log(static_cast<float>(app.clients.rows_of(static_cast<std::size_t>(c)).size()));
    return score;
  });
  const auto measure = [&](const classifier& m) {
    measures all = scores_of(m);
    const auto weights = weights_of(app.session, scores);
    all.emplace_back("weight_of_corrupted",
                     std::accumulate(weights.begin(), weights.begin() + static_cast<long>(corrupted), 0.0));
    return all;
  };
  classifier m = first_classifier(o.seed);
  app.run("plain_mean", o.rounds, [&](int r) {
    if (r > 0) m = average(m, rate, data);
    return measure(m);
  });
  m = first_classifier(o.seed);
  app.run("learned_weights", o.rounds, [&](int r) {
    if (r > 0) {
      const auto [next, better] = round(m, scores, rate, score_rate, data, validation);
      m = next;
      scores = better.copy();
    }
    return measure(m);
  });
  app.result("weights", weights_of(app.session, scores));
}

}  // namespace
}  // namespace learned_weights

int main(int argc, char** argv) {
  learned_weights::settings o;
  o.test_fraction = 0.3;
  examples::command_line line("learned_weights",
                              "Federated averaging with a learned weight for each client. The server has rows of "
                              "its own: half of those set aside for testing.");
  o.add_to(line);
  o.add_data_to(line);
  o.add_clients_to(line);
  line.number("--rate", o.rate, 1e-9, 1e3, "learning rate of the clients");
  line.number("--score-rate", o.score_rate, 0, 1e6, "learning rate of the weights' logarithms");
  line.number("--corrupted", o.corrupted, 0, 1000, "clients with wrong labels");
  return examples::run_example(argc, argv, line, o,
                               [&](examples::application& app) { learned_weights::train(app, o); });
}
