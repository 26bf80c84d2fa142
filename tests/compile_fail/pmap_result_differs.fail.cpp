// A result without an axis that is not the same for all members.
// while recording
// expect: differs from example to example
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) {
  return drx::pmap<clients>([](auto v) { return drx::sin(v); }, drx::axis<0>, drx::none)(x);
};
using F = drx::program<f, drx::array<float, 4, 2>>;
const auto& tape = F::tape();
