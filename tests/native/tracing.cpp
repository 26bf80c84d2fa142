// Programs traced and planned natively: the same tapes and plans as constant evaluation makes, from the same code.
#include <doctest/doctest.h>
#include <drx/drx.hpp>
#include <drx/generate/text.hpp>
#include <drx/run/check/interpreter.hpp>

#include "harness/compiled_programs.hpp"
#include "harness/difference.hpp"
#include "harness/random_tensor.hpp"

#include <string>
#include <utility>

namespace {
using drx::array;
constexpr int all_passes = static_cast<int>(std::size(drx::plan::passes));

/// A random program by constant evaluation. (Natively its generator would draw in another order.)
template <unsigned Seed>
struct drawn {
  static constexpr drx::tape make() { return harness::random_program(Seed, 15); }
};
/// t with its values numbered as constants number them.
drx::tape numbered(const drx::tape& t) { return drx::frozen_lists(t).view().thaw(); }

/// The rules and passes that make tape and plan of a random program, natively and by constant evaluation.
template <unsigned Seed>
void check_rules() {
  using program = harness::compiled_random<Seed, 15>;
  const drx::tape tape = numbered(program::with_gradient(drx::frozen<drawn<Seed>>::value.thaw()));
  CHECK(drx::show(tape) == drx::show(program::tape().thaw()));
  const drx::tape plan = drx::plan::after_passes(tape, all_passes);
  using constants = drx::plan::lowered<program>;
  CHECK(drx::show(numbered(plan)) == drx::show(constants::tape.thaw()));
  const drx::frozen_lists stages(plan);
  const drx::plan::workspace_plan memory = drx::plan::workspace_of(stages.view());
  CHECK(memory.server_bytes == constants::plan.server_bytes);
  CHECK(memory.thread_bytes == constants::plan.thread_bytes);
  for (int v = 0; v < stages.sizes.values; ++v) {
    CHECK(memory.where[v].space == constants::plan.where[v].space);
    CHECK(memory.where[v].offset == constants::plan.where[v].offset);
  }
}
template <unsigned... Seed>
void check_random(std::integer_sequence<unsigned, Seed...>) {
  (check_rules<100 + Seed>(), ...);
}

struct clients : drx::placement<clients> {};
constexpr auto loss = [](auto w, auto x, auto y) {
  auto hidden = drx::tanh(drx::matmul(x, w) + 1);
  return drx::sum(drx::square(drx::sum<1>(hidden) - y)) + drx::max(hidden);
};
constexpr auto round_of = [](auto w, auto rate, auto x, auto y) {
  auto of_client = [=](auto v, auto a, auto b) {
    return drx::fori_loop<3>(v, [=](auto u) { return u - rate * drx::grad(loss)(u, a, b); });
  };
  return drx::reduce_mean(drx::map(of_client, drx::broadcast<clients>(w), x, y));
};
using weights = array<double, 3, 4>;
using Round = drx::program<round_of, weights, double, drx::placed<array<double, 5, 3>, clients>,
                           drx::placed<array<double, 5>, clients>>;
constexpr auto slope = [](auto w, auto rate, auto x, auto y) {
  return drx::grad<1>([](auto... z) { return drx::sum(drx::square(round_of(z...))); })(w, rate, x, y);
};
using Slope = drx::program<slope, weights, double, drx::placed<array<double, 5, 3>, clients>,
                           drx::placed<array<double, 5>, clients>>;
constexpr auto branches = [](auto x, auto n) {
  auto y = drx::cond(drx::sum(x) > 0, [](auto z) { return z * 2 + z; }, [](auto z) { return drx::sin(z) - z; }, x);
  return std::pair{drx::while_loop([](auto c) { return drx::sum(c) < 100; }, [=](auto c) { return c * c + y; }, y),
                   drx::vmap([](auto z) { return drx::sum<0>(z); })(drx::stack<0>(x, y)) * n};
};
using Branches = drx::program<branches, array<double, 4>, double>;

/// P, traced natively, is the function that constant evaluation gives. (Its entries may come in another order:
/// compilers may evaluate the operands of x y + z from the right.)
template <class P>
void check_traced() {
  drx::tape native;
  {
    const drx::native_tracing traces;
    native = P::make();
  }
  const drx::tape constant = P::tape().thaw();
  CHECK(drx::check(native));
  CHECK(native.entries.size() == constant.entries.size());
  std::mt19937_64 random(7);
  std::vector<drx::tensor> inputs;
  for (int i : constant.inputs) inputs.push_back(harness::random_tensor(constant.values[i], {}, random));
  CHECK(harness::same_bits(drx::interpreter::run(native, inputs), drx::interpreter::run(constant, inputs)));
}
}  // namespace

TEST_CASE("rules and passes write the same entries natively") {
  check_random(std::make_integer_sequence<unsigned, 8>{});
}
TEST_CASE("functions are traced natively") {
  check_traced<Round>();
  check_traced<Slope>();
  check_traced<Branches>();
}
