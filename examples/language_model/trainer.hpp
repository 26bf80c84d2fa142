// language_model/trainer.hpp: runs the programs on the owners' texts.
#pragma once

#include <cmath>
#include <drx/run.hpp>
#include <memory>
#include <string>
#include <vector>

#include "../common/parameters.hpp"
#include "../common/partition.hpp"
#include "../common/random.hpp"
#include "language_model.hpp"
#include "text.hpp"

namespace language_model {

using examples::purpose, examples::random_stream;
using model = programs<size>::model;

static_assert(size.letters == letters, "the text has another number of letters");

/// Weights normally distributed; those that lead back into the sum of layers smaller by their number.
inline void set_first_weights(model& m, std::uint64_t seed) {
  random_stream random(seed, purpose::weights);
  const auto draw = [&](auto& array, double deviation) {
    for (float& v : array) v = static_cast<float>(deviation * random.normal());
  };
  const double usual = 1 / std::sqrt(static_cast<double>(size.width)), back = usual / std::sqrt(2.0 * size.layers);
  draw(m.letter, 0.1);
  draw(m.place, 0.02);
  const auto one = std::make_unique<layer<size>>();
  std::ranges::fill(one->scale1, 1.0f);
  std::ranges::fill(one->scale2, 1.0f);
  for (int i = 0; i < size.layers; ++i) {
    draw(one->qkv, usual);
    draw(one->out, back);
    draw(one->up, usual);
    draw(one->down, back / 2);
    m.layers.set(i, *one);
  }
  std::ranges::fill(m.scale, 1.0f);
}

using adamw_state = programs<size>::adamw_state;

/// What a run is in the middle of.
struct state {
  adamw_state now;  // federated averaging leaves all but the model as it is
  model momentum;   // DiLoCo's
};

struct rates {
  float fedavg, inner, outer, momentum;
};

/// All ranks make the same calls.
class trainer {
 public:
  trainer(drx::session& session, const std::vector<owner>& owners, double participation, std::uint64_t seed, rates by)
      : session_(session), owners_(owners), participation_(participation), seed_(seed), rates_(by) {
    for (const auto& o : owners) all_text_.insert(all_text_.end(), o.train.begin(), o.train.end());
    some_ = place_held_out(4);
  }

  /// How many clients take part in a round.
  [[nodiscard]] std::size_t workers() const { return participants(0).size(); }

  /// One round from s to s. Returns the mean loss in it, in nats.
  float fedavg_round(state& s, int round) {
    const auto to = std::make_unique<std::tuple<model, float>>();
    fedavg_.call(*to, std::get<0>(s.now), rates_.fedavg, place_work(round));
    std::get<0>(s.now) = std::get<0>(*to);
    return std::get<1>(*to);
  }
  float diloco_round(state& s, int round) {
    const auto to = std::make_unique<std::tuple<adamw_state, model, float>>();
    diloco_.call(*to, s.now, s.momentum, std::tuple{rates_.inner, rates_.outer, rates_.momentum}, place_work(round));
    s.now = std::get<0>(*to);
    s.momentum = std::get<1>(*to);
    return std::get<2>(*to);
  }

  /// As many steps on as many letters as in a round, by AdamW, with texts drawn from those of all owners.
  float central_round(adamw_state& s, int round) {
    float sum = 0;
    const auto to = std::make_unique<std::tuple<adamw_state, float>>();
    for (int step = 0; step < local_steps; ++step) {
      const auto batches = session_.place<clients>(static_cast<std::int64_t>(workers()), [&](std::int64_t worker) {
        programs<size>::batch b;
        draw(b.data(), texts_of_step, all_text_, {index(round), index(step), index(worker), 1});
        return b;
      });
      central_.call(*to, s, rates_.inner, batches);
      s = std::get<0>(*to);
      sum += std::get<1>(*to);
    }
    return sum / local_steps;
  }

  /// Bits per byte of each owner's held-out text; of a few pieces of it, or of all.
  std::vector<double> bits_of_some(const model& m) { return bits(m, some_); }
  std::vector<double> bits_of_all(const model& m) { return bits(m, place_held_out(SIZE_MAX)); }

