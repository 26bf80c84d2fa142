// drx/primitives/loop.hpp: the primitive of all loops, which also reads and writes a slice of stacked arrays at each step.
// fori_loop, scan and while_loop are its front ends.
#pragma once

#include <drx/primitives/broadcast.hpp>
#include <drx/primitives/broadcast_to.hpp>
#include <drx/primitives/cond.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/layout.hpp>
#include <drx/primitives/reduction.hpp>
#include <drx/primitives/slice.hpp>
#include <drx/tracing/region.hpp>

#include <optional>

namespace drx {
/// Whether the plan may carry products of a loop's constants with a matrix in place of the matrix
/// (plan/loops/carried_products.hpp): as the program says (which is no for a matrix of doubles), yes, or no.
enum class loop_products : std::int8_t { by_program, carried, computed };

namespace prim::rules {
/// ints: {length, runs backwards, constants, carries, guard, keeps residuals, products}; operands: constants, initial
/// carries, stacked xs. Region: (index, constants, carries, slices of xs) -> (carries, slices of ys). Results: last
/// carries, stacked ys. The index counts positions of xs: a scan that runs backwards sees length-1 first. The guard is
/// the number of an input of the region, a bool. Where it is false a step does nothing: the carries stay, the slices of
/// ys are zeros. A loop without a length ends only by a guard among its carries, and has no xs. `keeps residuals` says
/// which residuals a reverse sweep finds for each step: all that it needs, or the carries only. `products` is a
/// loop_products.
struct scan {
  struct view {
    std::optional<std::int64_t> length;  // none: it ends by its guard
    bool backwards = false;
    int constants = 0, carries = 0;
    std::optional<int> guard = {};  // an input of the region
    bool keeps_residuals = false;
    loop_products products = loop_products::by_program;

    constexpr view(std::optional<std::int64_t> n, int constants_, int carries_)
        : length(n), constants(constants_), carries(carries_) {}
    constexpr explicit view(int_list a)
        : backwards(a.flag(1)),
          constants(a.number(2)),
          carries(a.number(3)),
          keeps_residuals(a.flag(5)),
          products(static_cast<loop_products>(a[6])) {
      if (a[0] != endless) length = a[0];
      if (a[4] != unguarded) guard = a.number(4);
    }
    [[nodiscard]] constexpr attributes make() const {
      attributes a;
      a.ints = {
          length.value_or(endless),           backwards, constants, carries, guard.value_or(unguarded), keeps_residuals,
          static_cast<std::int64_t>(products)};
      return a;
    }
    [[nodiscard]] constexpr bool is_constant(int operand) const { return operand >= 0 && operand < constants; }
    [[nodiscard]] constexpr bool is_carry(int operand) const {
      return operand >= constants && operand < constants + carries;
    }
    /// The first operand after the carries.
    [[nodiscard]] constexpr int first_x() const { return constants + carries; }
    /// Whether it takes a known number of steps, all of which do something.
    [[nodiscard]] constexpr bool is_counted() const { return length && !guard; }
    /// Whether another loop differs in its residuals at most.
    [[nodiscard]] constexpr bool takes_the_same_steps_as(view other) const {
      other.keeps_residuals = keeps_residuals;
      return make() == other.make();
    }
    /// Which carry is the guard.
    [[nodiscard]] constexpr std::optional<int> guarding_carry() const {
      if (guard && is_carry(*guard - 1)) return *guard - 1 - constants;
      return {};
    }

