// Products of matrices that run as the head of a loop, tile by tile.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {
using drx::array;

/// How many products are the first entries of groups.
template <class P>
constexpr int heads = [] {
  using C = drx::run::code_of<P>;
  int n = 0;
  for (const auto& s : C::plan.steps)
    n += s.is_loop && C::tape.entries[C::plan.members[s.first_member]].prim == &drx::prim::matmul;
  return n;
}();

// A layer and its gradient, in a loop whose carries are updated in place, twice.
constexpr auto layer = [](auto w, auto b, auto x) { return drx::tanh(drx::matmul(x, w) + b); };
constexpr auto train = [](auto w, auto b, auto x) {
  auto loss = [=](auto v, auto c) { return drx::sum(drx::square(layer(v, c, x))); };
  auto step = [=](auto now) {
    auto [v, c] = now;
    auto [gv, gc] = drx::grad<0, 1>(loss)(v, c);
    return std::tuple{v - 0.01 * gv, c - 0.01 * gc};
  };
  auto once = drx::fori_loop<2>(std::tuple{w, b}, step);
  return std::tuple{once, drx::fori_loop<2>(once, step)};
};
using Train = drx::program<train, array<float, 20, 32>, array<float, 32>, array<float, 7, 20>>;

// The product is read in two loops, transposed, as a result, along rows, and in place of one of its operands.
constexpr auto readers = [](auto x, auto y) {
  auto p = drx::matmul(x, y), q = drx::matmul(y, x), r = drx::matmul(x + 1, y);
  auto total = drx::sum(p);
  auto s = drx::matmul(x, drx::exp(0.1 * y));
  return std::tuple{drx::exp(0.1 * p), drx::sin(p + total), q, drx::transpose(r) + x,
                    drx::cos(s * 100) + y + drx::sum<0>(y)};
};
using Readers = drx::program<readers, array<double, 16, 16>, array<double, 16, 16>>;

// Deep products, in passes; and of wide rows, transposed first.
constexpr auto shapes = [](auto x, auto y, auto wide, auto b) {
  return std::tuple{drx::relu(drx::matmul(x, drx::transpose(y))), drx::matmul(drx::transpose(wide), wide) * b};
};
using Shapes =
    drx::program<shapes, array<float, 3, 1300>, array<float, 48, 1300>, array<float, 2, 272>, array<float, 272, 1>>;
}  // namespace

TEST_CASE("a layer and its gradient in loops") {
  static_assert(heads<Train> == 4);
  harness::check_run<Train>({}, {1});
}
TEST_CASE("products that a loop does not read alone are stored") {
  static_assert(heads<Readers> == 1);
  harness::check_run<Readers>({}, {1});
}
TEST_CASE("products in passes and in blocks") {
  static_assert(heads<Shapes> == 2);
  harness::check_run<Shapes>({}, {1});
}
