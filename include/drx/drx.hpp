// drx/drx.hpp: placements, programs and their derivatives. No Kokkos, MPI, Eigen or Boost: running programs is
// <drx/run.hpp>, adapters for other libraries' types are <drx/ext/...>.
#pragma once

#include <drx/functions/argmax.hpp>
#include <drx/functions/assignment.hpp>
#include <drx/functions/axes.hpp>
#include <drx/functions/diagonal.hpp>
#include <drx/functions/draws.hpp>
#include <drx/functions/einsum.hpp>
#include <drx/functions/fori_loop.hpp>
#include <drx/functions/identity.hpp>
#include <drx/functions/linspace.hpp>
#include <drx/functions/log_softmax.hpp>
#include <drx/functions/loop_memory.hpp>
#include <drx/functions/one_hot.hpp>
#include <drx/functions/permutation.hpp>
#include <drx/functions/pmean.hpp>
#include <drx/functions/reduce_weighted_mean.hpp>
#include <drx/functions/scan.hpp>
#include <drx/functions/select.hpp>
#include <drx/functions/softmax_cross_entropy.hpp>
#include <drx/functions/statistics.hpp>
#include <drx/functions/structure_arithmetic.hpp>
#include <drx/functions/structure_reductions.hpp>
#include <drx/functions/tree_map.hpp>
#include <drx/functions/triangle.hpp>
#include <drx/functions/while_loop.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/tape/print.hpp>
#include <drx/transform/custom_root.hpp>
#include <drx/transform/differentiate.hpp>
#include <drx/transform/grad.hpp>
#include <drx/transform/jacobian.hpp>
#include <drx/transform/modes.hpp>
#include <drx/transform/program.hpp>
#include <drx/transform/vmap.hpp>
#include <drx/transform/without_carried_products.hpp>
