// A program of a struct that Boost.Hana was not told of, compiled to run.
// needs: run
// expect: error::struct_is_not_adapted
// expect: BOOST_HANA_ADAPT_STRUCT with <drx/ext/hana.hpp>
#include <drx/run.hpp>
#include <drx/ext/hana.hpp>

struct model {
  drx::array<float, 3> w;
};
constexpr auto f = [](auto m) { return drx::sum(m.w); };
using F = drx::program<f, model>;
void fit(drx::session& session) {
  auto run = session.compile<F>();
  auto y = run(model{});
}
