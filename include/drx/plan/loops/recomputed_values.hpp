// drx/plan/loops/recomputed_values.hpp: large values that one quick operation makes of small arrays, such as the
// differences of all pairs of points, are computed again where a loop reads them after a step: reading the small arrays
// costs less there than reading, and before that storing, the large one.
// Tested by tests/unit/plan/recomputed_values.cpp and tests/unit/plan/random_plans.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

#include <utility>

namespace drx::plan {

/// A value of a tape that is to be computed once more, in front of entry `before`, for its readers on one level: the
/// steps, one after the other, that lie between the value and them.
struct recomputed_value {
  int definition = -1, before = -1;  // entries
  vec<int> readers = {};             // entries
};

/// Finds such values.
class recomputed_values {
 public:
  constexpr explicit recomputed_values(const tape& t) : t_(t), made_by_(t) {
    for (int e = 0; e < t.entries.size(); ++e)
      if (is_quick(e) && only_loops_read(e)) add_copies(e);
  }
  vec<recomputed_value> found = {};

 private:
  /// Whether entry e makes a large value, of rows that loops go along, of much smaller arrays.
  [[nodiscard]] constexpr bool is_quick(int e) const {
    const entry& x = t_.entries[e];
    if (x.prim != &prim::add && x.prim != &prim::sub && x.prim != &prim::mul && x.prim != &prim::azmul) return false;
    const abstract_value& made = t_.values[x.results[0]];
    if (byte_size(made.type) * made.shape.size() < machine::least_recomputed) return false;
    if (made.shape.last() < machine::long_row && made.shape.last() % (machine::widest_vector / 2) != 0) return false;
    std::int64_t read = 0;
    for (int o : x.operands) {
      const entry* from = made_by_.of(o);
      if (from && from->prim == &prim::constant) continue;
      if (from && from->prim == &prim::broadcast_to) o = from->operands[0];
      read += t_.values[o].shape.size();
    }
    return read * machine::part_read_again <= made.shape.size();
  }
  static constexpr bool is_fold(const entry& x) {
    return x.prim == &prim::sum || x.prim == &prim::max_over || x.prim == &prim::min_over;
  }
  /// Whether all that reads what entry e makes are elementwise entries, and folds of what they make.
  [[nodiscard]] constexpr bool only_loops_read(int e) const {
    const int v = t_.entries[e].results[0];
    if (t_.outputs.find(v) >= 0) return false;
    for (int k = e + 1; k < t_.entries.size(); ++k)
      if (t_.entries[k].operands.find(v) >= 0 && t_.entries[k].prim->role != role::fused && !is_fold(t_.entries[k]))
        return false;
    return true;
  }
  constexpr void add_copies(int e) {
    vec<int> level(t_.values.size(), -1);  // -1: the value does not depend on what e makes
    level[t_.entries[e].results[0]] = 0;
    const int before = found.size();
    vec<int> levels;  // of the copies
    for (int k = e + 1; k < t_.entries.size(); ++k) {
      const entry& x = t_.entries[k];
      int here = -1;
      for (int o : x.operands) here = level[o] > here ? level[o] : here;
      if (here < 0) continue;
      for (int v : x.results) level[v] = here + (x.prim->role == role::step ? 1 : 0);
      if (here == 0 || x.operands.find(t_.entries[e].results[0]) < 0) continue;
      if (levels.find(here) < 0) {
        levels.push_back(here);
        found.push_back({.definition = e, .before = k});
      }
      found[before + levels.find(here)].readers.push_back(k);
    }
  }

  const tape& t_;
  definitions made_by_;
};

/// t with such values computed again, in regions too. (A builder would give a copy the name of the value that is
/// there.)
constexpr tape with_values_computed_again(tape t) {
  for (entry& e : t.entries)
    for (tape& r : e.regions) r = with_values_computed_again(std::move(r));
  const vec<recomputed_value> again = recomputed_values(t).found;
  if (again.empty()) return t;
  tape r;
  vec<int> names(t.values.size(), -1), copies(again.size(), -1);
  const auto declared = [&](int v) {
    r.values.push_back(t.values[v]);
    return r.values.size() - 1;
  };
  for (int v : t.inputs) r.inputs.push_back(names[v] = declared(v));
  for (int k = 0; k < t.entries.size(); ++k) {
    for (int c = 0; c < again.size(); ++c) {
      if (again[c].before != k) continue;
      const entry& of = t.entries[again[c].definition];
      r.entries.push_back({of.prim, renamed(of.operands, names), {}, of.attrs, {}});
      r.entries.back().results.push_back(copies[c] = declared(of.results[0]));
    }
    entry x = t.entries[k];
    vec<int> operands = renamed(x.operands, names);
    for (int c = 0; c < again.size(); ++c) {
      if (again[c].readers.find(k) < 0) continue;
      for (int i = 0; i < operands.size(); ++i)
        if (x.operands[i] == t.entries[again[c].definition].results[0]) operands[i] = copies[c];
    }
    x.operands = operands;
    for (int& v : x.results) v = names[v] = declared(v);
    r.entries.push_back(std::move(x));
  }
  r.outputs = renamed(t.outputs, names);
  return r;
}

}  // namespace drx::plan
