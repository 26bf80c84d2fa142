#include "digits.hpp"

#include "../fedavg/model.hpp"
#include "first_weights.hpp"

namespace examples {

classifier first_classifier(std::uint64_t seed) { return first_weights<classifier>(seed); }

struct digits_scores::program {
  drx::compiled<fedavg::programs<digits_shape>::evaluation> compiled;
};
digits_scores::digits_scores(application& app, const dataset& test)
    : train_(place_rows<row>(app.session, app.train)),
      test_(place_rows<row>(app.session, test)),
      program_(new program{app.session.compile<fedavg::programs<digits_shape>::evaluation>()}) {}
digits_scores::~digits_scores() = default;
measures digits_scores::operator()(const classifier& m) const {
  const auto [train_loss, train_accuracy] = program_->compiled(m, train_);
  const auto [test_loss, test_accuracy] = program_->compiled(m, test_);
  return {{"train_loss", train_loss}, {"test_loss", test_loss}, {"test_accuracy", test_accuracy}};
}

struct averaging::program {
  drx::compiled<fedavg::programs<digits_shape>::round<8>> compiled;
};
averaging::averaging(drx::session& session)
    : program_(new program{session.compile<fedavg::programs<digits_shape>::round<8>>()}) {}
averaging::~averaging() = default;
classifier averaging::operator()(const classifier& m, float rate, const placed_rows_of_clients<row>& data) {
  return program_->compiled(m, rate, data);
}

}  // namespace examples