   private:
    static constexpr std::int64_t endless = -1;
    static constexpr int unguarded = 0;  // the index guards nothing
  };
  /// A view, and how many xs and ys there are.
  struct parts : view {
    int xs, ys;
    constexpr parts(int_list a, int operands, int results) : view(a), xs(operands - first_x()), ys(results - carries) {}
  };
  static constexpr abstract_value stacked(const abstract_value& t, std::int64_t n) {
    return t.with_shape(with_front(t.shape, n));
  }
  static constexpr abstract_value slice(const abstract_value& t) { return t.with_shape(without_axis(t.shape, 0)); }

  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& body = t.regions[0];
    const parts n(t.attrs, t.operands.size(), body.outputs.size());
    typing::require(body.inputs.size() == t.operands.size() + 1,
                    "scan: the body's inputs are not the operands' number");
    typing::require(n.length || (n.guarding_carry() && n.xs == 0 && n.ys == 0),
                    "scan: a loop without end needs a carry as its guard, and no slices");
    typing::require(!n.guard || body.values[body.inputs[*n.guard]] == abstract_value(dtype::boolean, {}),
                    "scan: the guard is not one bool");
    for (int i = 0; i < t.operands.size(); ++i) {
      const bool x = i >= n.constants + n.carries;
      if (x)
        typing::require(t.operands[i].shape.rank > 0 && t.operands[i].shape[0] == n.length,
                        "scan: an x is not of the loop's length");
      typing::require((x ? slice(t.operands[i]) : t.operands[i]) == body.values[body.inputs[i + 1]],
                      "scan: an operand is of another type than the body's input");
    }
    vec<abstract_value> r;
    for (int i = 0; i < body.outputs.size(); ++i) {
      const abstract_value& y = body.values[body.outputs[i]];
      if (i < n.carries)
        typing::require(y == t.operands[n.constants + i], "scan: the body changes the type of a carry");
      r.push_back(i < n.carries ? y : stacked(y, *n.length));
    }
    return r;
  }

  static constexpr vec<int> jvp(const rule_site& s, const vec<int>& tangents) {
    const tape& body = s.e.regions[0];
    const parts n(s.e.attrs, s.operands.size(), s.results.size());
    // The region's tangent has inputs (primal..., tangents...); the loop needs constants, carries and xs each together.
    vec<bool> moving{false};
    for (int i = 0; i < s.operands.size(); ++i) {
      const bool carry = i >= n.constants && i < n.constants + n.carries;
      moving.push_back(is_floating(s.b.type(s.operands[i]).type) && (carry || tangents[i] != zero_tangent));
    }
    const tape forward = s.drivers.jvp(body, moving);
    auto tangent_of = [&](int i) { return emit::instantiate_zeros(s.b, tangents[i], s.operands[i]); };
    vec<int> operands, order;  // order: for each operand, the input of `forward` that it feeds
    int tangent_inputs = body.inputs.size();
    vec<int> tangent_input(s.operands.size(), -1);
    for (int i = 0; i < s.operands.size(); ++i)
      if (moving[i + 1]) tangent_input[i] = tangent_inputs++;
    auto group = [&](int first, int count) {
      for (int i = first; i < first + count; ++i) {
        operands.push_back(s.operands[i]);
        order.push_back(i + 1);
      }
      int moved = 0;
      for (int i = first; i < first + count; ++i)
        if (moving[i + 1]) {
          operands.push_back(tangent_of(i));
          order.push_back(tangent_input[i]);
          ++moved;
        }
      return count + moved;
    };
    const int constants = group(0, n.constants);
    const int carries = group(n.constants, n.carries);
    group(n.constants + n.carries, n.xs);

    builder region;
    vec<int> inputs(forward.inputs.size(), -1);
    inputs[0] = region.input(forward.values[forward.inputs[0]]);
    for (int at : order) inputs[at] = region.input(forward.values[forward.inputs[at]]);
    const vec<int> out = inline_tape(region, forward, inputs);
    // outputs: carries, their tangents, ys, their tangents; those of `forward` are all primals, then floating tangents
    vec<int> tangent_output(s.results.size(), -1);
    int next = s.results.size();
    for (int i = 0; i < s.results.size(); ++i)
      if (is_floating(s.b.type(s.results[i]).type)) tangent_output[i] = next++;
    vec<int> result_of(s.results.size(), zero_tangent), primal_of(s.results.size(), -1);
    int written = 0;
    view both = n;
    for (int i = 0; i < order.size(); ++i)
      if (order[i] == n.guard) both.guard = i + 1;
    auto outputs = [&](int first, int count) {
      for (int i = first; i < first + count; ++i) {
        region.output(out[i]);
        primal_of[i] = written++;
      }
      for (int i = first; i < first + count; ++i)
        if (tangent_output[i] >= 0) {
          region.output(out[tangent_output[i]]);
          result_of[i] = written++;
        }
    };
    outputs(0, n.carries);
    outputs(n.carries, n.ys);
    both.constants = constants;
    both.carries = carries;
    const vec<int> all = s.b.add(*s.e.prim, operands, both.make(), one_region(region.take()));
    vec<int> r = renamed(result_of, all);
    r.append(renamed(primal_of, all));
    return r;
  }

