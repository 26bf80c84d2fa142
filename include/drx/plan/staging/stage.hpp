// drx/plan/staging/stage.hpp: the entry that is a stage: the body that each member of a placement computes, and how its
// results are folded.
// Tested by tests/unit/plan/stages.cpp.
#pragma once

#include <drx/transform/differentiate.hpp>

#include <algorithm>
#include <optional>

namespace drx {

namespace prim::rules {
/// placement. Operands: the placed ones, then unplaced ones. Regions: {body, a body for a block of each size, perhaps
/// one for a group, then (combine, identity) of each monoid}; the body sees (index, the member's share of the placed
/// operands, the unplaced operands). A body for a block does as many members at once: its shares have a leading axis,
/// its results are folded over it already. The body for a group takes the place of the body for one member: it does up
/// to so many at once, whose indices have a leading axis too; its results have one, and are not folded.
struct stage {
  static constexpr int blocks = 3;  // how many block sizes there are
  // Members of a leaf of the tree, where members go in blocks; and where they are so small that a block of 32 is a few
  // vectors, for whose chains a processor waits. Fewer members at the top have smaller leaves (members_in_block).
  static constexpr std::int64_t leaf = 32, large_leaf = 128;

  /// The attributes. Each result of the body has a fold, and some folds a number besides, which is read by its name.
  class view {
   public:
    int placed;                           // operands
    int results;                          // of the body
    std::optional<std::int64_t> members;  // their number, if the program gives it

    constexpr explicit view(int_list a) : placed(a.number(at_placed)), results(a.number(at_results)), ints(a) {
      if (a[at_members] != unsaid) members = a[at_members];
    }
    /// The number of bodies for blocks, which are the regions from 1 on.
    [[nodiscard]] constexpr int block_bodies() const {
      int n = 0;
      while (n < blocks && ints[at_blocks + n] != 0) ++n;
      return n;
    }
    /// The number of members that a body computes at once: 1 in region 0, a block in the next ones; 0 without such a
    /// body.
    [[nodiscard]] constexpr std::int64_t members_of_body(int region) const {
      return region == 0 ? 1 : region <= blocks ? ints[at_blocks + region - 1] : 0;
    }

    /// The members of a group, which are computed side by side where they fill no block; 0 if each is alone there.
    [[nodiscard]] constexpr std::int64_t group() const { return ints[at_group]; }
    /// The region of its body.
    [[nodiscard]] constexpr int group_body() const { return 1 + block_bodies(); }
    /// The number of regions that compute members: one, blocks, a group.
    [[nodiscard]] constexpr int bodies() const { return 1 + block_bodies() + (group() > 0 ? 1 : 0); }

    /// The members of a leaf of the tree, if there are many.
    [[nodiscard]] constexpr std::int64_t members_of_leaf() const {
      return block_bodies() == 0 ? 1 : std::max(leaf, ints[at_blocks]);
    }

    [[nodiscard]] constexpr fold fold_of(int result) const { return static_cast<fold>(ints[header + 2 * result]); }
    /// For fold::monoid: the number of the stage's monoid that folds the result. Neighbouring results that have the
    /// same are folded together.
    [[nodiscard]] constexpr int monoid(int result) const { return static_cast<int>(number_of(result)); }
    /// Whether a result is the first one that its monoid folds.
    [[nodiscard]] constexpr bool begins_monoid(int result) const {
      return fold_of(result) == fold::monoid &&
             (result == 0 || fold_of(result - 1) != fold::monoid || monoid(result - 1) != monoid(result));
    }
    /// The regions of the monoid: its combine, its identity.
    [[nodiscard]] constexpr int combine_region(int result) const { return bodies() + 2 * monoid(result); }
    [[nodiscard]] constexpr int identity_region(int result) const { return combine_region(result) + 1; }
    /// For fold::gather: the number of members whose values are stacked.
    [[nodiscard]] constexpr std::int64_t gathered_members(int result) const { return number_of(result); }
    /// For fold::shards: the number of neighbouring members (the shards of one) whose values are stacked.
    [[nodiscard]] constexpr std::int64_t shard_count(int result) const { return number_of(result); }
    /// For fold::shard_sum: the number of shards of each member; shards with the same number are added up.
    [[nodiscard]] constexpr std::int64_t shards(int result) const { return number_of(result); }
    /// For fold::transpose: the number of members that exchange rows.
    [[nodiscard]] constexpr std::int64_t exchanged_members(int result) const { return number_of(result); }
    /// For fold::permute: by member, the one whose value it receives, or permute::nobody.
    [[nodiscard]] constexpr int_list sources(int result) const {
      const int at = static_cast<int>(number_of(result));
      return ints.part(at + 1, ints.number(at));
    }
    /// The number of members that a fold requires; none if it takes any number.
    [[nodiscard]] constexpr std::optional<std::int64_t> members_of_fold(int result) const {
      const fold f = fold_of(result);
      if (f == fold::gather || f == fold::transpose) return number_of(result);
      if (f == fold::permute) return sources(result).size();
      return {};
    }

