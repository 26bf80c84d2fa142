// A plain number in a struct: it could not stand for a traced one.
// expect: error::structure_members_must_be_arrays
// expect: drx::scalar<float>
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
  float b;
  // correct: drx::scalar<float> b;
};
BOOST_HANA_ADAPT_STRUCT(model, w, b);
constexpr auto f = [](auto m) { return drx::sum(m.w) + m.b; };
using F = drx::program<f, model>;
const auto& tape = F::tape();
