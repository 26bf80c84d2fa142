#include <doctest/doctest.h>
#include <drx/config.hpp>

TEST_CASE("the version is of the form that the package promises") {
  CHECK(DRX_VERSION_MAJOR == 0);  // while it is, each minor version may break callers (SameMinorVersion)
  CHECK(DRX_VERSION_MINOR >= 1);
}
