// The indices for which something holds.
#include <drx/meta/indices.hpp>

#include <doctest/doctest.h>
#include <type_traits>

namespace {
template <int... I>
using sequence = std::integer_sequence<int, I...>;
}  // namespace

TEST_CASE("the places of what is true") {
  CHECK(std::is_same_v<drx::meta::indices_where<true, false, true>, sequence<0, 2>>);
  CHECK(std::is_same_v<drx::meta::indices_where<false, false>, sequence<>>);
  CHECK(std::is_same_v<drx::meta::indices_where<>, sequence<>>);
}
