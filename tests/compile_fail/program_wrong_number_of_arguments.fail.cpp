// A program called with one argument of its two.
// expect: error::wrong_number_of_arguments
// expect: as many arguments as it has inputs
#include <drx/drx.hpp>

constexpr auto f = [](auto x, auto y) { return drx::sum(x * y); };
using F = drx::program<f, drx::array<float, 3>, drx::array<float, 3>>;
constexpr auto h = [](auto x) { return F{}(x) * 2; };
// correct: constexpr auto h = [](auto x) { return F{}(x, x) * 2; };
const auto& tape = drx::program<h, drx::array<float, 3>>::tape();
