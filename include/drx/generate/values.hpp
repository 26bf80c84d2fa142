// drx/generate/values.hpp: the function by which a generated header writes down the type of a value.
#pragma once

#include <drx/core/abstract_value.hpp>

#include <initializer_list>

namespace drx::generate {

/// The type of a value: its element type, extents, and placements from the outermost in.
constexpr abstract_value value(dtype type, std::initializer_list<std::int64_t> extents,
                               std::initializer_list<const placement_info*> placements = {}) {
  shape s;
  for (const std::int64_t n : extents) s.push_back(n);
  abstract_value v(type, s);
  for (const placement_info* p : placements) v.placements[v.depth++] = p;
  return v;
}

}  // namespace drx::generate
