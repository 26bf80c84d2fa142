// drx/plan/staging/stages.hpp: cuts a program at its reductions. A stage is all that is done for each member of a
// placement before the next reductions: independent maps over one placement, and maps of maps, join one body, so that
// each member is visited once and a value that is only reduced is never stored. The result is a tape again, whose
// entries are unplaced ones and `stage`s: the plan, from which the executor, the exporters and the cost report start.
#pragma once

#include <drx/plan/staging/blocks.hpp>
#include <drx/plan/staging/kept_values.hpp>
#include <drx/plan/staging/shared_work.hpp>
#include <drx/transform/program.hpp>

namespace drx::plan {

constexpr bool is_reduction(const primitive* p) { return p->fold != fold::none; }
/// The number of members of its placement that an entry gives.
constexpr std::optional<std::int64_t> members_said_by(const tape& t, const entry& e) {
  return e.prim->members ? e.prim->members(t, e) : std::nullopt;
}
/// Whether an entry is on the placed side, which stages take over. (Loops and branches around placed values stay around
/// stages.)
constexpr bool is_placed_entry(const tape& t, const entry& e) {
  if (e.prim->share || is_reduction(e.prim)) return true;
  return e.results.size() > 0 && t.values[e.results[0]].depth > 0 && e.regions.empty();
}

/// What a tape that is cut into stages stands in.
struct stage_surroundings {
  bool nested = false;               // it is in the body of a stage
  int first_carry = 0, carries = 0;  // which of its inputs a loop carries
};
/// t with its placed entries gathered into stages, in regions too. What is done to the body of a stage before it is cut
/// into stages in its turn, and copied for blocks of members, is `of_body`.
constexpr tape in_stages(const tape& t, tape (*of_body)(tape), const stage_surroundings& around = {});

/// Writes the stages of one tape.
class stage_writer {
 public:
  constexpr stage_writer(const tape& source, tape (*prepared_body)(tape), const stage_surroundings& surroundings)
      : t(source),
        of_body(prepared_body),
        where(surroundings),
        level(source.values.size(), 0),
        defining(source.values.size(), -1) {
    for (int i = 0; i < t.entries.size(); ++i)
      for (int r : t.entries[i].results) defining[r] = i;
  }

