// drx/plan/stacked_factors.hpp: a loop that stacks products with a constant, x d, of which a later loop, the way back, wants only the sum of
// v * (x d) with a matrix v that it makes. That is the sum of (x^T v) * d: where that loop carries x^T v instead of v
// (carried_products.hpp), d is stacked and x d is never needed.
#pragma once

#include <drx/plan/carried_products.hpp>

namespace drx::plan {

/// Writes a tape whose loops stack factors of products.
struct stacked_factors {
  /// A stack, a result of a loop, and what it is a stack of: x d or d x.
  struct product {
    int stack, x;  // values of the tape
    int d;         // a value of the loop's body
    int at;        // which operand x is
    bool tx, td;
  };
  const tape& source;
  vec<product> products;
  builder b;
  vec<int> names;
  bool pays = true;  // no loop computes a product at each step that it did not compute before

  constexpr explicit stacked_factors(const tape& t) : source(t) {}

  [[nodiscard]] constexpr const product* product_of(int stack) const {
    for (const product& p : products)
      if (p.stack == stack) return &p;
    return nullptr;
  }
  /// Whether each reader of v multiplies it with something, and adds all of that up.
  static constexpr bool is_only_summed(const tape& body, int v) {
    if (body.outputs.find(v) >= 0) return false;
    for (const entry& e : body.entries) {
      if (e.operands.find(v) < 0) continue;
      if (e.prim != &prim::mul || e.operands[0] == e.operands[1] || body.outputs.find(e.results[0]) >= 0) return false;
      for (const entry& reader : body.entries)
        if (reader.operands.find(e.results[0]) >= 0 && (reader.prim != &prim::sum || reader.attrs.ints.size() != 2)) return false;
    }
    return true;
  }
  [[nodiscard]] constexpr bool is_for_loops_that_sum(int stack) const {
    bool any = false;
    if (source.outputs.find(stack) >= 0) return false;
    for (const entry& e : source.entries)
      for (int i = 0; i < e.operands.size(); ++i) {
        if (e.operands[i] != stack) continue;
        if (e.prim != &prim::scan || i < e.attrs.ints[2] + e.attrs.ints[3] || !is_only_summed(e.regions[0], e.regions[0].inputs[i + 1])) return false;
        any = true;
      }
    return any;
  }
  constexpr void find() {
    for (const entry& e : source.entries) {
      if (e.prim != &prim::scan) continue;
      const tape& body = e.regions[0];
      for (int y = static_cast<int>(e.attrs.ints[3]); y < e.results.size(); ++y)
        for (const entry& p : body.entries) {
          if (p.results[0] != body.outputs[y] || p.prim != &prim::matmul) continue;
          const abstract_value& type = body.values[p.results[0]];
          for (int at = 0; at < 2; ++at) {
            const int input = body.inputs.find(p.operands[at]);
            if (input < 1 || input > e.attrs.ints[2] || type.shape.rank != 2 || type.depth > 0 || !is_for_loops_that_sum(e.results[y])) continue;
            products.push_back({e.results[y], e.operands[input - 1], p.operands[1 - at], at, p.attrs.ints[at] != 0, p.attrs.ints[1 - at] != 0});
            break;
          }
        }
    }
  }

  /// Writes a loop over stacks of factors.
  struct reader : loop_writer {
    const stacked_factors& all;
    vec<int> names;

    constexpr reader(const stacked_factors& whole, builder& b, const entry& e, const tape& region, const vec<int>& of)
        : loop_writer(b, e, region, of), all(whole) {}

