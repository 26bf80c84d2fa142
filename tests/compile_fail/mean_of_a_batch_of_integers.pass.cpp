#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
  drx::array<float, 2> b;
};
BOOST_HANA_ADAPT_STRUCT(model, w, b);
constexpr auto f = [](auto m) { return drx::mean<0>(m); };
using F = drx::program<f, drx::batched<model, 4>>;
const auto& tape = F::tape();
