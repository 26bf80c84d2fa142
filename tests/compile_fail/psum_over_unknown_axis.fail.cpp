// A collective over an axis that is not around it; the compiler's trail names the ones that are.
// while recording
// expect: (error|note): .*no_map_pmap_or_vmap_around_this_has_the_axis.*devices
// expect: those around this are in the lines beside
// expect: pmap<clients
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct devices : drx::placement<devices> {};
constexpr auto f = [](auto x) { return drx::pmap<clients>([](auto v) { return v - drx::psum<devices>(v); })(x); };
using F = drx::program<f, drx::array<float, 4, 2>>;
const auto& tape = F::tape();
