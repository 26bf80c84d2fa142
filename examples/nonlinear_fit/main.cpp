// nonlinear_fit: fits the parameters of a differential equation to measurements of NIST's, by damped Gauss-Newton
// steps.
// programs: nonlinear_fit::step_program
#include "nonlinear_fit.hpp"

#include <array>
#include <drx/run.hpp>

#include "../common/application.hpp"

namespace nonlinear_fit {
namespace {

struct settings : examples::options {
  double b0 = 500;
  double b1 = 0.0001;
  double damping = 0.0001;
};

/// Misra1a of the NIST reference datasets for nonlinear regression (Misra, dental research: monomolecular adsorption).
constexpr std::array<measurement, 14> misra1a{{{77.6, 10.07},
                                               {114.9, 14.73},
                                               {141.1, 17.94},
                                               {190.8, 23.93},
                                               {239.9, 29.61},
                                               {289.0, 35.18},
                                               {332.8, 40.02},
                                               {378.4, 44.82},
                                               {434.8, 50.76},
                                               {477.3, 55.05},
                                               {536.8, 61.01},
                                               {593.1, 66.40},
                                               {689.1, 75.47},
                                               {760.0, 81.78}}};

void fit(examples::application& app, const settings& o) {
  const auto data = app.session.place<measurements>(
      std::ssize(misra1a), [](std::int64_t i) { return misra1a[static_cast<std::size_t>(i)]; });
  auto next = app.session.compile<step_program>();

  drx::array<double, 2> b{o.b0, o.b1};
  double damping = o.damping;
  auto [proposed, squares] = next(b, damping, data);  // where b leads, and the sum of squares at b
  app.run("gauss_newton", o.rounds, [&](int r) -> examples::measures {
    if (r > 0) {
      const auto [after, squares_there] = next(proposed, damping / 4, data);
      if (squares_there <= squares) {
        b = proposed, squares = squares_there, proposed = after, damping /= 4;
      } else {  // worse, or not a number: again from b, with more damping
        damping *= 8;
        proposed = std::get<0>(next(b, damping, data));
      }
    }
    return {{"sum_of_squares", squares}, {"b0", b[0]}, {"b1", b[1]}};
  });
  app.result("certified", {{"sum_of_squares", 0.12455138894}, {"b0", 238.94212918}, {"b1", 0.00055015643181}});
}

}  // namespace
}  // namespace nonlinear_fit

int main(int argc, char** argv) {
  nonlinear_fit::settings o;
  o.rounds = 40;
  examples::command_line line("nonlinear_fit",
                              "Fits b0 and b1 of y' = b1 (b0 - y), y(0) = 0, to the measurements of NIST's Misra1a.");
  o.add_to(line);
  line.number("--b0", o.b0, 1, 1e4, "first b0");
  line.number("--b1", o.b1, 1e-6, 0.1, "first b1");
  line.number("--damping", o.damping, 1e-9, 1e6, "damping of the first step");
  return examples::run_example(argc, argv, line, o, [&](examples::application& app) { nonlinear_fit::fit(app, o); });
}
