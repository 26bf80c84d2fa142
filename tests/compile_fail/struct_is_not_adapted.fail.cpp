// A struct that Boost.Hana was not told of.
// expect: error::struct_is_not_adapted
// expect: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
};
constexpr auto f = [](auto m) { return drx::sum(m.w); };
using F = drx::program<f, model>;
const std::string text = drx::show<F>();
