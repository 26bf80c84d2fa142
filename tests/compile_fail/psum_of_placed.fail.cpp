// A collective outside of a map, of a placed value.
// expect: error::array_operation_on_a_placed_value
// expect: of a placed value use reduce_sum
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) { return drx::psum<clients>(x); };
// correct: constexpr auto f = [](auto x) { return drx::map([](auto v) { return drx::psum<clients>(v); }, x); };
using F = drx::program<f, drx::placed<drx::array<float, 2>, clients>>;
const auto& tape = F::tape();
