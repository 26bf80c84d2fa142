// drx/plan/fingerprint.hpp: a hash of a program's tape, which tells programs apart and is the same on all ranks.
#pragma once

#include <drx/meta/hash.hpp>
#include <drx/tape/frozen.hpp>

#include <bit>
#include <cstdint>

namespace drx::plan {

/// The hash of a frozen tape, 63 bits. It hashes names, not addresses, and is computed while compiling: a program that
/// reads its tape at run time contains the rules of all primitives.
template <class Frozen>
constexpr std::int64_t fingerprint(const Frozen& t) {
  std::uint64_t h = meta::hash("");
  const auto mix = [&](std::uint64_t word) {
    h = (h ^ word) * 1099511628211ULL;
    h ^= h >> 32;
  };
  const auto number = [&](auto i) { mix(static_cast<std::uint64_t>(i)); };
  const auto span = [&](const span_of_pool& s) {
    number(s.first);
    number(s.count);
  };
  const auto placement = [&](const placement_info* p) { mix(p ? meta::hash(p->name) : 0); };
  for (const auto& r : t.regions) {
    span(r.inputs);
    span(r.outputs);
    number(r.first_entry);
    number(r.entries);
  }
  for (int i = 0; i < Frozen::sizes.entries; ++i) {
    const frozen_entry& e = t.entries[i];
    mix(meta::hash(e.prim->name));
    span(e.operands);
    span(e.results);
    span(e.ints);
    mix(std::bit_cast<std::uint64_t>(e.number));
    placement(e.placement);
    number(e.first_region);
    number(e.regions);
  }
  for (int i = 0; i < Frozen::sizes.values; ++i) {
    const abstract_value& v = t.values[i];
    number(v.type);
    number(v.shape.rank);
    for (int k = 0; k < v.shape.rank; ++k) number(v.shape[k]);
    number(v.depth);
    for (int k = 0; k < v.depth; ++k) placement(v.placements[k]);
  }
  for (int i = 0; i < Frozen::sizes.pool; ++i) number(t.pool[i]);
  return static_cast<std::int64_t>(h >> 1);
}

}  // namespace drx::plan