  /// One step forward and backward. `forward`: the region, which also returns the step's residuals. `back`: (index,
  /// constants, residuals, xs, cotangents of the floating carries and ys) -> cotangents wanted.
  struct there_and_back {
    tape forward, back;
    int kept = 0;
    std::optional<int> guard;  // among the residuals
  };
  static constexpr vec<bool> step_wanted(const rule_site& s, const parts& n, const vec<bool>& wanted) {
    vec<bool> r{false};
    for (int i = 0; i < wanted.size(); ++i)
      r.push_back(n.is_carry(i) ? is_floating(s.b.type(s.operands[i]).type) : wanted[i]);
    return r;
  }
  static constexpr vec<bool> floating_outputs(const tape& t) {
    vec<bool> r;
    for (int o : t.outputs) r.push_back(is_floating(t.values[o].type));
    return r;
  }
  /// Keeps the carries: all that follows from them is computed again. (Without `given`, only `forward` is made.)
  static constexpr there_and_back keeping_carries(const rule_site& s, const parts& n, const vec<bool>& wanted,
                                                  const vec<bool>& given) {
    there_and_back r;
    const tape& body = s.e.regions[0];
    r.forward = body;
    for (int i = 0; i < n.carries; ++i) r.forward.outputs.push_back(body.inputs[1 + n.constants + i]);
    if (!given.empty()) r.back = s.drivers.vjp(body, step_wanted(s, n, wanted), given);
    r.kept = n.carries;
    r.guard = n.guarding_carry();
    return r;
  }
  /// Keeps all residuals that the backward step needs and cannot read off the operands: `back` holds only entries that
  /// depend on cotangents.
  static constexpr there_and_back keeping_all(const rule_site& s, const parts& n, const vec<bool>& wanted) {
    const tape& body = s.e.regions[0];
    const tape both = s.drivers.value_and_vjp(body, step_wanted(s, n, wanted), floating_outputs(body));
    const int inputs = body.inputs.size(), outputs = body.outputs.size();
    vec<bool> of_cotangents(both.values.size(), false), needed(both.values.size(), false),
        crosses(both.values.size(), false);
    vec<int> kept;
    auto cross = [&](int v) {
      if (!crosses[v]) kept.push_back(v);
      crosses[v] = true;
    };
    for (int i = inputs; i < both.inputs.size(); ++i) of_cotangents[both.inputs[i]] = true;
    for (int i = outputs; i < both.outputs.size(); ++i) needed[both.outputs[i]] = true;
    for (const entry& e : both.entries) {
      bool any = false;
      for (int o : e.operands) any = any || of_cotangents[o];
      for (int r : e.results) of_cotangents[r] = any;
    }
    vec<bool> is_back(both.entries.size(), false);
    for (int i = both.entries.size() - 1; i >= 0; --i) {
      const entry& e = both.entries[i];
      bool any = false;
      for (int r : e.results) any = any || needed[r];
      const bool made_again = e.prim == &prim::constant || e.prim == &prim::iota || e.prim == &prim::data ||
                              e.prim == &prim::broadcast_to || e.prim == &prim::reshape || e.prim == &prim::broadcast ||
                              e.prim == &prim::member_index || e.prim == &prim::members;
      is_back[i] = any && (made_again || of_cotangents[e.results[0]]);
      for (int o : e.operands) needed[o] = needed[o] || is_back[i];
      if (any && !is_back[i])
        for (int r : e.results)
          if (needed[r]) cross(r);
    }
    for (int i = 0; i < n.carries; ++i)
      if (const int v = both.inputs[1 + n.constants + i]; needed[v] || i == n.guarding_carry()) cross(v);
    there_and_back r;
    r.forward.values = r.back.values = both.values;
    for (int i = 0; i < both.entries.size(); ++i) {
      if (is_back[i]) r.back.entries.push_back(both.entries[i]);
      if (!of_cotangents[both.entries[i].results[0]]) r.forward.entries.push_back(both.entries[i]);
    }
    auto take = [](vec<int>& to, const vec<int>& from, int first, int last) {
      for (int i = first; i < last; ++i) to.push_back(from[i]);
    };
    take(r.forward.inputs, both.inputs, 0, inputs);
    take(r.forward.outputs, both.outputs, 0, outputs);
    r.forward.outputs.append(kept);
    take(r.back.inputs, both.inputs, 0, 1 + n.constants);
    r.back.inputs.append(kept);
    take(r.back.inputs, both.inputs, 1 + n.constants + n.carries, both.inputs.size());
    take(r.back.outputs, both.outputs, outputs, both.outputs.size());
    r.kept = kept.size();
    if (n.guarding_carry()) r.guard = kept.find(both.inputs[*n.guard]);
    r.forward = without_dead_entries(static_cast<tape&&>(r.forward));
    r.back = without_dead_entries(static_cast<tape&&>(r.back));
    return r;
  }
  static constexpr there_and_back split(const rule_site& s, const parts& n, const vec<bool>& wanted,
                                        const vec<bool>& given) {
    if (n.keeps_residuals) return keeping_all(s, n, wanted);
    return keeping_carries(s, n, wanted, given);
  }
  static constexpr vec<int> augmented(const rule_site& s, const vec<bool>& wanted) {
    const parts n(s.e.attrs, s.operands.size(), s.e.results.size());
    if (!n.length)
      throw "drx: while_loop without a bound has no reverse derivative: give it one, as in while_loop<100>(condition, body, init), or stop the gradient";
    const there_and_back step = split(s, n, wanted, {});
    return s.b.add(*s.e.prim, s.operands, s.e.attrs, one_region(step.forward));
  }
  static constexpr int zeros(builder& b, const abstract_value& t) {
    if (t.depth == 0) return emit::constant(b, t, 0);
    attributes a;
    a.placement = t.placements[0];
    if (t.depth == 1) return emit::broadcast(b, emit::constant(b, t.of_member(), 0), a.placement);
    return emit::map(b, a.placement, {b.add1(prim::member_index, {}, a)},
                     [&](builder& r, const vec<int>&) { return vec<int>{zeros(r, t.of_member())}; })[0];
  }
  static constexpr vec<int> vjp(const rule_site& s, const vec<int>& ct, const vec<bool>& wanted) {
    const parts n(s.e.attrs, s.operands.size(), s.results.size());
    const tape& body = s.e.regions[0];
    vec<bool> given;  // the cotangents that one backward step takes
    for (int i = 0; i < s.results.size(); ++i)
      given.push_back(is_floating(s.b.type(s.results[i]).type) &&
                      (i < n.carries || n.keeps_residuals || ct[i] != zero_tangent));
    const there_and_back step = split(s, n, wanted, given);

    // The backward loop. Constants: the same. Carries: cotangents of the carries, sums of those of the constants. Xs:
    // residuals, the xs, cotangents of the ys. Ys: cotangents of the xs.
    vec<int> operands, carry_at, constant_at;
    for (int i = 0; i < n.constants; ++i) operands.push_back(s.operands[i]);
    for (int i = 0; i < n.carries; ++i)
      if (given[i]) {
        operands.push_back(emit::instantiate_zeros(s.b, ct[i], s.results[i]));
        carry_at.push_back(n.constants + i);
      }
    for (int i = 0; i < n.constants; ++i)
      if (wanted[i]) {
        operands.push_back(emit::zeros_like(s.b, s.operands[i]));
        constant_at.push_back(i);
      }
    operands.append(s.residuals);
    for (int i = 0; i < n.xs; ++i) operands.push_back(s.operands[n.constants + n.carries + i]);
    for (int i = 0; i < n.ys; ++i)
      if (ct[n.carries + i] != zero_tangent) operands.push_back(ct[n.carries + i]);
    const int carries = carry_at.size() + constant_at.size();

    builder region;
    vec<int> in;
    in.push_back(region.input(abstract_value(dtype::int32, {})));
    for (int i = 0; i < operands.size(); ++i) {
      const abstract_value& t = s.b.type(operands[i]);
      in.push_back(region.input(i < n.constants + carries ? t : slice(t)));
    }
    vec<int> step_in{in[0]};
    const int carry0 = 1 + n.constants, kept0 = carry0 + carries;
    for (int i = 0; i < n.constants; ++i) step_in.push_back(in[1 + i]);
    for (int i = 0; i < step.kept + n.xs; ++i) step_in.push_back(in[kept0 + i]);
    for (int i = 0; i < carry_at.size(); ++i) step_in.push_back(in[carry0 + i]);
    int next_y = kept0 + step.kept + n.xs;
    for (int i = n.carries; i < n.carries + n.ys; ++i)
      if (ct[i] != zero_tangent) {
        step_in.push_back(in[next_y++]);
      } else if (given[i]) {
        step_in.push_back(zeros(region, body.values[body.outputs[i]]));
      }
    const vec<int> out = inline_tape(region, step.back, step_in);  // cotangents: wanted constants, carries, wanted xs
    const int sums = constant_at.size();
    for (int i = 0; i < carry_at.size(); ++i) region.output(out[sums + i]);
    for (int i = 0; i < sums; ++i) region.output(emit::accumulate(region, in[carry0 + carry_at.size() + i], out[i]));
    for (int i = sums + carry_at.size(); i < out.size(); ++i) region.output(out[i]);
    view there = n;
    there.backwards = !n.backwards;
    there.carries = carries;
    if (step.guard) there.guard = kept0 + *step.guard;
    if (n.guard > n.first_x()) there.guard = *n.guard - 1 - n.first_x() + kept0 + step.kept;
    const vec<int> all = s.b.add(*s.e.prim, operands, there.make(), one_region(region.take()));

    vec<int> r(s.operands.size(), zero_tangent);
    for (int i = 0; i < carry_at.size(); ++i) r[carry_at[i]] = all[i];
    for (int i = 0; i < sums; ++i) r[constant_at[i]] = all[carry_at.size() + i];
    int next = carries;
    for (int i = n.constants + n.carries; i < s.operands.size(); ++i)
      if (wanted[i]) r[i] = all[next++];
    return r;
  }

