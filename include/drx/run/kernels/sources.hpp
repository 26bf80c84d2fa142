// drx/run/kernels/sources.hpp: the kernels of entries without array operands: members' numbers, stored constants,
// random numbers.
// Tested by tests/unit/run/random.cpp and tests/unit/run/executor_placements.cpp.
#pragma once

#include <drx/run/kernels/kernel.hpp>
#include <drx/run/packs/inlining.hpp>

namespace drx::run {

template <class C, int E>
struct kernel<C, E, &prim::members> {
  DRX_FN static void run(frame& f) {
    constexpr int v = C::result(E, 0);
    constexpr int p = C::placements.index(C::tape.entries[E].placement);
    constexpr int parent = C::placements.parent[p];
    std::int64_t n = f.members[p].total;
    if constexpr (parent >= 0) n = f.members[p].offsets[f.at[parent] + 1] - f.members[p].offsets[f.at[parent]];
    *elements<element_of<C, v>, C, v>(f) = static_cast<element_of<C, v>>(n);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::data> {
  DRX_FN static void run(frame& f) {
    constexpr int y = C::result(E, 0);
    constexpr prim::rules::data::view data(C::attributes(E));
    using T = element_of<C, y>;
    T* q = elements<T, C, y>(f);
    for (int i = 0; i < data.stored.size(); ++i) q[i] = data.template element<T>(i);
  }
};

template <class C, int E>
struct kernel<C, E, &prim::random_bits> {
  DRX_FN static void run(frame& f) {
    constexpr int x = C::operand(E, 0), y = C::result(E, 0);
    constexpr auto what = prim::rules::random_bits::view(C::attributes(E)).what;
    constexpr std::int64_t keys = C::values[x].shape.size() / 2;
    constexpr std::int64_t each = keys == 0 ? 0 : C::values[y].shape.size() / keys;
    constexpr std::int64_t numbers = what == prim::rules::random_bits::keys ? each / 2 : each;
    const std::int32_t* p = elements<const std::int32_t, C, x>(f);
    auto* q = elements<element_of<C, y>, C, y>(f);
    for (std::int64_t k = 0; k < keys; ++k, q += each) {
      const word_pair key = prim::rules::random_bits::key_from(p + 2 * k);
      DRX_INDEPENDENT_STEPS
      for (std::int64_t i = 0; i < numbers; ++i)
        prim::rules::random_bits::write<what>(key, static_cast<std::uint64_t>(i), q);
    }
  }
};

template <class C, int E>
struct kernel<C, E, &prim::fold_in> {
  DRX_FN static void run(frame& f) {
    constexpr int x = C::operand(E, 0), n = C::operand(E, 1), y = C::result(E, 0);
    const std::int32_t* p = elements<const std::int32_t, C, x>(f);
    const auto* number = elements<const element_of<C, n>, C, n>(f);
    std::int32_t* q = elements<std::int32_t, C, y>(f);
    for (std::int64_t k = 0; k < C::values[n].shape.size(); ++k)
      prim::rules::fold_in::write(p + 2 * k, number[k], q + 2 * k);
  }
};

}  // namespace drx::run
