// drx/algorithms.hpp: optimizers and schedules.
#pragma once

#include <drx/algorithms/optimizers.hpp>  // IWYU pragma: export
#include <drx/algorithms/schedules.hpp>   // IWYU pragma: export
#include <drx/drx.hpp>                    // IWYU pragma: export
