// drx/engines/plan_json.hpp: the plan of a program as a JSON document, for engines outside the job.
// docs/plan.schema.json is its schema.
#pragma once

#include <drx/engines/form.hpp>
#include <drx/generate/values.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#if defined(DRX_NATIVE_TRACING)
#include <drx/core/native_tracing.hpp>
#endif

namespace drx {

namespace engines {

/// The version of the document; another number means that an older reader must refuse it.
inline constexpr int plan_version = 1;

namespace detail {

using nlohmann::ordered_json;

/// What a plan is written from: the tape after all passes, and which argument each input belongs to.
struct plan_source {
  tape plan;
  mesh_axes mesh;
  std::vector<int> leaves;  // by argument
};

/// Writes the document of one plan.
class plan_writer {
 public:
  explicit plan_writer(const plan_source& source)
      : source_(source), frozen_(source.plan), view_(frozen_.view()), cost_(view_) {}

  ordered_json document() {
    ordered_json d;
    d["drx_plan"] = plan_version;
    d["inputs"] = inputs();
    d["outputs"] = ordered_json::array();
    for (int v : source_.plan.outputs) d["outputs"].push_back(value(source_.plan.values[v]));
    d["placements"] = ordered_json::array();
    for (const placement_info* p : placements()) {
      ordered_json x;
      x["name"] = p->name;
      x["most_members"] =
          p->most_members == placement_info::any_number ? ordered_json() : ordered_json(p->most_members);
      d["placements"].push_back(x);
    }
    d["stages"] = ordered_json::array();
    add_stages(d["stages"], source_.plan, 0, 1);
    d["finish"] = between_;
    d["tape"] = drx::show(source_.plan);
    const program_form form = form_reader(view_).run(source_.mesh);
    d["map_reduce_form"] = form.why == obstacle::none;
    d["why_not"] = form.why == obstacle::none ? ordered_json() : ordered_json(sentence(form.why));
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(meta::hash(d.dump())));
    d["hash"] = text;
    return d;
  }

 private:
  static ordered_json value(const abstract_value& v) {
    ordered_json x{{"type", name_of(v.type)}, {"shape", ordered_json::array()}};
    for (int i = 0; i < v.shape.rank; ++i) x["shape"].push_back(v.shape[i]);
    x["placement"] = ordered_json::array();
    for (int i = 0; i < v.depth; ++i) x["placement"].push_back(v.placements[i]->name);
    x["bytes"] = v.shape.size() * byte_size(v.type);
    return x;
  }
  ordered_json inputs() const {
    ordered_json list = ordered_json::array();
    int argument = 0, leaf = 0;
    for (int v : source_.plan.inputs) {
      while (leaf == source_.leaves[static_cast<std::size_t>(argument)]) {
        ++argument;
        leaf = 0;
      }
      ordered_json x{{"argument", argument}, {"leaf", leaf++}};
      x.update(value(source_.plan.values[v]));
      list.push_back(x);
    }
    return list;
  }
  std::vector<const placement_info*> placements() const {
    std::vector<const placement_info*> all;
    const auto add = [&](const placement_info* p) {
      if (p && std::find(all.begin(), all.end(), p) == all.end()) all.push_back(p);
    };
    for (int v = 0; v < view_.sizes.values; ++v)
      for (int i = 0; i < view_.values[v].depth; ++i) add(view_.values[v].placements[i]);
    for (int e = 0; e < view_.sizes.entries; ++e) add(view_.entries[e].placement);
    return all;
  }
  /// Adds the stages of a tape, whose region's first entry is number `first` of the frozen tape. What stands between
  /// them is kept in between_, as text.
  void add_stages(ordered_json& list, const tape& t, int region, std::optional<std::int64_t> times) {
    const frozen_region& r = view_.regions[region];
    for (int i = 0; i < t.entries.size(); ++i) {
      const entry& e = t.entries[i];
      const frozen_entry& x = view_.entries[r.first_entry + i];
      if (e.prim == &prim::stage) {
        list.push_back(stage(t, e, r.first_entry + i, times, static_cast<int>(list.size())));
        between_.clear();
        continue;
      }
      std::optional<std::int64_t> inside;
      if (e.prim == &prim::scan)
        if (const prim::rules::scan::view loop(e); times && loop.is_counted()) inside = *times * *loop.length;
      const auto stages = list.size();
      for (int k = 0; k < e.regions.size(); ++k) add_stages(list, e.regions[k], x.first_region + k, inside);
      if (list.size() == stages) between_ += drx::detail::show_entry(t, e) + "\n";
    }
  }
  ordered_json stage(const tape& t, const entry& e, int number, std::optional<std::int64_t> times, int ordinal) {
    const prim::rules::stage::view s(e);
    const stage_cost cost = cost_.stage(number, times);
    ordered_json d{{"stage", ordinal}, {"placement", e.attrs.placement->name}};
    d["runs"] = times ? ordered_json(*times) : ordered_json();
    d["prepare"] = between_;
    ordered_json broadcast = ordered_json::array(), shares = ordered_json::array(), combine = ordered_json::array();
    for (int i = 0; i < e.operands.size(); ++i) {
      const abstract_value& v = t.values[e.operands[i]];
      (i < s.placed ? shares : broadcast).push_back(value(v));
    }
    d["broadcast"] = {{"values", broadcast}, {"bytes", cost.bytes_down}};
    d["map"] = {{"members", shares},
                {"bytes", cost.member_bytes},
                {"operations", cost.operations},
                {"members_of_leaf", s.members_of_leaf()},
                {"tape", drx::show(e.regions[0])}};
    for (int i = 0; i < s.results; ++i) combine.push_back(result(t, e, s, i));
    d["combine"] = {{"results", combine}, {"bytes", cost.bytes_up}};
    return d;
  }
  static ordered_json result(const tape& t, const entry& e, const prim::rules::stage::view& s, int i) {
    constexpr const char* names[] = {"sum",    "mean",   "max",     "min",       "collect",  "monoid",
                                     "gather", "shards", "permute", "transpose", "shard_sum"};
    const fold f = s.fold_of(i);
    const bool folds = f == fold::sum || f == fold::mean || f == fold::max || f == fold::min || f == fold::monoid;
    ordered_json x{{"fold", names[static_cast<int>(f)]}};
    x.update(value(t.values[e.results[i]]));
    x["associative"] = folds;
    x["commutative"] = folds && f != fold::monoid;
    x["weighted"] = f == fold::mean;
    if (s.begins_monoid(i)) {
      x["combine_tape"] = drx::show(e.regions[s.combine_region(i)]);
      x["identity_tape"] = drx::show(e.regions[s.identity_region(i)]);
    }
    return x;
  }