    [[nodiscard]] constexpr const product* product_of_input(int v) const {
      const int input = body.inputs.find(v);
      return input < 1 || input <= n.constants + n.carries ? nullptr : all.product_of(loop.operands[input - 1]);
    }
    /// The product that is one operand of e, a multiplication, or null; `other` is the other operand.
    [[nodiscard]] constexpr const product* factor(const entry& e, int& slice, int& other) const {
      if (e.prim != &prim::mul) return nullptr;
      for (int i = 0; i < 2; ++i)
        if (const product* p = product_of_input(e.operands[i])) {
          slice = e.operands[i], other = e.operands[1 - i];
          return p;
        }
      return nullptr;
    }
    constexpr int named_constant(int outer) {
      for (int i = 0; i < n.constants; ++i)
        if (operands[i] == outer) return names[body.inputs[i + 1]];
      return constant(outer);
    }
    constexpr vec<int> run() {
      names = vec<int>(body.values.size(), -1);
      vec<int> inputs;
      for (int i = 0; i < body.inputs.size(); ++i) {
        const bool replaced = product_of_input(body.inputs[i]);
        inputs.push_back(names[body.inputs[i]] = inside.input(replaced ? prim::rules::scan::slice(outside.type(operands[i - 1])) : body.values[body.inputs[i]]));
      }
      for (const entry& e : body.entries) {
        int slice = -1, other = -1;
        if (const product* p = factor(e, slice, other)) {  // its sums are all that is read of it
          const int x = named_constant(all.names[p->x]), v = names[other], d = names[slice];
          const bool x_first = (p->at == 0) != p->td;
          const int image = x_first ? emit::matmul(inside, x, v, (p->at == 0) != p->tx, p->at == 1)
                                    : emit::matmul(inside, v, x, p->at == 0, (p->at == 0) == p->tx);
          names[e.results[0]] = emit::mul(inside, image, d);
          continue;
        }
        const vec<int> results = inside.add(*e.prim, renamed(e.operands, names), e.attrs, e.regions);
        for (int i = 0; i < results.size(); ++i) names[e.results[i]] = results[i];
      }
      return write(inputs, renamed(body.outputs, names));
    }
  };

  [[nodiscard]] constexpr bool is_stack_of_factors(int value) const {
    for (const product& p : products)
      if (names[p.stack] == value) return true;
    return false;
  }
  /// Whether the products with slices of factors are of what a written loop carries.
  [[nodiscard]] constexpr bool carries_images(const entry& loop) const {
    const tape& body = loop.regions[0];
    builder scratch;
    carried_products c(scratch, loop, body, {});
    c.find();
    for (const entry& e : body.entries)
      for (int i = 0; i < e.operands.size(); ++i) {
        const int input = body.inputs.find(e.operands[i]);
        if (input < 1 || !is_stack_of_factors(loop.operands[input - 1])) continue;
        const entry* image = c.definition(e.operands[1 - i]);
        const int first = c.made_of[image->operands[0]], second = c.made_of[image->operands[1]];
        if (!(first >= 0 && c.held[first]) && !(second >= 0 && c.held[second])) return false;
      }
    return true;
  }

  constexpr tape run() {
    names = vec<int>(source.values.size(), -1);
    for (int i : source.inputs) names[i] = b.input(source.values[i]);
    for (const entry& e : source.entries) {
      const vec<int> operands = renamed(e.operands, names);
      vec<tape> regions = e.regions;
      bool reads = false;
      for (int i = 0; i < e.results.size(); ++i)
        if (const product* p = product_of(e.results[i])) regions[0].outputs[i] = p->d;
      for (int o : e.operands) reads = reads || product_of(o);
      vec<int> results;
      if (reads) {
        results = reader(*this, b, e, regions[0], operands).run();
        pays = pays && carries_images(*b.definition(results[0]));
      } else {
        results = b.add(*e.prim, operands, e.attrs, regions);
      }
      for (int i = 0; i < results.size(); ++i) names[e.results[i]] = results[i];
    }
    for (int o : source.outputs) b.output(names[o]);
    return without_dead_entries(b.result());
  }
};

/// t with loops that stack factors of products, where that leaves no product at each step; in regions too.
constexpr tape with_stacked_factors(tape t) {
  for (entry& e : t.entries)
    if (e.prim != &prim::scan)
      for (tape& r : e.regions) r = with_stacked_factors(r);
  stacked_factors s(t);
  s.find();
  if (s.products.empty()) return t;
  tape written = s.run();
  return s.pays ? static_cast<tape&&>(written) : static_cast<tape&&>(t);
}

}  // namespace drx::plan
