#include "start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace examples {
namespace {

constexpr int kokkos_has_places_for =
    512;  // Kokkos 4.5, OpenMPTraits::MAX_THREAD_COUNT: beyond it writes into other memory
constexpr int always_allowed = 16, for_each_processor = 4;

// Otherwise the next opened file would get the stream's number, and receive the printed text.
void open_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDWR));
}

}  // namespace

int most_threads() {
  const auto processors = static_cast<int>(std::min(std::thread::hardware_concurrency(), 512u));
  return std::clamp(for_each_processor * processors, always_allowed, kokkos_has_places_for);
}

std::optional<stop> too_many_threads_in_environment(const std::string& program, int threads) {
  if (threads != 0) return std::nullopt;
  for (const char* name : {"KOKKOS_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text = value;
    int number = 0;
    const auto error =
        std::from_chars(text.data(), text.data() + text.size(), number).ec;  // OMP_NUM_THREADS may be a list
    if (error == std::errc::result_out_of_range || number > most_threads())
      return stop{2, fmt::format("{}: {}={} is more than {} threads, the most for a rank on this machine\n", program,
                                 name, text, most_threads())};
  }
  return std::nullopt;
}

drx::session start(char* program, int threads) {
  open_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);
#if defined(_OPENMP)
  if (threads > 0) omp_set_num_threads(threads);  // Kokkos first starts as many as OMP_NUM_THREADS says, to count them
#endif
  std::string option = fmt::format("--kokkos-num-threads={}", threads);
  char* words[] = {program, threads > 0 ? option.data() : nullptr, nullptr};
  int count = threads > 0 ? 2 : 1;
  return {count, words};
}

}  // namespace examples
