// drx/device/stage.hpp: a stage whose members a device computes. The host gives it what the members read, in one block;
// the device computes the members and folds their nodes; ranks then fold theirs as on hosts.
//
// The bits do not depend on the number of teams, of lanes or of ranks. They differ from those of the host, whose
// products and sums have another order.
// Tested by tests/unit/device/placements_threads.cpp and tests/mpi/device.cpp.
#pragma once

#include <drx/device/launch.hpp>
#include <drx/device/memory.hpp>
#include <drx/run/stage/top.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace drx {
namespace device {

/// The compile-time side of a program whose stages run on a device of type Device.
template <class Lowered, class Device>
struct code_on : run::code<Lowered> {
  using device_type = Device;
};

/// Writes a block of the host's memory, which will lie at `base` of the device.
class block_writer {
 public:
  explicit block_writer(std::vector<std::byte>& block) : block_(block) { block_.clear(); }
  /// Makes room, and returns where it lies from the block's beginning.
  std::size_t reserve(std::size_t bytes) {
    const std::size_t at = block_.size();
    block_.resize(at + static_cast<std::size_t>(plan::plan_in_progress::aligned(static_cast<std::int64_t>(bytes))));
    return at;
  }
  std::size_t add(const void* data, std::size_t bytes) {
    const std::size_t at = reserve(bytes);
    if (bytes > 0) std::memcpy(block_.data() + at, data, bytes);
    return at;
  }
  [[nodiscard]] std::byte* at(std::size_t place) const { return block_.data() + place; }

 private:
  std::vector<std::byte>& block_;
};

/// One call of a stage at the top.
template <class Stage>
class stage_call {
  using C = typename Stage::code;
  using device_type = typename C::device_type;
  static constexpr int E = Stage::entry, placements = C::placements.count;
  static constexpr const run::exchange_facts& exchanged = run::exchange_facts_of<Stage>::value;

 public:
  explicit stage_call(frame& f)
      : f_(f),
        rt_(*static_cast<run::runtime*>(f.runtime)),
        m_(f.members[Stage::p]),
        state_(*static_cast<device_state*>(rt_.device.get())),
        device_(static_cast<device_type&>(*state_.memory)),
        memory_(state_.stages[static_cast<std::size_t>(Stage::ordinal)]),
        unit_(run::members_of_tree_leaf(m_, rt_.communicator->size(),
                                        team_members<Stage>::has_blocks ? Stage::members_of_leaf : 1)) {}

  void run() {
    f_.thread = rt_.threads[0].workspace.data();
    run::node_list nodes(nullptr, Stage::node_bytes);
    if (m_.local > 0) compute(nodes);
    if (exchanged.gather) exchanged.gather(exchanged, f_, m_);
    if (exchanged.members) exchanged.members(exchanged, f_, *rt_.communicator, m_.boundaries, 0);
    if constexpr (Stage::node_bytes > 0) {
      std::byte* spare = nullptr;
      run::node_list own = own_nodes(nodes, spare);
      run::fold_ranks(facts, f_, m_, unit_, own, spare, nullptr);
    }
  }

 private:
  static constexpr const run::node_facts& facts = run::top_stage<Stage>::nodes_of_stage();

  static constexpr int touched(int v) { return plan::touched_value(C::tape.view(), C::plan, v); }
  static constexpr int operands = C::tape.entries[E].operands.count;

  /// Bytes of a value of this rank: of a placed value, of all its elements.
  template <int V>
  [[nodiscard]] std::int64_t bytes_here() const {
    constexpr auto& t = C::values[V];
    std::int64_t n = 1;
    if constexpr (t.depth > 0) {
      const run::membership& m = f_.members[C::placements.index(t.placements[t.depth - 1])];
      n = t.depth == 1 ? m.local : m.total;
      if (t.depth == 1 && m.storage && run::is_program_input<C>(V))
        for (std::int64_t i = 0; i < m.local; ++i) n = std::max(n, m.storage[i] + 1);
    }
    return n * C::bytes(V);
  }

