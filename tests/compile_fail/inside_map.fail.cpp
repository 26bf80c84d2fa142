// One mistake inside of a map inside of a gradient: one error.
// expect: error::inner_extents_differ
// expect: transpose\(x\) turns one
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};

constexpr auto f = [](auto m, auto d) {
  auto loss = [](auto w, auto x) {
    auto y = drx::matmul(x, w);
    // correct: auto y = drx::matmul(drx::transpose(x), w);
    auto z = y * 2 + 1;
    return drx::mean(z * z);
  };
  auto g = drx::map(
      [&](auto w, auto x) { return drx::fori_loop<2>(w, [&](auto v) { return v - 0.1 * drx::grad(loss)(v, x); }); },
      drx::broadcast<clients>(m), d);
  return drx::reduce_mean(g) + 1;
};
using F = drx::program<f, drx::array<float, 3>, drx::placed<drx::array<float, 3, 4>, clients>>;
const auto& tape = F::tape();
