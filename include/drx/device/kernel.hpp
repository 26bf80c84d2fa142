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
using run::slot_of;
using run::unroll;

// Facts from a plan, each a constant by itself, as slot_of is.
template <class C, int V>
inline constexpr bool is_stored = C::plan.stored[V];
/// The bytes of value V; of a placed one, of one element.
template <class C, int V>
inline constexpr std::int64_t bytes_of = C::bytes(V);
/// Whether the fused loop of step Step computes value V, and its place there.
template <class C, int V, int Step>
inline constexpr bool is_in_loop = C::plan.loop_of[V] == Step;
template <class C, int V>
inline constexpr int place_in_loop = C::plan.member_of[V];

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
