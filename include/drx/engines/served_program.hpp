// drx/engines/served_program.hpp: a program as an engine's worker calls it: arguments and results are bytes, and a call
// ends where a reduction needs members that are elsewhere.
#pragma once

#include <drx/engines/form.hpp>
#include <drx/run/call/members.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drx::engines {

/// Bytes in memory of their own.
using bytes = std::vector<std::byte>;

/// Some subtrees of a stage's tree, from left to right, and their nodes' bytes one after the other. Partials of
/// disjoint members are joined in any order: two neighbours become the node above them as soon as both are there, and
/// nothing else is ever added, so that the bits do not depend on that order.
struct partial {
  std::vector<run::node> nodes;
  bytes data;
};

/// The members of a placement: how many there are, and which of them a process has.
struct member_range {
  std::string placement;
  std::int64_t total = 0, first = 0, count = 0;
};

/// The tables by which a program is served, which are the same for all programs.
struct served_facts {
  const run::call_facts& call;
  run::table<const run::node_facts*> stages;  // by their number; null for those inside a member
  void (*run)(run::frame&);
};

template <MapReduceForm P>
struct served_facts_of {
 private:
  using served = detail::served_t<P>;
  using C = run::code_of<served>;
  static constexpr auto stages = [] {
    run::written_table<const run::node_facts*, C::sizes.entries> list;
    run::unroll<C::sizes.entries>([&]<int E>(std::integral_constant<int, E>) {
      if constexpr (C::tape.entries[E].prim == &prim::stage)
        list.add(&run::top_stage<run::stage_facts<C, E>>::nodes_of_stage());
    });
    return list;
  }();

 public:
  static constexpr served_facts value{run::facts_of<served>::value, stages.all(), run::run_region<C, 0>};
};

namespace detail {

/// The communicator of a process that is none of a job's ranks: its members stand between those of two others.
class no_ranks final : public communicator {
 public:
  [[nodiscard]] int rank() const override { return 1; }
  [[nodiscard]] int size() const override { return 3; }
  void all_gather(std::byte*, std::span<const std::int64_t>, std::span<const std::int64_t>) override { refuse(); }
  void all_sum(float*, std::int64_t) override { refuse(); }
  void all_sum(double*, std::int64_t) override { refuse(); }
  void exchange(std::span<const message>, std::span<const message>) override { refuse(); }
  void require_equal(std::int64_t, const char*) override {}
  [[nodiscard]] std::unique_ptr<communicator> split(int) override { refuse(); }
  [[nodiscard]] bool checks_calls() const override { return false; }
  [[nodiscard]] std::int64_t bytes_sent() const override { return 0; }
  [[nodiscard]] std::int64_t collectives() const override { return 0; }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("drx: a collective of ranks in an engine's worker"); }
};

/// Ends a call at a reduction whose root is not known.
struct stage_reached {
  int stage;
};

/// Answers for the stages of a call: with the roots that are known, in the order in which the stages run.
class known_roots final : public run::stage_engine {
 public:
  known_roots(std::span<const bytes> roots, bool maps, partial& mapped) : roots_(roots), maps_(maps), mapped_(mapped) {}

  const std::byte* root(const run::node_facts& facts) override {
    if (next_ == roots_.size()) {
      if (maps_) return nullptr;
      throw stage_reached{static_cast<int>(facts.stage)};
    }
    const bytes& known = roots_[next_++];
    if (static_cast<std::int64_t>(known.size()) != facts.bytes)
      throw std::invalid_argument(error::sentence({"drx: root ", next_ - 1, ", of stage ", facts.stage, ", has ",
                                                   known.size(), " bytes; a node of that stage has ", facts.bytes}));
    return known.data();
  }
  void take(const run::node_facts& facts, run::frame&, run::node_list& nodes) override {
    for (int i = 0; i < nodes.size(); ++i) {
      mapped_.nodes.push_back(nodes.at(i));
      mapped_.data.insert(mapped_.data.end(), nodes.data(i), nodes.data(i) + facts.bytes);
    }
    throw stage_reached{static_cast<int>(facts.stage)};
  }

