// self_tuning: federated averaging that learns its own learning rates, beside the rates that it began with.
// programs: self_tuning::round_program
#include "self_tuning.hpp"

#include <cmath>

#include "../common/application.hpp"

namespace self_tuning {
namespace {

struct settings : options {
  double client_rate = 0.01;
  double server_rate = 0.5;
  double tuning_rate = 10;
};

void train(application& app, const settings& o) {
  const digits_scores scores(app);
  auto round = app.session.compile<round_program>();

  const auto run = [&](const char* method, double tuning_rate) {
    classifier m = first_classifier(o.seed);
    rate_logarithms rates{static_cast<float>(std::log(o.client_rate)), static_cast<float>(std::log(o.server_rate))};
    app.run(method, o.rounds, [&](int r) {
      if (r > 0) {
        const auto data = place_batches<batch>(app.session, app.train, app.clients, o.seed, r);
        std::tie(rates, m) = round(rates, m, static_cast<float>(tuning_rate), data);
      }
      measures all = scores(m);
      all.emplace_back("client_rate", std::exp(rates[0]));
      all.emplace_back("server_rate", std::exp(rates[1]));
      return all;
    });
  };
  run("self_tuning", o.tuning_rate);
  run("fixed_rates", 0);
}

}  // namespace
}  // namespace self_tuning

int main(int argc, char** argv) {
  self_tuning::settings o;
  examples::command_line line("self_tuning", "Federated averaging that learns its own learning rates.");
  o.add_to(line);
  o.add_data_to(line);
  o.add_clients_to(line);
  line.number("--client-rate", o.client_rate, 1e-9, 1e3, "learning rate of the clients at first");
  line.number("--server-rate", o.server_rate, 1e-9, 1e3, "learning rate of the server at first");
  line.number("--tuning-rate", o.tuning_rate, 0, 1e3, "learning rate of the rates' logarithms");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { self_tuning::train(app, o); });
}
