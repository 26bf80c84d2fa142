// drx/run/fused/arrays.hpp: the addresses of the arrays that a fused loop reads and writes.
// Tested by tests/unit/run/long_fused_loops.cpp.
#pragma once

#include <drx/run/fused/loop.hpp>

#include <bit>

namespace drx::run {

/// A frame's workspaces as a fused loop sees them: one base, hidden from g++ (`unrelated`), for all arrays of numbers
/// of one size. What lies behind a base has a constant distance from it, which needs no register, where an address of
/// its own for each array would be written down before the loop and read again in each step.
template <class Loop>
class fused_arrays {
  using C = typename Loop::code;
  static constexpr int size_of(dtype type) { return std::countr_zero(static_cast<unsigned>(byte_size(type))); }
  /// Whether the loop reads or writes numbers of a size, by its logarithm, in a workspace.
  struct sizes_used {
    bool server[4] = {}, thread[4] = {};
  };
  static constexpr sizes_used used = [] {
    sizes_used u;
    const auto use = [&](int v) {
      const int size = size_of(C::values[v].type);
      u.server[size] = u.server[size] || C::plan.where[v].space == plan::space::server;
      u.thread[size] = u.thread[size] || C::plan.where[v].space == plan::space::thread;
    };
    for (int m = 0; m < Loop::count; ++m) {
      if (C::plan.stored[Loop::result(m)]) use(Loop::result(m));
      for (int i = 0; i < Loop::arity(m); ++i)
        if (const detail::source s = Loop::operand(m, i); s.kind == detail::source_kind::memory) use(s.value);
    }
    return u;
  }();

  const frame& f_;
  std::byte *server_[4] = {}, *thread_[4] = {};

 public:
  DRX_INLINE explicit fused_arrays(const frame& f) : f_(f) {
    unroll<4>([&]<int Size>(std::integral_constant<int, Size>) __attribute__((always_inline)) {
      if constexpr (used.server[Size]) server_[Size] = unrelated(f.server);
      if constexpr (used.thread[Size]) thread_[Size] = unrelated(f.thread);
    });
  }
  /// The address of value V. (One of another size, or what a rearrangement reads elsewhere, is hidden by itself.)
  template <int V>
  DRX_INLINE std::byte* address() const {
    constexpr plan::location l = C::plan.where[V];
    constexpr int size = size_of(C::values[V].type);
    if constexpr (l.space == plan::space::server && used.server[size]) {
      return server_[size] + l.offset;
    } else if constexpr (l.space == plan::space::thread && used.thread[size]) {
      return thread_[size] + l.offset;
    } else {
      return run::address<C, V>(f_);
    }
  }
};
template <class C, int V, class Loop>
DRX_INLINE std::byte* address(const fused_arrays<Loop>& arrays) {
  return arrays.template address<V>();
}

}  // namespace drx::run
