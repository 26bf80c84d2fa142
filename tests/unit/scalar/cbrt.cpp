#include <drx/scalar/cbrt.hpp>

#include "harness/functions.hpp"

namespace {
DRX_FUNCTION(cbrt, std::cbrt(x), 0.7)
}  // namespace

TEST_CASE_TEMPLATE("cube roots: accurate everywhere, the same in loops", T, float, double) {
  harness::check_functions<T>(cbrt_function{});
}
