// drx/plan/staging/operations.hpp: how much work a body is.
// Tested by tests/unit/run/cost.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/tape.hpp>

namespace drx::plan {

/// The operations on floating numbers of one entry without regions: two for each multiplication of a product.
constexpr double operations_of(const tape& t, const entry& e) {
  if (e.prim->role == role::virtual_ || e.prim->role == role::alias || e.results.empty()) return 0;
  const abstract_value& result = t.values[e.results[0]];
  if (!is_floating(result.type)) return 0;
  if (e.prim->elementwise || e.prim->pointwise) return static_cast<double>(result.shape.size());
  if (e.prim->cost) return 2 * cost_of(t, e).multiplications;
  return prim::is_fold(e.prim) ? static_cast<double>(t.values[e.operands[0]].shape.size()) : 0;
}
/// Those of a body: of loops, of all their steps; of branches, of the longest.
constexpr double operations(const tape& t) {
  double n = 0;
  for (const entry& e : t.entries) {
    double inside = 0, longest = 0;
    for (const tape& region : e.regions) {
      const double of = operations(region);
      inside += of;
      longest = of > longest ? of : longest;
    }
    if (e.prim == &prim::scan) {
      n += inside * static_cast<double>(prim::rules::scan::view(e).length.value_or(1));
    } else {
      n += e.regions.empty() ? operations_of(t, e) : longest;
    }
  }
  return n;
}

}  // namespace drx::plan