   private:
    [[nodiscard]] constexpr std::int64_t number_of(int result) const { return ints[header + 2 * result + 1]; }
    int_list ints;
  };

  /// The attributes of a stage, written result by result.
  class writer {
   public:
    vec<std::int64_t> block_sizes;  // at most `blocks`
    std::int64_t group = 0;
    std::optional<std::int64_t> members;

    /// One more result. What else its fold says: a number; the next monoid is number `monoids`.
    constexpr void add(fold f, std::int64_t number = 0) { folds_.append({static_cast<std::int64_t>(f), number}); }
    constexpr void add_permuted(int_list sources) {
      folds_.append({static_cast<std::int64_t>(fold::permute), lists_.size()});
      lists_.push_back(sources.size());
      lists_.append(sources);
    }
    [[nodiscard]] constexpr attributes make(const placement_info* p, int placed) const {
      attributes a;
      a.placement = p;
      a.ints = vec<std::int64_t>(header, 0);
      a.ints[at_placed] = placed;
      for (int k = 0; k < block_sizes.size(); ++k) a.ints[at_blocks + k] = block_sizes[k];
      a.ints[at_members] = members.value_or(unsaid);
      a.ints[at_group] = group;
      a.ints[at_results] = folds_.size() / 2;
      for (int i = 0; i < folds_.size(); i += 2) {
        const bool permutes = folds_[i] == static_cast<std::int64_t>(fold::permute);
        a.ints.append({folds_[i], folds_[i + 1] + (permutes ? header + folds_.size() : 0)});
      }
      a.ints.append(lists_);
      return a;
    }

   private:
    vec<std::int64_t>
        folds_;  // of each result its fold and a number, which of fold::permute is where in lists_ its list begins
    vec<std::int64_t> lists_;  // of each list its length, then its sources
  };

  // ints: {placed operands, block sizes..., members, group, results, of each result its fold and a number, lists of
  // sources}
  static constexpr int at_placed = 0, at_blocks = 1, at_members = at_blocks + blocks, at_group = at_members + 1,
                       at_results = at_group + 1, header = at_results + 1;
  static constexpr std::int64_t unsaid = -1;

