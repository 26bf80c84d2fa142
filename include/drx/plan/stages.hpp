// drx/plan/stages.hpp: cuts a program at its reductions. A stage is everything that is done for each member of a
// placement before the next reductions: independent maps over one placement, and maps of maps, join one body, so that
// each member is visited once and what is only reduced is never stored. The result is a tape again, whose entries are
// unplaced ones and `stage`s: the plan, from which the executor, the exporters and the cost report start.
#pragma once

#include <drx/plan/lanes.hpp>
#include <drx/plan/loops.hpp>
#include <drx/plan/outer_products.hpp>
#include <drx/plan/partitioner.hpp>

namespace drx {

/// What becomes of one result of a stage's body.
enum class fold : std::int8_t { sum, mean, max, min, collect, monoid, gather, group, permute, transpose, shard_sum };

namespace prim::rules {
/// placement; number: how many members it has, where the program says so, else 0; ints: {placed operands, block sizes...,
/// how many results, then for each result of the body its fold and the number of its monoid, of the members
/// gathered, of all or of a group, or where in ints its list of sources is; then such lists: how many members, and each one's source}. Operands: the placed ones, then unplaced ones. Regions: {body, a body for a block of each size, then
/// (combine, identity) of each monoid}; the body sees (index, the member's share of the placed operands, the unplaced
/// operands). A body for a block does as many members at once: its shares have a leading axis, its results are folded
/// over it already. (Size 0: no such body.)
struct stage {
  static constexpr int blocks = 2;          // how many block sizes there are
  static constexpr std::int64_t leaf = 32;  // members of a leaf of the tree, where members go in blocks
  static constexpr int header = 2 + blocks;
  static constexpr int results(const attributes& a) { return static_cast<int>(a.ints[header - 1]); }
  static constexpr int placed(const attributes& a) { return static_cast<int>(a.ints[0]); }
  static constexpr fold fold_of(const attributes& a, int result) { return static_cast<fold>(a.ints[header + 2 * result]); }
  static constexpr int monoid_of(const attributes& a, int result) { return static_cast<int>(a.ints[header + 1 + 2 * result]); }
  static constexpr vec<std::int64_t> sources(const attributes& a, int result) {
    vec<std::int64_t> r;
    const int at = monoid_of(a, result);
    for (int i = 0; i < a.ints[at]; ++i) r.push_back(a.ints[at + 1 + i]);
    return r;
  }
  static constexpr int block_bodies(const attributes& a) { return (a.ints[1] != 0) + (a.ints[2] != 0); }

  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& body = t.regions[0];
    typing::require(body.inputs.size() == t.operands.size() + 1, "stage: the body's inputs are not the operands' number");
    for (int i = 0; i < t.operands.size(); ++i)
      typing::require((i < placed(t.attrs) ? t.operands[i].of_member() : t.operands[i]) == body.values[body.inputs[i + 1]],
                      "stage: an operand is of another type");
    vec<abstract_value> r;
    for (int i = 0; i < body.outputs.size(); ++i) {
      const abstract_value& v = body.values[body.outputs[i]];
      switch (fold_of(t.attrs, i)) {
        case fold::shard_sum:
        case fold::permute:
        case fold::transpose:
        case fold::collect: r.push_back(v.placed_at(t.attrs.placement)); break;
        case fold::gather: r.push_back(v.with_shape(with_front(v.shape, monoid_of(t.attrs, i)))); break;
        case fold::group: r.push_back(v.with_shape(with_front(v.shape, monoid_of(t.attrs, i))).placed_at(t.attrs.placement)); break;
        default: r.push_back(v);
      }
    }
    return r;
  }
  static std::string print(const attributes& a) {
    constexpr const char* names[] = {"sum", "mean", "max", "min", "collect", "monoid", "gather", "group", "permute", "transpose", "shard_sum"};
    std::string s(a.placement->name);
    for (int i = 0; i < results(a); ++i) s += std::string(i ? " " : ": ") + names[static_cast<int>(fold_of(a, i))];
    for (int i = 0; i < block_bodies(a); ++i) s += (i ? ", " : "; blocks of ") + std::to_string(a.ints[1 + i]);
    if (a.number >= 0) s += "; " + std::to_string(static_cast<std::int64_t>(a.number)) + " members";
    return s;
  }
  static void evaluate(evaluation& v) {
    const attributes& a = v.e.attrs;
    const std::int64_t n = v.members(a.placement);
    std::vector<tensor> collected(v.out.size());
    for (std::size_t i = 0; i < v.out.size(); ++i) {
      const abstract_value& t = v.out[i].type;
      const fold f = fold_of(a, static_cast<int>(i));
      const abstract_value one = f == fold::gather || f == fold::group ? t.with_shape(without_axis(t.shape, 0)) : t;
      collected[i] = tensor(one.depth > 0 ? one : one.placed_at(a.placement));
    }
    for (std::int64_t m = 0; m < n; ++m) {
      tensor index(abstract_value(dtype::int64, {}));
      index.data<std::int64_t>()[0] = m;
      std::vector<tensor> inputs{index};
      for (std::size_t i = 0; i < v.in.size(); ++i)
        inputs.push_back(static_cast<int>(i) < placed(a) ? v.in[i]->members.at(static_cast<std::size_t>(m)) : *v.in[i]);
      std::vector<tensor> outputs = v.run_member(v.e.regions[0], std::move(inputs), m);
      for (std::size_t i = 0; i < outputs.size(); ++i) collected[i].members.push_back(std::move(outputs[i]));
    }
    // Each result by the primitive that it came from.
    for (int i = 0; i < static_cast<int>(v.out.size()); ++i) {
      const fold f = fold_of(a, i);
      const auto at = static_cast<std::size_t>(i);
      if (f == fold::collect) {
        v.out[at] = std::move(collected[at]);
        continue;
      }
      if (f == fold::gather) {
        gather::join(collected[at], v.out[at]);
        continue;
      }
      if (f == fold::permute) {
        member_permute::apply(collected[at].members, sources(a, i), v.out[at]);
        continue;
      }
      if (f == fold::transpose) {
        member_transpose::apply(collected[at].members, monoid_of(a, i), v.out[at]);
        continue;
      }
      if (f == fold::shard_sum) {
        shard_sum::apply(collected[at], monoid_of(a, i), v.out[at]);
        continue;
      }
      if (f == fold::group) {
        group_gather::join(collected[at], monoid_of(a, i), v.out[at]);
        continue;
      }
      if (f == fold::monoid && i > 0 && fold_of(a, i - 1) == f && monoid_of(a, i - 1) == monoid_of(a, i)) continue;
      entry single;
      std::vector<tensor> out;
      int count = 1;
      if (f == fold::monoid) {
        const int at_monoid = 1 + block_bodies(a) + 2 * monoid_of(a, i);
        single.regions = {v.e.regions[at_monoid], v.e.regions[at_monoid + 1]};
        count = single.regions[1].outputs.size();
      }
      nested inner(single, v);
      for (int k = 0; k < count; ++k) {
        inner.in.push_back(&collected[at + static_cast<std::size_t>(k)]);
        inner.out.emplace_back(v.out[at + static_cast<std::size_t>(k)].type);
      }
      switch (f) {
        case fold::sum: reduce_sum::evaluate(inner); break;
        case fold::mean: reduce_mean::evaluate(inner); break;
        case fold::max: reduce_extremum<true>::evaluate(inner); break;
        case fold::min: reduce_extremum<false>::evaluate(inner); break;
        default: reduce_with::evaluate(inner);
      }
      for (int k = 0; k < count; ++k) v.out[at + static_cast<std::size_t>(k)] = std::move(inner.out[static_cast<std::size_t>(k)]);
    }
  }
  struct nested final : evaluation {  // another entry under the same interpreter
    evaluation& outer;
    nested(const entry& of, evaluation& o) : evaluation(of), outer(o) {}
    std::vector<tensor> run(const tape& r, std::vector<tensor> i) override { return outer.run(r, std::move(i)); }
    std::vector<tensor> run_member(const tape& r, std::vector<tensor> i, std::int64_t m) override {
      return outer.run_member(r, std::move(i), m);
    }
    std::int64_t members(const placement_info* p) override { return outer.members(p); }
  };
};
}  // namespace prim::rules

