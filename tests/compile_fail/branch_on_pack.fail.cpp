// Lanes of a pack may go different ways.
// expect: operator bool
// expect: drx: lanes may differ: use drx::ad::select\(condition, a, b\)
#include <drx/scalar/pack.hpp>

auto relu = [](const auto& x) {
  if (x > 0) return x;
  return x * 0.1;
};
double f(drx::ad::pack<double, 4> x) { return relu(x)[0]; }
