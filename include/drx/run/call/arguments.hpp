// drx/run/call/arguments.hpp: the arguments of a call: they are checked, and bound to the slots of the program's
// inputs.
// Tested by tests/unit/run/placed_results.cpp and tests/mpi/failures/main.cpp.
#pragma once

#include <drx/run/call/members.hpp>
#include <drx/run/data/partitions.hpp>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace drx::run {

/// Whether A holds the members of an input of type I: it is a partitions<S, P> with the S and P of I.
template <class I, class A>
inline constexpr bool holds_members = requires(const A& a) {
  []<class S, class P>(const partitions<S, P>&)
    requires(std::is_same_v<canonical_t<I>, placed<S, P>>)
  {}(a);
};
template <class A, class T>
concept MemoryOf = requires(const A& a) {
  { *a.data() } -> std::convertible_to<const T&>;
  a.size();
} && std::is_same_v<std::remove_cvref_t<decltype(*std::declval<const A&>().data())>, T>;
/// Whether A can be the argument for an input I: its members, a structure with as many leaves, or contiguous memory of
/// its element type. (Shapes of structures are compared at the call.)
template <class I, class A>
constexpr bool goes_for_input() {
  if constexpr (Placed<I>) {
    return holds_members<I, A>;
  } else if constexpr (Structured<A>) {
    return leaf_count<A> == leaf_count<I>;
  } else if constexpr (leaf_count<I> == 1) {
    constexpr leaf_types<I> types;
    return MemoryOf<A, element_t<types[0].type>>;
  } else {
    return false;
  }
}
/// The misuse in calling a program of the given inputs with A...; `no_misuse` where there is none.
template <class... I, class... A>
constexpr auto call_misuse(std::type_identity<std::tuple<I...>>, std::type_identity<A>...) {
  if constexpr (sizeof...(I) != sizeof...(A)) {
    return error::wrong_number_of_arguments{};
  } else {
    return std::conditional_t<(goes_for_input<I, A>() && ...), drx::detail::no_misuse,
                              error::argument_is_not_the_input_of_the_program>{};
  }
}
template <class Inputs, class... A>
using call_misuse_t = decltype(call_misuse(std::type_identity<Inputs>{}, std::type_identity<A>{}...));
template <class Inputs, class... A>
concept CallArguments = std::is_same_v<call_misuse_t<Inputs, A...>, drx::detail::no_misuse>;

inline bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::less<>{}(b.data(), a.data() + a.size()) && std::less<>{}(a.data(), b.data() + b.size());
}

template <class C>
struct call_arguments {
  using facts = call_facts<C>;
  using members = call_members<C>;

