// drx/device/kernel.hpp: the code by which a team computes an entry is a specialisation of `team_kernel`. Without one,
// the first lane runs the kernel of the host: right, but as slow as one lane.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/team.hpp>
#include <drx/run/kernels/all.hpp>

namespace drx::device {

using run::address;
using run::element_of;
using run::elements;
using run::frame;
using run::unroll;

// Facts from a plan as constants. (Device code must not name the plan itself, which lies in the host's memory.)
template <class C>
consteval bool is_stored(int v) {
  return C::plan.stored[v];
}
/// The slot of value v.
template <class C>
consteval std::int64_t slot_of(int v) {
  return C::plan.where[v].offset;
}
/// The bytes of value v; of a placed one, of one element.
template <class C>
consteval std::int64_t bytes_of(int v) {
  return C::bytes(v);
}
/// Whether a fused loop computes value v, and its place there.
template <class C>
consteval bool is_in_loop(int v, int step) {
  return C::plan.loop_of[v] == step;
}
template <class C>
consteval int place_in_loop(int v) {
  return C::plan.member_of[v];
}

/// Runs all steps of a region (device/all.hpp).
template <class C, int Region, class Team>
DRX_FN void run_region(const Team& team, frame& f);

/// The kernel of entry E, of primitive P.
template <class C, int E, const primitive* P>
struct team_kernel {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    if (team.lane() == 0) run::kernel<C, E, P>::run(f);
  }
};

}  // namespace drx::device
