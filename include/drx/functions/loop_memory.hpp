// drx/functions/loop_memory.hpp: the options of a loop: whether it may carry products, and which residuals of its steps
// it keeps for reverse mode, instead of computing them again. Keeping fewer carries means nesting loops: the outer one
// keeps its own carries only, and runs the inner one again in the backward pass.
#pragma once

#include <drx/primitives/emit.hpp>

namespace drx {

/// The residuals that a loop of n steps keeps for reverse mode. The choice changes memory, time and rounding only.
struct loop_memory {
  enum class kind : std::int8_t { carries, everything, every, logarithmic };
  kind what = kind::carries;
  std::int64_t every = 1;
};
/// Keeps the carries of each step; the rest of a step is computed again. The default.
inline constexpr loop_memory keep_carries{};
/// Keeps all residuals of each step: nothing is computed twice, except in maps and branches inside a step.
inline constexpr loop_memory keep_all{loop_memory::kind::everything};
/// Keeps the carries of every K-th step and, in the backward pass, of K steps at a time: n/K + K. Each step runs three
/// times (by default twice).
template <std::int64_t K>
  requires(K > 0)
inline constexpr loop_memory checkpoint_every{loop_memory::kind::every, K};
/// Keeps the carries of about 4 log4(n) steps. Each step runs about log4(n) + 1 times.
inline constexpr loop_memory recompute_all{loop_memory::kind::logarithmic};

/// The loop may carry products of matrices, even in a program whose loops otherwise may not
/// (drx::without_carried_products).
inline constexpr loop_products carry_products = loop_products::carried;
/// The loop computes each step as it is written.
inline constexpr loop_products no_carried_products = loop_products::computed;

/// The options of a loop, in any order or none: drx::keep_all, drx::no_carried_products, or
/// {drx::keep_all, drx::no_carried_products}.
struct loop_options {
  loop_memory memory;
  loop_products products;
  constexpr loop_options(const loop_memory& m = keep_carries, loop_products p = loop_products::by_program)
      : memory(m), products(p) {}
  constexpr loop_options(loop_products p, const loop_memory& m = keep_carries) : memory(m), products(p) {}
};

namespace detail {

/// Rewrites a loop as nested ones.
struct nested_loop {
  const tape& body;  // (index, constants, carries, slices of xs)
  int constants, carries;
  int guard;  // as an attribute of the loop
  bool backwards = false;
  loop_products products = loop_products::by_program;
  static constexpr int radix = 4;

  struct values {
    int offset;  // the index of the first step
    vec<int> constants, carries, xs;
  };
  using writer = vec<int> (nested_loop::*)(builder&, const values&, std::int64_t) const;

