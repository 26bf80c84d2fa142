// drx/plan/show.hpp: the plan of a program as text: the stages, the entries between them, and the bytes of their
// workspaces.
// Tested by tests/unit/plan/loop_memory.cpp.
#pragma once

#include <drx/plan/memory/workspace.hpp>

namespace drx::plan {

/// The plan of a program: its staged tape, then the bytes of its workspaces: one for the unplaced values, and one for each
/// thread. Neither depends on the number of members.
template <Program P>
std::string show() {
  using l = lowered<P>;
  return drx::show(l::tape.thaw()) + "workspace: " + std::to_string(l::plan.server_bytes) + " bytes, and " +
         std::to_string(l::plan.thread_bytes) + " bytes for each thread\n";
}
template <class P, class Why = drx::detail::no_program_t<P>>
  requires(!Program<P>)
std::string show() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them (a struct: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>, its members drx::array or drx::scalar<float>); its function must take one argument for each, and return arrays, placed values or structures of them; grad<i>(f) is of one floating number, in argument i, from 0, which is floating

}  // namespace drx::plan
