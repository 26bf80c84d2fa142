#include <drx/scalar/dual.hpp>

using drx::ad::dual;
double f(dual<double, 2> x, dual<double, 2> y) { return (x * y).value; }
