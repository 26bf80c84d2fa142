// drx/primitives/member_function.hpp: the function of one member that communicates, written for all members: cut at its
// collectives into maps, reductions and broadcasts.
#pragma once

#include <drx/primitives/collectives.hpp>
#include <drx/primitives/cond.hpp>
#include <drx/primitives/declarations.hpp>
#include <drx/primitives/loop.hpp>
#include <drx/primitives/member_exchange.hpp>

namespace drx {
namespace detail {

constexpr bool uses_axis(const tape& t, const placement_info* axis) {
  return any_entry(t, [=](const entry& e) {
    return (prim::is_collective(e.prim) || e.prim == &prim::axis_index) && e.attrs.placement == axis;
  });
}
constexpr bool has_collective(const tape& t, const placement_info* axis) {
  return any_entry(t, [=](const entry& e) { return prim::is_collective(e.prim) && e.attrs.placement == axis; });
}
constexpr bool has_other_collective(const tape& t, const placement_info* axis) {
  return any_entry(t, [=](const entry& e) { return prim::is_collective(e.prim) && e.attrs.placement != axis; });
}

/// Whether an entry's results differ between members of p whatever its operands are: they depend on the member's
/// number, or on its own members of a placement nested in p.
constexpr bool varies_by_itself(const tape& t, const entry& e, const placement_info* p) {
  if (e.prim == &prim::axis_index) return e.attrs.placement == p;
  if (e.prim == &prim::members) return e.attrs.placement != p;
  for (int r : e.results)
    if (t.values[r].depth > 0) return true;
  for (const tape& r : e.regions)
    for (const entry& inner : r.entries)
      if (varies_by_itself(r, inner, p)) return true;
  return false;
}
/// The values that differ from member to member: those that depend on inputs that do, on the member's number, or on
/// members nested in it, except through a collective.
constexpr vec<bool> varying_values(const tape& t, const placement_info* p, const vec<bool>& inputs) {
  vec<bool> varies(t.values.size(), false);
  for (int i = 0; i < t.inputs.size(); ++i) varies[t.inputs[i]] = inputs[i];
  for (const entry& e : t.entries) {
    bool any = varies_by_itself(t, e, p);
    for (int o : e.operands) any = any || varies[o];
    if (prim::is_collective(e.prim) && e.attrs.placement == p) any = prim::is_apart(e.prim);
    if (e.prim == &prim::scan) {  // carries that come to differ in a later step differ from the start
      const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
      vec<bool> in{false};
      for (int o : e.operands) in.push_back(varies[o]);
      vec<bool> out;
      for (bool grown = true; grown;) {
        grown = false;
        const vec<bool> inner = varying_values(e.regions[0], p, in);
        out = vec<bool>();
        for (int o : e.regions[0].outputs)
          out.push_back(inner[o] || (n.guard && in[*n.guard]));  // members stop at different steps
        for (int i = 0; i < n.carries; ++i)
          if (out[i] && !in[1 + n.constants + i]) in[1 + n.constants + i] = grown = true;
      }
      for (int i = 0; i < e.results.size(); ++i)
        varies[e.results[i]] = i < n.carries ? in[1 + n.constants + i] : out[i];
      continue;
    }
    for (const tape& r : e.regions) any = any || uses_axis(r, p);
    for (int r : e.results) varies[r] = any;
  }
  return varies;
}

/// Writes the function of one member of p for all members: values that differ between members are placed, the others
/// unplaced.
class member_function {
 public:
  /// `over`: the axis of the collectives at which it cuts: p itself, or the axis of its members' shards.
  constexpr member_function(builder& on, const placement_info* placement, const tape& body,
                            const placement_info* over = nullptr)
      : b(on), p(placement), axis(over ? over : placement), t(body) {}

  /// Writes it on `inputs` on the builder, placed where `placed_inputs`. Returns the outputs; `placed` says which of
  /// them are placed.
  constexpr vec<int> write(const vec<int>& inputs, const vec<bool>& placed_inputs, vec<bool>& placed) {
    varies = varying_values(t, p, placed_inputs);
    level = vec<int>(t.values.size(), 0);
    outer = vec<int>(t.values.size(), -1);
    needed = vec<bool>(t.values.size(), false);
    for (int i = 0; i < t.inputs.size(); ++i) outer[t.inputs[i]] = inputs[i];
    int last = 0;
    for (const entry& e : t.entries) {
      int l = 0;
      for (int o : e.operands) l = level[o] > l ? level[o] : l;
      if (cuts(e)) ++l;
      for (int r : e.results) level[r] = l;
      last = l > last ? l : last;
    }
    for (const entry& e : t.entries)
      for (int o : e.operands)
        if (varies[o] && e.results.size() > 0 && (cuts(e) || level[e.results[0]] > level[o])) needed[o] = true;
    for (int o : t.outputs) needed[o] = needed[o] || varies[o];
    for (int l = 0; l <= last; ++l) {
      for (const entry& e : t.entries)
        if (e.results.size() > 0 && level[e.results[0]] == l) {
          if (!cuts(e) && e.prim == &prim::scan) {
            write_uniform_part(e);
          } else if (cuts(e) || !in_map(e)) {
            write_outside(e);
          }
        }
      write_map(l);
    }
    vec<int> out;
    for (int o : t.outputs) {
      out.push_back(outer[o]);
      placed.push_back(varies[o]);
    }
    return out;
  }

