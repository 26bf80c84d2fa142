// Functions whose values reverse mode computes again.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>
#include <drx/run/check/check_grads.hpp>

#include "harness/run.hpp"

#include <tuple>

namespace {
using drx::array;
using matrix = array<double, 24, 24>;

constexpr auto plain = [](auto f) { return f; };
constexpr auto checkpointed = [](auto f) { return drx::checkpoint(f); };

// Six blocks, each of which has eight values as large as its argument.
template <auto As>
constexpr auto deep = [](auto w, auto x) {
  auto block = As([=](auto y) {
    auto inner = [=](auto z) { return drx::tanh(drx::matmul(drx::sin(z), w)); };
    return y + inner(inner(inner(inner(y))));
  });
  return drx::sum(drx::square(block(block(block(block(block(block(x))))))));
};
template <auto As>
using Deep = drx::program<drx::value_and_grad<0, 1>(deep<As>), matrix, matrix>;
template <auto As>
using DeepDirections = drx::program<[](auto w, auto x, auto dw, auto dx) { return drx::jvp(deep<As>, w, x, dw, dx); },
                                    matrix, matrix, matrix, matrix>;

// Structures in and out, integers beside floats, another function inside.
template <auto As>
constexpr auto of_structures = [](auto x, auto i) {
  auto f = As([=](auto pair, auto k) {
    auto a = pair.first, b = pair.second;
    auto g = As([=](auto u) { return drx::exp(u * a) + drx::sum(b); });
    return std::tuple{g(drx::sin(a)), std::pair{b * drx::cast<double>(k), k + 1}};
  });
  auto [y, rest] = f(std::pair{x, drx::cos(x)}, i);
  return drx::sum(y * rest.first) + drx::cast<double>(rest.second);
};
template <auto As>
using Curved = drx::program<[](auto x, auto i) {
  return std::tuple{
      of_structures<As>(x, i), drx::grad<0>(of_structures<As>)(x, i), drx::hessian<0>(of_structures<As>)(x, i),
      drx::vmap(drx::grad<0>(of_structures<As>), std::tuple{drx::axis<0>, drx::none})(drx::stack(x, 2 * x), i)};
},
                            array<double, 3>, int>;

// In members, and around a round over members.
struct clients : drx::placement<clients> {};
template <auto As>
constexpr auto round = [](auto w, auto data) {
  auto update = As([](auto v, auto d) { return drx::tanh(drx::sin(v * d) * d); });
  auto step = As([=](auto v) { return v + drx::reduce_mean(drx::map(update, drx::broadcast<clients>(v), data)); });
  return drx::sum(step(step(w)));
};
template <auto As>
using Round = drx::program<drx::value_and_grad(round<As>), array<double, 4>, drx::placed<array<double, 4>, clients>>;

template <class P, class Q>
void check_same(std::vector<std::int64_t> members) {
  for (const std::int64_t n : members) {
    const auto in = harness::random_inputs<P>({.members = n, .seed = 3});
    harness::check_near(harness::run_plain<P>(in), harness::run_plain<Q>(in));
  }
  harness::check_run<P>({}, members);
}
}  // namespace

TEST_CASE("derivatives of all orders and modes are the same") {
  check_same<Deep<checkpointed>, Deep<plain>>({1});
  check_same<DeepDirections<checkpointed>, DeepDirections<plain>>({1});
  check_same<Curved<checkpointed>, Curved<plain>>({1});
}
TEST_CASE("in members and around them") { check_same<Round<checkpointed>, Round<plain>>({1, 5, 40}); }
TEST_CASE("what is inside is not kept") {
  // Six blocks keep eight matrices each; checkpointed, one for each block, and those of one block.
  constexpr std::int64_t kept = drx::plan::lowered<Deep<plain>>::plan.server_bytes,
                         again = drx::plan::lowered<Deep<checkpointed>>::plan.server_bytes;
  CHECK(kept > 24 * std::int64_t{sizeof(matrix)});
  CHECK(again < kept / 2);
}
TEST_CASE("they agree with central differences") {
  constexpr auto small = [](auto w, auto x) { return deep<checkpointed>(w, x); };
  using square = array<double, 2, 2>;
  const square w{{.3, -.2}, {.5, .7}}, x{{1.1, .4}, {-.6, .2}};
  CHECK(drx::check_grads<drx::program<small, square, square>>(w, x, {.order = 2}).unclear == 0);
}
