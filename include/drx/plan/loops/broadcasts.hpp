// drx/plan/loops/broadcasts.hpp: broadcasts stand in the loops and branches that read them.
// Tested by tests/unit/run/control.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>

#include <utility>

namespace drx::plan {

/// t with broadcasts in the loops and branches that read them, and in those inside of these: in front of a loop a
/// broadcast would be stored for each member.
constexpr tape with_broadcasts_in_loops(tape t) {
  t = drx::detail::with_broadcasts_inside(std::move(t));
  for (entry& e : t.entries)
    if (e.prim == &prim::scan || e.prim == &prim::cond)
      for (tape& r : e.regions) r = with_broadcasts_in_loops(std::move(r));
  return t;
}

}  // namespace drx::plan
