// Branches and loops that stop, compiled, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {

struct clients : drx::placement<clients> {};
using vec3 = drx::array<double, 3>;
template <class T>
using at_clients = drx::placed<T, clients>;

// Each member takes its own branch; both hand a value through, make one, and use one from around.
constexpr auto by_member = [](auto x, auto w) {
  return drx::map([=](auto v) {
    auto [a, b] = drx::cond(drx::sum(v) > 0, [=](auto u) { return std::tuple{drx::sin(u) * w, u}; },
                            [=](auto u) { return std::tuple{u, drx::fori_loop<3>(u, [=](auto c) { return c * c - w; })}; }, v);
    return a * b + v;
  }, x);
};
constexpr auto branch_sum = [](auto x, auto w) { return drx::sum(drx::reduce_sum(by_member(x, w))); };

// A MapReduce program in each branch, in a loop.
constexpr auto branches_of_reductions = [](auto w, auto x) {
  return drx::fori_loop<5>(w, [=](auto i, auto v) {
    return drx::cond(drx::sum(v) > drx::cast<double>(i),
                     [=] { return drx::reduce_mean(drx::map([](auto p, auto q) { return drx::tanh(p * q); }, drx::broadcast<clients>(v), x)); },
                     [=] { return v + drx::reduce_max(drx::map([](auto q) { return drx::square(q); }, x)); });
  });
};
constexpr auto total_of_branches = [](auto w, auto x) { return drx::sum(branches_of_reductions(w, x)); };

constexpr auto cases = [](auto i, auto x, auto y) {
  return drx::switch_case(i, [=] { return std::tuple{x, y}; }, [=] { return std::tuple{y, x}; }, [=] { return std::tuple{x * y, x * y}; });
};

// Conjugate gradients on the normal equations of all members' rows, until the residual is small.
constexpr auto times = [](auto v, auto x) {
  return drx::reduce_sum(drx::map([](auto p, auto row) { return row * drx::dot(row, p); }, drx::broadcast<clients>(v), x)) + v;
};
constexpr auto solve = [](auto b, auto x) {
  auto go_on = [](auto c) { return drx::dot(std::get<1>(c), std::get<1>(c)) > 1e-20; };
  auto step = [=](auto c) {
    auto [w, r, p] = c;
    auto ap = times(p, x);
    auto a = drx::dot(r, r) / drx::dot(p, ap);
    auto next = r - a * ap;
    return std::tuple{w + a * p, next, next + p * (drx::dot(next, next) / drx::dot(r, r))};
  };
  return std::get<0>(drx::while_loop<20>(go_on, step, std::tuple{b * 0, b, b}));
};
constexpr auto solved = [](auto b, auto x) { return drx::dot(solve(b, x), b); };

// In each member a loop of its own length, and one without a bound.
constexpr auto lengths = [](auto x, auto w) {
  auto grown = drx::map([=](auto v) {
    auto [y, n] = drx::while_loop<6>([](auto c) { return drx::sum(drx::square(std::get<0>(c))) < 4; },
                                     [=](auto i, auto c) { return std::tuple{std::get<0>(c) * 1.5 + w, std::get<1>(c) + drx::cast<double>(i)}; }, std::tuple{v, drx::sum(v)});
    return y * n;
  }, x);
  return drx::sum(drx::reduce_sum(grown));
};
constexpr auto unbounded = [](auto x, auto w) {
  return drx::reduce_sum(drx::map([=](auto v) {
    return drx::while_loop([](auto c) { return drx::sum(drx::square(c)) < 4; }, [=](auto c) { return c * 1.5 + w; }, v);
  }, x));
};

}  // namespace

TEST_CASE("conjugate gradients over all members, and their derivative") {
  harness::check_run<drx::program<solve, vec3, at_clients<vec3>>>({}, {5, 0, 1, 37});
  static constexpr auto slope = drx::value_and_grad<0>(solved);
  harness::check_run<drx::program<slope, vec3, at_clients<vec3>>>({}, {4, 1});
}

TEST_CASE("loops that stop in members") {
  static constexpr auto slope = drx::value_and_grad<0, 1>(lengths);
  harness::check_run<drx::program<slope, at_clients<vec3>, vec3>>({.low = 0.1, .high = 0.8});
  harness::check_run<drx::program<unbounded, at_clients<vec3>, vec3>>({.low = 0.1, .high = 0.8});
}

TEST_CASE("branches of members") {
  harness::check_run<drx::program<by_member, at_clients<vec3>, vec3>>();
  static constexpr auto slope = drx::value_and_grad<0, 1>(branch_sum);
  harness::check_run<drx::program<slope, at_clients<vec3>, vec3>>();
}

TEST_CASE("branches with reductions in them") {
  harness::check_run<drx::program<branches_of_reductions, vec3, at_clients<vec3>>>();
  static constexpr auto slope = drx::value_and_grad<0>(total_of_branches);
  harness::check_run<drx::program<slope, vec3, at_clients<vec3>>>();
}

TEST_CASE("branches that hand values through") {
  using P = drx::program<cases, int, vec3, vec3>;
  for (std::uint64_t seed = 1; seed < 7; ++seed) harness::check_run<P>({.below = 3, .seed = seed}, {1});
}
