// drx/run/kernels/kernel.hpp: kernels: the code of a step that is one entry is a specialisation of `kernel`. Without
// one, the entry is computed by its primitive's plain evaluation: right, but neither fast nor free of allocation.
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/run/data/frame.hpp>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace drx::run {

/// Runs all steps of a region (run/kernels/all.hpp).
template <class C, int Region>
void run_region(frame& f);

/// Computes entry E by its primitive's plain evaluation.
template <class C, int E>
struct plain_kernel {
  struct plain final : evaluation {
    frame& f;
    plain(const entry& of, frame& at) : evaluation(of), f(at) {}
    std::vector<tensor> run(const drx::tape&, std::vector<tensor>) override {
      throw std::logic_error("drx: a region in a plain kernel");
    }
    std::vector<tensor> run_member(const drx::tape& t, std::vector<tensor> i, std::int64_t) override {
      return run(t, std::move(i));
    }
    std::int64_t members(const placement_info* p) override { return f.members[C::placements.index(p)].total; }
  };
  static void run(frame& f) {
    static_assert(C::tape.entries[E].regions == 0, "drx: a primitive with regions needs a kernel");
    constexpr auto& x = C::tape.entries[E];
    entry e;
    e.prim = x.prim;
    e.attrs.ints = C::attributes(E);
    e.attrs.number = x.number;
    e.attrs.placement = x.placement;
    plain v(e, f);
    std::vector<tensor> in;
    unroll<x.operands.count>([&]<int I>(std::integral_constant<int, I>) {
      constexpr int o = C::operand(E, I);
      in.emplace_back(C::values[o]);
      std::copy_n(address<C, o>(f), in.back().bytes.size(), in.back().bytes.begin());  // (memcpy takes no null pointer)
    });
    for (const tensor& t : in) v.in.push_back(&t);
    for (int i = 0; i < x.results.count; ++i) v.out.emplace_back(C::values[C::result(E, i)]);
    x.prim->evaluate(v);
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) {
      std::copy_n(v.out[I].bytes.begin(), v.out[I].bytes.size(), address<C, C::result(E, I)>(f));
    });
  }
};

/// Computes entry E by its primitive's `native` function, a constant that the compiler may inline.
template <class C, int E>
struct native_kernel {
  static constexpr auto& x = C::tape.entries[E];
  struct list {
    std::int64_t at[C::attributes(E).size() + 1] = {};
  };
  static constexpr list ints = [] {
    list r;
    int n = 0;
    for (auto i : C::attributes(E)) r.at[n++] = i;
    return r;
  }();
  static void run(frame& f) {
    const void* in[x.operands.count > 0 ? x.operands.count : 1] = {};
    void* out[x.results.count > 0 ? x.results.count : 1] = {};
    unroll<x.operands.count>([&]<int I>(std::integral_constant<int, I>) { in[I] = address<C, C::operand(E, I)>(f); });
    unroll<x.results.count>([&]<int I>(std::integral_constant<int, I>) { out[I] = address<C, C::result(E, I)>(f); });
    constexpr auto native = x.prim->native;
    native(ints.at, in, out);
  }
};

/// The kernel of entry E, of primitive P.
template <class C, int E, const primitive* P>
struct kernel : std::conditional_t<P->native != nullptr, native_kernel<C, E>, plain_kernel<C, E>> {};

}  // namespace drx::run
