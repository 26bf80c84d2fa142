// common/output.hpp: what is printed. A reader that is gone, or a disk that is full, does not end the training.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

namespace examples {

/// Writes the text at once. What cannot be written is lost: for standard output, printed_all tells in the end.
inline void print(std::FILE* to, std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), to));
  static_cast<void>(std::fflush(to));
}

/// The exit code of a program that did its work: 0, or 1 where standard output lacks something, which is then told.
[[nodiscard]] inline int printed_all(std::string_view program) {
  if (std::ferror(stdout) == 0) return 0;
  print(stderr, fmt::format("{}: standard output could not be written; the files are complete\n", program));
  return 1;
}

}  // namespace examples
