// drx/run/data/placed_storage.hpp: placed values that are held whole: results of the program, operands and results of
// loops and branches. Their elements have the order of this rank's members and, inside a member, of the members nested
// in it.
// Tested by tests/unit/run/placed_loops.cpp.
#pragma once

#include <drx/run/data/frame.hpp>
#include <drx/run/data/runtime.hpp>
#include <drx/run/data/table.hpp>

#include <cstring>

namespace drx::run {

template <class C>
constexpr bool is_program_input(int v) {
  for (int i = 0; i < C::tape.regions[0].inputs.count; ++i)
    if (C::root(v) == C::input(0, i)) return true;
  return false;
}
/// Whether v is a result of a member, which is written where the stage's own result lies.
template <class C>
constexpr bool leaves_the_member(int v) {
  for (int e = 0; e < std::remove_cvref_t<decltype(C::tape)>::sizes.entries; ++e) {
    if (C::tape.entries[e].prim != &prim::stage) continue;
    const int region = C::tape.entries[e].first_region;
    for (int i = 0; i < C::tape.regions[region].outputs.count; ++i)
      if (C::root(C::output(region, i)) == v) return true;
  }
  return false;
}

/// The elements of a placed value that are here; for an unplaced value, its single one.
struct element_range {
  std::int64_t begin = 0, end = 1;
  [[nodiscard]] DRX_FN std::int64_t count() const { return end - begin; }
};
template <class C, int V>
DRX_FN element_range range_of(const frame& f) {
  constexpr auto& t = C::values[V];
  element_range r;
  if constexpr (t.depth > 0) {
    constexpr int parent = C::placements.parent[C::placements.index(t.placements[0])];
    if constexpr (parent >= 0) {
      r = {f.at[parent], f.at[parent] + 1};
      for (int d = 0; d < t.depth; ++d) {
        const std::int64_t* offsets = f.members[C::placements.index(t.placements[d])].offsets;
        r = {offsets[r.begin], offsets[r.end]};
      }
    } else {
      const membership& m = f.members[C::placements.index(t.placements[t.depth - 1])];
      r.end = t.depth == 1 ? m.local : m.total;
    }
  }
  return r;
}

/// The memory of placed value V, addressed as if it began with the first element of all ranks.
template <class C, int V>
std::byte* placed_buffer(const frame& f) {
  auto& rt = *static_cast<runtime*>(f.runtime);
  constexpr int parent = C::placements.parent[C::placements.index(C::values[V].placements[0])];
  buffer& memory = parent < 0 ? rt.collected[V] : rt.threads[static_cast<std::size_t>(f.thread_number)].collected[V];
  const element_range members = range_of<C, V>(f);
  memory.grow(static_cast<std::size_t>(members.count() * C::bytes(V)) + 1);
  return memory.data() - members.begin * C::bytes(V);
}
template <class C, int V>
void provide_placed(const frame& f) {
  if constexpr (C::values[V].depth > 0 && !leaves_the_member<C>(V))
    f.slots[C::plan.where[V].offset] = placed_buffer<C, V>(f);
}

/// A placed value that is held whole, of a placement that is nested in no other.
struct held_value {
  int value = 0;
  std::int64_t slot = 0, bytes = 0;  // of its address; of one element
  int placement = 0;                 // the innermost one
  bool nested = false;
};
/// The placed results of every stage at the top, in loops too.
template <class C>
constexpr auto values_held_whole() {
  written_table<held_value, C::sizes.values> list;
  for (int e = 0; e < C::sizes.entries; ++e) {
    const auto& x = C::tape.entries[e];
    if (x.prim != &prim::stage || C::placements.parent[C::placements.index(x.placement)] >= 0) continue;
    for (int i = 0; i < x.results.count; ++i) {
      const int v = C::result(e, i);
      const auto& t = C::values[v];
      if (t.depth > 0)
        list.add(
            {v, C::plan.where[v].offset, C::bytes(v), C::placements.index(t.placements[t.depth - 1]), t.depth > 1});
    }
  }
  return list;
}
/// Memory for the members that are here.
inline std::byte* memory_of(const held_value& v, const frame& f) {
  const membership& m = f.members[v.placement];
  buffer& memory = static_cast<runtime*>(f.runtime)->collected[static_cast<std::size_t>(v.value)];
  memory.grow(static_cast<std::size_t>((v.nested ? m.total : m.local) * v.bytes) + 1);
  return memory.data();
}

/// The side of a copy that is one row of a stacked array.
enum class row_of { neither, source, target };

/// Copies value From, or one row of it, to value To, or to one row of it; member by member if they are placed.
template <class C, int From, int To, row_of Row = row_of::neither>
void copy_value(const frame& f, std::int64_t row = 0) {
  constexpr std::int64_t from_bytes = C::bytes(From), to_bytes = C::bytes(To),
                         bytes = Row == row_of::target ? from_bytes : to_bytes;
  if constexpr (bytes > 0) {
    const std::byte* from = address<C, From>(f) + (Row == row_of::source ? row * bytes : 0);
    std::byte* to = address<C, To>(f) + (Row == row_of::target ? row * bytes : 0);
    const element_range members = range_of<C, To>(f);
    const std::int64_t* storage = nullptr;
    if constexpr (C::values[To].depth == 1 && is_program_input<C>(From))
      storage = f.members[C::placements.index(C::values[To].placements[0])].storage;
    for (std::int64_t m = members.begin; m < members.end; ++m)
      std::memcpy(to + m * to_bytes, from + (storage ? storage[m] : m) * from_bytes, static_cast<std::size_t>(bytes));
  }
}

}  // namespace drx::run
