// The Jacobian of a function that returns a value at each member.
// expect: error::jacobian_needs_arrays
// expect: reduce or capture what is placed
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x, auto data) {
  return drx::jacfwd([](auto v, auto d) {
    return drx::map([](auto p, auto q) { return p * q; }, drx::broadcast<clients>(v), d);
    // correct: return drx::reduce_sum(drx::map([](auto p, auto q) { return p * q; }, drx::broadcast<clients>(v), d));
  })(x, data);
};
using F = drx::program<f, drx::array<float, 3>, drx::placed<drx::array<float, 3>, clients>>;
const auto& tape = F::tape();
