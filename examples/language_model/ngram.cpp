#include "ngram.hpp"

#include <algorithm>

namespace language_model {
namespace {

/// The last `length` letters before text[i] as a number, which says the length too: seven bits for each letter.
std::uint64_t key_of(std::span<const std::uint8_t> text, std::size_t i, std::size_t length) {
  std::uint64_t key = 1;
  for (std::size_t k = i - length; k < i; ++k) key = key << 7 | text[k];
  return key;
}

}  // namespace

void ngram::learn(std::span<const std::uint8_t> text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    for (std::size_t length = 0; length < std::min(i + 1, static_cast<std::size_t>(order_)); ++length) {
      const auto key = key_of(text, i, length);
      context& before = contexts_[key];
      double& together = counts_[key << 7 | text[i]];
      before.seen += 1;
      before.different += together == 0 ? 1 : 0;
      together += 1;
    }
}

double ngram::probability(std::span<const std::uint8_t> text, std::size_t i) const {
  double p = 1 / letters_;
  for (std::size_t length = 0; length < std::min(i + 1, static_cast<std::size_t>(order_)); ++length) {
    const auto key = key_of(text, i, length);
    const auto before = contexts_.find(key);
    if (before == contexts_.end()) break;  // nor was a longer one seen
    const auto together = counts_.find(key << 7 | text[i]);
    const auto& [seen, different] = before->second;
    p = ((together == counts_.end() ? 0 : together->second) + different * p) / (seen + different);
  }
  return p;
}

}  // namespace language_model