  /// `length` steps from the offset on, as one loop.
  constexpr vec<int> flat(builder& b, const values& v, std::int64_t length) const {
    return loop(b, v, length, 1, nullptr);
  }
  /// `outer` times `length` steps, each of them written by `inner`; or, without `inner`, the body for one step.
  constexpr vec<int> loop(builder& b, const values& v, std::int64_t outer, std::int64_t length, writer inner) const {
    builder region(&b);
    const int index = region.input(abstract_value(dtype::int32, {}));
    auto inputs = [&](const vec<int>& ids, bool stacked) {
      vec<int> r;
      for (int id : ids) {
        const abstract_value t = b.type(id);
        r.push_back(region.input(stacked ? t.with_shape(without_axis(t.shape, 0)) : t));
      }
      return r;
    };
    vec<int> operands = v.constants, xs;
    operands.push_back(v.offset);
    operands.append(v.carries);
    for (int x : v.xs) {
      shape s = make_shape(outer, length);
      for (int i = 1; i < b.shape(x).rank; ++i) s.push_back(b.shape(x)[i]);
      if (!inner) s = with_front(without_axis(b.shape(x), 0), outer);
      xs.push_back(emit::reshape(b, x, s));
    }
    operands.append(xs);
    values in{};
    in.constants = inputs(v.constants, false);
    const int offset = region.input(abstract_value(dtype::int32, {}));
    in.carries = inputs(v.carries, false);
    in.xs = inputs(xs, true);
    const int steps = emit::mul(region, index, emit::constant_like(region, index, static_cast<double>(length)));
    in.offset = emit::add(region, offset, steps);
    vec<int> out;
    if (inner) {
      out = (this->*inner)(region, in, length);
    } else {
      vec<int> all{in.offset};
      all.append(in.constants);
      all.append(in.carries);
      all.append(in.xs);
      out = inline_tape(region, body, all);
    }
    for (int o : out) region.output(o);
    int own_guard = guard > constants ? guard + 1 : guard;
    if (inner && guard > constants + carries) own_guard = 0;  // a slice for each step: the inner loops read it
    const attributes a = prim::rules::scan::attrs(outer, backwards, constants + 1, carries, own_guard, false, products);
    vec<int> r = b.add(prim::scan, operands, a, vec<tape>{region.result()});
    if (inner)
      for (int i = carries; i < r.size(); ++i) {
        const shape s = b.shape(r[i]);
        r[i] = emit::reshape(b, r[i], with_front(without_axis(without_axis(s, 0), 0), s[0] * s[1]));
      }
    return r;
  }
  /// outer * length steps, written by loop(), and the remaining steps, the `rest`, as one loop. Backwards the rest
  /// comes first.
  constexpr vec<int> with_rest(builder& b, const values& v, std::int64_t outer, std::int64_t length, std::int64_t rest, writer inner) const {
    if (outer == 0) return flat(b, v, rest);
    if (rest == 0) return loop(b, v, outer, length, inner);
    const std::int64_t done = outer * length;
    auto part = [&](std::int64_t from, std::int64_t to) {
      vec<int> r;
      for (int x : v.xs) r.push_back(emit::part_of_axis(b, x, 0, from, to - from));
      return r;
    };
    values whole = v, last = v;
    whole.xs = part(0, done);
    last.xs = part(done, done + rest);
    last.offset = emit::add(b, v.offset, emit::constant_like(b, v.offset, static_cast<double>(done)));
    const auto run = [&](bool of_last, const values& from) {  // (no `?:`: g++ 12 destroys its temporaries twice in constant evaluation)
      if (of_last) return flat(b, from, rest);
      return loop(b, from, outer, length, inner);
    };
    const vec<int> first = run(backwards, backwards ? last : whole);
    values& second = backwards ? whole : last;
    for (int i = 0; i < carries; ++i) second.carries[i] = first[i];
    vec<int> r = run(!backwards, second);
    for (int i = carries; i < r.size(); ++i) r[i] = emit::concatenate(b, {backwards ? r[i] : first[i], backwards ? first[i] : r[i]}, 0);
    return r;
  }
  constexpr vec<int> every(builder& b, const values& v, std::int64_t length, std::int64_t k) const {
    return with_rest(b, v, length / k, k, length % k, &nested_loop::flat);
  }
  constexpr vec<int> logarithmic(builder& b, const values& v, std::int64_t length) const {
    if (length <= radix) return flat(b, v, length);
    return with_rest(b, v, radix, length / radix, length % radix, &nested_loop::logarithmic);
  }
};

/// The loop of a body (index, constants, carries, slices of xs) on its operands in that order.
constexpr vec<int> write_loop(builder& b, const tape& body, const vec<int>& operands, std::int64_t length, int constants, int carries,
                              int guard, const loop_options& options) {
  using kind = loop_memory::kind;
  const loop_memory& memory = options.memory;
  if (length < 0 || memory.what == kind::carries || memory.what == kind::everything) {
    const bool keeps_all = memory.what == kind::everything;
    const attributes a = prim::rules::scan::attrs(length, false, constants, carries, guard, keeps_all, options.products);
    return b.add(prim::scan, operands, a, vec<tape>{body});
  }
  nested_loop::values v{};
  v.offset = emit::constant(b, abstract_value(dtype::int32, {}), 0);
  for (int i = 0; i < operands.size(); ++i)
    (i < constants ? v.constants : i < constants + carries ? v.carries : v.xs).push_back(operands[i]);
  const nested_loop l{body, constants, carries, guard, false, options.products};
  if (memory.what == kind::every) return l.every(b, v, length, memory.every);
  return l.logarithmic(b, v, length);
}

}  // namespace detail
}  // namespace drx
