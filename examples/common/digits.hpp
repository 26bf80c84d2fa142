// common/digits.hpp: the classifier for images of digits that most examples train, its first weights, its scores, and
// the round of federated averaging for comparison. Its programs are compiled once, in digits.cpp.
#pragma once

#include <memory>

#include "application.hpp"
#include "place_rows.hpp"

namespace examples {

using classifier = mlp<digits_shape>;
using row = labelled_row<digits_shape>;

[[nodiscard]] classifier first_classifier(std::uint64_t seed);

/// Loss on the training rows, loss and accuracy on the test rows.
class digits_scores {
 public:
  explicit digits_scores(application& app) : digits_scores(app, app.test) {}
  digits_scores(application& app, const dataset& test);
  ~digits_scores();
  [[nodiscard]] measures operator()(const classifier& m) const;

 private:
  struct program;
  placed_rows<row> train_, test_;
  std::unique_ptr<program> program_;
};

/// Federated averaging with eight local steps, see fedavg/model.hpp.
class averaging {
 public:
  explicit averaging(drx::session& session);
  ~averaging();
  [[nodiscard]] classifier operator()(const classifier& m, float rate, const placed_rows_of_clients<row>& data);

 private:
  struct program;
  std::unique_ptr<program> program_;
};

}  // namespace examples
