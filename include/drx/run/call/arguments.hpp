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
#include <vector>

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

/// Checks arguments, one after the other, and binds them to the slots of the program's inputs.
class argument_binder {
 public:
  argument_binder(const call_facts& facts, call_state& s) : facts_(facts), s_(s) {
    std::fill(s.members.begin(), s.members.end(), membership{});
    s.arguments.clear();
  }
  /// The next argument begins; its leaves follow.
  void begin_argument() { ++argument_; }
  /// A leaf of an unplaced structure. It has as many elements as the program's.
  void leaf(const void* data, dtype type, const shape& of) {
    const input_facts& x = input();
    if (type != x.type || of.size() != x.part.size())
      throw std::invalid_argument(
          error::sentence({"drx: argument ", x.argument, ", leaf ", x.leaf, " is ", show(abstract_value(type, of)),
                           "; the program takes ", show(abstract_value(x.type, x.part))}));
    take(data, x.bytes);
  }
  /// Contiguous memory of the program's element type.
  void memory(const void* data, std::int64_t elements) {
    const input_facts& x = input();
    if (elements != x.part.size())
      throw std::invalid_argument(
          error::sentence({"drx: argument ", x.argument, " has ", elements, " elements; the program takes ",
                           show(abstract_value(x.type, x.part))}));
    take(data, x.bytes);
  }
  /// All leaves of placed members.
  void members(const placed_members& a, const placed_type& type) {
    require_ranks(a);
    require_layout(a, type);
    agree(a, type);
    std::int64_t elements = a.elements();
    for (std::int64_t i = 0; a.storage() && i < a.local(); ++i) elements = std::max(elements, a.storage()[i] + 1);
    for (int i = 0; i < static_cast<int>(type.leaves.size()); ++i) {
      const std::int64_t bytes = elements * input().bytes;
      take(not_written(a.leaf(i), bytes), bytes);
    }
  }

 private:
  [[nodiscard]] const input_facts& input() const { return facts_.inputs[slot_]; }
  void require_ranks(const placed_members& a) const {
    const auto ranks = static_cast<std::size_t>(s_.runtime.communicator->size());
    if (a.boundaries().size() == ranks + 1) return;
    throw std::invalid_argument(
        a.boundaries().empty()
            ? error::sentence({"drx: argument ", argument_, " was never placed; the program runs on ", ranks})
            : error::sentence({"drx: argument ", argument_, " was placed on ", a.boundaries().size() - 1,
                               " ranks; the program runs on ", ranks}));
  }
  /// Members come in as many shards, and split along the same axes, as the program takes them.
  void require_layout(const placed_members& a, const placed_type& type) const {
    const std::int64_t shards = facts_.shards_of(type.placements[0]);
    if (a.shards() != shards)
      throw std::invalid_argument(
          error::sentence({"drx: argument ", argument_, " has its ", type.placements[0]->name, " in ", a.shards(),
                           " shards; the program takes them in ", shards, shards > 1 ? " (drx::place_sharded)" : ""}));
    for (std::size_t i = 0; i < type.leaves.size(); ++i) {
      const int axis = call_facts::split_axis(type.leaves[i].shape, facts_.inputs[slot_ + i].part);
      const int own = a.split_axis(static_cast<int>(i));
      if (axis != own)
        throw std::invalid_argument(error::sentence({"drx: argument ", argument_, ", leaf ", i, " is split along axis ",
                                                     own, " (-1: whole); the program takes it along ", axis}));
    }
  }
  /// Notes the members that the argument tells, of the placements nested in it too.
  void agree(const placed_members& a, const placed_type& type) const {
    const call_members known{facts_, s_};
    membership m;
    m.total = a.total() * a.shards();
    m.first = a.first();
    m.local = a.local();
    m.boundaries = a.boundaries().data();
    m.storage = a.storage();
    m.chosen = a.chosen();
    m.choice = a.choice();
    known.agree(facts_.index(type.placements[0]), m, {argument_});
    for (std::size_t k = 1; k < type.placements.size(); ++k) {
      const std::vector<std::int64_t>& offsets = a.offsets(static_cast<int>(k) - 1);
      membership nested;
      nested.offsets = offsets.data();
      nested.local = static_cast<std::int64_t>(offsets.size()) - 1;
      nested.total = offsets.back();
      known.agree(facts_.index(type.placements[k]), nested, {argument_});
    }
  }
  /// `data` itself, or a copy of it if the program has returned it as a result and will write over it.
  std::byte* not_written(std::byte* data, std::int64_t bytes) const {
    const auto size = static_cast<std::size_t>(bytes);
    for (const std::span<const std::byte> result : s_.placed_results)
      if (overlap(result, {data, size})) {
        s_.copies.resize(facts_.inputs.size());
        buffer& copy = s_.copies[slot_];
        copy.grow(size);
        std::memcpy(copy.data(), data, size);
        return copy.data();
      }
    return data;
  }
  /// Binds the next input to `data`.
  void take(const void* data, std::int64_t bytes) {
    std::byte* const at = static_cast<std::byte*>(const_cast<void*>(data));
    s_.slots[slot_++] = at;
    if (facts_.writes_directly) s_.arguments.push_back({at, static_cast<std::size_t>(bytes)});
  }

  const call_facts& facts_;
  call_state& s_;
  std::size_t slot_ = 0;  // of the next input
  int argument_ = -1;
};

/// Binds an argument for an input of type I.
template <class I, class A>
void bind_argument(argument_binder& binder, const A& a) {
  binder.begin_argument();
  if constexpr (Placed<I>) {
    binder.members(a, placed_type_of<canonical_t<I>>::value);
  } else if constexpr (Structured<A>) {
    structure<A>::visit(
        a, [&](const auto* p, const shape& of) { binder.leaf(p, dtype_of<std::remove_cvref_t<decltype(*p)>>, of); });
  } else {  // std::span, std::vector, Kokkos::View
    binder.memory(a.data(), static_cast<std::int64_t>(a.size()));
  }
}
/// Binds all arguments of a program that has these inputs, and notes the members that they tell.
template <class... I, class... A>
void bind_arguments(std::type_identity<std::tuple<I...>>, const call_facts& facts, call_state& s,
                    const A&... arguments) {
  [[maybe_unused]] argument_binder binder(facts, s);
  (bind_argument<I>(binder, arguments), ...);
}

}  // namespace drx::run
