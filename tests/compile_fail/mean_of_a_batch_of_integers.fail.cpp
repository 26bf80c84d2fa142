// The mean of several structures of integers, which would not be one of them.
// expect: error::needs_floating_values
// expect: mean<0>\(batched<S, n> of floating numbers\)
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<int, 3> w;
  drx::array<int, 2> b;
};
BOOST_HANA_ADAPT_STRUCT(model, w, b);
constexpr auto f = [](auto m) { return drx::mean<0>(m); };
using F = drx::program<f, drx::batched<model, 4>>;
const auto& tape = F::tape();
