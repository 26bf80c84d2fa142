// tuned_ridge: ridge regression with a penalty for each feature, tuned on held-out rows, after one penalty for all.
// programs: tuned_ridge::slope_program tuned_ridge::measure_program
#include "tuned_ridge.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "../common/application.hpp"
#include "../common/place_rows.hpp"

namespace tuned_ridge {
namespace {

struct settings : options {
  double held_out = 0.5;
  double penalty = 0.1;
  double rate = 2000;
};

penalties of_all(double x) {
  penalties p;
  std::ranges::fill(p, x);
  return p;
}
double sum(const penalties& p) { return std::accumulate(p.begin(), p.end(), 0.0); }

void train(application& app, const settings& o) {
  const auto parts = split(app.train, o.held_out, o.seed + 1);
  const auto fitted = place_rows<digit_row>(app.session, parts.train);
  const auto held_out = app.session.place<held_out_rows>(
      static_cast<std::int64_t>(parts.test.rows()),
      [&](std::int64_t i) { return row_of<digit_row>(parts.test, static_cast<std::size_t>(i)); });
  const auto test = place_rows<digit_row>(app.session, app.test);
  auto slopes = app.session.compile<slope_program>();
  auto measure_on = app.session.compile<measure_program>();

  const auto start = [&](double shift) { return of_all(std::log(o.penalty) + shift); };
  const auto loss_at = [&](double shift) { return slopes(start(shift), weights{}, fitted, held_out).first.first; };
  const auto [first, slope_at_first] = slopes(start(0), weights{}, fitted, held_out);
  app.result("start", {{"held_out_loss", first.first},
                       {"test_loss", std::get<0>(measure_on(first.second, test))},
                       {"derivative", sum(slope_at_first)},
                       {"difference", (loss_at(1e-4) - loss_at(-1e-4)) / 2e-4}});

  penalties p = start(0);
  auto w = std::make_unique<weights>();
  const auto tune = [&](const char* method, auto slopes_of) {
    app.run(method, o.rounds, [&](int) -> measures {
      const auto [result, slope] = slopes(p, *w, fitted, held_out);
      *w = result.second;
      const penalties by = slopes_of(slope);
      for (std::int64_t i = 0; i < penalties::size; ++i) p.data()[i] -= std::clamp(o.rate * by[i], -0.5, 0.5);
      const auto [loss, accuracy] = measure_on(*w, test);
      return {{"held_out_loss", result.first}, {"test_loss", loss}, {"test_accuracy", accuracy}};
    });
  };
  tune("one_for_all", [&](const penalties& slope) { return of_all(sum(slope) / penalties::size); });
  tune("one_for_each", [](const penalties& slope) { return slope; });
}

}  // namespace
}  // namespace tuned_ridge

int main(int argc, char** argv) {
  tuned_ridge::settings o;
  o.rounds = 20;
  examples::command_line line("tuned_ridge", "Ridge regression whose penalties are tuned by implicit differentiation.");
  o.add_to(line);
  o.add_data_to(line);
  line.number("--held-out", o.held_out, 0.01, 0.99, "part of the training rows held out");
  line.number("--penalty", o.penalty, 1e-6, 1e3, "the penalty of each feature at the start");
  line.number("--rate", o.rate, 1e-9, 1e6,
              "how far a penalty's logarithm moves along its slope, but at most by 0.5 a round");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { tuned_ridge::train(app, o); });
}
