// private_fedavg: federated averaging that tells little about any one client, and says how little.
// programs: private_fedavg::without_noise private_fedavg::with_noise_1 private_fedavg::with_noise_2
#include "private_fedavg.hpp"

#include <array>
#include <random>

#include "../common/application.hpp"

namespace private_fedavg {
namespace {

struct settings : options {
  int noise = 2;
  double participation = 0.1;
  double client_rate = 0.1;
  double server_rate = 4;
  std::uint64_t noise_seed = 0;
  bool compare = false;
};

/// The seed of noise and sampling: that of the command line, or one that the first rank draws and nobody writes down.
std::int64_t secret_of(drx::session& session, std::uint64_t given) {
  std::array<double, 2> halves{};
  if (session.root()) {
    std::random_device draw;
    for (int i = 0; i < 2; ++i) halves[static_cast<std::size_t>(i)] = static_cast<double>(draw());
  }
  session.communicator().all_sum(halves.data(), 2);
  const auto drawn = static_cast<std::uint64_t>(halves[0]) << 32 | static_cast<std::uint64_t>(halves[1]);
  return static_cast<std::int64_t>(given == 0 ? drawn : given);
}

void train(application& app, const settings& o) {
  const auto data = place_rows_of_clients<row>(app.session, app.train, app.clients);
  const digits_scores scores(app);
  const auto secret = secret_of(app.session, o.noise_seed);
  const auto expected = o.participation * static_cast<double>(app.clients.clients());
  const round_rates rates{static_cast<float>(o.client_rate), static_cast<float>(o.server_rate)};
  const round_sampling sampling{o.participation, static_cast<float>(expected)};

  const auto run = [&]<class Program>(const std::string& method, Program) {
    auto round = app.session.compile<Program>();
    classifier m = first_classifier(o.seed);
    app.run(method, o.rounds, [&](int r) {
      if (r > 0) m = round(m, rates, sampling, secret, r, data);
      measures all = scores(m);
      std::erase_if(all, [](const auto& measure) { return measure.first == "train_loss"; });  // no noise hides it
      return all;
    });
  };
  if (o.noise == 1) run("noise_1", with_noise_1{});
  if (o.noise == 2) run("noise_2", with_noise_2{});
  if (o.compare) run("without_noise", without_noise{});
  app.describe("mechanism", {{"sampling", "poisson"},
                             {"probability", o.participation},
                             {"clients", app.clients.clients()},
                             {"limit", limit},
                             {"noise_multiplier", o.noise},
                             {"neighbours", "one client more or less"},
                             {"rounds", o.rounds},
                             {"secret_seed", o.noise_seed == 0}});
}

}  // namespace
}  // namespace private_fedavg

int main(int argc, char** argv) {
  private_fedavg::settings o;
  o.clients = 1000;
  o.rounds = 60;
  examples::command_line line("private_fedavg", "Federated averaging with differential privacy for clients.");
  o.add_to(line);
  o.add_data_to(line);
  o.add_clients_to(line);
  line.choice("--noise", o.noise, "deviation of the noise in the sum, as a multiple of the largest norm: 1 or 2",
              [](const std::string& text) { return text == "1" || text == "2" ? "" : "is not 1 or 2"; });
  line.number("--participation", o.participation, 1e-6, 1, "probability with which each client is drawn for a round");
  line.number("--client-rate", o.client_rate, 1e-9, 1e3, "learning rate of the clients");
  line.number("--server-rate", o.server_rate, 1e-9, 1e3, "part of the mean change that the server takes");
  line.number("--noise-seed", o.noise_seed, 0, UINT64_MAX,
              "seed of sampling and noise, 0: secret; with another one nothing is private");
  line.flag("--compare", o.compare, "also train without noise; these results protect nobody");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { private_fedavg::train(app, o); });
}
