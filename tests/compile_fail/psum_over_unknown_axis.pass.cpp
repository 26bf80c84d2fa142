#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) { return drx::pmap<clients>([](auto v) { return v - drx::psum<clients>(v); })(x); };
using F = drx::program<f, drx::array<float, 4, 2>>;
const auto& tape = F::tape();
