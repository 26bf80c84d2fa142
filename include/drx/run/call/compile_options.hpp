// drx/run/call/compile_options.hpp: the options with which a program is compiled.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/core/placement.hpp>
#include <drx/run/data/runtime.hpp>

#include <string>
#include <vector>

namespace drx {

/// Options of session::compile and drx::compiled.
struct compile_options {
  reduction_order order = reduction_order::tree;
  std::vector<member_count> members =
      {};  // for placements that no argument has; for a nested one: at each member of the outer
  drx::subnormals subnormals = drx::subnormals::kept;
};
[[gnu::cold]] inline std::string show(const compile_options& options) {
  std::string text = options.order == reduction_order::tree ? "reduction_order::tree" : "reduction_order::fast";
  if (options.subnormals == subnormals::flushed) text += ", subnormals::flushed";
  for (const member_count& m : options.members)
    text += ", " + std::to_string(m.count) + " members of " + std::string(m.placement->name);
  return text;
}

}  // namespace drx
