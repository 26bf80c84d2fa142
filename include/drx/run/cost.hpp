// drx/run/cost.hpp: what a call of a program costs, as constants of its type: messages, bytes, operations.
#pragma once

#include <drx/plan/staging/operations.hpp>
#include <drx/run/stage/split_reduction.hpp>
#include <drx/run/stage/stage.hpp>
#include <drx/run/stage/thread_frames.hpp>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace drx {

/// What a stage costs: all that is done for each member of a placement between two reductions. Where members have
/// members nested in them, bytes and operations of these count for one of them.
struct stage_cost {
  std::string_view placement;
  std::optional<std::int64_t> runs;  // in a call; none if that depends on data
  std::int64_t bytes_down = 0;       // of the unplaced values that every member reads: what is broadcast
  std::int64_t bytes_up = 0;         // of a node of the tree: what a rank, or an engine's worker, sends for a subtree
  std::int64_t result_bytes = 0;     // of all that is reduced: a node's without the room between its parts
  std::int64_t member_bytes = 0;     // of one member's own values
  double operations = 0;             // on floating numbers, for one member: two for each multiplication of a product
  bool has_monoid = false;           // whether nodes are joined as wholes (reduce_with)
  int gathers = 0;                   // results that every rank gets of all members (gather, pmap's unplaced results)
  std::int64_t gathered_bytes = 0;   // of these, of all members
  bool moves = false;                // whether members send values to members (ppermute, all_to_all)
  bool has_shards = false;           // whether shards of a member exchange values (with_layout)

  /// How many collectives each of so many ranks takes part in when the stage runs once; none if that depends on where
  /// the shards lie. `subtrees`: how many nodes all ranks have together, one for each if each has as many members, and
  /// a power of two of them.
  [[nodiscard]] constexpr std::optional<std::int64_t> collectives(int ranks, std::int64_t subtrees) const {
    if (ranks == 1) return 0;
    if (has_shards) return {};
    std::int64_t n = gathers + moves;
    if (bytes_up == 0) return n;
    switch (way(ranks, subtrees)) {
      case reduction_way::gathered: return n + 1;
      case reduction_way::split: return n + 2;  // pieces of nodes, then pieces of the results
      default: return n + 2 * std::bit_width(static_cast<unsigned>(ranks - 1));  // up the levels of the tree, and down
    }
  }
  /// Bytes that all ranks together send when the stage runs once, where each rank has one member or one subtree; none
  /// if that depends on which members or shards a rank has.
  [[nodiscard]] constexpr std::optional<std::int64_t> bytes_sent(int ranks) const {
    if (ranks == 1) return 0;
    if (has_shards || moves) return {};
    const std::int64_t others = ranks - 1;
    if (bytes_up == 0) return gathered_bytes;
    switch (way(ranks, ranks)) {
      case reduction_way::gathered: return gathered_bytes + ranks * bytes_up;
      case reduction_way::split: return gathered_bytes + others * (bytes_up + result_bytes);
      default: break;
    }
    std::int64_t nodes = others;  // that come down, one to each rank but the first
    for (int step = 1; step < ranks; step *= 2)
      for (int r = step; r < ranks; r += 2 * step)
        nodes += std::popcount(static_cast<unsigned>(ranks - r < step ? ranks - r : step));
    return gathered_bytes + nodes * bytes_up;
  }

 private:
  enum class reduction_way { gathered, split, tree };
  /// As drx/run/stage/ranks.hpp chooses it (tests/mpi/cost.cpp compares).
  [[nodiscard]] constexpr reduction_way way(int ranks, std::int64_t subtrees) const {
    constexpr std::int64_t many_bytes = 128 << 10, piece = run::split_reduction::piece_bytes;
    if (subtrees * bytes_up < many_bytes) return reduction_way::gathered;
    return !has_monoid && bytes_up >= 4 * piece && bytes_up >= piece * ranks ? reduction_way::split
                                                                             : reduction_way::tree;
  }
};

/// What a large unplaced product costs, which ranks divide among each other: each computes some rows, and gets those of
/// the others.
struct product_cost {
  std::optional<std::int64_t> runs;  // in a call; none if that depends on data
  std::int64_t bytes = 0;            // of the result
  double operations = 0;             // of all ranks together: two for each multiplication
  plan::product_extents extents;

  /// Whether so many ranks divide it; else each of them computes all of it.
  [[nodiscard]] constexpr bool divided(int ranks) const { return extents.parts(ranks) > 1; }
  /// How many collectives each of so many ranks takes part in when the product is computed once.
  [[nodiscard]] constexpr std::int64_t collectives(int ranks) const { return divided(ranks) ? 1 : 0; }
  /// Bytes that all ranks together send when it is computed once.
  [[nodiscard]] constexpr std::int64_t bytes_sent(int ranks) const { return divided(ranks) ? bytes : 0; }
};

