// drx/run/stage/members.hpp: one member of a stage, or a block of them: the addresses of its inputs, the steps of its
// body, the places of its results.
// Tested by tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/run/stage/task_nodes.hpp>

namespace drx::run {

/// Body 0 computes one member, the others a block of them. Folded results go to a node, all others where they belong.
template <class Stage>
struct stage_members {
  using C = typename Stage::code;
  static constexpr int E = Stage::entry;
  using nodes = stage_nodes<Stage>;
  using sums = sums_of_block<Stage>;

  /// Runs body Body (0: for one member; k: for a block) from member `stored` of the placed leaves on, which is result
  /// number `local` here and member `number` of all. A result may be that number, which is read where it lies.
  template <int Body>
  static void run_body(frame& f, std::int64_t stored, std::int64_t local, std::int64_t& number) {
    enter<Body>(f, stored, local, number);
    if constexpr (Body > 0 && Stage::parent < 0) {
      run_block<Body>(f);
    } else {
      run_region<C, Stage::body + Body>(f);
    }
    leave<Body>(f, stored, local, number);
  }
  /// Whether body Body computes result I where the stage's result has it: then its slot points there. (No other value
  /// that a body makes lies in a slot.)
  template <int Body>
  static constexpr bool lies_in_result(int i) {
    const auto& region = C::tape.regions[Stage::body + Body];
    const int v = C::root(C::output(Stage::body + Body, i)), made = C::definition(v);
    return Body == 0 && Stage::fold_of(i) == fold::collect && C::values[v].depth == 0 && made >= region.first_entry &&
           made < region.first_entry + region.entries && C::plan.where[v].space == plan::space::slot;
  }
  /// Points the inputs of body Body at the members from `stored` on.
  template <int Body>
  DRX_FN static void enter(frame& f, std::int64_t stored, std::int64_t local, std::int64_t& number) {
    constexpr int region = Stage::body + Body;
    f.at[Stage::p] = stored;
    f.slots[slot_of<C, C::input(region, 0)>] = reinterpret_cast<std::byte*>(&number);
    unroll<Stage::placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int from = C::operand(E, I), to = C::input(region, 1 + I), share = C::input(Stage::body, 1 + I);
      std::byte* base = address<C, from>(f);
      const std::int64_t at = is_program_input<C>(from) ? stored : local;  // computed values lie in the members' order
      constexpr std::int64_t bytes = C::bytes(share);
      f.slots[slot_of<C, to>] = C::values[to].depth > 0 ? base : base + at * bytes;
    });
    unroll<Stage::results>(
        [&]<int I>(std::integral_constant<int, I>) {  // large and nested results are computed where they belong
          constexpr int out = C::output(region, I), to = C::result(E, I);
          if constexpr (lies_in_result<Body>(I)) {
            constexpr std::int64_t bytes = C::bytes(out);
            f.slots[slot_of<C, out>] = address<C, to>(f) + local * bytes;
          }
          if constexpr (C::values[out].depth > 0) {
            constexpr int r = C::root(out);
            if constexpr (C::definition(r) >= 0) f.slots[slot_of<C, r>] = address<C, to>(f);
          }
        });
  }
  /// Where result I of a member belongs, unless it is folded.
  template <int I>
  static std::byte* place_of(const frame& f, std::int64_t local, std::int64_t number) {
    std::byte* const all = address<C, C::result(E, I)>(f);
    constexpr std::int64_t bytes = C::bytes(C::output(Stage::body, I));
    if constexpr (Stage::fold_of(I) == fold::gather) {
      return all + number * bytes;
    } else if constexpr (Stage::fold_of(I) == fold::shards) {
      constexpr std::int64_t shards = Stage::view().shard_count(I);
      return all + (local * shards + number % shards) * bytes;
    } else {
      return all + local * bytes;
    }
  }
  /// Writes the results that are not folded where they belong.
  template <int Body>
  static void leave(frame& f, std::int64_t stored, std::int64_t local, std::int64_t number) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int out = C::output(Stage::body + Body, I);
      if constexpr (Stage::folded(I) || lies_in_result<Body>(I)) {  // nothing to copy
      } else if constexpr (C::values[out].depth == 0) {
        std::memcpy(place_of<I>(f, local, number), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
      } else if constexpr (C::definition(C::root(out)) < 0) {  // an operand that is a result
        const std::int64_t begin = first_element<out>(f, stored), end = first_element<out>(f, stored + 1);
        std::memcpy(address<C, C::result(E, I)>(f) + begin * C::bytes(out), address<C, out>(f) + begin * C::bytes(out),
                    static_cast<std::size_t>((end - begin) * C::bytes(out)));
      }
    });
  }
  /// The bytes of a member's shares of the program's inputs, except those nested in it.
  static constexpr std::int64_t member_bytes = [] {
    std::int64_t n = 0;
    for (int i = 0; i < Stage::placed; ++i)
      if (is_program_input<C>(C::operand(E, i)) && C::values[C::input(Stage::body, 1 + i)].depth == 0)
        n += C::bytes(C::input(Stage::body, 1 + i));
    return n;
  }();
  /// Whether all members together are more than a cache holds.
  static bool from_memory(const frame& f) {
    return f.members[Stage::p].local * member_bytes >= machine::read_from_memory;
  }
  /// How many bytes ahead shares are fetched. (The gradient over 1e6 rows of 400 bytes then takes 1.1 times as long as
  /// reading them: docs/performance.md.)
  static constexpr std::int64_t fetched_ahead = 9000;
  /// Fetches part `Part` of `Parts` of a later block's shares, as many bytes as this block's: after a leaf's full block
  /// those of the next one, after a smaller block those further ahead.
  template <int Body, int Part, int Parts>
  static void fetch(const frame& f) {
    unroll<Stage::placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int share = C::input(Stage::body + Body, 1 + I);
      constexpr std::int64_t bytes = C::bytes(share), line = machine::cache_line;
      if constexpr (is_program_input<C>(C::operand(E, I)) && C::values[share].depth == 0 && bytes > 0) {
        constexpr std::int64_t turn = bytes / (Body == 1 ? Stage::turns : 1);
        constexpr std::int64_t distance =
            Stage::template is_body_of_leaf<Body> ? bytes : (fetched_ahead + turn - 1) / turn * turn;
        const std::byte* next =
            address<C, share>(f) + distance;  // (address() has an effect: g++ 12 drops calls that only fetch)
        constexpr std::int64_t begin = bytes * Part / Parts / line * line, end = bytes * (Part + 1) / Parts;
        for (std::int64_t at = begin; at < end; at += line) __builtin_prefetch(next + at);
      }
    });
  }
  /// Runs all steps of a block except its `sums`, while a later block's shares are fetched. Otherwise only a block's
  /// first step would read memory, which would be idle during the others. A leaf's full block is long enough that each
  /// step fetches its part of the next one; in smaller blocks the first step fetches all.
  template <int Body>
  static void run_block(frame& f) {
    constexpr int steps = C::plan.step_count[Stage::body + Body];
    constexpr int parts = Stage::template is_body_of_leaf<Body> && steps > 0 ? steps : 1;
    unroll<steps>([&]<int Step>(std::integral_constant<int, Step>) {
      if constexpr (Step < parts)
        if (from_memory(f)) fetch<Body, Step, parts>(f);
      if constexpr (sums::template result_of_step<Body>(Step) < 0)
        run_step<C, C::plan.first_step[Stage::body + Body] + Step>(f);
    });
  }
  /// The number of the first element of a placed share's member.
  template <int V>
  DRX_FN static std::int64_t first_element(const frame& f, std::int64_t member) {
    constexpr auto& t = C::values[V];
    for (int d = 0; d < t.depth; ++d) member = f.members[C::placements.index(t.placements[d])].offsets[member];
    return member;
  }
  /// Writes the folded results of body Body to a node, except `sums`.
  template <int Body>
  static void write_node(const frame& f, std::byte* to) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I) && sums::template step_of<Body>(I) < 0) {
        constexpr int out = C::output(Stage::body + Body, I);
        std::memcpy(to + Stage::offset(I), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
        task_nodes<Stage>::template note_all<I>(to);
      }
    });
  }
  /// Adds the folded results of body Body to a node, except `sums`. (A monoid's combine computes in the memory that it
  /// lies in.)
  template <int Body>
  static void combine_outputs(frame& f, std::byte* left) {
    unroll<Stage::results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (Stage::folded(I) && Stage::fold_of(I) != fold::monoid && sums::template step_of<Body>(I) < 0) {
        task_nodes<Stage>::template fill_result<I>(left);
        nodes::template fold_elements<I>(left + Stage::offset(I), left + Stage::offset(I),
                                         address<C, C::output(Stage::body + Body, I)>(f),
                                         C::values[C::result(E, I)].shape.size());
      }
    });
  }
  /// Computes a block's `sums` for the members of one turn: adds them to a node or, in the first turn and without
  /// `add`, writes them there.
  template <int Body, int Turns = 1>
  static void sum_members(const frame& f, std::byte* to, bool add, int turn = 0) {
    sums::template run<Body, Turns, task_nodes<Stage>>(f, to, add, turn);
  }
};

}  // namespace drx::run
