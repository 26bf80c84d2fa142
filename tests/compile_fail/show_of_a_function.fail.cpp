// The text of a function that is no program yet.
// expect: error::not_a_program
#include <drx/drx.hpp>

constexpr auto f = [](auto x) { return drx::sum(x * x); };
constexpr auto g = drx::grad(f);
const std::string text = drx::show<decltype(f)>();