  const plan_source& source_;
  frozen_lists frozen_;
  frozen_view view_;
  run::detail::cost_reader cost_;
  std::string between_;
};

/// The plan of P, as engines run it: traced and planned by this executable where it may trace, else from the constants
/// that calls use.
template <Program P>
plan_source source_of() {
  plan_source s;
  [&]<class... I>(std::type_identity<std::tuple<I...>>) {
    (s.leaves.push_back(leaf_count<I>), ...);
  }(std::type_identity<typename P::inputs>{});
#if defined(DRX_NATIVE_TRACING)
  const native_tracing traces;
  const frozen_lists program(P::make());
  const tape traced = program.view().thaw();
  s.mesh = plan::mesh_of(plan::after_passes(traced, plan::passes_up_to("functions")));
  const auto planned = [&](bool for_engines) {
    return frozen_lists(plan::after_passes(traced, static_cast<int>(std::size(plan::passes)), for_engines));
  };
  const auto is_refused = [&](const frozen_lists& stages) {
    return form_reader(stages.view()).run(s.mesh).why == obstacle::moved_members;
  };
  const frozen_lists stages = planned(false);
  s.plan = stages.view().thaw();  // (its values are numbered as those of constants)
  if (is_refused(stages))
    if (const frozen_lists other = planned(true); !is_refused(other)) s.plan = other.view().thaw();
#else
  using C = run::code_of<served_t<P>>;
  s.plan = C::tape.thaw();
  s.mesh = C::mesh;
#endif
  return s;
}

}  // namespace detail
}  // namespace engines

/// The plan of program P as a JSON document, in the form of docs/plan.schema.json: inputs and outputs, the stages in
/// their order, bytes, tapes in text, and a hash of all that. Programs with the same tape have the same document. Where
/// an executable is compiled with DRX_NATIVE_TRACING, it traces and plans the program itself, and nothing is evaluated
/// while compiling. (Of the operands of one expression, either may then be recorded first: the document, and its hash,
/// may differ from that of constant evaluation.)
template <Program P>
nlohmann::ordered_json plan_json() {
  const engines::detail::plan_source source = engines::detail::source_of<P>();
  return engines::detail::plan_writer(source).document();
}
template <class P, class Why = detail::no_program_t<P>>
  requires(!Program<P>)
nlohmann::ordered_json plan_json() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them; its function takes one argument for each

/// The same document as the text of a file, for an executable that plans programs (drx/generate/planner.hpp).
template <Program P>
std::string plan_text() {
  return plan_json<P>().dump(1) + '\n';
}
template <class P, class Why = detail::no_program_t<P>>
  requires(!Program<P>)
std::string plan_text() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them; its function takes one argument for each

}  // namespace drx
