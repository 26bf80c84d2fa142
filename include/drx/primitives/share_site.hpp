// drx/primitives/share_site.hpp: what a primitive's rule `share` sees, which writes what one member has of an entry's placed results.
#pragma once

#include <drx/tape/builder.hpp>

namespace drx {

struct share_site {
  builder& b;  // of the member's body
  const entry& e;
  int index;  // on b: the member's number, an int64

  constexpr share_site(builder& on, const entry& of, int number) : b(on), e(of), index(number) {}
  /// The member's share of operand i, which is placed.
  constexpr virtual int share(int i) = 0;
  /// Operand i, which all members have in common.
  constexpr virtual int common(int i) = 0;
};

}  // namespace drx