namespace prim {
inline constexpr primitive stage{.name = "stage",
                                 .type = rules::stage::type,
                                 .print = rules::stage::print,
                                 .evaluate = rules::stage::evaluate};
}

namespace plan {

constexpr bool is_reduction(const primitive* p) {
  return p == &prim::reduce_sum || p == &prim::reduce_mean || p == &prim::reduce_max || p == &prim::reduce_min ||
         p == &prim::reduce_with || p == &prim::gather || p == &prim::group_gather || p == &prim::shard_sum || prim::is_exchange(p);
}
/// How many members its placement has according to an entry; -1 where it does not say.
constexpr std::int64_t members_said_by(const tape& t, const entry& e) {
  if (e.prim == &prim::distribute) return t.values[e.operands[0]].shape[0];
  if (e.prim == &prim::gather || e.prim == &prim::member_transpose) return e.attrs.ints[0];
  if (e.prim == &prim::member_permute) return e.attrs.ints.size();
  if (e.prim == &prim::stage && e.attrs.number >= 0) return static_cast<std::int64_t>(e.attrs.number);
  return -1;
}
constexpr fold fold_of(const primitive* p) {
  return p == &prim::reduce_sum    ? fold::sum
         : p == &prim::reduce_mean ? fold::mean
         : p == &prim::reduce_max  ? fold::max
         : p == &prim::reduce_min  ? fold::min
         : p == &prim::gather      ? fold::gather
         : p == &prim::group_gather ? fold::group
         : p == &prim::shard_sum ? fold::shard_sum
         : p == &prim::member_permute ? fold::permute
         : p == &prim::member_transpose ? fold::transpose
                                        : fold::monoid;
}
/// Whether an entry belongs to the placed side, which stages take over.
constexpr bool is_placed_entry(const tape& t, const entry& e) {
  return e.prim == &prim::map || e.prim == &prim::broadcast || e.prim == &prim::member_index || is_reduction(e.prim) ||
         (e.results.size() > 0 && t.values[e.results[0]].depth > 0 && e.prim != &prim::scan && e.prim != &prim::cond && e.prim != &prim::stage);
}

constexpr tape staged(const tape& t);
constexpr bool suits_blocks(const tape& body, int placed, bool foldable);
constexpr vec<std::int64_t> block_sizes(const tape& body, int placed);
constexpr tape block_body(const tape& body, const attributes& a, std::int64_t n);

/// Writes the stages of one tape.
class stage_writer {
 public:
  constexpr explicit stage_writer(const tape& source)
      : t(source), level(source.values.size(), 0), names(source.values.size(), -1), defining(source.values.size(), -1) {
    for (int i = 0; i < t.entries.size(); ++i)
      for (int r : t.entries[i].results) defining[r] = i;
  }

