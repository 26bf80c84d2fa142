// drx/plan/shards/partition_around_members.hpp: rules for loops and branches, and for the entries around the members:
// maps and reductions (class partitioner).
// Tested by tests/unit/plan/partitioner.cpp.
#pragma once

#include <drx/plan/shards/partitioner.hpp>

namespace drx::plan {

// ---- loops and branches ----

/// A carry is split if a step makes it so. Slices of xs are split as xs is, except along the axis that the loop steps
/// along.
constexpr void partitioner::loop(const entry& e) {
  const tape& body = e.regions[0];
  const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
  vec<int> in;
  for (int i = 0; i < e.operands.size(); ++i) {
    const bool stepped = i >= n.constants + n.carries;
    in.push_back(stepped && (axis[e.operands[i]] == 0 || is_common(e.operands[i])) ? whole : axis[e.operands[i]]);
  }
  tape step;
  vec<int> out;
  bool numbered = false;  // whether a step uses its shard's number
  for (bool grown = true; grown;) {
    grown = false;
    builder region;
    vec<int> ids, axes;
    for (int i = 0; i < body.inputs.size(); ++i) {
      const bool stepped = i > n.constants + n.carries;
      axes.push_back(i == 0 || in[i - 1] == whole ? whole : in[i - 1] - stepped);
      const abstract_value& v = body.values[body.inputs[i]];
      ids.push_back(region.input(local(v, axes[i])));
    }
    partitioner inner(region, body, mesh, member);
    inner.loop_body = member;
    inner.write(ids, axes);
    for (int i = 0; i < n.carries; ++i) {
      const int after = inner.axis[body.outputs[i]];
      if (in[n.constants + i] == whole && after != whole && n.length > 0) {
        in[n.constants + i] = after;
        grown = true;
      }
    }
    if (grown) continue;
    for (int i = 0; i < body.outputs.size(); ++i) {
      const int v = body.outputs[i], k = i < n.carries        ? in[n.constants + i]
                                         : inner.is_common(v) ? whole
                                                              : inner.axis[v];
      region.output(inner.at(v, k));
      out.push_back(i < n.carries || k == whole ? k : k + 1);
    }
    step = region.take();
    numbered = inner.own_shard != no_name;
    if (numbered) {  // the last input, made at its first use: it is the first constant
      step.inputs = {ids[0], inner.own_shard};
      for (int i = 1; i < ids.size(); ++i) step.inputs.push_back(ids[i]);
    }
  }
  vec<int> operands;
  if (numbered) operands.push_back(shard(b));
  for (int i = 0; i < e.operands.size(); ++i) operands.push_back(at(e.operands[i], in[i]));
  prim::rules::scan::view loop = n;
  if (numbered) ++loop.constants;
  const vec<int> results = b.add(prim::scan, operands, loop.make(), one_region(static_cast<tape&&>(step)));
  for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], out[i]);
}
/// A branch around maps: a result that both branches leave split stays so.
constexpr void partitioner::branch(const entry& e) {
  vec<int> operands, out(e.results.size(), whole);
  for (int o : e.operands) operands.push_back(at(o, axis[o]));
  tapes regions;
  for (int pass = 0; pass < 2; ++pass) {  // first for the layouts, then with these
    vec<int> both(e.results.size(), whole);
    regions = tapes();
    for (int k = 0; k < 2; ++k) {
      const tape& body = e.regions[k];
      builder region;
      vec<int> ids, axes;
      for (int i = 0; i < body.inputs.size(); ++i) {
        axes.push_back(axis[e.operands[i + 1]]);
        const abstract_value& v = body.values[body.inputs[i]];
        ids.push_back(region.input(local(v, axes[i])));
      }
      partitioner inner(region, body, mesh, member);
      inner.write(ids, axes);
      for (int i = 0; i < body.outputs.size(); ++i) {
        const int v = body.outputs[i], mine = inner.axis[v];
        both[i] = k == 0 || both[i] == mine ? mine : whole;
        region.output(inner.at(v, pass == 0 ? mine : out[i]));
      }
      regions.push_back(region.result());
    }
    if (pass == 0) out = both;
  }
  const vec<int> results = b.add(prim::cond, operands, {}, regions);
  for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], out[i]);
}

// ---- around members ----

