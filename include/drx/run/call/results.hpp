// drx/run/call/results.hpp: the results of a call: written where the caller wants them, or copied there.
// Tested by tests/unit/run/placed_results.cpp and tests/unit/run/results_over_arguments.cpp.
#pragma once

#include <drx/run/call/arguments.hpp>

#include <cstring>
#include <span>
#include <stdexcept>
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

/// Calls visitor.leaf(data, bytes) or visitor.members(partitions, its placed_type) for each part of a result, in the
/// order of the program's outputs.
template <class R, class Visitor>
void visit_result(R& r, Visitor& visitor) {
  if constexpr (drx::detail::is_partitions<R>) {
    visitor.members(r, placed_type_of<placed<typename R::member, typename R::placement>>::value);
  } else if constexpr (drx::detail::is_tuple<R>) {
    std::apply([&](auto&... part) { (visit_result(part, visitor), ...); }, r);
  } else if constexpr (requires {
                         r.first;
                         r.second;
                       }) {
    visit_result(r.first, visitor);
    visit_result(r.second, visitor);
  } else {
    structure<R>::visit(r, [&](auto* p, const shape& of) {
      visitor.leaf(reinterpret_cast<std::byte*>(p), static_cast<std::size_t>(of.size()) * sizeof(*p));
    });
  }
}

/// The memory of an output that cannot be written at once where the caller wants it.
inline std::byte* own_result(const call_facts& facts, call_state& s, std::size_t out, std::size_t bytes) {
  s.own_results.resize(facts.outputs.size());
  buffer& own = s.own_results[out];
  own.grow(bytes);
  return own.data();
}

/// Before the program runs: makes stages write their results where the caller wants them.
class result_binder {
 public:
  result_binder(const call_facts& facts, call_state& s) : facts_(facts), s_(s) {}

  void leaf(std::byte* data, std::size_t bytes) {
    if (facts_.passes_on) {
      s_.results.resize(facts_.outputs.size());
      s_.results[out_] = {data, bytes};
    }
    if (const auto slot = facts_.outputs[out_].direct_slot; slot)
      s_.slots[static_cast<std::size_t>(*slot)] = place(data, bytes);
    ++out_;
  }
  void members(const placed_members&, const placed_type& type) { out_ += type.leaves.size(); }

 private:
  /// The caller's memory, or memory of our own where an argument lies there too.
  [[nodiscard]] std::byte* place(std::byte* data, std::size_t bytes) const {
    for (const std::span<const std::byte> a : s_.arguments)
      if (overlap(a, {data, bytes})) return own_result(facts_, s_, out_, bytes);
    return data;
  }

  const call_facts& facts_;
  call_state& s_;
  std::size_t out_ = 0;
};

/// After the program has run: copies the results that are not in place yet.
class result_giver {
 public:
  result_giver(const call_facts& facts, call_state& s, const frame& f) : facts_(facts), s_(s), f_(f) {
    if (facts.passes_on) save_inputs();
  }

  void leaf(std::byte* data, std::size_t bytes) {
    const std::byte* from = address_at(f_, facts_.outputs[out_++].where);
    if (from != data) std::memcpy(data, from, bytes);
  }
  template <class S, class P>
  void members(partitions<S, P>& r, const placed_type& type) {
    const int p = facts_.index(type.placements[0]);
    const membership& m = s_.members[static_cast<std::size_t>(p)];
    std::vector<std::vector<std::int64_t>> offsets = nested_offsets(type, m);
    auto [data, axes] = leaves(type);
    if (!r.boundaries().empty()) s_.replaced.push_back(std::move(r));
    r = partitions<S, P>({m.boundaries, m.boundaries + s_.runtime.communicator->size() + 1},
                         s_.runtime.communicator->rank(), std::move(offsets), data, nullptr, facts_.at(p).shards, axes);
    note(r.elements(), type.leaves.size());
  }

 private:
  /// Copies inputs that are outputs, if another result is about to be written over them.
  void save_inputs() {
    for (std::size_t i = 0; i < facts_.outputs.size(); ++i) {
      const output_facts& x = facts_.outputs[i];
      if (!x.is_passed_on) continue;
      std::byte*& input = s_.slots[static_cast<std::size_t>(x.where.offset)];
      const std::span<const std::byte> in{input, static_cast<std::size_t>(x.bytes)};
      bool overwritten = false;
      for (std::size_t k = 0; k < s_.results.size(); ++k)
        overwritten = overwritten || (k != i && overlap(in, s_.results[k]));
      if (!overwritten) continue;
      input = own_result(facts_, s_, i, in.size());
      std::copy(in.begin(), in.end(), input);
    }
  }
  /// The memory of the leaves of placed output out_, and the axes along which they are split.
  [[nodiscard]] std::pair<std::vector<std::byte*>, std::vector<int>> leaves(const placed_type& type) const {
    std::vector<std::byte*> data;
    std::vector<int> axes;
    for (std::size_t i = 0; i < type.leaves.size(); ++i) {
      const output_facts& x = facts_.outputs[out_ + i];
      data.push_back(address_at(f_, x.where));
      axes.push_back(call_facts::split_axis(type.leaves[i].shape, x.part));
    }
    return {data, axes};
  }
  [[nodiscard]] std::vector<std::vector<std::int64_t>> nested_offsets(const placed_type& type,
                                                                      const membership& outer) const {
    if (outer.chosen && type.placements.size() > 1)
      throw std::invalid_argument(error::sentence({"drx: a result nested in a subset of ", type.placements[0]->name}));
    std::vector<std::vector<std::int64_t>> lists;
    std::int64_t n = outer.local;
    for (std::size_t k = 1; k < type.placements.size(); ++k) {
      const std::int64_t* offsets = s_.members[static_cast<std::size_t>(facts_.index(type.placements[k]))].offsets;
      lists.emplace_back(offsets, offsets + n + 1);
      n = lists.back().back();
    }
    return lists;
  }
  /// Notes the memory of the next leaves, which the next call writes over.
  void note(std::int64_t elements, std::size_t leaves) {
    s_.placed_results.resize(facts_.outputs.size());
    for (const std::size_t end = out_ + leaves; out_ < end; ++out_)
      if (const output_facts& x = facts_.outputs[out_]; x.is_own)
        s_.placed_results[out_] = {address_at(f_, x.where), static_cast<std::size_t>(elements * x.bytes)};
  }

  const call_facts& facts_;
  call_state& s_;
  const frame& f_;
  std::size_t out_ = 0;
};

template <class R>
void bind_results(const call_facts& facts, call_state& s, R& r) {
  result_binder binder(facts, s);
  visit_result(r, binder);
}
template <class R>
void give_results(const call_facts& facts, call_state& s, const frame& f, R& r) {
  result_giver giver(facts, s, f);
  visit_result(r, giver);
  s.replaced.clear();
}

}  // namespace run
}  // namespace drx
