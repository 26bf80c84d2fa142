// Products with identity matrices are left out: of Hessians and Jacobians, in bodies of maps and loops.
#include <drx/drx.hpp>
#include <drx/plan/show.hpp>
#include <drx/plan/staging/identity_products.hpp>
#include <drx/run/check/interpreter.hpp>

#include "harness/run.hpp"

namespace {
using drx::array;
using drx::builder;
using drx::tape;
namespace emit = drx::emit;
namespace prim = drx::prim;

bool has_products(const tape& t) {
  return drx::any_entry(t, [](const drx::entry& e) { return prim::is_matrix_product(e.prim); });
}
int unit_vectors(builder& b, std::int64_t rows, std::int64_t columns, int first = 0, int second = 1) {
  const drx::abstract_value numbers(drx::dtype::int32, drx::make_shape(rows, columns));
  const int i = emit::iota(b, numbers, first), j = emit::iota(b, numbers, second);
  return emit::cast(b, emit::equal(b, i, j), drx::dtype::float64);
}
/// The tape after the pass. Its results must be those of t.
tape written(builder& b) {
  const tape t = b.result(), made = drx::plan::with_identity_products_left_out(t);
  drx::check(made);
  std::vector<drx::tensor> in;
  double next = 1;
  for (int i : t.inputs) {
    in.emplace_back(t.values[i]);
    for (std::int64_t k = 0; k < in.back().size(); ++k) in.back().data<double>()[k] = next *= -1.0625;
  }
  const auto expected = drx::interpreter::run(t, in), found = drx::interpreter::run(made, in);
  for (std::size_t i = 0; i < expected.size(); ++i)
    for (std::int64_t k = 0; k < expected[i].size(); ++k)
      CHECK(found[i].data<double>()[k] == expected[i].data<double>()[k]);
  return made;
}

struct rows : drx::placement<rows> {};
constexpr auto error = [](auto w, auto x, auto y) { return drx::softplus(-y * drx::dot(w, x)); };
constexpr auto curvature = [](auto w, auto x, auto y) {
  auto mean = [=](auto v) { return drx::reduce_mean(drx::map(error, drx::broadcast<rows>(v), x, y)); };
  return drx::hessian(mean)(w);
};
using Curvature =
    drx::program<curvature, array<double, 6>, drx::placed<array<double, 6>, rows>, drx::placed<double, rows>>;
constexpr auto slopes = [](auto w, auto x) {
  auto end = [](auto v, auto m) { return drx::fori_loop<3>(v, [=](auto u) { return drx::tanh(drx::matmul(m, u)); }); };
  return std::pair{drx::map([=](auto v, auto m) { return drx::jacfwd(end)(v, m); }, drx::broadcast<rows>(w), x),
                   drx::map([=](auto v, auto m) { return drx::jacrev(end)(v, m); }, drx::broadcast<rows>(w), x)};
};
using Slopes = drx::program<slopes, array<double, 4>, drx::placed<array<double, 4, 4>, rows>>;
}  // namespace

TEST_CASE("the other factor stands for the product, turned where the product turns it") {
  for (const bool left : {false, true})
    for (const bool tx : {false, true})
      for (const bool ty : {false, true}) {
        builder b;
        const int x = b.input({drx::dtype::float64, drx::make_shape(3, 3)}), one = unit_vectors(b, 3, 3);
        b.output(left ? emit::matmul(b, one, x, tx, ty) : emit::matmul(b, x, one, tx, ty));
        CHECK_FALSE(has_products(written(b)));
      }
}
TEST_CASE("in bodies of maps and loops") {
  for (const bool carried : {false, true}) {  // a carry does not stay what it is
    builder b, body;
    const drx::abstract_value square(drx::dtype::float64, drx::make_shape(3, 3));
    const int x = b.input(square), one = unit_vectors(b, 3, 3);
    body.input({drx::dtype::int32, {}});
    const int first = body.input(square), second = body.input(square);
    const int product = emit::matmul(body, first, second, false, true);
    if (carried) body.output(emit::add(body, product, first));
    body.output(product);
    const auto loop = prim::rules::scan::view(2, carried ? 0 : 1, carried ? 2 : 1).make();
    b.output(b.add(prim::scan, {one, x}, loop, drx::tapes{body.result()})[0]);
    CHECK(has_products(written(b)) == carried);
  }
}
TEST_CASE("what is no identity matrix stays") {
  for (const int other : {0, 1, 2}) {
    builder b;
    const int x = b.input({drx::dtype::float64, drx::make_shape(4, 3)});
    const int one = other == 0 ? unit_vectors(b, 3, 4) : unit_vectors(b, 3, 3, other - 1, other - 1);
    b.output(emit::matmul(b, x, one, false, false));
    CHECK(has_products(written(b)));
  }
}
TEST_CASE("a Hessian's members have no product with the unit vectors") {
  const auto has_product = [](const std::string& plan) { return plan.find("f64[6,1] = matmul") != std::string::npos; };
  CHECK(has_product(drx::plan::show<Curvature, "broadcasts">()));
  CHECK_FALSE(has_product(drx::plan::show<Curvature, "identities">()));
}
TEST_CASE("derivatives are what they are by plain evaluation") {
  harness::check_run<Curvature>({}, {1, 5, 45, 300});
  harness::check_run<Slopes>({}, {1, 5, 45});
}