  constexpr tape run() {
    for (int i : t.inputs) names[i] = b.input(t.values[i]);
    int last = 0;
    for (const entry& e : t.entries) {  // a value's level: how many stages stand before it
      int l = 0;
      for (int o : e.operands) {
        const int before = level[o] + (!is_placed_entry(t, e) && made_by_stages(o));  // a loop waits for what it needs whole
        l = before > l ? before : l;
      }
      if (is_reduction(e.prim)) ++l;
      for (int r : e.results) level[r] = l;
      last = l > last ? l : last;
    }
    vec<bool> collect(t.values.size(), false);  // placed values that are needed whole
    for (const entry& e : t.entries)
      if (!is_placed_entry(t, e))
        for (int o : e.operands) collect[o] = collect[o] || made_by_stages(o);
    for (int o : t.outputs) collect[o] = collect[o] || made_by_stages(o);
    unplaced_at = vec<vec<int>>(last + 1);
    staged_at = vec<vec<int>>(last + 1);
    for (int i = 0; i < t.entries.size(); ++i) {
      const entry& e = t.entries[i];
      const int l = level[e.results[0]];
      if (!is_placed_entry(t, e)) unplaced_at[l].push_back(i);
      if (is_reduction(e.prim)) staged_at[l - 1].push_back(i);
      bool collects = false;
      for (int r : e.results) collects = collects || collect[r];
      if (collects) staged_at[l].push_back(i);
    }
    for (int l = 0; l <= last; ++l) {
      // What is not placed and needs no reduction of this level, then the collected values it may need, in order.
      write_unplaced(l);
      vec<const placement_info*> done;
      for (int i : staged_at[l]) {
        const entry& e = t.entries[i];
        const bool reduces = is_reduction(e.prim) && level[e.results[0]] == l + 1;
        const placement_info* p = reduces ? e.attrs.placement : t.values[e.results[0]].placements[0];
        if (done.find(p) >= 0) continue;
        done.push_back(p);
        write_stage(l, p, collect);
      }
    }
    for (int o : t.outputs) b.output(names[o]);
    return without_dead_entries(b.result());
  }