  /// Carries and xs that are the same for the whole batch stay so in the loop: of a Jacobian's columns, the values are
  /// computed once. A stacked array has its batch axis after the axis that the loop runs along.
  static constexpr vec<int> batch(const rule_site& s, const vec<bool>& batched, std::int64_t n) {
    const tape& body = s.e.regions[0];
    const parts p(s.e.attrs, s.operands.size(), body.outputs.size());
    vec<bool> in{false}, out;
    in.append(batched);
    const tape step =
        with_carries_grown(p, in, out, [&](const vec<bool>& must) { return s.drivers.batch(body, in, n, must, out); });
    vec<int> operands = s.operands;
    for (int i = p.constants; i < operands.size(); ++i) {
      if (in[1 + i] && !batched[i]) operands[i] = emit::repeated(s.b, operands[i], n);
      if (in[1 + i] && i >= p.first_x()) operands[i] = emit::first_axes_exchanged(s.b, operands[i]);
    }
    vec<int> r;
    if (p.guard && in[*p.guard]) {
      r = guarded_apart(s.b, s.e, p, step, operands, emit::choose);
    } else {
      r = s.b.add(*s.e.prim, operands, s.e.attrs, one_region(step));
    }
    for (int i = 0; i < r.size(); ++i)
      r[i] = !out[i] ? emit::repeated(s.b, r[i], n) : i < p.carries ? r[i] : emit::first_axes_exchanged(s.b, r[i]);
    return r;
  }
  /// The body for a batch or for lanes, written by `body_for(must)` until the carries of which it makes several are
  /// among those, `in`, of which it takes several; `must` are the results that have to be several, `out` those that
  /// are. Where each has a guard of its own, those that have finished stay as they are: all carries and xs are several.
  template <class BodyFor>
  static constexpr tape with_carries_grown(const parts& p, vec<bool>& in, const vec<bool>& out,
                                           const BodyFor& body_for) {
    for (;;) {
      const bool apart = p.guard && in[*p.guard];
      for (int i = 1 + p.constants; i < in.size() && apart; ++i) in[i] = true;
      vec<bool> must(p.carries + p.ys, apart);
      for (int i = 0; i < p.carries; ++i) must[i] = in[1 + p.constants + i];
      tape body = body_for(must);
      bool grown = false;
      for (int i = 0; i < p.carries; ++i)
        if (out[i] && !must[i]) in[1 + p.constants + i] = grown = true;
      if (!grown) return body;
    }
  }
  /// If each element, or lane, has a guard of its own, the loop runs as long as one of them holds, and finished ones
  /// stay as they are: `choose` writes the choice between new and old values by these guards.
  static constexpr vec<int> guarded_apart(builder& b, const entry& e, const parts& p, const tape& step,
                                          const vec<int>& batched, int (*choose)(builder&, int, int, int)) {
    // A guard for all comes after the others of its kind: constants, carries or xs.
    const int guard = *p.guard - 1, last[] = {p.constants, p.first_x(), p.first_x() + p.xs};
    const int kind = guard < last[0] ? 0 : guard < last[1] ? 1 : 2;
    const auto any = [](builder& t, int x) { return emit::over_axes(t, prim::max_over, x, {t.shape(x).rank - 1}); };
    vec<int> operands, inputs;
    builder region;
    const int index = region.input(step.values[step.inputs[0]]);
    for (int i = 0; i <= batched.size(); ++i) {
      if (i == last[kind]) {
        operands.push_back(any(b, batched[guard]));
        region.input(abstract_value(dtype::boolean, {}));
      }
      if (i == batched.size()) break;
      operands.push_back(batched[i]);
      inputs.push_back(region.input(step.values[step.inputs[i + 1]]));
    }
    vec<int> all{index};
    all.append(inputs);
    const vec<int> out = inline_tape(region, step, all);
    const int own = inputs[guard];
    vec<int> chosen;
    for (int i = 0; i < out.size(); ++i) {
      if (p.guarding_carry() == i) {  // what has ended does not begin again
        chosen.push_back(region.add1(prim::logical_and, {own, out[i]}));
        continue;
      }
      const int old = i < p.carries ? inputs[p.constants + i] : emit::zeros_like(region, out[i]);
      chosen.push_back(choose(region, own, out[i], old));
    }
    for (int i = 0; i < out.size(); ++i) {
      if (i == p.carries && kind == 1) region.output(any(region, chosen[guard - p.constants]));
      region.output(chosen[i]);
    }
    if (out.size() == p.carries && kind == 1) region.output(any(region, chosen[guard - p.constants]));
    view all_guarded = p;
    all_guarded.constants += kind == 0;
    all_guarded.carries += kind == 1;
    all_guarded.guard = last[kind] + 1;
    const vec<int> r = b.add(*e.prim, operands, all_guarded.make(), one_region(region.take()));
    vec<int> results;
    for (int i = 0; i < r.size(); ++i)
      if (kind != 1 || i != p.carries) results.push_back(r[i]);
    return results;
  }

