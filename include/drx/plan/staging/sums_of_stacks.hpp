// drx/plan/staging/sums_of_stacks.hpp: where a loop stacks products of repeated arrays that are then added up, its body
// adds them up, as a matrix product: the products are never stacked. A backward pass over members in blocks stacks such
// products, the derivatives by the weights of each layer.
// Tested by tests/unit/plan/contractions.cpp and tests/unit/run/stacked_outputs.cpp.
#pragma once

#include <drx/plan/staging/contraction.hpp>

namespace drx::plan {

/// The sums over stacks of one tape that its loops can take.
struct sums_of_stacks {
  const tape& t;
  const definitions definition;
  vec<int> axis;  // by value: the axis of a row over which the loop adds up what it stacks here; -1: it does not

  constexpr explicit sums_of_stacks(const tape& of) : t(of), definition(of), axis(of.values.size(), -1) {
    vec<int> uses(t.values.size(), 0);
    for (const entry& e : t.entries)
      for (int o : e.operands) ++uses[o];
    for (int o : t.outputs) ++uses[o];
    for (const entry& e : t.entries)
      if (e.prim == &prim::sum && uses[e.operands[0]] == 1 && is_contraction_in_loop(e))
        axis[e.operands[0]] = static_cast<int>(prim::rules::sum::view(e).axes[0]) - 1;
  }
  [[nodiscard]] constexpr bool any() const {
    for (int a : axis)
      if (a >= 0) return true;
    return false;
  }
  /// Whether this sum, of one row of a stack, is a matrix product in the body of the loop that stacks it.
  [[nodiscard]] constexpr bool is_contraction_in_loop(const entry& e) const {
    const prim::rules::sum::view sum(e);
    const entry* loop = definition.of(e.operands[0]);
    if (!loop || loop->prim != &prim::scan || sum.axes.size() != 1 || sum.axes[0] == 0) return false;
    const int result = loop->results.find(e.operands[0]);
    if (result < prim::rules::scan::view(*loop).carries) return false;
    const tape& body = loop->regions[0];
    const definitions inside(body);
    return contraction_of(inside, body.outputs[result], static_cast<int>(sum.axes[0]) - 1).x >= 0;
  }
  /// The body of a loop, with these sums in it.
  [[nodiscard]] constexpr tape body_with_sums(const entry& loop) const {
    const tape& body = loop.regions[0];
    builder b;
    const vec<int> made = inline_tape(b, body, inputs_like(b, body));
    for (int i = 0; i < made.size(); ++i) {
      const int a = axis[loop.results[i]];
      b.output(a < 0 ? made[i] : emit::sum(b, made[i], {a}));
    }
    return without_dead_entries(b.take());
  }
  [[nodiscard]] constexpr tape run() const {
    return rewritten(t, [this](rewriter& w, const entry& e) -> vec<int> {
      if (e.prim == &prim::sum && axis[e.operands[0]] >= 0) return {w.names[e.operands[0]]};
      for (int r : e.results)
        if (axis[r] >= 0) return w.copied(e, one_region(body_with_sums(e)));
      return w.copied(e);
    });
  }
};

}  // namespace drx::plan