constexpr bool partitioner::is_split(const entry& e) const { return e.attrs.placement == mesh.members; }
constexpr void partitioner::write_around(const entry& e) {
  if (e.prim == &prim::map && is_split(e)) {
    map(e);
  } else if (e.prim == &prim::scan) {
    loop(e);
  } else if (e.prim == &prim::cond) {
    branch(e);
  } else if (e.prim == &prim::member_index && is_split(e)) {
    const int number = b.add1(prim::member_index, {}, e.attrs);
    set(e.results[0], each(number, [this](builder& r, int x) { return member_of(r, x); }), whole);
  } else if (e.prim == &prim::members && is_split(e)) {
    set(e.results[0], members(prim::rules::members::view(e).type), whole);
  } else if (e.prim == &prim::distribute && is_split(e)) {
    const int x = at(e.operands[0], whole);
    shape all = b.shape(x);
    const int repeated = emit::first_axes_exchanged(b, emit::repeated(b, x, mesh.count));
    all[0] *= mesh.count;
    set(e.results[0], emit::distribute(b, emit::reshape(b, repeated, all), mesh.members), whole);
  } else if (e.prim == &prim::gather && is_split(e)) {
    set(e.results[0], gathered_members(e.operands[0], prim::rules::gather::view(e).members), whole);
  } else if (e.prim == &prim::member_permute && is_split(e)) {
    const attributes a =
        prim::rules::permute::of_parts(prim::rules::member_permute::view(e).sources, mesh.count, mesh.members);
    set(e.results[0], b.add1(prim::member_permute, {name[e.operands[0]]}, a), axis[e.operands[0]]);
  } else if (e.prim == &prim::member_transpose && is_split(e)) {
    const int all =
        emit::first_axes_exchanged(b, gathered_members(e.operands[0], prim::rules::member_transpose::view(e).members));
    set(e.results[0],
        emit::map(b, mesh.members, {emit::broadcast(b, all, mesh.members), numbers()},
                  [this](builder& r, const vec<int>& in) {
                    const int row =
                        emit::dynamic_slice(r, in[0], emit::reshape(r, member_of(r, in[1]), make_shape(1)), {1}, 0);
                    return vec<int>{emit::reshape(r, row, without_axis(r.shape(in[0]), 0))};
                  })[0],
        whole);
  } else if (e.prim == &prim::reduce_with && is_split(e)) {
    reduce_with(e);
  } else if (is_sum(e) && is_split(e)) {
    axis[e.results[0]] = axis[e.operands[0]];  // left until it is needed, in whichever form
    if (axis[e.operands[0]] == whole) name[e.results[0]] = whole_sum(e);
  } else if (e.prim == &prim::broadcast && is_split(e)) {
    const int v = e.operands[0], k = axis[v];
    set(e.results[0], k == whole ? emit::broadcast(b, name[v], mesh.members) : at(v, k), k);
  } else if (!stays_common(e)) {  // (the largest over shards that have the same value is the largest over members)
    add_whole(e);
  }
}

// ---- values common to all members, in parts ----

constexpr bool partitioner::is_common(int v) const { return !member && t.values[v].depth == 0 && axis[v] != whole; }
/// Elementwise operations on parts are left until their result is needed, in whichever form.
constexpr bool partitioner::stays_common(const entry& e) {
  if (!e.prim->pointwise) return false;
  int k = whole;
  for (int o : e.operands) k = k == whole && is_common(o) ? axis[o] : k;
  if (k == whole) return false;
  axis[e.results[0]] = k;
  return true;
}
constexpr int partitioner::common(int v, int k) {
  if (k == axis[v]) return name[v] != no_name ? name[v] : name[v] = part_of(v);
  if (whole_name[v] == no_name) whole_name[v] = whole_of(v);
  return k == whole ? whole_name[v] : part_of_whole(whole_name[v], k);
}
constexpr int partitioner::part_of_whole(int x, int k) {
  const abstract_value v = b.type(x);
  double number = 0;
  if (emit::is_constant(b, x, number))
    return emit::broadcast(b, emit::constant(b, v.with_shape(local(v.shape, k)), number), mesh.members);
  return each(emit::broadcast(b, x, mesh.members), [this, k](builder& r, int one) { return slice(r, one, k); });
}
/// Each shard's part of a sum over members or of an elementwise operation.
constexpr int partitioner::part_of(int v) {
  const entry& e = t.entries[defining[v]];
  const int k = axis[v];
  if (!is_sum(e)) {
    vec<int> operands;
    for (int o : e.operands) operands.push_back(at(o, k));
    return emit::map(b, mesh.members, operands,
                     [&](builder& r, const vec<int>& in) { return vec<int>{r.add1(*e.prim, in, e.attrs)}; })[0];
  }
  const int total = emit::shard_sum(b, at(e.operands[0], k), mesh.count, mesh.members);
  if (e.prim != &prim::reduce_mean) return total;
  const int n = emit::broadcast(b, at_least_one_member(t.values[v].type), mesh.members);
  return emit::map(b, mesh.members, {total, n}, [](builder& r, const vec<int>& in) {
    return vec<int>{emit::div(r, in[0], emit::broadcast_to(r, in[1], r.shape(in[0])))};
  })[0];
}
constexpr int partitioner::whole_of(int v) {
  if (defining[v] != no_name) {
    const entry& e = t.entries[defining[v]];
    if (is_sum(e)) return whole_sum(e);
    if (e.prim->pointwise) {
      vec<int> operands;
      for (int o : e.operands) operands.push_back(at(o, whole));
      return b.add1(*e.prim, operands, e.attrs);
    }
  }
  const int k = axis[v];  // parts that a loop carried: the first member's
  return sum_of_parts(name[v], t.values[v].shape, k, true);
}

