// drx/tracing/made_of_primitives.hpp: what tracing needs and primitives define, since it is made of them.
#pragma once

// Without the primitives these have no definition, of which compilers warn where a header of this folder is compiled alone.
#pragma GCC system_header

#include <drx/tape/builder.hpp>

namespace drx {
namespace emit {
/// A value that is on no tape yet, written on b: a number, a position, given elements, the number of a member. (primitives/constant.hpp)
constexpr int constant_of(builder& b, const traced_ref& r, const abstract_value& type);
}  // namespace emit
namespace detail {
/// t with the broadcasts that only feed loops and branches inside of these. (primitives/loop.hpp)
constexpr tape with_broadcasts_inside(tape t);
}  // namespace detail
}  // namespace drx
