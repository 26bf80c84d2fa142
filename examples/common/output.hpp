// common/output.hpp: printing that neither a closed pipe nor a full disk can interrupt.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

namespace examples {

/// Writes the text at once. Text that cannot be written is lost; for standard output, printed_all reports it in the
/// end.
inline void print(std::FILE* to, std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), to));
  static_cast<void>(std::fflush(to));
}

/// The exit code of a program that did its work: 0, or 1 if standard output lacks something, which it then reports.
[[nodiscard]] inline int printed_all(std::string_view program) {
  if (std::ferror(stdout) == 0) return 0;
  print(stderr, fmt::format("{}: standard output could not be written; the files are complete\n", program));
  return 1;
}

}  // namespace examples
