// common/start.hpp: how an example starts MPI and Kokkos.
#pragma once

#include <drx/backend/session.hpp>
#include <optional>

#include "command_line.hpp"

namespace examples {

/// The most threads that a rank may have: four for each processor, as more only wait for each other, but at least 16,
/// and never more than Kokkos has places for.
[[nodiscard]] int most_threads();

/// Empty unless `threads` is 0, which leaves the number to Kokkos, and the environment has it choose more than
/// most_threads.
[[nodiscard]] std::optional<stop> too_many_threads_in_environment(const std::string& program, int threads);

/// Starts MPI and Kokkos with this number of threads; 0: as many as Kokkos chooses. Standard streams that are closed
/// lead to /dev/null from here on, and one whose reader is gone does not end the program.
[[nodiscard]] drx::session start(char* program, int threads);

}  // namespace examples