// ---- maps and reductions ----

constexpr bool partitioner::is_sum(const entry& e) {
  return e.prim == &prim::reduce_sum || e.prim == &prim::reduce_mean || e.prim == &prim::sum_of_halves;
}
constexpr void partitioner::map(const entry& e) {
  const tape& body = e.regions[0];
  builder region;
  vec<int> ids, axes, operands;
  for (int i = 0; i < e.operands.size(); ++i) {
    const abstract_value& v = body.values[body.inputs[i]];
    axes.push_back(axis[e.operands[i]]);
    ids.push_back(region.input(v.with_shape(local(v.shape, axes[i]))));
    operands.push_back(name[e.operands[i]]);
  }
  partitioner inner(region, body, mesh, true);
  inner.write(ids, axes);
  for (int o : body.outputs) region.output(inner.name[o]);
  const vec<int> out = mapped(region.result(), operands);
  for (int i = 0; i < out.size(); ++i) set(e.results[i], out[i], inner.axis[body.outputs[i]]);
}
constexpr int partitioner::members(dtype type) { return prim::rules::members::of_whole_members(b, mesh, type); }
constexpr int partitioner::numbers() {  // the number of each shard among all
  attributes a;
  a.placement = mesh.members;
  return b.add1(prim::member_index, {}, a);
}
constexpr int partitioner::is_first(builder& r, int number,
                                    const shape& s) const {  // whether this is its member's first shard
  const int k = shard_of(r, number);
  return emit::broadcast_to(r, emit::equal(r, k, emit::constant_like(r, k, 0)), s);
}
constexpr int partitioner::whole_sum(const entry& e) {
  const int v = e.operands[0];
  const int total = sum_of_parts(name[v], t.values[v].shape, axis[v], false);
  if (e.prim != &prim::reduce_mean) return total;
  return emit::div(b, total, emit::broadcast_to(b, at_least_one_member(b.type(total).type), b.shape(total)));
}
constexpr int partitioner::at_least_one_member(dtype type) {
  const int n = members(type);
  return b.add1(prim::maximum, {n, emit::constant_like(b, n, 1)});
}
/// The sum over members: each shard has its part in an array of zeros; of a whole value, only a member's first shard
/// has it. `first_only`: the value of the first member alone.
constexpr int partitioner::sum_of_parts(int x, const shape& all, int k, bool first_only) {
  const bool holds = b.type(x).type == dtype::boolean;  // (as numbers: there is no sum of bools)
  const int parts = emit::map(b, mesh.members, {x, numbers()}, [&](builder& r, const vec<int>& in) {
    const int mine = holds ? emit::cast(r, in[0], dtype::int32) : in[0];
    const int zeros = emit::constant(r, r.type(mine).with_shape(all), 0);
    if (k == whole) return vec<int>{emit::where(r, is_first(r, in[1], all), mine, zeros)};
    int y = emit::update_slice(r, zeros, mine, starts(r, shard_of(r, in[1]), k, r.shape(mine)[k]), 0);
    if (first_only) {
      const int of_first = emit::less(r, in[1], emit::constant_like(r, in[1], static_cast<double>(mesh.count)));
      y = emit::where(r, emit::broadcast_to(r, of_first, all), y, zeros);
    }
    return vec<int>{y};
  })[0];
  const int total = emit::reduce_sum(b, parts, mesh.members);
  return holds ? emit::cast(b, total, dtype::boolean) : total;
}
/// All shards but each member's first have the monoid's identity.
constexpr void partitioner::reduce_with(const entry& e) {
  vec<int> operands;
  for (int o : e.operands) operands.push_back(at(o, whole));
  const int values = operands.size();
  operands.push_back(numbers());
  operands = emit::map(b, mesh.members, operands, [&](builder& r, const vec<int>& in) {
    const vec<int> identity = inline_tape(r, e.regions[1], {});
    vec<int> out;
    for (int i = 0; i < values; ++i)
      out.push_back(emit::where(r, is_first(r, in[values], r.shape(in[i])), in[i], identity[i]));
    return out;
  });
  const vec<int> results = b.add(prim::reduce_with, operands, e.attrs, e.regions);
  for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], whole);
}
/// [members, ...] from the values of all shards: their parts next to each other, or for a whole value the first
/// shard's.
constexpr int partitioner::gathered_members(int v, std::int64_t n) {
  const int k = axis[v];
  const shape part = b.shape(name[v]), all = with_front(t.values[v].shape, n);
  shape apart = with_front(with_front(part, mesh.count), n);
  int x = emit::reshape(b, emit::gather(b, name[v], n * mesh.count, mesh.members), apart);
  if (k == whole) {
    x = emit::part_of_axis(b, x, 1, 0, 1);
  } else {
    vec<std::int64_t> order{0};
    for (int i = 0; i < part.rank; ++i) {
      if (i == k) order.push_back(1);
      order.push_back(i + 2);
    }
    x = emit::transpose(b, x, order);
  }
  return emit::reshape(b, x, all);
}

}  // namespace drx::plan
