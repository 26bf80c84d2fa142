// drx/run/kernels/loops.hpp: the kernels of loops and branches: their regions run with carries and results where the
// plan put them.
#pragma once

#include <drx/plan/machine.hpp>
#include <drx/run/kernels/kernel.hpp>
#include <drx/run/data/placed_storage.hpp>

#include <cstring>
#include <utility>

namespace drx::run {

template <class C, int E>
struct kernel<C, E, &prim::scan> {
  static constexpr auto& x = C::tape.entries[E];
  static constexpr prim::rules::scan::parts loop{C::attributes(E), x.operands.count, x.results.count};
  static constexpr auto length = loop.length;
  static constexpr bool backwards = loop.backwards;
  static constexpr int constants = loop.constants, carries = loop.carries, xs = loop.xs, ys = loop.ys;
  static constexpr int body = x.first_region;

  static constexpr bool swapped(int k) {  // the carry's new value lies in another carry's memory
    for (int i = 0; i < carries; ++i)
      if (i != k && C::root(C::output(body, k)) == C::root(C::result(E, i))) return true;
    return false;
  }

  /// Whether carry K is placed, and its memory changes places with that of its new value, which a stage makes: nothing
  /// is copied then. (Loops, branches and members take the memory of what they make anew each time. A result that is
  /// also another carry or one of the ys is copied.)
  static constexpr bool changes_places(int k) {
    const int from = C::root(C::output(body, k)), to = C::root(C::result(E, k)), made = C::definition(from);
    const auto& region = C::tape.regions[body];
    if (C::values[to].depth == 0 || C::placements.parent[C::placements.index(C::values[to].placements[0])] >= 0)
      return false;
    if (made < region.first_entry || made >= region.first_entry + region.entries) return false;
    if (C::tape.entries[made].prim != &prim::stage) return false;
    for (int i = 0; i < carries + ys; ++i)
      if (i != k && C::root(C::output(body, i)) == from) return false;
    return from != to;
  }

  /// Whether the body computes output K of the ys in its row of the stack: then its slot points there. (Where two
  /// stacks have one output, it is computed in the first one's row.)
  static constexpr bool lies_in_stack(int k) {
    const int v = C::root(C::output(body, carries + k)), made = C::definition(v);
    const auto& region = C::tape.regions[body];
    for (int i = 0; i < k; ++i)
      if (C::root(C::output(body, carries + i)) == v) return false;
    return C::values[v].depth == 0 && made >= region.first_entry && made < region.first_entry + region.entries &&
           C::plan.where[v].space == plan::space::slot;
  }

  /// Whether output K of the ys is a carry as the step finds it: then it is copied before the body runs, which may
  /// write the new carry there.
  static constexpr bool is_found_carry(int k) {
    const int out = C::output(body, carries + k);
    for (int i = 0; i < carries; ++i)
      if (C::values[out].depth == 0 && plan::is_name_of(C::plan, out, C::input(body, 1 + constants + i))) return true;
    return false;
  }

