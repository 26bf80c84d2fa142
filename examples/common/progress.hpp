// common/progress.hpp: shows the progress of training: a bar that redraws itself on a terminal, a line now and then
// elsewhere.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "output.hpp"

namespace examples {

/// One line of progress: [#####.....] round 30/60, loss 0.213, 0:12 left
[[nodiscard]] inline std::string progress_line(int round, int rounds, const std::string& reached,
                                               double seconds_per_round) {
  constexpr int width = 30;
  const int filled = rounds > 0 ? static_cast<int>(static_cast<long>(width) * round / rounds) : width;
  const long left = static_cast<long>(seconds_per_round * (rounds - round) + 0.5);
  return fmt::format("[{:#<{}}{:.<{}}] round {}/{}, {}, {}:{:02} left", "", filled, "", width - filled, round, rounds,
                     reached, left / 60, left % 60);
}

class progress {
 public:
  [[nodiscard]] static bool on_terminal() { return ::isatty(STDERR_FILENO) == 1 && std::getenv("CI") == nullptr; }

  /// Made on one rank only. `done`: rounds finished before this run (a resumed one), which cost it no time.
  progress(int rounds, int done) : rounds_(rounds), done_(done), start_(clock::now()), shown_(start_ - hold()) {}

  void update(int round, const std::string& reached) {
    const auto now = clock::now();
    const bool last = round == rounds_;
    if (now - shown_ < hold() && !last) return;
    shown_ = now;
    const std::chrono::duration<double> spent = now - start_;
    const auto line = progress_line(round, rounds_, reached, spent.count() / std::max(1, round - done_));
    print(stderr, terminal_ ? fmt::format("\r{}\x1b[K{}", line, last ? "\n" : "") : line + "\n");
  }

 private:
  using clock = std::chrono::steady_clock;
  // Five redraws a second on a terminal; a log file gets a line every ten seconds.
  [[nodiscard]] std::chrono::milliseconds hold() const { return std::chrono::milliseconds(terminal_ ? 200 : 10'000); }

  bool terminal_ = on_terminal();
  int rounds_, done_;
  clock::time_point start_, shown_;
};

}  // namespace examples
