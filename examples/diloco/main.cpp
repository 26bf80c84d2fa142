// diloco: many AdamW steps at each worker and Nesterov steps between them, beside plain averages of the workers.
// programs: diloco::round_program
#include "diloco.hpp"

#include <drx/run/cost.hpp>

#include "../common/application.hpp"

namespace diloco {
namespace {

// cut-begin cost
constexpr auto cost = drx::cost<round_program>();
static_assert(cost.collectives(8) == 1 && cost.bytes_up() == sizeof(classifier));  // 9640 bytes; AdamW's moments stay
// cut-end cost

struct settings : options {
  double inner_rate = 0.001;
  double outer_rate = 0.7;
  double momentum = 0.9;
};

void train(application& app, const settings& o) {
  const auto data = place_rows_of_clients<row>(app.session, app.train, app.clients);
  const digits_scores scores(app);
  auto round = app.session.compile<round_program>();

  const auto run = [&](const char* method, double outer_rate, double decay) {
    const round_rates rates{static_cast<float>(o.inner_rate), static_cast<float>(outer_rate),
                            static_cast<float>(decay)};
    classifier m = first_classifier(o.seed), momentum{};
    auto states =
        drx::place<clients>(app.session.communicator(), data.boundaries(), [](std::int64_t) { return worker_state{}; });
    app.run(method, o.rounds, [&](int r) {
      if (r > 0) {
        const auto [next, moved, kept] = round(m, momentum, states, rates, data);
        m = next;
        momentum = moved;
        states = kept.copy();
      }
      return scores(m);
    });
  };
  run("diloco", o.outer_rate, o.momentum);
  run("averaging", 1, 0);
}

}  // namespace
}  // namespace diloco

int main(int argc, char** argv) {
  diloco::settings o;
  o.clients = 8;
  examples::command_line line(
      "diloco", "DiLoCo: twenty AdamW steps at each worker, then a Nesterov step with the mean of their changes.");
  o.add_to(line);
  o.add_data_to(line);
  o.add_clients_to(line);
  line.number("--inner-rate", o.inner_rate, 1e-9, 1e3, "learning rate of AdamW at the workers");
  line.number("--outer-rate", o.outer_rate, 1e-9, 1e3, "learning rate of the steps between them");
  line.number("--momentum", o.momentum, 0, 0.999, "momentum of the steps between them");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { diloco::train(app, o); });
}
