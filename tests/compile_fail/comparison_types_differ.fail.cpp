// float < double.
// expect: error::element_types_differ
// expect: cast<T>\(x\)
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) { return drx::where(x < y, x, 0); };
// correct: constexpr auto f = [](auto x, auto y) { return drx::where(x < drx::cast<float>(y), x, 0); };
using F = drx::program<f, drx::array<float, 3>, drx::array<double, 3>>;
const auto& tape = F::tape();
