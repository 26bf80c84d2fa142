// drx/plan/loops/stacked_factors.hpp: changes the stacks that one loop writes for a later one, the backward pass, so
// that both can carry products (carried_products.hpp):
//
// - If a matrix w is later only multiplied with a constant x, the loop stacks x w, which it has computed, instead of w.
// - If of a product with a constant, x d, only the sum of v * (x d) is wanted, with a matrix v, the loop stacks d
// instead:
//   the sum is that of (x^T v) * d. This is done if the later loop then carries x^T v instead of v, and the number of
//   multiplications falls in all.
// Tested by tests/unit/plan/carried_products.cpp.
#pragma once

#include <drx/plan/loops/carried_products.hpp>

namespace drx::plan {

/// Rewrites a tape so that its loops stack products, or factors of products.
struct stacked_factors {
  /// A stack, which is a result of a loop, and the product in the loop's body (x d or d x, and d) of which one is
  /// stacked instead of the other.
  struct product {
    int stack, x;  // values of the tape
    int instead;   // a value of the loop's body
    int at;        // the operand that x is
    bool tx, td;
    bool is_factor;  // d is stacked instead of the product; else the other way round
  };
  const tape& source;
  vec<product> products;

  constexpr explicit stacked_factors(const tape& t) : source(t) {}

  [[nodiscard]] constexpr const product* product_of(int stack) const {
    for (const product& p : products)
      if (p.stack == stack) return &p;
    return nullptr;
  }
  /// Whether v is a slice of a replaced stack.
  [[nodiscard]] constexpr bool is_replaced_slice(const entry& loop, int v) const {
    const int input = loop.regions[0].inputs.find(v);
    return input >= 1 && product_of(loop.operands[input - 1]);
  }
  /// Whether each reader of v, a slice of p's stack, multiplies it with a value that stays, and adds all of that up.
  [[nodiscard]] constexpr bool is_only_summed(const entry& loop, int v, const product& p) const {
    const tape& body = loop.regions[0];
    if (body.outputs.find(v) >= 0) return false;
    for (const entry& e : body.entries) {
      if (e.operands.find(v) < 0) continue;
      if (e.prim != &prim::mul || body.outputs.find(e.results[0]) >= 0) return false;
      const int other = e.operands[e.operands[0] == v ? 1 : 0], input = body.inputs.find(other);
      if (is_replaced_slice(loop, other) || (input >= 1 && loop.operands[input - 1] == p.stack)) return false;
      for (const entry& after : body.entries)
        if (after.operands.find(e.results[0]) >= 0 &&
            (after.prim != &prim::sum || prim::rules::over_axes::view(after).axes.size() != 2))
          return false;
    }
    return true;
  }
  /// Whether each reader of v multiplies it with this constant of the loop, as p does.
  static constexpr bool is_only_in_product(const entry& loop, int v, const product& p) {
    const tape& body = loop.regions[0];
    if (body.outputs.find(v) >= 0) return false;
    for (const entry& e : body.entries) {
      if (e.operands.find(v) < 0) continue;
      if (e.prim != &prim::matmul || e.operands[1 - p.at] != v) return false;
      const prim::rules::matmul::view product(e);
      if (product.transposes(p.at) != p.tx || product.transposes(1 - p.at) != p.td) return false;
      const int operand = body.inputs.find(e.operands[p.at]) - 1;
      if (!prim::rules::scan::view(loop).is_constant(operand) || loop.operands[operand] != p.x) return false;
    }
    return true;
  }
  /// Whether all readers of the stack are loops that can use its replacement.
  [[nodiscard]] constexpr bool can_be_replaced(const product& p) const {
    bool any = false;
    if (source.outputs.find(p.stack) >= 0) return false;
    for (const entry& e : source.entries)
      for (int i = 0; i < e.operands.size(); ++i) {
        if (e.operands[i] != p.stack) continue;
        if (e.prim != &prim::scan || !may_carry_products(e) || i < prim::rules::scan::view(e).first_x()) return false;
        const int slice = e.regions[0].inputs[i + 1];
        if (p.is_factor ? !is_only_summed(e, slice, p) : !is_only_in_product(e, slice, p)) return false;
        any = true;
      }
    return any;
  }
  constexpr void find(bool with_factors) {
    for (const entry& e : source.entries)
      if (e.prim == &prim::scan && may_carry_products(e))
        for (const entry& p : e.regions[0].entries) follow(e, p, with_factors);
  }
  /// Records the stacks of a product with a constant, or of its other factor, that may replace each other.
  constexpr void follow(const entry& loop, const entry& e, bool with_factors) {
    const tape& body = loop.regions[0];
    if (e.prim != &prim::matmul || body.values[e.results[0]].shape.rank != 2 || body.values[e.results[0]].depth > 0)
      return;
    for (int at = 0; at < 2; ++at) {
      const int operand = body.inputs.find(e.operands[at]) - 1, d = e.operands[1 - at];
      if (!prim::rules::scan::view(loop).is_constant(operand)) continue;
      const prim::rules::matmul::view of(e);
      for (int y = prim::rules::scan::view(loop).carries; y < loop.results.size(); ++y) {
        const bool is_factor = body.outputs[y] == e.results[0];
        if (product_of(loop.results[y]) || (is_factor ? is_replaced_slice(loop, d) : body.outputs[y] != d)) continue;
        if (!is_factor && body.values[e.results[0]].shape.size() > body.values[d].shape.size()) continue;
        const product p{loop.results[y],
                        loop.operands[operand],
                        is_factor ? d : e.results[0],
                        at,
                        of.transposes(at),
                        of.transposes(1 - at),
                        is_factor};
        if ((with_factors || !is_factor) && can_be_replaced(p)) products.push_back(p);
      }
    }
  }

