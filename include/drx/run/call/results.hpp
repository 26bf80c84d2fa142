// drx/run/call/results.hpp: the results of a call: written where the caller wants them, or copied there.
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
class call_results : protected call_arguments<C> {
 protected:
  using base = call_arguments<C>;

  /// Before the program runs: makes stages write their results where they are wanted. r is the outputs from `out` on,
  /// which advances.
  template <class R>
  void bind_results(R& r, int& out) {
    if constexpr (detail::is_partitions<R>) {
      out += leaf_count<typename R::member>;
    } else if constexpr (detail::is_tuple<R>) {
      std::apply([&](auto&... part) { (bind_results(part, out), ...); }, r);
    } else if constexpr (requires { r.first; r.second; }) {
      bind_results(r.first, out);
      bind_results(r.second, out);
    } else {
      structure<R>::visit(r, [&](auto* p, const shape& s) {
        if constexpr (passed_on.any) {
          results_.resize(static_cast<std::size_t>(C::tape.regions[0].outputs.count));
          results_[static_cast<std::size_t>(out)] = {reinterpret_cast<std::byte*>(p), static_cast<std::size_t>(s.size()) * sizeof(*p)};
        }
        if (base::direct_slots.slot[out] >= 0) bind_result(out, reinterpret_cast<std::byte*>(p), s.size() * static_cast<std::int64_t>(sizeof(*p)));
        ++out;
      });
    }
  }
  /// The caller's memory, or memory of our own where an argument lies there too.
  void bind_result(int out, std::byte* data, std::int64_t bytes) {
    for (const auto& a : this->arguments_)
      if (base::overlap(a, {data, static_cast<std::size_t>(bytes)})) {
        data = own_result(out, bytes);
        break;
      }
    this->slots_[static_cast<std::size_t>(base::direct_slots.slot[out])] = data;
  }
  std::byte* own_result(int out, std::int64_t bytes) {
    own_results_.resize(static_cast<std::size_t>(C::tape.regions[0].outputs.count));
    buffer& own = own_results_[static_cast<std::size_t>(out)];
    own.grow(static_cast<std::size_t>(bytes));
    return own.data();
  }
  /// By output: whether it is an input.
  static constexpr auto passed_on = [] {
    struct {
      bool of[C::tape.regions[0].outputs.count + 1] = {};
      bool any = false;
    } r;
    if (C::tape.regions[0].outputs.count < 2) return r;
    for (int i = 0; i < C::tape.regions[0].outputs.count; ++i) {
      const int v = C::root(C::output(0, i));
      r.of[i] = C::tape.values[v].depth == 0 && C::definition(v) < 0;
      r.any = r.any || r.of[i];
    }
    return r;
  }();
  /// Copies inputs that are outputs, if another result is about to be written over them.
  void keep_inputs() {
    unroll<C::tape.regions[0].outputs.count>([&]<int I>(std::integral_constant<int, I>) {
      if constexpr (passed_on.of[I]) {
        std::byte*& input = this->slots_[static_cast<std::size_t>(C::plan.where[C::output(0, I)].offset)];
        constexpr std::int64_t bytes = C::bytes(C::output(0, I));
        const std::span<const std::byte> in{input, static_cast<std::size_t>(bytes)};
        bool overwritten = false;
        for (std::size_t k = 0; k < results_.size(); ++k) overwritten = overwritten || (k != static_cast<std::size_t>(I) && base::overlap(in, results_[k]));
        if (!overwritten) return;
        input = own_result(I, bytes);
        std::copy(in.begin(), in.end(), input);
      }
    });
  }
  /// After the program has run: copies the results that are not in place yet.
  template <class R>
  void extract(R& r, const frame& f, int& out) {
    if constexpr (detail::is_partitions<R>) {
      extract_placed(r, out);
    } else if constexpr (detail::is_tuple<R>) {
      std::apply([&](auto&... part) { (extract(part, f, out), ...); }, r);
    } else if constexpr (requires { r.first; r.second; }) {
      extract(r.first, f, out);
      extract(r.second, f, out);
    } else {
      structure<R>::visit(r, [&](auto* p, const shape& s) {
        const std::byte* from = output_address(f, out++);
        if (from != reinterpret_cast<const std::byte*>(p)) std::memcpy(p, from, static_cast<std::size_t>(s.size()) * sizeof(*p));
      });
    }
  }
  template <class S, class P>
  void extract_placed(partitions<S, P>& r, int& out) {
    const auto& m = this->members_[static_cast<std::size_t>(C::placements.index(&placement_of<P>))];
    if (m.storage && Placed<S>) throw std::invalid_argument("drx: a result nested in a subset of " + std::string(placement_of<P>.name));
    std::vector<std::byte*> data;
    frame f;
    f.slots = this->slots_.data();
    std::vector<int> axes;
    constexpr leaf_types<S> types;
    for (int i = 0; i < leaf_count<S>; ++i) {
      axes.push_back(output_axis(types[i].shape, out));
      data.push_back(const_cast<std::byte*>(output_address(f, out++)));
    }
    std::vector<std::vector<std::int64_t>> offsets;
    nested_offsets<S>(offsets, m.local);
    if (!r.boundaries().empty()) replaced_.push_back(std::make_shared<partitions<S, P>>(std::move(r)));
    r = partitions<S, P>({m.boundaries, m.boundaries + this->runtime_.communicator->size() + 1}, this->runtime_.communicator->rank(),
                         std::move(offsets), data, nullptr, base::shards_of(&placement_of<P>), axes);
    this->placed_results_.resize(static_cast<std::size_t>(C::tape.regions[0].outputs.count));
    for (int i = out - leaf_count<S>; i < out; ++i)
      if (own_outputs.of[i])
        this->placed_results_[static_cast<std::size_t>(i)] = {output_address(f, i), static_cast<std::size_t>(r.elements() * own_outputs.bytes[i])};
  }
  /// By output: the bytes of one member, and whether it is none of the inputs.
  static constexpr auto own_outputs = [] {
    struct {
      std::int64_t bytes[C::tape.regions[0].outputs.count + 1] = {};
      bool of[C::tape.regions[0].outputs.count + 1] = {};
    } r;
    for (int i = 0; i < C::tape.regions[0].outputs.count; ++i) {
      r.bytes[i] = C::bytes(C::output(0, i));
      r.of[i] = C::definition(C::root(C::output(0, i))) >= 0;
    }
    return r;
  }();
  /// The axis along which output `out` is split, if each member has an array of shape s.
  static int output_axis(const shape& s, int out) {
    int axis = -1;
    unroll<C::tape.regions[0].outputs.count>([&]<int V>(std::integral_constant<int, V>) {
      constexpr shape part = C::tape.values[C::output(0, V)].shape;
      if (V == out) axis = base::split_axis(s, part);
    });
    return axis;
  }
  template <class S>
  void nested_offsets(std::vector<std::vector<std::int64_t>>& lists, std::int64_t n) {
    if constexpr (Placed<S>) {
      const auto& m = this->members_[static_cast<std::size_t>(C::placements.index(&placement_of<typename S::placement>))];
      lists.emplace_back(m.offsets, m.offsets + n + 1);
      nested_offsets<typename S::member>(lists, lists.back().back());
    }
  }
  static const std::byte* output_address(const frame& f, int out) {
    const std::byte* at = nullptr;
    unroll<C::tape.regions[0].outputs.count>([&]<int I>(std::integral_constant<int, I>) {
      if (I == out) at = address<C, C::output(0, I)>(f);
    });
    return at;
  }

  std::vector<buffer> own_results_;  // by output
  std::vector<std::shared_ptr<void>> replaced_;  // results from before the call, which may be the call's arguments as well
  std::vector<std::span<const std::byte>> results_;  // by output, if an output is an input
};

}  // namespace run
}  // namespace drx
