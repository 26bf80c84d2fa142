// drx/tape/check.hpp: the type check that every tape passes after every transformation.
#pragma once

#include <drx/tape/builder.hpp>

namespace drx {

/// Computes the types of each entry of t again and compares. Returns true, or fails the constant evaluation with a
/// sentence.
constexpr bool check(const tape& t) {
  vec<bool> defined(t.values.size(), false);
  for (int i : t.inputs) {
    typing::require(!defined[i], "a tape's input is listed twice");
    defined[i] = true;
  }
  for (const entry& e : t.entries) {
    for (int o : e.operands) typing::require(o >= 0 && defined[o], "an operand is used before its definition");
    for (const tape& region : e.regions) check(region);
    const vec<abstract_value> operands = t.types_of(e.operands);
    const vec<abstract_value> results = e.prim->type({operands, e.attrs, e.regions});
    typing::require(results == t.types_of(e.results), "an entry's result is not of the type that its rule gives");
    for (int r : e.results) {
      typing::require(!defined[r], "a value is defined twice");
      defined[r] = true;
    }
  }
  for (int o : t.outputs) typing::require(o >= 0 && defined[o], "an output is not defined");
  return true;
}

}  // namespace drx