  /// Writes a loop over replaced stacks.
  struct reader : loop_writer {
    const stacked_factors& all;
    const rewriter& around;

    constexpr reader(const stacked_factors& whole, rewriter& w, const entry& e, const tape& region)
        : loop_writer(w.b, e, region, w.operands(e)), all(whole), around(w) {}

    [[nodiscard]] constexpr const product* product_of_input(int v) const {
      const int input = body.inputs.find(v);
      return input < 1 || input <= n.constants + n.carries ? nullptr : all.product_of(loop.operands[input - 1]);
    }
    /// The product whose stack one operand of e, `slice`, was, or null; `other` is the other operand.
    [[nodiscard]] constexpr const product* replaced(const entry& e, int& slice, int& other) const {
      for (int i = 0; i < e.operands.size() && e.operands.size() == 2; ++i)
        if (const product* p = product_of_input(e.operands[i])) {
          slice = e.operands[i], other = e.operands[1 - i];
          return p;
        }
      return nullptr;
    }
    constexpr int named_constant(int outer) {
      for (int i = 0; i < n.constants; ++i)
        if (operands[i] == outer) return inner.names[body.inputs[i + 1]];
      return constant(outer);
    }
    /// The product p of v with the constant, transposed: the sum of v * (x d) is that of p * d.
    constexpr int image_of(int v, const product& p) {
      const int x = named_constant(around.names[p.x]);
      const bool first = p.at == 0;
      if (first != p.td) return emit::matmul(inside, x, v, first != p.tx, !first);
      return emit::matmul(inside, v, x, first, first == p.tx);
    }
    constexpr vec<int> run() {
      vec<int> inputs;
      for (int i = 0; i < body.inputs.size(); ++i) {
        const int v = body.inputs[i];
        abstract_value type = body.values[v];
        if (product_of_input(v)) type = prim::rules::scan::slice(outside.type(operands[i - 1]));
        inputs.push_back(inner.names[v] = inside.input(type));
      }
      inner.write([&](const entry& e) {
        int slice = -1, other = -1;
        const product* p = replaced(e, slice, other);
        if (!p) return inner.copied(e);
        slice = inner.names[slice], other = inner.names[other];
        return vec<int>{p->is_factor ? emit::mul(inside, image_of(other, *p), slice) : slice};
      });
      return write(inputs, inner.outputs());
    }
  };

  [[nodiscard]] constexpr tape run() const {
    return rewritten(source, [this](rewriter& w, const entry& e) {
      tapes regions = e.regions;
      for (int i = 0; i < e.results.size(); ++i)
        if (const product* p = product_of(e.results[i])) regions[0].outputs[i] = p->instead;
      for (int o : e.operands)
        if (product_of(o)) return reader(*this, w, e, regions[0]).run();
      return w.copied(e, regions);
    });
  }
};

/// The number of multiplications in t's matrix products, in regions too.
constexpr double multiplications(const tape& t) {
  double n = 0;
  for (const entry& e : t.entries) {
    const entry_cost cost = cost_of(t, e);
    for (const tape& r : e.regions) n += cost.repeats * multiplications(r);
    n += cost.multiplications;
  }
  return n;
}

/// t with loops that stack products and factors in place of each other, in regions too, if loops that then carry
/// products multiply less.
constexpr tape with_stacked_factors(tape t) {
  for (entry& e : t.entries)
    if (e.prim != &prim::scan)
      for (tape& r : e.regions) r = with_stacked_factors(r);
  double before = -1;
  for (const bool factors : {true, false}) {
    stacked_factors s(t);
    s.find(factors);
    if (s.products.empty()) continue;
    if (before < 0) before = multiplications(with_carried_products(t));
    const tape written = s.run();
    if (multiplications(with_carried_products(written)) < before) return written;
  }
  return t;
}

}  // namespace drx::plan
