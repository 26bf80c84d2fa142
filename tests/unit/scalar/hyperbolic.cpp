#include <drx/scalar/hyperbolic.hpp>

#include "harness/functions.hpp"

namespace {
DRX_FUNCTION(sinh, std::sinh(x), 1.6)
DRX_FUNCTION(cosh, std::cosh(x), 1.6)
DRX_FUNCTION(asinh, std::asinh(x), 1.7)
DRX_FUNCTION(acosh, std::acosh(x), 2.5)
DRX_FUNCTION(atanh, std::atanh(x), 1.7)
}  // namespace

TEST_CASE_TEMPLATE("hyperbolic functions: accurate everywhere, the same in loops", T, float, double) {
  harness::check_functions<T>(sinh_function{}, cosh_function{}, asinh_function{}, acosh_function{}, atanh_function{});
}