  /// Binds all arguments of a program that has Inputs, and notes the members that they tell.
  template <class Inputs, class... A>
  static void bind_all(call_state& s, const A&... arguments) {
    std::fill(s.members.begin(), s.members.end(), membership{});
    s.arguments.clear();
    int slot = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (bind<std::tuple_element_t<I, Inputs>>(s, arguments, slot, static_cast<int>(I)), ...);
    }(std::make_index_sequence<sizeof...(A)>{});
  }

 private:
  /// Binds argument `number`, for which the program has an input I, to the slots from `slot` on, which advances.
  template <class I, class A>
  static void bind(call_state& s, const A& a, int& slot, int number) {
    if constexpr (Placed<I>) {
      bind_placed<I>(s, a, slot, number);
    } else if constexpr (Structured<A>) {
      constexpr leaf_types<I> types;
      int k = 0;
      structure<A>::visit(a, [&](const auto* p, const shape& of) {
        using T = std::remove_cvref_t<decltype(*p)>;
        if (dtype_of<T> != types[k].type || of.size() != types[k].shape.size())
          throw std::invalid_argument("drx: argument " + std::to_string(number) + ", leaf " + std::to_string(k) +
                                      " is " + show(abstract_value(dtype_of<T>, of)) + "; the program takes " +
                                      show(types[k]));
        ++k;
        take(s, slot, reinterpret_cast<std::byte*>(const_cast<T*>(p)),
             of.size() * static_cast<std::int64_t>(sizeof(T)));
      });
    } else {  // contiguous memory: std::span, std::vector, Kokkos::View
      constexpr leaf_types<I> types;
      using T = std::remove_cvref_t<decltype(*a.data())>;
      if (static_cast<std::int64_t>(a.size()) != types[0].shape.size())
        throw std::invalid_argument("drx: argument " + std::to_string(number) + " has " + std::to_string(a.size()) +
                                    " elements; the program takes " + show(types[0]));
      take(s, slot, reinterpret_cast<std::byte*>(const_cast<T*>(a.data())),
           types[0].shape.size() * static_cast<std::int64_t>(sizeof(T)));
    }
  }
  template <class I, class S, class P>
  static void bind_placed(call_state& s, const partitions<S, P>& a, int& slot, int number) {
    const std::string name = "argument " + std::to_string(number);
    const auto ranks = static_cast<std::size_t>(s.runtime.communicator->size());
    if (a.boundaries().size() != ranks + 1)
      throw std::invalid_argument("drx: " + name +
                                  (a.boundaries().empty()
                                       ? " was never placed"
                                       : " was placed on " + std::to_string(a.boundaries().size() - 1) + " ranks") +
                                  "; the program runs on " + std::to_string(ranks));
    check_layout<canonical_t<I>>(a, slot, name);
    membership m;
    m.total = a.total() * a.shards();
    m.first = a.first();
    m.local = a.local();
    m.boundaries = a.boundaries().data();
    m.storage = a.storage();
    m.chosen = a.chosen();
    m.choice = a.choice();
    members::agree(s, C::placements.index(&placement_of<P>), m, name);
    bind_nested<S>(s, a, 0, name);
    std::int64_t elements = a.elements();
    for (std::int64_t i = 0; a.storage() && i < a.local(); ++i) elements = std::max(elements, a.storage()[i] + 1);
    for (int i = 0; i < leaf_count<I>; ++i) {
      const std::int64_t bytes = elements * facts::input_bytes.of[slot];
      take(s, slot, not_written(s, a.leaf(i), bytes, slot), bytes);
    }
  }
  /// Binds the members of the placements nested in S.
  template <class S, class A>
  static void bind_nested(call_state& s, const A& a, int level, const std::string& name) {
    if constexpr (Placed<S>) {
      membership m;
      m.offsets = a.offsets(level).data();
      m.local = static_cast<std::int64_t>(a.offsets(level).size()) - 1;
      m.total = a.offsets(level).back();
      members::agree(s, C::placements.index(&placement_of<typename S::placement>), m, name);
      bind_nested<typename S::member>(s, a, level + 1, name);
    }
  }
  /// Checks that members come in as many shards, and split along the same axes, as the program takes them.
  template <class I, class S, class P>
  static void check_layout(const partitions<S, P>& a, int slot, const std::string& name) {
    constexpr std::int64_t shards = facts::shards_of(&placement_of<P>);
    if (a.shards() != shards)
      throw std::invalid_argument("drx: " + name + " has its " + std::string(placement_of<P>.name) + " in " +
                                  std::to_string(a.shards()) + " shards; the program takes them in " +
                                  std::to_string(shards) + (shards > 1 ? " (drx::place_sharded)" : ""));
    constexpr leaf_types<I> types;
    unroll<facts::inputs>([&]<int V>(std::integral_constant<int, V>) {
      if (V < slot || V >= slot + leaf_count<I>) return;
      constexpr shape part = C::values[C::input(0, V)].shape;  // (a copy: see plan/fingerprint.hpp)
      const int axis = facts::split_axis(types[V - slot].shape, part);
      if (axis != a.split_axis(V - slot))
        throw std::invalid_argument("drx: " + name + ", leaf " + std::to_string(V - slot) + " is split along axis " +
                                    std::to_string(a.split_axis(V - slot)) +
                                    " (-1: whole); the program takes it along " + std::to_string(axis));
    });
  }
  /// `data` itself, or a copy of it if the program has returned it as a result and will write over it.
  static std::byte* not_written(call_state& s, std::byte* data, std::int64_t bytes, int slot) {
    const auto size = static_cast<std::size_t>(bytes);
    for (const std::span<const std::byte> result : s.placed_results)
      if (overlap(result, {data, size})) {
        s.copies.resize(static_cast<std::size_t>(facts::inputs));
        buffer& copy = s.copies[static_cast<std::size_t>(slot)];
        copy.grow(size);
        std::memcpy(copy.data(), data, size);
        return copy.data();
      }
    return data;
  }
  /// Binds the next input to `data`.
  static void take(call_state& s, int& slot, std::byte* data, std::int64_t bytes) {
    s.slots[static_cast<std::size_t>(slot++)] = data;
    if constexpr (facts::direct_slots.any) s.arguments.push_back({data, static_cast<std::size_t>(bytes)});
  }
};

}  // namespace drx::run
