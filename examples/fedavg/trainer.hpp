// fedavg/trainer.hpp: the interface to a model of any shape in training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shapes.hpp"

namespace drx {
class session;
}

namespace examples {
struct dataset;
struct partition;
}  // namespace examples

namespace fedavg {

struct score {
  float loss = 0, accuracy = 0;
};

/// An array of the model.
struct parameter {
  std::string name;
  std::vector<std::size_t> shape;
  std::span<float> values;  ///< row by row, in the trainer's memory
};

/// The interface. All ranks make the same calls.
class trainer {
 public:
  trainer() = default;
  trainer(const trainer&) = delete;
  trainer& operator=(const trainer&) = delete;
  virtual ~trainer() = default;

  [[nodiscard]] virtual std::vector<parameter> parameters() = 0;
  /// A round in which these clients (ascending) take part.
  virtual void round(const std::vector<std::int64_t>& participants) = 0;
  /// A round of one client that holds all training rows.
  virtual void central_round() = 0;
  [[nodiscard]] virtual score on_training_rows() = 0;
  [[nodiscard]] virtual score on_test_rows() = 0;
  /// The program of a round, as text.
  [[nodiscard]] virtual std::string program() const = 0;
};

/// Puts the rows on the ranks and lays out the programs. The model is all zeros at first. `train` must outlive the
/// trainer. With `on_device`, a GPU computes the rounds and keeps the clients' rows. Defined in make_trainer.hpp.
template <shape S>
std::unique_ptr<trainer> make_trainer(drx::session& session, const dataset& train, const dataset& test,
                                      const partition& clients, int local_steps, float rate, bool on_device);

}  // namespace fedavg
