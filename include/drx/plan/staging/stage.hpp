// drx/plan/staging/stage.hpp: the entry that is a stage: the body that each member of a placement computes, and how its
// results are folded.
// Tested by tests/unit/plan/stages.cpp.
#pragma once

#include <drx/transform/differentiate.hpp>

namespace drx {

/// The use of one result of a stage's body.
enum class fold : std::int8_t { sum, mean, max, min, collect, monoid, gather, group, permute, transpose, shard_sum };

namespace prim::rules {
/// placement; number: the number of its members, if the program gives it, else 0; ints: {placed operands, block
/// sizes..., number of results, then for each result of the body its fold and the number of its monoid, of the members
/// gathered, of all or of a shard group, or the place in ints of its list of sources; then such lists: the number of
/// members, and each one's source}. Operands: the placed ones, then unplaced ones. Regions: {body, a body for a block
/// of each size, then (combine, identity) of each monoid}; the body sees (index, the member's share of the placed
/// operands, the unplaced operands). A body for a block computes as many members at once: its shares have a leading
/// axis, and its results are folded over it already. (Size 0: no such body.)
struct stage {
  static constexpr int blocks = 2;          // the number of block sizes
  static constexpr std::int64_t leaf = 32;  // members of a tree leaf, if members go in blocks
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
    std::vector<tensor> collected = of_members(v);
    for (int i = 0; i < static_cast<int>(v.out.size()); ++i) {
      tensor &from = collected[static_cast<std::size_t>(i)], &to = v.out[static_cast<std::size_t>(i)];
      switch (fold_of(a, i)) {
        case fold::collect: to = std::move(from); break;
        case fold::gather: gather::join(from, to); break;
        case fold::group: group_gather::join(from, monoid_of(a, i), to); break;
        case fold::permute: member_permute::apply(from.members, sources(a, i), to); break;
        case fold::transpose: member_transpose::apply(from.members, monoid_of(a, i), to); break;
        case fold::shard_sum: shard_sum::apply(from, monoid_of(a, i), to); break;
        case fold::monoid:
          if (i == 0 || fold_of(a, i - 1) != fold::monoid || monoid_of(a, i - 1) != monoid_of(a, i)) reduce(v, i, collected);
          break;
        default: reduce(v, i, collected);
      }
    }
  }
  /// The results of each member, by result.
  static std::vector<tensor> of_members(evaluation& v) {
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
    return collected;
  }
  /// Folds result i, and the further ones of its monoid, by the primitive that it came from.
  static void reduce(evaluation& v, int i, const std::vector<tensor>& collected) {
    const attributes& a = v.e.attrs;
    const auto at = static_cast<std::size_t>(i);
    entry single;
    std::size_t count = 1;
    if (fold_of(a, i) == fold::monoid) {
      const int at_monoid = 1 + block_bodies(a) + 2 * monoid_of(a, i);
      single.regions = {v.e.regions[at_monoid], v.e.regions[at_monoid + 1]};
      count = static_cast<std::size_t>(single.regions[1].outputs.size());
    }
    nested inner(single, v);
    for (std::size_t k = at; k < at + count; ++k) {
      inner.in.push_back(&collected[k]);
      inner.out.emplace_back(v.out[k].type);
    }
    switch (fold_of(a, i)) {
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
                                 .evaluate = rules::stage::evaluate};
}

}  // namespace drx
