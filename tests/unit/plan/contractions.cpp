#include <drx/drx.hpp>
#include <drx/plan/staging/contractions.hpp>
#include <drx/run/check/interpreter.hpp>

#include "harness/derivatives.hpp"
#include "harness/run.hpp"

#include <drx/plan/show.hpp>
#include <drx/run/call/compiled.hpp>

#include <vector>

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
constexpr auto made = drx::plan::with_contractions;
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
        const drx::tape t = made(sum_of_repeated(k, a, b, drx::dtype::float64));
        CHECK(has_product(t) == (a != b && a != k && b != k));
        CHECK_FALSE(has_product(made(sum_of_repeated(k, a, b, drx::dtype::int32))));
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
  CHECK_FALSE(has_product(made(sum_of_repeated(0, 1, -1, drx::dtype::float64))));  // y is not repeated
}

namespace {
struct rows : drx::placement<rows> {};
using row = drx::array<double, 3>;
constexpr auto moments = [](auto x) {
  return drx::reduce_sum(drx::map([](auto own) { return drx::outer(own, own); }, x));
};
// The sum of the pairs' products, of which those with 1 / 0 are masked.
constexpr auto masked = [](auto x, auto y, auto counts) {
  auto pairs = drx::sum<2>(drx::expand_dims<1>(x) * drx::expand_dims<0>(1 / y));
  return drx::sum(drx::where(counts > 0, pairs, drx::zeros<drx::array<double, 3, 4>>()));
};
using x_type = drx::array<double, 3, 2>;
using y_type = drx::array<double, 4, 2>;
using slope = drx::program<drx::grad(masked), x_type, y_type, drx::array<double, 3, 4>>;
using too_long =
    drx::program<[](auto x, auto y) { return drx::sum<2>(drx::expand_dims<1>(x) * drx::expand_dims<0>(y)); },
                 drx::array<float, 2, 5000>, drx::array<float, 3, 5000>>;
}  // namespace

TEST_CASE("members' outer products add up as one matrix product") {
  using P = drx::program<moments, drx::placed<row, rows>>;
  const std::string plan = drx::plan::show<P>();
  CHECK(plan.find("blocks of") != std::string::npos);
  CHECK(plan.find("matmul[T,N]") != std::string::npos);
}

TEST_CASE("a pair's product that is masked stays out of the derivative, also where it is infinite") {
  x_type x;
  y_type y;
  drx::array<double, 3, 4> counts;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 2; ++k) x(i, k) = 1 + i + k;
  for (int j = 0; j < 4; ++j)
    for (int k = 0; k < 2; ++k) y(j, k) = j == 0 ? 0 : 2;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) counts(i, j) = j;
  drx::serial_executor executor;
  drx::single_rank rank;
  drx::compiled<slope> gradient(executor, rank);
  const auto found = gradient(x, y, counts);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 2; ++k) CHECK(found(i, k) == 1.5);
}

TEST_CASE("long sums of pairs stay sums, which keep their digits") {
  CHECK(drx::plan::show<too_long>().find("matmul") == std::string::npos);
}

namespace {
using left = drx::array<double, 7, 3, 5>;
using right = drx::array<double, 7, 4, 5>;
// The sums over axis Axis of products that a loop stacks; Too: the stack itself is a result too.
template <int Axis, bool Too = false>
constexpr auto of_stack = [](auto x, auto y) {
  auto step = [](auto c, auto z) {
    auto [a, b] = z;
    return std::pair{c + drx::sum(a * a), drx::expand_dims<1>(a) * drx::expand_dims<0>(b * c)};
  };
  auto [last, products] = drx::scan(step, drx::zeros<drx::scalar<double>>(), std::tuple{x, y});
  if constexpr (Too)
    return std::tuple{last, drx::sum<Axis>(products), products};
  else
    return std::tuple{last, drx::sum<Axis>(products)};
};
template <int Axis, bool Too = false>
using program_of_stack = drx::program<of_stack<Axis, Too>, left, right>;

// A network whose layers are a loop's steps, for members; the derivatives by its weights are sums of stacks.
constexpr auto loss = [](auto w, auto x) {
  auto layer = [](auto h, auto v) { return std::pair{drx::tanh(drx::matmul(h, v)) + h, std::tuple{}}; };
  return drx::sum(drx::square(drx::scan(layer, x, w).first));
};
constexpr auto slopes_of_layers = [](auto w, auto data) {
  return drx::value_and_grad([=](auto v) { return drx::reduce_mean(drx::map(loss, drx::broadcast<rows>(v), data)); })(
      w);
};
using layers = drx::program<slopes_of_layers, drx::array<double, 6, 4, 4>, drx::placed<drx::array<double, 4>, rows>>;
}  // namespace

TEST_CASE("what a loop stacks and is added up then is a matrix product in the loop") {
  const auto plan = drx::plan::show<program_of_stack<3>>();
  CHECK(plan.find("matmul") != std::string::npos);
  CHECK(plan.find("f64[7,3,4,5]") == std::string::npos);
  harness::check_run<program_of_stack<1>>({}, {1});
  harness::check_run<program_of_stack<2>>({}, {1});
  harness::check_run<program_of_stack<3>>({}, {1});
}
TEST_CASE("a stack stays whole where it is added up over the steps, or read again") {
  CHECK(drx::plan::show<program_of_stack<0>>().find("f64[7,3,4,5]") != std::string::npos);
  CHECK(drx::plan::show<program_of_stack<3, true>>().find("matmul") == std::string::npos);
  harness::check_run<program_of_stack<0>>({}, {1});
  harness::check_run<program_of_stack<3, true>>({}, {1});
}
TEST_CASE("derivatives by the weights of a loop's layers, for members in blocks") {
  CHECK(drx::plan::show<layers>().find("f64[6,4,4,32]") == std::string::npos);
  harness::check_run<layers>({}, {0, 3, 40, 300});
}
