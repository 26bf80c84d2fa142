// drx/tracing/innermost.hpp: finds the builder that receives an operation on values of several builders.
#pragma once

#include <drx/tracing/constants.hpp>

namespace drx::detail {

/// The inner one of two builders, that is the one opened later. A builder that is null or of constants is outer to all.
constexpr tracing_builder* inner_of(tracing_builder* a, tracing_builder* b) {
  if (!a || (b && a->of_constants())) return b;
  if (!b || b->of_constants()) return a;
  const tracing_context &x = a->context(), &y = b->context();
  if (&x == &y) return a->is_inside(*b) ? a : b;
  if (!x.constants() || !y.constants()) return x.constants() ? a : b;
  return constants_trace::is_inner(*x.constants(), *y.constants()) ? a : b;
}

/// b, or, where b is null, a new tape for values computed from constants that have met no traced value.
constexpr tracing_builder* or_of_constants(tracing_builder* b) { return b ? b : &constants_trace::open().entries(); }

/// The builder that receives an operation whose operands are b's: b, or the branch that is being traced, which may not
/// run. (In a loop's body, an operation on values from outside is written before the loop; in a branch, it is written
/// there.)
constexpr tracing_builder& at_work(tracing_builder& b) { return *inner_of(&b, b.context().now().branch); }

/// The innermost map body being traced, or the whole function if there is none.
constexpr tracing_builder& around_loops(tracing_builder& b) {
  const tracing_context::place& now = b.context().now();
  if (now.member_body) return *now.member_body;
  return now.function ? *now.function : b.context().constants()->entries();
}

/// b, or the map body being traced, if that is inner. The number of members of a placement depends on the member that
/// the code is in, so that a broadcast must not leave the body, wherever its operand comes from.
constexpr tracing_builder& in_member(tracing_builder& b) { return *inner_of(&b, b.context().now().member_body); }

}  // namespace drx::detail
