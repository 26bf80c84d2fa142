// drx/drx.hpp: placements, programs and their derivatives. No Kokkos, MPI, Eigen or Boost: running programs is
// <drx/run.hpp>, adapters for other libraries' types are <drx/ext/...>.
#pragma once

#include <drx/primitives/emit.hpp>
#include <drx/tape/print.hpp>
#include <drx/transform/custom_root.hpp>
#include <drx/transform/differentiate.hpp>
#include <drx/transform/grad.hpp>
#include <drx/transform/jacobian.hpp>
#include <drx/transform/modes.hpp>
#include <drx/transform/program.hpp>
#include <drx/transform/vmap.hpp>
#include <drx/transform/without_carried_products.hpp>
