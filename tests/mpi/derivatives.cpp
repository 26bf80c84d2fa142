// ranks: 1 3
// options: -O0
// Derivatives of second order of reductions and of what is made of them: the plain interpreter's on one rank, and the
// same bits on several.
#include "harness/random_on_ranks.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct members : drx::placement<members> {};
using v2 = array<double, 2>;
template <class T>
using at_members = placed<T, members>;

/// The derivative, along x itself, of the gradient: forward over reverse mode.
template <auto F>
constexpr auto second = [](auto w, auto x, auto weight) {
  const auto slope = [&](auto v) { return drx::grad<0>([&](auto u) { return F(u, x, weight); })(v); };
  return drx::jvp(slope, w, w);
};
/// The gradient of a function of the gradients in what the members hold: reverse over reverse mode.
template <auto F>
constexpr auto of_members = [](auto w, auto x, auto weight) {
  return drx::grad([&](auto u) {
    const auto slopes = drx::grad<1, 2>(F)(u, x, weight);
    return drx::reduce_sum(
        drx::map([](auto a, auto b) { return drx::sum(a * a) + b * b; }, std::get<0>(slopes), std::get<1>(slopes)));
  })(w);
};

constexpr auto terms = [](auto w, auto x) {
  return drx::map([](auto a, auto b) { return drx::tanh(a * b) + 1.5; }, drx::broadcast<members>(w), x);
};
constexpr auto weighted = [](auto w, auto x, auto weight) {
  return drx::sum(drx::square(drx::reduce_weighted_mean(terms(w, x), weight)));
};
/// Members 0 and 1, 2 and 3, ... hold the same after the rounding, so that extrema are attained by several.
constexpr auto ties = [](auto w, auto x, auto weight) {
  const auto some = drx::map([](auto v) { return drx::floor(2 * v); }, x);
  return drx::sum(drx::reduce_max(terms(w, some)) * drx::reduce_min(terms(w, some))) + 0 * drx::reduce_sum(weight);
};
constexpr auto product = [](auto w, auto x, auto weight) {
  const drx::monoid times{[](auto a, auto b) { return a * b; }, 1, [](auto v, auto y, auto ct) { return ct * y / v; }};
  return drx::sum(drx::log(drx::reduce_with(times, terms(w, x)))) + drx::square(drx::reduce_mean(weight));
};
constexpr auto masked = [](auto w, auto x, auto weight) {  // of the members with a weight above .2
  const auto takes_part = drx::map([](auto v) { return v > .2; }, weight);
  const auto kept =
      drx::map([](auto on, auto v) { return drx::where(on, v, drx::zeros<v2>()); }, takes_part, terms(w, x));
  const auto n = drx::reduce_sum(drx::map([](auto on) { return drx::cast<double>(on); }, takes_part));
  return drx::sum(drx::square(drx::reduce_sum(kept))) / drx::max(n, 1) +
         drx::reduce_mean(drx::map([](auto v) { return v * v * v; }, weight));
};

template <auto F>
using Second = program<second<F>, v2, at_members<v2>, at_members<double>>;
template <auto F>
using OfMembers = program<of_members<F>, v2, at_members<v2>, at_members<double>>;
}  // namespace

TEST_CASE("weighted means") {
  harness::check_on_ranks<Second<weighted>>({.low = .2}), harness::check_on_ranks<OfMembers<weighted>>({.low = .2});
}
TEST_CASE("extrema that several members attain") { harness::check_on_ranks<Second<ties>>({.low = .2}); }
TEST_CASE("a monoid with a pull") {
  harness::check_on_ranks<Second<product>>({.low = .2}), harness::check_on_ranks<OfMembers<product>>({.low = .2});
}
TEST_CASE("members that take part") {
  harness::check_on_ranks<Second<masked>>({.low = .1}), harness::check_on_ranks<OfMembers<masked>>({.low = .1});
}
