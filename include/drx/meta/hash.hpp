// drx/meta/hash.hpp: hashes of text, of numbers and of bytes that are the same on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace drx::meta {

/// The FNV-1a hash.
constexpr std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 14695981039346656037ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

/// A hash of numbers and bytes in the order in which they are added. It detects mistakes, not attacks.
class digest {
 public:
  void add(std::int64_t number) { add_word(static_cast<std::uint64_t>(number)); }
  void add(std::span<const std::byte> bytes) {
    add_word(bytes.size());
    std::size_t at = 0;
    for (std::uint64_t word; at + sizeof(word) <= bytes.size(); at += sizeof(word)) {
      std::memcpy(&word, bytes.data() + at, sizeof(word));
      add_word(word);
    }
    if (at == bytes.size()) return;
    std::uint64_t rest = 0;
    std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
    add_word(rest);
  }
  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(state_); }

 private:
  /// The product moves differences up, the shift brings them down again: changes of sign in two words do not cancel.
  void add_word(std::uint64_t word) {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;  // 2^64 over the golden ratio, as in splitmix64
    state_ = (state_ ^ word) * odd;
    state_ ^= state_ >> 32;
  }
  std::uint64_t state_ = 14695981039346656037ULL;
};

}  // namespace drx::meta