/// What a call of a program costs.
template <int Stages, int Products = 0>
struct program_cost {
  static constexpr int stages = Stages;      // at the top: those inside a member count among its operations
  static constexpr int products = Products;  // large unplaced ones, which ranks divide if each gets enough of it
  stage_cost stage[static_cast<unsigned>(Stages) + 1] = {};
  product_cost product[static_cast<unsigned>(Products) + 1] = {};
  std::int64_t workspace = 0;             // bytes, for unplaced values
  std::int64_t workspace_per_thread = 0;  // bytes, whatever the number of members

  /// How many reductions a call does; none if that depends on data.
  [[nodiscard]] constexpr std::optional<std::int64_t> reductions() const {
    return sum([](const stage_cost& s) -> std::optional<std::int64_t> { return s.bytes_up > 0; });
  }
  /// How many collectives each of so many ranks takes part in, beside the one by which a call compares the ranks'
  /// inputs; none if that depends on data, or on where shards lie. A reduction is one message, if its nodes are small
  /// (those of all ranks together less than 128 KiB); else it is two, or twice as many as a tree of the ranks has
  /// levels. `subtrees`: how many nodes all ranks have together; one for each rank if it is not given.
  [[nodiscard]] constexpr std::optional<std::int64_t> collectives(int ranks, std::int64_t subtrees = 0) const {
    if (ranks == 1) return 0;
    return both(sum([=](const stage_cost& s) { return s.collectives(ranks, subtrees > 0 ? subtrees : ranks); }),
                sum_of_products([=](const product_cost& p) { return p.collectives(ranks); }));
  }
  /// Bytes of all nodes that are sent for a subtree, in a call; none if that depends on data.
  [[nodiscard]] constexpr std::optional<std::int64_t> bytes_up() const {
    return sum([](const stage_cost& s) -> std::optional<std::int64_t> { return s.bytes_up; });
  }
  /// Bytes that all ranks together send in a call, where each has one member or one subtree of them, beside those by
  /// which it compares the ranks' inputs; none if that depends on data, or on which members or shards a rank has.
  [[nodiscard]] constexpr std::optional<std::int64_t> bytes_sent(int ranks) const {
    if (ranks == 1) return 0;
    return both(sum([=](const stage_cost& s) { return s.bytes_sent(ranks); }),
                sum_of_products([=](const product_cost& p) { return p.bytes_sent(ranks); }));
  }

 private:
  [[nodiscard]] static constexpr std::optional<std::int64_t> both(std::optional<std::int64_t> a,
                                                                  std::optional<std::int64_t> b) {
    if (!a || !b) return {};
    return *a + *b;
  }
  /// The sum over the runs of all stages; none where there is none for a stage that counts.
  template <class OfRun>
  [[nodiscard]] constexpr std::optional<std::int64_t> sum(OfRun of_run) const {
    std::int64_t n = 0;
    for (int i = 0; i < Stages; ++i) {
      const std::optional<std::int64_t> of = of_run(stage[i]);
      if (of == 0) continue;
      if (!of || !stage[i].runs) return {};
      n += *stage[i].runs * *of;
    }
    return n;
  }
  /// The same over the products.
  template <class OfRun>
  [[nodiscard]] constexpr std::optional<std::int64_t> sum_of_products(OfRun of_run) const {
    std::int64_t n = 0;
    for (int i = 0; i < Products; ++i) {
      const std::int64_t of = of_run(product[i]);
      if (of == 0) continue;
      if (!product[i].runs) return {};
      n += *product[i].runs * of;
    }
    return n;
  }
};

