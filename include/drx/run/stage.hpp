// drx/run/stage.hpp: running a stage: each member once, its results folded at once into a fixed binary tree.
//
// The tree stands over the members' numbers: node (level, k) covers [k 2^level, (k + 1) 2^level). Threads and ranks
// compute maximal whole subtrees of their blocks and hand those on, so that every sum is the same sum, to the last
// bit, on any number of ranks and threads. A rank sends O(log n) nodes in one collective.
#pragma once

#include <drx/run/indexing_kernels.hpp>
#include <drx/run/node_list.hpp>
#include <drx/run/rank_tree.hpp>
#include <drx/run/split_reduction.hpp>
#include <drx/run/steps_ahead.hpp>
#include <drx/run/sums_of_block.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace drx::run {

template <class C, int E>
struct kernel<C, E, &prim::stage> {
  using code = C;
  static constexpr int entry = E;
  static constexpr auto& x = C::tape.entries[E];
  static constexpr int body = x.first_region;
  static constexpr int placed = static_cast<int>(C::attr(E, 0));
  static constexpr int results = x.results.count;
  static constexpr int header = prim::rules::stage::header;
  static constexpr fold fold_of(int i) { return static_cast<fold>(C::attr(E, header + 2 * i)); }
  /// Whether a result is folded; the others are written member by member where they belong.
  static constexpr bool folded(int i) { return fold_of(i) != fold::gather && fold_of(i) != fold::group && !collected(i); }
  static constexpr bool collected(int i) {
    return fold_of(i) == fold::collect || fold_of(i) == fold::permute || fold_of(i) == fold::transpose || fold_of(i) == fold::shard_sum;
  }
  static constexpr int monoid_of(int i) { return static_cast<int>(C::attr(E, header + 1 + 2 * i)); }
  static constexpr bool has_blocks = C::attr(E, 1) != 0;
  static constexpr int block_bodies = (C::attr(E, 1) != 0) + (C::attr(E, 2) != 0);
  static constexpr std::int64_t block = has_blocks ? prim::rules::stage::leaf : 1;  // members of a leaf of the tree, if in blocks
  static_assert(members_in_block(std::int64_t{1} << 62) == prim::rules::stage::leaf);  // so are members dealt out to ranks
  static constexpr int p = C::placements.index(x.placement);
  static constexpr int parent = C::placements.parent[p];
  static constexpr int ordinal = [] {
    int n = 0;
    for (int e = 0; e < E; ++e) n += C::tape.entries[e].prim == &prim::stage;
    return n;
  }();

  // The packed node: all reduced results behind each other.
  static constexpr std::int64_t packed(int i) { return (C::bytes(C::result(E, i)) + 7) / 8 * 8; }
  static constexpr std::int64_t offset(int i) {
    std::int64_t n = 0;
    for (int k = 0; k < i; ++k) n += folded(k) ? packed(k) : 0;
    return n;
  }
  static constexpr std::int64_t node_bytes = offset(results);
  static constexpr bool has_monoid = [] {
    for (int i = 0; i < results; ++i)
      if (fold_of(i) == fold::monoid) return true;
    return false;
  }();

  using sums = sums_of_block<kernel>;
  static constexpr int ahead = steps_ahead<C>(E);
  static constexpr int turns = ahead == 0 ? 1 : turns_of_block<C>(E);

  static void run(frame& f) {
    if constexpr (parent < 0) {
      run_top(f);
    } else {
      run_nested(f);
    }
  }

  // ---- one member, or a block of them ----