  static constexpr void prune(entry& e, const vec<bool>& wanted) {
    const entry& before = e;
    if (wanted.find(false) < 0 && is_all_used(before.regions[0], true, true)) return;
    const parts n(e.attrs, e.operands.size(), e.results.size());
    vec<bool> outputs = wanted;  // a carry is kept where its result is wanted, or where a kept output needs it
    if (n.guarding_carry()) outputs[*n.guarding_carry()] = true;
    for (bool grown = true; grown;) {  // most carries are found so, without writing a body
      grown = false;
      const vec<bool> needed = needed_inputs(before.regions[0], outputs);
      for (int i = 0; i < n.carries; ++i)
        if (needed[1 + n.constants + i] && !outputs[i]) outputs[i] = grown = true;
    }
    bool nested = false;  // else needed_inputs has found all
    for (const entry& inner : before.regions[0].entries) nested = nested || !inner.regions.empty();
    vec<bool> used;
    tape body;
    for (bool grown = true; grown;) {
      grown = false;
      vec<bool> keep{true};
      for (int i = 0; i < e.operands.size(); ++i)
        keep.push_back((n.is_carry(i) && outputs[i - n.constants]) || i + 1 == n.guard);
      if (nested)
        body = pruned_region(before.regions[0], outputs, keep, used);
      else  // the outputs are all that are needed: there is no second time
        body = pruned_region(static_cast<tape&&>(e.regions[0]), outputs, keep, used);
      for (int i = 0; i < n.carries; ++i)
        if (used[1 + n.constants + i] && !outputs[i]) outputs[i] = grown = true;
    }
    vec<bool> operands;
    view left = n;
    left.constants = left.carries = 0;
    if (n.guard) left.guard = 0;
    for (int i = 0; i < e.operands.size(); ++i) {
      operands.push_back(used[i + 1]);
      if (i < n.guard) *left.guard += used[i + 1];
      if (!used[i + 1]) continue;
      left.constants += n.is_constant(i);
      left.carries += n.is_carry(i);
    }
    e.regions[0] = static_cast<tape&&>(body);
    e.operands = filtered(e.operands, operands);
    e.results = filtered(e.results, outputs);
    e.attrs = left.make();
  }
  static std::string print(const attributes& a) {
    const view n(a);
    return (n.length ? std::to_string(*n.length) : "endless") + (n.backwards ? " backwards" : "") + ", " +
           std::to_string(n.constants) + " constants, " + std::to_string(n.carries) + " carries" +
           (n.guard ? ", while input " + std::to_string(*n.guard) : "") +
           (n.keeps_residuals ? ", keeps residuals" : "") +
           (n.products == loop_products::carried    ? ", may carry products"
            : n.products == loop_products::computed ? ", carries no products"
                                                    : "");
  }
  static tensor slice_of(const tensor& x, std::int64_t at) {
    tensor t(slice(x.type));
    for (const tensor& m : x.members) t.members.push_back(slice_of(m, at));
    if (!t.bytes.empty())
      std::memcpy(t.bytes.data(), x.bytes.data() + static_cast<std::size_t>(at) * t.bytes.size(), t.bytes.size());
    return t;
  }
  static void store_slice(tensor& x, std::int64_t at, const tensor& y) {
    if (!y.bytes.empty())
      std::memcpy(x.bytes.data() + static_cast<std::size_t>(at) * y.bytes.size(), y.bytes.data(), y.bytes.size());
    for (std::size_t m = 0; m < y.members.size(); ++m) store_slice(x.members.at(m), at, y.members[m]);
  }
  /// Zeros of type t with as many members as `like` has.
  static tensor zeros_like(const abstract_value& t, const tensor& like) {
    tensor r(t);
    for (const tensor& m : like.members) r.members.push_back(zeros_like(t.of_member(), m));
    return r;
  }
  /// Of the carries: what holds at the beginning and after any number of steps.
  static constexpr known_values known_inside(const known_site& s, int) {
    const parts n(s.e.attrs, s.e.operands.size(), s.e.results.size());
    known_values inputs{finite_and_not_negative()};
    inputs.append(s.operands);
    for (bool changed = true; changed;) {  // each time less is known: it ends
      changed = false;
      const known_values after = s.outputs(s.e.regions[0], inputs);
      for (int i = 0; i < n.carries; ++i) {
        known_value& carry = inputs[1 + n.constants + i];
        const known_value both = either(carry, after[i]);
        changed = changed || !(both == carry);
        carry = both;
      }
    }
    return inputs;
  }
  /// No step may have been done; of those that a guard leaves out the slices are zeros.
  static constexpr known_values known(const known_site& s) {
    const parts n(s.e.attrs, s.e.operands.size(), s.e.results.size());
    const known_values inside = known_inside(s, 0);
    known_values r = s.outputs(s.e.regions[0], inside);
    for (int i = 0; i < r.size(); ++i)
      if (i < n.carries)
        r[i] = inside[1 + n.constants + i];
      else if (n.guard)
        r[i] = r[i].but_zero();
    return r;
  }
  /// Carries that are the same for all members stay so. Where each member has a guard of its own, none do.
  static constexpr vec<int> lanes(const lane_site& s) {
    const tape& body = s.e.regions[0];
    const parts p(s.e.attrs, s.operands.size(), body.outputs.size());
    vec<bool> in{false};
    in.append(s.in_lanes);
    const tape step = with_carries_grown(
        p, in, s.results, [&](const vec<bool>& must) { return s.region(body, in, must, s.results, p.constants); });
    vec<int> operands;
    for (int i = 0; i < s.operands.size(); ++i) operands.push_back(in[1 + i] ? s.operand(i) : s.operands[i]);
    if (!p.guard || !in[*p.guard]) return s.b.add(*s.e.prim, operands, s.e.attrs, one_region(step));
    return guarded_apart(s.b, s.e, p, step, operands, [](builder& b, int holds, int x, int y) {
      return emit::where(b, emit::broadcast_to(b, holds, b.shape(x)), x, y);
    });
  }
  static constexpr entry_cost cost(const tape&, const entry& e) {  // (of steps that end by a guard, one is counted)
    return {.repeats = static_cast<double>(view(e).length.value_or(1)), .suits_lanes = true};
  }
  static void evaluate(evaluation& v) {
    const parts n(v.e.attrs, static_cast<int>(v.in.size()), static_cast<int>(v.out.size()));
    std::vector<tensor> carry;
    for (int i = 0; i < n.carries; ++i) carry.push_back(*v.in[static_cast<std::size_t>(n.constants + i)]);
    for (int i = n.carries; i < n.carries + n.ys; ++i)  // zeros, also where no step is done
      for (const tensor* x : v.in) {
        tensor& y = v.out[static_cast<std::size_t>(i)];
        if (y.type.depth > 0 && x->type.placed_like(y.type)) y = zeros_like(y.type, *x);
      }
    const auto guarded = [&](std::int64_t at) {
      if (!n.guard) return true;
      if (const auto own = n.guarding_carry()) return carry[static_cast<std::size_t>(*own)].data<bool>()[0];
      return v.in[static_cast<std::size_t>(*n.guard - 1)]->data<bool>()[n.is_constant(*n.guard - 1) ? 0 : at];
    };
    for (std::int64_t step = 0; !n.length || step < *n.length; ++step) {
      const std::int64_t at = n.backwards ? *n.length - 1 - step : step;
      if (!guarded(at)) {
        if (n.guarding_carry()) break;
        continue;
      }
      tensor index(abstract_value(dtype::int32, {}));
      index.data<std::int32_t>()[0] = static_cast<std::int32_t>(at);
      std::vector<tensor> in{index};
      for (int i = 0; i < n.constants; ++i) in.push_back(*v.in[static_cast<std::size_t>(i)]);
      for (auto& c : carry) in.push_back(std::move(c));
      for (int i = n.constants + n.carries; i < n.constants + n.carries + n.xs; ++i)
        in.push_back(slice_of(*v.in[static_cast<std::size_t>(i)], at));
      std::vector<tensor> out = v.run(v.e.regions[0], std::move(in));
      carry.assign(std::make_move_iterator(out.begin()), std::make_move_iterator(out.begin() + n.carries));
      for (int i = n.carries; i < n.carries + n.ys; ++i) {
        tensor& y = v.out[static_cast<std::size_t>(i)];
        const tensor& row = out[static_cast<std::size_t>(i)];
        if (y.members.size() != row.members.size()) y = zeros_like(y.type, row);
        store_slice(y, at, row);
      }
    }
    for (int i = 0; i < n.carries; ++i)
      v.out[static_cast<std::size_t>(i)] = std::move(carry[static_cast<std::size_t>(i)]);
  }
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive scan{.name = "scan",
                                .type = rules::scan::type,
                                .jvp = rules::scan::jvp,
                                .vjp = rules::scan::vjp,
                                .augmented = rules::scan::augmented,
                                .batch = rules::scan::batch,
                                .prune = rules::scan::prune,
                                .print = rules::scan::print,
                                .evaluate = rules::scan::evaluate,
                                .known = rules::scan::known,
                                .known_inside = rules::scan::known_inside,
                                .lanes = rules::scan::lanes,
                                .cost = rules::scan::cost};
}

namespace detail {
/// A broadcast outside a loop or a branch would be held whole for it, with one copy for each member; inside, it is
/// computed where it is read. (An operation on values that do not change in a loop is written before the loop:
/// detail::at_work.)
constexpr tape with_broadcasts_inside(tape t) {
  vec<int> defining(t.values.size(), -1);
  bool any = false;
  for (int at = 0; at < t.entries.size(); ++at) {
    entry& e = t.entries[at];
    for (int r : e.results) defining[r] = at;
    const bool loop = e.prim == &prim::scan;
    if (!loop && e.prim != &prim::cond) continue;
    const int first = loop ? 0 : 1, last = loop ? prim::rules::scan::view(e).constants : e.operands.size();
    vec<int> moved;  // which operands are broadcasts
    for (int i = first; i < last; ++i) {
      const int d = defining[e.operands[i]];
      if (d >= 0 && t.entries[d].prim == &prim::broadcast) moved.push_back(i);
    }
    if (moved.empty()) continue;
    for (tape& region : e.regions) {
      vec<entry> entries;
      entries.reserve(moved.size() + region.entries.size());
      for (int k = moved.size() - 1; k >= 0; --k) {
        const entry& outside = t.entries[defining[e.operands[moved[k]]]];
        int& input = region.inputs[loop ? moved[k] + 1 : moved[k] - 1];
        entry inside = outside;
        inside.operands = {region.values.size() + k};
        inside.results = {input};
        input = region.values.size() + k;
        entries.push_back(static_cast<entry&&>(inside));
      }
      for (int i : moved) region.values.push_back(t.values[t.entries[defining[e.operands[i]]].operands[0]]);
      for (entry& x : region.entries) entries.push_back(static_cast<entry&&>(x));
      region.entries = static_cast<vec<entry>&&>(entries);
    }
    for (int i : moved) e.operands[i] = t.entries[defining[e.operands[i]]].operands[0];
    for (tape& region : e.regions) region = with_broadcasts_inside(static_cast<tape&&>(region));
    any = true;
  }
  if (any) t = without_dead_entries(static_cast<tape&&>(t));
  return t;
}
}  // namespace detail

}  // namespace drx
