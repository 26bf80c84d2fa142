// drx/run/data/frame.hpp: the state of running code: the workspaces, the slots, and the member that it is at.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/plan/memory/workspace.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace drx::run {

/// The placements of a tape, numbered, each with the one that contains it (-1 at the top).
template <int Max>
struct placement_table {
  const placement_info* placement[Max + 1] = {};
  int parent[Max + 1] = {};
  int count = 0;

  constexpr int index(const placement_info* p) const {
    for (int i = 0; i < count; ++i)
      if (placement[i] == p) return i;
    return -1;
  }
  constexpr int add(const placement_info* p) {
    const int known = index(p);
    if (known >= 0) return known;
    placement[count] = p;
    parent[count] = -1;
    return count++;
  }
};

inline constexpr int most_placements = 16;  // of one program

template <class Frozen>
constexpr auto placements_of(const Frozen& t) {
  placement_table<most_placements> r;
  for (int v = 0; v < Frozen::sizes.values; ++v) {
    int outer = -1;
    for (int d = 0; d < t.values[v].depth; ++d) {
      const int inner = r.add(t.values[v].placements[d]);
      if (outer >= 0) r.parent[inner] = outer;
      outer = inner;
    }
  }
  // A stage in the body of another stage runs over members of that one's members, whether or not a value says so.
  int owner[Frozen::sizes.regions] = {-1};
  for (int region = 0; region < Frozen::sizes.regions; ++region)  // (a region comes after the one that contains it)
    for (int i = 0; i < t.regions[region].entries; ++i) {
      const auto& e = t.entries[t.regions[region].first_entry + i];
      const bool stage = e.prim == &prim::stage;
      const int p = e.placement ? r.add(e.placement) : -1;
      if (stage && owner[region] >= 0) r.parent[p] = owner[region];
      for (int k = 0; k < e.regions; ++k) owner[e.first_region + k] = stage ? p : owner[region];
    }
  return r;
}

/// The number of members of a placement on this rank, and the number of the first; for a nested placement, for each
/// parent.
struct membership {
  std::int64_t total = -1;  // over all ranks; -1: unknown
  std::int64_t first = 0;   // the number of the first one here
  std::int64_t local = 0;   // the number here
  const std::int64_t* offsets =
      nullptr;  // for a nested placement: member m of the parent has [offsets[m], offsets[m+1])
  const std::int64_t* storage = nullptr;     // for a subset: the position of each local member in the leaves
  const std::int64_t* boundaries = nullptr;  // for a placement at the top: rank r has [boundaries[r], boundaries[r+1])
  const std::int64_t* chosen = nullptr;      // for a subset: the members' numbers in the whole, on all ranks
  std::int64_t choice = 0;                   // a hash of these
};

/// The state of one thread.
struct frame {
  std::byte* server = nullptr;
  std::byte* thread = nullptr;
  std::byte** slots = nullptr;
  const membership* members = nullptr;
  std::int64_t* at = nullptr;  // by placement: the local number of the member that this thread is at
  void* runtime = nullptr;     // of the stage runner: arenas, executor, communicator
  int thread_number = 0;
  bool alone = false;  // no other thread of this program is at work: nested placements and large products may use all
};

/// The sizes of a program's frames.
struct frame_sizes {
  int slots = 0, placements = 0;
  int of_thread = 1;              // frames that each thread has
  std::int64_t thread_bytes = 0;  // of one frame's workspace
};

/// The compile-time side of a running program, by type. `Lowered` has its tape, plan and mesh (plan::lowered).
template <class Lowered>
struct code {
  static constexpr const auto& tape = Lowered::tape;
  static constexpr const auto& plan = Lowered::plan;
  static constexpr const auto& mesh = Lowered::mesh;
  static constexpr auto placements = placements_of(tape);
  static constexpr frozen_sizes sizes = std::remove_cvref_t<decltype(tape)>::sizes;
  static constexpr tape_numbers<sizes.entries, sizes.values, sizes.pool> numbers{tape};
  static constexpr const auto& values = numbers.values;
  static constexpr int operand(int e, int i) { return numbers.operand(e, i); }
  static constexpr int result(int e, int i) { return numbers.result(e, i); }
  static constexpr int_list attributes(int e) { return numbers.attributes(e); }
  static constexpr int input(int r, int i) { return static_cast<int>(tape.pool[tape.regions[r].inputs.first + i]); }
  static constexpr int output(int r, int i) { return static_cast<int>(tape.pool[tape.regions[r].outputs.first + i]); }
  static constexpr int root(int v) {
    while (plan.root[v] != v) v = plan.root[v];
    return v;
  }
  static constexpr std::int64_t bytes(int v) { return numbers.bytes[v]; }
  /// The entry that defines v, or -1.
  static constexpr int definition(int v) { return plan.definition[v]; }
};

template <class Program>
using code_of = code<plan::lowered_t<Program>>;

/// p, hidden from g++'s analysis. Otherwise, in a loop over numbers of several sizes, g++ 12 may count in addresses of
/// one array (ivopts), write those of the others as differences from null, and take stores there for dead.
DRX_FN inline std::byte* unrelated(std::byte* p) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDA_ARCH__)
  asm volatile("" : "+r"(p) : : "memory");
#endif
  return p;
}
/// The slot of value V. (A constant by itself: device code must not name the plan, which lies in the host's memory.)
template <class C, int V>
inline constexpr std::int64_t slot_of = C::plan.where[V].offset;
template <class C, int V>
DRX_FN inline std::byte* address(const frame& f) {
  constexpr plan::location l = C::plan.where[V];
  static_assert(l.space != plan::space::nowhere, "drx: a value is read that was given no place");
  if constexpr (l.space == plan::space::slot) {
    return unrelated(f.slots[l.offset]);
  } else if constexpr (l.space == plan::space::server) {
    return unrelated(f.server + l.offset);
  } else {
    return unrelated(f.thread + l.offset);
  }
}
/// The same of a place that is known at run time only.
DRX_FN inline std::byte* address_at(const frame& f, plan::location l) {
  if (l.space == plan::space::slot) return f.slots[l.offset];
  return (l.space == plan::space::server ? f.server : f.thread) + l.offset;
}
/// The scratch memory that the plan gave entry E beside its operands and results; null where it has none.
template <class C, int E>
DRX_FN inline std::byte* scratch(const frame& f) {
  constexpr plan::location l = C::plan.scratch[E];
  if constexpr (l.space == plan::space::server) {
    return f.server + l.offset;
  } else if constexpr (l.space == plan::space::thread) {
    return f.thread + l.offset;
  } else if constexpr (l.space == plan::space::slot) {
    return f.slots[l.offset];
  } else {
    return nullptr;
  }
}
/// The elements of value V; `f` is a frame, or knows its workspaces.
template <class T, class C, int V, class Frame>
DRX_FN inline T* elements(const Frame& f) {
  return reinterpret_cast<T*>(address<C, V>(f));
}
template <class C, int V>
using element_of = element_t<C::values[V].type>;

/// Calls f(integral_constant<int, i>) for i in [0, N).
template <int N, class F>
DRX_FN constexpr void unroll(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

}  // namespace drx::run
