// drx/algorithms.hpp: optimizers, schedules, and reductions with a policy.
#pragma once

#include <drx/algorithms/optimizers.hpp>  // IWYU pragma: export
#include <drx/algorithms/policies.hpp>    // IWYU pragma: export
#include <drx/algorithms/schedules.hpp>   // IWYU pragma: export
#include <drx/drx.hpp>                    // IWYU pragma: export