  /// Runs body Body (0: of one member; k: of a block) from member `stored` of the leaves on, result number `local`
  /// here, number `number` of all.
  template <int Body>
  static void run_body(frame& f, std::int64_t stored, std::int64_t local, std::int64_t number) {
    enter<Body>(f, stored, local, number);
    if constexpr (Body > 0 && parent < 0) {
      run_block<Body>(f);
    } else {
      run_region<C, body + Body>(f);
    }
    leave<Body>(f, stored, local, number);
  }
  /// Points the inputs of body Body at the members from `stored` on.
  template <int Body>
  static void enter(frame& f, std::int64_t stored, std::int64_t local, std::int64_t& number) {
    constexpr int region = body + Body;
    f.at[p] = stored;
    f.slots[C::plan.where[C::input(region, 0)].offset] = reinterpret_cast<std::byte*>(&number);
    unroll<placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int from = C::operand(E, I), to = C::input(region, 1 + I), share = C::input(body, 1 + I);
      std::byte* base = address<C, from>(f);
      const std::int64_t at = is_program_input<C>(from) ? stored : local;  // what was computed lies in the members' order
      f.slots[C::plan.where[to].offset] = C::tape.values[to].depth > 0 ? base : base + at * C::bytes(share);
    });
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {  // nested results are collected where they belong
      constexpr int out = C::output(region, I), to = C::result(E, I);
      if constexpr (C::tape.values[out].depth > 0) {
        constexpr int r = C::root(out);
        if constexpr (C::definition(r) >= 0) f.slots[C::plan.where[r].offset] = address<C, to>(f);
      }
    });
  }
  /// Writes what is not folded where it belongs.
  template <int Body>
  static void leave(frame& f, std::int64_t stored, std::int64_t local, std::int64_t number) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int out = C::output(body + Body, I), one = C::output(body, I), to = C::result(E, I);
      if constexpr (fold_of(I) == fold::group) {
        const std::int64_t shard = number % monoid_of(I);
        std::memcpy(address<C, to>(f) + local * C::bytes(to) + shard * C::bytes(one), address<C, out>(f), static_cast<std::size_t>(C::bytes(one)));
      } else if constexpr (fold_of(I) == fold::gather) {
        std::memcpy(address<C, to>(f) + number * C::bytes(one), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
      } else if constexpr (collected(I)) {
        if constexpr (C::tape.values[out].depth == 0) {
          std::memcpy(address<C, to>(f) + local * C::bytes(one), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
        } else if constexpr (C::definition(C::root(out)) < 0) {  // an operand handed through
          const std::int64_t begin = first_element<out>(f, stored), end = first_element<out>(f, stored + 1);
          std::memcpy(address<C, to>(f) + begin * C::bytes(out), address<C, out>(f) + begin * C::bytes(out),
                      static_cast<std::size_t>((end - begin) * C::bytes(out)));
        }
      }
    });
  }
  static constexpr std::int64_t member_bytes = [] {  // of the program's inputs, not nested in a member
    std::int64_t n = 0;
    for (int i = 0; i < placed; ++i)
      if (is_program_input<C>(C::operand(E, i)) && C::tape.values[C::input(body, 1 + i)].depth == 0) n += C::bytes(C::input(body, 1 + i));
    return n;
  }();
  /// Whether all members together are more than a cache holds.
  static bool from_memory(const frame& f) { return f.members[p].local * member_bytes >= (1 << 22); }
  /// Fetches part `part` of `parts` of as much as the block's shares are, from where a later block reads it: the next one of a leaf's
  /// block; behind a smaller one some 9 KB ahead.
  template <int Body>
  static void fetch(const frame& f, int part, int parts) {
    unroll<placed>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int share = C::input(body + Body, 1 + I);
      constexpr std::int64_t bytes = C::bytes(share), line = 64;
      if constexpr (is_program_input<C>(C::operand(E, I)) && C::tape.values[share].depth == 0 && bytes > 0) {
        constexpr std::int64_t turn = bytes / (Body == 1 ? turns : 1), distance = C::attr(E, Body) == block ? bytes : (9000 + turn - 1) / turn * turn;
        const std::byte* next = address<C, share>(f) + distance;  // (address() has an effect: g++ 12 drops calls that only fetch)
        for (std::int64_t at = bytes * part / parts / line * line; at < bytes * (part + 1) / parts; at += line) __builtin_prefetch(next + at);
      }
    });
  }
  /// All steps of a block but its `sums`, while a later block's shares are fetched. Only a block's first step reads memory, which would idle during the
  /// others. A leaf's block is long enough that each step fetches its part of the next one; of smaller blocks the first step fetches all.
  template <int Body>
  static void run_block(frame& f) {
    constexpr int steps = C::plan.step_count[body + Body], parts = C::attr(E, Body) == block && steps > 0 ? steps : 1;
    unroll<steps>([&]<int Step>(std::integral_constant<int, Step>) {
      if (Step < parts && from_memory(f)) fetch<Body>(f, Step, parts);
      if constexpr (sums::template result_of_step<Body>(Step) < 0) run_step<C, C::plan.first_step[body + Body] + Step>(f);
    });
  }
  /// The number of the first element of a placed share's member.
  template <int V>
  static std::int64_t first_element(const frame& f, std::int64_t member) {
    constexpr auto& t = C::tape.values[V];
    for (int d = 0; d < t.depth; ++d) member = f.members[C::placements.index(t.placements[d])].offsets[member];
    return member;
  }
  /// What body Body has computed to a node, but for `sums`.
  template <int Body>
  static void write_node(const frame& f, std::byte* to) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (folded(I) && sums::template step_of<Body>(I) < 0) {
        constexpr int out = C::output(body + Body, I);
        std::memcpy(to + offset(I), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
      }
    });
  }
  /// A block's `sums`, of the members of one turn of so many: added to a node, or in the first turn, without `add`, written there.
  template <int Body, int Turns = 1>
  static void sum_members(const frame& f, std::byte* to, bool add, int turn = 0) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (sums::template step_of<Body>(I) >= 0) sums::template run<Body, I, Turns>(f, to + offset(I), add, turn);
    });
  }
  /// Steps First to Last - 1 of the first block body, but for its `sums`.
  template <int First, int Last>
  static void run_steps(frame& f) {
    unroll<Last - First>([&]<int K>(std::integral_constant<int, K>) {
      if constexpr (sums::template result_of_step<1>(First + K) < 0) run_step<C, C::plan.first_step[body + 1] + First + K>(f);
    });
  }
  /// One turn of the last of a block's first steps: its part of the dot products, and of what is fetched.
  static void run_ahead(frame& f, int turn) {
    constexpr int step = C::plan.first_step[body + 1] + ahead - 1;
    if (from_memory(f)) fetch<1>(f, 2 * turn, 2 * turns);
    if constexpr (turns == 1) {
      run_step<C, step>(f);
    } else {
      using product = kernel<C, C::plan.steps[step].entry, &prim::matmul>;
      constexpr int rows = static_cast<int>(product::extents.dots()) / turns;
      product::template run_dots<rows>(f, turn * rows);
    }
    if (from_memory(f)) fetch<1>(f, 2 * turn + 1, 2 * turns);
  }
  /// The members of a leaf.
  struct leaf_members {
    std::int64_t stored, local, number, count;
    std::int64_t behind = 0;  // of the task, which follow
  };
  /// Runs the block that begins `done` members after the leaf's first, and the first steps of the block behind it. Its `sums` are written
  /// to a node, or added to what is there. Returns its frame.
  static frame& run_block_and_ahead(two_frames& frames, const leaf_members& m, std::int64_t done, std::byte* to, bool add) {
    constexpr int steps = C::plan.step_count[body + 1];
    constexpr std::int64_t size = C::attr(E, 1);
    const auto begin = [&](two_frames::place& at, std::int64_t from) {
      at.number = m.number + from;
      enter<1>(*at.f, m.stored + from, m.local + from, at.number);
      run_steps<0, ahead - 1>(*at.f);
    };
    two_frames::place &now = frames.now(), &next = frames.next();
    if (!frames.begun) {
      begin(now, done);
      for (int turn = 0; turn < turns; ++turn) run_ahead(*now.f, turn);
    }
    run_steps<ahead, steps>(*now.f);
    const std::int64_t left = m.count - done - size;
    const bool follows = left == 0 ? m.behind >= size : left >= size;
    if (follows) begin(next, done + size);
    for (int turn = 0; turn < turns; ++turn) {
      if (follows) run_ahead(*next.f, turn);
      sum_members<1, turns>(*now.f, to, add, turn);
    }
    leave<1>(*now.f, m.stored + done, m.local + done, now.number);
    frames.advance(follows);
    return *now.f;
  }
  /// A leaf of the tree: one member, or up to `block` of them from left to right, in the largest blocks that fit. What is `begun` already
  /// lies in `to`.
  static void run_leaf(frame& f, two_frames& frames, const leaf_members& m, std::byte* to, std::byte* scratch, bool begun = false) {
    for (std::int64_t done = 0; done < m.count;) {
      const bool add = begun && !has_monoid;
      std::byte* const node = begun && has_monoid ? scratch : to;
      const auto run = [&]<int Body>(std::integral_constant<int, Body>) {
        frame* own = &f;
        if constexpr (Body == 1 && ahead > 0) {
          own = &run_block_and_ahead(frames, m, done, node, add);
        } else {
          run_body<Body>(f, m.stored + done, m.local + done, m.number + done);
          if constexpr (Body > 0 && parent < 0) sum_members<Body>(f, node, add);
        }
        if (add) combine_outputs<Body>(*own, node);
        else write_node<Body>(*own, node);
      };
      std::int64_t size = 1;
      if constexpr (has_blocks) {
        if (m.count - done >= C::attr(E, 1)) {
          size = C::attr(E, 1);
          run(std::integral_constant<int, 1>{});
        } else if (block_bodies > 1 && m.count - done >= C::attr(E, 2)) {
          size = C::attr(E, 2);
          run(std::integral_constant<int, block_bodies>{});
        } else {
          run(std::integral_constant<int, 0>{});
        }
      } else {
        run(std::integral_constant<int, 0>{});
      }
      if (begun && has_monoid) combine(f, to, scratch);
      begun = true;
      done += size;
    }
  }
  /// Runs a leaf and adds it to the list; without writing it first, where it is one step to the node that awaits it. (A block in turns is
  /// several: node + (a + b) is not (node + a) + b.)
  static void push_leaf(frame& f, two_frames& frames, node_list& list, std::int64_t leaf, const leaf_members& m) {
    const auto joined = [&](std::byte* a, const std::byte* b) { combine(f, a, b); };
    if constexpr (!has_monoid && node_bytes > 0)
      if (list.awaits({0, leaf})) {
        bool one_step = m.count == 1;
        if constexpr (has_blocks) one_step = one_step || (turns == 1 && m.count == C::attr(E, 1)) || (block_bodies > 1 && m.count == C::attr(E, 2));
        if (one_step) {
          run_leaf(f, frames, m, list.data(list.size() - 1), nullptr, true);
          list.push_joined(joined);
          return;
        }
      }
    run_leaf(f, frames, m, list.next(), list.next() + node_bytes);
    list.push({0, leaf}, joined);
  }

  // ---- two subtrees ----

  static void combine(frame& f, std::byte* left, const std::byte* right) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (fold_of(I) == fold::monoid) {
        if constexpr (I == 0 || fold_of(I - 1) != fold::monoid || monoid_of(I - 1) != monoid_of(I)) combine_monoid<I>(f, left, right);
      } else if constexpr (folded(I)) {
        fold_elements<I>(left + offset(I), left + offset(I), right + offset(I), C::tape.values[C::result(E, I)].shape.size());
      }
    });
  }
  /// The same with what body Body has just computed on the right, but for `sums`. (A monoid's combine computes in the memory that it lies in.)
  template <int Body>
  static void combine_outputs(frame& f, std::byte* left) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (folded(I) && fold_of(I) != fold::monoid && sums::template step_of<Body>(I) < 0)
        fold_elements<I>(left + offset(I), left + offset(I), address<C, C::output(body + Body, I)>(f), C::tape.values[C::result(E, I)].shape.size());
    });
  }
  /// n elements of result I; `to` may be `left`.
  template <int I>
  static void fold_elements(std::byte* to, const std::byte* left, const std::byte* right, std::int64_t n) {
    using T = element_of<C, C::result(E, I)>;
    T* y = reinterpret_cast<T*>(to);
    const T* a = reinterpret_cast<const T*>(left);
    const T* b = reinterpret_cast<const T*>(right);
    DRX_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (fold_of(I) == fold::max) {
        y[i] = detail::max_op{}(a[i], b[i]);
      } else if constexpr (fold_of(I) == fold::min) {
        y[i] = detail::min_op{}(a[i], b[i]);
      } else {
        y[i] = detail::add_op{}(a[i], b[i]);
      }
    }
  }
  template <int I>
  static void combine_monoid(frame& f, std::byte* left, const std::byte* right) {
    constexpr int region = x.first_region + 1 + block_bodies + 2 * monoid_of(I);
    constexpr int parts = C::tape.regions[region].outputs.count;
    unroll<parts>([&]<int K>(std::integral_constant<int, K>) {
      f.slots[C::plan.where[C::input(region, K)].offset] = left + offset(I + K);
      f.slots[C::plan.where[C::input(region, parts + K)].offset] = const_cast<std::byte*>(right) + offset(I + K);
    });
    run_region<C, region>(f);
    unroll<parts>([&]<int K>(std::integral_constant<int, K>) {  // an output that is an input must not be overwritten first
      constexpr int out = C::output(region, K);
      static_assert(C::definition(C::root(out)) >= 0 || parts == 1 || C::root(out) == C::input(region, K),
                    "drx::reduce_with: combine hands parts of its arguments through in another place");
      std::memmove(left + offset(I + K), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
    });
  }

  // ---- the members of a rank, over threads ----

  struct job {
    frame* f;
    runtime* rt;
    std::int64_t first, local;
    const std::int64_t* storage;
    int tasks;
    std::int64_t unit;  // members of a leaf
    bool lends = false;          // whether the only member's result stays where it was computed
    std::byte* lent = nullptr;   // and where that is
    [[nodiscard]] std::int64_t leaves() const { return (local + unit - 1) / unit; }
  };
  static constexpr bool has_nested = [] {
    for (int e = 0; e < std::remove_cvref_t<decltype(C::tape)>::sizes.entries; ++e)
      if (C::tape.entries[e].prim == &prim::stage && C::placements.parent[C::placements.index(C::tape.entries[e].placement)] == p) return true;
    return false;
  }();
  /// The first leaf of a task: even shares of the members or, where another placement is nested in theirs, of the
  /// nested members.
  static std::int64_t begin_of(const job& j, int task) {
    constexpr int child = [] {
      for (int q = 0; q < C::placements.count; ++q)
        if (C::placements.parent[q] == p) return q;
      return -1;
    }();
    if constexpr (child < 0) {
      return j.leaves() * task / j.tasks;
    } else {
      return j.rt->shares[static_cast<std::size_t>(task)];
    }
  }
  static void share_out(const job& j) {
    for (int q = 0; q < C::placements.count; ++q) {
      if (C::placements.parent[q] != p) continue;
      const std::int64_t* offsets = j.f->members[q].offsets;
      const auto weight = [&](std::int64_t m) {
        const std::int64_t s = j.storage ? j.storage[m] : m;
        return offsets[s + 1] - offsets[s] + 1;
      };
      std::int64_t total = 0, before = 0;
      for (std::int64_t m = 0; m < j.local; ++m) total += weight(m);
      j.rt->shares.assign(static_cast<std::size_t>(j.tasks) + 1, j.leaves());
      j.rt->shares[0] = 0;
      int task = 1;
      for (std::int64_t m = 0; m < j.local && task < j.tasks; ++m) {
        before += weight(m);
        while (task < j.tasks && before * j.tasks >= total * task) j.rt->shares[static_cast<std::size_t>(task++)] = leaf_at(m + 1, j.unit);
      }
      return;
    }
  }

  static void run_task(void* context, int task) {
    job& j = *static_cast<job*>(context);
    thread_state& mine = j.rt->threads[static_cast<std::size_t>(task)];
    frame f = *j.f;
    std::copy(j.f->slots, j.f->slots + C::plan.slots, mine.slots.data());
    std::copy(j.f->at, j.f->at + C::placements.count, mine.at.data());
    f.slots = mine.slots.data();
    f.at = mine.at.data();
    f.thread = mine.workspace.data();
    f.thread_number = task;
    if constexpr (lendable >= 0)
      if (j.lends) {
        run_body<0>(f, j.storage ? j.storage[0] : 0, 0, j.first);
        j.lent = address<C, C::output(body, lendable)>(f);
        return;
      }
    frame other = f;
    if constexpr (ahead > 0) {
      other.slots = std::copy(j.f->slots, j.f->slots + C::plan.slots, f.slots + C::plan.slots) - C::plan.slots;
      other.at = std::copy(j.f->at, j.f->at + C::placements.count, f.at + C::placements.count) - C::placements.count;
      other.thread = f.thread + C::plan.thread_bytes;
    }
    two_frames frames{{{&f}, {&other}}};
    node_list list(mine.nodes[ordinal].data(), node_bytes);
    const std::int64_t end = begin_of(j, task + 1), last = std::min(end * j.unit, j.local);
    for (std::int64_t l = begin_of(j, task); l < end; ++l) {
      const std::int64_t m = l * j.unit, count = std::min(j.unit, j.local - m);
      push_leaf(f, frames, list, j.first / j.unit + l, {j.storage ? j.storage[m] : m, m, j.first + m, count, last - m - count});
    }
  }

  /// Members at the top go in blocks where there are many of them in whole blocks on each rank: a rule that looks at
  /// the members only, so that the tree is the same on any number of ranks (drx::place cuts between blocks).
  static std::int64_t unit_of(const runtime& rt, const membership& m) {
    if (!has_blocks || m.storage) return 1;
    const std::int64_t unit = members_in_block(m.total);
    for (int r = 1; r < rt.communicator->size(); ++r)
      if (m.boundaries[r] % unit != 0 && m.boundaries[r] != m.total)
        throw std::invalid_argument("drx: a block of members ends at " + std::to_string(m.boundaries[r]) + "; of " + std::to_string(m.total) +
                                    " members, blocks end at multiples of " + std::to_string(unit));
    return unit;
  }
  static std::int64_t leaf_at(std::int64_t member, std::int64_t unit) { return (member + unit - 1) / unit; }

  /// As many members as the program gathers; or an exception, on all ranks alike.
  static void require_gathered(std::int64_t members) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr bool permute = fold_of(I) == fold::permute;
      if constexpr (permute || fold_of(I) == fold::gather || fold_of(I) == fold::transpose)
        if (const std::int64_t n = permute ? C::attr(E, monoid_of(I)) : monoid_of(I); members != n)
          throw std::invalid_argument(std::string("drx: ") + (permute ? "ppermute" : fold_of(I) == fold::gather ? "gather" : "all_to_all") + " of " + std::to_string(n) +
                                      " members, but " + std::string(x.placement->name) + " has " + std::to_string(members));
    });
  }
  /// Each rank has written its own members' part.
  static void exchange_gathered(frame& f, runtime& rt, const membership& m) {
    if (rt.communicator->size() == 1) return;
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (fold_of(I) == fold::gather) {
        const auto ranks = static_cast<std::size_t>(rt.communicator->size());
        rt.bytes.resize(ranks);
        rt.offsets.resize(ranks);
        for (std::size_t r = 0; r < ranks; ++r) {
          rt.offsets[r] = m.boundaries[r] * C::bytes(C::output(body, I));
          rt.bytes[r] = m.boundaries[r + 1] * C::bytes(C::output(body, I)) - rt.offsets[r];
        }
        rt.communicator->all_gather(address<C, C::result(E, I)>(f), rt.bytes, rt.offsets);
      }
    });
  }

  /// Each member's value lies where it was made; it goes to those who get it.
  static void exchange_members(frame& f, communicator& c, const std::int64_t* boundaries, std::int64_t begin) {
    using block = member_exchange::block;
    member_exchange& exchange = static_cast<runtime*>(f.runtime)->threads[static_cast<std::size_t>(f.thread_number)].exchange;
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr std::int64_t bytes = C::bytes(C::output(body, I));
      if constexpr (fold_of(I) == fold::permute) {
        std::byte* const values = address<C, C::result(E, I)>(f) + begin * bytes;
        exchange.run(c, boundaries, values, 1, bytes, [](block to, block from, auto&& get) {
          for (std::int64_t m = to.begin; m < to.end; ++m)
            if (const std::int64_t source = source_of(I, m); from.holds(source)) get(m, 0, source, 0);
        });
      } else if constexpr (fold_of(I) == fold::transpose && monoid_of(I) > 0) {
        constexpr std::int64_t n = monoid_of(I);
        std::byte* const values = address<C, C::result(E, I)>(f) + begin * bytes;
        exchange.run(c, boundaries, values, n, bytes / n, [](block to, block from, auto&& get) {
          for (std::int64_t m = to.begin; m < to.end; ++m)
            for (std::int64_t k = from.begin; k < from.end; ++k) get(m, k, k, m);
        });
      }
    });
  }
  /// Whose value a member gets, in a result that is permuted.
  static std::int64_t source_of(int i, std::int64_t member) { return C::attr(E, monoid_of(i) + 1 + static_cast<int>(member)); }
  /// Each shard has written its own part.
  static void exchange_shards(frame& f, runtime& rt, const membership& m) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(E, I);
      if constexpr (fold_of(I) == fold::group) {
        rt.shards.exchange(address<C, v>(f), m.first, m.first + m.local, C::bytes(C::output(body, I)));
      } else if constexpr (fold_of(I) == fold::shard_sum) {
        rt.columns.sum(address<C, v>(f), m.first, C::bytes(v), [](std::byte* left, const std::byte* right) {
          using T = element_of<C, v>;
          T* a = reinterpret_cast<T*>(left);
          const T* b = reinterpret_cast<const T*>(right);
          constexpr std::int64_t n = C::tape.values[v].shape.size();
          DRX_INDEPENDENT
          for (std::int64_t i = 0; i < n; ++i) a[i] = detail::add_op{}(a[i], b[i]);
        });
      }
    });
  }

  static void run_top(frame& f) {
    auto& rt = *static_cast<runtime*>(f.runtime);
    const membership& m = f.members[p];
    require_gathered(m.total);
    f.thread = rt.threads[0].workspace.data();  // for what the combining needs
    job j{&f, &rt, m.first, m.local, m.storage, 0, unit_of(rt, m)};
    j.tasks = static_cast<int>(std::min<std::int64_t>(j.leaves(), rt.executor->concurrency()));
    const bool alone = has_nested && j.leaves() < rt.executor->concurrency();  // few, perhaps large: threads go inside
    if (alone) j.tasks = std::min(j.tasks, 1);
    j.lends = lendable >= 0 && m.local == 1 && rt.communicator->size() > 1 && splits(rt, m, j.unit);
    for (int t = 0; t < j.tasks; ++t) rt.threads[static_cast<std::size_t>(t)].nodes[ordinal].grow((node_list::capacity(m.local) + 1) * node_bytes);
    share_out(j);
    if (alone && j.tasks == 1) {
      f.alone = true;
      run_task(&j, 0);
      f.alone = false;
    } else {
      rt.executor->run(j.tasks, run_task, &j);
    }
    exchange_gathered(f, rt, m);
    exchange_shards(f, rt, m);
    exchange_members(f, *rt.communicator, m.boundaries, 0);
    if constexpr (node_bytes > 0) {
      const auto joined = [&](std::byte* a, const std::byte* b) { combine(f, a, b); };
      buffer& spare = rt.threads[0].nodes[ordinal];  // for the results of no members
      spare.grow(static_cast<std::size_t>(node_bytes));
      node_list list(spare.data(), node_bytes);
      for (int t = 0; t < j.tasks; ++t) {
        const node_list part = node_list::of_range(m.first / j.unit + begin_of(j, t), m.first / j.unit + begin_of(j, t + 1));
        append(list, part, j.lent ? j.lent : rt.threads[static_cast<std::size_t>(t)].nodes[ordinal].data(), joined);
      }
      if (rt.communicator->size() > 1) {
        const bool fast = is_fast(rt);
        if (fast) list.finish(joined);
        if constexpr (split_reduction<kernel>::possible) {
          if (splits(rt, m, j.unit)) {
            split_reduction<kernel>::run(f, rt, list, j.lent, m.total, [&](int r) { return nodes_of(rt, m, r, r + 1, j.unit); });
            return;
          }
        }
        if (fast && summable) {
          std::byte* const own = list.size() == 0 ? spare.data() : list.data(0);
          if (list.size() == 0) std::memset(own, 0, node_bytes);
          sum_over_ranks(rt, own);
          finish(f, own, m.total);
          return;
        }
        if (bytes_of_all(rt, m, j.unit) >= many_bytes) {
          const auto nodes_of_ranks = [&](int a, int b) { return nodes_of(rt, m, a, b, j.unit); };
          const auto merged = [&](node_list& l) { if (fast) l.finish(joined); };
          finish(f, fold_over_ranks(rt, rt.gathered[ordinal], list, spare.data(), node_bytes, nodes_of_ranks, joined, merged), m.total);
          return;
        }
        gather(rt, m, list, j.unit);
        list = node_list(spare.data(), node_bytes);
        std::byte* from = rt.gathered[ordinal].data();
        for (int r = 0; r < rt.communicator->size(); ++r) {
          const node_list part = nodes_of(rt, m, r, r + 1, j.unit);
          append(list, part, from, joined);
          if (fast) list.finish(joined);
          from += part.size() * node_bytes;
        }
      }
      list.finish(joined);
      std::byte* const root = list.size() == 0 ? spare.data() : list.data(0);
      if (list.size() == 0) neutral(f, root);
      finish(f, root, m.total);
    }
  }

  template <class Combine>
  static void append(node_list& list, const node_list& part, std::byte* data, Combine&& joined) {
    for (int i = 0; i < part.size(); ++i) list.push(part.at(i), data + i * node_bytes, joined);
  }
  /// Monoids have their order.
  static bool is_fast(const runtime& rt) { return !has_monoid && rt.order == reduction_order::fast; }
  /// The nodes that ranks a to b - 1 have for the others: the largest subtrees of their members; in the fast order one of them all.
  static node_list nodes_of(const runtime& rt, const membership& m, int a, int b, std::int64_t unit) {
    const std::int64_t begin = leaf_at(m.boundaries[a], unit), end = leaf_at(m.boundaries[b], unit);
    return is_fast(rt) ? node_list::of_range(0, begin < end ? 1 : 0) : node_list::of_range(begin, end);
  }
  /// The only result of a member, if nodes are just that: a rank with one member need not copy it.
  static constexpr int lendable = [] {
    int found = -1;
    for (int i = 0; i < results; ++i)
      if (folded(i)) found = found < 0 ? i : results;
    return found >= 0 && found < results && split_reduction<kernel>::possible && C::bytes(C::result(E, found)) == node_bytes ? found : -1;
  }();
  /// Whether the ranks share out the folding: a question of sizes, which all ranks know.
  static bool splits(const runtime& rt, const membership& m, std::int64_t unit) {
    return node_bytes >= split_reduction<kernel>::piece_bytes * rt.communicator->size() && bytes_of_all(rt, m, unit) >= many_bytes;
  }
  /// What every rank would receive, were nodes gathered.
  static std::int64_t bytes_of_all(const runtime& rt, const membership& m, std::int64_t unit) {
    std::int64_t nodes = 0;
    for (int r = 0; r < rt.communicator->size(); ++r)
      if (is_fast(rt)) nodes += m.boundaries[r] < m.boundaries[r + 1];
      else nodes += node_list::count_of_range(leaf_at(m.boundaries[r], unit), leaf_at(m.boundaries[r + 1], unit));
    return nodes * node_bytes;
  }
  /// From so many bytes on, not everybody gathers them all.
  static constexpr std::int64_t many_bytes = 1 << 17;
  static void gather(runtime& rt, const membership& m, const node_list& own, std::int64_t unit) {
    const int ranks = rt.communicator->size();
    rt.bytes.resize(static_cast<std::size_t>(ranks));
    rt.offsets.resize(static_cast<std::size_t>(ranks));
    std::int64_t total = 0;
    for (int r = 0; r < ranks; ++r) {
      rt.offsets[static_cast<std::size_t>(r)] = total;
      rt.bytes[static_cast<std::size_t>(r)] = nodes_of(rt, m, r, r + 1, unit).size() * node_bytes;
      total += rt.bytes[static_cast<std::size_t>(r)];
    }
    rt.gathered[ordinal].grow(static_cast<std::size_t>(total));
    std::byte* data = rt.gathered[ordinal].data();
    for (int i = 0; i < own.size(); ++i)
      std::memcpy(data + rt.offsets[static_cast<std::size_t>(rt.communicator->rank())] + i * node_bytes, own.data(i), node_bytes);
    rt.communicator->all_gather(data, rt.bytes, rt.offsets);
  }

  /// Whether all results are sums of one floating type, which MPI can add by itself.
  static constexpr bool summable = [] {
    for (int i = 0; i < results; ++i) {
      const dtype t = C::tape.values[C::result(E, i)].type;
      if (!folded(i)) continue;
      if ((fold_of(i) != fold::sum && fold_of(i) != fold::mean) || !is_floating(t)) return false;
      for (int k = 0; k < i; ++k)
        if (folded(k) && C::tape.values[C::result(E, k)].type != t) return false;
    }
    return true;
  }();
  static void sum_over_ranks(runtime& rt, std::byte* data) {
    constexpr int first = [] {
      for (int i = 0; i < results; ++i)
        if (folded(i)) return i;
      return 0;
    }();
    using T = element_of<C, C::result(E, first)>;
    if constexpr (std::is_floating_point_v<T>)
      rt.communicator->all_sum(reinterpret_cast<T*>(data), node_bytes / static_cast<std::int64_t>(sizeof(T)));
  }

  /// The results of no members: zeros, a monoid's identity.
  static void neutral(frame& f, std::byte* to) {
    std::memset(to, 0, node_bytes);
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (fold_of(I) == fold::monoid) {
        if constexpr (I == 0 || fold_of(I - 1) != fold::monoid || monoid_of(I - 1) != monoid_of(I)) {
          constexpr int region = x.first_region + 2 + block_bodies + 2 * monoid_of(I);
          run_region<C, region>(f);
          unroll<C::tape.regions[region].outputs.count>([&]<int K>(std::integral_constant<int, K>) {
            constexpr int out = C::output(region, K);
            std::memcpy(to + offset(I + K), address<C, out>(f), static_cast<std::size_t>(C::bytes(out)));
          });
        }
      }
    });
  }
  /// The root of the tree to the results' places; means are divided.
  static void finish(frame& f, const std::byte* from, std::int64_t n) {
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(E, I);
      if constexpr (folded(I)) {
        std::memcpy(address<C, v>(f), from + offset(I), static_cast<std::size_t>(C::bytes(v)));
        divide<I>(address<C, v>(f), C::tape.values[v].shape.size(), n);
      }
    });
  }
  /// Elements of result I, where it is a mean of n.
  template <int I>
  static void divide(std::byte* at, std::int64_t elements, std::int64_t n) {
    if constexpr (fold_of(I) == fold::mean) {
      using T = element_of<C, C::result(E, I)>;
      T* y = reinterpret_cast<T*>(at);
      const T count = n == 0 ? T(1) : static_cast<T>(n);
      for (std::int64_t i = 0; i < elements; ++i) y[i] /= count;
    }
  }

  // ---- the members of one member ----

  static constexpr bool gathers = [] {  // (other threads would write to copies of the workspace)
    for (int i = 0; i < results; ++i)
      if (fold_of(i) == fold::gather) return true;
    return false;
  }();
  static void run_nested(frame& f) {
    auto& rt = *static_cast<runtime*>(f.runtime);
    const std::int64_t* at = f.members[p].offsets + f.at[parent];
    const std::int64_t begin = at[0], n = at[1] - at[0], leaves = (n + block - 1) / block;
    const auto joined = [&](std::byte* a, const std::byte* b) { combine(f, a, b); };
    require_gathered(n);
    unroll<results>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int v = C::result(E, I);
      provide_placed<C, v>(f);
    });
    const int tasks = f.alone && !gathers ? static_cast<int>(std::min<std::int64_t>(leaves / 4, rt.executor->concurrency())) : 1;
    if (tasks > 1) {
      nested_job j{&f, &rt, begin, n, leaves, tasks};
      for (int t = 0; t < tasks; ++t) rt.threads[static_cast<std::size_t>(t)].nodes[ordinal].grow((node_list::capacity(n) + 1) * node_bytes + 1);
      rt.executor->run(tasks, run_nested_task, &j);
      if constexpr (node_bytes > 0) {
        node_list list(nullptr, node_bytes);
        for (int t = 0; t < tasks; ++t)
          append(list, node_list::of_range(leaves * t / tasks, leaves * (t + 1) / tasks), rt.threads[static_cast<std::size_t>(t)].nodes[ordinal].data(), joined);
        list.finish(joined);
        finish(f, list.data(0), n);
      }
      exchange_nested(f, begin, n);
      return;
    }
    buffer& memory = rt.threads[static_cast<std::size_t>(f.thread_number)].nodes[ordinal];
    memory.grow((node_list::capacity(n) + 1) * node_bytes + 1);
    node_list list(memory.data(), node_bytes);
    run_leaves(f, list, begin, n, 0, leaves);
    if constexpr (node_bytes > 0) {
      list.finish(joined);
      if (list.size() == 0) neutral(f, memory.data());
      finish(f, memory.data(), n);
    }
    exchange_nested(f, begin, n);
  }
  static void exchange_nested(frame& f, std::int64_t begin, std::int64_t n) {
    single_rank here;
    const std::int64_t boundaries[] = {0, n};
    exchange_members(f, here, boundaries, begin);
  }
  static void run_leaves(frame& f, node_list& list, std::int64_t begin, std::int64_t n, std::int64_t first, std::int64_t last) {
    two_frames none;
    for (std::int64_t l = first; l < last; ++l) {
      const std::int64_t m = l * block;
      push_leaf(f, none, list, l, {begin + m, begin + m, m, std::min(block, n - m)});
    }
  }
  struct nested_job {
    frame* f;
    runtime* rt;
    std::int64_t begin, n, leaves;
    int tasks;
  };
  /// A share of the leaves by another thread, on a copy of the owner's workspace: what surrounds the stage lies there.
  static void run_nested_task(void* context, int task) {
    const nested_job& j = *static_cast<const nested_job*>(context);
    thread_state& mine = j.rt->threads[static_cast<std::size_t>(task)];
    frame f = *j.f;
    f.alone = false;
    if (task != j.f->thread_number) {
      std::copy(j.f->slots, j.f->slots + C::plan.slots, mine.slots.data());
      std::copy(j.f->at, j.f->at + C::placements.count, mine.at.data());
      std::memcpy(mine.workspace.data(), j.f->thread, static_cast<std::size_t>(C::plan.thread_bytes));
      f.slots = mine.slots.data();
      f.at = mine.at.data();
      f.thread = mine.workspace.data();
      f.thread_number = task;
    }
    node_list list(mine.nodes[ordinal].data(), node_bytes);
    run_leaves(f, list, j.begin, j.n, j.leaves * task / j.tasks, j.leaves * (task + 1) / j.tasks);
  }
};

}  // namespace drx::run
