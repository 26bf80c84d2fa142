// drx/meta/hash.hpp: a hash of text that is the same on all ranks.
#pragma once

#include <cstdint>
#include <string_view>

namespace drx::meta {

/// FNV-1a.
constexpr std::uint64_t hash(std::string_view text) {
  std::uint64_t h = 14695981039346656037ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

}  // namespace drx::meta