 private:
  const tape& t;
  vec<int> level, names, defining;
  vec<vec<int>> unplaced_at, staged_at;  // by level: the entries that are written there, and those that its stages compute
  builder b;

  /// Whether v is placed and computed member by member (and not the result of a loop, or an input).
  constexpr bool made_by_stages(int v) const {
    if (t.values[v].depth == 0 || defining[v] < 0) return false;
    const entry& e = t.entries[defining[v]];
    return is_placed_entry(t, e) && !is_reduction(e.prim);
  }

  constexpr void write_unplaced(int l) {
    for (int at : unplaced_at[l]) {
      const entry& e = t.entries[at];
      if (names[e.results[0]] >= 0) continue;
      bool ready = true;
      for (int o : e.operands) ready = ready && names[o] >= 0;
      if (!ready) continue;
      vec<tape> regions;
      for (const tape& r : e.regions) regions.push_back(staged(r));
      const vec<int> results = b.add(*e.prim, renamed(e.operands, names), e.attrs, regions);
      for (int i = 0; i < results.size(); ++i) names[e.results[i]] = results[i];
    }
  }

  /// The body of a stage, written as what it needs is asked for.
  struct body_writer {
    stage_writer& s;
    const placement_info* p;
    builder body;
    vec<int> element;            // by value of t: the member's share on `body`, or -1
    vec<int> placed, placed_in;  // operands of the stage (values of t), and the body's inputs for them
    vec<int> unplaced, unplaced_in;
    int index;

    constexpr body_writer(stage_writer& writer, const placement_info* at)
        : s(writer), p(at), body(&writer.b), element(writer.t.values.size(), -1), index(body.input(abstract_value(dtype::int64, {}))) {}

    constexpr int share(int v) {
      if (element[v] >= 0) return element[v];
      if (s.names[v] >= 0) {  // an input of the program, or collected before
        placed.push_back(v);
        placed_in.push_back(body.input(s.t.values[v].of_member()));
        return element[v] = placed_in.back();
      }
      const entry& e = s.t.entries[s.defining[v]];
      if (e.prim == &prim::broadcast) return element[v] = uniform(e.operands[0]);
      if (e.prim == &prim::member_index) return element[v] = index;
      if (e.prim == &prim::distribute) return element[v] = slice_of(uniform(e.operands[0]));
      if (e.prim != &prim::map) throw "drx: a placed value is made by a primitive that stages do not know";
      vec<int> inputs;
      for (int o : e.operands) inputs.push_back(share(o));
      const vec<int> outputs = inline_tape(body, e.regions[0], inputs);
      for (int i = 0; i < outputs.size(); ++i) element[e.results[i]] = outputs[i];
      return element[v];
    }
    constexpr int slice_of(int x) {  // the member's slice along axis 0
      if (body.shape(x)[0] == 0) return emit::constant(body, body.type(x).with_shape(without_axis(body.shape(x), 0)), 0);  // of no member
      const int at = emit::reshape(body, index, make_shape(1));
      return emit::reshape(body, emit::dynamic_slice(body, x, at, {1}, 0), without_axis(body.shape(x), 0));
    }
    constexpr int uniform(int v) {
      const int known = unplaced.find(v);
      if (known >= 0) return unplaced_in[known];
      double number = 0;
      if (emit::is_constant(s.b, s.names[v], number)) return emit::constant(body, s.t.values[v], number);
      unplaced.push_back(v);
      unplaced_in.push_back(body.input(s.t.values[v]));
      return unplaced_in.back();
    }
  };

