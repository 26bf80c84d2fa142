// A dual number goes to a function of plain numbers, which would lose its derivative.
// expect: operator double
// expect: drx: call exp\(x\), not std::exp\(x\)
#include <drx/scalar/dual.hpp>

double slope() {
  return drx::ad::derivative([](auto x) { return x + std::tanh(x); }, 1.0);
}
