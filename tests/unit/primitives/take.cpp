#include <drx/drx.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using cube = array<double, 2, 4, 3>;
using words = array<std::int32_t, 2, 2>;
template <class A, class I, int Axis = 0>
concept has_take = requires(const A& a, const I& i) { drx::take<Axis>(a, i); };
template <class A, class I, int Axis>
concept has_take_along = requires(const A& a, const I& i) { drx::take_along<Axis>(a, i); };
template <class A, class I, class U>
concept has_scatter_add = requires(const A& a, const I& i, const U& u) { drx::scatter_add(a, i, u); };
}  // namespace

TEST_CASE("what may be taken") {
  static_assert(has_take<cube, words> && has_take<cube, int, -1> && has_take<array<bool, 2>, array<std::int64_t, 5>>);
  static_assert(!has_take<cube, words, 3> && !has_take<cube, words, -4> && !has_take<cube, array<float, 2>> &&
                !has_take<cube, float>);
  static_assert(!has_take<array<int, 0>, words> && has_take<array<int, 0>, array<int, 0>> &&
                !has_take<array<int>, words>);
  static_assert(!has_take<drx::placed<cube, clients>, words> && !has_take<cube, drx::placed<words, clients>>);
  static_assert(has_take_along<cube, array<int, 2, 9, 3>, 1> && !has_take_along<cube, array<int, 2, 9, 3>, 0> &&
                !has_take_along<cube, words, 0>);
  static_assert(has_scatter_add<array<int, 5>, words, words> && !has_scatter_add<array<int, 5>, words, array<int, 4>>);
  static_assert(!has_scatter_add<array<bool, 5>, words, array<bool, 2, 2>> &&
                !has_scatter_add<array<float, 5>, words, words>);
}

TEST_CASE("take, take_along and scatter_add") {
  constexpr auto f = [](auto x, auto i, auto k, auto u) {
    return std::tuple{drx::take<1>(x, i), drx::take(x, drx::index(i, 0, 0)), drx::take_along<1>(x, k),
                      drx::scatter_add<-2>(x, i, u)};
  };
  using P = program<f, cube, words, array<std::int64_t, 2, 2, 3>, array<double, 2, 2, 2, 3>>;
  static_assert(
      std::is_same_v<P::result,
                     std::tuple<array<double, 2, 2, 2, 3>, array<double, 4, 3>, array<double, 2, 2, 3>, cube>>);
  cube x;
  for (int i = 0; i < 24; ++i) x[i] = i;
  const words i{2, -1, 9, -7};  // of four: 2, 3, 3, 0
  const std::int64_t read[] = {2, 3, 3, 0};
  array<std::int64_t, 2, 2, 3> k;
  array<double, 2, 2, 2, 3> u;
  for (int j = 0; j < 12; ++j) k[j] = (j * 5) % 4;
  for (int j = 0; j < 24; ++j) u[j] = 100 + j;
  const auto [taken, one, along, added] = interpreter::call<P>(x, i, k, u);
  cube expected = x;
  for (int a = 0; a < 2; ++a)
    for (int c = 0; c < 3; ++c) {
      for (int j = 0; j < 4; ++j) {
        CHECK(taken(a, j / 2, j % 2, c) == x(a, read[j], c));
        expected(a, read[j], c) += u(a, j / 2, j % 2, c);
        CHECK(one(j, c) == x(1, j, c));
      }
      for (int j = 0; j < 2; ++j) CHECK(along(a, j, c) == x(a, k(a, j, c), c));
    }
  for (int j = 0; j < 24; ++j) CHECK(added[j] == expected[j]);
}

TEST_CASE("the gradient of rows of a table") {
  constexpr auto f = [](auto table, auto i) { return drx::sum(drx::square(drx::take(table, i))); };
  constexpr auto g = drx::grad(f);
  CHECK(drx::show<program<g, array<double, 9, 3>, array<int, 4>>>() == R"((%0: f64[9,3], %1: i32[4]) {
  %2: f64[4,3] = take[axis=0] %0, %1
  %3: f64[4,3] = add %2, %2
  %4: f64[9,3] = scatter[axis=0] %1, %3
  return %4
}
)");
}

TEST_CASE("the sum of a batch in which each array has the same row replaced") {
  drx::builder b;
  const drx::abstract_value row(drx::dtype::float64, drx::make_shape(1, 1, 2)),
      at(drx::dtype::int32, drx::make_shape(1, 1));
  const int zeros = drx::emit::constant(b, row.with_shape(drx::make_shape(3, 4, 2)), 0);
  const int piece = b.input(row), start = b.input(at);
  b.output(drx::emit::sum(b, drx::emit::update_slice(b, zeros, piece, start, 1), {0}));
  drx::tensor x(row), i(at);
  x.data<double>()[0] = 2;
  i.data<std::int32_t>()[0] = 1;
  const auto y = interpreter::run(b.result(), {x, i});
  CHECK(y[0].data<double>()[2] == 6);
  CHECK(y[0].data<double>()[0] == 0);
}
