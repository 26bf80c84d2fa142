// Loops that stop, compiled, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/run.hpp"

namespace {

struct clients : drx::placement<clients> {};
using vec3 = drx::array<double, 3>;
template <class T>
using at_clients = drx::placed<T, clients>;

// Conjugate gradients on the normal equations of all members' rows, until the residual is small.
constexpr auto times = [](auto v, auto x) {
  return drx::reduce_sum(
             drx::map([](auto p, auto row) { return row * drx::dot(row, p); }, drx::broadcast<clients>(v), x)) +
         v;
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
  auto grown = drx::map(
      [=](auto v) {
        auto [y, n] = drx::while_loop<6>(
            [](auto c) { return drx::sum(drx::square(std::get<0>(c))) < 4; },
            [=](auto i, auto c) { return std::tuple{std::get<0>(c) * 1.5 + w, std::get<1>(c) + drx::cast<double>(i)}; },
            std::tuple{v, drx::sum(v)});
        return y * n;
      },
      x);
  return drx::sum(drx::reduce_sum(grown));
};
constexpr auto unbounded = [](auto x, auto w) {
  return drx::reduce_sum(drx::map(
      [=](auto v) {
        return drx::while_loop([](auto c) { return drx::sum(drx::square(c)) < 4; }, [=](auto c) { return c * 1.5 + w; },
                               v);
      },
      x));
};

}  // namespace

TEST_CASE("conjugate gradients over all members, and their derivative") {
  static constexpr auto slope = drx::value_and_grad<0>(solved);
  harness::check_run<drx::program<slope, vec3, at_clients<vec3>>>({}, {4, 1});
}

TEST_CASE("loops that stop in members") {
  static constexpr auto slope = drx::value_and_grad<0, 1>(lengths);
  harness::check_run<drx::program<slope, at_clients<vec3>, vec3>>({.low = 0.1, .high = 0.8});
  harness::check_run<drx::program<unbounded, at_clients<vec3>, vec3>>({.low = 0.1, .high = 0.8});
}
