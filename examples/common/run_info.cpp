#include "run_info.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <drx/config.hpp>

namespace examples {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of(",\n")); }

}  // namespace

nlohmann::ordered_json run_info(const nlohmann::ordered_json& options, const environment& environment) {
#ifdef NDEBUG
  const char* const assertions = "off";
#else
  const char* const assertions = "on";
#endif
  return {{"drx", fmt::format("{}.{}.{}", DRX_VERSION_MAJOR, DRX_VERSION_MINOR, DRX_VERSION_PATCH)},
          {"compiler", compiler()},
          {"assertions", assertions},
          {"mpi", first_line(environment.mpi)},
          {"kokkos_backend", environment.backend},
          {"ranks", environment.ranks},
          {"threads_per_rank", environment.threads},
          {"host", host()},
          {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"options", options}};
}

}  // namespace examples
