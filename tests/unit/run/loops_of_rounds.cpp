// Loops around rounds whose derivatives are carried per member; placed values that are held whole between stages.
#include <drx/drx.hpp>

#include "harness/run.hpp"

using drx::array;
using drx::placed;
using drx::program;

namespace {
struct clients : drx::placement<clients> {};
struct rows : drx::placement<rows> {};
using vec3 = array<double, 3>;

constexpr auto times = [](auto a, auto b) { return a * b; };
constexpr auto rounds = [](auto w, auto x) {
  return drx::sum(drx::fori_loop<3>(
      w, [&](auto v) { return drx::tanh(v + drx::reduce_mean(drx::map(times, drx::broadcast<clients>(v), x))); }));
};
constexpr auto slopes = [](auto w, auto x) { return drx::grad<0, 1>(rounds)(w, x); };
/// The derivative of a norm of the members' gradients: the loop's carries are kept per member, and step.
constexpr auto bent = [](auto w, auto x) {
  return drx::grad([&](auto v) {
    return drx::reduce_sum(drx::map([](auto g) { return drx::sum(g * g); }, drx::grad<1>(rounds)(v, x)));
  })(w);
};
constexpr auto within = [](auto w, auto x) {  // the same loop for each client over its rows
  return drx::map(
      [](auto v, auto own) {
        return drx::grad<1>([](auto u, auto r) {
          return drx::sum(drx::fori_loop<2>(
              u, [&](auto c) { return drx::tanh(c + drx::reduce_mean(drx::map(times, drx::broadcast<rows>(c), r))); }));
        })(v, own);
      },
      drx::broadcast<clients>(w), x);
};
constexpr auto reused = [](auto x) {  // y is a result, and read again by the second stage
  const auto y = drx::map([](auto v) { return drx::sin(v); }, x);
  const auto mean = drx::reduce_mean(y);
  return std::pair{
      y, drx::reduce_sum(drx::map([](auto a, auto b) { return a * b * b; }, drx::broadcast<clients>(mean), y))};
};
}  // namespace

TEST_CASE("derivatives of a loop of rounds in what its members hold") {
  harness::check_run<program<slopes, vec3, placed<vec3, clients>>>();
}
TEST_CASE("the derivative of a function of these derivatives") {
  harness::check_run<program<bent, vec3, placed<vec3, clients>>>({}, {3, 0});
}
TEST_CASE("the same inside of a map, over nested placements") {
  harness::check_run<program<within, vec3, placed<placed<vec3, rows>, clients>>>({}, {4, 0});
}
TEST_CASE("of a subset, what was computed before is read where it lies") {
  drx::serial_executor e;
  drx::single_rank c;
  const auto value = [](std::int64_t i) { return .3 * static_cast<double>(i); };
  const auto x = drx::place<clients>(c, 40, value);
  const std::vector<std::int64_t> chosen{5, 17, 38};
  const auto few =
      drx::place<clients>(c, 3, [&](std::int64_t i) { return value(chosen[static_cast<std::size_t>(i)]); });
  drx::compiled<program<reused, placed<double, clients>>> p(e, c), q(e, c);
  const auto got = p(x.subset(chosen, 0)), expected = q(few);
  CHECK(got.second == expected.second);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(got.first[i] == expected.first[i]);
}
