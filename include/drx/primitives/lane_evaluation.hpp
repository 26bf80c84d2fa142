// drx/primitives/lane_evaluation.hpp: plain evaluation, lane by lane, of the primitives that plans have for members in
// lanes.
#pragma once

#include <drx/meta/vec.hpp>
#include <drx/primitives/elementwise.hpp>
#include <drx/tape/evaluation.hpp>

#include <cstring>

namespace drx::prim::rules {

/// Evaluates in each lane, the last axis of the results, an entry of another primitive. Operands that are not in lanes
/// are the same in all.
inline void evaluate_lanes(evaluation& v, const entry& one, const vec<bool>& in_lanes, void (*evaluate)(evaluation&)) {
  const auto without_lanes = [](const abstract_value& t) {
    return t.with_shape(without_axis(t.shape, t.shape.rank - 1));
  };
  const auto copy = [](tensor& into, std::int64_t i, const tensor& from, std::int64_t j) {
    const auto width = static_cast<std::int64_t>(byte_size(into.type.type));
    std::memcpy(&into.bytes[static_cast<std::size_t>(i * width)], &from.bytes[static_cast<std::size_t>(j * width)],
                static_cast<std::size_t>(width));
  };
  const std::int64_t n = v.out[0].type.shape.last();
  for (std::int64_t lane = 0; lane < n; ++lane) {
    drx::detail::host_evaluation inner(one);
    std::vector<tensor> operands(v.in.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const tensor& all = *v.in[i];
      operands[i] = all;
      if (in_lanes[static_cast<int>(i)]) {
        operands[i] = tensor(without_lanes(all.type));
        for (std::int64_t k = 0; k < operands[i].size(); ++k) copy(operands[i], k, all, k * n + lane);
      }
      inner.in.push_back(&operands[i]);
    }
    for (const tensor& to : v.out) inner.out.emplace_back(without_lanes(to.type));
    evaluate(inner);
    for (std::size_t i = 0; i < v.out.size(); ++i)
      for (std::int64_t k = 0; k < inner.out[i].size(); ++k) copy(v.out[i], k * n + lane, inner.out[i], k);
  }
}

}  // namespace drx::prim::rules
