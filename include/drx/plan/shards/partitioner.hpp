// drx/plan/shards/partitioner.hpp: rewrites a program whose members have layouts (with_layout) as one whose members are
// their shards: member m of n shards becomes members m n to (m + 1) n - 1. Each computes its part of split values, and
// all of the others.
//
// Layouts are propagated from operands to results. If a rule needs another layout, a whole value is sliced, which costs
// nothing, and a split one is gathered from the shards. An operation whose primitive has
// no rule `split` takes its operands whole.
#pragma once

#include <drx/plan/shards/map_joiner.hpp>
#include <drx/plan/shards/mesh.hpp>

namespace drx::plan {

/// Rewrites one tape for shards: a program's, or that of a loop around maps (then values placed at mesh.members are
/// split), or the body of one member (then its own values are). Around maps an unplaced value is split as well, if it
/// is the sum over members of split values: then each shard holds its part, as a placed value, and it is made whole
/// only where it is needed whole.
class partitioner {
 public:
  static constexpr int whole = split_site::whole;
  static constexpr int no_name = -1;  // not written, or made by no entry

  constexpr partitioner(builder& on, const tape& source, const mesh_axes& axes, bool of_member)
      : b(on),
        t(source),
        mesh(axes),
        member(of_member),
        name(t.values.size(), no_name),
        axis(t.values.size(), whole),
        defining(t.values.size(), no_name),
        whole_name(t.values.size(), no_name) {}

  /// `inputs` on the builder, split along `axes`.
  constexpr void write(const vec<int>& inputs, const vec<int>& axes) {
    for (int i = 0; i < inputs.size(); ++i) set(t.inputs[i], inputs[i], axes[i]);
    for (int i = 0; i < t.entries.size(); ++i) {
      for (int r : t.entries[i].results) defining[r] = i;
      member ? write_of_member(t.entries[i]) : write_around(t.entries[i]);
    }
  }
  /// The axis along which value v of the source is split.
  [[nodiscard]] constexpr int split_axis(int v) const { return axis[v]; }
  /// Value v split along k, or whole.
  constexpr int at(int v, int k) {
    if (is_common(v)) return common(v, k);
    if (axis[v] == k) return name[v];
    if (axis[v] == whole) return sliced(v, k);
    const int from = axis[v], x = name[v];
    return each(x, [this, from, k](builder& r, int one) {
      const int all = gathered(r, one, from);
      return k == whole ? all : slice(r, all, k);
    });
  }
  constexpr shape local(shape s, int k) const {
    if (k != whole) s[k] /= mesh.count;
    return s;
  }
  /// The type here of a value of the source that is split along k.
  constexpr abstract_value local(const abstract_value& v, int k) const {
    const abstract_value part = v.with_shape(local(v.shape, k));
    return !member && v.depth == 0 && k != whole ? part.placed_at(mesh.members) : part;
  }

 private:
  builder& b;
  const tape& t;
  const mesh_axes& mesh;
  bool member;
  vec<int> name, axis, defining;
  bool loop_body = false;   // of a member's loop, which gets its shard's number from outside
  int own_shard = no_name;  // then: that input, if it is needed
  vec<int> whole_name;      // by value common to all members, of which shards hold parts: the whole value

  constexpr void set(int v, int id, int k) {
    name[v] = id;
    axis[v] = k;
  }

  // ---- from layout to layout ----

  /// f(builder, value of one member) in the body of a member; for a placed value, in a map.
  template <class F>
  constexpr int each(int x, F f) {
    if (member) return f(b, x);
    builder region;
    region.output(f(region, region.input(b.type(x).of_member())));
    return mapped(region.result(), {x})[0];
  }
  /// A map of shards, cut where its body gathers from the shard group.
  constexpr vec<int> mapped(const tape& body, const vec<int>& operands) {
    vec<bool> placed;
    drx::detail::member_function f(b, mesh.members, body, mesh.shards);
    vec<int> out = f.write(operands, vec<bool>(operands.size(), true), placed);
    for (int i = 0; i < out.size(); ++i)
      if (!placed[i]) out[i] = emit::broadcast(b, out[i], mesh.members);
    return out;
  }
  /// The number of this shard in its member, from 0.
  constexpr int shard(builder& r) {
    if (loop_body) return own_shard != no_name ? own_shard : own_shard = r.input(abstract_value(dtype::int32, {}));
    return shard_of(r, emit::axis_index(r, mesh.members));
  }
  /// The member of a shard's number among all; or the number of members, from that of shards.
  constexpr int member_of(builder& r, int number) const {
    return emit::div(r, number, emit::constant_like(r, number, static_cast<double>(mesh.count)));
  }
  constexpr int shard_of(builder& r, int number) const {
    const int n = emit::constant_like(r, number, static_cast<double>(mesh.count));
    return emit::sub(r, number, emit::mul(r, member_of(r, number), n));
  }
  /// The position where the part of shard s begins along axis k: one start for each axis up to k.
  constexpr int starts(builder& r, int s, int k, std::int64_t extent) const {
    const int first =
        emit::reshape(r, emit::mul(r, s, emit::constant_like(r, s, static_cast<double>(extent))), make_shape(1));
    return k == 0 ? first
                  : emit::concatenate(r, {emit::constant(r, r.type(first).with_shape(make_shape(k)), 0), first}, 0);
  }
  constexpr int slice(builder& r, int x, int k) {
    const shape part = local(r.shape(x), k);
    vec<std::int64_t> sizes;
    for (int i = 0; i <= k; ++i) sizes.push_back(part[i]);
    return emit::dynamic_slice(r, x, starts(r, shard(r), k, part[k]), sizes, 0);
  }
  constexpr int from_shards(builder& r, int x) const {  // [shards, ...]
    return emit::all_gather(r, x, mesh.count, mesh.shards);
  }
  constexpr int gathered(builder& r, int x, int k) const {
    shape all = r.shape(x);
    all[k] *= mesh.count;
    vec<std::int64_t> order;
    for (int i = 0; i < all.rank; ++i) {
      if (i == k) order.push_back(0);
      order.push_back(i + 1);
    }
    return emit::reshape(r, emit::transpose(r, from_shards(r, x), order), all);
  }
  constexpr int sliced(int v, int k) {
    if (member && defining[v] != no_name) {  // a value computed from few numbers is computed as a part at once
      const entry& e = t.entries[defining[v]];
      const shape part = local(t.values[v].shape, k);
      double number = 0;
      if (emit::is_constant(b, name[v], number)) return emit::constant(b, t.values[v].with_shape(part), number);
      if (e.prim == &prim::broadcast_to) {
        const int x = e.operands[0], j = k - (part.rank - t.values[x].shape.rank);
        return emit::broadcast_to(b, at(x, j >= 0 && t.values[x].shape[j] > 1 ? j : whole), part);
      }
    }
    if (!member && t.values[v].depth == 0) return part_of_whole(name[v], k);
    return each(name[v], [this, k](builder& r, int one) { return slice(r, one, k); });
  }

