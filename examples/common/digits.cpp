#include "digits.hpp"

#include <boost/hana/for_each.hpp>
#include <boost/hana/members.hpp>
#include <cmath>

#include "../fedavg/model.hpp"
#include "random.hpp"

namespace examples {

classifier first_classifier(std::uint64_t seed) {
  random_stream random(seed, purpose::weights);
  classifier m;
  boost::hana::for_each(boost::hana::accessors<classifier>(), [&](auto member) {
    auto& array = boost::hana::second(member)(m);
    using A = std::remove_cvref_t<decltype(array)>;
    const double scale = A::rank < 2 ? 0 : 1 / std::sqrt(static_cast<double>(A::shape[0]));
    for (float& v : array) v = static_cast<float>(scale * random.normal());
  });
  return m;
}

struct digits_scores::program {
  drx::compiled<fedavg::programs<digits_shape>::evaluation> compiled;
};
digits_scores::digits_scores(application& app)
    : train_(place_rows<row>(app.session, app.train)),
      test_(place_rows<row>(app.session, app.test)),
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