  /// Continues a text by drawing letter after letter, each by its probability to the power 1 / temperature.
  std::string sample(const model& m, int count, double temperature) {
    random_stream random(seed_, purpose::samples);
    letter_string text{letter_of('\n')};
    for (int k = 0; k < count; ++k) {
      drx::array<std::int32_t, 1, size.context> read{};
      const std::size_t known = std::min(text.size(), static_cast<std::size_t>(size.context));
      copy_letters(text, text.size() - known, std::span(read.data(), known));
      const auto all = next_letter_(m, read);
      const std::span last(all.data() + (known - 1) * letters, letters);
      const double highest = *std::ranges::max_element(last);
      std::vector<double> weights;
      for (const float score_of_letter : last) weights.push_back(std::exp((score_of_letter - highest) / temperature));
      text.push_back(static_cast<std::uint8_t>(random.of(weights)));
    }
    std::string written;
    for (const auto letter : text) written += byte_of(letter);
    return written.substr(1);
  }

 private:
  using placed_pieces = drx::partitions<drx::placed<programs<size>::text, texts>, clients>;

  static std::uint64_t index(std::int64_t i) { return static_cast<std::uint64_t>(i); }
  [[nodiscard]] std::vector<std::size_t> participants(int round) const {
    return examples::participants(owners_.size(), participation_, seed_, index(round));
  }

  /// `count` texts from anywhere in a longer one.
  void draw(std::int32_t* to, int count, const letter_string& from, std::initializer_list<std::uint64_t> name) const {
    constexpr std::size_t length = size.context + 1;
    random_stream random(seed_, purpose::batches, name);
    for (int k = 0; k < count; ++k, to += length)
      copy_letters(from, random.below(from.size() - length + 1), std::span(to, length));
  }

  /// The participants' batches, and weights: the lengths of their texts.
  [[nodiscard]] drx::partitions<programs<size>::work, clients> place_work(int round) const {
    const auto drawn = participants(round);
    return session_.place<clients>(static_cast<std::int64_t>(drawn.size()), [&](std::int64_t i) {
      const std::size_t who = drawn[static_cast<std::size_t>(i)];
      programs<size>::work w;
      draw(std::get<0>(w).data(), local_steps * texts_of_step, owners_[who].train, {index(round), who});
      std::get<1>(w) = static_cast<float>(owners_[who].train.size());
      return w;
    });
  }

  [[nodiscard]] placed_pieces place_held_out(std::size_t most) const {
    return session_.place<clients, texts>(static_cast<std::int64_t>(owners_.size()), [&](std::int64_t i) {
      const auto& text = owners_[static_cast<std::size_t>(i)].held_out;
      std::vector<programs<size>::text> held;
      for (const std::size_t first : pieces(text.size(), size.context, most))
        copy_letters(text, first, std::span(held.emplace_back().data(), size.context + 1));
      return held;
    });
  }

  std::vector<double> bits(const model& m, const placed_pieces& data) {
    std::vector<double> all(owners_.size());
    const auto nats = scores_(m, data);
    for (std::int64_t i = 0; i < nats.local(); ++i)
      all[static_cast<std::size_t>(nats.first() + i)] = static_cast<double>(float(nats[i])) / std::log(2.0);
    session_.communicator().all_sum(all.data(), static_cast<std::int64_t>(all.size()));  // the others' are 0
    return all;
  }

  drx::session& session_;
  const std::vector<owner>& owners_;
  double participation_;
  std::uint64_t seed_;
  rates rates_;
  letter_string all_text_;
  placed_pieces some_;
  drx::compiled<fedavg> fedavg_ = session_.compile<fedavg>();
  drx::compiled<diloco> diloco_ = session_.compile<diloco>();
  drx::compiled<central> central_ = session_.compile<central>();
  drx::compiled<scores> scores_ = session_.compile<scores>();
  drx::compiled<next_letter> next_letter_ = session_.compile<next_letter>();
};

}  // namespace language_model
