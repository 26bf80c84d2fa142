// Loops write what they stack where the stack has it: what a body may stack, against the plain interpreter.
#include <drx/drx.hpp>
#include <drx/plan/memory/workspace.hpp>

#include "harness/run.hpp"

#include <string>
#include <utility>

namespace {
struct runs : drx::placement<runs> {};
using weights = drx::array<double, 5>;
using series = drx::array<double, 7, 5>;

// Values that a body makes: carried too, in two stacks, reshaped, of one number, of another type, and by a product.
constexpr auto made = [](auto w, auto x) {
  auto step = [=](auto c, auto z) {
    auto next = drx::tanh(c * w + z);
    auto outer = drx::matmul(drx::reshape<5, 1>(next), drx::reshape<1, 5>(z - c));
    return std::pair{next, std::tuple{next, next * z, drx::reshape<1, 5>(next * z), next * z, drx::sum(next), outer,
                                      drx::cast<float>(next), next > c}};
  };
  return drx::scan(step, w, x);
};
// Values that lie elsewhere: the carry, a row of what the loop reads, a constant, and zeros; and a part of a row.
constexpr auto found = [](auto w, auto x) {
  auto step = [=](auto c, auto z) {
    auto [a, b] = c;
    return std::pair{std::tuple{b, a * w + z},
                     std::tuple{a, b, z, w, drx::zeros<weights>(), drx::flip<0>(a), drx::slice<1, 4>(z)}};
  };
  return drx::scan(step, std::tuple{w, 0.5 * w}, x);
};
// Stacks of stacks, of what inner loops carry, of branches, and of arrays of which a part is written.
constexpr auto nested = [](auto w, auto x) {
  auto step = [=](auto c, auto z) {
    auto inner = [=](auto d, auto y) { return std::pair{d * y + z, std::tuple{d, drx::sin(d * z)}}; };
    auto [last, rows] = drx::scan(inner, c, x);
    auto chosen = drx::cond(drx::sum(z) > 0, [=] { return c * z; }, [=] { return c; });
    auto written = drx::update_slice(last, drx::reshape<1>(drx::sum(c)), 2);
    auto turned =
        drx::fori_loop<3>(std::tuple{c, z}, [](auto d) { return std::tuple{std::get<1>(d), 0.5 * std::get<0>(d)}; });
    return std::pair{written, std::tuple{written, rows, last, chosen, turned}};
  };
  return drx::scan(step, w, x);
};
// Loops that run backwards, and what they keep.
template <const drx::loop_memory& Memory>
constexpr auto slopes = [](auto w, auto x) {
  return drx::value_and_grad<0, 1>([](auto v, auto y) {
    auto step = [=](auto c, auto z) {
      auto next = drx::tanh(c * v + z) + 0.5 * drx::flip<0>(c);
      return std::pair{next, std::tuple{drx::exp(next) * z, next}};
    };
    auto [last, rows] = drx::scan(step, v, y, Memory);
    return drx::sum(last) + drx::sum(drx::square(std::get<0>(rows))) + drx::sum(drx::sin(std::get<1>(rows)));
  })(w, x);
};
// A loop that stops before its last step: the rows of the others are zeros.
constexpr auto stopped = [](auto w, auto x) {
  return drx::value_and_grad<0, 1>([](auto v, auto y) {
    auto step = [=](auto c) { return drx::tanh(c * v) * 0.75 + drx::index<0>(y); };
    auto go_on = [](auto c) { return drx::sum(drx::square(c)) > 0.5; };
    return drx::sum(drx::while_loop<9>(go_on, step, v));
  })(w, x);
};
constexpr auto all_slopes = [](auto w, auto x) {
  return std::tuple{slopes<drx::keep_all>(w, x), slopes<drx::keep_carries>(w, x),
                    slopes<drx::checkpoint_every<3>>(w, x), slopes<drx::recompute_all>(w, x), stopped(w, x)};
};

template <const auto& F>
using alone = drx::program<F, weights, series>;
template <const auto& F>
constexpr auto of_members = [](auto w, auto data) { return drx::map(F, drx::broadcast<runs>(w), data); };
template <const auto& F>
using in_members = drx::program<of_members<F>, weights, drx::placed<series, runs>>;

// A loop around stages, which stacks sums over members, and a value of each member.
constexpr auto rounds = [](auto w, auto data, auto x) {
  auto step = [=](auto c, auto z) {
    auto each = drx::map([](auto v, auto own, auto y) { return drx::tanh(v * y) + drx::index<2>(own); },
                         drx::broadcast<runs>(c), data, drx::broadcast<runs>(z));
    auto mean = drx::reduce_mean(each);
    return std::pair{mean, std::tuple{mean, drx::reduce_sum(each), each, c}};
  };
  return drx::scan(step, w, x);
};
// Carries that are stacked as a step finds them, by several names, and then written over: by a fused loop, by an update
// of a part, and in members; one that a step reads after its new value is made, which must not lie there, and one that
// another carry takes over.
constexpr auto found_first = [](auto w, auto x) {
  auto step = [=](auto c, auto z) {
    auto [a, b] = c;
    auto next = drx::tanh(a * w + z), total = drx::sum(b) * w;
    auto part = drx::update_slice(b, drx::reshape<1>(drx::sum(z)), drx::cast<int>(drx::sum(z) * 2));
    return std::pair{std::tuple{next, part}, std::tuple{a, drx::reshape<1, 5>(b), drx::reshape<5, 1>(a), total}};
  };
  return drx::scan(step, std::tuple{w, 0.5 * w}, x);
};
constexpr auto read_after = [](auto w, auto x) {
  auto step = [=](auto c, auto z) {
    auto [a, b] = c;
    auto next = drx::tanh(a * w + z);
    return std::pair{std::tuple{next, a}, std::tuple{a, b, drx::flip(a) * drx::sum(next)}};
  };
  return drx::scan(step, std::tuple{w, 0.5 * w}, x);
};
/// The carries of a program's loop whose new values are written where its steps find them.
template <class P>
int carries_in_place() {
  using lowered = drx::plan::lowered<P>;
  const auto& t = lowered::tape;
  int n = 0;
  for (const auto& e : t.entries) {
    if (e.prim != &drx::prim::scan) continue;
    const int carries = drx::prim::rules::scan::view(t.view().attributes(e)).carries;
    for (int k = 0; k < carries; ++k) {
      const auto new_one = t.pool[t.regions[e.first_region].outputs.first + k], old = t.pool[e.results.first + k];
      n += lowered::plan.where[new_one].space == lowered::plan.where[old].space &&
           lowered::plan.where[new_one].offset == lowered::plan.where[old].offset;
    }
  }
  return n;
}
using Rounds = drx::program<rounds, weights, drx::placed<series, runs>, series>;
}  // namespace

