// A sum over an axis of arrays of several shapes.
// expect: error::array_operation_on_a_structure
// expect: leaf by leaf with tree_map
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
  drx::array<float, 2> b;
};
BOOST_HANA_ADAPT_STRUCT(model, w, b);
constexpr auto f = [](auto m) { return drx::sum<0>(m); };
// correct: constexpr auto f = [](auto m) { return drx::sum(m); };
using F = drx::program<f, model>;
const auto& tape = F::tape();