  // ---- one member's values ----
  constexpr void write_of_member(const entry& e);
  struct member_site;
  constexpr void add_whole(const entry& e);

  // ---- loops and branches ----
  constexpr void loop(const entry& e);
  constexpr void branch(const entry& e);

  // ---- around members ----
  [[nodiscard]] constexpr bool is_split(const entry& e) const;
  constexpr void write_around(const entry& e);

  // ---- values common to all members, in parts ----
  constexpr bool is_common(int v) const;
  constexpr bool stays_common(const entry& e);
  constexpr int common(int v, int k);
  constexpr int part_of_whole(int x, int k);
  constexpr int part_of(int v);
  constexpr int whole_of(int v);

  // ---- maps and reductions ----
  static constexpr bool is_sum(const entry& e);
  constexpr void map(const entry& e);
  constexpr int members(dtype type);
  constexpr int numbers();
  constexpr int is_first(builder& r, int number, const shape& s) const;
  constexpr int whole_sum(const entry& e);
  constexpr int at_least_one_member(dtype type);
  constexpr int sum_of_parts(int x, const shape& all, int k, bool first_only);
  constexpr void reduce_with(const entry& e);
  constexpr int gathered_members(int v, std::int64_t n);
};

/// The axis along which an input of the program is held split, if all its uses have the same layout.
constexpr int input_axis(const tape& t, int v, const mesh_axes& mesh) {
  int axis = partitioner::whole;
  bool first = true;
  for (const entry& e : t.entries)
    for (int i = 0; i < e.operands.size(); ++i) {
      if (e.operands[i] != v) continue;
      if (e.prim != &prim::map) return partitioner::whole;
      const tape& body = e.regions[0];
      for (int o : body.outputs)
        if (o == body.inputs[i]) return partitioner::whole;
      for (const entry& use : body.entries)
        for (int o : use.operands) {
          if (o != body.inputs[i]) continue;
          if (use.prim != &prim::with_layout || !is_of_mesh(use, mesh)) return partitioner::whole;
          const int k = prim::rules::with_layout::view(use).axis.value_or(partitioner::whole);
          if (!first && k != axis) return partitioner::whole;
          axis = k;
          first = false;
        }
    }
  return t.outputs.find(v) >= 0 ? partitioner::whole : axis;
}

/// The program rewritten for shards; the source if it has no layouts.
constexpr tape partitioned(tape source) {
  if (!has_layouts(source)) return source;
  const mesh_axes mesh = mesh_of(source);
  if (mesh.count <= 0) return without_layouts(source);
  const tape t = map_joiner(source, mesh.members).run();
  builder b;
  vec<int> ids, axes;
  partitioner p(b, t, mesh, false);
  for (int v : t.inputs) {
    const abstract_value& one = t.values[v];
    const bool split = one.depth == 1 && one.placements[0] == mesh.members;
    axes.push_back(split ? input_axis(t, v, mesh) : partitioner::whole);
    ids.push_back(b.input(one.with_shape(p.local(one.shape, axes[axes.size() - 1]))));
  }
  p.write(ids, axes);
  for (int o : t.outputs) b.output(p.at(o, t.values[o].depth > 0 ? p.split_axis(o) : partitioner::whole));
  return without_dead_entries(without_layouts(b.result()));
}

}  // namespace drx::plan

#include <drx/plan/shards/partition_of_member.hpp>
#include <drx/plan/shards/partition_around_members.hpp>
