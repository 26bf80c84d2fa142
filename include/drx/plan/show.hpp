// drx/plan/show.hpp: what will run, as text: the stages and what is between them, and what their workspaces cost.
#pragma once

#include <drx/plan/workspace.hpp>

namespace drx::plan {

/// The plan of a program: its staged tape, then the bytes of its workspaces: one for the unplaced values, and one for each
/// thread. Neither depends on the number of members.
template <Program P>
std::string show() {
  using l = lowered<P>;
  return drx::show(l::tape.thaw()) + "workspace: " + std::to_string(l::plan.server_bytes) + " bytes, and " +
         std::to_string(l::plan.thread_bytes) + " bytes for each thread\n";
}

}  // namespace drx::plan