  static constexpr std::int64_t number_of(const entry& e, int monoids, int listed) {
    if (e.prim == &prim::gather || e.prim == &prim::group_gather || e.prim == &prim::shard_sum || e.prim == &prim::member_transpose) return e.attrs.ints[0];
    return e.prim == &prim::member_permute ? listed : monoids;
  }
  constexpr void write_stage(int l, const placement_info* p, const vec<bool>& collect) {
    body_writer w(*this, p);
    attributes a;
    a.placement = p;
    a.ints = vec<std::int64_t>(prim::rules::stage::header, 0);
    a.number = -1;  // of members: nobody says
    for (const entry& e : t.entries)
      if (e.attrs.placement == p && members_said_by(t, e) >= 0) a.number = static_cast<double>(members_said_by(t, e));
    vec<int> outputs, results;  // elements on the body; the values of t that the stage's results are
    vec<tape> monoids;
    vec<std::int64_t> lists;
    bool between_members = false;
    for (int at : staged_at[l]) {
      const entry& e = t.entries[at];
      if (is_reduction(e.prim) && e.attrs.placement == p && level[e.results[0]] == l + 1) {
        for (int i = 0; i < e.operands.size(); ++i) {
          outputs.push_back(w.share(e.operands[i]));
          results.push_back(e.results[i]);
          a.ints.push_back(static_cast<std::int64_t>(fold_of(e.prim)));
          a.ints.push_back(number_of(e, monoids.size() / 2, lists.size()));
        }
        between_members = between_members || t.values[e.results[0]].depth > 0;
        if (e.prim == &prim::member_permute) {
          lists.push_back(e.attrs.ints.size());
          lists.append(e.attrs.ints);
        }
        if (e.prim == &prim::reduce_with) monoids.append({e.regions[0], e.regions[1]});
      }
      for (int r : e.results)
        if (collect[r] && level[r] == l && t.values[r].depth > 0 && t.values[r].placements[0] == p && names[r] < 0) {
          outputs.push_back(w.share(r));
          results.push_back(r);
          a.ints.push_back(static_cast<std::int64_t>(fold::collect));
          a.ints.push_back(0);
        }
    }
    tape body = w.body.result();
    body.outputs = outputs;
    body.inputs = {w.index};
    body.inputs.append(w.placed_in);
    body.inputs.append(w.unplaced_in);
    vec<int> operands = renamed(w.placed, names);
    operands.append(renamed(w.unplaced, names));
    body = without_dead_entries(body);
    a.ints[0] = w.placed.size();
    a.ints[prim::rules::stage::header - 1] = outputs.size();
    for (int i = 0; i < outputs.size(); ++i)
      if (prim::rules::stage::fold_of(a, i) == fold::permute) a.ints[prim::rules::stage::header + 1 + 2 * i] += prim::rules::stage::header + 2 * outputs.size();
    a.ints.append(lists);
    vec<tape> regions{staged(body)};
    if (suits_blocks(body, w.placed.size(), monoids.empty() && !between_members)) {
      const vec<std::int64_t> sizes = block_sizes(body, w.placed.size());
      for (int i = 0; i < sizes.size(); ++i) {
        a.ints[1 + i] = sizes[i];
        regions.push_back(block_body(body, a, sizes[i]));
      }
    }
    regions.append(monoids);
    const vec<int> r = b.add(prim::stage, operands, a, regions);
    for (int i = 0; i < r.size(); ++i) names[results[i]] = r[i];
  }
};

/// Whether all that a body computes can be done for several members at once, and is better so: its products are of vectors, which become
/// products of matrices, or of small matrices, which leave vector units idle.
constexpr bool can_batch_small(const tape& body) {
  for (const entry& e : body.entries) {
    if (!e.prim->batch || e.prim == &prim::members) return false;
    for (const tape& region : e.regions)
      if (!can_batch_small(region)) return false;
    for (int o : e.operands)
      if (body.values[o].depth > 0) return false;
    if (e.prim == &prim::matmul) {
      const shape x = body.values[e.operands[0]].shape, y = body.values[e.operands[1]].shape;
      const bool of_vectors = x[0] == 1 || x[1] == 1 || y[0] == 1 || y[1] == 1, small = x.size() <= 64 && y.size() <= 64;
      if (x.rank != 2 || !(of_vectors || small)) return false;
    }
  }
  return true;
}

constexpr bool has_loops(const tape& body) {
  for (const entry& e : body.entries)
    if (!e.regions.empty()) return true;
  return false;
}
constexpr int entries_in_all(const tape& body) {
  int n = body.entries.size();
  for (const entry& e : body.entries)
    for (const tape& region : e.regions) n += entries_in_all(region);
  return n;
}
/// The bytes of what a member's loops write step by step.
constexpr std::int64_t bytes_of_steps(const tape& body) {
  std::int64_t n = 0;
  for (const entry& e : body.entries)
    if (e.prim == &prim::scan)
      for (int i = static_cast<int>(e.attrs.ints[3]); i < e.results.size(); ++i) {
        const abstract_value& stacked = body.values[e.results[i]];
        n += stacked.shape.size() * byte_size(stacked.type);
      }
  return n;
}

/// Whether members are small enough to be done in blocks: their shares are short and their products are of vectors, so
/// that a block makes products of matrices of them.
constexpr bool suits_blocks(const tape& body, int placed, bool foldable) {
  if (!foldable || (placed == 0 && !has_loops(body))) return false;
  for (int i = 1; i <= placed; ++i) {
    const abstract_value& share = body.values[body.inputs[i]];
    if (share.depth > 0 || share.shape.size() > 1024) return false;
  }
  return can_batch_small(body);
}

/// The sizes of the blocks that a leaf is done in. Where products only are of vectors, a member is read once for its dot products and
/// once for what is added up; then longer members go in blocks of 8, which the first cache still holds the second time. What loops keep of
/// their steps is to stay in the second cache. Of long bodies there is one block only: each body is compiled.
constexpr vec<std::int64_t> block_sizes(const tape& body, int placed) {
  std::int64_t bytes = 0;
  for (int i = 1; i <= placed; ++i) {
    const abstract_value& share = body.values[body.inputs[i]];
    bytes += share.shape.size() * byte_size(share.type);
  }
  bool products = false, of_vectors = true;
  for (const entry& e : body.entries) {
    if (e.prim != &prim::matmul) continue;
    const shape x = body.values[e.operands[0]].shape, y = body.values[e.operands[1]].shape;
    products = true;
    of_vectors = of_vectors && (x.size() == 1 || y.size() == 1 || body.values[e.results[0]].shape.size() == 1);
  }
  if (products && of_vectors && bytes >= 256) return {8};
  constexpr std::int64_t leaf = prim::rules::stage::leaf, cache = 1 << 19;
  const std::int64_t kept = bytes_of_steps(body);
  if (kept * 8 > cache) return {};
  if (kept * leaf > cache) return {8};
  if (has_loops(body) && entries_in_all(body) > 100) return {leaf};
  return {leaf, 8};
}

/// t with what does not depend on its first `batched` inputs in front, so that it does not cut groups of what does.
constexpr tape with_constants_first(tape t, int batched) {
  vec<bool> depends(t.values.size(), false);
  for (int i = 0; i < batched; ++i) depends[t.inputs[i]] = true;
  vec<entry> first, then;
  for (const entry& e : t.entries) {
    bool varies = !e.regions.empty();
    for (int o : e.operands) varies = varies || depends[o];
    for (int r : e.results) depends[r] = varies;
    (varies ? then : first).push_back(e);
  }
  first.append(then);
  t.entries = first;
  return t;
}

/// Whether members do better in lanes than along a first axis: what they compute has small matrices or windows of its own, or loops.
constexpr bool suits_lanes(const tape& body) {
  for (const entry& e : body.entries) {
    if (e.prim == &prim::convolution || e.prim == &prim::scan) return true;
    if (e.prim != &prim::matmul) continue;
    const shape x = body.values[e.operands[0]].shape, y = body.values[e.operands[1]].shape;
    if (x[0] != 1 && x[1] != 1 && y[0] != 1 && y[1] != 1) return true;
  }
  return false;
}

/// The body for n members at once: batched or in lanes, then folded over them. Its shares come and its results go with members in front.
constexpr tape block_body(const tape& body, const attributes& a, std::int64_t n) {
  const int placed = prim::rules::stage::placed(a);
  const bool lanes = suits_lanes(body);
  builder b;
  const int first = b.input(body.values[body.inputs[0]]);
  const abstract_value numbers(dtype::int64, make_shape(n));
  vec<bool> batched{true};
  vec<int> all{-1};
  for (int i = 1; i < body.inputs.size(); ++i) {
    const abstract_value& one = body.values[body.inputs[i]];
    batched.push_back(i <= placed);
    const int x = b.input(i <= placed ? one.with_shape(with_front(one.shape, n)) : one);
    all.push_back(lanes && i <= placed ? first_axis_last(b, x) : x);
  }
  all[0] = emit::add(b, emit::broadcast_to(b, first, numbers.shape), emit::iota(b, numbers, 0));
  vec<int> out;
  lane_writer w{b, n};
  if (lanes) {
    out = w.write(body, all, batched);
    for (int i = 0; i < out.size(); ++i)
      if (!batched[i]) out[i] = w.spread(out[i]);
  } else {
    out = inline_tape(b, transform::batch(body, batched, n), all);
  }
  for (int i = 0; i < out.size(); ++i) {
    attributes axis;
    axis.ints = {lanes ? b.shape(out[i]).rank - 1 : 0};
    switch (prim::rules::stage::fold_of(a, i)) {
      case fold::collect:
      case fold::gather: b.output(lanes ? last_axis_first(b, out[i]) : out[i]); break;
      case fold::max: b.output(b.add1(prim::max_over, {out[i]}, axis)); break;
      case fold::min: b.output(b.add1(prim::min_over, {out[i]}, axis)); break;
      default: b.output(lanes ? w.sum(out[i]) : emit::sum(b, out[i], axis.ints));
    }
  }
  tape r = with_constants_first(without_dead_entries(b.result()), 1 + placed);
  check(r);
  return r;
}

/// t with its placed entries gathered into stages, in regions too.
constexpr tape staged(const tape& t) {
  const tape source = drx::detail::with_broadcasts_inside(t);
  stage_writer w(source);
  return w.run();
}

/// The plan of a program, as a constant.
template <class Program>
struct staged_program {
  static constexpr tape whole() {
    tape source = Program::tape().thaw();
    if (has_transparent_entries(source)) source = without_transparent_entries(source);
    return source;
  }
  static constexpr tape make() {
    tape source = whole();
    if (has_layouts(source)) source = partitioned(source);
    tape t = staged(source);
    if (has_outer_products(t)) t = outer_products_as_elements(t);
    t = with_invariants_in_front(with_lighter_loops(t));
    check(t);
    return t;
  }
  static constexpr const auto& tape_constant() { return frozen<staged_program>::value; }
  /// Whose members are split, and in how many shards: then each counts as that many members.
  static constexpr mesh_axes mesh = mesh_of(whole());
};

}  // namespace plan
}  // namespace drx
