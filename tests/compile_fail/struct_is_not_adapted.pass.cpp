#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
};
BOOST_HANA_ADAPT_STRUCT(model, w);
constexpr auto f = [](auto m) { return drx::sum(m.w); };
using F = drx::program<f, model>;
const std::string text = drx::show<F>();
