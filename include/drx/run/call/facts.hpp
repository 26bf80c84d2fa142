// drx/run/call/facts.hpp: the facts about a call from the tape: its inputs, its outputs, and the layout of members.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/run/data/frame.hpp>

namespace drx::run {

template <class C>
struct call_facts {
  static constexpr int inputs = C::tape.regions[0].inputs.count, outputs = C::tape.regions[0].outputs.count;

  /// The number of shards of a placement's member.
  static constexpr std::int64_t shards_of(const placement_info* p) {
    return C::mesh.count > 0 && C::mesh.members == p ? C::mesh.count : 1;
  }
  /// The axis along which `part` is shorter; -1 if there is none.
  static constexpr int split_axis(const shape& whole, const shape& part) {
    for (int k = 0; k < whole.rank; ++k)
      if (whole[k] != part[k]) return k;
    return -1;
  }
  /// By input: the bytes of one member.
  static constexpr auto input_bytes = [] {
    struct {
      std::int64_t of[inputs + 1] = {};
    } r;
    for (int i = 0; i < inputs; ++i) r.of[i] = C::bytes(C::input(0, i));
    return r;
  }();
  /// By output: the bytes of one member, and whether it is none of the inputs.
  static constexpr auto own_outputs = [] {
    struct {
      std::int64_t bytes[outputs + 1] = {};
      bool of[outputs + 1] = {};
    } r;
    for (int i = 0; i < outputs; ++i) {
      r.bytes[i] = C::bytes(C::output(0, i));
      r.of[i] = C::definition(C::root(C::output(0, i))) >= 0;
    }
    return r;
  }();
  /// By output: its slot, if a stage writes it where the caller wants it; else -1.
  static constexpr auto direct_slots = [] {
    struct {
      std::int64_t slot[outputs + 1] = {};
      bool any = false;
    } r;
    for (int i = 0; i < outputs; ++i) {
      const int v = C::root(C::output(0, i));
      const bool direct =
          C::values[v].depth == 0 && C::definition(v) >= 0 && C::plan.where[v].space == plan::space::slot;
      r.slot[i] = direct ? C::plan.where[C::output(0, i)].offset : -1;
      r.any = r.any || direct;
    }
    return r;
  }();
  /// By output: whether it is an input, and another output may be written over it.
  static constexpr auto passed_on = [] {
    struct {
      bool of[outputs + 1] = {};
      bool any = false;
    } r;
    for (int i = 0; i < outputs && outputs > 1; ++i) {
      const int v = C::root(C::output(0, i));
      r.of[i] = C::values[v].depth == 0 && C::definition(v) < 0;
      r.any = r.any || r.of[i];
    }
    return r;
  }();
};

}  // namespace drx::run