 private:
  std::span<const bytes> roots_;
  bool maps_;
  partial& mapped_;
  std::size_t next_ = 0;
};

}  // namespace detail

/// A program that an engine's worker serves. Calls begin anew each time: a call with the roots of the stages that have
/// run so far computes what stands between them again, which is little, and needs no memory of earlier calls, so that
/// any worker can take over from another.
class served_program {
 public:
  explicit served_program(const served_facts& facts) : facts_(facts) {
    run::lay_out(state_, facts.call, executor_, communicator_, {});
  }
  served_program(const served_program&) = delete;
  served_program& operator=(const served_program&) = delete;

  [[nodiscard]] const run::call_facts& facts() const { return facts_.call; }

  /// Binds the arguments of the next calls, one leaf after the other (those of placed arguments are left out), and says
  /// how many members each placement has. The bytes must outlive the calls.
  void bind(std::span<const std::span<const std::byte>> leaves, std::span<const member_range> members) {
    std::size_t given = 0, taken = 0;
    for (const run::input_facts& x : facts().inputs) given += !x.placed;
    if (leaves.size() != given)
      throw std::invalid_argument(
          error::sentence({"drx: ", leaves.size(), " leaves of arguments; the program takes ", given}));
    for (std::size_t i = 0; i < facts().inputs.size(); ++i) {
      const run::input_facts& x = facts().inputs[i];
      state_.slots[i] = nullptr;
      if (x.placed) continue;
      require_bytes(x, leaves[taken], 1);
      state_.slots[i] = const_cast<std::byte*>(leaves[taken++].data());  // (inputs are not written to)
    }
    for (std::size_t p = 0; p < facts().placements.size(); ++p)
      set_members(p, {name_of(p), total_of(p, members), 0, 0});
  }

  /// The nodes of some members in the stage after the known roots. `leaves`: of each leaf of the placed arguments of
  /// that placement, the members' values.
  partial map(std::span<const bytes> roots, const member_range& range,
              std::span<const std::span<const std::byte>> leaves) {
    const std::size_t p = placement(range.placement);
    set_members(p, range);
    std::size_t taken = 0;
    for (std::size_t i = 0; i < facts().inputs.size(); ++i) {
      const run::input_facts& x = facts().inputs[i];
      if (!x.placed || x.placement != static_cast<int>(p)) continue;
      if (taken == leaves.size()) ++taken;
      if (taken > leaves.size()) break;
      require_bytes(x, leaves[taken], range.count);
      state_.slots[i] = const_cast<std::byte*>(leaves[taken++].data());
    }
    std::size_t wanted = 0;
    for (const run::input_facts& x : facts().inputs) wanted += x.placed && x.placement == static_cast<int>(p);
    if (leaves.size() != wanted)
      throw std::invalid_argument(error::sentence(
          {"drx: ", leaves.size(), " leaves of members of ", range.placement, "; the program takes ", wanted}));
    partial mapped;
    detail::known_roots engine(roots, true, mapped);
    run_until_stage(engine);
    return mapped;
  }

