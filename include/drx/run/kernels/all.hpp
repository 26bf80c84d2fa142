// drx/run/kernels/all.hpp: runs the steps of a region: fused loops, and entries with their kernels. (A stage's kernel
// is in stage.hpp.)
// Tested by tests/unit/run/executor.cpp.
#pragma once

#include <drx/run/kernels/arg_extremum.hpp>
#include <drx/run/kernels/convolutions.hpp>
#include <drx/run/kernels/cumulative.hpp>
#include <drx/run/kernels/decompositions.hpp>
#include <drx/run/kernels/folds.hpp>
#include <drx/run/fused/fused.hpp>
#include <drx/run/kernels/indexing.hpp>
#include <drx/run/kernels/lane_linear_algebra.hpp>
#include <drx/run/kernels/lanes.hpp>
#include <drx/run/kernels/layout.hpp>
#include <drx/run/kernels/linear_algebra.hpp>
#include <drx/run/kernels/loops.hpp>
#include <drx/run/kernels/matmul.hpp>
#include <drx/run/kernels/pooling.hpp>
#include <drx/run/kernels/sources.hpp>

namespace drx::run {

#if defined(__GNUC__) && !defined(__clang__)
// With its interprocedural analyses g++ 12.2 drops calls of steps that store bool.
#define DRX_NOT_INLINED [[gnu::noipa]]
#else
#define DRX_NOT_INLINED [[gnu::noinline]]
#endif

/// The code of one step.
template <class C, int Step>
DRX_INLINE void step_code(frame& f) {
  constexpr plan::step now = C::plan.steps[Step];
  if constexpr (now.is_loop) {
    run_fused<C, Step>(f);
  } else if constexpr (copies_rows<C, now.entry>) {
    copy_rearranged<C, now.entry>(f);
  } else {
    kernel<C, now.entry, C::tape.entries[now.entry].prim>::run(f);
  }
}
/// Runs one step, as a function of its own: profiles name it, and the compiler's work stays linear in the number of
/// steps.
template <class C, int Step>
DRX_NOT_INLINED void run_step(frame& f) {
  step_code<C, Step>(f);
}

template <class C, int Region>
void run_region(frame& f) {
  unroll<C::plan.step_count[Region]>(
      [&]<int I>(std::integral_constant<int, I>) { run_step<C, C::plan.first_step[Region] + I>(f); });
}

}  // namespace drx::run
