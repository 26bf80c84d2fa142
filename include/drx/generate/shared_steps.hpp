// drx/generate/shared_steps.hpp: steps that compute the same on other addresses are one function, whatever program they come
// from. A step is taken out of its program: its entries and what they read become a program of one step, all of whose
// values lie in slots. Steps with the same text are then compiled once, and told their addresses when they run.
#pragma once

#include <drx/generate/text.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace drx::generate {

/// A step alone: its constants as members of a class, and where its slots lie in the program that it was taken from.
struct extracted_step {
  std::string members;
  std::vector<plan::location> slots;
};

/// Takes a step out of a program, and numbers its values and entries anew.
class step_extractor {
 public:
  step_extractor(const frozen_view& t, const plan::workspace_plan& p, int step) : t_(t), p_(p), step_(step) {}

  /// None where what the step does depends on more than its entries: on members, on regions, or on ranks.
  std::optional<extracted_step> extracted() {
    const plan::step& s = p_.steps[step_];
    std::vector<int> own;
    if (!s.is_loop)
      own = {s.entry};
    else
      for (int i = 0; i < s.members + s.sums; ++i) own.push_back(p_.members[s.first_member + i]);
    for (const int e : own)
      if (plan::divides_over_ranks(t_, e) || !add_entry(e, true)) return std::nullopt;

    // in the program's order
    std::sort(entries_.begin(), entries_.end());
    frozen_lists tape{drx::tape{}};
    tape.regions[0].entries = static_cast<int>(entries_.size());
    const auto ids = [&](const span_of_pool& from) {
      const span_of_pool to{tape.pool.size(), from.count};
      for (int i = 0; i < from.count; ++i) tape.pool.push_back(number_of(static_cast<int>(t_.pool[from.first + i])));
      return to;
    };
    for (const int e : entries_) {
      frozen_entry x = t_.entries[e];
      const span_of_pool ints = x.ints;
      x.operands = ids(x.operands);
      x.results = ids(x.results);
      x.ints.first = tape.pool.size();
      for (int i = 0; i < ints.count; ++i) tape.pool.push_back(t_.pool[ints.first + i]);
      x.first_region = 0;
      tape.entries.push_back(x);
    }
    for (std::size_t v = 0; v < values_.size(); ++v) number_of(root(values_[v]));  // (values_ grows)
    for (const int v : values_) {
      if (t_.values[v].depth > 0) return std::nullopt;
      tape.values.push_back(t_.values[v]);
    }
    tape.sizes = {1, tape.entries.size(), tape.values.size(), tape.pool.size()};
    return extracted_step{tape_members(tape, "tape") + plan_members(plan_of(tape, s, own), tape.sizes, {}), slots_};
  }

 private:
  int root(int v) const {
    while (p_.root[v] != v) v = p_.root[v];
    return v;
  }
  /// Adds entry e, and the entries that generate what it reads: constants, broadcasts and rearrangements that are not
  /// stored.
  bool add_entry(int e, bool own) {
    const frozen_entry& x = t_.entries[e];
    if (x.regions > 0 || x.placement != nullptr) return false;
    if (own) own_.insert(e);
    if (std::find(entries_.begin(), entries_.end(), e) != entries_.end()) return true;
    entries_.push_back(e);
    for (int i = 0; i < x.operands.count; ++i) {
      const int v = root(static_cast<int>(t_.pool[x.operands.first + i])), made_by = p_.definition[v];
      if (made_by >= 0 && is_generated(v) && !add_entry(made_by, false)) return false;
    }
    return true;
  }
  bool is_generated(int v) const {
    return (!p_.stored[v] && t_.entries[p_.definition[v]].prim->role == role::virtual_) ||
           plan::is_unstored_rearrangement(t_, p_, v);
  }
  int number_of(int v) {
    const auto [at, is_new] = numbers_.emplace(v, static_cast<int>(values_.size()));
    if (is_new) values_.push_back(v);
    return at->second;
  }
  int entry_number(int e) const {
    return static_cast<int>(std::lower_bound(entries_.begin(), entries_.end(), e) - entries_.begin());
  }
  bool has_entry(int e) const { return std::binary_search(entries_.begin(), entries_.end(), e); }
  plan::location slot(const plan::location& l) {
    if (l.space == plan::space::nowhere) return l;
    const auto [at, is_new] = slot_numbers_.emplace(std::pair{l.space, l.offset}, static_cast<int>(slots_.size()));
    if (is_new) slots_.push_back(l);
    return {plan::space::slot, at->second};
  }
  plan::workspace_plan plan_of(const frozen_lists& tape, const plan::step& s, const std::vector<int>& own) {
    plan::workspace_plan p(tape.sizes);
    p.steps[0] = {s.is_loop, s.is_loop ? -1 : entry_number(s.entry), 0, s.members, s.sums, s.has_folds};
    p.step_count[0] = 1;
    for (std::size_t i = 0; s.is_loop && i < own.size(); ++i) p.members[static_cast<int>(i)] = entry_number(own[i]);
    for (int i = 0; i < tape.values.size(); ++i) {
      const int v = values_[static_cast<std::size_t>(i)], e = p_.definition[v];
      const bool here = p_.loop_of[v] == step_;
      p.loop_of[i] = here ? 0 : plan::no_step;
      p.member_of[i] = here ? p_.member_of[v] : 0;
      p.definition[i] = e >= 0 && has_entry(e) ? entry_number(e) : -1;
      p.stored[i] = p_.stored[v];
      p.root[i] = number_of(root(v));
      p.where[i] = slot(p_.where[v]);
    }
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (own_.count(entries_[i]) > 0) p.scratch[static_cast<int>(i)] = slot(p_.scratch[entries_[i]]);
    p.slots = static_cast<int>(slots_.size());
    return p;
  }

  const frozen_view& t_;
  const plan::workspace_plan& p_;
  int step_;
  std::vector<int> entries_, values_;
  std::map<int, int> numbers_;
  std::set<int> own_;
  std::map<std::pair<plan::space, std::int64_t>, int> slot_numbers_;
  std::vector<plan::location> slots_;
};

}  // namespace drx::generate
