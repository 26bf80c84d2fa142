// drx/plan/partitioner.hpp: makes of a program whose members have layouts (with_layout) one whose members are shards of those:
// member m of n shards becomes members m n to (m + 1) n - 1. Each computes its part of what is split, and all of what is not.
//
// Layouts are propagated from operands to results; where a rule needs another layout, a whole value is sliced, which costs
// nothing, and a split one is gathered from the shards. An operation without a rule takes its operands whole.
#pragma once

#include <drx/plan/map_joiner.hpp>
#include <drx/plan/mesh.hpp>

namespace drx::plan {

/// Writes one tape for shards: a program's, or that of a loop around maps (then values placed at mesh.members are split), or
/// the body of one member (then its own values are). Around maps an unplaced value is split as well, if it is the sum over
/// members of what is: then each shard holds its part, as a placed value, and it is made whole only where it is needed whole.
class partitioner {
 public:
  static constexpr int whole = -1;

  constexpr partitioner(builder& on, const tape& source, const mesh_axes& axes, bool of_member)
      : b(on),
        t(source),
        mesh(axes),
        member(of_member),
        name(t.values.size(), -1),
        axis(t.values.size(), whole),
        defining(t.values.size(), -1),
        whole_name(t.values.size(), -1) {}

  /// `inputs` on the builder, split along `axes`.
  constexpr void write(const vec<int>& inputs, const vec<int>& axes) {
    for (int i = 0; i < inputs.size(); ++i) set(t.inputs[i], inputs[i], axes[i]);
    for (int i = 0; i < t.entries.size(); ++i) {
      for (int r : t.entries[i].results) defining[r] = i;
      member ? write_of_member(t.entries[i]) : write_around(t.entries[i]);
    }
  }
  /// Along which axis value v of the source is split.
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
  vec<int> whole_name;  // of values that all members have in common, and of which shards hold parts: what they are whole

  constexpr void set(int v, int id, int k) {
    name[v] = id;
    axis[v] = k;
  }
  constexpr bool divides(const shape& s, int k) const { return k >= 0 && k < s.rank && s[k] % mesh.count == 0; }

  // ---- from layout to layout ----

