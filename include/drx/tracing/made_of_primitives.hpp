// drx/tracing/made_of_primitives.hpp: functions that tracing needs and that are made of primitives, which define them.
#pragma once

// Without the primitives these functions have no definition, and compilers warn when a header of this folder is
// compiled alone.
#pragma GCC system_header

#include <drx/tape/builder.hpp>

namespace drx {
namespace emit {
/// A value that is on no tape yet, written on b: a number, a position, given elements, or a member's number.
/// (primitives/constant.hpp)
constexpr int constant_of(builder& b, const traced_ref& r, const abstract_value& type);
}  // namespace emit
namespace detail {
/// t with broadcasts that only feed loops and branches moved inside these. (primitives/loop.hpp)
constexpr tape with_broadcasts_inside(tape t);
}  // namespace detail
}  // namespace drx
