// drx/device/loops.hpp: loops and branches by a team. Each lane keeps count of the steps by itself; carries and stacked
// values are copied together.
// Tested by tests/unit/device/arrays.cpp.
#pragma once

#include <drx/device/placed.hpp>

namespace drx::device {

template <class C, int E>
struct team_kernel<C, E, &prim::scan> {
  using host = run::kernel<C, E, &prim::scan>;
  static constexpr int constants = host::constants, carries = host::carries, xs = host::xs, ys = host::ys,
                       body = host::body;

  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr auto& entry = C::tape.entries[E];
    constexpr auto loop = host::loop;
    constexpr bool counted = static_cast<bool>(loop.length), backwards = host::backwards;
    constexpr std::int64_t length = counted ? *loop.length : 0;
    unroll<entry.results.count>(
        [&]<int K>(std::integral_constant<int, K>) { device::provide_placed<C, C::result(E, K)>(f); });
    unroll<xs>([&]<int K>(std::integral_constant<int, K>) {
      device::provide_placed<C, C::input(body, 1 + constants + carries + K)>(f);
    });
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int from = C::operand(E, constants + K), to = C::result(E, K);
      if constexpr (C::root(from) != C::root(to)) device::copy_value<C, from, to>(team, f);
    });
    team.barrier();
    for (std::int64_t step = 0; !counted || step < length; ++step) {
      const std::int64_t at = backwards ? length - 1 - step : step;
      auto index = static_cast<std::int32_t>(at);
      f.slots[slot_of<C, C::input(body, 0)>] = reinterpret_cast<std::byte*>(&index);
      unroll<xs>([&]<int K>(std::integral_constant<int, K>) {
        constexpr int from = C::operand(E, constants + carries + K), to = C::input(body, 1 + constants + carries + K);
        if constexpr (C::values[to].depth > 0) {
          device::copy_value<C, from, to, run::row_of::source>(team, f, at);
          team.barrier();
        } else {
          f.slots[slot_of<C, to>] = address<C, from>(f) + at * bytes_of<C, to>;
        }
      });
      if constexpr (static_cast<bool>(loop.guard)) {
        constexpr int guard = *loop.guard;
        if (!*elements<const bool, C, C::input(body, guard)>(f)) {
          constexpr bool ends = static_cast<bool>(loop.guarding_carry());
          if constexpr (ys > 0) clear(team, f, at, ends ? length - step : 1);
          if (ends) return;
          team.barrier();
          continue;
        }
      }
      unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
        constexpr int out = C::output(body, carries + K), to = C::result(E, carries + K);
        if constexpr (host::is_found_carry(K))
          device::copy_value<C, out, to, run::row_of::target>(team, f, at);
        else if constexpr (host::lies_in_stack(K))
          f.slots[slot_of<C, out>] = address<C, to>(f) + at * bytes_of<C, out>;
      });
      if constexpr (stacks_carries) team.barrier();  // (the body may write the new carry there)
      device::run_region<C, body>(team, f);
      unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
        constexpr int out = C::output(body, carries + K), to = C::result(E, carries + K);
        if constexpr (!host::is_found_carry(K) && !host::lies_in_stack(K))
          device::copy_value<C, out, to, run::row_of::target>(team, f, at);
      });
      team.barrier();  // (a stacked row may be copied from a carry)
      carry_over(team, f);
      team.barrier();
    }
  }

 private:
  static constexpr bool stacks_carries = [] {
    for (int k = 0; k < ys; ++k)
      if (host::is_found_carry(k)) return true;
    return false;
  }();
  /// Zeroes the slices of ys at the next `steps` steps.
  template <class Team>
  DRX_FN static void clear(const Team& team, const frame& f, std::int64_t at, std::int64_t steps) {
    const std::int64_t first = host::backwards ? at - steps + 1 : at;
    unroll<ys>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int y = C::result(E, carries + K);
      const run::element_range members = run::range_of<C, y>(f);
      constexpr std::int64_t row = bytes_of<C, C::output(body, carries + K)>, bytes = bytes_of<C, y>;
      for (std::int64_t m = members.begin; m < members.end; ++m)
        fill(team, address<C, y>(f) + m * bytes + first * row, steps * row, std::byte{});
    });
  }
  /// The body's outputs become the carries: those already in place stay, those in another carry's memory go through a
  /// copy.
  template <class Team>
  DRX_FN static void carry_over(const Team& team, frame& f) {
    swap_carries<false>(team, f);
    unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
      constexpr int from = C::output(body, K), to = C::result(E, K);
      if constexpr (!host::swapped(K) && C::root(from) != C::root(to)) device::copy_value<C, from, to>(team, f);
    });
    swap_carries<true>(team, f);
  }
  static constexpr bool swaps = [] {
    for (int k = 0; k < carries; ++k)
      if (host::swapped(k)) return true;
    return false;
  }();
  /// Copies the outputs that lie in other carries' memory; with Back, copies them back.
  template <bool Back, class Team>
  DRX_FN static void swap_carries(const Team& team, frame& f) {
    if constexpr (swaps) {
      team.barrier();
      [[maybe_unused]] std::byte* copies = run::scratch<C, E>(f);
      unroll<carries>([&]<int K>(std::integral_constant<int, K>) {
        if constexpr (host::swapped(K)) {
          constexpr int value = Back ? C::result(E, K) : C::output(body, K);
          std::byte* const copy = copies;
          copies += (bytes_of<C, value> + machine::cache_line - 1) / machine::cache_line * machine::cache_line;
          std::byte* const lies = address<C, value>(f);
          copy_bytes(team, Back ? copy : lies, Back ? lies : copy, bytes_of<C, value>);
        }
      });
      team.barrier();
    }
  }
};

template <class C, int E>
struct team_kernel<C, E, &prim::cond> {
  template <class Team>
  DRX_FN static void run(const Team& team, frame& f) {
    constexpr int first = C::tape.entries[E].first_region;
    const bool chosen = *elements<const bool, C, C::operand(E, 0)>(f);
    team.barrier();  // (a branch may write where the condition lies)
    if (chosen)
      branch<first>(team, f);
    else
      branch<first + 1>(team, f);
  }
  template <int Region, class Team>
  DRX_FN static void branch(const Team& team, frame& f) {
    constexpr auto& entry = C::tape.entries[E];
    unroll<entry.results.count>(
        [&]<int I>(std::integral_constant<int, I>) { device::provide_placed<C, C::result(E, I)>(f); });
    device::run_region<C, Region>(team, f);
    unroll<entry.results.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int from = C::output(Region, I), to = C::result(E, I);
      if constexpr (C::root(from) != C::root(to)) device::copy_value<C, from, to>(team, f);
    });
  }
};

}  // namespace drx::device
