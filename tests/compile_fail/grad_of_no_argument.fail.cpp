// The gradient in argument 2 of two, which are 0 and 1.
// expect: error::wrong_number_of_arguments
// expect: grad<i>\(f\) is of one floating number, in argument i, from 0
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) { return drx::sum(x * y); };
constexpr auto g = drx::grad<2>(f);
// correct: constexpr auto g = drx::grad<1>(f);
using F = drx::program<g, drx::array<float, 3>, drx::array<float, 3>>;
const std::string text = drx::show<F>();
