// drx/tape/tape.hpp: the tape, a flat list of entries (a jaxpr in JAX, a Wengert list in the literature on AD).
#pragma once

#include <drx/core/abstract_value.hpp>
#include <drx/meta/vec.hpp>

namespace drx {

struct primitive;
using meta::vec;

/// The parameters of an entry beside its operands: axes, extents, constants, a placement.
struct attributes {
  vec<std::int64_t> ints;
  double number = 0;
  const placement_info* placement = nullptr;

  friend constexpr bool operator==(const attributes& a, const attributes& b) {
    return a.number == b.number && a.placement == b.placement && a.ints == b.ints;
  }
};

struct entry;

/// Values are numbered; each is an input or the result of one entry. Entries are in an order in which each operand
/// comes before its use. Regions (bodies of maps and loops) are tapes of their own, held by their entry.
struct tape {
  vec<abstract_value> values;
  vec<entry> entries;
  vec<int> inputs;
  vec<int> outputs;

  [[nodiscard]] constexpr vec<abstract_value> types_of(const vec<int>& ids) const {
    vec<abstract_value> r;
    r.reserve(ids.size());
    for (int id : ids) r.push_back(values[id]);
    return r;
  }
};

struct entry {
  const primitive* prim = nullptr;
  vec<int> operands;
  vec<int> results;
  attributes attrs;
  vec<tape> regions;
  unsigned hash = 0;
};

constexpr bool same_regions(const vec<tape>& a, const vec<tape>& b);

/// The regions of an entry that has one. (A list in braces would copy it.)
constexpr vec<tape> one_region(tape t) {
  vec<tape> r;
  r.reserve(1);
  r.push_back(static_cast<tape&&>(t));
  return r;
}

/// Whether two entries compute the same function of their operands.
constexpr bool same_work(const entry& a, const entry& b) {
  return a.prim == b.prim && a.attrs == b.attrs && same_regions(a.regions, b.regions);
}
constexpr bool same_tape(const tape& a, const tape& b) {
  if (!(a.inputs == b.inputs && a.outputs == b.outputs && a.values == b.values) || a.entries.size() != b.entries.size())
    return false;
  for (int i = 0; i < a.entries.size(); ++i) {
    const entry &x = a.entries[i], &y = b.entries[i];
    if (!(x.operands == y.operands && x.results == y.results && same_work(x, y))) return false;
  }
  return true;
}
constexpr bool same_regions(const vec<tape>& a, const vec<tape>& b) {
  if (a.size() != b.size()) return false;
  for (int i = 0; i < a.size(); ++i)
    if (!same_tape(a[i], b[i])) return false;
  return true;
}

}  // namespace drx