  static constexpr vec<abstract_value> type(const typing& t) {
    const tape& body = t.regions[0];
    const view stage(t.attrs);
    typing::require(body.inputs.size() == t.operands.size() + 1,
                    "stage: the body's inputs are not the operands' number");
    for (int i = 0; i < t.operands.size(); ++i)
      typing::require((i < stage.placed ? t.operands[i].of_member() : t.operands[i]) == body.values[body.inputs[i + 1]],
                      "stage: an operand is of another type");
    vec<abstract_value> r;
    for (int i = 0; i < body.outputs.size(); ++i) {
      const abstract_value& v = body.values[body.outputs[i]];
      switch (stage.fold_of(i)) {
        case fold::shard_sum:
        case fold::permute:
        case fold::transpose:
        case fold::collect: r.push_back(v.placed_at(t.attrs.placement)); break;
        case fold::gather: r.push_back(v.with_shape(with_front(v.shape, stage.gathered_members(i)))); break;
        case fold::shards:
          r.push_back(v.with_shape(with_front(v.shape, stage.shard_count(i))).placed_at(t.attrs.placement));
          break;
        default: r.push_back(v);
      }
    }
    return r;
  }
  static std::string print(const attributes& a) {
    constexpr const char* names[] = {"sum",    "mean",   "max",     "min",       "collect",  "monoid",
                                     "gather", "shards", "permute", "transpose", "shard_sum"};
    const view stage(a);
    std::string s(a.placement->name);
    for (int i = 0; i < stage.results; ++i)
      s += std::string(i ? " " : ": ") + names[static_cast<int>(stage.fold_of(i))];
    for (int i = 0; i < stage.block_bodies(); ++i)
      s += (i ? ", " : "; blocks of ") + std::to_string(stage.members_of_body(1 + i));
    if (stage.group() > 0) s += "; groups of " + std::to_string(stage.group());
    if (stage.members) s += "; " + std::to_string(*stage.members) + " members";
    return s;
  }
  static constexpr std::optional<std::int64_t> members(const tape&, const entry& e) { return view(e).members; }
  static void evaluate(evaluation& v) {
    const view stage(v.e);
    std::vector<tensor> collected = of_members(v);
    for (int i = 0; i < static_cast<int>(v.out.size()); ++i) {
      tensor &from = collected[static_cast<std::size_t>(i)], &to = v.out[static_cast<std::size_t>(i)];
      switch (stage.fold_of(i)) {
        case fold::collect: to = std::move(from); break;
        case fold::gather: gather::join(from, to); break;
        case fold::shards: shard_gather::join(from, stage.shard_count(i), to); break;
        case fold::permute: member_permute::apply(from.members, stage.sources(i), to); break;
        case fold::transpose: member_transpose::apply(from.members, stage.exchanged_members(i), to); break;
        case fold::shard_sum: shard_sum::apply(from, stage.shards(i), to); break;
        case fold::monoid:
          if (stage.begins_monoid(i)) reduce(v, i, collected);
          break;
        default: reduce(v, i, collected);
      }
    }
  }
  /// The results of each member, by result.
  static std::vector<tensor> of_members(evaluation& v) {
    const view stage(v.e);
    const placement_info* p = v.e.attrs.placement;
    const std::int64_t n = v.members(p);
    std::vector<tensor> collected(v.out.size());
    for (std::size_t i = 0; i < v.out.size(); ++i) {
      const abstract_value& t = v.out[i].type;
      const fold f = stage.fold_of(static_cast<int>(i));
      const abstract_value one = f == fold::gather || f == fold::shards ? t.with_shape(without_axis(t.shape, 0)) : t;
      collected[i] = tensor(one.depth > 0 ? one : one.placed_at(p));
    }
    for (std::int64_t m = 0; m < n; ++m) {
      tensor index(abstract_value(dtype::int64, {}));
      index.data<std::int64_t>()[0] = m;
      std::vector<tensor> inputs{index};
      for (std::size_t i = 0; i < v.in.size(); ++i)
        inputs.push_back(static_cast<int>(i) < stage.placed ? v.in[i]->members.at(static_cast<std::size_t>(m))
                                                            : *v.in[i]);
      std::vector<tensor> outputs = v.run_member(v.e.regions[0], std::move(inputs), m);
      for (std::size_t i = 0; i < outputs.size(); ++i) collected[i].members.push_back(std::move(outputs[i]));
    }
    return collected;
  }
  /// Folds result i, and the further ones of its monoid, by the primitive that it came from.
  static void reduce(evaluation& v, int i, const std::vector<tensor>& collected) {
    const view stage(v.e);
    const auto at = static_cast<std::size_t>(i);
    entry single;
    std::size_t count = 1;
    if (stage.fold_of(i) == fold::monoid) {
      single.regions = {v.e.regions[stage.combine_region(i)], v.e.regions[stage.identity_region(i)]};
      count = static_cast<std::size_t>(single.regions[1].outputs.size());
    }
    nested inner(single, v);
    for (std::size_t k = at; k < at + count; ++k) {
      inner.in.push_back(&collected[k]);
      inner.out.emplace_back(v.out[k].type);
    }
    switch (stage.fold_of(i)) {
      case fold::sum: reduce_sum::evaluate(inner); break;
      case fold::mean: reduce_mean::evaluate(inner); break;
      case fold::max: reduce_extremum<true>::evaluate(inner); break;
      case fold::min: reduce_extremum<false>::evaluate(inner); break;
      default: reduce_with::evaluate(inner);
    }
    for (std::size_t k = 0; k < count; ++k) v.out[at + k] = std::move(inner.out[k]);
  }
  struct nested final : evaluation {  // another entry in the same interpreter
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
                                 .evaluate = rules::stage::evaluate,
                                 .members = rules::stage::members};
}

}  // namespace drx
