#include <doctest/doctest.h>
#include <drx/ext/eigen.hpp>
#include <drx/primitives/catalogue.hpp>
#include <drx/run/check/interpreter.hpp>
#include <drx/transform/grad.hpp>
#include <drx/transform/program.hpp>

#include <string>

namespace interpreter = drx::interpreter;
using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
using rows3x2 = Eigen::Matrix<double, 3, 2, Eigen::RowMajor>;

rows3x2 numbers() {
  rows3x2 m;
  m << 1, 2, 3, 4, 5, 6;
  return m;
}
constexpr auto product = [](auto a, auto x) { return drx::matmul(a, x); };
}  // namespace

TEST_CASE("Eigen types stand in a program's signature and go in as they are") {
  using P = program<product, rows3x2, Eigen::Vector2d>;
  static_assert(std::is_same_v<P::result, array<double, 3>>);
  static_assert(std::is_same_v<drx::canonical_t<rows3x2>, array<double, 3, 2>>);
  static_assert(std::is_same_v<drx::canonical_t<Eigen::RowVector3f>, array<float, 3>>);
  const array<double, 3> y = interpreter::call<P>(numbers(), Eigen::Vector2d(1, -1));
  CHECK(drx::as_eigen(y) == Eigen::Vector3d(-1, -1, -1));
}

TEST_CASE("Eigen values are taken where arrays are declared") {
  using P = program<product, array<double, 3, 2>, array<double, 2>>;
  const double memory[] = {1, 2, 3, 4, 5, 6};
  const array<double, 3> y = interpreter::call<P>(Eigen::Map<const rows3x2>(memory), Eigen::Vector2d(1, 0));
  CHECK(y[2] == 5);
}

TEST_CASE("a structure's leaf is the matrix's own memory") {
  rows3x2 m = numbers();
  drx::structure<rows3x2>::visit(m, [&](const double* data, const drx::shape& s) {
    CHECK(data == m.data());
    CHECK(s == drx::make_shape(3, 2));
  });
}

TEST_CASE("placed Eigen values, and gradients in their form") {
  static constexpr auto loss = [](auto w, auto xs) {
    return drx::reduce_mean(drx::map([](auto u, auto x) { return drx::sum(u * x); }, drx::broadcast<clients>(w), xs));
  };
  static constexpr auto slope = [](auto w, auto xs) { return drx::grad(loss)(w, xs); };
  const auto g = interpreter::call<program<slope, Eigen::Vector2d, placed<Eigen::Vector2d, clients>>>(
      Eigen::Vector2d(0, 0), std::vector<Eigen::Vector2d>{{1, 2}, {3, 4}});
  CHECK(drx::as_eigen(g) == Eigen::Vector2d(2, 3));
}

TEST_CASE("as_eigen sees the array itself") {
  array<float, 2, 3> a{1.F, 2.F, 3.F, 4.F, 5.F, 6.F};
  auto m = drx::as_eigen(a);
  CHECK(m(1, 0) == 4);
  m *= 2;
  CHECK(a(0, 1) == 4);
  const drx::array<float, 3, 1> column{1.F, 2.F, 3.F};
  CHECK(drx::as_eigen(column).rows() == 3);
  const drx::scalar<double> one = 7.;
  CHECK(drx::as_eigen(one)(0, 0) == 7);
}

TEST_CASE("to_array copies whatever the layout, and refuses other sizes") {
  const Eigen::Matrix<double, 3, 2> column_major = numbers();
  const array<double, 3, 2> a = drx::to_array(column_major);
  CHECK(a(2, 0) == 5);
  CHECK(drx::to_array(column_major.transpose())(0, 2) == 5);
  CHECK(drx::to_array(column_major * Eigen::Vector2d(1, 1))[2] == 11);
  CHECK(drx::to_array(Eigen::RowVector3d(1, 2, 3))[2] == 3);
  const Eigen::MatrixXd dynamic = 2 * column_major;
  CHECK(drx::to_array<array<double, 3, 2>>(dynamic)(2, 1) == 12);
  CHECK(drx::to_array<array<double, 3>>(dynamic.col(1))[0] == 4);
  CHECK(drx::to_array<array<double, 1, 3>>(Eigen::RowVector3d(1, 2, 3))(0, 1) == 2);
  std::string said;
  try {
    drx::to_array<array<double, 2, 2>>(dynamic);
  } catch (const std::invalid_argument& e) {
    said = e.what();
  }
  CHECK(said == "drx::to_array: the matrix is 3 x 2, the array 2 x 2");
}