  /// Computes this rank's members: with half as many teams, and so on to one, where the device has too little memory.
  void compute(run::node_list& nodes) {
    const std::int64_t leaves = (m_.local + unit_ - 1) / unit_;
    if (memory_.most_tasks == 0) memory_.most_tasks = device_.teams();
    for (;;) {
      const auto tasks = static_cast<int>(std::min<std::int64_t>(leaves, memory_.most_tasks));
      try {
        prepare();
        addresses_.tasks = memory_.tasks.grow(static_cast<std::size_t>(addresses_.task_bytes * tasks));
        device_.launch(stage_launch<Stage>{addresses_, {0, leaves, unit_, m_.local, 0, m_.first, storage_}}, tasks,
                       C::plan.thread_bytes);
        take_results();
        if constexpr (Stage::node_bytes > 0) nodes = fold_nodes(tasks, leaves);
        return;
      } catch (const std::bad_alloc&) {
        if (tasks == 1) throw;
        memory_.most_tasks = (tasks + 1) / 2;
        memory_.tasks.clear();
      }
    }
  }

  /// Gives the device what members read: addresses, the numbers of members, unplaced values, shares.
  void prepare() {
    block_writer block(memory_.block);
    slots_ = block.reserve(sizeof(std::byte*) * (C::plan.slots + 1));
    const std::size_t lists = block.reserve(sizeof(run::membership) * (placements + 1));
    std::size_t of_offsets[placements + 1] = {};
    std::size_t of_storage = 0;
    for (int p = 0; p < placements; ++p) {
      const run::membership& m = f_.members[p];
      if (m.offsets) of_offsets[p] = block.add(m.offsets, sizeof(std::int64_t) * static_cast<std::size_t>(m.local + 1));
    }
    if (m_.storage) of_storage = block.add(m_.storage, sizeof(std::int64_t) * static_cast<std::size_t>(m_.local));
    const std::size_t held = block.reserve(sizeof(std::int64_t) * (C::sizes.values + 1)),
                      nested = block.reserve(sizeof(std::int64_t) * (C::sizes.entries + 1));
    lay_out_tasks(block, held, nested);
    const std::size_t server = add_unplaced(block);
    // Everything has its place now: the addresses can be written.
    std::byte* const base = memory_.inputs.grow(memory_.block.size());
    for (int p = 0; p < placements; ++p) {
      run::membership m = f_.members[p];
      m.offsets = m.offsets ? reinterpret_cast<const std::int64_t*>(base + of_offsets[p]) : nullptr;
      m.storage = m.boundaries = m.chosen = nullptr;
      std::memcpy(block.at(lists) + static_cast<std::size_t>(p) * sizeof m, &m, sizeof m);
    }
    storage_ = m_.storage ? reinterpret_cast<const std::int64_t*>(base + of_storage) : nullptr;
    set_slots(block, base);
    addresses_.server = base + server - server_begin;
    addresses_.slots = reinterpret_cast<std::byte* const*>(base + slots_);
    addresses_.members = reinterpret_cast<const run::membership*>(base + lists);
    addresses_.held = reinterpret_cast<const std::int64_t*>(base + held);
    addresses_.nested_nodes = reinterpret_cast<const std::int64_t*>(base + nested);
    device_.copy_in(base, memory_.block.data(), memory_.block.size());
  }

  /// The range of the host's workspace that unplaced operands and gathered results lie in.
  static constexpr auto server_range = [] {
    struct {
      std::int64_t begin = 0, end = 0;
    } r;
    const auto take = [&](int v) {
      if (v < 0 || C::plan.where[v].space != plan::space::server) return;
      const std::int64_t from = C::plan.where[v].offset, to = from + C::bytes(v);
      r.begin = r.end == 0 ? from : std::min(r.begin, from);
      r.end = std::max(r.end, to);
    };
    for (int i = Stage::placed; i < operands; ++i) take(touched(C::operand(E, i)));
    for (int i = 0; i < Stage::results; ++i)
      if (Stage::fold_of(i) == fold::gather) take(C::result(E, i));
    return r;
  }();
  static constexpr std::int64_t server_begin = server_range.begin;

