// The norm of elements of two types.
// expect: error::element_types_differ
// expect: of one floating type
#include <drx/drx.hpp>

constexpr auto f = [](auto m) { return drx::norm(m); };
using F = drx::program<f, std::pair<float, double>>;
// correct: using F = drx::program<f, std::pair<float, float>>;
const auto& tape = F::tape();
