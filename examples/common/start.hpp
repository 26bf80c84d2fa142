// common/start.hpp: starts MPI and Kokkos for an example.
#pragma once

#include <drx/backend/session.hpp>
#include <optional>

#include "command_line.hpp"

namespace examples {

/// The largest number of threads of a rank: four for each processor, since more only wait for each other, but at least
/// 16, and never more than Kokkos has room for.
[[nodiscard]] int most_threads();

/// A refusal if `threads` is 0, which leaves the number to Kokkos, and the environment makes it choose more than
/// most_threads; else empty.
[[nodiscard]] std::optional<stop> too_many_threads_in_environment(const std::string& program, int threads);

/// Starts MPI and Kokkos with this number of threads; 0: as many as Kokkos chooses. Closed standard streams lead to
/// /dev/null from here on, and a closed pipe does not end the program.
[[nodiscard]] drx::session start(char* program, int threads);

}  // namespace examples
