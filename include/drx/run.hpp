// drx/run.hpp: running programs on Kokkos and MPI. Only files that run pay for it.
#pragma once

#include <drx/backend/session.hpp>  // IWYU pragma: export
#include <drx/drx.hpp>              // IWYU pragma: export