 private:
  builder& b;
  const placement_info* p;
  const placement_info* axis;
  const tape& t;
  vec<bool> varies, needed;
  vec<int> level, outer;

  /// Whether an entry stands between maps.
  constexpr bool cuts(const entry& e) const {
    if (prim::is_collective(e.prim)) return e.attrs.placement == axis;
    for (const tape& r : e.regions)
      if (has_collective(r, axis)) return true;
    return false;
  }
  constexpr bool in_map(const entry& e) const {
    for (int r : e.results)
      if (varies[r]) return true;
    return false;
  }
  constexpr int numbers() {
    attributes a;
    a.placement = p;
    return b.add1(prim::member_index, {}, a);
  }
  constexpr int placed(int v) { return varies[v] ? outer[v] : emit::broadcast(b, outer[v], p); }

  constexpr void write_map(int l) {
    vec<int> operands, in(t.values.size(), -1), outputs;
    builder region;
    bool any = false;
    const auto use = [&](int v) {
      if (in[v] >= 0) return;
      operands.push_back(placed(v));
      in[v] = region.input(t.values[v]);
    };
    const auto number = [&] {
      operands.push_back(numbers());
      return region.input(abstract_value(dtype::int64, {}));
    };
    for (const entry& e : t.entries) {
      if (e.results.size() == 0 || level[e.results[0]] != l || cuts(e) || !in_map(e)) continue;
      any = true;
      vec<int> results;
      if (e.prim == &prim::axis_index && e.attrs.placement == p) {
        results.push_back(emit::cast(region, number(), dtype::int32));
      } else {
        for (int o : e.operands) use(o);
        results = region.add(*e.prim, renamed(e.operands, in), e.attrs, e.regions);
      }
      for (int i = 0; i < results.size(); ++i) in[e.results[i]] = results[i];
    }
    if (!any) return;
    for (const entry& e : t.entries)
      for (int r : e.results)
        if (needed[r] && level[r] == l && in[r] >= 0 && outer[r] < 0) {
          outputs.push_back(r);
          region.output(in[r]);
        }
    if (outputs.empty()) return;
    if (operands.empty()) number();  // it tells whose members they are
    attributes a;
    a.placement = p;
    const vec<int> all = b.add(prim::map, operands, a, one_region(region.take()));
    for (int i = 0; i < outputs.size(); ++i) outer[outputs[i]] = all[i];
  }