TEST_CASE("stacks of what a loop's body makes") { harness::check_run<alone<made>>({}, {1}); }
TEST_CASE("stacks of what lies elsewhere") { harness::check_run<alone<found>>({}, {1}); }
TEST_CASE("stacks of what loops and branches in a body make") { harness::check_run<alone<nested>>({}, {1}); }
TEST_CASE("what derivatives of loops stack") { harness::check_run<alone<all_slopes>>({}, {1}); }
TEST_CASE("stacks of what a loop's body makes, in members") { harness::check_run<in_members<made>>({}, {3, 300}); }
TEST_CASE("stacks of what lies elsewhere, in members") { harness::check_run<in_members<found>>({}, {3, 300}); }
TEST_CASE("stacks of what loops and branches in a body make, in members") {
  harness::check_run<in_members<nested>>({}, {3, 300});
}
TEST_CASE("what derivatives of loops stack, in members") { harness::check_run<in_members<all_slopes>>({}, {3, 300}); }
TEST_CASE("stacked carries, in whose place new ones are written") {
  CHECK(carries_in_place<alone<found_first>>() == 2);
  harness::check_run<alone<found_first>>({}, {1, 1, 1});
  harness::check_run<alone<read_after>>({}, {1});
  harness::check_run<in_members<found_first>>({}, {3, 300});
  harness::check_run<in_members<read_after>>({}, {3, 300});
}
TEST_CASE("stacks of a loop around stages") { harness::check_run<Rounds>({}, {0, 3, 300}); }
TEST_CASE("a body's workspace has no room for what it stacks") {
  constexpr auto large = [](auto x) {
    auto step = [](auto c, auto z) { return std::pair{c + drx::sum(z), drx::exp(z)}; };
    return drx::scan(step, 0.0, x).second;
  };
  using P = drx::program<large, drx::array<double, 7, 1000>>;
  CHECK(drx::plan::lowered<P>::plan.server_bytes < 8 * 8000);
}