  static void run(frame& f) {
    unroll<x.results.count>([&]<int K>(std::integral_constant<int, K>) { provide_placed<C, C::result(E, K)>(f); });
    std::byte* first[carries + 1] = {};  // where the carries are to be in the end
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      if constexpr (changes_places(K)) first[K] = address<C, C::result(E, K)>(f);
    });
    run_steps(f);
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      if constexpr (changes_places(K)) {
        constexpr int from = C::output(body, K), to = C::result(E, K);
        if (address<C, to>(f) == first[K]) return;
        exchange_places<K>(f);
        copy_value<C, from, to>(f);
      }
    });
  }
  template <int K>
  static void exchange_places(frame& f) {
    std::swap(f.slots[slot_of<C, C::output(body, K)>], f.slots[slot_of<C, C::result(E, K)>]);
  }
  static void run_steps(frame& f) {
    unroll<xs>([&]<int K>(std::integral_constant<int, K>) {
      provide_placed<C, C::input(body, 1 + constants + carries + K)>(f);
    });
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int from = C::operand(E, constants + K), to = C::result(E, K);
      if constexpr (C::root(from) != C::root(to)) copy_value<C, from, to>(f);
    });
    for (std::int64_t step = 0; !length || step < *length; ++step) {
      const std::int64_t at = backwards ? *length - 1 - step : step;
      std::int32_t index = static_cast<std::int32_t>(at);
      f.slots[C::plan.where[C::input(body, 0)].offset] = reinterpret_cast<std::byte*>(&index);
      unroll<xs>([&]<int K>(std::integral_constant<int, K>) {
        constexpr int from = C::operand(E, constants + carries + K), to = C::input(body, 1 + constants + carries + K);
        if constexpr (C::values[to].depth > 0) {
          copy_value<C, from, to, row_of::source>(f, at);
        } else {
          f.slots[C::plan.where[to].offset] = address<C, from>(f) + at * C::bytes(to);
        }
      });
      if constexpr (loop.guard) {
        if (!*elements<const bool, C, C::input(body, *loop.guard)>(f)) {
          constexpr bool ends = loop.guarding_carry().has_value();
          if constexpr (ys > 0) clear(f, at, ends ? *length - step : 1);
          if (ends) return;
          continue;
        }
      }
      unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
        constexpr int out = C::output(body, carries + K), to = C::result(E, carries + K);
        if constexpr (is_found_carry(K))
          copy_value<C, out, to, row_of::target>(f, at);
        else if constexpr (lies_in_stack(K))
          f.slots[slot_of<C, out>] = address<C, to>(f) + at * C::bytes(out);
      });
      run_region<C, body>(f);
      unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
        constexpr int out = C::output(body, carries + K), to = C::result(E, carries + K);
        if constexpr (!is_found_carry(K) && !lies_in_stack(K)) copy_value<C, out, to, row_of::target>(f, at);
      });
      carry_over(f);
    }
  }
  /// Zeroes the slices of ys at the next `steps` steps.
  static void clear(frame& f, std::int64_t at, std::int64_t steps) {
    const std::int64_t first = backwards ? at - steps + 1 : at;
    unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int y = C::result(E, carries + K);
      const element_range members = range_of<C, y>(f);
      constexpr std::int64_t row = C::bytes(C::output(body, carries + K));
      for (std::int64_t m = members.begin; m < members.end; ++m)
        std::memset(address<C, y>(f) + m * C::bytes(y) + first * row, 0, static_cast<std::size_t>(steps * row));
    });
  }
  /// The body's outputs become the carries: those already in place stay, placed ones change places, those in another
  /// carry's memory go through a copy.
  static void carry_over(frame& f) {
    swap_carries<false>(f);
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int from = C::output(body, K), to = C::result(E, K);
      if constexpr (changes_places(K))
        exchange_places<K>(f);
      else if constexpr (!swapped(K) && C::root(from) != C::root(to))
        copy_value<C, from, to>(f);
    });
    swap_carries<true>(f);
  }
  /// Copies the outputs that lie in other carries' memory; with Back, copies them back.
  template <bool Back>
  static void swap_carries(frame& f) {
    [[maybe_unused]] std::byte* copies = scratch<C, E>(f);
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      if constexpr (swapped(K)) {
        constexpr int value = Back ? C::result(E, K) : C::output(body, K);
        std::byte* copy = copies;
        if constexpr (C::values[value].depth > 0) {
          copy = placed_buffer<C, C::input(body, 1 + constants + K)>(f);
        } else {
          copies += (C::bytes(value) + machine::cache_line - 1) / machine::cache_line * machine::cache_line;
        }
        const element_range members = range_of<C, value>(f);
        const auto size = static_cast<std::size_t>(members.count() * C::bytes(value));
        std::byte* lies = address<C, value>(f) + members.begin * C::bytes(value);
        copy += members.begin * C::bytes(value);
        std::memcpy(Back ? lies : copy, Back ? copy : lies, size);
      }
    });
  }
};

template <class C, int E>
struct kernel<C, E, &prim::cond> {
  static constexpr auto& x = C::tape.entries[E];

  static void run(frame& f) {
    if (*elements<const bool, C, C::operand(E, 0)>(f)) {
      branch<x.first_region>(f);
    } else {
      branch<x.first_region + 1>(f);
    }
  }
  template <int Region>
  static void branch(frame& f) {
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) { provide_placed<C, C::result(E, I)>(f); });
    run_region<C, Region>(f);
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int from = C::output(Region, I), to = C::result(E, I);
      if constexpr (C::root(from) != C::root(to)) copy_value<C, from, to>(f);
    });
  }
};

}  // namespace drx::run
