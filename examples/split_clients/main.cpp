// split_clients: federated averaging with momentum, with whole networks and with the same in halves, which may lie on
// two ranks.
#include <algorithm>
#include <cmath>

#include "../common/application.hpp"
#include "../common/output.hpp"
#include "split_clients.hpp"

namespace split_clients {
namespace {

struct settings : options {
  double rate = 0.1;
  double tolerance = 1e-5;
};

std::vector<float> weights_of(const classifier& network) {
  std::vector<float> all;
  for (const auto& leaf : {std::span<const float>(network.w1), std::span<const float>(network.b1),
                           std::span<const float>(network.w2), std::span<const float>(network.b2)})
    all.insert(all.end(), leaf.begin(), leaf.end());
  return all;
}
/// The largest difference; NaN if any is NaN, so that no tolerance lets it pass.
double largest_difference(const classifier& a, const classifier& b) {
  double largest = 0;
  const auto of_a = weights_of(a), of_b = weights_of(b);
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    const double difference = std::abs(double{of_a[i]} - double{of_b[i]});
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

template <class Layout>
classifier train(application& app, const settings& o, const char* method) {
  const auto place = [&](auto load, const std::vector<int>& axes) {
    return app.session.place_sharded<clients>(static_cast<std::int64_t>(app.clients.clients()), Layout::shards, load,
                                              axes);
  };
  const auto rate = static_cast<float>(o.rate);
  const digits_scores scores(app);
  auto round = app.session.compile<round_program<Layout>>();
  classifier network = first_classifier(o.seed);
  auto velocities = place([](std::int64_t) { return classifier{}; }, axes_of_leaves<Layout>());
  app.run(method, o.rounds, [&](int r) {
    if (r > 0) {
      const auto draw = [&](std::int64_t client) {
        return draw_batch<batch_of_client>(app.train, app.clients, o.seed, r, client);
      };
      const auto [next, moved] = round(network, velocities, rate, place(draw, {}));
      network = next;
      velocities = moved.copy();
    }
    return scores(network);
  });
  return network;
}

void train_both(application& app, const settings& o) {
  const classifier network = train<whole>(app, o, "whole"), split = train<in_halves>(app, o, "in_halves");
  const double difference = largest_difference(network, split);
  app.result("largest_difference", difference);
  if (app.session.root()) print(stdout, fmt::format("largest difference of a weight: {:.1e}\n", difference));
  if (!(difference <= o.tolerance))
    throw std::runtime_error(fmt::format("a weight differs by {:.1e}, more than {:.1e}", difference, o.tolerance));
}

}  // namespace
}  // namespace split_clients

int main(int argc, char** argv) {
  split_clients::settings o;
  o.clients = 2;
  examples::command_line line(
      "split_clients",
      "Federated averaging with momentum; the hidden layer of each client's network whole, and split over two shards.");
  o.add_to(line);
  o.add_data_to(line);
  o.add_clients_to(line);
  line.number("--rate", o.rate, 1e-9, 1e3, "learning rate");
  line.number("--tolerance", o.tolerance, 0, 1, "how much a weight of the two may differ; more is an error");
  return examples::run_example(argc, argv, line, o,
                               [&](examples::application& app) { split_clients::train_both(app, o); });
}
