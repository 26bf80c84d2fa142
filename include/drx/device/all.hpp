// drx/device/all.hpp: runs the steps of a region by a team, with a barrier after each.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/convolutions.hpp>
#include <drx/device/folds.hpp>
#include <drx/device/fused.hpp>
#include <drx/device/indexing.hpp>
#include <drx/device/loops.hpp>
#include <drx/device/moves.hpp>
#include <drx/device/nested.hpp>
#include <drx/device/products.hpp>

namespace drx::device {

/// Runs one step. All lanes see its results afterwards.
template <class C, int Step, class Team>
DRX_FN DRX_NOT_INLINED void run_step(const Team& team, frame& f) {
  constexpr plan::step now = C::plan.steps[Step];
  if constexpr (now.is_loop) {
    run_fused<C, Step>(team, f);
  } else {
    constexpr int entry = now.entry;
    if constexpr (run::copies_rows<C, entry>)
      copy_rearranged<C, entry>(team, f);
    else
      team_kernel<C, entry, C::tape.entries[entry].prim>::run(team, f);
  }
  team.barrier();
}

template <class C, int Region, class Team>
DRX_FN void run_region(const Team& team, frame& f) {
  constexpr int first = C::plan.first_step[Region], count = C::plan.step_count[Region];
  unroll<count>([&]<int I>(std::integral_constant<int, I>) { run_step<C, first + I>(team, f); });
}

}  // namespace drx::device
