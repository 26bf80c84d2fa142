// What members compute in a loop of what it does not change is computed in front of the loop, and kept.
#include <drx/drx.hpp>

#include "harness/newton.hpp"
#include "harness/passes.hpp"
#include "harness/run.hpp"

namespace {
using drx::array;
struct rows : drx::placement<rows> {};

/// The maps in front of loops.
template <class P>
int added_maps() {
  return harness::added_by_pass<P>("members' invariants", drx::prim::map);
}

// Newton's step by conjugate gradients: the curvatures at one point are the same for all of them.
constexpr auto loss = [](auto w, auto data, auto labels) {
  auto of_row = [](auto v, auto x, auto y) {
    auto logit = drx::dot(v, x);
    return drx::softplus(logit) - y * logit;
  };
  return drx::reduce_mean(drx::map(of_row, drx::broadcast<rows>(w), data, labels)) + 0.01 * drx::dot(w, w);
};
template <int Steps>
constexpr auto newton = [](auto w, auto data, auto labels) {
  return harness::newton_step<Steps>([=](auto v) { return loss(v, data, labels); }, w);
};
template <int Steps, int N>
using Newton =
    drx::program<newton<Steps>, array<double, N>, drx::placed<array<double, N>, rows>, drx::placed<double, rows>>;
// Several of Newton's steps: the loop inside a loop keeps what the outer one changes.
constexpr auto steps = [](auto w, auto data, auto labels) {
  return drx::fori_loop<3>(w, [=](auto v) { return newton<4>(v, data, labels); });
};
using Steps = drx::program<steps, array<double, 6>, drx::placed<array<double, 6>, rows>, drx::placed<double, rows>>;
// And derivatives through it.
constexpr auto slope = [](auto w, auto data, auto labels) {
  return drx::grad([=](auto v) { return drx::sum(newton<4>(v, data, labels)); })(w);
};
using Slope = drx::program<slope, array<double, 6>, drx::placed<array<double, 6>, rows>, drx::placed<double, rows>>;

// Until it is small: a loop whose steps are not known, and that may take none.
constexpr auto halved = [](auto w, auto data) {
  auto error = [=](auto x) {
    auto of_row = [](auto scale, auto d, auto at) { return drx::sum(drx::exp(scale * d)) * at; };
    return drx::reduce_mean(drx::map(of_row, drx::broadcast<rows>(w), data, drx::broadcast<rows>(x)));
  };
  return drx::while_loop([=](auto x) { return error(x) > 1.0; }, [](auto x) { return x / 2.0; }, w);
};
using Halved = drx::program<halved, double, drx::placed<array<double, 8>, rows>>;

// In the members of another placement.
struct schools : drx::placement<schools> {};
constexpr auto in_school = [](auto w, auto data) {
  auto step = [=](auto x) {
    auto of_row = [](auto scale, auto d, auto at) { return drx::sum(drx::exp(scale * d)) * at; };
    return x * 0.5 + 0.1 * drx::reduce_mean(drx::map(of_row, drx::broadcast<rows>(w), data, drx::broadcast<rows>(x)));
  };
  return drx::fori_loop<5>(w, step);
};
constexpr auto nested = [](auto w, auto data) {
  return drx::reduce_sum(drx::map(in_school, drx::broadcast<schools>(w), data));
};
using Nested = drx::program<nested, double, drx::placed<drx::placed<array<double, 8>, rows>, schools>>;

// Work that takes more memory than what it comes from, and work that is quick, are done again.
constexpr auto larger = [](auto w, auto data) {
  auto step = [=](auto x) {
    auto of_row = [](auto d, auto at) {
      return drx::sum(drx::exp(drx::expand_dims<0>(d) * drx::expand_dims<1>(d)) * at);
    };
    return x + 1e-6 * drx::reduce_mean(drx::map(of_row, data, drx::broadcast<rows>(x)));
  };
  return drx::fori_loop<5>(w, step);
};
constexpr auto quick = [](auto w, auto data) {
  auto step = [=](auto x) {
    auto of_row = [](auto d, auto at) { return drx::sum((d * d + 1.0) * at); };
    return x + 1e-3 * drx::reduce_mean(drx::map(of_row, data, drx::broadcast<rows>(x)));
  };
  return drx::fori_loop<5>(w, step);
};
using Larger = drx::program<larger, double, drx::placed<array<double, 4>, rows>>;
using Quick = drx::program<quick, double, drx::placed<array<double, 4>, rows>>;
}  // namespace

TEST_CASE("curvatures are kept for conjugate gradients") {
  CHECK(added_maps<Newton<4, 6>>() == 1);
  CHECK(added_maps<Newton<2, 6>>() == 0);  // too few steps
  harness::check_run<Newton<4, 6>>({}, {0, 1, 5, 37, 300});
  CHECK(added_maps<Steps>() == 1);
  harness::check_run<Steps>({}, {5, 37});
  CHECK(added_maps<Slope>() > 0);
  harness::check_run<Slope>({}, {5, 37});
}
TEST_CASE("of loops that end by a condition") {
  CHECK(added_maps<Halved>() > 0);
  harness::check_run<Halved>({}, {1, 5, 37});
}
TEST_CASE("in members of members") {
  CHECK(added_maps<Nested>() == 1);
  harness::check_run<Nested>({}, {0, 1, 5, 37});
}
TEST_CASE("what is large or quick is computed again") {
  CHECK(added_maps<Larger>() == 0);
  CHECK(added_maps<Quick>() == 0);
  harness::check_run<Larger>({}, {1, 5});
  harness::check_run<Quick>({}, {1, 5});
}
