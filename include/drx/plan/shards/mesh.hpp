// drx/plan/shards/mesh.hpp: the mesh of a program: the members that have layouts (with_layout), and their second axis.
#pragma once

#include <drx/transform/program.hpp>

namespace drx::plan {

/// Whether a layout is one over this mesh; others are ignored.
constexpr bool is_of_mesh(const entry& layout, const mesh_axes& mesh) {
  return layout.attrs.placement == mesh.shards && prim::rules::with_layout::view(layout).shards == mesh.count;
}
constexpr bool has_layouts(const tape& t) {
  return any_entry(t, [](const entry& e) { return e.prim == &prim::with_layout; });
}
/// The first layout in a member's body and its loops, which determines the mesh; layouts over another axis, or over the
/// members themselves, are ignored.
constexpr const entry* first_layout(const tape& body, const placement_info* members) {
  for (const entry& e : body.entries) {
    if (e.prim == &prim::with_layout && prim::rules::with_layout::view(e).axis && e.attrs.placement != members)
      return &e;
    if (e.prim == &prim::scan && !prim::rules::scan::view(e).guard)
      if (const entry* found = first_layout(e.regions[0], members)) return found;
  }
  return nullptr;
}
constexpr mesh_axes mesh_of(const tape& t) {
  for (const entry& e : t.entries) {
    if (e.prim == &prim::map) {
      if (const entry* found = first_layout(e.regions[0], e.attrs.placement))
        return {e.attrs.placement, found->attrs.placement, prim::rules::with_layout::view(*found).shards};
      continue;
    }
    for (const tape& r : e.regions)
      if (const mesh_axes found = mesh_of(r); found.count > 0) return found;
  }
  return {};
}

/// t without its layouts, in regions too.
constexpr tape without_layouts(tape t) {
  return rewritten(t, [](rewriter& w, const entry& e) {
    if (e.prim == &prim::with_layout) return w.operands(e);
    return w.copied_with(without_layouts, e);
  });
}

}  // namespace drx::plan
