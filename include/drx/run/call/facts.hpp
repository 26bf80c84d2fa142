// drx/run/call/facts.hpp: the facts about a call from the program and its tape, in tables: what calls do is compiled
// once, for all programs.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/run/data/placed_storage.hpp>
#include <drx/run/data/table.hpp>
#include <drx/run/stage/thread_frames.hpp>

#include <optional>
#include <tuple>
#include <type_traits>

namespace drx::run {

/// A placement of a program.
struct placement_facts {
  const placement_info* info = nullptr;
  int parent = -1;          // the number of the one that contains it; -1 at the top
  std::int64_t shards = 1;  // of each member
};
/// An input of the program, which is a leaf of an argument.
struct input_facts {
  int argument = 0, leaf = 0;
  bool placed = false;
  dtype type{};
  shape part;              // of one member, or of one shard of it
  std::int64_t bytes = 0;  // of such a part
  int placement = -1;      // the number of its outermost placement; -1: unplaced
};
/// An output of the program, which is a leaf of the result.
struct output_facts {
  shape part;
  std::int64_t bytes = 0;  // of one member
  plan::location where;
  std::optional<std::int64_t> direct_slot;  // the slot of its address, if a stage writes it where the caller wants it
  bool is_own = false;                      // whether it is none of the inputs
  bool is_passed_on = false;                // whether it is an input, and another output may be written over it
};
/// The number of members that the program itself gives a placement.
struct given_members {
  int placement = -1;
  std::int64_t count = 0;
};

/// The facts about the calls of one program.
struct call_facts {
  table<placement_facts> placements;
  table<input_facts> inputs;  // in the order of their slots
  table<output_facts> outputs;
  table<given_members> given;
  table<held_value> held;
  frame_sizes frames;
  int stages = 0, values = 0;
  std::int64_t server_bytes = 0;
  int sharded = -1;                                 // the placement whose members are split over shards, or -1
  bool writes_directly = false, passes_on = false;  // whether any output says so

  [[nodiscard]] int index(const placement_info* p) const {
    for (std::size_t i = 0; i < placements.size(); ++i)
      if (placements[i].info == p) return static_cast<int>(i);
    return -1;
  }
  [[nodiscard]] const placement_facts& at(int p) const { return placements[static_cast<std::size_t>(p)]; }
  [[nodiscard]] std::int64_t shards_of(const placement_info* p) const {
    const int i = index(p);
    return i < 0 ? 1 : at(i).shards;
  }
  /// The axis along which `part` is shorter than the whole; -1 if there is none.
  static int split_axis(const shape& whole, const shape& part) {
    for (int k = 0; k < whole.rank; ++k)
      if (whole[k] != part[k]) return k;
    return -1;
  }
};

/// The call_facts of a program.
template <class Program>
struct facts_of {
 private:
  using C = code_of<Program>;
  static constexpr auto placements = [] {
    written_table<placement_facts, C::placements.count> r;
    for (int p = 0; p < C::placements.count; ++p) {
      const placement_info* info = C::placements.placement[p];
      const bool split = C::mesh.count > 0 && C::mesh.members == info;
      r.add({info, C::placements.parent[p], split ? C::mesh.count : 1});
    }
    return r;
  }();
  static constexpr auto inputs = [] {
    written_table<input_facts, C::tape.regions[0].inputs.count> r;
    int argument = 0;
    const auto add = [&](int leaves) {
      for (int leaf = 0; leaf < leaves; ++leaf) {
        const int v = C::input(0, static_cast<int>(r.count));
        const abstract_value& x = C::values[v];
        r.add({argument, leaf, x.depth > 0, x.type, x.shape, C::bytes(v),
               x.depth > 0 ? C::placements.index(x.placements[0]) : -1});
      }
      ++argument;
    };
    [&]<class... I>(std::type_identity<std::tuple<I...>>) {
      (add(leaf_count<I>), ...);
    }(std::type_identity<typename Program::inputs>{});
    return r;
  }();
  static constexpr auto outputs = [] {
    constexpr int of_tape = C::tape.regions[0].outputs.count;
    written_table<output_facts, of_tape> r;
    for (int i = 0; i < of_tape; ++i) {
      const int v = C::output(0, i), root = C::root(v);
      const bool is_own = C::definition(root) >= 0, unplaced = C::values[root].depth == 0;
      output_facts x{C::values[v].shape, C::bytes(v), C::plan.where[v], {}, is_own, of_tape > 1 && unplaced && !is_own};
      if (unplaced && is_own && C::plan.where[root].space == plan::space::slot) x.direct_slot = x.where.offset;
      r.add(x);
    }
    return r;
  }();
  static constexpr auto given = [] {
    written_table<given_members, C::sizes.entries> r;
    for (int e = 0; e < C::sizes.entries; ++e)
      if (C::tape.entries[e].prim == &prim::stage)
        if (const auto n = prim::rules::stage::view(C::attributes(e)).members; n)
          r.add({C::placements.index(C::tape.entries[e].placement), *n});
    return r;
  }();
  static constexpr auto held = values_held_whole<C>();

  static constexpr call_facts make() {
    call_facts f;
    f.placements = placements.all();
    f.inputs = inputs.all();
    f.outputs = outputs.all();
    f.given = given.all();
    f.held = held.all();
    f.frames = frame_sizes_of<C>;
    f.stages = C::sizes.entries;
    f.values = C::sizes.values;
    f.server_bytes = C::plan.server_bytes;
    if (C::mesh.count > 0) f.sharded = C::placements.index(C::mesh.members);
    for (const output_facts& x : f.outputs) {
      f.writes_directly = f.writes_directly || x.direct_slot;
      f.passes_on = f.passes_on || x.is_passed_on;
    }
    return f;
  }

 public:
  static constexpr call_facts value = make();
};

/// The placements and leaves of a type placed<S, P>: what a call asks of its members.
struct placed_type {
  table<const placement_info*> placements;  // from the outermost in
  table<abstract_value> leaves;
};
template <class I>
struct placed_type_of {
 private:
  static constexpr leaf_types<I> types{};
  template <class X>
  struct levels {
    static constexpr int count = 0;
    static constexpr void list(const placement_info**) {}
  };
  template <class S, class P>
  struct levels<placed<S, P>> {
    static constexpr int count = 1 + levels<S>::count;
    static constexpr void list(const placement_info** out) {
      *out = &placement_of<P>;
      levels<S>::list(out + 1);
    }
  };
  struct list {
    const placement_info* of[levels<I>::count + 1] = {};
    constexpr list() { levels<I>::list(of); }
  };
  static constexpr list placements{};

 public:
  static constexpr placed_type value{{placements.of, static_cast<std::size_t>(levels<I>::count)},
                                     {types.value, static_cast<std::size_t>(leaf_count<I>)}};
};

}  // namespace drx::run
