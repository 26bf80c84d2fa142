// drx/run/call/results.hpp: the results of a call: written where the caller wants them, or copied there.
// Tested by tests/unit/run/placed_results.cpp and tests/unit/run/results_over_arguments.cpp.
#pragma once

#include <drx/run/call/arguments.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace drx {

namespace detail {
template <class R>
inline constexpr bool is_partitions = false;
template <class S, class P>
inline constexpr bool is_partitions<partitions<S, P>> = true;
template <class R>
inline constexpr bool is_tuple = false;
template <class... X>
inline constexpr bool is_tuple<std::tuple<X...>> = true;
/// Whether a result is, or holds, a view of the program's memory.
template <class R>
inline constexpr bool is_view = is_partitions<R>;
template <class... X>
inline constexpr bool is_view<std::tuple<X...>> = (is_view<X> || ...);
template <class X, class Y>
inline constexpr bool is_view<std::pair<X, Y>> = is_view<X> || is_view<Y>;
}  // namespace detail

namespace run {

template <class C>
struct call_results {
  using facts = call_facts<C>;

  /// Before the program runs: makes stages write their results where the caller wants them.
  template <class R>
  static void bind_all(call_state& s, R& r) {
    int out = 0;
    if constexpr (facts::direct_slots.any || facts::passed_on.any) bind(s, r, out);
  }
  /// After the program has run: copies the results that are not in place yet.
  template <class R>
  static void give(call_state& s, const frame& f, R& r) {
    if constexpr (facts::passed_on.any) save_inputs(s);
    int out = 0;
    extract(s, r, f, out);
    s.replaced.clear();
  }

