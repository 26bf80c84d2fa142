// A batch of structs: what vmap of a gradient in a struct returns.
#include <drx/drx.hpp>
#include <drx/ext/hana.hpp>
#include <drx/run/call/compiled.hpp>

#include <doctest/doctest.h>

namespace {
struct model {
  drx::array<double, 2, 3> w;
  drx::scalar<double> b;
};
}  // namespace
BOOST_HANA_ADAPT_STRUCT(model, w, b);

namespace {
constexpr auto loss = [](auto m, auto x) { return drx::sum(drx::square(drx::matmul(m.w, x))) * m.b; };
constexpr auto per_example = [](auto m, auto x) {
  const auto each = drx::vmap(drx::grad(loss), std::tuple{drx::none, drx::axis<0>})(m, x);
  const auto again = drx::vmap([](auto g, auto v) { return drx::sum(g.w) + drx::sum(v) * g.b; })(
      each, x);  // a batch of structs as an argument
  return std::pair{each, again};
};
using P = drx::program<per_example, model, drx::array<double, 4, 3>>;
static_assert(std::is_same_v<P::result, std::pair<drx::batched<model, 4>, drx::array<double, 4>>>);
using Q = drx::program<drx::grad(loss), model, drx::array<double, 3>>;
}  // namespace

TEST_CASE("vmap of a gradient in a struct gives a struct for each example") {
  drx::serial_executor executor;
  drx::single_rank rank;
  drx::compiled<P> all(executor, rank);
  drx::compiled<Q> one(executor, rank);
  const model m{{1, 2, 3, -1, .5, .25}, 2.0};
  drx::array<double, 4, 3> x;
  for (int i = 0; i < 12; ++i) x[i] = .1 * i - .4;
  const auto [each, again] = all(m, x);
  for (int i = 0; i < 4; ++i) {
    const drx::array<double, 3> row{x(i, 0), x(i, 1), x(i, 2)};
    const model g = one(m, row), h = each[i];
    double total = 0;
    for (int k = 0; k < 6; ++k) {
      CHECK(h.w[k] == doctest::Approx(g.w[k]));
      total += g.w[k];
    }
    CHECK(h.b.item() == doctest::Approx(g.b.item()));
    CHECK(again[i] == doctest::Approx(total + (row[0] + row[1] + row[2]) * g.b.item()));
  }
}