  /// Adds the unplaced operands; returns where the range of the host's workspace begins.
  std::size_t add_unplaced(block_writer& block) {
    const std::size_t server = block.reserve(static_cast<std::size_t>(server_range.end - server_range.begin));
    unroll<operands - Stage::placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = touched(C::operand(E, Stage::placed + I));
      if constexpr (v >= 0) {
        constexpr plan::location at = C::plan.where[v];
        constexpr auto bytes = static_cast<std::size_t>(C::bytes(v));
        if constexpr (at.space == plan::space::server) {
          if (bytes > 0) std::memcpy(block.at(server) + (at.offset - server_begin), address<C, v>(f_), bytes);
        } else {
          static_assert(at.space == plan::space::slot);
          unplaced_[I] = block.add(address<C, v>(f_), bytes);
        }
      }
    });
    return server;
  }
  /// Writes the addresses of operands and results into the slots.
  void set_slots(const block_writer& block, std::byte* base) {
    const auto set = [&](std::int64_t slot, std::byte* to) {
      std::memcpy(block.at(slots_) + static_cast<std::size_t>(slot) * sizeof to, &to, sizeof to);
    };
    unroll<operands - Stage::placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = touched(C::operand(E, Stage::placed + I));
      if constexpr (v >= 0) {
        constexpr plan::location at = C::plan.where[v];
        if constexpr (at.space == plan::space::slot) set(at.offset, base + unplaced_[I]);
      }
    });
    while (memory_.placed.size() < static_cast<std::size_t>(Stage::placed)) memory_.placed.emplace_back(device_);
    unroll<Stage::placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::root(C::operand(E, I));
      static_assert(C::plan.where[v].space == plan::space::slot);
      set(C::plan.where[v].offset, shares_on_device<v>(memory_.placed[I]));
    });
    while (memory_.results.size() < static_cast<std::size_t>(Stage::results)) memory_.results.emplace_back(device_);
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(E, I);
      constexpr plan::location at = C::plan.where[v];
      if constexpr (!Stage::folded(I) && at.space == plan::space::slot)
        set(at.offset, memory_.results[I].grow(static_cast<std::size_t>(bytes_here<v>()) + 1));
    });
  }
  /// The shares of placed value V, on the device: kept there, or copied now.
  template <int V>
  std::byte* shares_on_device(device_buffer& own) {
    const std::byte* const host = address<C, V>(f_);
    if (std::byte* const kept = device_.kept(host)) return kept;
    const auto bytes = static_cast<std::size_t>(bytes_here<V>());
    std::byte* const copy = own.grow(bytes + 1);
    if (bytes > 0) device_.copy_in(copy, host, bytes);
    return copy;
  }

  /// Lays out the memory of a team: workspace, nodes, the nodes of nested stages, placed values that a member holds.
  void lay_out_tasks(const block_writer& block, std::size_t held, std::size_t nested) {
    std::int64_t next = 0;
    const auto place = [&](std::int64_t bytes) {
      return std::exchange(next, next + plan::plan_in_progress::aligned(bytes));
    };
    const auto capacity = [](std::int64_t members) {
      return static_cast<std::int64_t>(run::node_list::capacity(members)) + 1;
    };
    addresses_.workspace = place(C::plan.thread_bytes);
    addresses_.nodes = place(capacity(m_.local) * Stage::node_bytes);
    unroll<C::sizes.values>([&]<int V>(std::integral_constant<int, V>) {
      if constexpr (C::values[V].depth > 0) {
        constexpr int parent = C::placements.parent[C::placements.index(C::values[V].placements[0])];
        if constexpr (parent >= 0 && !run::leaves_the_member<C>(V)) {
          const std::int64_t at = place(most_elements<V>() * C::bytes(V));
          std::memcpy(block.at(held) + V * sizeof at, &at, sizeof at);
        }
      }
    });
    unroll<C::sizes.entries>([&]<int N>(std::integral_constant<int, N>) {
      if constexpr (C::tape.entries[N].prim == &prim::stage) {
        using inner = run::stage_facts<C, N>;
        if constexpr (inner::parent >= 0) {
          const std::int64_t* const offsets = f_.members[inner::p].offsets;
          std::int64_t most = 0;
          for (std::int64_t i = 0; i < f_.members[inner::p].local; ++i)
            most = std::max(most, offsets[i + 1] - offsets[i]);
          const std::int64_t at = place(capacity(most) * inner::node_bytes);
          std::memcpy(block.at(nested) + inner::ordinal * sizeof at, &at, sizeof at);
        }
      }
    });
    addresses_.task_bytes = next;
  }
  /// The most elements of nested value V that one member of the placement around it has.
  template <int V>
  [[nodiscard]] std::int64_t most_elements() const {
    constexpr auto& t = C::values[V];
    const std::int64_t parents = f_.members[C::placements.index(t.placements[0])].local;
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < parents; ++i) {
      std::int64_t begin = i, end = i + 1;
      for (int d = 0; d < t.depth; ++d) {
        const std::int64_t* const offsets = f_.members[C::placements.index(t.placements[d])].offsets;
        begin = offsets[begin], end = offsets[end];
      }
      most = std::max(most, end - begin);
    }
    return most;
  }

  /// Copies results that are not folded to where the host has them.
  void take_results() {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(E, I), one = C::output(Stage::body, I);
      if constexpr (!Stage::folded(I)) {
        constexpr plan::location at = C::plan.where[v];
        std::byte* from = at.space == plan::space::slot ? memory_.results[I].data() : addresses_.server + at.offset;
        std::byte* to = address<C, v>(f_);
        std::int64_t bytes = bytes_here<v>();
        if constexpr (Stage::fold_of(I) == fold::gather) {  // this rank's rows
          from += m_.first * C::bytes(one), to += m_.first * C::bytes(one);
          bytes = m_.local * C::bytes(one);
        }
        if (bytes > 0) device_.copy_out(to, from, static_cast<std::size_t>(bytes));
      }
    });
  }

  /// Folds the nodes of all teams as far as this rank's members go; their addresses are the device's.
  run::node_list fold_nodes(int tasks, std::int64_t leaves) {
    pairs_.clear();
    const auto note = [&](std::byte* left, const std::byte* right) { pairs_.push_back({left, right}); };
    run::node_list list(nullptr, Stage::node_bytes);
    for (int t = 0; t < tasks; ++t) {
      const std::int64_t first = m_.first / unit_;
      const run::node_list part =
          run::node_list::of_range(first + leaves * t / tasks, first + leaves * (t + 1) / tasks);
      std::byte* const nodes = addresses_.tasks + t * addresses_.task_bytes + addresses_.nodes;
      for (int i = 0; i < part.size(); ++i) list.push(part.at(i), nodes + i * Stage::node_bytes, note);
    }
    if (rt_.communicator->size() == 1) list.finish(note);
    if (!pairs_.empty()) {
      const std::size_t bytes = pairs_.size() * sizeof(fold_pair);
      std::byte* const pairs = memory_.folds.grow(bytes);
      device_.copy_in(pairs, reinterpret_cast<const std::byte*>(pairs_.data()), bytes);
      constexpr std::int64_t elements_of_team = 1024;
      const auto teams = static_cast<int>(
          std::min<std::int64_t>(device_.teams(), Stage::has_monoid ? 1 : 1 + Stage::node_bytes / elements_of_team));
      device_.launch(fold_launch<Stage>{addresses_, reinterpret_cast<const fold_pair*>(pairs),
                                        static_cast<std::int64_t>(pairs_.size())},
                     teams, C::plan.thread_bytes);
    }
    return list;
  }
  /// The same nodes in the host's memory. `spare` has room for one more.
  run::node_list own_nodes(const run::node_list& nodes, std::byte*& spare) {
    buffer& memory = rt_.threads[0].nodes[static_cast<std::size_t>(Stage::ordinal)];
    memory.grow(static_cast<std::size_t>((nodes.size() + 1) * Stage::node_bytes));
    spare = memory.data();
    run::node_list own(spare, Stage::node_bytes);
    for (int i = 0; i < nodes.size(); ++i) {
      std::byte* const to = spare + (i + 1) * Stage::node_bytes;
      device_.copy_out(to, nodes.data(i), static_cast<std::size_t>(Stage::node_bytes));
      own.push(nodes.at(i), to, run::node_joiner(f_, facts));
    }
    return own;
  }

  frame& f_;
  run::runtime& rt_;
  const run::membership& m_;
  device_state& state_;
  device_type& device_;
  stage_memory& memory_;
  std::vector<fold_pair>& pairs_ = memory_.pairs;
  std::int64_t unit_;  // members of a tree leaf
  launch_addresses addresses_;
  const std::int64_t* storage_ = nullptr;
  std::size_t slots_ = 0;
  std::size_t unplaced_[operands - Stage::placed + 1] = {};
};

}  // namespace device

namespace run {

template <class Lowered, class Device, int E>
struct kernel<device::code_on<Lowered, Device>, E, &prim::stage> {
  static void run(frame& f) {
    using stage = stage_facts<device::code_on<Lowered, Device>, E>;
    require_gathered(exchange_facts_of<stage>::value, f.members[stage::p].total);
    device::stage_call<stage>(f).run();
  }
};

}  // namespace run
}  // namespace drx
