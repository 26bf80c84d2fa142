#include <doctest/doctest.h>
#include <drx/core/sentence.hpp>

#include <limits>

TEST_CASE("a sentence has its words and numbers one after the other") {
  const std::string name = "clients";
  CHECK(drx::error::sentence({"drx: ", std::int64_t{-3}, " of ", name, std::string_view(" at most")}) ==
        "drx: -3 of clients at most");
  CHECK(drx::error::sentence({std::numeric_limits<std::int64_t>::min()}) == "-9223372036854775808");
  CHECK(drx::error::sentence({}).empty());
}
