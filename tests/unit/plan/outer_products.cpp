#include <drx/drx.hpp>
#include <drx/plan/staging/outer_products.hpp>
#include <drx/run/check/interpreter.hpp>

#include <doctest/doctest.h>

#include <vector>

namespace {

/// x^T y of rows {1, 3} and {1, 2}, or x y^T of columns, and a product that sums over four.
drx::tape products(bool transposed) {
  using drx::make_shape;
  drx::builder b;
  const int x = b.input({drx::dtype::float64, transposed ? make_shape(1, 3) : make_shape(3, 1)});
  const int y = b.input({drx::dtype::float64, transposed ? make_shape(1, 2) : make_shape(2, 1)});
  const int p = b.input({drx::dtype::float64, make_shape(2, 4)}), q = b.input({drx::dtype::float64, make_shape(4, 2)});
  b.output(drx::emit::matmul(b, x, y, transposed, !transposed));
  b.output(drx::emit::matmul(b, p, q, false, false));
  return b.result();
}
int count_products(const drx::tape& t) {
  int n = 0;
  for (const drx::entry& e : t.entries) n += e.prim == &drx::prim::matmul;
  return n;
}

}  // namespace

TEST_CASE("a product over one number is one of elements, others stay, and the numbers are the same") {
  for (const bool transposed : {false, true}) {
    const drx::tape t = products(transposed), made = drx::plan::with_outer_products_as_elements(t);
    CHECK(drx::plan::has_outer_products(t));
    CHECK_FALSE(drx::plan::has_outer_products(made));
    CHECK(count_products(t) == 2);
    CHECK(count_products(made) == 1);
    std::vector<drx::tensor> in;
    double next = 1;
    for (int i : t.inputs) {
      in.emplace_back(t.values[i]);
      for (std::int64_t k = 0; k < in.back().size(); ++k) in.back().data<double>()[k] = next++;
    }
    const auto expected = drx::interpreter::run(t, in), found = drx::interpreter::run(made, in);
    for (std::size_t i = 0; i < 2; ++i) CHECK(found[i].bytes == expected[i].bytes);
    CHECK(found[0].data<double>()[5] == 3 * 5);  // x is 1, 2, 3, y 4, 5
  }
}
