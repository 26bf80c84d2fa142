// The derivative of a member by two numbers runs through its loop in forward mode; by three, in reverse mode.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"

namespace {
using drx::array;
using drx::program;
struct clients : drx::placement<clients> {};
template <class T>
using at_clients = drx::placed<T, clients>;

/// Where a path ends and how long it is; which step was the longest; what does not depend on the numbers.
template <int Numbers>
constexpr auto path = [](auto p, auto start) {
  auto step = [=](auto v, auto i) {
    auto bent = drx::sin(std::get<0>(p) * v) + 0.1 * drx::cast<double>(i);
    if constexpr (Numbers > 1) bent = bent + drx::cos(std::get<1>(p)) * drx::flip(v);
    if constexpr (Numbers > 2) bent = bent * std::get<2>(p);
    return std::pair{bent, drx::sum(drx::square(bent - v))};
  };
  auto [end, lengths] = drx::scan(step, start, drx::iota<array<std::int32_t, 4>>());
  return std::tuple{end, drx::sum(lengths), drx::argmax(lengths), drx::sum(start)};
};
template <int Numbers>
constexpr auto mean_of_paths = [](auto p, auto starts) {
  auto [end, length, longest, same] = drx::map(path<Numbers>, drx::broadcast<clients>(p), starts);
  return drx::sum(drx::reduce_mean(end)) +
         drx::reduce_mean(drx::map([](auto l, auto c) { return l * l * c; }, length, same));
};
template <int Numbers>
constexpr auto slope = [](auto p, auto starts) { return drx::value_and_grad<0>(mean_of_paths<Numbers>)(p, starts); };
using one = std::tuple<double>;
using two = std::tuple<double, double>;
using three = std::tuple<double, double, double>;
using starts = at_clients<array<double, 3>>;

template <class Program>
bool runs_backwards() {
  return drx::any_entry(Program::tape().thaw(), [](const drx::entry& e) {
    return e.prim == &drx::prim::scan && drx::prim::rules::scan::view(e).backwards;
  });
}
}  // namespace

TEST_CASE("by one number or two forwards, by three backwards") {
  CHECK_FALSE(runs_backwards<program<slope<1>, one, starts>>());
  CHECK_FALSE(runs_backwards<program<slope<2>, two, starts>>());
  CHECK(runs_backwards<program<slope<3>, three, starts>>());
  harness::check_program<program<slope<1>, one, starts>>();
  harness::check_program<program<slope<2>, two, starts>>();
  harness::check_program<program<slope<3>, three, starts>>();
}

TEST_CASE("numbers of two element types go backwards") {
  static constexpr auto f = [](auto p, auto q, auto starts) {
    return drx::value_and_grad<0, 1>(
        [](auto a, auto b, auto s) { return mean_of_paths<2>(std::tuple{a, drx::cast<double>(b)}, s); })(p, q, starts);
  };
  // A float that is cast outside of the members reaches them as a double: their own inputs are what counts.
  CHECK_FALSE(runs_backwards<program<f, double, float, starts>>());
  static constexpr auto inside = [](auto p, auto q, auto starts) {
    return drx::value_and_grad<0, 1>([](auto a, auto b, auto s) {
      auto ends =
          drx::map([](auto x, auto y, auto v) { return std::get<1>(path<2>(std::tuple{x, drx::cast<double>(y)}, v)); },
                   drx::broadcast<clients>(a), drx::broadcast<clients>(b), s);
      return drx::reduce_mean(ends);
    })(p, q, starts);
  };
  CHECK(runs_backwards<program<inside, double, float, starts>>());
}

TEST_CASE("the slope is the derivative along each of the two numbers, of each member its own too") {
  constexpr auto difference = [](auto p, auto starts) {
    const auto [value, g] = slope<2>(p, starts);
    const auto along = [=](auto direction) {
      return drx::jvp([=](auto q) { return mean_of_paths<2>(q, starts); }, p, direction).second;
    };
    const auto zero = 0 * value, unit = 1 + zero;
    return std::tuple{along(std::tuple{unit, zero}) - std::get<0>(g), along(std::tuple{zero, unit}) - std::get<1>(g)};
  };
  harness::check_zero<program<difference, two, starts>>();
  // Of each member its own two numbers; one of them has no influence.
  constexpr auto own = [](auto p, auto q, auto starts) {
    return drx::grad<0, 1>([](auto a, auto b, auto s) {
      return drx::reduce_sum(
          drx::map([](auto x, auto y, auto v) { return std::get<1>(path<1>(std::tuple{x}, v)) + 0 * y; }, a, b, s));
    })(p, q, starts);
  };
  harness::check_program<program<own, at_clients<double>, at_clients<double>, starts>>();
}

TEST_CASE("second derivatives by two numbers") {
  constexpr auto second = [](auto p, auto q, auto starts) {
    return drx::hessian<0, 1>([=](auto a, auto b) { return mean_of_paths<2>(std::tuple{a, b}, starts); })(p, q);
  };
  harness::check_program<program<second, double, double, starts>>();
}
