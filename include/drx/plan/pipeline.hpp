// drx/plan/pipeline.hpp: the passes that make a program's plan from its tape, in their order. Each is a function from tape
// to tape.
// Tested by tests/unit/plan/random_plans.cpp and tests/unit/plan/show.cpp.
#pragma once

#include <drx/plan/loops/broadcasts.hpp>
#include <drx/plan/loops/equal_loops.hpp>
#include <drx/plan/loops/invariants.hpp>
#include <drx/plan/loops/narrow_factors.hpp>
#include <drx/plan/loops/narrow_transposes.hpp>
#include <drx/plan/loops/rearrangements_in_sums.hpp>
#include <drx/plan/loops/recomputed_values.hpp>
#include <drx/plan/loops/row_chunks.hpp>
#include <drx/plan/loops/short_axes.hpp>
#include <drx/plan/loops/stacked_factors.hpp>
#include <drx/plan/loops/stacked_parts.hpp>
#include <drx/plan/shards/partitioner.hpp>
#include <drx/plan/staging/contractions.hpp>
#include <drx/plan/staging/identity_products.hpp>
#include <drx/plan/staging/invariants_of_members.hpp>
#include <drx/plan/staging/lone_rows.hpp>
#include <drx/plan/staging/outer_products.hpp>
#include <drx/plan/staging/stages.hpp>

#include <iterator>
#include <string_view>

namespace drx::plan {

/// A step from a program's tape to its plan.
struct pass {
  std::string_view name;
  std::string_view what;
  tape (*function)(tape);
};

constexpr tape staged(tape t);

/// The passes over a program. drx::plan::show<P, "stages">() shows the tape after the one of this name.
inline constexpr pass passes[] = {
    {"functions", "A function with a derivative of its own is replaced by what it computes.",
     without_transparent_entries},
    {"shards", "Members that have layouts are replaced by their shards.", partitioned},
    {"broadcasts", "Broadcasts move into the loops and branches that read them.", with_broadcasts_in_loops},
    {"identities", "A product with an identity matrix is the other factor.", with_identity_products_left_out},
    {"contractions", "A sum of products of repeated arrays is a product of matrices.", with_contractions},
    {"stacked parts", "A loop stacks the parts of a value that a later loop reads, not the whole value.",
     with_stacked_parts},
    {"members' invariants", "What members compute in a loop of what it does not change is kept for the loop.",
     with_invariants_of_members},
    {"stages", "What members compute between two reductions becomes one stage.", staged},
    {"block constants", "The body for a block of members first computes what is the same for all of them.",
     with_block_constants_first},
    {"sums over members", "Contractions again, in the bodies for blocks of members.", with_contractions},
    {"outer products", "A product of matrices over one number becomes elementwise.", with_outer_products_as_elements},
    {"stacked factors", "A loop stacks a factor of a product for a later loop, or the product for the factor.",
     with_stacked_factors},
    {"carried products", "A loop carries products of a matrix instead of the matrix.", with_carried_products},
    {"narrow transposes", "Matrices with few columns lie transposed in loops.", with_narrow_transposes},
    {"invariants", "What is the same at each step of a loop is computed in front of the loop.",
     with_invariants_in_front},
    {"rearrangements", "Sums of padded arrays are joined arrays, and slices are taken before elementwise entries.",
     with_rearrangements_in_sums},
    {"short axes", "A short last axis changes places with the one before it.", with_short_axes_exchanged},
    {"row chunks", "Values that outgrow the caches are computed some rows at a time.", with_row_chunks},
    {"narrow factors", "Products of matrices with vectors read matrices of 16 bits as they are.", with_narrow_factors},
    {"recomputed values", "Large values of one operation on small arrays are computed again after a step.",
     with_values_computed_again},
};

/// The passes over the body of each stage, which "stages" runs before it looks for stages of nested placements in the
/// body and makes bodies for blocks of members.
inline constexpr pass passes_over_bodies[] = {
    {"equal loops", "Loops over the same operands whose carries are equal become one loop.", with_equal_loops_joined},
    {"stacked parts", "As above, since a body consists of several maps.", with_stacked_parts},
    {"lone rows", "Arrays of zeros with one row are computed by that row.", with_lone_rows},
    {"broadcasts", "As above, since a body consists of several maps.", with_broadcasts_in_loops},
};

constexpr tape prepared_body(tape body) {
  for (const pass& p : passes_over_bodies) body = p.function(std::move(body));
  return body;
}
constexpr tape staged(tape t) { return in_stages(t, prepared_body); }

/// The number of passes up to the one of this name; 0 if none has this name.
constexpr int passes_up_to(std::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(passes)); ++i)
    if (passes[i].name == name) return i + 1;
  return 0;
}

/// Program P, planned for engines: its members keep nothing for the steps of a loop.
template <class P>
struct for_engines : P {};
template <class>
inline constexpr bool is_for_engines = false;
template <class P>
inline constexpr bool is_for_engines<for_engines<P>> = true;

/// t after the first n passes, of which engines leave out what makes members keep values.
constexpr tape after_passes(tape t, int n, bool for_engines = false) {
  for (int i = 0; i < n; ++i)
    if (!for_engines || passes[i].function != with_invariants_of_members) t = passes[i].function(std::move(t));
  return t;
}
/// A program's tape after the first `Passes` passes, as a constant.
template <class Program, int Passes>
struct tape_after {
  static constexpr tape make() {
    const tape t = after_passes(Program::tape().thaw(), Passes, is_for_engines<Program>);
    check(t);
    return t;
  }
  static constexpr const auto& tape_constant() { return frozen<tape_after>::value; }
};

/// The plan of a program, as a constant.
template <class Program>
struct staged_program : tape_after<Program, static_cast<int>(std::size(passes))> {
  /// The mesh of members that are split: each counts as that many members.
  static constexpr mesh_axes mesh = mesh_of(after_passes(Program::tape().thaw(), passes_up_to("functions")));
};

}  // namespace drx::plan
