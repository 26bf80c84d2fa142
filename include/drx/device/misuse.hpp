// drx/device/misuse.hpp: why a device does not run a program, so that the user's own line is refused.
// Tested by tests/compile_fail/*_on_a_device.fail.cpp.
#pragma once

#include <drx/primitives/reported.hpp>
#include <drx/run/kernels/all.hpp>
#include <drx/run/stage/facts.hpp>

#include <type_traits>

namespace drx {
namespace error {
struct members_in_shards_on_a_device : reported {};
struct nested_members_change_places_on_a_device : reported {};
struct placed_carries_change_places_on_a_device : reported {};
}  // namespace error

namespace device {

/// By entry of a program: whether it runs on the device, that is in a stage.
template <class C>
constexpr auto entries_in_stages() {
  struct {
    bool of[C::sizes.entries + 1] = {};
  } in_stage;
  bool region[C::sizes.regions + 1] = {};  // regions come after those that contain them
  for (int r = 0; r < C::sizes.regions; ++r)
    for (int k = 0; k < C::tape.regions[r].entries; ++k) {
      const int e = C::tape.regions[r].first_entry + k;
      in_stage.of[e] = region[r];
      const auto& x = C::tape.entries[e];
      for (int i = 0; i < x.regions; ++i) region[x.first_region + i] = region[r] || x.prim == &prim::stage;
    }
  return in_stage;
}

/// Whether a result of the stage is of one of these kinds.
template <class Stage>
constexpr bool has_fold(fold one, fold other) {
  for (int i = 0; i < Stage::results; ++i)
    if (Stage::fold_of(i) == one || Stage::fold_of(i) == other) return true;
  return false;
}
/// Whether a carry of loop E that is placed gets its next value from another one's memory.
template <class C, int E>
constexpr bool placed_carries_swap() {
  using loop = run::kernel<C, E, &prim::scan>;
  for (int k = 0; k < loop::carries; ++k)
    if (loop::swapped(k) && C::values[C::output(loop::body, k)].depth > 0) return true;
  return false;
}

enum class obstacle { none, shards, nested_exchange, placed_swap };

/// What in entry E does not run on a device.
template <class C, int E, bool InStage>
constexpr obstacle obstacle_in() {
  if constexpr (C::tape.entries[E].prim == &prim::stage) {
    using stage = run::stage_facts<C, E>;
    if (has_fold<stage>(fold::shards, fold::shard_sum)) return obstacle::shards;
    if (stage::parent >= 0 && has_fold<stage>(fold::permute, fold::transpose)) return obstacle::nested_exchange;
  } else if constexpr (InStage && C::tape.entries[E].prim == &prim::scan) {
    if (placed_carries_swap<C, E>()) return obstacle::placed_swap;
  }
  return obstacle::none;
}
/// The first obstacle of a program.
template <class C>
constexpr obstacle obstacle_of() {
  constexpr auto in_stage = entries_in_stages<C>();
  obstacle first = obstacle::none;
  run::unroll<C::sizes.entries>([&]<int E>(std::integral_constant<int, E>) {
    if (first == obstacle::none) first = obstacle_in<C, E, in_stage.of[E]>();
  });
  return first;
}
template <obstacle>
struct misuse_of {
  using type = drx::detail::no_misuse;
};
template <>
struct misuse_of<obstacle::shards> {
  using type = error::members_in_shards_on_a_device;
};
template <>
struct misuse_of<obstacle::nested_exchange> {
  using type = error::nested_members_change_places_on_a_device;
};
template <>
struct misuse_of<obstacle::placed_swap> {
  using type = error::placed_carries_change_places_on_a_device;
};
/// Why a device does not run a program; `no_misuse` if it does.
template <class Program>
using misuse_t = typename misuse_of<obstacle_of<run::code_of<Program>>()>::type;
template <class Program>
concept RunsOnDevices = std::is_same_v<misuse_t<Program>, drx::detail::no_misuse>;

}  // namespace device
}  // namespace drx
