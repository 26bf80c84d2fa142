// A unit matrix of 3 rows and 2 columns.
// expect: identity<array<T, n, n>>\(\): the last two extents are equal
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::matmul(x, drx::identity<drx::array<double, 3, 2>>()); };
// correct: constexpr auto f = [](auto x) { return drx::matmul(x, drx::identity<drx::array<double, 3, 3>>()); };
using F = drx::program<f, drx::array<double, 2, 3>>;
const auto& tape = F::tape();
