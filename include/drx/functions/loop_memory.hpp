// drx/functions/loop_memory.hpp: the options of a loop: whether it may carry products, and which residuals of its steps
// it keeps for reverse mode, instead of computing them again. Keeping fewer carries means nesting loops: the outer one
// keeps its own carries only, and runs the inner one again in the backward pass.
#pragma once

#include <drx/primitives/catalogue.hpp>

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

/// The loop may carry products of matrices, of doubles too, even in a program whose loops otherwise may not
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
  prim::rules::scan::view whole;
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
    builder region;
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
    prim::rules::scan::view own = whole;
    own.length = outer;
    own.constants = whole.constants + 1;
    own.keeps_residuals = false;
    if (whole.guard > whole.constants) own.guard = *whole.guard + 1;
    if (inner && whole.guard > whole.first_x()) own.guard = {};  // a slice for each step: the inner loops read it
    vec<int> r = b.add(prim::scan, operands, own.make(), one_region(region.take()));
    if (inner)
      for (int i = whole.carries; i < r.size(); ++i) {
        const shape s = b.shape(r[i]);
        r[i] = emit::reshape(b, r[i], with_front(without_axis(without_axis(s, 0), 0), s[0] * s[1]));
      }
    return r;
  }
  /// outer * length steps, written by loop(), and the remaining steps, the `rest`, as one loop. Backwards the rest
  /// comes first.
  constexpr vec<int> with_rest(builder& b, const values& v, std::int64_t outer, std::int64_t length, std::int64_t rest,
                               writer inner) const {
    if (outer == 0) return flat(b, v, rest);
    if (rest == 0) return loop(b, v, outer, length, inner);
    const std::int64_t done = outer * length;
    auto part = [&](std::int64_t from, std::int64_t to) {
      vec<int> r;
      for (int x : v.xs) r.push_back(emit::part_of_axis(b, x, 0, from, to - from));
      return r;
    };
    values most = v, last = v;
    most.xs = part(0, done);
    last.xs = part(done, done + rest);
    last.offset = emit::add(b, v.offset, emit::constant_like(b, v.offset, static_cast<double>(done)));
    const auto run =
        [&](bool of_last,
            const values& from) {  // (no `?:`: g++ 12 destroys its temporaries twice in constant evaluation)
          if (of_last) return flat(b, from, rest);
          return loop(b, from, outer, length, inner);
        };
    const bool backwards = whole.backwards;
    const vec<int> first = run(backwards, backwards ? last : most);
    values& second = backwards ? most : last;
    for (int i = 0; i < whole.carries; ++i) second.carries[i] = first[i];
    vec<int> r = run(!backwards, second);
    for (int i = whole.carries; i < r.size(); ++i)
      r[i] = emit::concatenate(b, {backwards ? r[i] : first[i], backwards ? first[i] : r[i]}, 0);
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

/// The loop of a body (index, constants, carries, slices of xs) on its operands in that order; `options` has its
/// residuals.
constexpr vec<int> write_loop(builder& b, const tape& body, const vec<int>& operands, prim::rules::scan::view loop,
                              const loop_options& options) {
  using kind = loop_memory::kind;
  const loop_memory& memory = options.memory;
  loop.products = options.products;
  loop.keeps_residuals = memory.what == kind::everything;
  if (!loop.length || memory.what == kind::carries || memory.what == kind::everything)
    return b.add(prim::scan, operands, loop.make(), one_region(body));
  nested_loop::values v{};
  v.offset = emit::constant(b, abstract_value(dtype::int32, {}), 0);
  for (int i = 0; i < operands.size(); ++i)
    (loop.is_constant(i) ? v.constants : loop.is_carry(i) ? v.carries : v.xs).push_back(operands[i]);
  const nested_loop l{body, loop};
  if (memory.what == kind::every) return l.every(b, v, *loop.length, memory.every);
  return l.logarithmic(b, v, *loop.length);
}

}  // namespace detail
}  // namespace drx
