#include <doctest/doctest.h>
#include <drx/scalar/threefry.hpp>

using drx::threefry2x32;
using drx::word_pair;

TEST_CASE("the known answers of Random123") {
  static_assert(threefry2x32({0, 0}, {0, 0}) == word_pair{0x6b200159, 0x99ba4efe});
  static_assert(threefry2x32({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) == word_pair{0x1cb996fc, 0xbb002be7});
  CHECK(threefry2x32({0x13198a2e, 0x03707344}, {0x243f6a88, 0x85a308d3}) == word_pair{0xc4923a9c, 0x483df7a0});
}
