// Members and their shards: what a program's inputs become where members are split (plan/shards).
#pragma once

#include <drx/core/tensor.hpp>
#include <drx/plan/shards/partitioner.hpp>

#include <cstring>

namespace harness {
using drx::tensor;

/// Part s of x, an array of `type`, which is shorter along one axis, or the same.
inline tensor part_of(const tensor& x, const drx::abstract_value& type, std::int64_t s) {
  if (x.type.shape == type.shape) return x;
  tensor r(type);
  const auto width = static_cast<std::size_t>(drx::byte_size(type.type));
  std::size_t i = 0;
  drx::for_each_index(type.shape, [&](const std::int64_t* at) {
    std::int64_t from[drx::shape::max_rank] = {};
    for (int a = 0; a < type.shape.rank; ++a)
      from[a] = at[a] + (x.type.shape[a] == type.shape[a] ? 0 : s * type.shape[a]);
    std::memcpy(&r.bytes[width * i++], &x.bytes[width * static_cast<std::size_t>(drx::flat_index(x.type.shape, from))],
                width);
  });
  return r;
}
inline tensor in_shards(const tensor& x, const drx::abstract_value& type, const drx::mesh_axes& mesh) {
  if (x.type.depth == 0 || x.type.placements[0] != mesh.members) return x;
  tensor r(type);
  for (const tensor& m : x.members)
    for (std::int64_t s = 0; s < mesh.count; ++s) r.members.push_back(part_of(m, type.of_member(), s));
  return r;
}

}  // namespace harness
