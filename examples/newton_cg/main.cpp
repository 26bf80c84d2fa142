// newton_cg: Newton's method with conjugate gradients for softmax regression, beside gradient descent that sends as
// many messages.
// programs: newton_cg::newton_program newton_cg::gradient_program newton_cg::measure_program
#include "newton_cg.hpp"

#include <drx/run/cost.hpp>
#include <memory>

#include "../common/application.hpp"
#include "../common/place_rows.hpp"

namespace newton_cg {
namespace {

// cut-begin cost
constexpr auto cost = drx::cost<newton_program>();
static_assert(cost.collectives(8) == 11 && cost.bytes_up() == 11 * 650 * 8);  // a message is as large as the weights
static_assert(cost.collectives(8) == drx::cost<gradient_program>().collectives(8));
// cut-end cost

struct settings : options {
  double ridge = 0.001;
  double rate = 0.5;
};

void train(application& app, const settings& o) {
  const auto placed = place_rows<digit_row>(app.session, app.train);
  auto newton = app.session.compile<newton_program>();
  auto descend = app.session.compile<gradient_program>();
  auto measure_on = app.session.compile<measure_program>();

  const auto run = [&](const char* method, auto next) {
    auto w = std::make_unique<weights>();
    app.run(method, o.rounds, [&](int r) -> measures {
      if (r > 0) *w = next(*w);
      const auto [value, slope] = measure_on(*w, o.ridge, placed);
      return {{"loss", value}, {"length_of_gradient", slope}};
    });
  };
  run("newton_cg", [&](const weights& w) { return newton(w, o.ridge, placed); });
  run("gradient_descent", [&](const weights& w) { return descend(w, o.rate, o.ridge, placed); });
}

}  // namespace
}  // namespace newton_cg

int main(int argc, char** argv) {
  newton_cg::settings o;
  o.rounds = 6;
  examples::command_line line(
      "newton_cg", "Softmax regression by Newton's method: ten conjugate gradients in a step, without a Hessian.");
  o.add_to(line);
  o.add_data_to(line);
  line.number("--ridge", o.ridge, 1e-9, 1e3, "weight of the squares of the parameters");
  line.number("--rate", o.rate, 1e-9, 1e3, "learning rate of gradient descent");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { newton_cg::train(app, o); });
}
