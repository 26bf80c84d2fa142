// drx/transform/differentiate.hpp: forward and reverse mode, from tape to tape. Each entry's own rule does the work.
#pragma once

#include <drx/primitives/catalogue.hpp>
#include <drx/tape/check.hpp>

namespace drx::transform {

constexpr tape jvp(const tape& t, const vec<bool>& moving);
constexpr tape pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
constexpr tape pullback_of_member(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
constexpr tape value_and_pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given);
constexpr tape batch_outputs(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                             vec<bool>& outputs_with_axis, const placement_info* axis);

inline constexpr region_drivers drivers{jvp, pullback, pullback_of_member, value_and_pullback, batch_outputs};

/// Forward mode. Inputs: t's, then a tangent for each that moves. Outputs: t's, then the tangents of the floating ones.
constexpr tape jvp(const tape& t, const vec<bool>& moving) {
  builder b;
  rewriter w(b, t, inputs_like(b, t));
  vec<int> tangent(t.values.size(), zero_tangent);
  for (int i = 0; i < t.inputs.size(); ++i)
    if (moving[i]) tangent[t.inputs[i]] = b.input(t.values[t.inputs[i]]);
  w.write([&](const entry& e) {
    vec<int> results = w.copied(e);
    vec<int> tangents;
    bool any = false;
    for (int o : e.operands) {
      tangents.push_back(tangent[o]);
      any = any || tangent[o] != zero_tangent;
    }
    if (!any) return results;
    if (!e.prim->jvp) throw "drx: this primitive has no forward derivative";
    const vec<int> moved = e.prim->jvp({b, e, w.operands(e), results, drivers}, tangents);
    const bool again = moved.size() > results.size();
    for (int i = 0; i < results.size(); ++i) {
      tangent[e.results[i]] = moved[i];
      if (again) results[i] = moved[results.size() + i];
    }
    return results;
  });
  for (int o : w.outputs()) b.output(o);
  for (int o : t.outputs)
    if (is_floating(t.values[o].type)) b.output(emit::instantiate_zeros(b, tangent[o], w.names[o]));
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}

/// Reverse mode. Inputs: t's, then a cotangent for each output given. Outputs: t's if `keep`, then the cotangents of
/// the inputs wanted.
constexpr tape vjp(const tape& t, const vec<bool>& wanted, const vec<bool>& given, bool keep) {
  builder b;
  rewriter w(b, t, inputs_like(b, t));
  vec<bool> active(t.values.size(), false);  // depends on a wanted input
  for (int i = 0; i < t.inputs.size(); ++i) active[t.inputs[i]] = wanted[i] && is_floating(t.values[t.inputs[i]].type);
  vec<int> cotangent(t.values.size(), zero_tangent);
  vec<int> cotangent_inputs;
  for (int i = 0; i < t.outputs.size(); ++i)
    cotangent_inputs.push_back(given[i] ? b.input(t.values[t.outputs[i]]) : zero_tangent);

  vec<vec<int>> residuals;  // by entry
  w.write([&](const entry& e) {
    vec<bool> operands_wanted;
    for (int o : e.operands) operands_wanted.push_back(active[o]);
    const bool any = operands_wanted.find(true) >= 0;
    for (int r : e.results) active[r] = any && is_floating(t.values[r].type);
    residuals.push_back({});
    if (!any || !e.prim->augmented) return w.copied(e);
    const vec<int> all = e.prim->augmented({b, e, w.operands(e), {}, drivers}, operands_wanted);
    for (int k = e.results.size(); k < all.size(); ++k) residuals.back().push_back(all[k]);
    return all;
  });

  for (int i = 0; i < t.outputs.size(); ++i)
    cotangent[t.outputs[i]] = emit::accumulate(b, cotangent[t.outputs[i]], cotangent_inputs[i]);
  for (int i = t.entries.size() - 1; i >= 0; --i) {
    const entry& e = t.entries[i];
    vec<int> ct;
    bool any = false;
    for (int r : e.results) {
      ct.push_back(active[r] ? cotangent[r] : zero_tangent);
      any = any || ct.back() != zero_tangent;
    }
    if (!any) continue;
    if (!e.prim->vjp)
      throw "drx: this primitive has no reverse derivative; put stop_gradient around it or give it a rule";
    vec<bool> operands_wanted;
    for (int o : e.operands) operands_wanted.push_back(active[o]);
    const vec<int> operands = w.operands(e);
    const vec<int> results = renamed(e.results, w.names);
    const vec<int> back = e.prim->vjp({b, e, operands, results, drivers, residuals[i]}, ct, operands_wanted);
    for (int k = 0; k < back.size(); ++k)
      if (operands_wanted[k]) cotangent[e.operands[k]] = emit::accumulate(b, cotangent[e.operands[k]], back[k]);
  }
  if (keep)
    for (int o : w.outputs()) b.output(o);
  for (int i = 0; i < t.inputs.size(); ++i)
    if (wanted[i]) {
      const int ct = cotangent[t.inputs[i]];
      b.output(emit::instantiate_zeros(b, ct, w.names[t.inputs[i]]));
    }
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}
constexpr tape pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  return vjp(t, wanted, given, false);
}
constexpr tape value_and_pullback(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  return vjp(t, wanted, given, true);
}

