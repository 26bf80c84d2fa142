#include <doctest/doctest.h>
#include <drx/ext/hana.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/run/check/interpreter.hpp>
#include <drx/transform/grad.hpp>
#include <drx/transform/program.hpp>

namespace interpreter = drx::interpreter;
namespace hana = boost::hana;
using drx::array;
using drx::placed;
using drx::program;

namespace user {
struct layer {
  array<double, 2, 2> w;
  array<double, 2> b;
};
struct model {
  layer first;
  std::array<layer, 2> hidden;
  std::tuple<array<double, 2>, drx::scalar<double>> last;
};
// In another order than declared, and not all of it: the order of the leaves is the macro's.
struct reordered {
  array<double, 2> x;
  array<double, 2> y;
};
struct defined {
  BOOST_HANA_DEFINE_STRUCT(defined, (array<double, 3>, x), (drx::scalar<double>, y));
};
struct big {
  array<float, 784, 512> w;
  array<float, 512> b;
};
}  // namespace user
BOOST_HANA_ADAPT_STRUCT(user::layer, w, b);
BOOST_HANA_ADAPT_STRUCT(user::model, first, hidden, last);
BOOST_HANA_ADAPT_STRUCT(user::reordered, y, x);
BOOST_HANA_ADAPT_STRUCT(user::big, w, b);

namespace {
struct clients : drx::placement<clients> {};

constexpr auto apply = [](auto l, auto x) { return drx::matmul(l.w, x) + l.b; };
constexpr auto loss = [](auto m, auto x) {
  auto h = apply(m.first, x);
  for (const auto& l : m.hidden) h = apply(l, h);
  return drx::sum(h * std::get<0>(m.last)) + std::get<1>(m.last);
};
using vec2 = array<double, 2>;

user::layer identity(double b0, double b1) { return {{1., 0., 0., 1.}, {b0, b1}}; }
user::model three_layers() { return {identity(1, 0), {identity(0, 2), identity(3, 0)}, {vec2{1., 10.}, 5.}}; }
}  // namespace

TEST_CASE("a struct is its own traced form, and falls into its members' leaves") {
  static_assert(drx::leaf_count<user::layer> == 2);
  static_assert(drx::leaf_count<user::model> == 8);
  static_assert(std::is_same_v<drx::canonical_t<user::model>, user::model>);
  static_assert(std::is_same_v<drx::traced_t<user::model>, drx::value<user::model>>);
  static_assert(drx::leaf_types<user::model>()[2].shape == drx::make_shape(2, 2));
  static_assert(drx::all_floating<user::model>);
  CHECK(interpreter::call<program<loss, user::model, vec2>>(three_layers(), vec2{1., 1.}) == 5 + 5 + 30);
}

TEST_CASE("the gradient in a struct is that struct") {
  static constexpr auto slope = [](auto m, auto x) { return drx::grad(loss)(m, x); };
  using P = program<slope, user::model, vec2>;
  static_assert(std::is_same_v<P::result, user::model>);
  const user::model g = interpreter::call<P>(three_layers(), vec2{1., 2.});
  CHECK(g.first.b[0] == 1);
  CHECK(g.first.b[1] == 10);
  CHECK(g.first.w(1, 0) == 10);
  CHECK(g.first.w(1, 1) == 20);
  CHECK(g.hidden[0].w(0, 0) == 2);  // x + first.b
  CHECK(g.hidden[1].w(0, 1) == 4);
  CHECK(std::get<0>(g.last)[0] == 5);
  CHECK(std::get<0>(g.last)[1] == 4);
  CHECK(std::get<1>(g.last).item() == 1);
}

TEST_CASE("structs are broadcast, mapped, placed and reduced whole") {
  static constexpr auto round = [](auto m, auto xs) {
    return drx::reduce_mean(
        drx::map([](auto l, auto x) { return drx::grad(loss)(l, x); }, drx::broadcast<clients>(m), xs));
  };
  const auto g = interpreter::call<program<round, user::model, placed<vec2, clients>>>(
      three_layers(), std::vector{vec2{1., 2.}, vec2{3., 4.}});
  static_assert(std::is_same_v<decltype(g), const user::model>);
  CHECK(g.first.w(1, 0) == 20);
  CHECK(g.first.w(1, 1) == 30);

  static constexpr auto layers = [](auto ls) {
    return drx::map([](auto l) { return user::layer{l.w + l.w, l.b}; }, ls);
  };
  const auto ls =
      interpreter::call<program<layers, placed<user::layer, clients>>>(std::vector{identity(1, 2), identity(3, 4)});
  REQUIRE(ls.size() == 2);
  CHECK(ls[1].w(1, 1) == 2);
  CHECK(ls[1].b[1] == 4);
}

TEST_CASE("a struct is carried through a loop") {
  static constexpr auto descend = [](auto m, auto x) {
    return drx::fori_loop<3>(m, [=](auto l) {
      const auto g = drx::grad([](auto k, auto y) { return drx::sum(apply(k, y)); })(l, x);
      return user::layer{l.w - 0.5 * g.w, l.b - 0.5 * g.b};
    });
  };
  const user::layer l = interpreter::call<program<descend, user::layer, vec2>>(identity(0, 0), vec2{2., 4.});
  CHECK(l.b[0] == -1.5);
  CHECK(l.w(0, 0) == 1 - 3);
  CHECK(l.w(0, 1) == -6);
}

TEST_CASE("the macro's order is the leaves' order; members keep their names") {
  static constexpr auto f = [](auto r) { return user::reordered{r.x + r.y, r.y - r.x}; };
  using P = program<f, user::reordered>;
  const user::reordered r = interpreter::call<P>(user::reordered{{1., 2.}, {10., 20.}});
  CHECK(r.x[1] == 22);
  CHECK(r.y[1] == 18);
  const auto leaves = interpreter::to_tensors<user::reordered>(user::reordered{{1., 2.}, {10., 20.}});
  CHECK(leaves[0].data<double>()[0] == 10);
}

TEST_CASE("a struct made with BOOST_HANA_DEFINE_STRUCT") {
  static constexpr auto f = [](auto d) { return drx::sum(d.x) * d.y; };
  static constexpr auto g = [](auto d) { return drx::grad(f)(d); };
  user::defined d;
  d.x = {1., 2., 3.};
  d.y = 4.;
  CHECK(interpreter::call<program<f, user::defined>>(d) == 24);
  const user::defined slope = interpreter::call<program<g, user::defined>>(d);
  CHECK(slope.x[2] == 4);
  CHECK(slope.y.item() == 6);
}

TEST_CASE("hana::tuple, also with placed parts") {
  static constexpr auto f = [](auto t) {
    return hana::make_tuple(drx::reduce_sum(hana::at_c<0>(t)), hana::at_c<1>(t));
  };
  using P = program<f, hana::tuple<placed<double, clients>, array<double, 2>>>;
  const auto r = interpreter::call<P>(hana::make_tuple(std::vector{1., 2.}, vec2{3., 4.}));
  static_assert(std::is_same_v<decltype(r), const hana::tuple<double, vec2>>);
  CHECK(hana::at_c<0>(r) == 3);
  CHECK(hana::at_c<1>(r)[1] == 4);
}

TEST_CASE("large arrays in a struct cost nothing while it is traced") {
  static constexpr auto f = [](auto m, auto x) { return drx::sum(drx::matmul(x, m.w) + m.b); };
  static constexpr auto g = [](auto m, auto x) { return drx::grad(f)(m, x); };
  static_assert(program<g, user::big, array<float, 784>>::tape().sizes.regions == 1);
}
