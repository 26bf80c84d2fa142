#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
constexpr auto f = [](auto x) { return drx::map([](auto v) { return drx::psum<clients>(v); }, x); };
using F = drx::program<f, drx::placed<drx::array<float, 2>, clients>>;
const auto& tape = F::tape();
