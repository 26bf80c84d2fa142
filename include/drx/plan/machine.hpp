// drx/plan/machine.hpp: the machine that plans and loops are laid out for: sizes that more than one pass or kernel uses.
// They suit the x86 servers on which drx was measured; other machines compute the same, perhaps slower.
// Tested by tests/unit/run/gemm.cpp and tests/unit/run/short_rows.cpp.
#pragma once

#include <cstdint>

namespace drx::machine {

// ---- registers ----

/// Numbers in the widest vector register: 16 floats. Rows of whole vectors are whole vectors in narrower registers too.
inline constexpr int widest_vector = 16;

// ---- memory ----

/// Bytes of a cache line, to which arrays are aligned.
inline constexpr std::int64_t cache_line = 64;
/// Bytes that the second cache of a core holds: a larger matrix that is read again and again is copied in parts.
inline constexpr std::int64_t second_cache = 1 << 20;
/// Bytes from which on data is read from memory and not from a cache, so that it is worth fetching ahead.
inline constexpr std::int64_t read_from_memory = 1 << 22;
/// Bytes of a huge page.
inline constexpr std::int64_t huge_page = 1 << 21;

}  // namespace drx::machine
