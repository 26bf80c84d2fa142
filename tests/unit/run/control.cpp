// Branches, compiled, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {

struct clients : drx::placement<clients> {};
using vec3 = drx::array<double, 3>;
template <class T>
using at_clients = drx::placed<T, clients>;

// Each member takes its own branch; both hand a value through, make one, and use one from around.
constexpr auto by_member = [](auto x, auto w) {
  return drx::map(
      [=](auto v) {
        auto [a, b] = drx::cond(
            drx::sum(v) > 0, [=](auto u) { return std::tuple{drx::sin(u) * w, u}; },
            [=](auto u) { return std::tuple{u, drx::fori_loop<3>(u, [=](auto c) { return c * c - w; })}; }, v);
        return a * b + v;
      },
      x);
};
constexpr auto branch_sum = [](auto x, auto w) { return drx::sum(drx::reduce_sum(by_member(x, w))); };

// A MapReduce program in each branch, in a loop.
constexpr auto branches_of_reductions = [](auto w, auto x) {
  return drx::fori_loop<5>(w, [=](auto i, auto v) {
    return drx::cond(
        drx::sum(v) > drx::cast<double>(i),
        [=] {
          return drx::reduce_mean(
              drx::map([](auto p, auto q) { return drx::tanh(p * q); }, drx::broadcast<clients>(v), x));
        },
        [=] { return v + drx::reduce_max(drx::map([](auto q) { return drx::square(q); }, x)); });
  });
};
constexpr auto total_of_branches = [](auto w, auto x) { return drx::sum(branches_of_reductions(w, x)); };

constexpr auto cases = [](auto i, auto x, auto y) {
  return drx::switch_case(
      i, [=] { return std::tuple{x, y}; }, [=] { return std::tuple{y, x}; }, [=] { return std::tuple{x * y, x * y}; });
};

// What does not change in the loop is broadcast in it all the same: one copy for each member would be held otherwise.
constexpr auto anchored = [](auto w, auto x) {
  return drx::sum(drx::fori_loop<3>(w, [=](auto v) {
    return drx::fori_loop<2>(v, [=](auto u) {
      return u - 0.1 * drx::reduce_mean(drx::map([](auto a, auto b, auto c) { return drx::sin(a * c) + b; },
                                                 drx::broadcast<clients>(u), drx::broadcast<clients>(w), x));
    });
  }));
};

}  // namespace

TEST_CASE("what is broadcast into a loop is not held whole") {
  static constexpr auto slope = drx::grad<0>(anchored);
  using P = drx::program<slope, vec3, at_clients<vec3>>;
  CHECK(drx::show(drx::plan::staged_program<P>::tape_constant().thaw()).find("collect") == std::string::npos);
  harness::check_run<P>({}, {4, 1});
}

TEST_CASE("branches of members") {
  harness::check_run<drx::program<by_member, at_clients<vec3>, vec3>>();
  static constexpr auto slope = drx::value_and_grad<0, 1>(branch_sum);
  harness::check_run<drx::program<slope, at_clients<vec3>, vec3>>();
}

TEST_CASE("branches with reductions in them") {
  static constexpr auto slope = drx::value_and_grad<0>(total_of_branches);
  harness::check_run<drx::program<slope, vec3, at_clients<vec3>>>();
}

TEST_CASE("branches that hand values through") {
  using P = drx::program<cases, int, vec3, vec3>;
  for (std::uint64_t seed = 1; seed < 7; ++seed) harness::check_run<P>({.below = 3, .seed = seed}, {1});
}