  /// f(builder, value of one member) in the body of a member; of a placed value in a map.
  template <class F>
  constexpr int each(int x, F f) {
    if (member) return f(b, x);
    builder region(&b);
    region.output(f(region, region.input(b.type(x).of_member())));
    return mapped(region.result(), {x})[0];
  }
  /// A map of shards, cut where its body gathers from them.
  constexpr vec<int> mapped(const tape& body, const vec<int>& operands) {
    vec<bool> placed;
    detail::member_function f(b, mesh.members, body, mesh.shards);
    vec<int> out = f.write(operands, vec<bool>(operands.size(), true), placed);
    for (int i = 0; i < out.size(); ++i)
      if (!placed[i]) out[i] = emit::broadcast(b, out[i], mesh.members);
    return out;
  }
  /// Which shard of its member this is, from 0.
  constexpr int shard(builder& r) const { return shard_of(r, emit::axis_index(r, mesh.members)); }
  constexpr int shard_of(builder& r, int number) const {
    const int n = emit::constant_like(r, number, static_cast<double>(mesh.count));
    return emit::sub(r, number, emit::mul(r, emit::div(r, number, n), n));
  }
  /// Where the part of shard s begins along axis k: one start for each axis up to k.
  constexpr int starts(builder& r, int s, int k, std::int64_t extent) const {
    const int first = emit::reshape(r, emit::mul(r, s, emit::constant_like(r, s, static_cast<double>(extent))), make_shape(1));
    return k == 0 ? first : emit::concatenate(r, {emit::constant(r, r.type(first).with_shape(make_shape(k)), 0), first}, 0);
  }
  constexpr int slice(builder& r, int x, int k) const {
    const shape part = local(r.shape(x), k);
    vec<std::int64_t> sizes;
    for (int i = 0; i <= k; ++i) sizes.push_back(part[i]);
    return emit::dynamic_slice(r, x, starts(r, shard(r), k, part[k]), sizes, 0);
  }
  constexpr int from_shards(builder& r, int x) const {  // [shards, ...]
    attributes a;
    a.placement = mesh.shards;
    a.ints = {mesh.count};
    return r.add1(prim::all_gather, {x}, a);
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
    if (member && defining[v] >= 0) {  // what is made of few numbers is made as a part at once
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

  constexpr void write_of_member(const entry& e) {
    if (e.prim == &prim::with_layout) {
      const int k = e.attrs.placement != mesh.shards || e.attrs.ints[0] != mesh.count ? axis[e.operands[0]] : static_cast<int>(e.attrs.ints[1]);
      set(e.results[0], at(e.operands[0], k), k);
    } else if (e.prim->elementwise || e.prim == &prim::cast) {
      elementwise(e);
    } else if (e.prim == &prim::broadcast_to) {
      const int from = axis[e.operands[0]], k = from == whole ? whole : from + t.values[e.results[0]].shape.rank - t.values[e.operands[0]].shape.rank;
      set(e.results[0], emit::broadcast_to(b, name[e.operands[0]], local(t.values[e.results[0]].shape, k)), k);
    } else if (e.prim == &prim::reshape) {
      const int k = reshaped_axis(t.values[e.operands[0]].shape, t.values[e.results[0]].shape, axis[e.operands[0]]);
      const int x = k == whole ? at(e.operands[0], whole) : name[e.operands[0]];
      set(e.results[0], emit::reshape(b, x, local(t.values[e.results[0]].shape, k)), k);
    } else if (e.prim == &prim::transpose) {
      const int from = axis[e.operands[0]];
      set(e.results[0], emit::transpose(b, name[e.operands[0]], e.attrs.ints), from == whole ? whole : e.attrs.ints.find(from));
    } else if (e.prim == &prim::sum || e.prim == &prim::max_over || e.prim == &prim::min_over || e.prim == &prim::prod) {
      over_axes(e);
    } else if (e.prim == &prim::matmul) {
      product(e);
    } else if (e.prim == &prim::scan && e.attrs.ints[4] == 0) {
      loop(e);
    } else if (!stays_split(e)) {
      add_whole(e);
    }
  }
  /// What keeps apart the elements along an axis stays split along it.
  constexpr bool stays_split(const entry& e) {
    int k = whole, first = -1;
    for (int o : e.operands)
      if (first < 0 && axis[o] != whole) {
        first = o;
        k = axis[o];
      }
    if (k == whole) return false;
    attributes a = e.attrs;
    const shape& s = t.values[first].shape;
    const int r = s.rank;
    if (e.prim == &prim::slice || e.prim == &prim::pad) {
      const bool cut = e.prim == &prim::slice;  // {starts, stops, strides} or {low, high, interior}
      if (a.ints[k] != 0 || a.ints[r + k] != (cut ? s[k] : 0) || a.ints[2 * r + k] != (cut ? 1 : 0)) return false;
      if (cut) a.ints[r + k] /= mesh.count;
    } else if (e.prim == &prim::flip) {
      if (a.ints.find(k) >= 0) return false;
    } else if (e.prim == &prim::concatenate || e.prim == &prim::cumsum || e.prim == &prim::cumprod || e.prim == &prim::recurrence) {
      if (a.ints[0] == k) return false;
    } else if (e.prim == &prim::dynamic_slice || e.prim == &prim::update_slice) {
      if (k >= a.ints[0]) return false;
    } else if (e.prim == &prim::take || e.prim == &prim::scatter) {
      if (k >= a.ints[1]) return false;
    } else if (e.prim == &prim::cholesky || e.prim == &prim::triangular_solve || e.prim == &prim::lu_factors || e.prim == &prim::lu_solve ||
               e.prim == &prim::determinant || e.prim == &prim::cofactors) {
      if (k >= r - 2) return false;
    } else {
      return false;
    }
    vec<int> operands;
    for (int o : e.operands) {
      const shape& other = t.values[o].shape;
      const bool along = k < other.rank && other[k] == s[k];
      if (!along && k < other.rank && other[k] != 1) return false;
      operands.push_back(at(o, along ? k : whole));
    }
    const vec<int> results = b.add(*e.prim, operands, a);
    for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], k);
    return true;
  }
  constexpr void add_whole(const entry& e) {
    vec<int> operands;
    for (int o : e.operands) operands.push_back(at(o, whole));
    const vec<int> results = b.add(*e.prim, operands, e.attrs, e.regions);
    for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], whole);
  }
  constexpr void elementwise(const entry& e) {
    int k = whole;
    for (int o : e.operands) k = k == whole ? axis[o] : k;
    vec<int> operands;
    for (int o : e.operands) operands.push_back(at(o, k));
    set(e.results[0], b.add1(*e.prim, operands, e.attrs), k);
  }
  /// Which axis of `to` is split if axis k of `from` is: one that begins at the same place.
  constexpr int reshaped_axis(const shape& from, const shape& to, int k) const {
    if (k == whole) return whole;
    std::int64_t before = 1, at_axis = 1;
    for (int i = 0; i < k; ++i) before *= from[i];
    for (int i = 0; i < to.rank; at_axis *= to[i++])
      if (at_axis == before && to[i] > 1 && divides(to, i)) return i;
    return whole;
  }
  constexpr void over_axes(const entry& e) {
    const int x = e.operands[0], k = axis[x];
    const int part = b.add1(*e.prim, {name[x]}, e.attrs);
    if (k == whole || e.attrs.ints.find(k) < 0) {
      int left = k;  // axes in front of it are gone
      for (auto a : e.attrs.ints) left -= k != whole && a < k;
      set(e.results[0], part, left);
      return;
    }
    attributes over_shards;
    over_shards.ints = {0};
    set(e.results[0], b.add1(*e.prim, {from_shards(b, part)}, over_shards), whole);
  }
  constexpr void product(const entry& e) {
    const bool tx = e.attrs.ints[0] != 0, ty = e.attrs.ints[1] != 0;
    const int x = e.operands[0], y = e.operands[1], r = t.values[x].shape.rank;
    const int rows = tx ? r - 1 : r - 2, inner_x = tx ? r - 2 : r - 1, inner_y = ty ? r - 1 : r - 2, columns = ty ? r - 2 : r - 1;
    const auto multiply = [&](int ax, int ay) { return emit::matmul(b, at(x, ax), at(y, ay), tx, ty); };
    if (axis[x] == inner_x || axis[y] == inner_y) {  // a sum over shards
      set(e.results[0], emit::sum(b, from_shards(b, multiply(inner_x, inner_y)), {0}), whole);
    } else if ((axis[x] != whole && axis[x] < r - 2) || (axis[y] != whole && axis[y] < r - 2)) {
      const int k = axis[x] != whole && axis[x] < r - 2 ? axis[x] : axis[y];
      set(e.results[0], multiply(k, k), k);
    } else if (axis[x] == rows) {
      set(e.results[0], multiply(rows, whole), r - 2);
    } else if (axis[y] == columns) {
      set(e.results[0], multiply(whole, columns), r - 1);
    } else {
      set(e.results[0], multiply(whole, whole), whole);
    }
  }

  // ---- loops and branches ----

  /// A carry is split if a step makes it so. Slices of xs are split as these are, but for the axis that is stepped along.
  constexpr void loop(const entry& e) {
    const tape& body = e.regions[0];
    const prim::rules::scan::parts n(e.attrs, e.operands.size(), e.results.size());
    vec<int> in;
    for (int i = 0; i < e.operands.size(); ++i) {
      const bool stepped = i >= n.constants + n.carries;
      in.push_back(stepped && (axis[e.operands[i]] == 0 || is_common(e.operands[i])) ? whole : axis[e.operands[i]]);
    }
    tape step;
    vec<int> out;
    for (bool grown = true; grown;) {
      grown = false;
      builder region(&b);
      vec<int> ids, axes;
      for (int i = 0; i < body.inputs.size(); ++i) {
        const bool stepped = i > n.constants + n.carries;
        axes.push_back(i == 0 || in[i - 1] == whole ? whole : in[i - 1] - stepped);
        const abstract_value& v = body.values[body.inputs[i]];
        ids.push_back(region.input(local(v, axes[i])));
      }
      partitioner inner(region, body, mesh, member);
      inner.write(ids, axes);
      for (int i = 0; i < n.carries; ++i) {
        const int after = inner.axis[body.outputs[i]];
        if (in[n.constants + i] == whole && after != whole && n.length > 0) {
          in[n.constants + i] = after;
          grown = true;
        }
      }
      if (grown) continue;
      out = in;
      vec<int> results;
      for (int i = 0; i < body.outputs.size(); ++i) {
        const int v = body.outputs[i], k = i < n.carries ? in[n.constants + i] : inner.is_common(v) ? whole : inner.axis[v];
        region.output(inner.at(v, k));
        results.push_back(i < n.carries || k == whole ? k : k + 1);
      }
      out = results;
      step = region.result();
    }
    vec<int> operands;
    for (int i = 0; i < e.operands.size(); ++i) operands.push_back(at(e.operands[i], in[i]));
    const vec<int> results = b.add(prim::scan, operands, e.attrs, vec<tape>{step});
    for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], out[i]);
  }
  /// A branch around maps: what both leave split stays so.
  constexpr void branch(const entry& e) {
    vec<int> operands, out(e.results.size(), whole);
    for (int o : e.operands) operands.push_back(at(o, axis[o]));
    vec<tape> regions;
    for (int pass = 0; pass < 2; ++pass) {  // first for the layouts, then for these
      vec<int> both(e.results.size(), whole);
      regions = vec<tape>();
      for (int k = 0; k < 2; ++k) {
        const tape& body = e.regions[k];
        builder region(&b);
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

  [[nodiscard]] constexpr bool is_split(const entry& e) const { return e.attrs.placement == mesh.members; }

  constexpr void write_around(const entry& e) {
    if (e.prim == &prim::map && is_split(e)) {
      map(e);
    } else if (e.prim == &prim::scan) {
      loop(e);
    } else if (e.prim == &prim::cond) {
      branch(e);
    } else if (e.prim == &prim::member_index && is_split(e)) {
      const int number = b.add1(prim::member_index, {}, e.attrs);
      set(e.results[0], each(number, [this](builder& r, int x) { return emit::div(r, x, emit::constant_like(r, x, static_cast<double>(mesh.count))); }), whole);
    } else if (e.prim == &prim::members && is_split(e)) {
      set(e.results[0], members(static_cast<dtype>(e.attrs.ints[0])), whole);
    } else if (e.prim == &prim::distribute && is_split(e)) {
      const int x = at(e.operands[0], whole);
      shape all = b.shape(x);
      const int repeated = emit::first_axes_exchanged(b, emit::repeated(b, x, mesh.count));
      all[0] *= mesh.count;
      set(e.results[0], emit::distribute(b, emit::reshape(b, repeated, all), mesh.members), whole);
    } else if (e.prim == &prim::gather && is_split(e)) {
      set(e.results[0], gathered_members(e.operands[0], e.attrs.ints[0]), whole);
    } else if (e.prim == &prim::member_permute && is_split(e)) {
      attributes a;
      a.placement = mesh.members;
      for (auto source : e.attrs.ints)
        for (std::int64_t s = 0; s < mesh.count; ++s) a.ints.push_back(source < 0 ? -1 : source * mesh.count + s);
      set(e.results[0], b.add1(prim::member_permute, {name[e.operands[0]]}, a), axis[e.operands[0]]);
    } else if (e.prim == &prim::member_transpose && is_split(e)) {
      const int all = emit::first_axes_exchanged(b, gathered_members(e.operands[0], e.attrs.ints[0]));
      set(e.results[0], emit::map(b, mesh.members, {emit::broadcast(b, all, mesh.members), numbers()}, [this](builder& r, const vec<int>& in) {
            const int member = emit::div(r, in[1], emit::constant_like(r, in[1], static_cast<double>(mesh.count)));
            const int row = emit::dynamic_slice(r, in[0], emit::reshape(r, member, make_shape(1)), {1}, 0);
            return vec<int>{emit::reshape(r, row, without_axis(r.shape(in[0]), 0))};
          })[0], whole);
    } else if (e.prim == &prim::reduce_with && is_split(e)) {
      reduce_with(e);
    } else if (is_sum(e) && is_split(e)) {
      axis[e.results[0]] = axis[e.operands[0]];  // left until somebody needs it, in whichever form
      if (axis[e.operands[0]] == whole) name[e.results[0]] = whole_sum(e);
    } else if (e.prim == &prim::broadcast && is_split(e)) {
      const int v = e.operands[0], k = axis[v];
      set(e.results[0], k == whole ? emit::broadcast(b, name[v], mesh.members) : at(v, k), k);
    } else if (!stays_common(e)) {  // (the largest of shards that have the same is the largest of members)
      add_whole(e);
    }
  }

  // ---- what all members have in common, in parts ----

  constexpr bool is_common(int v) const { return !member && t.values[v].depth == 0 && axis[v] != whole; }
  /// Elementwise operations on parts are left until somebody needs their result, in whichever form.
  constexpr bool stays_common(const entry& e) {
    if (!e.prim->elementwise && e.prim != &prim::cast) return false;
    int k = whole;
    for (int o : e.operands) k = k == whole && is_common(o) ? axis[o] : k;
    if (k == whole) return false;
    axis[e.results[0]] = k;
    return true;
  }
  constexpr int common(int v, int k) {
    if (k == axis[v]) return name[v] >= 0 ? name[v] : name[v] = part_of(v);
    if (whole_name[v] < 0) whole_name[v] = whole_of(v);
    return k == whole ? whole_name[v] : part_of_whole(whole_name[v], k);
  }
  constexpr int part_of_whole(int x, int k) {
    const abstract_value v = b.type(x);
    double number = 0;
    if (emit::is_constant(b, x, number)) return emit::broadcast(b, emit::constant(b, v.with_shape(local(v.shape, k)), number), mesh.members);
    return each(emit::broadcast(b, x, mesh.members), [this, k](builder& r, int one) { return slice(r, one, k); });
  }
  /// The part of each shard, of a sum over members or of an elementwise operation.
  constexpr int part_of(int v) {
    const entry& e = t.entries[defining[v]];
    const int k = axis[v];
    if (!is_sum(e)) {
      vec<int> operands;
      for (int o : e.operands) operands.push_back(at(o, k));
      return emit::map(b, mesh.members, operands, [&](builder& r, const vec<int>& in) { return vec<int>{r.add1(*e.prim, in, e.attrs)}; })[0];
    }
    attributes a;
    a.placement = mesh.members;
    a.ints = {mesh.count};
    const int total = b.add1(prim::shard_sum, {at(e.operands[0], k)}, a);
    if (e.prim == &prim::reduce_sum) return total;
    const int n = emit::broadcast(b, at_least_one_member(t.values[v].type), mesh.members);
    return emit::map(b, mesh.members, {total, n}, [](builder& r, const vec<int>& in) { return vec<int>{emit::div(r, in[0], emit::broadcast_to(r, in[1], r.shape(in[0])))}; })[0];
  }
  constexpr int whole_of(int v) {
    if (defining[v] >= 0) {
      const entry& e = t.entries[defining[v]];
      if (is_sum(e)) return whole_sum(e);
      if (e.prim->elementwise || e.prim == &prim::cast) {
        vec<int> operands;
        for (int o : e.operands) operands.push_back(at(o, whole));
        return b.add1(*e.prim, operands, e.attrs);
      }
    }
    const int k = axis[v];  // parts that came into a loop, or out of one: the first member's
    return sum_of_parts(name[v], t.values[v].shape, k, true);
  }
  static constexpr bool is_sum(const entry& e) { return e.prim == &prim::reduce_sum || e.prim == &prim::reduce_mean; }
  constexpr void map(const entry& e) {
    const tape& body = e.regions[0];
    builder region(&b);
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
  constexpr int members(dtype type) {
    const int all = emit::members(b, mesh.members, dtype::int64);
    return emit::cast(b, emit::div(b, all, emit::constant_like(b, all, static_cast<double>(mesh.count))), type);
  }
  constexpr int numbers() {  // of the shards among all
    attributes a;
    a.placement = mesh.members;
    return b.add1(prim::member_index, {}, a);
  }
  constexpr int is_first(builder& r, int number, const shape& s) const {  // whether this is its member's first shard
    const int k = shard_of(r, number);
    return emit::broadcast_to(r, emit::equal(r, k, emit::constant_like(r, k, 0)), s);
  }
  constexpr int whole_sum(const entry& e) {
    const int v = e.operands[0];
    const int total = sum_of_parts(name[v], t.values[v].shape, axis[v], false);
    if (e.prim == &prim::reduce_sum) return total;
    return emit::div(b, total, emit::broadcast_to(b, at_least_one_member(b.type(total).type), b.shape(total)));
  }
  constexpr int at_least_one_member(dtype type) {
    const int n = members(type);
    return b.add1(prim::maximum, {n, emit::constant_like(b, n, 1)});
  }
  /// The sum over members: each shard has its part in an array of zeros; of what is whole, a member's first one has it.
  /// `first_only`: that of the first member alone.
  constexpr int sum_of_parts(int x, const shape& all, int k, bool first_only) {
    const int parts = emit::map(b, mesh.members, {x, numbers()}, [&](builder& r, const vec<int>& in) {
      const int zeros = emit::constant(r, r.type(in[0]).with_shape(all), 0);
      if (k == whole) return vec<int>{emit::where(r, is_first(r, in[1], all), in[0], zeros)};
      int y = emit::update_slice(r, zeros, in[0], starts(r, shard_of(r, in[1]), k, r.shape(in[0])[k]), 0);
      if (first_only) {
        const int mine = emit::less(r, in[1], emit::constant_like(r, in[1], static_cast<double>(mesh.count)));
        y = emit::where(r, emit::broadcast_to(r, mine, all), y, zeros);
      }
      return vec<int>{y};
    })[0];
    return emit::reduce_sum(b, parts, mesh.members);
  }
  /// But for each member's first shard, all have the monoid's identity.
  constexpr void reduce_with(const entry& e) {
    vec<int> operands;
    for (int o : e.operands) operands.push_back(at(o, whole));
    const int values = operands.size();
    operands.push_back(numbers());
    operands = emit::map(b, mesh.members, operands, [&](builder& r, const vec<int>& in) {
      const vec<int> identity = inline_tape(r, e.regions[1], {});
      vec<int> out;
      for (int i = 0; i < values; ++i) out.push_back(emit::where(r, is_first(r, in[values], r.shape(in[i])), in[i], identity[i]));
      return out;
    });
    const vec<int> results = b.add(prim::reduce_with, operands, e.attrs, e.regions);
    for (int i = 0; i < results.size(); ++i) set(e.results[i], results[i], whole);
  }
  /// [members, ...] from what all shards have: their parts next to each other, or the first one's of what is whole.
  constexpr int gathered_members(int v, std::int64_t n) {
    const int k = axis[v];
    const shape part = b.shape(name[v]), all = with_front(t.values[v].shape, n);
    shape apart = with_front(with_front(part, mesh.count), n);
    int x = emit::reshape(b, emit::gather(b, name[v], n * mesh.count, mesh.members), apart);
    if (k == whole) {
      vec<std::int64_t> start(apart.rank, 0), stop, stride(apart.rank, 1);
      for (int i = 0; i < apart.rank; ++i) stop.push_back(i == 1 ? 1 : apart[i]);
      x = emit::slice(b, x, start, stop, stride);
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
};

/// Along which axis an input of the program is held split: where each use of it is the same layout.
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
          if (use.prim != &prim::with_layout || use.attrs.placement != mesh.shards) return partitioner::whole;
          const int k = static_cast<int>(use.attrs.ints[1]);
          if (!first && k != axis) return partitioner::whole;
          axis = k;
          first = false;
        }
    }
  return t.outputs.find(v) >= 0 ? partitioner::whole : axis;
}

/// The program of shards.
constexpr tape partitioned(const tape& source) {
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
