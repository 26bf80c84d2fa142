// drx/plan/loops/loop_writer.hpp: rewrites loops with other constants and another body.
// Tested by tests/unit/plan/loops.cpp and tests/unit/plan/equal_loops.cpp.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/rewrite.hpp>

namespace drx::plan {

/// A scan's operands and body while they are rewritten. New constants come after the old ones.
struct loop_writer {
  using parts = prim::rules::scan::parts;
  builder& outside;
  const entry& loop;
  const tape& body;
  vec<int> operands;  // on `outside`
  parts n;
  prim::rules::scan::view changed;  // the new loop, without added constants
  builder inside;
  rewriter inner{inside, body, {}};  // writes what stays in the body
  vec<int> added, added_inputs;      // constants: their values on `outside`, their inputs of the body

  constexpr loop_writer(builder& b, const entry& e, const tape& region, const vec<int>& of)
      : outside(b), loop(e), body(region), operands(of), n(e.attrs, e.operands.size(), e.results.size()), changed(n) {}

  [[nodiscard]] constexpr bool is_constant(int input) const { return n.is_constant(input - 1); }
  /// The input of the body for one more constant.
  constexpr int constant(int value) {
    const int known = added.find(value);
    if (known >= 0) return added_inputs[known];
    added.push_back(value);
    added_inputs.push_back(inside.input(outside.type(value)));
    return added_inputs.back();
  }
  /// The rewritten loop; `inputs` are the body's first inputs, `outputs` its results.
  constexpr vec<int> write(const vec<int>& inputs, const vec<int>& outputs) {
    tape region = inside.take();
    region.inputs = {};
    vec<int> all;
    for (int i = 0; i < inputs.size(); ++i) {
      region.inputs.push_back(inputs[i]);
      if (i > 0) all.push_back(operands[i - 1]);
      if (i == n.constants) {
        region.inputs.append(added_inputs);
        all.append(added);
      }
    }
    region.outputs = outputs;
    prim::rules::scan::view whole = changed;
    whole.constants += added.size();
    if (n.guard > n.constants) *whole.guard += added.size();
    region = without_dead_entries(static_cast<tape&&>(region));
    tapes regions;
    regions.push_back(static_cast<tape&&>(region));
    return outside.add(*loop.prim, all, whole.make(), static_cast<tapes&&>(regions));
  }
};

/// t with each loop that suits(loop), in regions too, rewritten by write(b, loop, body, operands); unchanged where that
/// gives no results.
template <class Suits, class Write>
constexpr tape with_loops(tape t, const Suits& suits, const Write& write) {
  const auto is_one = [&](const entry& e) { return e.prim == &prim::scan && suits(e); };
  if (!any_entry(t, is_one)) return t;
  return rewritten(t, [&](rewriter& w, const entry& e) {
    tapes regions;
    for (const tape& r : e.regions) regions.push_back(with_loops(r, suits, write));
    vec<int> results;
    if (is_one(e)) results = write(w.b, e, regions[0], w.operands(e));
    if (results.empty()) results = w.copied(e, static_cast<tapes&&>(regions));
    return results;
  });
}

}  // namespace drx::plan
