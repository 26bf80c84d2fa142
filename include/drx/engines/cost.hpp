// drx/engines/cost.hpp: what a call of a program costs, as constants of its type: reductions, bytes, operations.
// Tested by tests/unit/engines/form.cpp and tests/mpi/cost.cpp.
#pragma once

#include <drx/engines/form.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace drx {

/// What a stage costs: all that is done for each member of a placement between two reductions.
struct stage_cost {
  std::string_view placement;
  std::optional<std::int64_t> runs;  // in a call; none if that depends on data
  std::int64_t bytes_down = 0;       // of the unplaced values that every member reads: what is broadcast
  std::int64_t bytes_up = 0;         // of a node of the tree: what a rank, or an engine's worker, sends for a subtree
  std::int64_t member_bytes = 0;     // of one member's own values
  double operations = 0;             // on floating numbers, for one member: two for each multiplication of a product
};

/// What a call of a program costs.
template <int Stages>
struct program_cost {
  static constexpr int stages = Stages;  // at the top: those inside a member count among its operations
  stage_cost stage[static_cast<unsigned>(Stages) + 1] = {};
  std::int64_t workspace = 0;             // bytes, for unplaced values
  std::int64_t workspace_per_thread = 0;  // bytes, whatever the number of members

  /// How many reductions a call does; none if that depends on data.
  [[nodiscard]] constexpr std::optional<std::int64_t> reductions() const {
    std::int64_t n = 0;
    for (int i = 0; i < Stages; ++i) {
      if (!stage[i].runs) return {};
      n += *stage[i].runs;
    }
    return n;
  }
  /// How many collectives each of so many ranks takes part in, beside the one by which a call compares the ranks'
  /// inputs: one for each reduction, if its nodes are small (together less than 128 KiB); none if that depends on data.
  [[nodiscard]] constexpr std::optional<std::int64_t> collectives(int ranks) const {
    return ranks == 1 ? std::optional<std::int64_t>(0) : reductions();
  }
  /// Bytes of all nodes that are sent for a subtree, in a call; none if that depends on data.
  [[nodiscard]] constexpr std::optional<std::int64_t> bytes_up() const {
    std::int64_t n = 0;
    for (int i = 0; i < Stages; ++i) {
      if (!stage[i].runs) return {};
      n += *stage[i].runs * stage[i].bytes_up;
    }
    return n;
  }
};

namespace engines::detail {

/// Counts in a plan's tape.
class cost_reader {
 public:
  constexpr explicit cost_reader(const frozen_view& t) : t_(t) {}

  [[nodiscard]] constexpr int stages(int region = 0) const {
    int n = 0;
    const frozen_region& r = t_.regions[region];
    for (int e = r.first_entry; e < r.first_entry + r.entries; ++e) {
      n += is_stage(e);
      for (int k = 0; k < t_.entries[e].regions && !is_stage(e); ++k) n += stages(t_.entries[e].first_region + k);
    }
    return n;
  }
  constexpr void write(stage_cost*& to, int region = 0, std::optional<std::int64_t> times = 1) const {
    const frozen_region& r = t_.regions[region];
    for (int e = r.first_entry; e < r.first_entry + r.entries; ++e) {
      const frozen_entry& x = t_.entries[e];
      if (is_stage(e)) {
        *to++ = stage(e, times);
        continue;
      }
      for (int k = 0; k < x.regions; ++k) write(to, x.first_region + k, runs_of_regions(t_, x, times));
    }
  }
  [[nodiscard]] constexpr stage_cost stage(int e, std::optional<std::int64_t> times) const {
    const frozen_entry& x = t_.entries[e];
    const prim::rules::stage::view view(t_.attributes(x));
    const frozen_region& body = t_.regions[x.first_region];
    stage_cost c;
    c.placement = x.placement->name;
    c.runs = times;
    for (int i = 0; i < x.operands.count; ++i)
      (i < view.placed ? c.member_bytes : c.bytes_down) += bytes(id(body.inputs, 1 + i));
    for (int i = 0; i < view.results; ++i) c.bytes_up += run::bytes_in_node(bytes(id(body.outputs, i)));
    c.operations = operations(t_.thaw(x.first_region));
    return c;
  }
  /// The operations on floating numbers in a body: of loops, of all their steps; of branches, of the longest.
  [[nodiscard]] static constexpr double operations(const tape& t) {
    double n = 0;
    for (const entry& e : t.entries) {
      double inside = 0, longest = 0;
      for (const tape& region : e.regions) {
        const double of = operations(region);
        inside += of;
        longest = of > longest ? of : longest;
      }
      if (e.prim == &prim::scan) {
        n += inside * static_cast<double>(prim::rules::scan::view(e).length.value_or(1));
      } else {
        n += e.regions.empty() ? operations_of(t, e) : longest;
      }
    }
    return n;
  }

 private:
  [[nodiscard]] constexpr int id(const span_of_pool& s, int i) const { return static_cast<int>(t_.pool[s.first + i]); }
  [[nodiscard]] constexpr std::int64_t bytes(int v) const {
    return t_.values[v].shape.size() * byte_size(t_.values[v].type);
  }
  [[nodiscard]] constexpr bool is_stage(int e) const { return t_.entries[e].prim == &prim::stage; }
  [[nodiscard]] static constexpr double operations_of(const tape& t, const entry& e) {
    if (e.prim->role == role::virtual_ || e.prim->role == role::alias || e.results.empty()) return 0;
    const abstract_value& result = t.values[e.results[0]];
    if (!is_floating(result.type)) return 0;
    if (e.prim->elementwise || e.prim->pointwise) return static_cast<double>(result.shape.size());
    if (e.prim->cost) return 2 * cost_of(t, e).multiplications;
    const bool reduces = e.prim == &prim::sum || e.prim == &prim::max_over || e.prim == &prim::min_over;
    return reduces ? static_cast<double>(t.values[e.operands[0]].shape.size()) : 0;
  }

  frozen_view t_;
};

}  // namespace engines::detail

/// What a call of program P costs, as a constant:
///     static_assert(*drx::cost<Round>().reductions() == 1 && drx::cost<Round>().stage[0].bytes_up == 40'000);
template <Program P>
constexpr auto cost() {
  using C = run::code_of<P>;
  constexpr engines::detail::cost_reader reader(C::tape.view());
  program_cost<reader.stages()> c;
  stage_cost* at = c.stage;
  reader.write(at);
  c.workspace = C::plan.server_bytes;
  c.workspace_per_thread = run::frame_sizes_of<C>.of_thread * C::plan.thread_bytes;
  return c;
}
template <class P, class Why = detail::no_program_t<P>>
  requires(!Program<P>)
constexpr auto cost() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them; its function takes one argument for each

}  // namespace drx