namespace run::detail {

/// How often the regions of entry x run in a call, if x runs `times` times; none if that depends on data.
constexpr std::optional<std::int64_t> runs_of_regions(const frozen_view& t, const frozen_entry& x,
                                                      std::optional<std::int64_t> times) {
  if (x.prim != &prim::scan) return {};
  const prim::rules::scan::view loop(t.attributes(x));
  if (!times || !loop.length || loop.guard) return {};
  return *times * *loop.length;
}
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
  [[nodiscard]] constexpr int products() const {
    int n = 0;
    for (int e = 0; e < t_.sizes.entries; ++e) n += plan::divides_over_ranks(t_, e);
    return n;
  }
  constexpr void write(product_cost*& to, int region = 0, std::optional<std::int64_t> times = 1) const {
    const frozen_region& r = t_.regions[region];
    for (int e = r.first_entry; e < r.first_entry + r.entries; ++e) {
      const frozen_entry& x = t_.entries[e];
      if (plan::divides_over_ranks(t_, e)) *to++ = product(x, times);
      for (int k = 0; k < x.regions && !is_stage(e); ++k) write(to, x.first_region + k, runs_of_regions(t_, x, times));
    }
  }
  [[nodiscard]] constexpr product_cost product(const frozen_entry& x, std::optional<std::int64_t> times) const {
    const plan::product_extents p = plan::extents_of(t_, x);
    return {times, bytes(id(x.results, 0)),
            2. * static_cast<double>(p.rows()) * static_cast<double>(p.n) * static_cast<double>(p.k), p};
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
    for (int i = 0; i < view.results; ++i) {
      const fold f = view.fold_of(i);
      const std::int64_t of_result = bytes(id(x.results, i));
      if (f == fold::gather) {
        ++c.gathers;
        c.gathered_bytes += of_result;
      }
      c.moves |= f == fold::permute || f == fold::transpose;
      c.has_shards |= f == fold::shards || f == fold::shard_sum;
      c.has_monoid |= f == fold::monoid;
      if (f != fold::sum && f != fold::mean && f != fold::max && f != fold::min && f != fold::monoid) continue;
      c.bytes_up += run::bytes_in_node(of_result);
      c.result_bytes += of_result;
    }
    c.operations = plan::operations(t_.thaw(x.first_region));
    return c;
  }

 private:
  [[nodiscard]] constexpr int id(const span_of_pool& s, int i) const { return static_cast<int>(t_.pool[s.first + i]); }
  [[nodiscard]] constexpr std::int64_t bytes(int v) const {
    return t_.values[v].shape.size() * byte_size(t_.values[v].type);
  }
  [[nodiscard]] constexpr bool is_stage(int e) const { return t_.entries[e].prim == &prim::stage; }

  frozen_view t_;
};

}  // namespace run::detail

/// What a call costs, in lines of text:
///     std::cout << drx::show(drx::cost<Round>());
template <int Stages, int Products>
std::string show(const program_cost<Stages, Products>& cost) {
  const auto number = [](std::optional<std::int64_t> n) { return n ? std::to_string(*n) : std::string("?"); };
  const auto counted = [](std::string n, const char* what) { return n + ' ' + what + (n == "1" ? "" : "s"); };
  std::string text = counted(std::to_string(Stages), "stage") + ", " + counted(number(cost.reductions()), "reduction") +
                     "; " + number(cost.bytes_up()) + " bytes up for a subtree\n";
  const auto times = [&](std::optional<std::int64_t> runs) {
    return runs ? counted(number(runs), "time") : std::string("as often as data say");
  };
  char operations[32];
  for (int i = 0; i < Stages; ++i) {
    const stage_cost& s = cost.stage[i];
    std::snprintf(operations, sizeof operations, "%.6g", s.operations);
    text += "stage " + std::to_string(i) + " over " + std::string(s.placement) + ", " + times(s.runs) + ": " +
            std::to_string(s.bytes_down) + " bytes down, " + std::to_string(s.bytes_up) + " up";
    if (s.gathers > 0) text += ", " + std::to_string(s.gathered_bytes) + " gathered";
    if (s.moves) text += ", values sent from member to member";
    if (s.has_shards) text += ", values exchanged by shards";
    text += "; a member: " + std::to_string(s.member_bytes) + " bytes, " + operations + " operations\n";
  }
  for (int i = 0; i < Products; ++i) {
    const product_cost& p = cost.product[i];
    std::snprintf(operations, sizeof operations, "%.6g", p.operations);
    text += "unplaced product " + std::to_string(i) + ", " + times(p.runs) + ": " + operations +
            " operations, which ranks divide; " + std::to_string(p.bytes) + " bytes gathered\n";
  }
  return text + "workspace: " + std::to_string(cost.workspace) + " bytes, and " +
         std::to_string(cost.workspace_per_thread) + " bytes for each thread\n";
}

/// What a call of program P costs, as a constant:
///     static_assert(drx::cost<Round>().reductions() == 1 && drx::cost<Round>().bytes_up() == 40'000);
template <Program P>
constexpr auto cost() {
  using C = run::code_of<P>;
  constexpr run::detail::cost_reader reader(C::tape.view());
  program_cost<reader.stages(), reader.products()> c;
  stage_cost* at = c.stage;
  reader.write(at);
  if constexpr (reader.products() > 0) {
    product_cost* product = c.product;
    reader.write(product);
  }
  c.workspace = C::plan.server_bytes;
  c.workspace_per_thread = run::frame_sizes_of<C>.of_thread * C::plan.thread_bytes;
  return c;
}
template <class P, class Why = detail::no_program_t<P>>
  requires(!Program<P>)
constexpr auto cost() = delete;  // drx: a program's inputs are numbers, arrays, placed values or structures of them; its function takes one argument for each

}  // namespace drx
