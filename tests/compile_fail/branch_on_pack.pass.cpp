#include <drx/scalar/pack.hpp>

auto relu = [](const auto& x) { return drx::ad::select(x > 0, x, x * 0.1); };
double f(drx::ad::pack<double, 4> x) { return relu(x)[0]; }
