// drx/tape/evaluation.hpp: one entry under plain evaluation, as the `evaluate` rule of a primitive receives it.
#pragma once

#include <drx/core/tensor.hpp>
#include <drx/tape/primitive.hpp>

namespace drx {

struct evaluation {
  const entry& e;
  std::vector<const tensor*> in;
  std::vector<tensor> out;  // of the right types; unplaced ones have their size and are zero

  virtual ~evaluation() = default;
  evaluation(const entry& of) : e(of) {}
  /// Evaluates a region.
  virtual std::vector<tensor> run(const tape& region, std::vector<tensor> inputs) = 0;
  /// Evaluates a region for one member of placement p; the region sees that member's counts of nested placements.
  virtual std::vector<tensor> run_member(const tape& region, std::vector<tensor> inputs, std::int64_t index) = 0;
  /// The number of members of a placement here.
  virtual std::int64_t members(const placement_info* p) = 0;
};

}  // namespace drx
