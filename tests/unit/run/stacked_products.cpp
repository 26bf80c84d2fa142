// Products of a few rows of each member with a matrix that is the same for all: the rows of a block lie one below the
// other, and products that are summed over members are one product.
#include <drx/drx.hpp>
#include <drx/plan/show.hpp>

#include "harness/run.hpp"

#include <tuple>

namespace {
using drx::array;
struct places : drx::placement<places> {};
using network = std::tuple<array<double, 2, 12>, array<double, 12>, array<double, 12, 16>, array<double, 16>>;

constexpr auto potential = [](auto net, auto x) {
  auto [v, b, w, u] = net;
  return drx::dot(drx::tanh(drx::matmul(drx::tanh(drx::matmul(x, v) + b), w)), u);
};
constexpr auto residual = [](auto net, auto x) {  // second derivatives by two numbers
  auto curvature = drx::hessian([=](auto y) { return potential(net, y); })(x);
  return drx::square(drx::sum(drx::diagonal(curvature)) - drx::sin(drx::sum(x)));
};
constexpr auto loss = [](auto net, auto data) {
  return drx::reduce_mean(drx::map(residual, drx::broadcast<places>(net), data));
};
using Residuals = drx::program<drx::value_and_grad(loss), network, drx::placed<array<double, 2>, places>>;

// Three rows of each member, and a matrix for each, in a product with them transposed.
constexpr auto rows = [](auto w, auto x, auto m) {
  auto y = drx::matmul(x, w);
  return std::pair{drx::sum(drx::square(y)) + drx::sum(drx::matmul(m, y)), drx::matmul(drx::transpose(x), y)};
};
constexpr auto of_rows = [](auto w, auto x, auto m) {
  auto [squares, moments] = drx::map(rows, drx::broadcast<places>(w), x, m);
  return std::pair{drx::reduce_mean(squares), drx::reduce_sum(moments)};
};
constexpr auto slope_of_rows = [](auto w, auto x, auto m) {
  return std::pair{of_rows(w, x, m),
                   drx::grad<0>([](auto v, auto y, auto k) { return of_rows(v, y, k).first; })(w, x, m)};
};
using Rows = drx::program<slope_of_rows, array<float, 20, 9>, drx::placed<array<float, 3, 20>, places>,
                          drx::placed<array<float, 2, 3>, places>>;

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("rows of a block are one matrix") {
  const std::string plan = drx::plan::show<Residuals, "stages">();
  CHECK(holds(plan, "blocks of 32, 8"));
  CHECK(holds(plan, "f64[64,16] = matmul[N,N]"));  // two directions of 32 members
  CHECK(holds(plan, "f64[64,12] = matmul[N,T]"));
  CHECK_FALSE(holds(plan, "f64[32,12,16]"));  // the members' derivatives by the matrix are not written
  CHECK(holds(drx::plan::show<Rows, "stages">(), "f32[96,9] = matmul[N,N]"));
}
TEST_CASE("they compute what members compute one by one") {
  harness::check_run<Residuals>({}, {1, 5, 45, 300});
  harness::check_run<Rows>({}, {1, 5, 45, 300});
}
