#include <drx/scalar/erf.hpp>

#include "harness/functions.hpp"

namespace {
DRX_FUNCTION(erf, std::erf(x), 1.3)
DRX_FUNCTION(erfc, std::erfc(x), 3.2)
}  // namespace

TEST_CASE_TEMPLATE("error functions: accurate everywhere, the same in loops", T, float, double) {
  harness::check_functions<T>(erf_function{}, erfc_function{});
}
