// The inner product of structures of two types.
// expect: error::structures_differ
// expect: two structures of one type
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
  drx::array<float, 2> b;
};
BOOST_HANA_ADAPT_STRUCT(model, w, b);
constexpr auto f = [](auto m) { return drx::dot(m, std::pair{m.b, m.w}); };
// correct: constexpr auto f = [](auto m) { return drx::dot(m, m); };
using F = drx::program<f, model>;
const auto& tape = F::tape();
