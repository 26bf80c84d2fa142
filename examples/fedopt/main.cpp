// fedopt: federated averaging with Adam at the server, beside plain federated averaging.
// programs: fedopt::round_program
#include "fedopt.hpp"

#include "../common/application.hpp"

namespace fedopt {
namespace {

struct settings : options {
  double client_rate = 0.05;
  double server_rate = 0.03;
};

void train(application& app, const settings& o) {
  const auto client_rate = static_cast<float>(o.client_rate), server_rate = static_cast<float>(o.server_rate);
  const auto data = place_rows_of_clients<row>(app.session, app.train, app.clients);
  const digits_scores scores(app);
  auto round = app.session.compile<round_program>();
  averaging average(app.session);

  server_state now{first_classifier(o.seed), {}};
  app.run("fedopt", o.rounds, [&](int r) {
    if (r > 0) now = round(now, client_rate, server_rate, data);
    return scores(std::get<0>(now));
  });
  classifier m = first_classifier(o.seed);
  app.run("fedavg", o.rounds, [&](int r) {
    if (r > 0) m = average(m, client_rate, data);
    return scores(m);
  });
}

}  // namespace
}  // namespace fedopt

int main(int argc, char** argv) {
  fedopt::settings o;
  examples::command_line line("fedopt", "Federated averaging with Adam at the server.");
  o.add_to(line);
  o.add_data_to(line);
  o.add_clients_to(line);
  line.number("--client-rate", o.client_rate, 1e-9, 1e3, "learning rate of the clients");
  line.number("--server-rate", o.server_rate, 1e-9, 1e3, "learning rate of the server's Adam");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { fedopt::train(app, o); });
}
