// drx/run/stage/overlapped_blocks.hpp: blocks of long members in turns, each on one of two frames. A block's
// elementwise functions are a chain of hundreds of cycles, of which a processor sees only one at a time; meanwhile it
// computes the next block's dot products, and reads memory.
// Tested by tests/unit/run/many_members.cpp.
#pragma once

#include <drx/run/data/frame.hpp>

namespace drx::run {

/// The number of a block's first steps in stage E that run before the last products of the previous block: those up to
/// its first product, if members are long and elementwise functions of its result come next; else 0.
template <class C>
constexpr int steps_ahead(int e) {
  const auto& x = C::tape.entries[e];
  const std::int64_t size = prim::rules::stage::view(C::attributes(e)).members_of_body(1);
  const bool nested = C::placements.parent[C::placements.index(x.placement)] >= 0;
  if (nested || size == 0 || size >= prim::rules::stage::leaf) return 0;
  const int region = x.first_region + 1, first = C::plan.first_step[region], count = C::plan.step_count[region];
  for (int s = 0; s + 2 < count; ++s)
    if (const plan::step now = C::plan.steps[first + s];
        !now.is_loop && C::tape.entries[now.entry].prim == &prim::matmul)
      return C::plan.steps[first + s + 1].is_loop ? s + 1 : 0;
  return 0;
}

/// The number of turns in which the last of those steps and the last products of the previous block are computed: two,
/// each of half of the members, if that is possible. Memory is then read in a more even stream than by whole blocks.
template <class C>
constexpr int turns_of_block(int e) {
  const int region = C::tape.entries[e].first_region + 1, step = C::plan.first_step[region] + steps_ahead<C>(e) - 1;
  const plan::product_extents product = plan::extents_of(C::tape.view(), C::tape.entries[C::plan.steps[step].entry]);
  return product.dots() > 0 && product.dots() % 2 == 0 ? 2 : 1;
}

}  // namespace drx::run
