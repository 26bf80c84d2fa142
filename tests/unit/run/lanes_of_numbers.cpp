// Arrays of a few numbers in the loops of members in lanes, which fall apart into numbers, against the plain
// interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>

namespace {
struct runs : drx::placement<runs> {};
template <class T, std::int64_t... N>
using array = drx::array<T, N...>;

template <class P>
std::string plan_of() {
  return drx::show(drx::plan::staged_program<P>::tape_constant().thaw());
}
/// A plan's last body, which is that for a block of members.
template <class P>
std::string block_of() {
  const std::string all = plan_of<P>();
  return all.substr(all.rfind("\n  } ("));
}

template <const auto& F>
constexpr auto mean_of = [](auto w, auto data) {
  return drx::value_and_grad([=](auto v) { return drx::reduce_mean(drx::map(F, drx::broadcast<runs>(v), data)); })(w);
};

// Implicit steps, each of two of Newton's: loops in loops, a Jacobian and its system.
constexpr auto implicit = [](auto w, auto start) {
  auto step = [=](auto y) {
    auto off = [=](auto next) {
      auto a = drx::index<0>(next), b = drx::index<1>(next), c = drx::index<2>(next);
      return next - y - 0.1 * drx::stack(drx::sin(a) * b, drx::index<0>(w) * b * c, drx::index<1>(w) * c * c);
    };
    return drx::fori_loop<2>(y, [=](auto next) { return next - drx::solve(drx::jacfwd(off)(next), off(next)); });
  };
  return drx::sum(drx::square(drx::fori_loop<3>(start, step)));
};
constexpr auto mean_of_implicit = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(implicit, drx::broadcast<runs>(w), data));
};
using Implicit = drx::program<mean_of_implicit, array<double, 3>, drx::placed<array<double, 3>, runs>>;

// Everything that moves numbers, sums and choices; what a scan reads and stacks; a matrix beside a vector as carries.
constexpr auto mixed = [](auto w, auto data) {
  auto step = [=](auto carry, auto x) {
    auto [m, v] = carry;                                                           // [3, 2] and [3]
    auto turned = drx::transpose(m) * drx::flip<0>(x);                             // [2, 3]
    auto part = drx::slice<1, 3>(v) + drx::index<0>(w) * drx::sum<1>(turned);      // [2]
    auto wide = drx::concatenate(part, drx::reshape<1>(drx::sum(m)));              // [3]
    auto outer = drx::matmul(drx::reshape<3, 1>(wide), drx::reshape<1, 2>(part));  // [3, 2]
    auto chosen = drx::where(drx::iota<array<std::int32_t, 3>>() == drx::full<array<std::int32_t, 3>>(1), wide, v);
    auto bounded = drx::where(chosen < x, drx::tanh(chosen), 0.5 * drx::roll<2>(chosen));
    auto next = 0.25 * outer + drx::reshape<3, 2>(drx::pad<2, 1>(bounded));
    return std::pair{std::pair{next, bounded}, drx::stack(drx::sum(bounded), drx::index<1>(part))};
  };
  auto start =
      std::pair{drx::reshape<3, 2>(drx::concatenate(drx::index<0>(data), drx::index<1>(data))), drx::index<2>(data)};
  auto [last, kept] = drx::scan(step, start, data);
  return drx::sum(drx::square(kept)) + drx::sum(std::get<0>(last)) + drx::dot(std::get<1>(last), std::get<1>(last));
};
using Mixed = drx::program<mean_of<mixed>, array<double, 3>, drx::placed<array<double, 4, 3>, runs>>;

// Systems of all kinds in a loop's step.
constexpr auto systems = [](auto w, auto data) {
  return drx::sum(drx::fori_loop<3>(data, [=](auto v) {
    auto m = drx::matmul(drx::reshape<2, 1>(v), drx::reshape<1, 2>(v)) + 2 * drx::identity<array<double, 2, 2>>();
    auto l = drx::cholesky(m);
    return w * drx::triangular_solve(l, drx::solve(m, v)) + v;
  }));
};
using Systems = drx::program<mean_of<systems>, array<double, 2>, drx::placed<array<double, 2>, runs>>;

// A loop of no steps, which reads and stacks arrays without rows.
constexpr auto without_steps = [](auto w, auto data) {
  auto [last, kept] = drx::scan([](auto v, auto x) { return std::pair{v * x, v + x}; }, w, data);
  return std::pair{last, kept};
};
constexpr auto without_steps_of_members = [](auto w, auto data) {
  return drx::map(without_steps, drx::broadcast<runs>(w), data);
};
using WithoutSteps = drx::program<without_steps_of_members, array<double, 3>, drx::placed<array<double, 0, 3>, runs>>;

// A loop with a longer array stays as it is, and so does one that ends by a condition.
constexpr auto longer = [](auto w, auto data) {
  return drx::sum(drx::fori_loop<3>(data, [=](auto v) { return 0.5 * drx::tanh(w * v + drx::roll<1>(v)); }));
};
using Longer = drx::program<mean_of<longer>, array<double, 10>, drx::placed<array<double, 10>, runs>>;
constexpr auto ended = [](auto w, auto data) {
  return drx::reduce_mean(drx::map(
      [](auto own, auto x) {
        return drx::while_loop([](auto s) { return drx::sum(s) < 9; },
                               [=](auto s) { return s + drx::square(drx::roll<1>(own)); }, drx::square(x));
      },
      drx::broadcast<runs>(w), data));
};
using Ended = drx::program<ended, array<double, 3>, drx::placed<array<double, 3>, runs>>;
}  // namespace

TEST_CASE("a Jacobian and its system in loops") {
  harness::check_run<Implicit>({.low = -0.5, .high = 0.5}, {0, 5, 256, 300});
  CHECK(plan_of<Implicit>().find("lane_lu_solve") != std::string::npos);
  const std::string block = block_of<Implicit>();
  CHECK(block.find(" 3 carries]") != std::string::npos);
  CHECK(block.find("equal") == std::string::npos);  // of a unit vector's places: they are known
}
TEST_CASE("numbers are moved, added up and chosen") {
  harness::check_run<Mixed>({.low = -1, .high = 1}, {0, 5, 256, 300});
  CHECK(block_of<Mixed>().find("9 carries]") != std::string::npos);
}
TEST_CASE("systems of numbers are joined") {
  harness::check_run<Systems>({.low = -1, .high = 1}, {5, 300});
  CHECK(block_of<Systems>().find("2 carries]") != std::string::npos);
}
TEST_CASE("a loop of no steps") { harness::check_run<WithoutSteps>({}, {5, 300}); }
TEST_CASE("other loops stay as they are") {
  harness::check_run<Longer>({.low = -1, .high = 1}, {5, 300});
  CHECK(block_of<Longer>().find("scan[3, 1 constants, 1 carries]") != std::string::npos);
  harness::check_run<Ended>({.low = 1, .high = 2}, {5, 300});
}