/// t on a batch of n: the batched inputs, and those outputs that depend on the batch, have a new axis 0. `has_axis`
/// tells which outputs do.
constexpr tape batch_where_needed(const tape& t, const vec<bool>& batched, std::int64_t n, vec<bool>& outputs_with_axis,
                                  const placement_info* axis = nullptr) {
  region_drivers along = drivers;
  along.axis = axis;
  builder b;
  vec<int> inputs;
  vec<bool> has_axis(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) {
    const abstract_value& v = t.values[t.inputs[i]];
    inputs.push_back(b.input(batched[i] ? v.with_shape(with_front(v.shape, n)) : v));
    has_axis[t.inputs[i]] = batched[i];
  }
  rewriter w(b, t, inputs);
  w.write([&](const entry& e) {
    vec<bool> on;
    for (int o : e.operands) on.push_back(has_axis[o]);
    bool any = on.find(true) >= 0;
    if (any && !e.prim->batch) throw "drx: this primitive has no batching rule";
    if (axis && e.attrs.placement == axis && e.prim->along_axis) {
      const along_axis_result r = e.prim->along_axis({b, e, w.operands(e), {}, along}, any, n);
      has_axis[e.results[0]] = r.has_axis;
      return vec<int>{r.id};
    }
    for (const tape& r : e.regions) any = any || (axis && drx::detail::uses_axis(r, axis));
    for (int r : e.results) has_axis[r] = any;
    if (!any) return w.copied(e);
    return e.prim->batch({b, e, w.operands(e), {}, along}, on, n);
  });
  for (int o : t.outputs) {
    b.output(w.names[o]);
    outputs_with_axis.push_back(has_axis[o]);
  }
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}
/// As batch_where_needed, with the axis on the outputs that must have it, too.
constexpr tape batch_outputs(const tape& t, const vec<bool>& batched, std::int64_t n, const vec<bool>& must,
                             vec<bool>& outputs_with_axis, const placement_info* axis) {
  vec<bool> has_axis;
  tape r = batch_where_needed(t, batched, n, has_axis, axis);
  builder b;
  vec<int> out = inline_tape(b, r, inputs_like(b, r));
  for (int i = 0; i < out.size(); ++i) {
    if (must[i] && !has_axis[i]) {
      out[i] = emit::repeated(b, out[i], n);
      has_axis[i] = true;
    }
    b.output(out[i]);
  }
  outputs_with_axis = has_axis;
  return without_dead_entries(b.take());
}
/// As batch_where_needed, with the axis on all outputs.
constexpr tape batch(const tape& t, const vec<bool>& batched, std::int64_t n, const placement_info* axis = nullptr) {
  vec<bool> all;
  return batch_outputs(t, batched, n, vec<bool>(t.outputs.size(), true), all, axis);
}

// ---- the derivative of a member by few numbers ----

/// As `pullback` by the numbers that are wanted, by forward mode: the cotangents given times the tangents along each of
/// them. (Their loops have the values in common: a plan makes one of them, plan/loops/equal_loops.hpp.)
constexpr tape pullback_by_tangents(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  builder b;
  const vec<int> inputs = inputs_like(b, t);
  vec<int> cotangents;
  for (int i = 0; i < t.outputs.size(); ++i)
    cotangents.push_back(given[i] ? b.input(t.values[t.outputs[i]]) : zero_tangent);
  for (int number = 0; number < wanted.size(); ++number) {
    if (!wanted[number]) continue;
    const abstract_value& x = t.values[t.inputs[number]];
    vec<bool> along(wanted.size(), false);
    along[number] = true;
    vec<int> in = inputs;
    in.push_back(emit::constant(b, x, 1));
    const vec<int> out = inline_tape(b, jvp(t, along), in);
    int total = zero_tangent, next = t.outputs.size();
    for (int i = 0; i < t.outputs.size(); ++i) {
      if (!is_floating(t.values[t.outputs[i]].type)) continue;
      const int tangent = out[next++];
      if (!given[i]) continue;
      const int product = emit::times(b, cotangents[i], tangent);
      vec<std::int64_t> axes;
      for (int axis = 0; axis < b.shape(product).rank; ++axis) axes.push_back(axis);
      total = emit::accumulate(b, total, emit::sum(b, product, axes));
    }
    b.output(total == zero_tangent ? emit::constant(b, x, 0) : emit::reshape(b, total, x.shape));
  }
  tape r = without_dead_entries(b.take());
  check(r);
  return r;
}

/// Whether the derivative of a map's body runs in forward mode: by one number or two, through a loop, whose steps
/// reverse mode would run twice. A function with a custom_vjp has no forward derivative, nor has a loop without a bound
/// a reverse one, wherever it stands; and where the body maps over members of its own, their cotangents differ.
constexpr bool suits_tangents(const tape& body, const vec<bool>& wanted) {
  constexpr int most = 2;
  const int first = wanted.find(true);
  if (first < 0) return false;
  const dtype of = body.values[body.inputs[first]].type;
  int numbers = 0;
  for (int i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    const abstract_value& x = body.values[body.inputs[i]];
    if (++numbers > most || x.shape.size() != 1 || x.depth > 0 || !is_floating(x.type) || x.type != of) return false;
  }
  for (int o : body.outputs) {
    const abstract_value& y = body.values[o];
    if (y.depth > 0 || (is_floating(y.type) && y.type != of)) return false;
  }
  const auto has = [&](auto property) { return any_entry(body, property); };
  return has([](const entry& e) { return e.prim == &prim::scan; }) && !has([](const entry& e) {
           return !e.prim->jvp || e.prim == &prim::custom_vjp ||
                  (e.prim == &prim::scan && !prim::rules::scan::view(e).length);
         });
}
constexpr tape pullback_of_member(const tape& t, const vec<bool>& wanted, const vec<bool>& given) {
  if (suits_tangents(t, wanted)) return pullback_by_tangents(t, wanted, given);
  return pullback(t, wanted, given);
}

}  // namespace drx::transform
