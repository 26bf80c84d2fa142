// drx/device.hpp: running programs with their stages on a device, by Kokkos.
#pragma once

#include <drx/backend/device.hpp>  // IWYU pragma: export
#include <drx/run.hpp>             // IWYU pragma: export
