// Loops around collectives that step along stacked arrays and stack what each step makes: pmap against vmap,
// derivatives against differences.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

using drx::array;
using drx::axis;
using drx::none;
using drx::program;

namespace {
struct devices : drx::placement<devices> {};
using states = array<double, 3, 2>;     // of each device
using forces = array<double, 3, 4, 2>;  // of each device, at each step
using times = array<double, 4>;         // the same for all

/// A step of diffusion along a line of devices, which exchange their ends.
constexpr auto diffused = [](auto u, auto force) {
  const auto before = drx::ppermute<devices>(drx::slice<1, 2>(u), std::array{-1, 0, 1});
  const auto behind = drx::ppermute<devices>(drx::slice<0, 1>(u), std::array{1, 2, -1});
  return u +
         .2 * (drx::concatenate<0>(before, drx::slice<0, 1>(u)) - 2 * u +
               drx::concatenate<0>(drx::slice<1, 2>(u), behind)) +
         drx::sin(u * force);
};
/// What is stacked differs between devices (u), or is the same for all (the mean); so are the arrays that are stepped
/// along.
template <auto Memory>
constexpr auto scanned = [](auto u, auto force, auto time) {
  return drx::scan(
      [](auto v, auto now) {
        const auto next = diffused(v, now.first) * now.second;
        return std::pair{next, std::pair{next * v, drx::pmean<devices>(next) + now.second}};
      },
      u, std::pair{force, time}, Memory);
};
/// The same steps two by two, where the inner loop's stacks are rows of the outer one's.
constexpr auto nested = [](auto u, auto force) {
  return drx::scan(
      [](auto v, auto pair) {
        return drx::scan(
            [](auto w, auto now) {
              const auto next = diffused(w, now);
              return std::pair{next, next};
            },
            v, pair);
      },
      u, drx::reshape<2, 2, 2>(force));
};
constexpr auto flat = [](auto u, auto force) {
  const auto [last, all] = drx::scan(
      [](auto v, auto now) {
        const auto next = diffused(v, now);
        return std::pair{next, next};
      },
      u, force);
  return std::pair{last, drx::reshape<2, 2, 2>(all)};
};
/// Ends for all devices at once, before its last step.
constexpr auto settled = [](auto u) {
  return drx::while_loop<6>([](auto v) { return drx::pmax<devices>(drx::max(drx::abs(v))) < 2.; },
                            [](auto v) { return 1.3 * diffused(v, v); }, u);
};
constexpr auto weighed = [](auto... part) { return (drx::sum(drx::sin(part)) + ...); };
template <auto Memory>
constexpr auto loss = [](auto u, auto force, auto time) {
  const auto [last, stacks] = scanned<Memory>(u, force, time);
  return weighed(last, stacks.first, stacks.second);
};
constexpr auto in_pmap = drx::pmap<devices>(scanned<drx::keep_carries>, std::tuple{axis<0>, axis<0>, none});
constexpr auto in_vmap = drx::vmap<devices>(scanned<drx::keep_carries>, std::tuple{axis<0>, axis<0>, none});
template <auto Memory>
constexpr auto around = [](auto u, auto force, auto time) {
  return drx::sum(drx::pmap<devices>(loss<Memory>, std::tuple{axis<0>, axis<0>, none})(u, force, time));
};
}  // namespace

TEST_CASE("stacks of each device, and stacks that all have in common") {
  constexpr auto same = [](auto u, auto force, auto time) {
    const auto [p, ps] = in_pmap(u, force, time);
    const auto [v, vs] = in_vmap(u, force, time);
    return std::tuple{p - v, ps.first - vs.first, ps.second - vs.second};
  };
  harness::check_zero<program<same, states, forces, times>>();
  harness::check_program<program<around<drx::keep_carries>, states, forces, times>>({.orders = 1});
}
TEST_CASE("what a loop keeps for its derivative changes nothing") {
  constexpr auto same = [](auto u, auto force, auto time) {
    const auto all = drx::grad<0, 1, 2>(around<drx::keep_carries>)(u, force, time);
    const auto less = [&](auto t) {
      return std::tuple{std::get<0>(t) - std::get<0>(all), std::get<1>(t) - std::get<1>(all),
                        std::get<2>(t) - std::get<2>(all)};
    };
    return std::tuple{less(drx::grad<0, 1, 2>(around<drx::keep_all>)(u, force, time)),
                      less(drx::grad<0, 1, 2>(around<drx::checkpoint_every<2>>)(u, force, time))};
  };
  harness::check_zero<program<same, states, forces, times>>();
}
TEST_CASE("a loop in a loop; a derivative in each device") {
  constexpr auto same = [](auto u, auto force) {
    const auto [p, ps] = drx::pmap<devices>(nested)(u, force);
    const auto [v, vs] = drx::pmap<devices>(flat)(u, force);
    const auto slope = [=](auto map, auto f) {
      return map(drx::grad<0, 1>([=](auto a, auto b) {
        const auto [last, all] = f(a, b);
        return weighed(last, all);
      }))(u, force);
    };
    const auto pmapped = [](auto f) { return drx::pmap<devices>(f); };
    const auto vmapped = [](auto f) { return drx::vmap<devices>(f); };
    const auto [a, b] = slope(pmapped, nested);
    const auto [c, d] = slope(vmapped, flat);
    return std::tuple{p - v, ps - vs, a - c, b - d};
  };
  harness::check_zero<program<same, states, forces>>();
}
TEST_CASE("a loop that ends for all at once, and its derivative") {
  constexpr auto same = [](auto u) {
    const auto by = [](auto map) { return [=](auto x) { return drx::sum(drx::sin(map(x))); }; };
    const auto p = by(drx::pmap<devices>(settled));
    const auto v = by(drx::vmap<devices>(settled));
    return std::tuple{p(u) - v(u), drx::grad(p)(u) - drx::grad(v)(u)};
  };
  harness::check_zero<program<same, states>>();
}
