#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::program;

namespace {
using column = array<double, 3, 1>;
using row = array<double, 1, 2>;

constexpr auto squares = [](auto x) { return drx::sum(drx::square(x)); };
constexpr auto elements = [](auto x, auto y) { return squares(x * y); };  // all written, in another order
// The norm of an example's gradient in a dense layer: x c^T, without it being written.
constexpr auto norm_of_gradient = [](auto w, auto x, auto t) {
  auto loss = [=](auto v) { return drx::sum(drx::square(drx::tanh(drx::matmul(x, v)) - t)); };
  return squares(drx::grad(loss)(w));
};
constexpr auto norm_by_elements = [](auto w, auto x, auto t) {
  auto y = drx::tanh(drx::matmul(x, w));
  auto slope = 2 * (y - t) * (1 - drx::square(y));
  return elements(drx::transpose(x), slope);
};
template <class P>
bool has_product() {
  return drx::show<P>().find("matmul") != std::string::npos;
}
}  // namespace

TEST_CASE("the squared norm of an outer product is the product of two") {
  constexpr auto outer = [](auto x, auto y) { return squares(drx::matmul(x, y)); };
  constexpr auto turned = [](auto x, auto y) { return squares(drx::matmul(drx::transpose(y), drx::transpose(x))); };
  constexpr auto left = [](auto x, auto y) { return squares(drx::matmul(drx::transpose(drx::reshape<1, 3>(x)), y)); };
  constexpr auto right = [](auto x, auto y) { return squares(drx::matmul(x, drx::transpose(drx::reshape<2, 1>(y)))); };
  CHECK(!has_product<program<outer, column, row>>());
  CHECK(!has_product<program<turned, column, row>>());
  const auto check = []<auto F>() {
    harness::check_program<program<F, column, row>>();
    constexpr auto difference = [](auto x, auto y) { return F(x, y) - elements(x, y); };
    harness::check_zero<program<difference, column, row>>();
  };
  check.operator()<outer>();
  check.operator()<turned>();
  check.operator()<left>();
  check.operator()<right>();
}

TEST_CASE("norms of gradients have derivatives of second order") {
  using m32 = array<double, 3, 2>;
  using x3 = array<double, 1, 3>;
  harness::check_program<program<norm_of_gradient, m32, x3, row>>({.tolerance = 1e-5});
  constexpr auto difference = [](auto w, auto x, auto t, auto v) {
    auto one = [=](auto u) { return norm_of_gradient(u, x, t); };
    auto other = [=](auto u) { return norm_by_elements(u, x, t); };
    return std::tuple{one(w) - other(w), drx::grad(one)(w) - drx::grad(other)(w),
                      drx::hvp(one, w, v) - drx::hvp(other, w, v)};
  };
  harness::check_zero<program<difference, m32, x3, row, m32>>();
}

TEST_CASE("a sum over an axis without elements, of an array that was reshaped to other axes") {
  constexpr auto f = [](auto x) { return drx::sum<0>(drx::reshape<0, 2>(x)) + 1; };  // x: [0, 3]
  constexpr auto g = [](auto x) { return drx::sum<0>(drx::reshape<0>(x)) + 1; };
  harness::check_program<program<f, array<double, 0, 3>>>();
  harness::check_program<program<g, array<double, 0, 3>>>();
}

namespace {
/// sum over k of x y, both repeated to {2, 3, 4}: x along axis a, y along axis b, with numbers of their own.
drx::tape sum_of_repeated(int k, int a, int b_axis, drx::dtype type) {
  drx::builder b;
  const drx::shape whole = drx::make_shape(2, 3, 4);
  const auto repeated = [&](int axis) {
    drx::shape s = whole;
    if (axis >= 0) s[axis] = 1;
    return drx::emit::broadcast_to(b, b.input({type, s}), whole);
  };
  const int x = repeated(a), y = repeated(b_axis);
  b.output(drx::emit::sum(b, drx::emit::mul(b, x, y), {k}));
  return b.result();
}
bool has_product(const drx::tape& t) {
  for (const drx::entry& e : t.entries)
    if (e.prim == &drx::prim::matmul) return true;
  return false;
}
}  // namespace

TEST_CASE("sums of products of arrays that are repeated along different axes are matrix products") {
  for (int k = 0; k < 3; ++k)
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        CAPTURE(k);
        CAPTURE(a);
        CAPTURE(b);
        const drx::tape t = sum_of_repeated(k, a, b, drx::dtype::float64);
        CHECK(has_product(t) == (a != b && a != k && b != k));
        CHECK_FALSE(has_product(sum_of_repeated(k, a, b, drx::dtype::int32)));
        std::vector<drx::tensor> in;
        double next = 1;
        for (int i : t.inputs) {
          in.emplace_back(t.values[i]);
          for (std::int64_t j = 0; j < in.back().size(); ++j) in.back().data<double>()[j] = next++;
        }
        std::vector<double> expected(static_cast<std::size_t>(24 / drx::make_shape(2, 3, 4)[k]));
        for (int i0 = 0; i0 < 2; ++i0)
          for (int i1 = 0; i1 < 3; ++i1)
            for (int i2 = 0; i2 < 4; ++i2) {
              const auto flat = [&](int without) {  // the place in an array without this axis
                int place = 0;
                for (int axis = 0; axis < 3; ++axis)
                  if (axis != without) place = place * (2 + axis) + (axis == 0 ? i0 : axis == 1 ? i1 : i2);
                return static_cast<std::size_t>(place);
              };
              expected[flat(k)] += in[0].data<double>()[flat(a)] * in[1].data<double>()[flat(b)];
            }
        const auto found = drx::interpreter::run(t, in);
        REQUIRE(found[0].size() == static_cast<std::int64_t>(expected.size()));
        for (std::size_t j = 0; j < expected.size(); ++j) CHECK(found[0].data<double>()[j] == expected[j]);
      }
  CHECK_FALSE(has_product(sum_of_repeated(0, 1, -1, drx::dtype::float64)));  // y is not repeated
}
