// An input that is no value of drx.
// expect: error::not_a_value_of_drx
// expect: a program's inputs are numbers, arrays, placed values
#include <drx/drx.hpp>

#include <string>

constexpr auto f = [](auto x) { return drx::sum(x); };
using F = drx::program<f, std::string>;
// correct: using F = drx::program<f, drx::array<float, 2>>;
const auto& tape = F::tape();