  constexpr void write_outside(const entry& e) {
    vec<int> results;
    if (!cuts(e)) {
      results = b.add(*e.prim, renamed(e.operands, outer), e.attrs, e.regions);
    } else if (prim::is_collective(e.prim)) {
      results.push_back(reduced(e));
    } else if (e.prim == &prim::scan) {
      results = loop(e);
    } else if (e.prim == &prim::cond) {
      results = branch(e);
    } else {
      throw "drx: a collective in a function with a derivative of its own, or over one placement inside of a map over another, which is in a map over the first: take it out";
    }
    for (int i = 0; i < results.size(); ++i) outer[e.results[i]] = results[i];
  }
  /// The part of a loop that is the same for all members: around the maps, and once more in the loop in the map, if
  /// that has other results.
  constexpr void write_uniform_part(const entry& e) {
    vec<bool> same;
    for (int r : e.results) same.push_back(!varies[r]);
    if (same.find(true) < 0) return;
    entry part = e;
    e.prim->prune(part, same);
    const vec<int> results = b.add(*part.prim, renamed(part.operands, outer), part.attrs, part.regions);
    for (int i = 0; i < results.size(); ++i) outer[part.results[i]] = results[i];
  }
  constexpr int reduced(const entry& e) {
    const int x = e.operands[0], y = outer[x];
    attributes a;
    a.placement = p;
    if (axis != p) {
      const std::int64_t n = prim::rules::all_gather::view(e).members;
      return varies[x] ? emit::shard_gather(b, y, n, p) : emit::repeated(b, y, n);
    }
    if (prim::is_apart(e.prim)) return exchanged(e);
    if (e.prim == &prim::all_gather) {
      const std::int64_t n = prim::rules::all_gather::view(e).members;
      return varies[x] ? emit::gather(b, y, n, p) : emit::repeated(b, y, n);
    }
    if (e.prim == &prim::psum) {
      if (varies[x]) return emit::reduce_sum(b, y, p);
      return emit::mul(b, y, emit::broadcast_to(b, emit::members(b, p, b.type(y).type), b.shape(y)));
    }
    if (e.prim == &prim::first_member)
      return varies[x] ? emit::first_to_attain(b, y, numbers(), p, prim::rules::first_member::view(e).largest)
                       : emit::constant(b, t.values[e.results[0]], 0);
    return varies[x] ? b.add1(e.prim == &prim::pmax ? prim::reduce_max : prim::reduce_min, {y}, a) : y;
  }
  constexpr int exchanged(const entry& e) {
    attributes a = e.attrs;
    if (e.prim == &prim::all_to_all) a = prim::rules::member_transpose::view(t.values[e.operands[0]].shape[0]).make(p);
    return b.add1(e.prim == &prim::all_to_all ? prim::member_transpose : prim::member_permute, {placed(e.operands[0])},
                  a);
  }
  /// A branch with collectives: all members take the same one.
  constexpr vec<int> branch(const entry& e) {
    if (varies[e.operands[0]])
      throw "drx: a collective inside of a branch that some members take and others do not: the condition must be the same for all";
    vec<int> operands{outer[e.operands[0]]};
    vec<bool> differs;
    for (int i = 1; i < e.operands.size(); ++i) {
      operands.push_back(outer[e.operands[i]]);
      differs.push_back(varies[e.operands[i]]);
    }
    tapes branches;
    for (const tape& body : e.regions) {
      builder region;
      vec<int> in;
      for (int i = 0; i < differs.size(); ++i) {
        const abstract_value one = body.values[body.inputs[i]];
        in.push_back(region.input(differs[i] ? one.placed_at(p) : one));
      }
      vec<bool> out_placed;
      member_function inner(region, p, body, axis);
      const vec<int> out = inner.write(in, differs, out_placed);
      for (int i = 0; i < out.size(); ++i)
        region.output(varies[e.results[i]] && !out_placed[i] ? emit::broadcast(region, out[i], p) : out[i]);
      branches.push_back(region.result());
    }
    return b.add(prim::cond, operands, {}, branches);
  }
  /// A loop with collectives: it goes around the maps, with carries and stacks placed if they differ between members.
  constexpr vec<int> loop(const entry& e) {
    const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
    const auto guarding = n.guarding_carry();
    if (n.guard && varies[guarding ? e.results[*guarding] : e.operands[*n.guard - 1]])
      throw "drx: a loop with a collective that ends after other numbers of steps for other members";
    const tape& body = e.regions[0];
    vec<int> operands;
    vec<bool> differs{false};
    builder region;
    vec<int> in{region.input(abstract_value(dtype::int32, {}))};
    for (int i = 0; i < e.operands.size(); ++i) {
      const int v = e.operands[i];
      const bool differing = n.is_carry(i) ? varies[e.results[i - n.constants]] : varies[v];
      const abstract_value one = body.values[body.inputs[1 + i]];
      operands.push_back(differing ? placed(v) : outer[v]);
      in.push_back(region.input(differing ? one.placed_at(p) : one));
      differs.push_back(differing);
    }
    vec<bool> out_placed;
    member_function inner(region, p, body, axis);
    const vec<int> out = inner.write(in, differs, out_placed);
    for (int i = 0; i < out.size(); ++i)
      region.output(varies[e.results[i]] && !out_placed[i] ? emit::broadcast(region, out[i], p) : out[i]);
    return b.add(prim::scan, operands, e.attrs, one_region(region.take()));
  }
};

/// A map whose body communicates.
constexpr vec<int> map_with_collectives(builder& b, const placement_info* p, const tape& body,
                                        const vec<int>& operands) {
  vec<bool> all_placed;
  member_function f(b, p, body);
  vec<int> out = f.write(operands, vec<bool>(operands.size(), true), all_placed);
  for (int i = 0; i < out.size(); ++i)
    if (!all_placed[i]) out[i] = emit::broadcast(b, out[i], p);
  return out;
}

}  // namespace detail
}  // namespace drx
