// drx/run/data/table.hpp: a table of constants, by which code that is compiled once runs every program.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <cstddef>

namespace drx::run {

/// The constants in an array that lives as long as the program. (std::span costs a compiler some hundred templates for
/// each element type.)
template <class T>
struct table {
  const T* first = nullptr;
  std::size_t count = 0;

  [[nodiscard]] constexpr const T* begin() const { return first; }
  [[nodiscard]] constexpr const T* end() const { return first + count; }
  [[nodiscard]] constexpr std::size_t size() const { return count; }
  [[nodiscard]] constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](std::size_t i) const { return first[i]; }
};

/// A table that constant evaluation writes: at most N constants.
template <class T, int N>
struct written_table {
  T of[N + 1] = {};
  std::size_t count = 0;

  constexpr void add(const T& x) { of[count++] = x; }
  [[nodiscard]] constexpr table<T> all() const { return {of, count}; }
};

}  // namespace drx::run