  /// The results after the last stage, leaf by leaf, or the number of the stage whose root is needed next.
  struct progress {
    int stage = -1;
    std::vector<bytes> results;
  };
  progress finish(std::span<const bytes> roots) {
    partial none;
    detail::known_roots engine(roots, false, none);
    std::vector<bytes> own(facts().outputs.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      own[i].resize(static_cast<std::size_t>(facts().outputs[i].bytes));
      if (const auto slot = facts().outputs[i].direct_slot; slot)
        state_.slots[static_cast<std::size_t>(*slot)] = own[i].data();
    }
    progress p;
    p.stage = run_until_stage(engine);
    if (p.stage >= 0) return p;
    run::frame f = run::frame_of_call(facts(), state_);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::byte* from = run::address_at(f, facts().outputs[i].where);
      if (from != own[i].data()) std::memcpy(own[i].data(), from, own[i].size());
    }
    p.results = std::move(own);
    return p;
  }

  /// The partials of disjoint members, joined.
  partial combine(int stage, std::span<const partial> parts) {
    const run::node_facts& of = stage_at(stage);
    struct piece {
      run::node at;
      const std::byte* data;
      [[nodiscard]] std::int64_t begin() const { return at.position << at.level; }
      [[nodiscard]] std::int64_t end() const { return (at.position + 1) << at.level; }
    };
    std::vector<piece> pieces;
    for (const partial& x : parts) {
      require_partial(of, x);
      for (std::size_t i = 0; i < x.nodes.size(); ++i)
        pieces.push_back({x.nodes[i], x.data.data() + i * static_cast<std::size_t>(of.bytes)});
    }
    std::sort(pieces.begin(), pieces.end(), [](const piece& a, const piece& b) { return a.begin() < b.begin(); });
    for (std::size_t i = 1; i < pieces.size(); ++i)
      if (pieces[i - 1].end() > pieces[i].begin())
        throw std::invalid_argument(
            error::sentence({"drx: two partials of stage ", stage, " have the members of node (", pieces[i].at.level,
                             ", ", pieces[i].at.position, ")"}));
    run::frame f = run::frame_of_call(facts(), state_);
    partial all;
    const auto size = static_cast<std::size_t>(of.bytes);
    for (const piece& x : pieces) {
      all.nodes.push_back(x.at);
      all.data.insert(all.data.end(), x.data, x.data + size);
      for (std::size_t n = all.nodes.size(); n > 1; --n) {
        run::node &left = all.nodes[n - 2], right = all.nodes[n - 1];
        if (left.level != right.level || left.position % 2 != 0 || right.position != left.position + 1) break;
        aligned_combine(of, f, all.data.data() + (n - 2) * size);
        left = {left.level + 1, left.position / 2};
        all.nodes.pop_back();
        all.data.resize((n - 1) * size);
      }
    }
    return all;
  }

  /// The root of a stage's tree from the partials of all its members: what is left of a tree that is not full is folded
  /// from the right. `members`: of the stage's placement.
  bytes root(int stage, std::span<const partial> parts, std::int64_t members) {
    const run::node_facts& of = stage_at(stage);
    partial all = combine(stage, parts);
    run::frame f = run::frame_of_call(facts(), state_);
    const auto size = static_cast<std::size_t>(of.bytes);
    const std::int64_t unit = std::min(of.members_of_leaf, members_in_block(members)),
                       leaves = members / unit + (members % unit != 0);
    std::int64_t at = 0;
    for (const run::node& n : all.nodes) {
      if (n.position << n.level != at) break;
      at = (n.position + 1) << n.level;
    }
    if (at != leaves || (leaves == 0 && !all.nodes.empty()))
      throw std::invalid_argument(
          error::sentence({"drx: the partials of stage ", stage, " are not those of all ", members,
                           " members: they cover ", at * unit, " of them from the first on, without a gap"}));
    if (all.nodes.empty()) {
      all.data.resize(size);
      of.neutral(f, all.data.data());
      return std::move(all.data);
    }
    for (std::size_t n = all.nodes.size(); n > 1; --n) aligned_combine(of, f, all.data.data() + (n - 2) * size);
    all.data.resize(size);
    return std::move(all.data);
  }

  /// The facts of stage `number`; throws where there is none.
  [[nodiscard]] const run::node_facts& stage_at(int number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= facts_.stages.size())
      throw std::invalid_argument(
          error::sentence({"drx: stage ", number, " of a program with ", facts_.stages.size(), " stages"}));
    return *facts_.stages[static_cast<std::size_t>(number)];
  }

 private:
  [[nodiscard]] std::string name_of(std::size_t p) const { return std::string(facts().placements[p].info->name); }
  [[nodiscard]] std::size_t placement(const std::string& name) const {
    for (std::size_t p = 0; p < facts().placements.size(); ++p)
      if (facts().placements[p].info->name == name) return p;
    throw std::invalid_argument("drx: the program has no placement " + name);
  }
  [[nodiscard]] std::int64_t total_of(std::size_t p, std::span<const member_range> members) const {
    for (const member_range& m : members)
      if (m.placement == facts().placements[p].info->name) return m.total;
    throw std::invalid_argument("drx: the number of members of " + name_of(p) + " is not given");
  }
  void set_members(std::size_t p, const member_range& r) {
    const run::placement_facts& of = facts().placements[p];
    if (r.total < 0 || r.first < 0 || r.count < 0 || r.count > r.total || r.first > r.total - r.count)
      throw std::invalid_argument(error::sentence(
          {"drx: ", r.count, " members from ", r.first, " on, of ", r.total, " members of ", of.info->name}));
    if (r.total > std::int64_t{1} << most_levels)  // so that no sum of such numbers overflows
      throw std::invalid_argument(error::sentence(
          {"drx: ", r.total, " members of ", of.info->name, "; engines take up to 2^", most_levels, " members"}));
    if (r.total > of.info->most_members)
      throw std::invalid_argument(error::sentence(
          {"drx: ", r.total, " members of ", of.info->name, ", whose most_members is ", of.info->most_members}));
    for (const run::given_members& g : facts().given)
      if (g.placement == static_cast<int>(p) && g.count != r.total)
        throw std::invalid_argument(
            error::sentence({"drx: ", r.total, " members of ", of.info->name, "; the program itself says ", g.count}));
    boundaries_.resize(facts().placements.size());
    boundaries_[p] = {0, r.first, r.first + r.count, r.total};
    run::membership m;
    m.total = r.total;
    m.first = r.first;
    m.local = r.count;
    m.boundaries = boundaries_[p].data();
    state_.members[p] = m;
  }
  static void require_bytes(const run::input_facts& x, std::span<const std::byte> data, std::int64_t members) {
    if (static_cast<std::int64_t>(data.size()) != x.bytes * members)
      throw std::invalid_argument(
          error::sentence({"drx: argument ", x.argument, ", leaf ", x.leaf, " has ", data.size(), " bytes; ", members,
                           " of ", show(abstract_value(x.type, x.part)), " have ", x.bytes * members}));
    if (reinterpret_cast<std::uintptr_t>(data.data()) % static_cast<std::uintptr_t>(byte_size(x.type)) != 0)
      throw std::invalid_argument(error::sentence({"drx: argument ", x.argument, ", leaf ", x.leaf,
                                                   " does not lie at a multiple of ", byte_size(x.type), " bytes"}));
  }
  static constexpr int most_levels = 48;  // of trees: more than any number of members has
  static void require_partial(const run::node_facts& of, const partial& x) {
    if (x.data.size() != x.nodes.size() * static_cast<std::size_t>(of.bytes))
      throw std::invalid_argument(
          error::sentence({"drx: a partial of stage ", of.stage, " has ", x.data.size(), " bytes; its ", x.nodes.size(),
                           " nodes have ", x.nodes.size() * static_cast<std::size_t>(of.bytes)}));
    for (const run::node& n : x.nodes)
      if (n.level < 0 || n.level > most_levels || n.position < 0 ||
          n.position > (std::int64_t{1} << most_levels) >> n.level)
        throw std::invalid_argument(
            error::sentence({"drx: a partial of stage ", of.stage, " has a node (", n.level, ", ", n.position, ")"}));
  }
  /// Adds the node after `left` to it. (Nodes in a partial lie at multiples of eight bytes, as all nodes do.)
  static void aligned_combine(const run::node_facts& of, run::frame& f, std::byte* left) {
    of.combine(f, left, left + of.bytes);
  }
  /// Runs the program to its end (-1), or until a stage ends the call.
  int run_until_stage(detail::known_roots& engine) {
    state_.runtime.engine = &engine;
    run::frame f = run::frame_of_call(facts(), state_);
    try {
      facts_.run(f);
    } catch (const detail::stage_reached& at) {
      return at.stage;
    }
    return -1;
  }

  const served_facts& facts_;
  serial_executor executor_;  // an engine runs a worker for each core
  detail::no_ranks communicator_;
  run::call_state state_;
  std::vector<std::vector<std::int64_t>> boundaries_;  // by placement
};

}  // namespace drx::engines