  constexpr tape run() {
    int last = 0;
    for (const entry& e : t.entries) {  // a value's level: the number of stages before it
      int l = 0;
      for (int o : e.operands) {
        const int before = level[o] + (!is_placed_entry(t, e) &&
                                       made_by_stages(o));  // a loop waits for the values that it needs whole
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
    if (!where.nested && last > 0) add_kept(collect);
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
      // First come unplaced entries that need no reduction of this level, then the collected values that they may need,
      // in order.
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
    for (int o : around.outputs()) b.output(o);
    return without_dead_entries(b.take());
  }

 private:
  const tape& t;
  tape (*of_body)(tape);
  stage_surroundings where;
  vec<int> level, defining;
  vec<vec<int>> unplaced_at,
      staged_at;  // by level: the entries that are written there, and those that its stages compute
  builder b;
  rewriter around{b, t, inputs_like(b, t)};  // writes the entries around stages

  [[nodiscard]] constexpr bool is_by_members(const entry& e) const {
    return is_placed_entry(t, e) && !is_reduction(e.prim);
  }
  /// Whether v is placed and computed member by member (and not the result of a loop, or an input).
  constexpr bool made_by_stages(int v) const {
    return t.values[v].depth > 0 && defining[v] >= 0 && is_by_members(t.entries[defining[v]]);
  }

  /// Also collects the values that are kept for stages of later levels.
  constexpr void add_kept(vec<bool>& collect) const {
    levels_of_tape of{.t = t,
                      .level = level,
                      .defining = defining,
                      .by_members = {},
                      .reduces = {},
                      .first_carry = where.first_carry,
                      .carries = where.carries};
    for (const entry& e : t.entries) {
      of.reduces.push_back(is_reduction(e.prim));
      of.by_members.push_back(is_by_members(e));
    }
    kept_values(of, collect).add();
  }
  /// Those of the regions of e.
  [[nodiscard]] constexpr stage_surroundings surroundings_in(const entry& e) const {
    stage_surroundings inside{.nested = where.nested};
    if (e.prim == &prim::scan) {
      const prim::rules::scan::view loop(e);
      inside.first_carry = 1 + loop.constants;
      inside.carries = loop.carries;
    }
    return inside;
  }

  constexpr void write_unplaced(int l) {
    for (int at : unplaced_at[l]) {
      const entry& e = t.entries[at];
      if (around.names[e.results[0]] >= 0 || around.operands(e).find(-1) >= 0) continue;
      tapes regions;
      for (const tape& r : e.regions) regions.push_back(in_stages(r, of_body, surroundings_in(e)));
      around.name(e, around.copied(e, regions));
    }
  }

  /// The body of a stage, written as its values are requested.
  struct body_writer {
    stage_writer& s;
    const placement_info* p;
    builder body;
    vec<int> element;            // by value of t: the member's share on `body`, or -1
    vec<int> placed, placed_in;  // operands of the stage (values of t), and the body's inputs for them
    vec<int> unplaced, unplaced_in;
    int index;

    constexpr body_writer(stage_writer& writer, const placement_info* at)
        : s(writer), p(at), element(writer.t.values.size(), -1), index(body.input(abstract_value(dtype::int64, {}))) {}

    constexpr int share(int v) {
      if (element[v] >= 0) return element[v];
      if (s.around.names[v] >= 0) {  // an input of the program, or collected before
        placed.push_back(v);
        placed_in.push_back(body.input(s.t.values[v].of_member()));
        return element[v] = placed_in.back();
      }
      const entry& e = s.t.entries[s.defining[v]];
      if (!e.prim->share) throw "drx: a placed value is made by a primitive that has no rule share";
      site of_member(*this, e);
      const vec<int> shares = e.prim->share(of_member);
      for (int i = 0; i < shares.size(); ++i) element[e.results[i]] = shares[i];
      return element[v];
    }
    struct site final : share_site {
      body_writer& w;
      constexpr site(body_writer& all, const entry& of) : share_site(all.body, of, all.index), w(all) {}
      constexpr int share(int i) override { return w.share(e.operands[i]); }
      constexpr int common(int i) override { return w.uniform(e.operands[i]); }
    };
    constexpr int uniform(int v) {
      const int known = unplaced.find(v);
      if (known >= 0) return unplaced_in[known];
      double number = 0;
      if (emit::is_constant(s.b, s.around.names[v], number)) return emit::constant(body, s.t.values[v], number);
      unplaced.push_back(v);
      unplaced_in.push_back(body.input(s.t.values[v]));
      return unplaced_in.back();
    }
  };

  /// One more result of a stage, folded as a reduction of members says; of reduce_with by the next of so many monoids.
  static constexpr void add_fold(prim::rules::stage::writer& s, const entry& e, int monoids) {
    const fold f = e.prim->fold;
    if (f == fold::gather)
      s.add(f, prim::rules::gather::view(e).members);
    else if (f == fold::shards)
      s.add(f, prim::rules::shard_gather::view(e).shard_count);
    else if (f == fold::shard_sum)
      s.add(f, prim::rules::shard_sum::view(e).shards);
    else if (f == fold::transpose)
      s.add(f, prim::rules::member_transpose::view(e).members);
    else if (f == fold::permute)
      s.add_permuted(prim::rules::member_permute::view(e).sources);
    else if (f == fold::monoid)
      s.add(f, monoids);
    else
      s.add(f);
  }
  constexpr void write_stage(int l, const placement_info* p, const vec<bool>& collect) {
    body_writer w(*this, p);
    prim::rules::stage::writer s;
    for (const entry& e : t.entries)
      if (const auto members = members_said_by(t, e); members && e.attrs.placement == p) s.members = members;
    vec<int> outputs, results;  // elements on the body; the values of t that are the stage's results
    tapes monoids;
    bool between_members = false;
    for (int at : staged_at[l]) {
      const entry& e = t.entries[at];
      if (is_reduction(e.prim) && e.attrs.placement == p && level[e.results[0]] == l + 1) {
        for (int i = 0; i < e.operands.size(); ++i) {
          outputs.push_back(w.share(e.operands[i]));
          results.push_back(e.results[i]);
          add_fold(s, e, monoids.size() / 2);
        }
        between_members = between_members || t.values[e.results[0]].depth > 0;
        if (e.prim->fold == fold::monoid) monoids.append({e.regions[0], e.regions[1]});
      }
      for (int r : e.results)
        if (collect[r] && level[r] == l && t.values[r].depth > 0 && t.values[r].placements[0] == p &&
            around.names[r] < 0) {
          outputs.push_back(w.share(r));
          results.push_back(r);
          s.add(fold::collect);
        }
    }
    tape body = w.body.result();
    body.outputs = outputs;
    body.inputs = {w.index};
    body.inputs.append(w.placed_in);
    body.inputs.append(w.unplaced_in);
    vec<int> operands = renamed(w.placed, around.names), unplaced = renamed(w.unplaced, around.names);
    body = of_body(without_dead_entries(body));
    body = with_shared_work_in_front(b, std::move(body), 1 + w.placed.size(), unplaced);
    operands.append(unplaced);
    tapes regions{in_stages(body, of_body, {.nested = true})};
    if (suits_blocks(body, w.placed.size(), monoids.empty() && !between_members)) {
      const std::int64_t most = std::min(p->most_members, s.members.value_or(p->most_members));
      const attributes without_blocks = s.make(p, w.placed.size());
      const bool many = !where.nested && may_fill_blocks(prim::rules::stage::large_leaf, most, where.nested);
      const prim::rules::stage::view alone(without_blocks);
      const vec<std::int64_t> sizes = block_sizes(body, alone, many);
      s.group = members_in_group(body, alone, sizes, most);
      for (const std::int64_t n : sizes)  // (a group does what a block of its size would do)
        if (may_fill_blocks(n, most, where.nested) && (n != s.group || sizes.size() == 1)) s.block_sizes.push_back(n);
      const attributes a = s.make(p, w.placed.size());
      for (auto size : s.block_sizes) regions.push_back(block_body(body, prim::rules::stage::view(a), size));
      if (s.group > 0) regions.push_back(block_body(body, prim::rules::stage::view(a), s.group, false));
    }
    regions.append(monoids);
    const vec<int> r = b.add(prim::stage, operands, s.make(p, w.placed.size()), regions);
    for (int i = 0; i < r.size(); ++i) around.names[results[i]] = r[i];
  }
};

constexpr tape in_stages(const tape& t, tape (*of_body)(tape), const stage_surroundings& around) {
  return stage_writer(t, of_body, around).run();
}

}  // namespace drx::plan
