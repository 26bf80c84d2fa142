// drx/tape/evaluation.hpp: one entry under plain evaluation, as a primitive's `evaluate` rule sees it.
#pragma once

#include <drx/core/tensor.hpp>
#include <drx/tape/primitive.hpp>

namespace drx {

struct evaluation {
  const entry& e;
  std::vector<const tensor*> in;
  std::vector<tensor> out;  // of the right types; unplaced ones sized and zero

  virtual ~evaluation() = default;
  evaluation(const entry& of) : e(of) {}
  /// Evaluates a region.
  virtual std::vector<tensor> run(const tape& region, std::vector<tensor> inputs) = 0;
  /// The same for one member of placement p, of which the region sees the nested counts.
  virtual std::vector<tensor> run_member(const tape& region, std::vector<tensor> inputs, std::int64_t index) = 0;
  /// How many members a placement has here.
  virtual std::int64_t members(const placement_info* p) = 0;
};

}  // namespace drx
