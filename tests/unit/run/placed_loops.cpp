// Loops and branches that carry placed values, compiled, against the plain interpreter.
#include <drx/drx.hpp>

#include "harness/derivatives.hpp"
#include "harness/run.hpp"

namespace {

struct schools : drx::placement<schools> {};
struct pupils : drx::placement<pupils> {};
struct towns : drx::placement<towns> {};
using vec2 = drx::array<double, 2>;
using at_schools = drx::placed<vec2, schools>;
using at_pupils = drx::placed<drx::placed<vec2, pupils>, schools>;

// Each school steps towards the mean of its pupils; its pupils' data are what the gradient is of.
constexpr auto settle = [](auto marks, auto rate) {
  auto each = drx::map(
      [=](auto mine) {
        return drx::fori_loop<4>(rate, [=](auto w) {
          return w - rate * drx::reduce_mean(drx::map([](auto p, auto m) { return drx::sin(p * m); },
                                                      drx::broadcast<pupils>(w), mine));
        });
      },
      marks);
  return drx::sum(drx::reduce_sum(each));
};

// The state of each school goes through a loop around reductions over all of them, and is exchanged.
constexpr auto rounds = [](auto state, auto w) {
  auto [a, b, v] = drx::fori_loop<3>(std::tuple{state, drx::map([](auto s) { return s * 2; }, state), w}, [](auto c) {
    auto [x, y, u] = c;
    auto mean = drx::reduce_mean(x);
    return std::tuple{y,
                      drx::map([](auto p, auto m, auto q) { return drx::cos(p * m) + q; }, x,
                               drx::broadcast<schools>(mean), drx::broadcast<schools>(u)),
                      u + mean};
  });
  return std::tuple{a, drx::reduce_sum(b), v};
};
constexpr auto total = [](auto state, auto w) {
  auto [a, b, v] = rounds(state, w);
  return drx::sum(drx::reduce_sum(a) + b * v);
};
// Pupils' states inside of each school, which are a result.
constexpr auto inside = [](auto marks, auto w) {
  return drx::map(
      [=](auto mine) {
        return drx::fori_loop<3>(mine, [=](auto m) {
          auto mean = drx::reduce_mean(m);
          return drx::map([=](auto v) { return drx::tanh(v * mean) + w; }, m);
        });
      },
      marks);
};
constexpr auto branches = [](auto state, auto w) {
  auto next =
      drx::cond(drx::sum(w) > 0, [=] { return state; }, [=] { return drx::map([=](auto s) { return s * w; }, state); });
  return std::tuple{next, drx::reduce_sum(drx::map([](auto s) { return s * s; }, next))};
};
// The marks of all pupils of a town go through a loop in that town.
constexpr auto in_town = [](auto marks, auto w) {
  return drx::map(
      [=](auto town) {
        return drx::fori_loop<3>(town, [=](auto m) {
          auto mean = drx::reduce_mean(drx::map([](auto school) { return drx::reduce_sum(school); }, m));
          return drx::map(
              [=](auto school) { return drx::map([=](auto v) { return drx::tanh(v * mean) + w; }, school); }, m);
        });
      },
      marks);
};
constexpr auto of_pupils = [](auto marks) {
  return drx::reduce_sum(drx::map([](auto school) { return drx::reduce_sum(school); }, marks));
};
constexpr auto of_towns = [](auto marks, auto w) {
  return drx::sum(drx::square(drx::reduce_sum(drx::map(of_pupils, in_town(marks, w)))));
};
// What is stacked is not differentiated.
template <auto Memory>
constexpr auto stacked = [](auto marks, auto w, auto xs) {
  auto step = [=](auto c, auto x) {
    auto y =
        drx::map([=](auto school) { return drx::map([=](auto v) { return drx::sin(v * c) + x; }, school); }, marks);
    return std::pair{c + drx::reduce_mean(drx::map([](auto school) { return drx::reduce_sum(school); }, y)), y};
  };
  auto [last, ys] = drx::scan(step, w, xs, Memory);
  return drx::sum(last * last) +
         drx::sum(of_pupils(
             drx::map([](auto school) { return drx::map([](auto v) { return drx::stop_gradient(v); }, school); }, ys)));
};

}  // namespace

TEST_CASE("a gradient in placed data through a loop inside of a map that reduces it") {
  static constexpr auto slope = drx::value_and_grad<0, 1>(settle);
  harness::check_run<drx::program<slope, at_pupils, vec2>>();
}

TEST_CASE("placed carries of a loop") {
  harness::check_run<drx::program<rounds, at_schools, vec2>>();
  static constexpr auto slope = drx::grad<0, 1>(total);
  harness::check_run<drx::program<slope, at_schools, vec2>>();
}

TEST_CASE("placed carries of a loop inside of a member; placed results of a branch") {
  harness::check_run<drx::program<inside, at_pupils, vec2>>();
  harness::check_run<drx::program<branches, at_schools, vec2>>({}, {3, 0, 5});
}

TEST_CASE("a loop that carries some of the members") {
  drx::serial_executor e;
  drx::single_rank c;
  const auto value = [](std::int64_t i) { return vec2{.1 * static_cast<double>(i), .5}; };
  const auto all = drx::place<schools>(c, 20, value);
  const std::vector<std::int64_t> chosen{3, 4, 17};
  const auto few =
      drx::place<schools>(c, 3, [&](std::int64_t i) { return value(chosen[static_cast<std::size_t>(i)]); });
  using P = drx::program<rounds, at_schools, vec2>;
  drx::compiled<P> p(e, c), q(e, c);
  const vec2 w{.3, -.2};
  const auto [state, sum, last] = p(all.subset(chosen, 0), w);
  const auto [expected, expected_sum, expected_last] = q(few, w);
  CHECK(sum[0] == expected_sum[0]);
  CHECK(last[1] == expected_last[1]);
  for (std::int64_t i = 0; i < 3; ++i) CHECK(state[i][0] == expected[i][0]);
}

TEST_CASE("a loop over slices of what members hold, and a batch of it") {
  constexpr auto f = [](auto w, auto xs) {
    return drx::scan(
        [](auto c, auto x) {
          auto y = drx::map([](auto p, auto q) { return p * drx::sin(q); }, drx::broadcast<schools>(c), x);
          return std::pair{c + drx::reduce_mean(y), y};
        },
        w, xs);
  };
  using P = drx::program<f, vec2, drx::placed<drx::array<double, 3, 2>, schools>>;
  harness::check_program<P>({.orders = 1});
  harness::check_run<P>();
}

TEST_CASE("what is nested twice goes through a loop inside of a member, and back") {
  static constexpr auto slope = drx::grad<0, 1>(of_towns);
  harness::check_run<drx::program<slope, drx::placed<at_pupils, towns>, vec2>>({.nested = 4}, {3, 0, 5});
}

TEST_CASE("a loop that keeps all, and stacks nested values that have no cotangent") {
  constexpr auto same = [](auto marks, auto w, auto xs) {
    auto [a, b] = drx::grad<0, 1>(stacked<drx::keep_all>)(marks, w, xs);
    auto [c, d] = drx::grad<0, 1>(stacked<drx::keep_carries>)(marks, w, xs);
    return std::tuple{
        drx::map([](auto x,
                    auto y) { return drx::reduce_max(drx::map([](auto p, auto q) { return drx::abs(p - q); }, x, y)); },
                 a, c),
        b - d};
  };
  harness::check_zero<drx::program<same, at_pupils, vec2, drx::array<double, 3, 2>>>();
}
