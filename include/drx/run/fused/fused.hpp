// drx/run/fused/fused.hpp: a fused loop: elementwise entries of one shape as one loop. Each entry's value lives in a
// register; results that leave the loop are stored at its end, so that a result may take an operand's place.
//
// fused_loop: the loop's facts from the tape. fused_elements: number by number. fused_short_rows: several short rows at
// once. fused_packs: packs of numbers, for fused_product, a loop in the tiles of a matrix product, for fused_sums, a
// loop that adds up its rows, and for fused_folds, one that folds over an axis.
// Tested by tests/unit/run/long_fused_loops.cpp.
#pragma once

#include <drx/run/fused/folds.hpp>
#include <drx/run/fused/product.hpp>
#include <drx/run/fused/short_rows.hpp>
#include <drx/run/fused/sums.hpp>

namespace drx::run {

/// Step Step, which is a fused loop.
template <class C, int Step>
void run_fused(frame& f) {
  using loop = fused_loop<C, Step>;
  [[maybe_unused]] constexpr typename loop::entries entries{};
  [[maybe_unused]] constexpr typename loop::operands operands{};
  if constexpr (loop::after_product) {
    fused_product<loop>::run(f);
  } else if constexpr (loop::now.has_folds) {
    fused_folds<loop>::run(f);
  } else if constexpr (loop::now.sums > 0) {
    fused_sums<loop>::run(f);
  } else if constexpr (fused_packs<loop>::run_alone) {
    fused_packs<loop>::run(f);
  } else if constexpr (loop::short_rows) {
    fused_short_rows<loop>::run(f, entries, operands);
  } else {
    fused_elements<loop>::run(f, entries, operands);
  }
}

}  // namespace drx::run
