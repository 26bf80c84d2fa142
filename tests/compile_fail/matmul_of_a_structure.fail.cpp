// A product of a struct and an array.
// expect: error::array_operation_on_a_structure
// expect: leaf by leaf: tree_map
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
  drx::array<float, 2> b;
};
BOOST_HANA_ADAPT_STRUCT(model, w, b);
constexpr auto f = [](auto m, auto x) { return drx::matmul(m, x); };
// correct: constexpr auto f = [](auto m, auto x) { return drx::matmul(m.w, x); };
using F = drx::program<f, model, drx::array<float, 3>>;
const auto& tape = F::tape();
