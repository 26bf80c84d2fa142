// drx/plan/staging/operations.hpp: how much work a body is.
// Tested by tests/unit/run/cost.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/tape.hpp>

#include <algorithm>

namespace drx::plan {

/// The operations on floating numbers of one entry without regions: two for each multiplication of a product. Up to
/// `lanes` neighbours along a last axis count as one.
constexpr double operations_of(const tape& t, const entry& e, std::int64_t lanes = 1) {
  if (e.prim->role == role::virtual_ || e.prim->role == role::alias || e.results.empty()) return 0;
  const abstract_value& result = t.values[e.results[0]];
  if (!is_floating(result.type)) return 0;
  const auto vectors = [&](double n, const shape& s) {
    return n / static_cast<double>(s.rank == 0 ? 1 : std::clamp<std::int64_t>(s.last(), 1, lanes));
  };
  if (e.prim->elementwise || e.prim->pointwise) return vectors(static_cast<double>(result.shape.size()), result.shape);
  if (e.prim->cost) return vectors(2 * cost_of(t, e).multiplications, result.shape);
  if (!prim::is_fold(e.prim)) return 0;
  const shape from = t.values[e.operands[0]].shape;
  return vectors(static_cast<double>(from.size()), from);
}
constexpr double operations(const tape& t, std::int64_t lanes = 1);

/// Those of an entry: of a loop, of all its steps; of branches, of the longest.
constexpr double operations_in(const tape& t, const entry& e, std::int64_t lanes = 1) {
  if (e.regions.empty()) return operations_of(t, e, lanes);
  double longest = 0;
  for (const tape& region : e.regions) longest = std::max(longest, operations(region, lanes));
  return e.prim == &prim::scan ? longest * static_cast<double>(prim::rules::scan::view(e).length.value_or(1)) : longest;
}
/// Those of a body.
constexpr double operations(const tape& t, std::int64_t lanes) {
  double n = 0;
  for (const entry& e : t.entries) n += operations_in(t, e, lanes);
  return n;
}

}  // namespace drx::plan
