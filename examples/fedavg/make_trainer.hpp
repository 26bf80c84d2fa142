// fedavg/make_trainer.hpp: the trainer of one shape. Each shape is instantiated in a source of its own, so that they
// compile side by side.
#pragma once

#include <boost/hana/for_each.hpp>
#include <boost/hana/keys.hpp>
#include <boost/hana/string.hpp>
#include <drx/plan/show.hpp>
#include <drx/device.hpp>
#include <functional>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "../common/data.hpp"
#include "../common/partition.hpp"
#include "../common/place_rows.hpp"
#include "model.hpp"
#include "trainer.hpp"

namespace fedavg {

template <shape S>
class trainer_of final : public trainer {
  using P = programs<S>;
  using model = typename P::model;
  using row = typename P::row;
  using data_of_clients = placed_rows_of_clients<row>;
  using pooled_data = placed_rows<row>;
  using gpu = drx::kokkos_device<>;
  using kept = decltype(std::declval<gpu&>().keep(std::declval<const data_of_clients&>()));

 public:
  trainer_of(drx::session& session, const dataset& train, const dataset& test, const partition& owners, int local_steps,
             float rate, bool on_device)
      : session_(session),
        data_(train),
        rate_(rate),
        of_clients_(place_rows_of_clients<row>(session, train, owners)),
        train_(place_rows<row>(session, train)),
        test_(place_rows<row>(session, test)),
        evaluate_(session.compile<typename P::evaluation>()) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (void)((compiled_steps[I] == local_steps && (choose<compiled_steps[I]>(on_device), true)) || ...);
    }(std::make_index_sequence<compiled_steps.size()>{});
    if (!round_) throw std::invalid_argument("fedavg: this number of local steps is not compiled in");
  }

  std::vector<parameter> parameters() override {
    std::vector<parameter> all;
    boost::hana::for_each(boost::hana::accessors<model>(), [&](auto member) {
      auto& array = boost::hana::second(member)(model_);
      using A = std::remove_cvref_t<decltype(array)>;
      std::vector<std::size_t> extents;
      for (int d = 0; d < A::rank; ++d) extents.push_back(static_cast<std::size_t>(A::shape[d]));
      all.push_back({boost::hana::to<const char*>(boost::hana::first(member)),
                     extents,
                     {array.data(), static_cast<std::size_t>(A::size)}});
    });
    return all;
  }
  void round(const std::vector<std::int64_t>& participants) override {
    round_(next_, model_, of_clients_.subset(participants, session_.rank()));
    std::swap(model_, next_);
  }
  void central_round() override {
    if (!of_one_) {
      partition one{.first = {0, data_.rows()}, .rows = std::vector<std::size_t>(data_.rows())};
      std::iota(one.rows.begin(), one.rows.end(), std::size_t{0});
      of_one_ = place_rows_of_clients<row>(session_, data_, one);
    }
    round_(next_, model_, *of_one_);
    std::swap(model_, next_);
  }
  score on_training_rows() override { return score_on(train_); }
  score on_test_rows() override { return score_on(test_); }
  std::string program() const override { return program_; }

 private:
  template <int Steps>
  void choose(bool on_device) {
    using program = typename P::template round<Steps>;
    program_ = drx::plan::show<program>();
    if constexpr (gpu::is_gpu) {
      if (on_device) {
        device_.emplace();
        kept_.emplace(device_->keep(of_clients_));
        return use(drx::compile_on<program>(*device_, session_));
      }
    }
    use(session_.compile<program>());
  }
  /// Trains by this program.
  template <class Compiled>
  void use(Compiled&& ready) {
    round_ = [this, compiled = std::make_shared<Compiled>(std::move(ready))](
                 model& to, const model& from, const data_of_clients& data) { compiled->call(to, from, rate_, data); };
  }
  score score_on(const pooled_data& data) {
    const auto [loss, accuracy] = evaluate_(model_, data);
    return {loss, accuracy};
  }

  drx::session& session_;
  const dataset& data_;
  float rate_;
  model model_{}, next_{};
  data_of_clients of_clients_;
  std::optional<data_of_clients> of_one_;  // placed when it is needed
  pooled_data train_, test_;
  std::optional<gpu> device_;
  std::optional<kept> kept_;
  std::function<void(model& to, const model& from, const data_of_clients&)> round_;
  drx::compiled<typename P::evaluation> evaluate_;
  std::string program_;
};

template <shape S>
std::unique_ptr<trainer> make_trainer(drx::session& session, const dataset& train, const dataset& test,
                                      const partition& clients, int local_steps, float rate, bool on_device) {
  return std::make_unique<trainer_of<S>>(session, train, test, clients, local_steps, rate, on_device);
}

}  // namespace fedavg
