// drx/plan/staging/kept_values.hpp: which values of members stages of several levels need and the first one keeps for
// the others. Computing them again needs no memory, which is right for what members only reduce. But where members
// exchange values, as the strips of a grid do, each stage would do the work of all stages before it again.
// Tested by tests/unit/run/kept_values.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/plan/staging/operations.hpp>

namespace drx::plan {

/// What is known of a tape that is cut into stages.
struct levels_of_tape {
  const tape& t;
  const vec<int>& level;     // by value: the number of stages before it
  const vec<int>& defining;  // by value: the entry that makes it, or -1
  vec<bool> by_members;      // by entry: whether each member computes it in a stage
  vec<bool> reduces;         // by entry: whether it is a reduction
  int first_carry, carries;  // which inputs a loop carries
};

/// Adds to `collected`, the values that a stage writes down for what needs them whole, those that it keeps for later
/// stages.
class kept_values {
 public:
  constexpr kept_values(const levels_of_tape& of, vec<bool>& collected)
      : of_(of), t_(of.t), collected_(collected), latest_(of.t.values.size(), -1) {}

  constexpr void add() {
    for (int i = t_.entries.size() - 1; i >= 0; --i) {
      const entry& e = t_.entries[i];
      if (!of_.by_members[i] && !of_.reduces[i]) continue;
      const int own = of_.level[e.results[0]];
      if (of_.reduces[i]) {
        need(e, own - 1);
        continue;
      }
      if (is_worth_keeping(i))
        for (int r : e.results)
          if (latest_[r] > own) collected_[r] = true;
      int last = -1;
      for (int r : e.results) last = std::max(last, collected_[r] ? own : latest_[r]);
      need(e, last);
    }
  }

 private:
  constexpr void need(const entry& e, int level) {
    for (int o : e.operands) latest_[o] = std::max(latest_[o], level);
  }
  [[nodiscard]] constexpr std::int64_t bytes(int v) const {
    return t_.values[v].shape.size() * byte_size(t_.values[v].type);
  }
  /// What one member does for a value, back to the values that are in memory.
  struct work {
    double operations = 0;
    std::int64_t bytes_read = 0;
    bool reads_computed = false;  // whether one of those is no argument of the program
  };
  constexpr void add_work(int i, vec<bool>& seen, work& w) const {
    for (const tape& body : t_.entries[i].regions) w.operations += operations(body);
    for (int o : t_.entries[i].operands) {
      if (t_.values[o].depth == 0 || seen[o]) continue;
      seen[o] = true;
      const int from = of_.defining[o];
      if (from >= 0 && of_.by_members[from] && !collected_[o]) {
        add_work(from, seen, w);
        continue;
      }
      w.bytes_read += bytes(o);
      const int input = from < 0 ? t_.inputs.find(o) - of_.first_carry : -1;
      w.reads_computed = w.reads_computed || from >= 0 || (input >= 0 && input < of_.carries);
    }
  }
  /// Whether later stages need results of entry i that cost more to compute again than to keep, and that take no more
  /// memory than the members' values from which they are computed, of which the program has made some itself: so memory
  /// does not grow with members where these are only arguments.
  [[nodiscard]] constexpr bool is_worth_keeping(int i) const {
    const entry& e = t_.entries[i];
    std::int64_t numbers = 0, kept = 0;
    for (int r : e.results) {
      if (latest_[r] <= of_.level[r] || collected_[r]) continue;
      if (t_.values[r].depth != 1) return false;
      numbers += t_.values[r].shape.size();
      kept += bytes(r);
    }
    if (numbers == 0) return false;
    vec<bool> seen(t_.values.size(), false);
    work w;
    add_work(i, seen, w);
    return w.reads_computed && kept <= w.bytes_read &&
           w.operations >= static_cast<double>(machine::operations_of_kept_number * numbers);
  }

  const levels_of_tape& of_;
  const tape& t_;
  vec<bool>& collected_;
  vec<int> latest_;  // by value: the last level at which a stage needs it
};

}  // namespace drx::plan
