// fedsgd: parallel SGD over clients, beside the same steps on all rows in one place, and federated averaging.
// programs: fedsgd::round_program
#include <numeric>

#include "../common/application.hpp"
#include "fedsgd.hpp"

namespace fedsgd {
namespace {

struct settings : options {
  double rate = 0.5;
};

partition in_one_place(std::size_t n) {
  partition one{.first = {0, n}, .rows = std::vector<std::size_t>(n)};
  std::iota(one.rows.begin(), one.rows.end(), std::size_t{0});
  return one;
}

void train(application& app, const settings& o) {
  const auto rate = static_cast<float>(o.rate);
  const auto data = place_rows_of_clients<row>(app.session, app.train, app.clients);
  const auto together = place_rows_of_clients<row>(app.session, app.train, in_one_place(app.train.rows()));
  const digits_scores scores(app);
  auto step = app.session.compile<round_program>();
  averaging average(app.session);

  const auto run = [&](const char* method, auto next) {
    classifier m = first_classifier(o.seed);
    app.run(method, o.rounds, [&](int r) {
      if (r > 0) m = next(m);
      return scores(m);
    });
  };
  run("fedsgd", [&](const classifier& m) { return step(m, rate, data); });
  run("in_one_place", [&](const classifier& m) { return step(m, rate, together); });
  run("fedavg", [&](const classifier& m) { return average(m, rate, data); });
}

}  // namespace
}  // namespace fedsgd

int main(int argc, char** argv) {
  fedsgd::settings o;
  examples::command_line line("fedsgd", "Parallel SGD: the gradient of a loss that is spread over clients.");
  o.add_to(line);
  o.add_data_to(line);
  o.add_clients_to(line);
  line.number("--rate", o.rate, 1e-9, 1e3, "learning rate");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { fedsgd::train(app, o); });
}
