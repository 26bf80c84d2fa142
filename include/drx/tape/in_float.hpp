// drx/tape/in_float.hpp: how an entry is written that computes with numbers of 16 bits. (drx/primitives/cast.hpp has it.)
#pragma once

// Where no cast is included, the function has no definition, and compilers warn.
#pragma GCC system_header

#include <drx/tape/primitive.hpp>

namespace drx::emit {

/// The entry on operands that became floats, and what it makes of these rounded to 16 bits.
constexpr vec<int> in_float(builder& b, const primitive& p, const vec<int>& operands, const attributes& a);

}  // namespace drx::emit
