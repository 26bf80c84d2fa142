// language_model/ngram.hpp: the model to compare with: counts of the letters that followed the last few letters.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace language_model {

/// A letter's probability is a mean of those after the last `order` - 1, ..., 1 and 0 letters, weighted as Witten and
/// Bell (1991) do: a context that was seen n times with k different letters after it has the weight n / (n + k), and
/// shorter ones have the rest. Below all of them, letters are equally likely.
class ngram {
 public:
  /// order: from 1 to 8.
  ngram(int order, int letters) : order_(order), letters_(letters) {}

  /// Counts the letters of a text.
  void learn(std::span<const std::uint8_t> text);

  /// The probability of text[i] after the letters before it.
  [[nodiscard]] double probability(std::span<const std::uint8_t> text, std::size_t i) const;

 private:
  struct context {
    double seen = 0, different = 0;
  };
  int order_;
  double letters_;
  std::unordered_map<std::uint64_t, context> contexts_;
  std::unordered_map<std::uint64_t, double> counts_;  // of a context with a letter after it
};

}  // namespace language_model
