// What the passes of a plan add to a program's tape.
#pragma once

#include <drx/plan/pipeline.hpp>

#include <string_view>

namespace harness {

/// The entries of a primitive on a tape, in regions too.
inline int count(const drx::tape& t, const drx::primitive& p) {
  int n = 0;
  drx::any_entry(t, [&](const drx::entry& e) {
    n += e.prim == &p;
    return false;
  });
  return n;
}
/// How many more of them the plan of P has after the pass of this name than before.
template <class P>
int added_by_pass(std::string_view name, const drx::primitive& p) {
  const int passes = drx::plan::passes_up_to(name);
  const auto after = [&](int n) { return count(drx::plan::after_passes(P::tape().thaw(), n), p); };
  return after(passes) - after(passes - 1);
}

}  // namespace harness
