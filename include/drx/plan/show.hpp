// drx/plan/show.hpp: the plan of a program as text: the stages, the entries between them, and the bytes of their
// workspaces.
#pragma once

#include <drx/plan/memory/workspace.hpp>

namespace drx::plan {

/// The plan of a program: its staged tape, then the bytes of its workspaces: one for the unplaced values, and one for
/// each thread. Neither depends on the number of members.
template <Program P>
std::string show() {
  using l = lowered_t<P>;
  return drx::show(l::tape.thaw()) + "workspace: " + std::to_string(l::plan.server_bytes) + " bytes, and " +
         std::to_string(l::plan.thread_bytes) + " bytes for each thread\n";
}
/// A program's tape after the pass of its plan that has this name. drx/plan/pipeline.hpp lists the passes in their
/// order:
///     std::cout << drx::plan::show<P, "stages">();
template <Program P, meta::literal Pass>
  requires(passes_up_to(Pass.text) > 0)
std::string show() {
  return drx::show(tape_after<P, passes_up_to(Pass.text)>::tape_constant().thaw());
}
template <Program P, meta::literal Pass, class Why = error::no_pass_has_this_name>
  requires(passes_up_to(Pass.text) == 0)
std::string show() = delete;  // drx: the passes are: functions, shards, broadcasts, identities, contractions, stacked parts, members' invariants, stages, block constants, sums over members, outer products, stacked factors, carried products, narrow transposes, invariants, rearrangements, short axes, row chunks, narrow factors, recomputed values
template <class P, meta::literal... Pass, class Why = drx::detail::no_program_t<P>>
  requires(!Program<P>)
std::string show() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

}  // namespace drx::plan
