// Two derivatives of one level that know nothing of each other.
// expect: error::scalars_of_one_level_but_two_types_do_not_mix
// expect: drx::ad::derivative, which chooses a level
#include <drx/scalar/dual.hpp>

using drx::ad::dual;
double f(dual<double, 1> x, dual<double, 2> y) { return (x * y).value; }
// correct: double f(dual<double, 2> x, dual<double, 2> y) { return (x * y).value; }
