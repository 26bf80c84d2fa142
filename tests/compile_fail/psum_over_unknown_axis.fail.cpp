// A collective over an axis that is not around it; the compiler's trail names the ones that are.
// while recording
// expect: a collective over an axis that no map, pmap or vmap around it has
// expect: clients
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct devices : drx::placement<devices> {};
constexpr auto f = [](auto x) { return drx::pmap<clients>([](auto v) { return v - drx::psum<devices>(v); })(x); };
using F = drx::program<f, drx::array<float, 4, 2>>;
const auto& tape = F::tape();
