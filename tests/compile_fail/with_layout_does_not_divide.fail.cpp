// Three rows over two shards.
// expect: error::axis_does_not_divide
// expect: with an axis k whose extent is a multiple of n
#include <drx/drx.hpp>

struct clients : drx::placement<clients> {};
struct model : drx::placement<model> {};
constexpr auto f = [](auto x) {
  return drx::map(
      [](auto v) {
        auto y = drx::with_layout<model, 2>(v, drx::split_along<0>);
        // correct: auto y = drx::with_layout<model, 2>(v, drx::split_along<1>);
        return drx::sum(y);
      },
      x);
};
using F = drx::program<f, drx::placed<drx::array<float, 3, 4>, clients>>;
const auto& tape = F::tape();