 private:
  /// r is the outputs from `out` on, which advances.
  template <class R>
  static void bind(call_state& s, R& r, int& out) {
    if constexpr (drx::detail::is_partitions<R>) {
      out += leaf_count<typename R::member>;
    } else if constexpr (drx::detail::is_tuple<R>) {
      std::apply([&](auto&... part) { (bind(s, part, out), ...); }, r);
    } else if constexpr (requires {
                           r.first;
                           r.second;
                         }) {
      bind(s, r.first, out);
      bind(s, r.second, out);
    } else {
      structure<R>::visit(r, [&](auto* p, const shape& of) {
        std::byte* const data = reinterpret_cast<std::byte*>(p);
        const std::size_t bytes = static_cast<std::size_t>(of.size()) * sizeof(*p);
        if constexpr (facts::passed_on.any) {
          s.results.resize(static_cast<std::size_t>(facts::outputs));
          s.results[static_cast<std::size_t>(out)] = {data, bytes};
        }
        if (facts::direct_slots.slot[out] >= 0) bind_result(s, out, data, bytes);
        ++out;
      });
    }
  }
  /// The caller's memory, or memory of our own where an argument lies there too.
  static void bind_result(call_state& s, int out, std::byte* data, std::size_t bytes) {
    for (const std::span<const std::byte> a : s.arguments)
      if (overlap(a, {data, bytes})) {
        data = own_result(s, out, bytes);
        break;
      }
    s.slots[static_cast<std::size_t>(facts::direct_slots.slot[out])] = data;
  }
  static std::byte* own_result(call_state& s, int out, std::size_t bytes) {
    s.own_results.resize(static_cast<std::size_t>(facts::outputs));
    buffer& own = s.own_results[static_cast<std::size_t>(out)];
    own.grow(bytes);
    return own.data();
  }
  /// Copies inputs that are outputs, if another result is about to be written over them.
  static void save_inputs(call_state& s) {
    unroll<facts::outputs>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (facts::passed_on.of[I]) {
        std::byte*& input = s.slots[static_cast<std::size_t>(C::plan.where[C::output(0, I)].offset)];
        constexpr auto bytes = static_cast<std::size_t>(C::bytes(C::output(0, I)));
        const std::span<const std::byte> in{input, bytes};
        bool overwritten = false;
        for (std::size_t k = 0; k < s.results.size(); ++k)
          overwritten = overwritten || (k != static_cast<std::size_t>(I) && overlap(in, s.results[k]));
        if (!overwritten) return;
        input = own_result(s, I, bytes);
        std::copy(in.begin(), in.end(), input);
      }
    });
  }
  template <class R>
  static void extract(call_state& s, R& r, const frame& f, int& out) {
    if constexpr (drx::detail::is_partitions<R>) {
      extract_placed(s, r, f, out);
    } else if constexpr (drx::detail::is_tuple<R>) {
      std::apply([&](auto&... part) { (extract(s, part, f, out), ...); }, r);
    } else if constexpr (requires {
                           r.first;
                           r.second;
                         }) {
      extract(s, r.first, f, out);
      extract(s, r.second, f, out);
    } else {
      structure<R>::visit(r, [&](auto* p, const shape& of) {
        const std::byte* from = output_address(f, out++);
        if (from != reinterpret_cast<const std::byte*>(p))
          std::memcpy(p, from, static_cast<std::size_t>(of.size()) * sizeof(*p));
      });
    }
  }
  template <class S, class P>
  static void extract_placed(call_state& s, partitions<S, P>& r, const frame& f, int& out) {
    const membership& m = s.members[static_cast<std::size_t>(C::placements.index(&placement_of<P>))];
    if (m.storage && Placed<S>)
      throw std::invalid_argument("drx: a result nested in a subset of " + std::string(placement_of<P>.name));
    std::vector<std::byte*> data;
    std::vector<int> axes;
    constexpr leaf_types<S> types;
    for (int i = 0; i < leaf_count<S>; ++i) {
      axes.push_back(output_axis(types[i].shape, out));
      data.push_back(const_cast<std::byte*>(output_address(f, out++)));
    }
    std::vector<std::vector<std::int64_t>> offsets;
    nested_offsets<S>(s, offsets, m.local);
    if (!r.boundaries().empty()) s.replaced.push_back(std::make_shared<partitions<S, P>>(std::move(r)));
    r = partitions<S, P>({m.boundaries, m.boundaries + s.runtime.communicator->size() + 1},
                         s.runtime.communicator->rank(), std::move(offsets), data, nullptr,
                         facts::shards_of(&placement_of<P>), axes);
    s.placed_results.resize(static_cast<std::size_t>(facts::outputs));
    for (int i = out - leaf_count<S>; i < out; ++i)
      if (facts::own_outputs.of[i])
        s.placed_results[static_cast<std::size_t>(i)] = {
            output_address(f, i), static_cast<std::size_t>(r.elements() * facts::own_outputs.bytes[i])};
  }
  /// The axis along which output `out` is split, if each member has an array of shape `whole`.
  static int output_axis(const shape& whole, int out) {
    int axis = -1;
    unroll<facts::outputs>([&]<int V>(std::integral_constant<int, V>) {
      constexpr shape part = C::values[C::output(0, V)].shape;
      if (V == out) axis = facts::split_axis(whole, part);
    });
    return axis;
  }
  template <class S>
  static void nested_offsets(const call_state& s, std::vector<std::vector<std::int64_t>>& lists, std::int64_t n) {
    if constexpr (Placed<S>) {
      const membership& m =
          s.members[static_cast<std::size_t>(C::placements.index(&placement_of<typename S::placement>))];
      lists.emplace_back(m.offsets, m.offsets + n + 1);
      nested_offsets<typename S::member>(s, lists, lists.back().back());
    }
  }
  static const std::byte* output_address(const frame& f, int out) {
    const std::byte* at = nullptr;
    unroll<facts::outputs>([&]<int I>(std::integral_constant<int, I>) {
      if (I == out) at = address<C, C::output(0, I)>(f);
    });
    return at;
  }
};

}  // namespace run
}  // namespace drx
