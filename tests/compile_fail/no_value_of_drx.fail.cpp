// A function that returns what is no value of drx.
// expect: error::not_a_value_of_drx
// expect: return arrays, placed values or structures of them
#include <drx/drx.hpp>

#include <string>

constexpr auto f = [](auto x) { return std::string("sum"); };
// correct: constexpr auto f = [](auto x) { return drx::sum(x); };
using F = drx::program<f, drx::array<float, 3>>;
const auto& tape = F::tape();
